/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c - batches: what the next one takes, and what a commit brings back. */
#include "sched/commit.h"
#include "sched/broadcast.h"
#include "sched/dispatch.h"
#include "sched/edit.h"
#include "sched/end.h"
#include "sched/job.h"
#include "sched/node.h"
#include "sched/outbox.h"
#include "sched/result.h"
#include "sched/run.h"
#include "sched/share.h"
#include "sched/state.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WATERMARK_RENEW_MS 1000 /* the watermark is renewed every second */
#define GAPS_MAX 4              /* nodes that widen the gap between two batches */

/* ---- taken ----------------------------------------------------------------------------------- */

static bool is_full(const struct sched *s)
{
    return s->nphase[PHASE_PLANNED] >= s->config.planned_max || s->stats.live >= s->config.live_max;
}

bool commit_plans(const struct sched *s)
{
    bool has = !s->shared || homes_have(&s->share, s->share.node);
    return has && !s->plan_ends && !is_full(s);
}

/* No run has left whose row may still be PLANNED once what has gathered is written: none is on its
 * way, and none will be. */
bool commit_wants_clean(const struct sched *s)
{
    return s->draining && s->started && !s->clean_requested && s->nphase[PHASE_SENT] == 0;
}

/* Planning runs ahead in steps of half a horizon, so that a per-second job is looked at every
 * few seconds and not every second; a bound on rows pauses it. */
static bool want_plan(const struct sched *s, struct now now)
{
    if (s->draining || !commit_plans(s) ||
        !s->born) /* the first commit is waited for: it stays small */
        return false;
    if (s->replan)
        return true;
    int64_t ahead = s->horizon_ms - now.wall_ms;
    return ahead < s->config.horizon_ms / 2 &&
           s->plan_next_ms <= now.wall_ms + s->config.horizon_ms;
}

/* What other centers have left, and this one's jobs that are due as soon. */
static bool want_claims(const struct sched *s)
{
    return s->claims && !s->draining && commit_plans(s) && s->born;
}

static bool want_watermark(const struct sched *s, struct now now)
{
    if (s->draining)
        return false;
    return !s->born || now.boot_ms >= s->watermark_renew_boot_ms ||
           (!list_empty(&s->beyond) &&
            s->watermark_ms < now.wall_ms + s->config.watermark_ahead_ms / 2);
}

static int list_length(const struct list *l)
{
    int n = 0;
    list_each(l, node, tmp) n++;
    return n;
}

static void take_list(struct batch *b, struct list *l)
{
    for (struct list_node *node; (node = list_pop(l));) {
        struct run *r = container_of(node, struct run, dirty);
        assert(r->pending && b->changes); /* that is why it is in the list, and was counted */
        r->pending->tells = r->flags & RUN_CLOSED || r->wait != WAIT_CALL;
        b->totals.n[TOTAL_SENT] += r->pending->sent;
        b->changes[b->nchanges++] = *r->pending;
        free(r->pending);
        r->pending = NULL;
    }
}

static void take_changes(struct sched *s, struct batch *b, bool lazy)
{
    int n = list_length(&s->dirty) + (lazy ? list_length(&s->lazy) : 0);
    b->changes = n ? mem_new((size_t)n * sizeof(*b->changes)) : NULL;
    take_list(b, &s->dirty);
    if (lazy)
        take_list(b, &s->lazy);
}

/* Is one of the first n edits of the job that e edits? */
static bool edited(const struct batch *b, int n, const struct edit *e)
{
    for (int i = 0; e->id && e->kind <= EDIT_JOB_DELETE && i < n; i++)
        if (b->edits[i]->kind <= EDIT_JOB_DELETE && b->edits[i]->id == e->id)
            return true;
    return false;
}

/* One edit of a job at a time: what the second takes depends on what became of the first. The
 * others go with the batch that gathers next; a bundle stays together. */
static void defer_edits(struct batch *b, struct batch *next)
{
    int kept = 0;
    for (int i = 0, end; i < b->nedits; i = end) {
        bool second = false;
        end = i + (b->edits[i]->bundle ? b->edits[i]->bundle : 1);
        for (int k = i; k < end && !second; k++)
            second = edited(b, kept, b->edits[k]);
        for (int k = i; k < end; k++) {
            struct edit *e = b->edits[k];
            if (second)
                array_push(next->edits, next->nedits, e);
            else
                b->edits[kept++] = e;
        }
    }
    b->nedits = kept;
}

/* What has been planned meanwhile, or is planned again, sets the next scheduled time with its own
 * end. */
static void delays_settle(struct sched *s, struct batch *b)
{
    int kept = 0;
    for (int i = 0; i < b->ndelays; i++) {
        const struct live_job *j = job_live(s, b->delays[i].job_id);
        if (!j || !job_is_out(s, j))
            b->delays[kept++] = b->delays[i];
    }
    b->ndelays = kept;
}

/* A stop of the center leaves planned rows to the next life, where nothing tells any more that
 * their job was changed while they were on their way, and came back. Of an edit at another center
 * who takes them over knows by their version. */
static void withdraw_outdated(struct sched *s, struct now now)
{
    struct run **found = mem_new((s->runs.len + 1) * sizeof(struct run *));
    size_t n = 0;
    void *value;
    for (size_t i = 0; map_next(&s->runs, &i, &value);) {
        struct run *r = value;
        if (r->phase == PHASE_PLANNED && run_outdated(r) && !job_behind(r->job))
            found[n++] = r;
    }
    for (size_t i = 0; i < n; i++)
        run_withdraw_outdated(s, now, found[i]);
    free(found);
}

/* A transaction costs the database the same however little is in it, and each node begins its own.
 * So each waits longer: up to GAPS_MAX nodes together are bound to as many as one alone may begin.
 * A node that stops hands over at once. */
static int64_t batch_gap(const struct sched *s)
{
    int n = s->share.living < GAPS_MAX ? s->share.living : GAPS_MAX;
    return s->config.batch_gap_ms * (s->shared && n > 1 && !s->draining ? n : 1);
}

struct batch *commit_take(struct sched *s, struct now now)
{
    if (s->writing || !s->started || now.boot_ms < s->batch_boot_ms)
        return NULL;
    bool claims = want_claims(s), plan = !claims && want_plan(s, now),
         watermark = want_watermark(s, now);
    bool clean = commit_wants_clean(s), last = clean || (s->draining && !list_empty(&s->lazy));
    bool soon = now.boot_ms >= s->soon_boot_ms || s->draining;
    if (!plan && !claims && !watermark && !last && !s->hurried && !(s->wanted && soon))
        return NULL;
    groups_refresh(s, now);
    if (clean)
        withdraw_outdated(s, now);
    struct batch *b = s->next, *next = batch_new();
    defer_edits(b, next);
    delays_settle(s, b);
    for (int i = 0; i < b->nedits; i++)
        edit_prepare(s, now, b->edits[i]);
    take_changes(s, b, watermark || s->draining);
    b->seq = s->seq++;
    b->now_ms = now.wall_ms;
    b->taken_boot_ms = now.boot_ms;
    b->plan_max_rows = s->config.plan_max_rows;
    if (plan) {
        b->plan_until_ms = now.wall_ms + s->config.horizon_ms;
        s->replan = false;
    } else if (claims) {
        b->plan_until_ms = now.wall_ms + CLUSTER_CLAIM_MS;
        b->claims = true;
        s->claims = false;
    }
    b->share = s->share;
    for (int kind = SWEEP_REBASE; kind <= SWEEP_ZONES && !b->sweep; kind++) {
        if (!s->sweeping[kind])
            continue;
        b->sweep = (enum sweep)kind;
        b->sweep_from = s->sweep_from[kind];
        b->sweep_no = s->sweep_no;
        b->sweep_ms = s->sweep_ms;
    }
    if (watermark) {
        int64_t until = now.wall_ms + s->config.watermark_ahead_ms;
        b->watermark.until_ms = until > s->watermark_requested_ms
                                    ? until
                                    : s->watermark_requested_ms; /* never goes back */
        s->watermark_requested_ms = b->watermark.until_ms;
        s->watermark_renew_boot_ms = now.boot_ms + WATERMARK_RENEW_MS;
        b->watermark.renewals = ++s->renewals;
        if (s->flight.head)
            memcpy(b->watermark.recorder, s->flight.head->id, sizeof(b->watermark.recorder));
    }
    b->clean = clean;
    s->clean_requested |= clean;
    s->batch_boot_ms = now.boot_ms + batch_gap(s);
    s->soon_boot_ms = now.boot_ms + s->config.batch_wait_ms;
    s->next = next;
    s->wanted = s->hurried = next->nedits > 0;
    s->gathered = 0;
    s->writing = true;
    s->planning = plan || claims;
    return b;
}

/* ---- kept ------------------------------------------------------------------------------------ */

/* The change is on disk: what waited for that goes on. */
static void change_done(struct sched *s, struct now now, const struct run_change *c, uint64_t seq)
{
    struct run *r = run_find(s, c->log_id);
    if (!r)
        return;
    if (c->tells)
        flight_told(&s->flight, r->place_of_word, r->log_id, seq);
    if (r->flags & RUN_CLOSED) {
        if (c->what & (CHANGE_CLOSE | CHANGE_DROP))
            r->flags |= RUN_WRITTEN;
        if (r->flags & RUN_WRITTEN && r->wait != WAIT_CALL && !r->pending)
            run_free(s, r);
        return;
    }
    unsigned again = r->pending ? r->pending->what : 0;
    if (c->what & CHANGE_TASK && !(again & CHANGE_TASK))
        r->flags &= ~(uint32_t)RUN_RENEWING;
    if (!(c->what & (CHANGE_ADDRESS | CHANGE_TASK)))
        return;
    if (r->wait == WAIT_ADDRESS && !(again & (CHANGE_ADDRESS | CHANGE_TASK))) {
        run_leave(s, r);
        dispatch_addressed(s, now, r);
    }
}

static void planned_done(struct sched *s, struct now now, const struct planned *p)
{
    if (p->row.log_id < 0)
        return; /* the key says that it exists already */
    struct run *r = run_new(s, now, &p->row, p->job);
    const struct spawn *spawn = p->spawn;
    run_at_now(r, STORY_PLANNED, now);
    if (spawn) {
        r->hops = (uint8_t)(spawn->hops < 255 ? spawn->hops : 255);
        if (spawn->kind == KIND_RETRY && !spawn->scheduled)
            r->flags &= ~(uint32_t)RUN_SCHEDULED;
    }
    struct live_job *j = r->job;
    bool old = r->version < j->def->version || j->deleted;
    if (old && r->flags & RUN_SCHEDULED) {
        run_withdraw(s, now, r, PHASE_WITHDRAWN, "the job was changed while it was planned");
        return;
    }
    if (old)
        r->version = j->def->version;
    run_wait_due(s, r);
}

/* A retry is planned, or could not be: results of the LOST run that waited for that. */
static void retry_done(struct sched *s, struct now now, const struct spawn *spawn)
{
    struct run *cause = run_retried(s, spawn->kind, spawn->cause);
    if (!cause || !(cause->flags & RUN_RETRYING))
        return;
    cause->flags &= ~(uint32_t)RUN_RETRYING;
    if (cause->phase != PHASE_LOST)
        return;
    if (!retry_of(cause) && !(cause->flags & RUN_CLOSED))
        run_wait_ms(s, now, cause, s->config.lost_keep_ms);
    results_again(s, now, spawn->cause);
}

static void spawn_done_action(struct sched *s, const struct spawn *spawn)
{
    if (!spawn->reply)
        return;
    struct action *a = action_new(s, ACTION_SPAWNED);
    a->reply = spawn->reply;
    a->err = spawn->err;
    a->log_id = spawn->log_id;
}

static void plan_done(struct sched *s, const struct batch *b)
{
    if (b->ndelays) /* next scheduled times that the last look ahead did not know */
        s->replan = true;
    s->claims |= b->claims && b->plan_more;
    /* what lies behind it may be of a job that another center has made or started since, or that
     * has come here */
    if (b->claims && b->plan_next_ms < s->plan_next_ms)
        s->plan_next_ms = b->plan_next_ms;
    if (b->claims && b->plan_next_ms <= s->horizon_ms)
        s->replan = true;
    if (!b->plan_until_ms || b->claims)
        return;
    s->plan_next_ms = b->plan_next_ms;
    if (b->plan_more)
        s->replan = true;
    else
        s->horizon_ms = b->plan_until_ms;
}

static void sweep_done(struct sched *s, const struct batch *b)
{
    if (!b->sweep || b->sweep_no != s->sweep_no)
        return;
    s->sweep_from[b->sweep] = b->sweep_next;
    s->sweeping[b->sweep] = b->sweep_next != 0;
    if (s->sweeping[SWEEP_REBASE] || s->sweeping[SWEEP_ZONES])
        want_batch(s);
    s->replan = true;
}

void commit_done(struct sched *s, struct now now, struct batch *b)
{
    s->writing = s->planning = false;
    s->done_seq = b->seq;
    bool watermark = b->watermark.until_ms > s->watermark_ms;
    int64_t renewals = b->watermark.renewals;
    if (watermark)
        s->watermark_ms = b->watermark.until_ms;
    s->born |= renewals > 0;
    for (int i = 0; i < b->nchanges; i++)
        change_done(s, now, &b->changes[i], b->seq);
    plan_done(s, b);
    sweep_done(s, b);
    for (int i = 0; i < b->nplanned; i++)
        planned_done(s, now, &b->planned[i]);
    for (int i = 0; i < b->nplanned; i++) { /* all shards are there now */
        struct run *r = run_find(s, b->planned[i].row.log_id);
        if (r)
            broadcast_entered(s, now, r);
    }
    share_adopted(s, now, b);
    for (int i = 0; i < b->nedits; i++) /* after what was planned under the old version */
        edit_done(s, now, b->edits[i]);
    b->nedits = 0;
    share_synced(s, b);
    s->replan |= b->ndelays > 0;
    for (int i = 0; i < b->nspawns; i++) {
        retry_done(s, now, &b->spawns[i]);
        spawn_done_action(s, &b->spawns[i]);
    }
    outbox_kept(s, b->seq);
    batch_free(b);
    if (renewals) /* after all changes that it covers */
        flight_renewed(&s->flight, (uint64_t)renewals);
    if (watermark)
        dispatch_watermark(s, now);
    dispatch_due(s, now);
}
