/* SPDX-License-Identifier: Apache-2.0 */
/* check_progress.c - planning keeps up, and at the end nothing is left. */
#include "check.h"

#define PLANNED_MAX 200000 /* rows; then planning pauses */

bool check_open_run(struct sim *s, int64_t job_id, bool any_retry)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_RUN], &i, &row);) {
        const struct mem_run *r = row;
        if (r->row.job_id == job_id && phase_open(r->row.phase) &&
            (ghost_of(s, r->row.log_id)->scheduled || (any_retry && r->row.kind == KIND_RETRY)))
            return true;
    }
    return false;
}

/* So many planned rows wait that planning pauses, as it may (docs/architecture.md, Planning). */
static bool intake_stopped(struct sim *s)
{
    int planned = 0;
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_RUN], &i, &row);)
        planned += ((struct mem_run *)row)->row.phase == PHASE_PLANNED;
    return planned >= PLANNED_MAX;
}

static void check_progress(struct sim *s, const struct due_row *due)
{
    struct shadow *j = shadow_of(s, due->job_id);
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, due->job_id);
    const char *wrong = check_job_end(s, j, due);
    if (!wrong && j->on && (enumerable(j) ? j->expect_ms : due->next_ms) < wall_ms(s) - 8000 &&
        !intake_stopped(s))
        wrong = "is not planned in time";
    if (!wrong && r->enabled && j->schedule.type == SCHEDULE_FIX_DELAY &&
        due->next_ms == NEVER_MS &&
        !check_open_run(s, due->job_id, true)) /* whose retry it is, is not known after a crash */
        wrong = "waits for no run and has no next scheduled time";
    if (!wrong) {
        j->bad_since = 0;
        return;
    }
    if (!j->bad_since)
        j->bad_since = s->boot_ms;
    if (s->boot_ms - j->bad_since >= 9000)
        sim_fail(s, "liveness", "job %lld (%s) %s", (long long)j->id, j->conf, wrong);
}

void check_calm(struct sim *s)
{
    bool calm = s->sched && s->boot_ms - s->frozen_until_ms > 10000 &&
                s->boot_ms - s->up_since_ms > 10000 &&
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

/* What its metrics say: nothing is live, waits or is under way. */
static void check_idle(struct sim *s)
{
    struct sched_stats st;
    sched_stats(s->sched, &st);
    if (st.live || st.planned || st.in_flight || st.lanes_waiting)
        sim_fail(s, "liveness", "%d runs live, %d planned, %d in flight, %d waiting at the end",
                 st.live, st.planned, st.in_flight, st.lanes_waiting);
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
}

void check_end(struct sim *s)
{
    if (!s->sched)
        sim_fail(s, "the simulation", "the center is not up at the end");
    check_open(s);
    check_resends(s, true);
    check_idle(s);
    check_flight_over(s);
    alarms_end(s);
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
            check_codes(s, id, g);
    }
    check_figures(s);
    bool days = s->boot_ms > 10000000; /* most of it was an outage */
    if (!days && (s->firings < 1000 || s->crashes < 1))
        sim_fail(s, "the simulation", "only %lld firings and %lld crashes", (long long)s->firings,
                 (long long)s->crashes);
}
