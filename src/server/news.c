/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are asked for: as a rule none, and in the two seconds after an edit that one again. */
#include "server/news.h"
#include "base/mem.h"
#include <stdlib.h>

#define ROWS 4000 /* of one read */
#define SECOND_MS 1000
#define WHOLE_MS 10000
#define LOOK_MS 200

struct reading {
    struct news_rows *rows;
    int64_t last_id;
    int n;
};

static bool take(void *ctx, const struct job_news *c)
{
    struct reading *g = ctx;
    struct news_rows *rows = g->rows;
    if ((rows->n & (rows->n - 1)) == 0) /* doubles at powers of two */
        rows->items = mem_resize(rows->items, (size_t)(rows->n ? rows->n * 2 : 1) * sizeof(*c));
    rows->items[rows->n++] = *c;
    g->last_id = c->id;
    g->n++;
    return true;
}

enum err news_read(struct news *in, struct store *store, int64_t boot_ms, struct news_rows *rows,
                   struct why *why)
{
    struct reading g = { .rows = rows };
    bool whole = boot_ms >= in->whole_ms;
    enum err err =
        store->ops->cluster->changes_each(store, whole ? 0 : in->before_id, ROWS, take, &g, why);
    in->next_ms = boot_ms + LOOK_MS;
    if (err)
        return err;
    if (whole)
        in->whole_ms = boot_ms + WHOLE_MS;
    if (g.last_id > in->seen_id)
        in->seen_id = g.last_id;
    if (g.n == ROWS) { /* there are more, and they come next */
        in->mid_id = in->before_id = g.last_id;
        in->next_ms = boot_ms;
        return OK;
    }
    if (boot_ms < in->second_ms)
        return OK;
    in->before_id = in->mid_id;
    in->mid_id = in->seen_id;
    in->second_ms = boot_ms + SECOND_MS;
    return OK;
}

void news_later(struct news *in, int64_t boot_ms)
{
    in->next_ms = boot_ms + LOOK_MS;
}

void news_now(struct news *in)
{
    in->next_ms = 0;
}

void news_rows_done(struct news_rows *rows)
{
    free(rows->items);
    *rows = (struct news_rows){ NULL, 0 };
}
