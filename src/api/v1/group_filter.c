/* SPDX-License-Identifier: Apache-2.0 */
/* A number is an id: app names have four characters at least and seldom are numbers, and a client
 * that means such a one can give its id. */
#include "api/v1/group_filter.h"
#include "base/mem.h"
#include <string.h>

struct search {
    const char *app;
    int64_t id; /* 0: not found */
};

static bool same_app(void *ctx, const struct group_record *g)
{
    struct search *s = ctx;
    if (g->app && strcmp(g->app, s->app) == 0)
        s->id = g->id;
    return s->id == 0;
}

static int64_t id_of(struct query *q, struct slice one)
{
    char app[256 * 4];
    struct search s = { .app = app };
    struct store *db = q->call->db;
    struct why why = { "" };
    int64_t total;
    if (parse_i64(one, &s.id))
        return s.id > 0 ? s.id : 0;
    text_copy(app, sizeof(app), one);
    const struct groups_filter f = { .app = app, .limit = INT32_MAX };
    if (db->ops->pages->groups_page(db, &f, same_app, &s, &total, &why))
        query_bad(q, "group", "unavailable", "%s", why.text);
    return s.id;
}

bool query_groups(struct query *q, const char *name, int64_t ids[QUERY_GROUPS_MAX],
                  struct scope *ret)
{
    const char *text = query_text(q, name, 255);
    struct slice rest = slice_text(text), one;
    size_t n = 0;
    if (!text)
        return false;
    while (n < QUERY_GROUPS_MAX && slice_item(&rest, &one)) {
        ids[n] = id_of(q, one);
        n += ids[n] != 0;
    }
    *ret = (struct scope){ .ids = ids, .n = scope_sort(ids, n) };
    return true;
}
