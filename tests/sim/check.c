/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - the promises of docs/architecture.md, held against what the world and the disk show.
 *
 * The checker sees every commit, every send, every start of a run, every acknowledgement. It
 * enumerates moments itself, from the definitions, and believes no counter but compares them. */
#include "sim.h"
#include "sched/state.h"
#include "store/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it remembers ----------------------------------------------------------------------- */

struct ghost *ghost_of(struct sim *s, int64_t log_id)
{
    if (log_id >= s->nghosts) {
        int64_t n = s->nghosts ? s->nghosts * 2 : 4096;
        while (n <= log_id)
            n *= 2;
        s->ghosts = mem_resize(s->ghosts, (size_t)n * sizeof(*s->ghosts));
        memset(&s->ghosts[s->nghosts], 0, (size_t)(n - s->nghosts) * sizeof(*s->ghosts));
        s->nghosts = n;
    }
    if (log_id > s->last_id)
        s->last_id = log_id;
    return &s->ghosts[log_id];
}

static struct shadow *shadow_of(struct sim *s, int64_t job_id)
{
    if (job_id <= 0 || job_id >= (int64_t)countof(s->shadows))
        sim_fail(s, "the simulation", "job %lld has no shadow", (long long)job_id);
    return &s->shadows[job_id];
}

static const struct mem_run *live_row(struct sim *s, int64_t log_id)
{
    return mem_find(memory_of(s->store), T_RUN, log_id);
}

static const struct log_record *log_row(struct sim *s, int64_t log_id)
{
    return mem_find(memory_of(s->store), T_LOG, log_id);
}

static bool never_ran(enum phase p)
{
    return p == PHASE_REJECTED || p == PHASE_UNROUTABLE || p == PHASE_SKIPPED ||
           p == PHASE_WITHDRAWN;
}

static bool ended(enum phase p)
{
    return p >= PHASE_LOST;
}

static bool of_schedule(enum kind k)
{
    return k == KIND_CRON || k == KIND_MISFIRE;
}

static uint64_t mix(uint64_t h, int64_t v)
{
    return hash_u64(h ^ (uint64_t)v) + 0x9e3779b97f4a7c15u;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static const char *lost_text(struct sim *s, int64_t log_id)
{
    const struct log_record *l = log_row(s, log_id);
    return l && l->handle_msg ? l->handle_msg : "";
}

/* A proof of loss names no run that waits or runs somewhere, nor one that may still be sent: only
 * where nobody can tell is a run given up that never arrived. */
static void check_lost(struct sim *s, int64_t id, const struct ghost *g)
{
    s->lost++;
    const char *text = lost_text(s, id);
    if (strstr(text, "10 minutes"))
        return;
    if (!g->arrived && !strstr(text, "cannot be read"))
        sim_fail(s, "P1", "run %lld of job %lld is counted lost (%s), and it never arrived",
                 (long long)id, (long long)g->job_id, text);
    for (int i = 0; i < s->nexecs; i++)
        if (s->execs[i].up && exec_has(&s->execs[i], id) && !g->admitted)
            sim_fail(s, "P1", "run %lld of job %lld is counted lost (%s) while it is at %s",
                     (long long)id, (long long)g->job_id, lost_text(s, id), s->execs[i].address);
}

static void ghost_end(struct sim *s, int64_t id, enum phase to)
{
    struct ghost *g = ghost_of(s, id);
    if (g->end == to)
        return;
    bool after_lost = g->end == PHASE_LOST && to >= PHASE_SUCCEEDED && to <= PHASE_KILLED;
    if (g->end && !after_lost)
        sim_fail(s, "P1", "run %lld ends as %s and again as %s", (long long)id, phase_text(g->end),
                 phase_text(to));
    if (never_ran(to) && g->started && !g->disk_lost)
        sim_fail(s, "P1", "run %lld is counted %s, and it has run", (long long)id, phase_text(to));
    if (to == PHASE_SUCCEEDED && !g->ends_ok)
        sim_fail(s, "P1", "run %lld succeeded without having run", (long long)id);
    sim_trace(s, "run %lld of job %lld is %s: %s", (long long)id, (long long)g->job_id,
              phase_text(to), lost_text(s, id));
    bool failed = to != PHASE_SUCCEEDED && to != PHASE_SKIPPED && to != PHASE_WITHDRAWN;
    g->wants_retry = failed && !after_lost && g->retries_left > 0;
    g->fresh_success = to == PHASE_SUCCEEDED;
    g->end = to;
    s->ends++;
    if (of_schedule(g->kind) && to != PHASE_WITHDRAWN && g->moment_ms > s->served_ms)
        s->served_ms = g->moment_ms;
    if (to == PHASE_LOST)
        check_lost(s, id, g);
}

static void on_change(struct sim *s, const struct run_change *c)
{
    struct ghost *g = ghost_of(s, c->log_id);
    if (!g->born)
        sim_fail(s, "the ledger", "run %lld changes before it is born", (long long)c->log_id);
    if (c->doubted && g->kept && !g->sends)
        sim_fail(s, "the stop", "run %lld was not sent before the clean stop, and is in doubt",
                 (long long)c->log_id);
    if (c->doubted)
        g->doubted = true;
    if (c->what & CHANGE_FINISH && !g->handle_ms)
        g->handle_ms = c->handle_ms;
    if (c->what & CHANGE_DROP)
        g->dropped = true;
    if (c->what & (CHANGE_PHASE | CHANGE_DROP) && ended(c->phase))
        ghost_end(s, c->log_id, c->phase);
}

static void verify_codes(struct sim *s, int64_t id, const struct ghost *g)
{
    const struct log_record *l = log_row(s, id);
    if (!l)
        sim_fail(s, "P1", "the log row of run %lld is gone", (long long)id);
    bool right;
    switch (g->end) {
    case PHASE_SUCCEEDED:
        right = l->handle_code == 200 && l->trigger_code == 200;
        break;
    case PHASE_REJECTED:
    case PHASE_UNROUTABLE:
        right = l->handle_code == 0 && l->trigger_code == 500;
        break;
    case PHASE_TIMED_OUT:
        right = l->handle_code == 502;
        break;
    default:
        right = l->handle_code == 500;
        break;
    }
    if (!right)
        sim_fail(s, "P1", "run %lld ended as %s, and its row says %d/%d", (long long)id,
                 phase_text(g->end), l->trigger_code, l->handle_code);
}

/* A row that another program's monitor would take for a failure nobody looks after: it would alarm
 * and try it again. */
static void verify_claimed(struct sim *s, int64_t id)
{
    const struct log_record *l = log_row(s, id);
    bool sent_well = l && (l->trigger_code == 0 || l->trigger_code == 200);
    if (l && l->alarm_status == 0 && l->handle_code != 200 && !(sent_well && l->handle_code == 0))
        sim_fail(s, "P4", "run %lld has failed (%d/%d), and its alarm is not claimed",
                 (long long)id, l->trigger_code, l->handle_code);
}

/* What the batch said is what the disk says. */
static void verify_change(struct sim *s, const struct run_change *c)
{
    const struct ghost *g = ghost_of(s, c->log_id);
    const struct mem_run *r = live_row(s, c->log_id);
    verify_claimed(s, c->log_id);
    if (c->what & CHANGE_DROP) {
        if (r || log_row(s, c->log_id))
            sim_fail(s, "P1", "run %lld was dropped and is still there", (long long)c->log_id);
    } else if (c->what & CHANGE_CLOSE) {
        if (r)
            sim_fail(s, "P1", "run %lld was closed and is still live", (long long)c->log_id);
        verify_codes(s, c->log_id, g);
    } else if (!g->end && c->what & CHANGE_PHASE && (!r || r->row.phase != c->phase)) {
        sim_fail(s, "P1", "run %lld is %s and its row says %s", (long long)c->log_id,
                 phase_text(c->phase), r ? phase_text(r->row.phase) : "nothing");
    }
}

/* ---- births ---------------------------------------------------------------------------------- */

static bool is_rate(const struct shadow *j)
{
    return j->schedule.type == SCHEDULE_FIX_RATE || j->schedule.type == SCHEDULE_FIX_DELAY;
}

static uint64_t key_of(const struct run_row *r)
{
    uint64_t h = mix(1, r->job_id);
    h = mix(h, r->kind);
    h = mix(h, r->moment_ms);
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
    const struct shadow *j = shadow_of(s, r->job_id);
    bool rebased = s->rebased && (is_rate(j) || j->epoch); /* it is a rate job, or was one then */
    if (!unsent && !rebased)
        sim_fail(s, "P2", "job %lld, %s, moment %lld, shard %d, attempt %d has two ids: %lld, %lld",
                 (long long)r->job_id, kind_text(r->kind), (long long)r->moment_ms, r->shard,
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
    if (!j || !c->handle_ms)
        return;
    double delay = (double)j->retry_delay_ms;
    for (int i = 0; i < c->attempt; i++)
        delay *= j->retry_backoff;
    double waited = (double)(r->due_ms - c->handle_ms);
    bool early = c->end == PHASE_LOST && waited < delay - 1; /* else it may have been LOST first */
    if (early || waited > delay * 1.2 + 2)
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
    if (old && ghost_of(s, old)->moment_ms != r->moment_ms)
        sim_fail(s, "the children", "job %lld follows run %lld twice", (long long)r->job_id,
                 (long long)r->cause);
}

/* A broadcast laid anew: what becomes of the moment is the new rows' matter. */
static void supersede(struct sim *s, const struct run_row *r)
{
    for (int64_t id = r->log_id - 1; id > 0 && id > r->log_id - 2000; id--) {
        struct ghost *g = &s->ghosts[id];
        if (g->born && g->job_id == r->job_id && g->moment_ms == r->moment_ms && g->dropped)
            g->taken = true;
    }
}

static void on_birth(struct sim *s, const struct planned *p)
{
    const struct run_row *r = &p->row;
    struct ghost *g = ghost_of(s, r->log_id);
    if (g->born)
        sim_fail(s, "P2", "log id %lld is given twice", (long long)r->log_id);
    s->firings++;
    *g = (struct ghost){ .job_id = r->job_id,
                         .group_id = r->group_id,
                         .moment_ms = r->moment_ms,
                         .due_ms = r->due_ms,
                         .cause = r->cause,
                         .version = r->version,
                         .kind = r->kind,
                         .shard = r->shard,
                         .attempt = r->attempt,
                         .retries_left = r->retries_left,
                         .born = true,
                         .epoch = s->rebased,
                         .fresh = true };
    g->scheduled =
        of_schedule(r->kind) || (r->kind == KIND_RETRY && ghost_of(s, r->cause)->scheduled);
    g = ghost_of(s, r->log_id); /* ghost_of may have moved them */
    sim_trace(
        s,
        "planned %lld: job %lld %s, moment %lld, due %lld, attempt %d, shard %d, cause %lld, at %s",
        (long long)r->log_id, (long long)r->job_id, kind_text(r->kind), (long long)r->moment_ms,
        (long long)r->due_ms, r->attempt, r->shard, (long long)r->cause,
        r->address ? r->address : "nowhere");
    check_key(s, r);
    if (of_schedule(r->kind))
        map_set(&s->moments, mix(mix(3, r->job_id), r->moment_ms), (void *)(intptr_t)r->log_id);
    if (of_schedule(r->kind) && p->spawn)
        supersede(s, r);
    if (r->kind == KIND_RETRY)
        check_retry(s, r);
    if (r->kind == KIND_PARENT)
        check_child(s, r);
    if (!log_row(s, r->log_id))
        sim_fail(s, "P1", "run %lld was laid down without a log row", (long long)r->log_id);
}

/* ---- what an end must bring ------------------------------------------------------------------ */

static void needs_retry(struct sim *s, int64_t id)
{
    struct ghost *g = ghost_of(s, id);
    if (!g->wants_retry)
        return;
    g->wants_retry = false;
    const struct shadow *j = shadow_of(s, g->job_id);
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, g->job_id);
    if (!r || (j->edit_boot_ms && s->boot_ms - j->edit_boot_ms < 5000))
        return; /* an edit is on its way: either way is right */
    if (!r->enabled && !r->stop_reason && (g->scheduled || g->kind == KIND_RETRY))
        return; /* whose retry it is, is not known any more after a crash */
    sim_fail(s, "the retries",
             "run %lld (%s%s, version %lld) of job %lld (%s, version %lld) ended as %s with %d "
             "attempts left, not retried",
             (long long)id, g->scheduled ? "scheduled " : "", kind_text(g->kind),
             (long long)g->version, (long long)g->job_id, r->enabled ? "on" : "off",
             (long long)r->version, phase_text(g->end), g->retries_left);
}

static void needs_children(struct sim *s, int64_t id)
{
    struct ghost *g = ghost_of(s, id);
    if (!g->fresh_success)
        return;
    g->fresh_success = false;
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, g->job_id);
    if (!r || !r->children)
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

/* ---- moments --------------------------------------------------------------------------------- */

static int64_t moment_after(const struct shadow *j, int64_t ms)
{
    int64_t next;
    return schedule_next(&j->schedule, ms, &next) ? NEVER_MS : next;
}

static bool enumerable(const struct shadow *j)
{
    return j->schedule.type == SCHEDULE_CRON || j->schedule.type == SCHEDULE_FIX_RATE ||
           j->schedule.type == SCHEDULE_ONCE;
}

static void conf_text(const struct job_record *r, char text[128])
{
    snprintf(text, 128, "%s|%s|%s|%s", r->schedule_type, r->schedule_conf ? r->schedule_conf : "",
             r->zone ? r->zone : "", r->dst ? r->dst : "");
}

static void parse(struct sim *s, struct shadow *j, const struct job_record *r)
{
    struct zone *zone = NULL;
    struct why why = { "" };
    enum dst_policy dst = r->dst && strcmp(r->dst, "smart") == 0 ? DST_SMART : DST_XXL;
    schedule_done(&j->schedule);
    if (sim_zone(s, r->zone ? r->zone : "", &zone, &why) ||
        schedule_parse(slice_text(r->schedule_type), slice_text(r->schedule_conf), zone, dst, 2125,
                       &j->schedule, &why))
        memset(&j->schedule, 0, sizeof(j->schedule));
    zone_unref(zone);
}

static int64_t skips_of(struct sim *s, int64_t job_id)
{
    int64_t n = 0;
    void *row;
    const struct memory *m = memory_of(s->store);
    for (size_t i = 0; map_next(&m->tables[T_SKIP], &i, &row);)
        if (((struct mem_skip *)row)->row.job_id == job_id)
            n += ((struct mem_skip *)row)->row.count;
    return n;
}

/* The latest moment of the job that was not withdrawn, as the rows tell. */
static int64_t kept_until(struct sim *s, int64_t job_id)
{
    int64_t kept = 0;
    int64_t epoch = shadow_of(s, job_id)->epoch;
    for (int64_t id = s->last_id; id > 0; id--) {
        const struct ghost *g = &s->ghosts[id];
        if (g->born && g->job_id == job_id && of_schedule(g->kind) && g->moment_ms > kept &&
            !(g->end == PHASE_WITHDRAWN && g->dropped) && !g->fresh && g->epoch >= epoch)
            kept = g->moment_ms;
    }
    return kept;
}

/* What the edit took back: the first moment, NEVER_MS if none. A moment that a user killed before
 * it left is not among it: it is planned anew only if the edit goes back behind it. */
static int64_t taken_back(struct sim *s, const struct batch *b, const struct edit *e,
                          int64_t *ret_outdated_ms)
{
    int64_t first = NEVER_MS;
    for (int i = 0; i < e->nwithdraw; i++) {
        struct ghost *g = ghost_of(s, e->withdraw[i].log_id);
        if (g->kind != KIND_CRON || !g->dropped)
            continue;
        g->taken = true;
        if (e->now && g->version < e->now->version - 1 && g->moment_ms > *ret_outdated_ms)
            *ret_outdated_ms =
                g->moment_ms; /* was out when an earlier edit was made: that took it */
        if (g->moment_ms < first)
            first = g->moment_ms;
    }
    for (int i = 0; i < b->nspawns; i++) { /* a broadcast that was to be laid anew */
        const struct spawn *again = &b->spawns[i];
        if (again->job_id != e->id || again->kind != KIND_CRON || !again->err)
            continue;
        for (int64_t id = s->last_id; id > 0; id--) {
            struct ghost *g = &s->ghosts[id];
            if (g->job_id == e->id && g->kind == KIND_CRON && g->moment_ms == again->moment_ms)
                g->taken = g->dropped;
        }
        if (again->moment_ms < first)
            first = again->moment_ms;
    }
    return first;
}

/* planned_until after an edit is the last moment that was not withdrawn; the center may only take
 * what any of its runs has served, or the mark at its start, for it. */
static void after_edit(struct sim *s, const struct batch *b, const struct edit *e, struct shadow *j,
                       bool same)
{
    int64_t outdated = 0;
    int64_t first = taken_back(s, b, e, &outdated), kept = kept_until(s, e->id);
    if (first != NEVER_MS) {
        int64_t bound = s->served_ms > s->start_mark_ms ? s->served_ms : s->start_mark_ms;
        bound = bound < first - 1 ? bound : first - 1;
        j->cover_ms = kept;
        bound = bound > outdated ? bound : outdated;
        j->lenient_ms = bound > kept ? bound : kept;
    }
    if (e->kind != EDIT_JOB_UPDATE || !same) {
        j->from_ms = b->now_ms;
        j->expect_ms = moment_after(j, b->now_ms);
    } else if (first < j->expect_ms) {
        j->expect_ms = first;
    }
    if (j->expect_ms <= j->cover_ms)
        j->expect_ms = moment_after(j, j->cover_ms);
}

static void on_edit(struct sim *s, const struct batch *b, const struct edit *e)
{
    if (e->err || e->kind > EDIT_JOB_DELETE)
        return;
    struct shadow *j = shadow_of(s, e->id);
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, e->id);
    j->id = e->id;
    j->edit_boot_ms = s->boot_ms;
    j->bad_since = 0;
    if (!r)
        return;
    char conf[128];
    conf_text(r, conf);
    bool same = strcmp(conf, j->conf) == 0;
    memcpy(j->conf, conf, sizeof(conf));
    if (!same)
        parse(s, j, r);
    after_edit(s, b, e, j, same);
}

static bool has_row(struct sim *s, const struct shadow *j, int64_t moment_ms)
{
    return map_find(&s->moments, mix(mix(3, j->id), moment_ms));
}

static void check_moments(struct sim *s, const struct batch *b, const struct due_row *due)
{
    struct shadow *j = shadow_of(s, due->job_id);
    if (!enumerable(j)) {
        j->epoch = b->sweep == SWEEP_REBASE && is_rate(j) ? s->rebased : j->epoch;
        j->cover_ms = due->planned_until_ms;
        j->skipped = skips_of(s, j->id);
        return;
    }
    if (is_rate(j) && (j->epoch || s->went_back) && j->edit_boot_ms == s->boot_ms) {
        /* rows by two clocks: where the chain goes on is not known from outside */
        j->cover_ms = due->planned_until_ms;
        j->expect_ms = due->next_ms > j->cover_ms ? due->next_ms : moment_after(j, j->cover_ms);
        j->skipped = skips_of(s, j->id);
        return;
    }
    if (b->sweep == SWEEP_REBASE && is_rate(j) &&
        (due->planned_until_ms < j->cover_ms || j->expect_ms > b->sweep_ms)) {
        j->cover_ms = due->planned_until_ms;
        j->expect_ms = due->next_ms;
        j->skipped = skips_of(s, j->id);
        j->epoch = s->rebased;
        return;
    }
    if (due->planned_until_ms < j->cover_ms && b->sweep != SWEEP_REBASE)
        sim_fail(s, "P2", "job %lld (%s): planned_until went back from %lld to %lld",
                 (long long)j->id, j->conf, (long long)j->cover_ms,
                 (long long)due->planned_until_ms);
    int64_t missing = 0, maybe = 0, first = 0;
    if (is_rate(j) && j->lenient_ms &&
        j->expect_ms <=
            due->planned_until_ms) { /* the chain may begin at either end of the doubt */
        int64_t other = moment_after(j, j->lenient_ms);
        if (!has_row(s, j, j->expect_ms) && j->expect_ms <= other &&
            (has_row(s, j, other) || due->planned_until_ms < other))
            j->expect_ms = other;
        j->lenient_ms = 0;
    }
    while (j->expect_ms <= due->planned_until_ms) {
        int64_t id = (int64_t)(intptr_t)map_find(&s->moments, mix(mix(3, j->id), j->expect_ms));
        const struct ghost *g = id ? ghost_of(s, id) : NULL;
        if (g && g->taken)
            id = 0; /* an edit took it: the moment counts anew */
        if (id && (g->epoch < j->epoch || (g->end == PHASE_WITHDRAWN && g->dropped))) {
            maybe++; /* a row by the old clock may still be live, or may be skipped again */
        } else if (!id && j->expect_ms <= j->lenient_ms) {
            maybe++;
        } else if (!id) {
            missing++;
            first = first ? first : j->expect_ms;
        }
        j->expect_ms = moment_after(j, j->expect_ms);
    }
    j->cover_ms = due->planned_until_ms;
    int64_t skipped = skips_of(s, j->id), more = skipped - j->skipped;
    bool loose =
        j->meddled || (is_rate(j) && s->went_back); /* two clocks: not enumerable from outside */
    if (!loose && (more < missing || more > missing + maybe))
        sim_fail(s, "P1", "job %lld (%s): %lld moments from %lld on have no row, %lld are skipped",
                 (long long)j->id, j->conf, (long long)missing, (long long)first, (long long)more);
    j->skipped = skipped;
}

/* ---- a commit -------------------------------------------------------------------------------- */

static void check_totals(struct sim *s)
{
    struct totals t;
    int64_t open;
    struct why why = { "" };
    store_memory_ops.totals_get(s->store, &t, &open, &why);
    int64_t rest = t.n[TOTAL_PLANNED] - t.n[TOTAL_FINISHED] - t.n[TOTAL_REJECTED] -
                   t.n[TOTAL_LOST] - t.n[TOTAL_SKIPPED] - t.n[TOTAL_WITHDRAWN] - open;
    if (rest)
        sim_fail(s, "P1", "%lld firings are unaccounted for (planned %lld, open %lld)",
                 (long long)rest, (long long)t.n[TOTAL_PLANNED], (long long)open);
}

void check_commit(struct sim *s, struct batch *b)
{
    s->rebased += b->sweep == SWEEP_REBASE; /* from here on rate jobs may meet a moment again */
    for (int i = 0; i < b->nchanges; i++)
        on_change(s, &b->changes[i]);
    for (int i = 0; i < b->nedits; i++)
        for (int k = 0; !b->edits[i]->err && k < b->edits[i]->nwithdraw; k++)
            on_change(s, &b->edits[i]->withdraw[k]);
    for (int i = 0; i < b->nplanned; i++)
        on_birth(s, &b->planned[i]);
    for (int i = 0; i < b->nedits; i++)
        on_edit(s, b, b->edits[i]);
    for (int i = 0; i < b->nchanges; i++) {
        verify_change(s, &b->changes[i]);
        needs_retry(s, b->changes[i].log_id);
        needs_children(s, b->changes[i].log_id);
    }
    for (int i = 0; i < b->nedits; i++)
        for (int k = 0; !b->edits[i]->err && k < b->edits[i]->nwithdraw; k++) {
            verify_change(s, &b->edits[i]->withdraw[k]);
            ghost_of(s, b->edits[i]->withdraw[k].log_id)->wants_retry = false;
        }
    if (b->plan_until_ms || b->nedits || b->sweep || b->ndelays) {
        void *row;
        for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_DUE], &i, &row);)
            check_moments(s, b, row);
    }
    for (int i = 0; i < b->nplanned; i++)
        ghost_of(s, b->planned[i].row.log_id)->fresh = false;
    check_totals(s);
}

/* ---- a send, a start, an acknowledgement ----------------------------------------------------- */

void check_killed(struct sim *s, int64_t log_id)
{
    const struct ghost *g = ghost_of(s, log_id);
    if (!g->end && !g->dropped)
        sim_fail(s, "P1", "the kill of run %lld is answered before its end is kept",
                 (long long)log_id);
}

/* After a clean stop nothing that was not sent is asked about; after any other end it may be. */
void check_stop(struct sim *s, bool clean)
{
    for (int64_t id = 1; id <= s->last_id; id++) {
        struct ghost *g = &s->ghosts[id];
        g->kept = clean && g->born && !g->end && !g->dropped && !g->sends && !g->doubted;
    }
}

void check_send(struct sim *s, const struct call *c)
{
    struct ghost *g = ghost_of(s, c->log_id);
    const struct mem_run *r = live_row(s, c->log_id);
    const struct shadow *j = shadow_of(s, c->job_id);
    long long id = c->log_id;
    sim_trace(s, "send %lld of job %lld (attempt %d, shard %d) to %s, due %lld", id,
              (long long)c->job_id, c->attempt, c->shard, c->address, (long long)c->due_ms);
    if (!r)
        sim_fail(s, "P1", "run %lld is sent and has no live row (%s)", id, phase_text(g->end));
    if (never_ran(g->end))
        sim_fail(s, "P4", "run %lld is counted %s and is sent", id, phase_text(g->end));
    if (r->row.due_ms > wall_ms(s))
        sim_fail(s, "P3", "run %lld is sent %lld ms early", id,
                 (long long)(r->row.due_ms - wall_ms(s)));
    if (r->row.due_ms > memory_of(s->store)->now.mark_ms)
        sim_fail(s, "P3", "run %lld is sent %lld ms beyond the mark on disk", id,
                 (long long)(r->row.due_ms - memory_of(s->store)->now.mark_ms));
    if (memory_of(s->store)->now.clean)
        sim_fail(s, "P3", "run %lld is sent while the disk says that nothing is", id);
    if (!r->row.address || strcmp(r->row.address, c->address) != 0)
        sim_fail(s, "P3", "run %lld goes to %s, and the disk says %s", id, c->address,
                 r->row.address ? r->row.address : "nowhere");
    if (j->deleted_answered)
        sim_fail(s, "P5", "run %lld of job %lld leaves after its deletion was answered", id,
                 (long long)c->job_id);
    if (of_schedule(g->kind) && r->row.version < j->answered_version)
        sim_fail(s, "P5", "run %lld of version %lld leaves after version %lld was answered", id,
                 (long long)r->row.version, (long long)j->answered_version);
    if (g->scheduled && r->row.version < j->stopped_version)
        sim_fail(s, "P5", "run %lld (%s) leaves after the stop of its job was answered", id,
                 kind_text(g->kind));
    if (r->row.kind == KIND_RETRY) {
        const struct ghost *cause = ghost_of(s, r->row.cause);
        if (cause->end == PHASE_SUCCEEDED)
            sim_fail(s, "P4", "run %lld retries %lld, which has succeeded", id,
                     (long long)r->row.cause);
    }
    const struct run *m = map_find(&s->sched->runs, (uint64_t)c->log_id);
    if (m && m->flags & RUN_RESENT && g->resent_life != s->life + 1) {
        g->resent_life = s->life + 1;
        g->admitted++;
    }
    g->sends++;
    if (of_schedule(g->kind) && g->moment_ms > s->served_ms)
        s->served_ms = g->moment_ms;
}

void check_started(struct sim *s, struct exec *x, int64_t log_id)
{
    struct ghost *g = ghost_of(s, log_id);
    bool here = g->at & 1u << x->index;
    g->started++;
    g->at |= 1u << x->index;
    if (!g->sends)
        sim_fail(s, "the simulation", "run %lld starts and was never sent", (long long)log_id);
    if (g->disk_lost)
        return;
    if (here && x->type == EXEC_OURS)
        sim_fail(s, "P2", "run %lld runs twice at an executor that remembers", (long long)log_id);
    if (g->started > 1 + g->admitted)
        sim_fail(s, "P2", "run %lld runs %d times, %d resends were admitted", (long long)log_id,
                 g->started, g->admitted);
    if (never_ran(g->end))
        sim_fail(s, "P1", "run %lld is counted %s and runs", (long long)log_id, phase_text(g->end));
}

void check_ack(struct sim *s, const struct sim_ack *a)
{
    for (int i = 0; i < a->n; i++) {
        int64_t id = a->results[i].log_id;
        const struct ghost *g = ghost_of(s, id);
        const struct mem_run *r = live_row(s, id);
        const struct log_record *l = log_row(s, id);
        if (r)
            sim_fail(s, "P1", "result %d of run %lld is acknowledged, and its row is still %s",
                     a->results[i].code, (long long)id, phase_text(r->row.phase));
        if (!l || g->disk_lost)
            continue;
        if (never_ran(g->end) && g->started) /* a queue torn down reports what never began */
            sim_fail(s, "P1", "run %lld is %s and has a result", (long long)id, phase_text(g->end));
        if (g->end == PHASE_LOST && (!l->handle_msg || !strstr(l->handle_msg, "late result")))
            sim_fail(s, "P4", "result %d of run %lld, which stays lost, is noted nowhere",
                     a->results[i].code, (long long)id);
    }
}

void check_edited(struct sim *s, const struct edit *e)
{
    if (e->err || e->kind > EDIT_JOB_DELETE || e->kind == EDIT_JOB_INSERT)
        return;
    struct shadow *j = shadow_of(s, e->id);
    if (e->kind == EDIT_JOB_DELETE) {
        j->deleted_answered = true;
        return;
    }
    j->answered_version = e->now->version;
    if (e->kind == EDIT_JOB_STOP)
        j->stopped_version = e->now->version;
}

/* ---- progress -------------------------------------------------------------------------------- */

static bool has_open_run(struct sim *s, int64_t job_id)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_RUN], &i, &row);) {
        const struct mem_run *r = row;
        if (r->row.job_id == job_id && phase_open(r->row.phase) &&
            (ghost_of(s, r->row.log_id)->scheduled || r->row.kind == KIND_RETRY))
            return true;
    }
    return false;
}

static void check_progress(struct sim *s, const struct due_row *due)
{
    struct shadow *j = shadow_of(s, due->job_id);
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, due->job_id);
    bool late = r->enabled && (enumerable(j) ? j->expect_ms : due->next_ms) < wall_ms(s) - 8000;
    bool stuck = r->enabled && j->schedule.type == SCHEDULE_FIX_DELAY && due->next_ms == NEVER_MS &&
                 !has_open_run(s, due->job_id);
    if (!late && !stuck) {
        j->bad_since = 0;
        return;
    }
    if (!j->bad_since)
        j->bad_since = s->boot_ms;
    if (s->boot_ms - j->bad_since >= 9000)
        sim_fail(s, "liveness", "job %lld (%s) %s", (long long)j->id, j->conf,
                 late ? "is not planned in time" : "waits for no run and has no next moment");
}

void check_calm(struct sim *s)
{
    bool calm = s->sched && s->boot_ms - s->up_since_ms > 10000 &&
                s->boot_ms - s->store_good_since_ms > 10000 && s->boot_ms - s->stepped_ms > 10000 &&
                !s->slow_disk;
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_DUE], &i, &row);) {
        if (calm)
            check_progress(s, row);
        else
            shadow_of(s, ((struct due_row *)row)->job_id)->bad_since = 0;
    }
}

bool check_quiet(struct sim *s)
{
    struct sched_stats st;
    if (!s->sched)
        return false;
    sched_stats(s->sched, &st);
    if (st.live || memory_of(s->store)->tables[T_RUN].len || !list_empty(&s->acks))
        return false;
    for (int i = 0; i < s->nexecs; i++)
        if (s->execs[i].up && s->execs[i].nresults)
            return false;
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_JOB], &i, &row);)
        if (((struct job_record *)row)->enabled)
            return false;
    return true;
}

static void check_lanes(struct sim *s)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->sched->lanes, &i, &value);) {
        const struct lane *l = value;
        if (l->in_flight || l->asking || l->nqueue || !list_empty(&l->asks))
            sim_fail(s, "liveness", "lane %s: %d in flight, %d asking, %d waiting at the end",
                     l->address, l->in_flight, l->asking, l->nqueue);
    }
}

static void check_open(struct sim *s)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_RUN], &i, &row);) {
        const struct mem_run *r = row;
        sim_fail(s, "liveness", "run %lld of job %lld is still %s at the end (%s)",
                 (long long)r->row.log_id, (long long)r->row.job_id, phase_text(r->row.phase),
                 r->row.address ? r->row.address : "nowhere");
    }
    struct sched_stats st;
    sched_stats(s->sched, &st);
    for (size_t i = 0; map_next(&s->sched->runs, &i, &row);) {
        const struct run *r = row;
        sim_fail(s, "liveness", "run %lld (%s, flags %x) is on no disk and stays in memory",
                 (long long)r->log_id, phase_text(r->phase), r->flags);
    }
    if (s->sched->jobs.len)
        sim_fail(s, "liveness", "%zu jobs without runs stay in memory", s->sched->jobs.len);
}

void check_end(struct sim *s)
{
    if (!s->sched)
        sim_fail(s, "the simulation", "the center is not up at the end");
    check_open(s);
    check_lanes(s);
    if (!check_quiet(s))
        sim_fail(s, "liveness", "a result, an edit or a job that is on waits at the end (%d acks)",
                 !list_empty(&s->acks));
    for (int64_t id = 1; id <= s->last_id; id++) {
        const struct ghost *g = &s->ghosts[id];
        if (!g->born)
            continue;
        if (!g->end)
            sim_fail(s, "P1", "run %lld of job %lld has no end", (long long)id,
                     (long long)g->job_id);
        if (never_ran(g->end) && g->started && !g->disk_lost)
            sim_fail(s, "P1", "run %lld is counted %s, and it has run", (long long)id,
                     phase_text(g->end));
        if (!g->dropped)
            verify_codes(s, id, g);
    }
    if (s->firings < 1000 || s->crashes < 1)
        sim_fail(s, "the simulation", "only %lld firings and %lld crashes", (long long)s->firings,
                 (long long)s->crashes);
}

void check_free(struct sim *s)
{
    free(s->ghosts);
    map_done(&s->keys);
    map_done(&s->moments);
    map_done(&s->parents);
    for (size_t i = 0; i < countof(s->shadows); i++)
        schedule_done(&s->shadows[i].schedule);
}
