/* SPDX-License-Identifier: Apache-2.0 */
/* Users: they make jobs at any center, and change, stop, start, delete, trigger and kill at any. */
#include "world.h"
#include <stdio.h>

static struct cnode *any_center(struct world *w)
{
    struct cnode *n = &w->nodes[dice_below(&w->dice, (uint32_t)w->nnodes)];
    return n->sched && !n->leaving && w->t >= n->paused_ms ? n : NULL;
}

static void set(char **field, const char *text)
{
    free(*field);
    *field = mem_dup(text);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static const struct {
    const char *conf;
    int64_t period_ms;
} crons[] = { { "* * * * * ?", 1000 }, { "*/2 * * * * ?", 2000 }, { "0/5 * * * * ?", 5000 } };

static void schedule_fill(struct world *w, struct job_record *r, bool cron)
{
    static const char *const rates[] = { "1", "2", "3", "700ms" };
    uint32_t type = cron ? 0 : dice_below(&w->dice, 10);
    set(&r->schedule_type, type < 6 ? "CRON" : type < 8 ? "FIX_RATE" : "FIX_DELAY");
    set(&r->schedule_conf, type < 6 ? crons[dice_below(&w->dice, countof(crons))].conf
                                    : rates[dice_below(&w->dice, countof(rates))]);
}

static enum block any_block(struct world *w)
{
    return chance(w, 600000) ? BLOCK_SERIAL : (enum block)dice_below(&w->dice, 3);
}

static void job_fill(struct world *w, struct job_record *r, bool cron)
{
    char text[40];
    r->group_id = w->groups[dice_below(&w->dice, APPS)];
    schedule_fill(w, r, cron);
    set(&r->misfire, misfire_text((enum misfire)dice_below(&w->dice, MISFIRE_COUNT)));
    set(&r->route, route_text((enum route)dice_below(&w->dice, ROUTE_COUNT)));
    set(&r->block, block_text(any_block(w)));
    set(&r->on_doubt, chance(w, 200000) ? "resend" : "wait");
    set(&r->handler, "handler");
    set(&r->param, "p");
    set(&r->glue_type, "BEAN");
    set(&r->dst, "smart");
    snprintf(text, sizeof(text), "job of seed %llu", (unsigned long long)w->seed);
    set(&r->description, cron ? NOT_CHANGED : text);
    r->retries = chance(w, 400000) ? (int)between(w, 1, 2) : 0;
    r->retry_delay_ms = between(w, 0, 2000);
    r->retry_backoff = 1;
    r->start_deadline_ms = chance(w, 200000) ? between(w, 1000, 20000) : 60000;
    r->misfire_max = (int)between(w, 1, 10);
    r->enabled = true;
}

static void give(struct world *w, struct cnode *n, struct edit *e)
{
    w->edits++;
    say(w, "%s is asked for edit %d of job %lld", n->name, e->kind, (long long)e->id);
    sched_edit(n->sched, now_of(n), e);
    loop_pump(w, n);
}

static void job_insert(struct world *w, struct cnode *n)
{
    struct edit *e = edit_new(EDIT_JOB_INSERT);
    job_fill(w, &e->job, w->inserted < UNTOUCHED);
    if (chance(w, 200000) && w->inserted > UNTOUCHED) /* of one that exists: no cycle */
        set(&e->job.children, "1");
    w->inserted++;
    give(w, n, e);
}

static int64_t any_key(struct world *w, enum mem_table t)
{
    size_t n;
    int64_t *keys = mem_keys(memory_of(w->db), t, &n);
    int64_t key = n ? keys[dice_below(&w->dice, (uint32_t)n)] : 0;
    free(keys);
    return key;
}

static void job_edit(struct world *w, struct cnode *n, enum edit_kind kind)
{
    int64_t id = any_key(w, T_JOB);
    const struct job_record *old = mem_find(memory_of(w->db), T_JOB, id);
    if (!old || strcmp(old->description, NOT_CHANGED) == 0)
        return;
    struct edit *e = edit_new(kind);
    e->id = id;
    if (kind == EDIT_JOB_UPDATE) {
        job_record_copy(&e->job, old);
        if (chance(w, 500000))
            schedule_fill(w, &e->job, false);
        if (chance(w, 300000))
            set(&e->job.route, route_text((enum route)dice_below(&w->dice, ROUTE_COUNT)));
        if (chance(w, 300000))
            set(&e->job.param, chance(w, 500000) ? "p" : "q");
        if (chance(w, 100000))
            set(&e->job.block, block_text(any_block(w)));
        if (chance(w, 200000))
            e->job.retries = (int)between(w, 0, 2);
        set(&e->job.handler, e->job.retries % 2 ? "other" : "handler");
    }
    give(w, n, e);
}

void users_edited(struct world *w, struct cnode *n, struct edit *e)
{
    say(w, "%s: edit %d of job %lld is %s, %lld untold", n->name, e->kind, (long long)e->id,
        e->err ? err_name(e->err) : "done", (long long)e->untold);
    bool asked = e->kind <= EDIT_JOB_DELETE && e->kind != EDIT_JOB_SYNC && !e->gone;
    if (!e->err && asked && e->kind != EDIT_JOB_INSERT) {
        if (e->untold)
            db_told(w, n, e);
        else
            check_answered(w, e->id, e->kind, e->now ? e->now->version : VERSION_DELETED);
    }
    edit_free(e);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void trigger(struct world *w, struct cnode *n)
{
    int64_t wall_ms = now_of(n).wall_ms;
    struct spawn spawn = { .job_id = any_key(w, T_JOB),
                           .kind = KIND_MANUAL,
                           .scheduled_ms = wall_ms,
                           .due_ms = wall_ms,
                           .retries_left = -1,
                           .reply = w };
    if (!spawn.job_id)
        return;
    sched_trigger(n->sched, now_of(n), &spawn);
    loop_pump(w, n);
}

struct kill_write {
    int64_t id; /* the run's, or that of the row */
    enum inbox_answer code;
    int64_t wall_ms;
};

static void kill_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    free(arg);
}

static enum err ask_run(struct store *s, void *arg, struct why *why)
{
    const struct kill_write *k = arg;
    int64_t id;
    return s->ops->cluster->inbox_ask(s, k->id, k->wall_ms, &id, why);
}

static enum err answer_run(struct store *s, void *arg, struct why *why)
{
    const struct kill_write *k = arg;
    return s->ops->cluster->inbox_answer(s, k->id, k->code, "said", k->wall_ms - 3600000, why);
}

static const struct ledger_write ask_write = { ask_run, kill_done },
                                 answer_write = { answer_run, kill_done };

static void kill_write(struct cnode *n, const struct ledger_write *write, int64_t id,
                       enum inbox_answer code)
{
    struct kill_write *k = mem_new(sizeof(*k));
    *k = (struct kill_write){ id, code, now_of(n).wall_ms };
    loop_write(n, write, k);
}

/* At the center that has the run, or in its inbox. */
static void kill_one(struct world *w, struct cnode *n)
{
    int64_t id = any_key(w, T_RUN);
    struct sched_look look;
    if (!id)
        return;
    say(w, "%s is asked to kill %lld", n->name, (long long)id);
    ghost_of(w, id)->kill_asked = true;
    if (sched_look(n->sched, id, &look))
        sched_kill(n->sched, now_of(n), id, NULL);
    else
        kill_write(n, &ask_write, id, INBOX_DONE);
    loop_pump(w, n);
}

struct kill_ask { /* a row that is being done */
    struct list_node in_node;
    int64_t id;
};

void users_kill_row(struct world *w, struct cnode *n, const struct inbox_row *r)
{
    (void)w;
    list_each(&n->kills, l, tmp)
    {
        if (container_of(l, struct kill_ask, in_node)->id == r->id)
            return; /* it is read until it is answered */
    }
    struct kill_ask *k = mem_new(sizeof(*k));
    k->id = r->id;
    list_push(&n->kills, &k->in_node);
    sched_kill(n->sched, now_of(n), r->log_id, k);
}

void users_killed(struct world *w, struct cnode *n, const struct action *a)
{
    struct kill_ask *k = a->reply;
    (void)w;
    if (!k)
        return;
    kill_write(n, &answer_write, k->id, a->err ? INBOX_ENDED_BEFORE : INBOX_DONE);
    list_remove(&k->in_node);
    free(k);
}

/* ---- what they do ---------------------------------------------------------------------------- */

static void act_once(struct world *w, struct cnode *n)
{
    uint32_t what = dice_below(&w->dice, 100);
    if (what < 20)
        trigger(w, n);
    else if (what < 30)
        kill_one(w, n);
    else if (what < 55)
        job_edit(w, n, EDIT_JOB_UPDATE);
    else if (what < 70)
        job_edit(w, n, EDIT_JOB_STOP);
    else if (what < 92)
        job_edit(w, n, EDIT_JOB_START);
    else if (what < 96)
        job_edit(w, n, EDIT_JOB_DELETE);
    else if (w->inserted < JOBS / 2)
        job_insert(w, n);
}

static void on_act(struct world *w, struct event *e)
{
    (void)e;
    struct cnode *n = any_center(w);
    if (w->calm)
        return;
    if (n && w->inserted < w->njobs)
        job_insert(w, n);
    else if (n)
        act_once(w, n);
    bool soon = w->inserted < w->njobs || chance(w, 300000);
    elsewhere(w, soon ? between(w, 0, 60) : between(w, 200, 4000), NULL, on_act, NULL);
}

static void on_edit(struct world *w, struct event *e)
{
    static const enum edit_kind kinds[] = { EDIT_JOB_UPDATE, EDIT_JOB_UPDATE, EDIT_JOB_STOP,
                                            EDIT_JOB_START, EDIT_JOB_START };
    struct cnode *n = any_center(w);
    bool last = chance(w, 100000);
    (void)e;
    if (w->t >= w->edits_until_ms)
        return;
    if (n)
        job_edit(w, n, last ? EDIT_JOB_DELETE : kinds[dice_below(&w->dice, countof(kinds))]);
    elsewhere(w, between(w, 20, 600), NULL, on_edit, NULL);
}

void users_edit(struct world *w, int64_t ms)
{
    w->edits_until_ms = w->t + ms;
    elsewhere(w, 0, NULL, on_edit, NULL);
}

/* Until every job is stopped in the table. */
static void on_stop_all(struct world *w, struct event *e)
{
    size_t n;
    struct cnode *at = any_center(w);
    int64_t *keys = mem_keys(memory_of(w->db), T_JOB, &n);
    bool more = !at;
    (void)e;
    for (size_t i = 0; i < n && at; i++) {
        const struct job_record *r = mem_find(memory_of(w->db), T_JOB, keys[i]);
        if (!r->enabled)
            continue;
        struct edit *stop = edit_new(EDIT_JOB_STOP);
        stop->id = keys[i];
        sched_edit(at->sched, now_of(at), stop);
        more = true;
    }
    free(keys);
    if (at)
        loop_pump(w, at);
    if (more)
        elsewhere(w, 1500, NULL, on_stop_all, NULL);
}

void users_stop_all(struct world *w)
{
    elsewhere(w, 0, NULL, on_stop_all, NULL);
}

void users_begin(struct world *w)
{
    w->njobs = (int)between(w, UNTOUCHED, 12);
    elsewhere(w, between(w, 500, 3000), NULL, on_act, NULL);
}
