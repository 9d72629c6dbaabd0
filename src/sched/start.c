/* SPDX-License-Identifier: Apache-2.0 */
/* start.c - what the disk holds when a life begins, and what that says about each run. */
#include "sched/start.h"
#include "sched/broadcast.h"
#include "sched/end.h"
#include "sched/group.h"
#include "sched/run.h"
#include "sched/state.h"

void start_watermark(struct sched *s, int64_t watermark_ms, bool clean)
{
    s->watermark_ms = watermark_ms;
    s->watermark_requested_ms = watermark_ms;
    s->sent_until_ms = watermark_ms;
    s->clean_start = clean;
}

/* May a planned row have been sent? Not without an address, nor after a clean stop. Else the
 * recorder knows; without one a row beyond the watermark was certainly not sent. */
static bool may_have_left(const struct sched *s, const struct run_row *row, enum flight_known known)
{
    if (!row->address || s->clean_start)
        return false;
    return known == FLIGHT_KNOWS_NOTHING ? row->due_ms <= s->watermark_ms
                                         : known == FLIGHT_KNOWS_LEFT;
}

/* Found in the phase to; recovery, not a move of this incarnation. */
static void found(struct sched *s, struct run *r, enum phase to)
{
    run_set_phase(s, r, to);
    r->flags |= RUN_LEFT;
    run_dirty(s, r);
}

/* A row of another life belongs to the job as that life knew it: share.c looks at it then. */
static void of_version(const struct sched *s, const struct run *r, const struct run_row *row)
{
    struct live_job *j = r->job;
    if (!s->shared)
        return;
    if (row->version < j->told)
        j->told = row->version;
    if (j->deleted) { /* here: the deletion did not know of the row */
        j->news = VERSION_DELETED;
    } else if (row->version > j->def->version) { /* there is no such job any more */
        j->told = j->def->version;
        j->news = row->version;
    }
}

/* What the disk says was so when the last commit was made. The recorder's word only adds to a row
 * that is not known to have arrived. */
void start_run(struct sched *s, struct now now, const struct run_row *row, struct job *job,
               enum flight_known known)
{
    struct run *r = run_new(s, now, row, job);
    of_version(s, r, row);
    r->flags |= RUN_AWAY;
    bool sent = row->phase == PHASE_SENT || row->phase == PHASE_UNKNOWN;
    bool taken = known == FLIGHT_KNOWS_ACCEPTED && row->address && !s->clean_start &&
                 (sent || row->phase == PHASE_PLANNED);
    sent |= taken || (row->phase == PHASE_PLANNED && may_have_left(s, row, known));
    if (known == FLIGHT_KNOWS_UNSENT && row->phase == PHASE_PLANNED)
        r->flags |= RUN_UNSENT;
    if (row->kind == KIND_RETRY) {
        bool off = !job->enabled && !job->ended;
        bool waits = row->phase == PHASE_PLANNED && !sent && !row->doubted;
        /* Planned while the job was off: by hand. Other edits than a stop leave it; at a stop its
         * call was under way, and never left. */
        if (off && row->version == job->version)
            r->flags &= ~(uint32_t)RUN_SCHEDULED;
        else if (waits && !off)
            r->version = job->version;
    }
    if (row->group_id != job->group_id)
        r->flags |= RUN_MOVED;
    /* Its executor knows it by that. Only a retry can have either time: any other difference was
     * written by another program, and changes nothing here. */
    if (row->kind == KIND_RETRY && row->log_ms >= 0 && row->log_ms != run_log_time(r))
        r->flags |= RUN_SCHEDULED_LOG;
    if (row->phase == PHASE_PLANNED && !sent) {
        run_wait_due(s, r);
    } else if (taken) {
        found(s, r, PHASE_ACCEPTED);
        run_dirty(s, r)->sent = true;
        run_note_trigger(s, r, 200, NULL);
        run_wait_ms(s, now, r, 0);
    } else if (sent) {
        r->flags |= RUN_DOUBT | RUN_DOUBTED;
        found(s, r, PHASE_UNKNOWN);
        run_wait_ms(s, now, r, 0);
    } else if (row->phase == PHASE_LOST) {
        run_wait_ms(s, now, r, s->config.lost_keep_ms);
    } else {
        run_wait_ms(s, now, r, 0);
    }
}

void start_retry(struct sched *s, struct run *r)
{
    struct run *cause = r ? run_retried(s, (enum kind)r->kind, r->cause) : NULL;
    if (!cause || cause->phase != PHASE_LOST)
        return;
    if (run_never_left(r))
        run_leave(s, cause); /* its retry waits: that decides, not the clock */
    else
        run_close_lost(s, cause); /* its retry may have left */
}

void start_done(struct sched *s, struct now now)
{
    s->watermark_ms = INT64_MIN; /* nothing leaves before the first commit */
    s->watermark_renew_boot_ms = now.boot_ms;
    s->sweep_boot_ms = now.boot_ms;
    s->replan = true;
    s->started = true;
    void *value;
    for (size_t i = 0; map_next(&s->groups, &i, &value);)
        group_stale(s, value);
    groups_refresh(s, now);
    for (size_t i = 0; map_next(&s->runs, &i, &value);)
        start_retry(s, value);
}
