/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - results: what a callback does to a run in each phase, and kills. */
#include "sched/state.h"
#include <stdio.h>
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

/* Not live any more, or never: the writer looks whether the row was given up. */
static void late(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg)
{
    if (s->next->nlate >= LATE_MAX || s->next->late_bytes + msg.n > LATE_BYTES_MAX) {
        s->stats.ignored_results++;
        return;
    }
    struct late_result l = { log_id, now.wall_ms, code, text_of(msg) };
    array_push(s->next->late, s->next->nlate, l);
    s->next->late_bytes += msg.n;
    s->wanted = true;
}

static void finish(struct sched *s, struct now now, struct run *r, int code, struct slice msg)
{
    char *text = text_of(msg);
    run_finish(s, now, r, phase_of_code(code), code, text);
    free(text);
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
static void result_of_lost(struct sched *s, struct now now, struct run *r, int code,
                           struct slice msg)
{
    struct run *retry = retry_of(r);
    if (retry && retry->flags & RUN_CLOSED && retry->phase == PHASE_WITHDRAWN)
        retry = NULL;
    if (!retry && r->flags & RUN_RETRYING && !retry_gathers(s, r, code == 200)) {
        late(s, now, r->log_id, code, msg); /* its row is being written: decided then */
        return;
    }
    if (retry && retry->flags & RUN_HELD) { /* an edit takes the retry, or not: decided then */
        late(s, now, r->log_id, code, msg);
        return;
    }
    if (retry && code == 200) {
        if (retry->phase != PHASE_PLANNED || retry->flags & (RUN_LEFT | RUN_DOUBTED | RUN_CLOSED)) {
            run_close_lost(s, r);
            late(s, now, r->log_id, code, msg);
            return;
        }
        run_withdraw(s, now, retry, PHASE_WITHDRAWN, "the run that it retries succeeded after all");
    }
    finish(s, now, r, code, msg);
}

void results_again(struct sched *s, struct now now, int64_t log_id)
{
    struct batch *b = s->next;
    for (int i = 0, n = b->nlate; i < n; i++) {
        if (b->late[i].log_id != log_id)
            continue;
        struct late_result l = b->late[i];
        memmove(&b->late[i], &b->late[i + 1], (size_t)(--b->nlate - i) * sizeof(*b->late));
        b->late_bytes -= strlen(l.msg) < b->late_bytes ? strlen(l.msg) : b->late_bytes;
        sched_result(s, now, log_id, l.code, slice_text(l.msg));
        free(l.msg);
        i--;
        n--;
    }
}

/* Many executors send a time of their own there, or none, so a date that differs proves nothing by
 * itself. It does where this life has seen the address bring dates back, and never a later one; and
 * only a whole second, as ours are, that is older than a clock is put back by. */
bool sched_result_foreign(struct sched *s, int64_t log_id, int64_t date_ms)
{
    struct run *r = map_find(&s->runs, (uint64_t)log_id);
    if (!r || !r->lane || date_ms <= 0)
        return false;
    int64_t own_ms = run_log_time(r);
    r->lane->echoes |= date_ms == own_ms;
    r->lane->own_dates |= date_ms > own_ms;
    return r->lane->echoes && !r->lane->own_dates && date_ms % 1000 == 0 &&
           date_ms < own_ms - FOREIGN_MS;
}

void sched_result(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg)
{
    struct run *r = map_find(&s->runs, (uint64_t)log_id);
    if (code <= 0) { /* says neither yes nor no: the run stays as it is, asking finds its end */
        s->stats.ignored_results++;
        return;
    }
    if (!r) {
        late(s, now, log_id, code, msg);
        return;
    }
    if (r->flags & RUN_CLOSED) { /* its end is on the way to the disk, before this */
        if (r->phase == PHASE_LOST || r->phase == PHASE_WITHDRAWN || r->phase == PHASE_SKIPPED)
            late(s, now, log_id, code, msg);
        else
            s->stats.ignored_results++;
        return;
    }
    if (r->flags & RUN_HELD) { /* decided when the edit is; either way in the batch of this one */
        late(s, now, log_id, code, msg);
        return;
    }
    if (r->phase == PHASE_LOST) {
        result_of_lost(s, now, r, code, msg);
        return;
    }
    if (r->phase == PHASE_PLANNED && !(r->flags & RUN_DOUBTED)) {
        if (!(r->flags & RUN_UNSENT)) { /* it has not left: not its own */
            s->stats.ignored_results++;
            return;
        }
        s->stats.contradicted++; /* the recorder was wrong: the executor's word is better */
    }
    if (code == 200 ||
        code == 502) /* one that failed may never have begun: some executors refuse so */
        job_started(r);
    finish(s, now, r, code, msg);
}

void sched_ack_after(struct sched *s, struct now now, struct ack *ack)
{
    (void)now;
    ack->seq = s->seq;
    list_push(&s->acks, &ack->node);
    s->wanted = true;
}

/* ---- kill ----------------------------------------------------------------------------------- */

/* Who waits for a kill: with its run while the executor or an edit decides, then in the list of
 * those to be told when the run's end is kept. */
struct kill {
    struct list_node node;
    void *reply;
    int64_t log_id;
    uint64_t seq;  /* the batch that keeps the end */
    bool answered; /* the executor says that it is done; an edit decides what becomes of the run */
    char text[200];
};

static void killed(struct sched *s, void *reply, int64_t log_id, enum err err, const char *text)
{
    struct action *a = action_new(s, ACTION_KILLED);
    a->reply = reply;
    a->log_id = log_id;
    a->err = err;
    snprintf(a->text, sizeof(a->text), "%s", text);
}

static struct kill *kill_new(struct run *r, void *reply)
{
    struct kill *k = mem_new(sizeof(*k));
    k->reply = reply;
    k->log_id = r->log_id;
    r->kill = k;
    return k;
}

static void killed_after(struct sched *s, struct run *r)
{
    struct kill *k = r->kill;
    r->kill = NULL;
    k->seq = s->seq;
    list_push(&s->kills, &k->node);
    s->wanted = true;
}

void kills_done(struct sched *s, uint64_t seq)
{
    for (struct list_node *n; (n = list_first(&s->kills));) {
        struct kill *k = container_of(n, struct kill, node);
        if (k->seq > seq)
            return;
        list_remove(n);
        killed(s, k->reply, k->log_id, OK, k->text);
        free(k);
    }
}

void kills_free(struct sched *s)
{
    for (struct list_node *n; (n = list_first(&s->kills));) {
        list_remove(n);
        free(container_of(n, struct kill, node));
    }
}

/* Many executors send the killed run's result before they answer the kill: the user got what was
 * asked for. */
void kill_forget(struct sched *s, struct run *r)
{
    struct kill *k = r->kill;
    if (!k)
        return;
    if (!k->text[0])
        snprintf(k->text, sizeof(k->text), "the run ended before the executor answered");
    killed_after(s, r);
}

void sched_kill(struct sched *s, struct now now, int64_t log_id, void *reply)
{
    struct run *r = map_find(&s->runs, (uint64_t)log_id);
    if (!r || r->flags & RUN_CLOSED || !phase_open(r->phase)) {
        killed(s, reply, log_id, ERR_NOTFOUND, "the run has ended already");
        return;
    }
    bool away = r->phase == PHASE_PLANNED && !(r->flags & RUN_DOUBTED);
    if (r->kill || (!away && !r->lane)) {
        killed(s, reply, log_id, ERR_BUSY, "another kill is under way");
        return;
    }
    struct kill *k = kill_new(r, reply);
    if (r->phase == PHASE_PLANNED && !(r->flags & RUN_DOUBTED)) {
        if (r->flags & RUN_HELD)
            return; /* kill_settle */
        snprintf(k->text, sizeof(k->text), "withdrawn before it left");
        run_withdraw(s, now, r, PHASE_WITHDRAWN, "killed by a user before it left");
        if (r->kill)
            killed_after(s, r);
        return;
    }
    call_out(
        s, r->lane,
        (struct call){
            .kind = CALL_KILL, .log_id = log_id, .ticket = ++s->ticket, .job_id = r->job->id });
}

static void kill_finish(struct sched *s, struct now now, struct run *r)
{
    char msg[256];
    snprintf(msg, sizeof(msg), "killed by a user: %s", r->kill->text);
    run_finish(s, now, r, PHASE_KILLED, 500, msg);
}

void kill_settle(struct sched *s, struct now now, struct run *r)
{
    struct kill *k = r->kill;
    if (!k)
        return;
    if (k->answered) {
        if (!(r->flags & RUN_CLOSED) && phase_open(r->phase))
            kill_finish(s, now, r);
        if (r->kill)
            killed_after(s, r);
    } else if (r->phase == PHASE_PLANNED && !(r->flags & RUN_DOUBTED)) {
        r->kill = NULL;
        sched_kill(s, now, r->log_id, k->reply);
        free(k);
    }
}

static void kill_refused(struct sched *s, struct run *r)
{
    struct kill *k = r->kill;
    r->kill = NULL;
    killed(s, k->reply, k->log_id, ERR_NET, k->text[0] ? k->text : "the executor did not answer");
    free(k);
}

void kill_on_call(struct sched *s, struct now now, const struct call_result *c)
{
    struct run *r = map_find(&s->runs, (uint64_t)c->log_id);
    struct kill *k = r ? r->kill : NULL;
    if (!k)
        return;
    snprintf(k->text, sizeof(k->text), "%.*s", (int)utf8_cut(c->msg.p, c->msg.n, 150),
             c->msg.p ? c->msg.p : "");
    if (c->outcome != CALL_ANSWERED || c->code != 200) {
        kill_refused(s, r);
        return;
    }
    k->answered = true;
    if (r->flags & RUN_HELD)
        return; /* kill_settle, or kill_forget when the edit takes the run */
    if (!(r->flags & RUN_CLOSED) && phase_open(r->phase))
        kill_finish(s, now, r);
    if (r->kill)
        killed_after(s, r);
}
