/* SPDX-License-Identifier: Apache-2.0 */
/* check_plan.c - what planning plans: which scheduled times a misfire policy keeps, when FIX_DELAY
 * goes on, with which parameter, and which jobs have come to their end. */
#include "check.h"
#include <string.h>

#define MISFIRE_MS 5000 /* a scheduled time older than this when it is planned */

static const struct job_record *job_row(struct sim *s, int64_t job_id)
{
    return mem_find(memory_of(s->store), T_JOB, job_id);
}

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* A retry runs with what the run had that it retries, whatever the job says by now. */
void check_param(struct sim *s, const struct run_row *r)
{
    const struct log_record *l = log_row(s, r->log_id), *c = log_row(s, r->cause);
    if (r->kind == KIND_RETRY && l && c && !same(l->param, c->param))
        sim_fail(s, "the retries", "run %lld is called with \"%s\", and the one before with \"%s\"",
                 (long long)r->log_id, l->param, c->param);
}

/* What leaves is what the row says. */
void check_sent_param(struct sim *s, const struct call *c)
{
    const struct log_record *l = log_row(s, c->log_id);
    if (l && !same(l->param, c->param))
        sim_fail(s, "P5", "run %lld leaves with \"%s\", and its row says \"%s\"",
                 (long long)c->log_id, c->param, l->param);
}

/* P5: what leaves is called with what its row says; and as the job says since its last edit was
 * answered, but for the parameter of what no schedule asked for. While an edit is on disk and not
 * answered either will do. */
void check_called_with(struct sim *s, const struct conn *c, const struct mem_run *r)
{
    const struct log_record *l = log_row(s, r->row.log_id);
    const struct job_record *j = job_row(s, r->row.job_id);
    long long id = r->row.log_id;
    if (l && (!same(l->param, c->param) || !same(l->handler, c->handler)))
        sim_fail(s, "P5", "run %lld leaves with \"%s\" for %s, and its row says \"%s\" for %s", id,
                 c->param, c->handler, l->param, l->handler);
    if (!j || j->version != shadow_of(s, r->row.job_id)->answered_version)
        return;
    bool of_job = !of_schedule(r->row.kind) || same(j->param, c->param);
    if (!of_job || !same(j->handler, c->handler))
        sim_fail(s, "P5", "run %lld leaves with \"%s\" for %s after \"%s\" for %s was answered", id,
                 c->param, c->handler, j->param, j->handler);
}

/* ---- misfires -------------------------------------------------------------------------------- */

static int kept_by(const struct job_record *r)
{
    enum misfire m = MISFIRE_DO_NOTHING;
    if (r->misfire && !misfire_parse(slice_text(r->misfire), &m))
        return 0;
    return m == MISFIRE_FIRE_ALL ? r->misfire_max : m == MISFIRE_FIRE_ONCE;
}

/* One scheduled time that planning has just decided, in their order; id: its row, 0 if it has none.
 */
void check_decided(struct sim *s, const struct batch *b, struct missed *m, int64_t scheduled_ms,
                   int64_t id)
{
    const struct ghost *g = id ? ghost_of(s, id) : NULL;
    if (g && !g->fresh)
        m->loose = true; /* it stood there before */
    bool fired = g && g->fresh && g->kind == KIND_MISFIRE;
    if (scheduled_ms >= b->now_ms - MISFIRE_MS) {
        m->late += fired;
        m->gaps += !g;
        return;
    }
    m->all++;
    m->planned += g && g->fresh && g->kind == KIND_CRON;
    m->fired += fired;
    m->holes += !fired && m->fired; /* the newest are fired, so there is none behind the first */
}

void check_missed(struct sim *s, const struct batch *b, struct shadow *j, const struct due_row *due,
                  const struct missed *m)
{
    const struct job_record *r = job_row(s, j->id);
    bool more = due->next_ms < b->now_ms - MISFIRE_MS; /* it is still being counted out */
    bool parts = more || j->counting;
    j->counting = more;
    if (!r || m->loose || j->meddled || j->edit_commit == s->commits ||
        s->boot_ms - s->stepped_ms < 60000)
        return;
    int want = kept_by(r);
    int most = m->all < want ? m->all : want;
    if (m->late || m->planned)
        sim_fail(s, "the misfires",
                 "job %lld (%s): %d scheduled times are misfires too early, %d too late",
                 (long long)j->id, j->conf, m->late, m->planned);
    if (m->holes || m->fired > want || (!parts && m->fired != most))
        sim_fail(s, "the misfires",
                 "job %lld (%s) missed %d scheduled times, %s with at most %d: %d are fired, %d "
                 "behind the "
                 "first of them are not",
                 (long long)j->id, j->conf, m->all, r->misfire, r->misfire_max, m->fired, m->holes);
    if (m->gaps)
        sim_fail(s, "P1", "job %lld (%s): %d scheduled times of the last five seconds have no row",
                 (long long)j->id, j->conf, m->gaps);
}

/* ---- FIX_DELAY ------------------------------------------------------------------------------- */

static int64_t after(const struct shadow *j, int64_t ms)
{
    int64_t next;
    return schedule_next(&j->schedule, ms, &next) ? NEVER_MS : next;
}

/* The latest end of a scheduled run of the job among those of this commit; 0: none has a time. */
static int64_t last_end(struct sim *s, const struct batch *b, int64_t job_id)
{
    int64_t last = 0;
    for (int i = 0; i < b->nchanges; i++) {
        const struct ghost *g = ghost_of(s, b->changes[i].log_id);
        if (g->job_id == job_id && g->scheduled && g->end && g->handle_ms > last)
            last = g->handle_ms;
    }
    return last;
}

/* The next scheduled time is set when nothing of the firing is open, and counts from the last end.
 */
void check_delay(struct sim *s, const struct batch *b, const struct due_row *due)
{
    struct shadow *j = shadow_of(s, due->job_id);
    int64_t before = j->next_ms;
    j->next_ms = due->next_ms;
    if (j->schedule.type != SCHEDULE_FIX_DELAY || before != NEVER_MS || due->next_ms == NEVER_MS ||
        check_edit_unheard(s, j) || s->went_back)
        return;
    if (check_open_run(s, j->id, false))
        sim_fail(s, "FIX_DELAY", "job %lld (%s) goes on at %lld while a run of it is open",
                 (long long)j->id, j->conf, (long long)due->next_ms);
    int64_t first = after(j, last_end(s, b, j->id)), last = after(j, b->now_ms);
    if (last <= due->planned_until_ms)
        last = due->planned_until_ms + 1;
    if (due->next_ms < first || due->next_ms > last)
        sim_fail(s, "FIX_DELAY", "job %lld (%s) goes on at %lld: by its last end not before %lld",
                 (long long)j->id, j->conf, (long long)due->next_ms, (long long)first);
}

/* ---- jobs that have come to their end -------------------------------------------------------- */

/* What users have switched on stays on until its schedule has no further scheduled time, and no
 * longer. */
const char *check_job_end(struct sim *s, const struct shadow *j, const struct due_row *due)
{
    const struct job_record *r = job_row(s, j->id);
    if (!r || !j->on)
        return r && r->enabled && !j->on ? "is on, and no user switched it on" : NULL;
    bool over = enumerable(j) && j->expect_ms == NEVER_MS;
    if (over && r->enabled && (due->next_ms == NEVER_MS || due->next_ms < wall_ms(s)))
        return "has no further scheduled time and is not stopped";
    if (!over && !r->enabled && enumerable(j))
        return "is stopped, and its schedule goes on";
    return NULL;
}
