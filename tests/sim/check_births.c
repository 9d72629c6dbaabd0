/* SPDX-License-Identifier: Apache-2.0 */
/* check_births.c - one id a key; retries and children as the definitions want them. */
#include "check.h"
#include <string.h>

/* ---- births ---------------------------------------------------------------------------------- */

bool is_rate(const struct shadow *j)
{
    return j->schedule.type == SCHEDULE_FIX_RATE || j->schedule.type == SCHEDULE_FIX_DELAY;
}

bool check_two_clocks(struct sim *s, int64_t job_id)
{
    const struct shadow *j = shadow_of(s, job_id);
    const struct job_record *now = mem_find(memory_of(s->store), T_JOB, job_id);
    bool rate = is_rate(j) || (now && strncmp(now->schedule_type, "FIX_", 4) == 0);
    return s->went_back && (rate || j->epoch);
}

static uint64_t key_of(const struct run_row *r)
{
    uint64_t h = mix(1, r->job_id);
    h = mix(h, r->kind);
    h = mix(h, r->scheduled_ms);
    h = mix(h, r->shard);
    h = mix(h, r->attempt);
    return mix(h, r->cause);
}

static void check_key(struct sim *s, const struct run_row *r)
{
    uint64_t key = key_of(r);
    int64_t old = (int64_t)(intptr_t)map_set(&s->keys, key, (void *)(intptr_t)r->log_id);
    if (!old)
        return;
    const struct ghost *g = ghost_of(s, old);
    bool unsent = g->end == PHASE_WITHDRAWN || g->end == PHASE_SKIPPED;
    if (!unsent && !check_two_clocks(s, r->job_id))
        sim_fail(s, "P2",
                 "job %lld, %s, scheduled time %lld, shard %d, attempt %d has two ids: %lld, %lld",
                 (long long)r->job_id, kind_text(r->kind), (long long)r->scheduled_ms, r->shard,
                 r->attempt, (long long)old, (long long)r->log_id);
}

static void check_retry(struct sim *s, const struct run_row *r)
{
    struct ghost *c = ghost_of(s, r->cause);
    if (!c->born || !ended(c->end) || c->end == PHASE_SUCCEEDED || c->end == PHASE_SKIPPED ||
        c->end == PHASE_WITHDRAWN)
        sim_fail(s, "the retries", "run %lld retries %lld, which has not failed",
                 (long long)r->log_id, (long long)r->cause);
    if (r->attempt != c->attempt + 1 || r->retries_left != c->retries_left - 1 ||
        r->retries_left < 0)
        sim_fail(s, "the retries", "run %lld is attempt %d with %d left after attempt %d with %d",
                 (long long)r->log_id, r->attempt, r->retries_left, c->attempt, c->retries_left);
    if (c->retry)
        sim_fail(s, "the retries", "run %lld is retried by %lld and %lld", (long long)r->cause,
                 (long long)c->retry, (long long)r->log_id);
    c->retry = r->log_id;
    c->wants_retry = false;
    const struct job_record *j = mem_find(memory_of(s->store), T_JOB, r->job_id);
    if (!j || !c->handle_ms || check_edit_unheard(s, shadow_of(s, r->job_id)))
        return;
    double delay = (double)j->retry_delay_ms;
    for (int i = 0; i < c->attempt; i++)
        delay *= j->retry_backoff;
    double waited = (double)(r->due_ms - c->handle_ms);
    bool early = c->end == PHASE_LOST && waited < delay - 1; /* else it may have been LOST first */
    bool late = waited > delay * 1.2 + 2 && s->boot_ms - s->stepped_ms > 60000;
    if (early || late)
        sim_fail(s, "the retries", "run %lld is due %.0f ms after the failure, not %.0f",
                 (long long)r->log_id, waited, delay);
}

static void check_child(struct sim *s, const struct run_row *r)
{
    const struct ghost *c = ghost_of(s, r->cause);
    if (c->end != PHASE_SUCCEEDED)
        sim_fail(s, "the children", "run %lld follows %lld, which is %s", (long long)r->log_id,
                 (long long)r->cause, phase_text(c->end));
    uint64_t key = mix(mix(7, r->job_id), r->cause);
    int64_t old = (int64_t)(intptr_t)map_set(&s->parents, key, (void *)(intptr_t)r->log_id);
    if (old && ghost_of(s, old)->scheduled_ms != r->scheduled_ms)
        sim_fail(s, "the children", "job %lld follows run %lld twice", (long long)r->job_id,
                 (long long)r->cause);
}

/* A broadcast planned again: what becomes of the scheduled time is the new rows' matter. */
static void supersede(struct sim *s, const struct run_row *r)
{
    for (int64_t id = r->log_id - 1; id > 0 && id > r->log_id - 2000; id--) {
        struct ghost *g = &s->ghosts[id];
        if (g->born && g->job_id == r->job_id && g->scheduled_ms == r->scheduled_ms && g->dropped)
            g->taken = true;
    }
}

void check_birth(struct sim *s, const struct planned *p)
{
    const struct run_row *r = &p->row;
    struct ghost *g = ghost_of(s, r->log_id);
    if (g->born)
        sim_fail(s, "P2", "log id %lld is given twice", (long long)r->log_id);
    s->firings++;
    *g = (struct ghost){ .job_id = r->job_id,
                         .group_id = r->group_id,
                         .scheduled_ms = r->scheduled_ms,
                         .due_ms = r->due_ms,
                         .cause = r->cause,
                         .version = r->version,
                         .kind = r->kind,
                         .shard = r->shard,
                         .shard_total = r->shard_total,
                         .broadcast = r->broadcast,
                         .attempt = r->attempt,
                         .retries_left = r->retries_left,
                         .born = true,
                         .taken_ms = s->taken_ms,
                         .laid_for = r->address ? peer_of(s, r->address)->number : 0,
                         .born_ms = s->boot_ms,
                         .epoch = s->rebased,
                         .fresh = true };
    if (r->address)
        peer_of(s, r->address)->laid++;
    g->scheduled =
        of_schedule(r->kind) || (r->kind == KIND_RETRY && ghost_of(s, r->cause)->scheduled);
    g = ghost_of(s, r->log_id); /* ghost_of may have moved them */
    sim_trace(s,
              "planned %lld: job %lld %s, scheduled %lld, due %lld, attempt %d, shard %d, cause "
              "%lld, at %s",
              (long long)r->log_id, (long long)r->job_id, kind_text(r->kind),
              (long long)r->scheduled_ms, (long long)r->due_ms, r->attempt, r->shard,
              (long long)r->cause, r->address ? r->address : "nowhere");
    check_key(s, r);
    if (of_schedule(r->kind))
        map_set(&s->scheduled_times, mix(mix(3, r->job_id), r->scheduled_ms),
                (void *)(intptr_t)r->log_id);
    if (of_schedule(r->kind) && p->spawn)
        supersede(s, r);
    check_param(s, r);
    check_shard_planned(s, r);
    check_choice(s, p);
    if (r->kind == KIND_RETRY)
        check_retry(s, r);
    if (r->kind == KIND_PARENT)
        check_child(s, r);
    if (!log_row(s, r->log_id))
        sim_fail(s, "P1", "run %lld was planned without a log row", (long long)r->log_id);
}

/* ---- what an end must bring ------------------------------------------------------------------ */

void check_retried(struct sim *s, int64_t id)
{
    struct ghost *g = ghost_of(s, id);
    if (!g->wants_retry)
        return;
    g->wants_retry = false;
    const struct shadow *j = shadow_of(s, g->job_id);
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, g->job_id);
    if (!r || check_edit_unheard(s, j))
        return; /* either way is right */
    if (!r->enabled && !r->stop_reason && (g->scheduled || g->kind == KIND_RETRY))
        return; /* whose retry it is, is not known any more after a crash */
    sim_fail(s, "the retries",
             "run %lld (%s%s, version %lld) of job %lld (%s, version %lld) ended as %s with %d "
             "attempts left, not retried",
             (long long)id, g->scheduled ? "scheduled " : "", kind_text(g->kind),
             (long long)g->version, (long long)g->job_id, r->enabled ? "on" : "off",
             (long long)r->version, phase_text(g->end), g->retries_left);
}

void check_followed(struct sim *s, int64_t id)
{
    struct ghost *g = ghost_of(s, id);
    if (!g->fresh_success)
        return;
    g->fresh_success = false;
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, g->job_id);
    if (!r || !r->children || check_edit_unheard(s, shadow_of(s, g->job_id)))
        return;
    struct slice rest = slice_text(r->children);
    for (struct slice one; slice_item(&rest, &one);) {
        int64_t child;
        if (!parse_i64(one, &child) || child == g->job_id ||
            !mem_find(memory_of(s->store), T_JOB, child))
            continue;
        if (!map_find(&s->parents, mix(mix(7, child), id)))
            sim_fail(s, "the children", "run %lld succeeded, and job %lld did not follow",
                     (long long)id, (long long)child);
    }
}
