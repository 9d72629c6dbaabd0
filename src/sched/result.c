/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - results: what a callback does to a run in each phase. */
#include "sched/result.h"
#include "model/claim.h"
#include "sched/end.h"
#include "sched/job.h"
#include "sched/kill.h"
#include "sched/lane.h"
#include "sched/run.h"
#include "sched/state.h"
#include <stdlib.h>
#include <string.h>

/* Results for ids that are not live, waiting to be looked up: their number and their text. */
#define LATE_MAX 100000
#define LATE_BYTES_MAX (64 << 20)
#define FOREIGN_MS 60000 /* so much older than its run's date is a date of another run */

static enum phase phase_of_code(int code)
{
    return code == 200 ? PHASE_SUCCEEDED : code == 502 ? PHASE_TIMED_OUT : PHASE_FAILED;
}

static char *text_of(struct slice msg)
{
    return mem_dupn(msg.n ? msg.p : "", msg.n);
}

/* Not live any more, or never: the writer looks whether the row was given up. False: too many wait
 * for that. There is always room for one that has been taken before, because it was acknowledged or
 * will be. */
static bool late(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg,
                 struct claim *claim)
{
    bool full = s->next->nlate >= LATE_MAX || s->next->late_bytes + msg.n > LATE_BYTES_MAX;
    if (full && !s->taken_before) {
        s->stats.refused_results++;
        return false;
    }
    struct late_result l = { .log_id = log_id,
                             .at_ms = now.wall_ms,
                             .code = code,
                             .msg = text_of(msg),
                             .claim = claim_ref(claim) };
    array_push(s->next->late, s->next->nlate, l);
    s->next->late_bytes += msg.n;
    want_batch_soon(s);
    return true;
}

/* An executor reports the end of a run that it kills on another connection than the one on which it
 * answers the kill: either may come first. */
static void finish(struct sched *s, struct now now, struct run *r, int code, struct slice msg)
{
    enum phase to = phase_of_code(code);
    bool killed = r->kill && to == PHASE_FAILED;
    char *said = text_of(msg), *text = mem_join(killed ? KILLED_BY_USER : "", said);
    run_finish(s, now, r, killed ? PHASE_KILLED : to, code, text);
    free(text);
    free(said);
}

/* Is the retry still in the batch that gathers? Then all is decided here, and after a success it
 * need not be born at all. */
static bool retry_gathers(struct sched *s, struct run *r, bool cancel)
{
    struct batch *b = s->next;
    for (int i = 0; i < b->nspawns; i++) {
        if (b->spawns[i].kind != KIND_RETRY || b->spawns[i].cause != r->log_id)
            continue;
        if (!cancel)
            return true;
        spawn_done(&b->spawns[i]);
        memmove(&b->spawns[i], &b->spawns[i + 1], (size_t)(--b->nspawns - i) * sizeof(*b->spawns));
        r->flags &= ~(uint32_t)RUN_RETRYING;
        return true;
    }
    return false;
}

/* A LOST run is finished after all if its retry has not left; the retry then goes. */
static bool result_of_lost(struct sched *s, struct now now, struct run *r, int code,
                           struct slice msg)
{
    struct run *retry = retry_of(r);
    if (retry && retry->flags & RUN_CLOSED && retry->phase == PHASE_WITHDRAWN)
        retry = NULL;
    if (!retry && r->flags & RUN_RETRYING && !retry_gathers(s, r, code == 200))
        return late(s, now, r->log_id, code, msg,
                    NULL);        /* its row is being written: decided then */
    if (retry && run_held(retry)) /* an edit takes the retry, or not: decided then */
        return late(s, now, r->log_id, code, msg, NULL);
    if (retry && code == 200) {
        if (!run_never_left(retry) || retry->flags & (RUN_LEFT | RUN_CLOSED)) {
            run_close_lost(s, r);
            return late(s, now, r->log_id, code, msg, NULL);
        }
        run_withdraw(s, now, retry, PHASE_WITHDRAWN, "the run that it retries succeeded after all");
    }
    finish(s, now, r, code, msg);
    return true;
}

void results_again(struct sched *s, struct now now, int64_t log_id)
{
    struct batch *b = s->next;
    bool before = s->taken_before;
    s->taken_before = true;
    for (int i = 0, n = b->nlate; i < n; i++) {
        if (b->late[i].log_id != log_id || b->late[i].settled)
            continue;
        struct late_result l = b->late[i];
        memmove(&b->late[i], &b->late[i + 1], (size_t)(--b->nlate - i) * sizeof(*b->late));
        b->late_bytes -= strlen(l.msg) < b->late_bytes ? strlen(l.msg) : b->late_bytes;
        if (l.inbox_id)
            result_of_inbox(s, now,
                            &(struct inbox_row){ .id = l.inbox_id,
                                                 .log_id = log_id,
                                                 .at_ms = l.at_ms,
                                                 .code = l.code,
                                                 .msg = l.msg });
        else
            (void)result_take(s, now, log_id, l.code, slice_text(l.msg), l.claim);
        late_result_done(&l);
        i--;
        n--;
    }
    s->taken_before = before;
}

/* Many executors send a time of their own there, or none, so a date that differs proves nothing by
 * itself. It does where this life has seen the address bring dates back, and never a later one; and
 * only a whole second, as ours are, that is older than a clock is put back by. */
bool result_foreign(struct sched *s, int64_t log_id, int64_t date_ms)
{
    struct run *r = run_find(s, log_id);
    if (!r || !r->lane || date_ms <= 0)
        return false;
    int64_t own_ms = run_log_time(r);
    r->lane->echoes |= date_ms == own_ms;
    r->lane->own_dates |= date_ms > own_ms;
    return r->lane->echoes && !r->lane->own_dates && date_ms % 1000 == 0 &&
           date_ms < own_ms - FOREIGN_MS;
}

bool result_take(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg,
                 struct claim *claim)
{
    struct run *r = run_find(s, log_id);
    if (code <=
        0) { /* says neither yes nor no: the run stays as it is, reconciliation finds its end */
        s->stats.ignored_results++;
        return true;
    }
    if (!r)
        return late(s, now, log_id, code, msg, claim);
    if (!claim_has(claim, run_group(r))) { /* it has become live since it was asked for */
        s->stats.ignored_results++;
        return true;
    }
    if (r->flags & RUN_CLOSED) { /* its end is on the way to the disk, before this */
        if (r->phase == PHASE_LOST || r->phase == PHASE_WITHDRAWN || r->phase == PHASE_SKIPPED)
            return late(s, now, log_id, code, msg, claim);
        s->stats.ignored_results++;
        return true;
    }
    if (run_held(r)) /* decided when the edit is; either way in the batch of this one */
        return late(s, now, log_id, code, msg, claim);
    if (r->phase == PHASE_LOST)
        return result_of_lost(s, now, r, code, msg);
    if (run_never_left(r)) {
        if (!(r->flags & RUN_UNSENT)) { /* not its own */
            s->stats.ignored_results++;
            return true;
        }
        s->stats.contradicted++; /* the recorder was wrong: the executor's word is better */
    }
    if (code == 200 ||
        code == 502) /* one that failed may never have begun: some executors refuse so */
        job_started(r);
    finish(s, now, r, code, msg);
    return true;
}

/* What the run in memory makes of it goes to the disk with the next batch, and so does this: there
 * the row is deleted if no live row is left. What is not settled here is noted then, as late. */
void result_of_inbox(struct sched *s, struct now now, const struct inbox_row *row)
{
    int before = s->next->nlate;
    (void)result_take(s, now, row->log_id, row->code, slice_text(row->msg ? row->msg : ""), NULL);
    bool settled = s->next->nlate == before;
    if (settled)
        (void)late(s, now, row->log_id, row->code, slice_text(""), NULL);
    if (s->next->nlate == before) /* too many wait: it is read again */
        return;
    struct late_result *l = &s->next->late[s->next->nlate - 1];
    l->inbox_id = row->id;
    l->at_ms = row->at_ms;
    l->settled = settled;
}
