/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are asked for: most are deleted with the batch that follows, so what is read twice is
 * little, and a row that came out of the order of the ids is not waited for long. */
#include "server/inbox.h"
#include "base/mem.h"
#include <stdlib.h>

#define ROWS 4000 /* of one read */
#define SECOND_MS 1000
#define WHOLE_MS 10000
#define LOOK_MS 200
#define SOON_MS 20   /* while results come */
#define BUSY_MS 2000 /* behind the last one */

struct reading {
    struct inbox_rows *rows;
    int64_t last_id;
    int n;
};

static bool take(void *ctx, const struct inbox_row *r)
{
    struct reading *g = ctx;
    struct inbox_rows *rows = g->rows;
    struct inbox_row row = *r;
    row.msg = mem_dup(r->msg);
    if ((rows->n & (rows->n - 1)) == 0) /* doubles at powers of two */
        rows->items = mem_resize(rows->items, (size_t)(rows->n ? rows->n * 2 : 1) * sizeof(row));
    rows->items[rows->n++] = row;
    g->last_id = r->id;
    g->n++;
    return true;
}

/* All that there was has been read, up to this id. */
static void read_done(struct inbox *in, int64_t boot_ms, int64_t last_id)
{
    if (last_id > in->seen_id) {
        in->seen_id = last_id;
        in->busy_ms = boot_ms + BUSY_MS;
    }
    if (boot_ms < in->busy_ms)
        in->next_ms = boot_ms + SOON_MS;
    if (boot_ms < in->second_ms)
        return;
    in->before_id = in->mid_id;
    in->mid_id = in->seen_id;
    in->second_ms = boot_ms + SECOND_MS;
}

void inbox_from_start(struct inbox *in)
{
    in->whole_ms = 0;
}

enum err inbox_read(struct inbox *in, struct store *store, int64_t boot_ms, struct inbox_rows *rows,
                    struct why *why)
{
    struct reading g = { .rows = rows };
    bool whole = boot_ms >= in->whole_ms;
    enum err err =
        store->ops->cluster->inbox_each(store, whole ? 0 : in->before_id, ROWS, take, &g, why);
    in->next_ms = boot_ms + LOOK_MS;
    if (err)
        return err;
    if (whole)
        in->whole_ms = boot_ms + WHOLE_MS;
    if (g.n == ROWS) { /* there are more, and they come next */
        in->seen_id = in->mid_id = in->before_id = g.last_id;
        in->next_ms = boot_ms;
        return OK;
    }
    read_done(in, boot_ms, g.last_id);
    return OK;
}

void inbox_later(struct inbox *in, int64_t boot_ms)
{
    in->next_ms = boot_ms + LOOK_MS;
}

void inbox_now(struct inbox *in)
{
    in->next_ms = 0;
}

int64_t inbox_next(const struct inbox *in)
{
    return in->next_ms;
}

void inbox_rows_done(struct inbox_rows *rows)
{
    for (int i = 0; i < rows->n; i++)
        free(rows->items[i].msg);
    free(rows->items);
    *rows = (struct inbox_rows){ NULL, 0 };
}
