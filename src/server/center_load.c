/* SPDX-License-Identifier: Apache-2.0 */
/* center_load.c - what the last process left: the database's rows and the flight recorder go into
 * the core, before it starts. */
#include "base/log.h"
#include "server/ages.h"
#include "server/state.h"

struct loading {
    struct center *c;
    struct store *store;
    struct planner *planner;
    struct now now;
    int runs;
    struct flight_said said;
    enum err err;
    struct why *why;
};

/* What the last process left in its recorder. */
static void recorder_read(struct center *c, const struct watermark *watermark,
                          struct flight_said *said)
{
    struct why why = { "" };
    bool believed = flight_file_read(c->flight, watermark, said, &why);
    if (watermark->clean || !watermark->until_ms)
        return; /* nothing that is planned has been sent, whatever a file says */
    if (believed)
        log_info(
            "center",
            "the flight recorder of the last process: %d runs may have left, %d were accepted, "
            "what else is planned was not sent",
            said->leaving, said->accepted);
    else
        log_warn("center",
                 "the flight recorder of the last process is not believed: %s; what is planned "
                 "within the dispatch watermark counts as in doubt",
                 why.text);
}

static void recorder_make(struct center *c, const struct watermark *last)
{
    struct why why = { "" };
    struct flight_head *head = flight_file_make(c->flight, &why);
    c->journalling.owner.life = head ? journal_life(head->id) : 0;
    c->journalling.owner.before = journal_life(last->recorder);
    c->journalling.last_id = last->last_id;
    if (head)
        sched_record(c->sched, head);
    int swept = flight_file_sweep(c->flight);
    if (swept)
        log_info("center", "%d old flight recorders that no process holds are removed", swept);
    if (!head)
        log_warn(
            "center",
            "no flight recorder: %s; after a kill what is planned for the next 2 s counts as in "
            "doubt",
            why.text);
}

static bool load_group(void *ctx, const struct group_record *g)
{
    struct center *c = ((struct loading *)ctx)->c;
    sched_load_group(c->sched, g);
    keys_group(c->keys, g->id, g->app ? g->app : "");
    return true;
}

static bool load_group_token(void *ctx, const struct group_token *t)
{
    keys_put(((struct loading *)ctx)->c->keys, t);
    return true;
}

static bool load_moved(void *ctx, int64_t group_id, const char *address)
{
    keys_moved(((struct loading *)ctx)->c->keys, group_id, address);
    return true;
}

static bool load_registry(void *ctx, const struct registry_record *r)
{
    struct loading *l = ctx;
    sched_load_registry(l->c->sched, l->now, r);
    return true;
}

/* A live run whose job is gone (another program deleted it) is loaded with an empty definition:
 * reconciliation still finds its end. */
static bool load_run(void *ctx, const struct run_row *row)
{
    struct loading *l = ctx;
    struct job *j = planner_find(l->planner, row->job_id, row->version);
    if (!j) {
        struct job_record r;
        job_record_init(&r);
        struct why why = { "" };
        l->err = l->store->ops->catalog->job_get(l->store, row->job_id, &r, &why);
        if (l->err == ERR_NOTFOUND) {
            r.id = row->job_id;
            r.group_id = row->group_id;
            l->err = OK;
        }
        if (l->err)
            why_set(l->why, "%s", why.text);
        else
            j = planner_keep(l->planner, &r);
        job_record_done(&r);
    }
    if (l->err)
        return false;
    sched_load_run(l->c->sched, l->now, row, j, flight_known(&l->said, row->log_id));
    l->runs++;
    return true;
}

enum err center_load(struct center *c, struct store *store, struct planner *planner,
                     struct why *why)
{
    const struct store_ops *ops = store->ops;
    struct loading l = {
        .c = c, .store = store, .planner = planner, .now = center_now(), .why = why
    };
    struct totals totals;
    int64_t open = 0;
    struct watermark watermark = { 0 };
    enum err err = ops->txn->watermark_get(store, &watermark, why);
    c->trace_key = watermark.trace_key;
    ages_begin(&c->metrics, watermark.until_ms);
    sched_load_watermark(c->sched, watermark.until_ms, watermark.clean);
    recorder_read(c, &watermark, &l.said);
    if (!err)
        err = ops->txn->totals_get(store, &totals, &open, why);
    if (!err)
        err = ops->catalog->groups_each(store, load_group, &l, why);
    if (!err)
        err = ops->catalog->group_tokens_each(store, load_group_token, &l, why);
    if (!err)
        err = ops->catalog->group_moved_each(store, load_moved, &l, why);
    if (!err)
        err = ops->catalog->registry_each(store, load_registry, &l, why);
    if (!err)
        err = ops->runs->runs_each(store, load_run, &l, why);
    flight_said_done(&l.said);
    if (err || l.err)
        return err ? err : l.err;
    for (int i = 0; i < TOTAL_COUNT; i++)
        c->metrics.totals[i] = totals.n[i];
    recorder_make(c, &watermark);
    sched_started(c->sched, l.now);
    if (c->config.still) /* as at a stop: edits are still written */
        sched_drain(c->sched);
    if (l.runs)
        log_info("center", "%d runs were open when the last process ended; they go on", l.runs);
    return OK;
}
