/* SPDX-License-Identifier: Apache-2.0 */
/* News of others go into memory: groups and their tokens, the registry, ends of runs. What this
 * server has changed itself since the look began is left as it is. */
#include "base/mem.h"
#include "server/heard.h"
#include "server/state.h"
#include <stdlib.h>

/* ---- groups ---------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

struct gone {
    const struct heard_news *news;
    int64_t *ids;
    size_t n;
};

static void on_known(void *ctx, int64_t id, int addresses, int up)
{
    struct gone *gone = ctx;
    (void)addresses;
    (void)up;
    const struct heard_news *news = gone->news;
    if (!news->nids || !bsearch(&id, news->ids, news->nids, sizeof(id), by_id))
        HEARD_ADD(gone->ids, gone->n, id);
}

static void forget_gone(struct center *c, const struct heard_news *news)
{
    struct gone gone = { .news = news };
    sched_groups(c->sched, on_known, &gone);
    for (size_t i = 0; i < gone.n; i++) {
        sched_group_gone(c->sched, gone.ids[i]);
        keys_group(c->keys, gone.ids[i], NULL);
    }
    free(gone.ids);
}

static void take_group(struct center *c, const struct heard_news *news,
                       const struct group_record *g)
{
    static const struct group_token none;
    const struct group_token *t = heard_token(news, g->id);
    struct group_token own = t ? *t : none;
    own.group_id = g->id;
    sched_load_group(c->sched, g);
    keys_group(c->keys, g->id, g->app ? g->app : "");
    char **moved = NULL;
    size_t n = 0;
    for (size_t i = 0; i < news->nmoved; i++)
        if (news->moved[i].group_id == g->id)
            HEARD_ADD(moved, n, news->moved[i].address);
    access_heard(c, &own, moved, n);
    free(moved);
}

static void take_groups(struct center *c, const struct heard_news *news)
{
    if (c->groups_seq > news->seq) {
        heard_untold(c->heard, news);
        return;
    }
    forget_gone(c, news);
    for (size_t i = 0; i < news->ngroups; i++)
        take_group(c, news, &news->groups[i]);
}

/* ---- executors and runs ---------------------------------------------------------------------- */

static void take_registry(struct center *c, const struct heard_news *news)
{
    if (!sched_heard_registry(c->sched, center_now(), news->rows, (int)news->nrows, news->seq)) {
        heard_again(c->heard, 0);
        return;
    }
    for (size_t i = 0; keys_any(c->keys) && i < news->nrows; i++)
        keys_registered(c->keys, slice_text(news->rows[i].key), slice_text(news->rows[i].value),
                        news->rows[i].updated_ms);
}

void heard_take(struct center *c, struct message *m)
{
    const struct heard_news *news = container_of(m, struct heard_news, message);
    take_groups(c, news);
    take_registry(c, news);
    if (node_shared(c->node)) /* rules of alarms are read again with the next ends */
        incidents_stale(c->incidents);
    if (node_shared(c->node) && c->on_heard)
        c->on_heard(c->on_heard_arg);
    for (size_t i = 0; i < news->nended; i++)
        sched_result_elsewhere(c->sched, center_now(), news->ended[i].log_id, news->ended[i].code,
                               slice_text(news->ended[i].msg ? news->ended[i].msg : ""));
    heard_drop(m);
}
