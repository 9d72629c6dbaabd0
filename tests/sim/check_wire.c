/* SPDX-License-Identifier: Apache-2.0 */
/* check_wire.c - the checker's own account of the reconciliation table.
 *
 * It is kept from what passes over the wire only: when each call was begun, how it ended, what the
 * answer said, which results and beats reached the center. From that it says of which runs a
 * second send is admitted, and which losses are proven (docs/architecture.md, Recovery). */
#include "check.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLED_MS 3000  /* what was on its way has arrived or died */
#define RESULT_MS 90000  /* a result gets so long */
#define SILENT_MS 600000 /* nothing heard, and not registered */
#define BEATEN_MS 90000  /* a beat keeps an address registered so long */

enum said { /* one round, as the table names its cells */
            SAID_NOTHING,
            SAID_END, /* busy or not */
            SAID_IDLE_STARTED,
            SAID_IDLE_NONE,
            SAID_IDLE_CANNOT,
            SAID_BUSY_STARTED,
            SAID_BUSY_NONE,
            SAID_BUSY_CANNOT,
};

static const char *const cells[] = {
    "nothing",     "end",          "idle/started", "idle/none",
    "idle/cannot", "busy/started", "busy/none",    "busy/cannot",
};

/* ---- addresses and what has started there -----------------------------------------------------
 */

struct peer *peer_of(struct sim *s, const char *address)
{
    struct peer *p = textmap_find(&s->peers, slice_text(address));
    if (!p) {
        p = mem_new(sizeof(*p));
        p->number = (int)s->peers.len + 1;
        snprintf(p->address, sizeof(p->address), "%s", address);
        p->beat_ms = -1;
        textmap_set(&s->peers, slice_text(address), p);
    }
    return p;
}

static bool registered(const struct sim *s, const struct peer *p)
{
    return p->beat_ms >= 0 && s->boot_ms - p->beat_ms < BEATEN_MS;
}

struct asked *asked_of(struct sim *s, int64_t job_id, int peer)
{
    uint64_t key = mix(mix(17, job_id), peer);
    struct asked *a = map_find(&s->asked, key);
    if (!a) {
        a = mem_new(sizeof(*a));
        map_set(&s->asked, key, a);
    }
    return a;
}

static struct start *start_of(struct sim *s, int64_t job_id, int peer)
{
    uint64_t key = mix(mix(11, job_id), peer);
    struct start *t = map_find(&s->starts, key);
    if (!t) {
        t = mem_new(sizeof(*t));
        map_set(&s->starts, key, t);
    }
    if (t->life != s->life)
        *t = (struct start){ .life = s->life };
    return t;
}

/* The center has heard that this run has begun at its executor. */
static void heard_start(struct sim *s, int64_t id)
{
    const struct ghost *g = ghost_of(s, id);
    if (!g->wire.peer || g->wire.life != s->life)
        return;
    struct start *t = start_of(s, g->job_id, g->wire.peer);
    if (g->wire.sent_ms > t->sent_ms)
        t->sent_ms = g->wire.sent_ms;
}

/* A younger run of the job at the same address, sent when this one had been accepted, or in doubt
 * for as long as messages live, is known to have begun: what is older had its turn. One whose /run
 * is under way is neither yet. */
static bool overtaken(struct sim *s, const struct ghost *g)
{
    const struct wire *w = &g->wire;
    if (w->calling)
        return false;
    int64_t settled = w->doubt_ms ? w->doubt_ms + SETTLED_MS : w->accepted_ms + 1;
    if (w->accepted && w->accepted_ms < settled)
        settled = w->accepted_ms + 1;
    return start_of(s, g->job_id, w->peer)->sent_ms >= settled;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A resend is a part of reconciliation, of which at most 16 are under way for one address. */
static bool is_resend(const struct wire *w)
{
    return w->agreed && (w->said == SAID_BUSY_NONE || w->said == SAID_IDLE_CANNOT);
}

static void run_called(struct sim *s, struct peer *p, struct wire *w, int64_t conn)
{
    w->calling = conn;
    w->resending = is_resend(w);
    p->running += !w->resending;
    if (p->running > s->lane_bound)
        sim_fail(s, "the lanes", "%d runs are under way to one address, the bound is %d",
                 p->running, s->lane_bound);
}

static uint64_t key_of_placed(int64_t job_id, int peer)
{
    return mix(mix(19, job_id), peer);
}

static void place(struct sim *s, int64_t id, int peer)
{
    struct ghost *g = ghost_of(s, id);
    if (g->wire.peer == peer)
        return;
    uint64_t key = key_of_placed(g->job_id, peer);
    struct placed *v = map_find(&s->placed, key);
    if (!v) {
        v = mem_new(sizeof(*v));
        map_set(&s->placed, key, v);
    }
    if (v->n == v->cap) {
        v->cap = v->cap ? v->cap * 2 : 4;
        v->ids = mem_resize(v->ids, v->cap * sizeof(*v->ids));
    }
    v->ids[v->n++] = id;
    g->wire.peer = peer;
}

static void placed_free(struct sim *s)
{
    void *value;
    for (size_t i = 0; map_next(&s->placed, &i, &value);) {
        free(((struct placed *)value)->ids);
        free(value);
    }
    map_done(&s->placed);
}

/* A copy is on its way from here on. */
void check_left(struct sim *s, const struct call *c)
{
    struct wire *w = &ghost_of(s, c->log_id)->wire;
    bool again = w->outstanding && !w->cleared;
    if (!again || w->life != s->life)
        w->sent_ms = s->boot_ms; /* else the first copy may be the one that starts */
    place(s, c->log_id, peer_of(s, c->address)->number);
    w->life = s->life;
    w->outstanding = w->cleared ? 1 : w->outstanding + 1;
    w->cleared = w->agreed = w->proven = false;
    w->said = SAID_NOTHING;
    w->overtaken_ms = 0;
}

static uint64_t key_of_idle(const struct sim *s, uint32_t ticket)
{
    return mix(mix(13, s->life), ticket);
}

/* It serves all runs of the job at this address: for which of them a younger start is known by now
 * counts for each round that begins with it. */
static void idle_called(struct sim *s, const struct peer *p, const struct call *c, int64_t conn)
{
    struct idle_beat *b = mem_new(sizeof(*b));
    *b = (struct idle_beat){
        .job_id = c->job_id, .conn = conn, .begun_ms = s->boot_ms, .peer = p->number
    };
    free(map_set(&s->idles, key_of_idle(s, c->ticket), b));
    struct placed *v = map_find(&s->placed, key_of_placed(c->job_id, p->number));
    size_t n = 0;
    for (size_t i = 0; v && i < v->n; i++) {
        struct ghost *g = ghost_of(s, v->ids[i]);
        if (g->wire.peer != p->number || !live_row(s, v->ids[i]))
            continue; /* only a backup that is put back brings a row back: see check_wire_start */
        v->ids[n++] = v->ids[i];
        if (!g->wire.overtaken_ms && overtaken(s, g))
            g->wire.overtaken_ms = s->boot_ms;
    }
    if (v)
        v->n = n;
}

/* Its round is that of the idleBeat which the call names: for this job, at this address, answered,
 * and begun after the doubt. */
static void log_called(struct sim *s, const struct peer *p, const struct call *c, int64_t conn)
{
    struct wire *w = &ghost_of(s, c->log_id)->wire;
    const struct idle_beat *b = map_find(&s->idles, key_of_idle(s, c->idle));
    if (!b || b->job_id != c->job_id || b->peer != p->number || !b->answered)
        sim_fail(s, "the reconciliation",
                 "the log of run %lld is read, and no idleBeat was answered", (long long)c->log_id);
    if (w->doubt_ms > b->begun_ms)
        sim_fail(s, "the reconciliation",
                 "run %lld is younger in doubt than the idleBeat of its round",
                 (long long)c->log_id);
    w->reading = conn;
    w->round_ms = b->begun_ms;
    w->idle = b->idle;
}

void check_called(struct sim *s, const struct call *c, int64_t conn)
{
    struct peer *p = peer_of(s, c->address);
    if (!c->log_id)
        return;
    if (c->kind == CALL_RUN)
        run_called(s, p, &ghost_of(s, c->log_id)->wire, conn);
    else if (c->kind == CALL_IDLE)
        idle_called(s, p, c, conn);
    else if (c->kind == CALL_LOG)
        log_called(s, p, c, conn);
}

static void end_of_run(struct sim *s, struct wire *w, bool left, enum call_outcome outcome,
                       const struct reply *r)
{
    w->calling = 0;
    w->resending = false;
    if (outcome == CALL_NOT_SENT)
        w->refused_ms = s->boot_ms;
    if (!left)
        return;
    if (outcome != CALL_ANSWERED) {
        w->doubt_ms = s->boot_ms;
    } else if (r->code == 200 || r->repeat) {
        w->accepted = true;
        w->accepted_ms = s->boot_ms;
    } else {
        w->outstanding--;
    }
}

static void unheard(struct sim *s, struct wire *w)
{
    w->reading = 0;
    w->last_ms = s->boot_ms;
    w->proven = false;
}

/* Not tried, for a reason that is not the address's. */
static bool never_tried(enum call_outcome outcome)
{
    return outcome == CALL_FULL || outcome == CALL_UNFIT || outcome == CALL_AGAIN;
}

/* An address that is dead for the center is asked for its beat only. Its silence begins with the
 * first call that comes to nothing, but not before it was heard for the last time. */
static void peer_answered(struct sim *s, struct peer *p, const struct conn *c,
                          enum call_outcome outcome)
{
    if (outcome == CALL_ANSWERED) {
        p->silent_ms = 0;
        p->heard_ms = s->boot_ms;
    } else if (!p->silent_ms && !never_tried(outcome)) {
        p->silent_ms = c->begun_ms > p->heard_ms ? c->begun_ms : p->heard_ms;
    }
}

static enum said cell_of(bool idle, enum log_state log)
{
    switch (log) {
    case LOG_ENDED:
        return SAID_END;
    case LOG_STARTED:
        return idle ? SAID_IDLE_STARTED : SAID_BUSY_STARTED;
    case LOG_NONE:
        return idle ? SAID_IDLE_NONE : SAID_BUSY_NONE;
    default:
        return idle ? SAID_IDLE_CANNOT : SAID_BUSY_CANNOT;
    }
}

static bool agreed_proves(const struct wire *w)
{
    bool waited = w->begun_ms - w->settled_ms >= RESULT_MS;
    switch ((enum said)w->said) {
    case SAID_END:
    case SAID_IDLE_CANNOT:
        return waited;
    case SAID_IDLE_STARTED:
        return !w->away || waited;
    case SAID_IDLE_NONE:
        return w->accepted && (!w->away || waited);
    default:
        return false;
    }
}

static bool says_none(const struct wire *w)
{
    return w->said == SAID_IDLE_NONE || w->said == SAID_BUSY_NONE;
}

/* By its strategy, or by what it was before an edit that is not answered yet. */
static bool surely_covers(struct sim *s, const struct ghost *g)
{
    const struct shadow *j = shadow_of(s, g->job_id);
    return j->covers && (j->edits == 0 || j->was_covers);
}

/* Its turn is over, and this round began when that was known: one is enough. COVER_EARLY begins
 * beside the run that it has torn down. */
static bool turn_is_over(struct sim *s, const struct ghost *g)
{
    const struct wire *w = &g->wire;
    if (!w->overtaken_ms || w->said == SAID_END)
        return false;
    return w->begun_ms - w->overtaken_ms >= (surely_covers(s, g) ? SETTLED_MS : 0);
}

/* Where a result may still come it gets its time. */
static bool turn_proves(struct sim *s, const struct ghost *g)
{
    const struct wire *w = &g->wire;
    if (!turn_is_over(s, g) || (says_none(w) && !w->accepted))
        return false;
    bool grace = w->away || check_unreadable(w) || surely_covers(s, g);
    return !grace || w->begun_ms - w->overtaken_ms >= RESULT_MS;
}

static void round_over(struct sim *s, int64_t id, enum log_state log)
{
    struct ghost *g = ghost_of(s, id);
    struct wire *w = &g->wire;
    enum said cell = cell_of(w->idle, log);
    w->reading = 0;
    w->last_ms = s->boot_ms;
    w->begun_ms = w->round_ms;
    if (w->said != cell)
        w->settled_ms = w->begun_ms;
    w->agreed = w->said == cell && w->begun_ms - w->settled_ms >= SETTLED_MS;
    w->said = (uint8_t)cell;
    if (log == LOG_STARTED || log == LOG_ENDED)
        heard_start(s, id);
    w->proven = (w->agreed && agreed_proves(w)) || turn_proves(s, g);
    if (w->accepted)
        return;
    w->cleared = (w->agreed && cell == SAID_IDLE_NONE) || (says_none(w) && turn_is_over(s, g));
    if (w->agreed && cell == SAID_BUSY_STARTED) {
        w->accepted = true;
        w->accepted_ms = s->boot_ms;
        w->overtaken_ms = 0;
    }
}

static void check_list_changed(struct sim *s)
{
    s->lists_no++;
    s->lists_ms = s->boot_ms;
}

static void heard(struct sim *s, const struct call *c, struct peer *p, const struct reply *r)
{
    if (p->refused && c->kind == CALL_BEAT) { /* others may come too late to be looked at */
        check_list_changed(s);
        p->refused = false;
    }
    struct asked *idle = c->kind == CALL_IDLE ? asked_of(s, c->job_id, p->number) : NULL;
    bool yes = r->code == 200;
    if (c->kind == CALL_BEAT)
        *(yes ? &p->yes_ms : &p->no_ms) = s->boot_ms;
    else if (idle)
        *(yes ? &idle->yes_ms : &idle->no_ms) = s->boot_ms;
}

static void unanswered(struct sim *s, const struct call *c, struct peer *p,
                       enum call_outcome outcome)
{
    if ((c->kind == CALL_BEAT || c->kind == CALL_IDLE) && outcome != CALL_FULL)
        p->no_ms = s->boot_ms;
    if (outcome != CALL_NOT_SENT)
        return;
    if (!p->refused)
        check_list_changed(s);
    p->refused = true;
    p->dead_ms = s->boot_ms;
}

void check_answered(struct sim *s, const struct conn *c, enum call_outcome outcome,
                    const struct reply *r)
{
    struct peer *p = peer_of(s, c->address);
    if (outcome == CALL_ANSWERED)
        heard(s, &c->call, p, r);
    else
        unanswered(s, &c->call, p, outcome);
    peer_answered(s, p, c, outcome);
    if (!c->call.log_id)
        return;
    struct wire *w = &ghost_of(s, c->call.log_id)->wire;
    struct idle_beat *b = map_find(&s->idles, key_of_idle(s, c->call.ticket));
    if (c->call.kind == CALL_RUN && w->calling == c->id) {
        p->running -= !w->resending;
        end_of_run(s, w, c->left, outcome, r);
    } else if (c->call.kind == CALL_IDLE && b && b->conn == c->id) {
        b->answered = outcome == CALL_ANSWERED;
        b->idle = r && r->code == 200;
    } else if (c->call.kind == CALL_LOG && w->reading == c->id) {
        if (outcome == CALL_FULL)
            w->reading = 0;
        else if (outcome == CALL_ANSWERED)
            round_over(s, c->call.log_id, r->log);
        else
            unheard(s, w);
    }
}

void check_result(struct sim *s, int64_t log_id, int code)
{
    if (code == 200 || code == 502) /* some refuse by a result 500 */
        heard_start(s, log_id);
}

/* While it was stopped no beat could arrive: that is no silence. */
void check_thaw(struct sim *s, int64_t gap_ms)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->peers, &i, &value);)
        if (((struct peer *)value)->beat_ms >= 0)
            ((struct peer *)value)->beat_ms += gap_ms;
}

void check_beat(struct sim *s, const char *address, const char *app, bool there)
{
    struct peer *p = peer_of(s, address);
    snprintf(p->app, sizeof(p->app), "%s", app);
    if (registered(s, p) != there || p->refused) /* one that had expired is new */
        check_list_changed(s);
    p->beat_ms = there ? s->boot_ms : -1;
    p->left_ms = there ? 0 : s->boot_ms;
    p->refused &= !there;
    if (there) {
        p->silent_ms = 0;
        p->heard_ms = s->boot_ms;
    }
}

/* ---- lives of the center --------------------------------------------------------------------- */

/* Its connections are reset, and what it had only heard is forgotten. */
void check_wire_end(struct sim *s)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->peers, &i, &value);) {
        struct peer *p = value;
        p->running = 0;
        p->silent_ms = 0;
        p->heard_ms = s->boot_ms;
    }
    for (int64_t id = 1; id <= s->last_id; id++) {
        struct wire *w = &s->ghosts[id].wire;
        w->calling = w->reading = w->overtaken_ms = 0;
        w->resending = false;
        w->said = SAID_NOTHING;
        w->agreed = w->accepted = w->resent = w->proven = false;
    }
}

void check_wire_start(struct sim *s)
{
    s->totals = memory_of(s->store)->now.totals; /* a backup may have been put back */
    s->resends = s->resends_unsure = 0;
    s->group_edits = 0;
    s->group_heard_ms = s->boot_ms;
    for (size_t i = 0; i < countof(s->shadows); i++)
        s->shadows[i].edits = 0; /* what was not answered is known from the disk */
    s->lists_ms = s->boot_ms;
    s->resent_before = memory_of(s->store)->now.totals.n[TOTAL_RESENT];
    void *row;
    for (size_t i = 0; textmap_next(&s->peers, &i, &row);) {
        ((struct peer *)row)->beat_ms = -1;
        ((struct peer *)row)->refused = false;
    }
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_REGISTRY], &i, &row);)
        peer_of(s, ((struct mem_registry *)row)->row.value)->beat_ms = s->boot_ms;
    placed_free(s);
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_RUN], &i, &row);) {
        const struct mem_run *r = row;
        struct wire *w = &ghost_of(s, r->row.log_id)->wire;
        w->away = true;
        w->peer = 0;
        if (r->row.address)
            place(s, r->row.log_id, peer_of(s, r->row.address)->number);
        w->accepted = r->row.phase == PHASE_ACCEPTED || ghost_of(s, r->row.log_id)->word_accepted;
        w->doubt_ms = w->accepted ? 0 : s->boot_ms; /* as far as this center can tell */
        if (w->accepted && !w->accepted_ms)
            w->accepted_ms = s->boot_ms;
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The strategy and onDoubt of the job, or what they were before an edit that is not answered yet.
 */
static bool job_admits(struct sim *s, const struct ghost *g)
{
    const struct shadow *j = shadow_of(s, g->job_id);
    bool before = j->edits > 0;
    if (g->wire.said == SAID_BUSY_NONE)
        return j->serial || (before && j->was_serial);
    return g->wire.said == SAID_IDLE_CANNOT && (j->resends || (before && j->was_resending));
}

/* May this run leave, for all that is known of copies of it that have left? */
void check_admitted(struct sim *s, int64_t id)
{
    struct ghost *g = ghost_of(s, id);
    struct wire *w = &g->wire;
    if (is_resend(w) && (!w->outstanding || w->cleared)) {
        w->unsure = w->outstanding; /* proven or admitted: its count tells, if it runs twice */
        s->resends_unsure++;
        return;
    }
    if (!w->outstanding || w->cleared)
        return;
    if (w->calling)
        sim_fail(s, "P2", "run %lld is sent while it is being sent", (long long)id);
    if (w->accepted)
        sim_fail(s, "P2", "run %lld is sent again, and it was accepted", (long long)id);
    if (!w->agreed || !job_admits(s, g))
        sim_fail(s, "P2",
                 "run %lld is sent again: the last rounds said %s%s, which does not admit it",
                 (long long)id, cells[w->said], w->agreed ? "" : " (not twice)");
    if (w->resent)
        sim_fail(s, "P2", "run %lld is sent a third time", (long long)id);
    w->resent = true;
    g->admitted++;
    s->resent++;
    s->resends++;
}

/* A second run of something whose resend may not have been one: then it has to be counted. */
bool check_unsure(struct sim *s, struct ghost *g)
{
    if (!g->wire.unsure)
        return false;
    g->wire.unsure = false;
    g->admitted++;
    if (g->wire.life == s->life) {
        s->resends++;
        s->resends_unsure--;
    }
    return true;
}

/* What the center counts as resent is what was. The count of a crashed one may be lost. */
void check_resends(struct sim *s, bool complete)
{
    int64_t more = memory_of(s->store)->now.totals.n[TOTAL_RESENT] - s->resent_before;
    if (more > s->resends + s->resends_unsure || (complete && more < s->resends))
        sim_fail(s, "P2", "%lld sends are counted as resent, and %lld were (%lld may have been)",
                 (long long)more, (long long)s->resends, (long long)s->resends_unsure);
}

bool check_silent(struct sim *s, const struct wire *w)
{
    void *value;
    for (size_t i = 0; !w->proven && textmap_next(&s->peers, &i, &value);) {
        const struct peer *p = value;
        if (p->number == w->peer)
            return p->silent_ms && s->boot_ms - p->silent_ms >= SILENT_MS && !registered(s, p);
    }
    return false;
}

bool check_unreadable(const struct wire *w)
{
    return w->said == SAID_IDLE_CANNOT || w->said == SAID_BUSY_CANNOT;
}

/* A loss needs its proof from the wire. */
void check_proof(struct sim *s, int64_t id)
{
    const struct ghost *g = ghost_of(s, id);
    const struct wire *w = &g->wire;
    if (!w->proven && !check_silent(s, w))
        sim_fail(s, "P1",
                 "run %lld of job %lld (%s%s) is counted lost, and the last rounds said %s%s, "
                 "settled for %lld ms: that proves nothing",
                 (long long)id, (long long)g->job_id, w->accepted ? "accepted" : "in doubt",
                 w->away ? ", center was away" : "", cells[w->said],
                 w->agreed ? "" : " (not twice)", (long long)(w->last_ms - w->settled_ms));
}

void check_wire_free(struct sim *s)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->peers, &i, &value);)
        free(value);
    for (size_t i = 0; map_next(&s->starts, &i, &value);)
        free(value);
    for (size_t i = 0; map_next(&s->idles, &i, &value);)
        free(value);
    placed_free(s);
    map_done(&s->idles);
    textmap_done(&s->peers);
    map_done(&s->starts);
}
