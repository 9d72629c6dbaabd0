/* SPDX-License-Identifier: Apache-2.0 */
/* A handful of small machines that share one clock: beat, look, declare, adopt, claim. Of each kind
 * of action one at most is under way; its ticket ties the answer to it, so that an answer which
 * belongs to an earlier life changes nothing. */
#include "sched/node.h"
#include "base/mem.h"
#include "model/life.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM_EVERY_MS 500
#define ORPHANS_EVERY_MS 30000
#define WEIGHT_EVERY_MS 60000
#define SKEW_MS 1000
#define NAMESAKE_MOVES 4
#define QUEUE 16 /* more than there are kinds */

static_assert(CLUSTER_KINDS < QUEUE, "one of each kind is under way");

struct cluster {
    struct cluster_config config;
    enum cluster_state state;
    bool stopping;
    int64_t node, epoch;
    struct cluster_action queue[QUEUE];
    int queued;
    uint64_t tickets, under_way[CLUSTER_KINDS]; /* 0: none */
    /* beat */
    int64_t sent, taken;       /* its numbers */
    int64_t beat_ms, begun_ms; /* boot clock: the next one; when the one under way was made */
    int64_t lease_ms;          /* boot clock: end of the lease */
    uint64_t before_step;      /* ticket of the beat that was under way at a step; 0: none */
    int64_t watermark_ms;
    /* what was read */
    int64_t look_ms, claim_ms, orphans_ms, weight_ms, retry_ms;
    struct seen seen;
    int moves; /* of the beat under this node's name, while this node is out */
    struct ended_list ended;
    struct home homes[CLUSTER_MAX];
    int nhomes;
    bool swept, anew; /* anew: the next sweep begins at the first home */
    /* clock, room */
    int64_t offset_ms;
    bool odd, full;
    bool stepped, compared; /* the machine's clock has; and was compared with the database's then */
    bool looked;            /* and the others were looked at */
    int weight;
};

/* ---- actions --------------------------------------------------------------------------------- */

static struct cluster_action *emit(struct cluster *c, enum cluster_kind kind)
{
    assert(c->queued < QUEUE);
    struct cluster_action *a = &c->queue[c->queued++];
    *a = (struct cluster_action){ .kind = kind, .ticket = ++c->tickets };
    c->under_way[kind] = a->ticket;
    return a;
}

static void tell(struct cluster *c, enum cluster_kind kind) /* has no answer */
{
    (void)emit(c, kind);
    c->under_way[kind] = 0;
}

static bool answers(struct cluster *c, const struct cluster_action *a)
{
    bool ours = c->under_way[a->kind] == a->ticket;
    if (ours)
        c->under_way[a->kind] = 0;
    return ours;
}

bool cluster_pop(struct cluster *c, struct cluster_action *ret)
{
    if (!c->queued)
        return false;
    *ret = c->queue[0];
    memmove(c->queue, c->queue + 1, (size_t)--c->queued * sizeof(c->queue[0]));
    return true;
}

/* ---- a life of this node --------------------------------------------------------------------- */

static int64_t own_lease(const struct cluster *c)
{
    return c->config.lease_ms * 2 / 3;
}

static bool lives(const struct cluster *c) /* has an epoch that has not been refused */
{
    return c->state == CLUSTER_IN || c->state == CLUSTER_DRAINING || c->state == CLUSTER_LEAVING;
}

static void begin(struct cluster *c, struct now now, int64_t node, int64_t epoch)
{
    c->state = CLUSTER_IN;
    c->node = node;
    c->epoch = epoch;
    c->sent = c->taken = 0;
    c->lease_ms = c->watermark_ms = INT64_MIN;
    c->beat_ms = c->look_ms = c->orphans_ms = c->retry_ms = now.boot_ms;
    c->claim_ms = now.boot_ms + CLAIM_EVERY_MS;
    c->nhomes = 0;
    c->swept = true;
}

/* What was asked for in the life that is over has no meaning; what was read of others has. That the
 * epoch is over is known, whatever its row says. */
static void end(struct cluster *c, struct now now)
{
    if (c->epoch)
        c->config.gone_epoch = c->epoch;
    c->queued = 0;
    memset(c->under_way, 0, sizeof(c->under_way));
    c->before_step = 0;
    seen_beat_over(&c->seen, now.boot_ms);
    c->node = c->epoch = 0;
    c->lease_ms = c->watermark_ms = INT64_MIN;
    c->nhomes = 0;
    c->look_ms = c->retry_ms = now.boot_ms;
    c->state = c->stopping ? CLUSTER_GONE : CLUSTER_OUT;
}

static void refused(struct cluster *c, struct now now)
{
    end(c, now);
    tell(c, CLUSTER_FORGET);
    if (c->stopping)
        tell(c, CLUSTER_LEFT);
}

struct cluster *cluster_new(const struct cluster_config *config)
{
    struct cluster *c = mem_new(sizeof(*c));
    c->config = *config;
    if (!c->config.lease_ms)
        c->config.lease_ms = LIFE_LEASE_MS;
    if (!c->config.skew_ms)
        c->config.skew_ms = SKEW_MS;
    c->state = CLUSTER_OUT;
    c->lease_ms = c->watermark_ms = INT64_MIN;
    c->look_ms = c->weight_ms = c->retry_ms = INT64_MIN;
    c->weight = HOMES_WEIGHT;
    return c;
}

void cluster_free(struct cluster *c)
{
    free(c);
}

/* ---- beat, lease ----------------------------------------------------------------------------- */

/* A lease ends before the watermark does, so the watermark never holds up what the lease allows. */
static void beat_make(struct cluster *c, struct now now)
{
    struct cluster_action *a = emit(c, CLUSTER_BEAT);
    a->epoch = c->epoch;
    a->last = c->taken;
    a->beat = ++c->sent;
    a->watermark_ms = now.wall_ms + own_lease(c);
    a->skew_ms = c->offset_ms;
    a->weight = c->weight;
    a->draining = c->state != CLUSTER_IN;
    c->begun_ms = now.boot_ms;
    c->beat_ms = now.boot_ms + c->config.lease_ms / 3;
    seen_beat_sent(&c->seen, now.boot_ms);
}

void cluster_beat(struct cluster *c, struct now now, const struct cluster_action *a,
                  enum cluster_answer answer)
{
    if (!answers(c, a))
        return;
    bool stepped = a->ticket == c->before_step; /* since it was made */
    c->before_step = 0;
    if (answer == CLUSTER_NO)
        refused(c, now);
    if (answer != CLUSTER_YES)
        return;
    c->taken = a->beat;
    seen_beat_over(&c->seen, now.boot_ms);
    if (!stepped)
        c->lease_ms = c->begun_ms + own_lease(c);
    if (a->watermark_ms > c->watermark_ms)
        c->watermark_ms = a->watermark_ms;
}

int64_t cluster_lease_ms(const struct cluster *c)
{
    bool sends = c->state == CLUSTER_IN || c->state == CLUSTER_DRAINING;
    return sends ? c->lease_ms : INT64_MIN;
}

bool cluster_may_send(const struct cluster *c, struct now now, int64_t due_ms)
{
    if (c->config.single)
        return c->state == CLUSTER_IN || c->state == CLUSTER_DRAINING;
    return now.boot_ms < cluster_lease_ms(c) && due_ms <= c->watermark_ms;
}

int64_t cluster_watermark_ms(const struct cluster *c)
{
    return c->watermark_ms;
}

static bool epoch_lives(const void *ctx, int64_t epoch)
{
    const struct cluster *c = ctx;
    return seen_lives(&c->seen, epoch);
}

/* ---- ended epochs ---------------------------------------------------------------------------- */

static void note(struct cluster *c, struct now now, const struct cluster_row *r, bool again)
{
    struct ended e = { .epoch = r->epoch,
                       .watermark_ms = r->watermark_ms,
                       .heir = r->heir,
                       .since_ms = now.boot_ms,
                       .again_ms = now.boot_ms,
                       .clean = r->clean };
    ended_note(&c->ended, &e, again);
}

static struct ended_asker asker(const struct cluster *c)
{
    return (struct ended_asker){ .epoch = c->epoch, .lives = epoch_lives, .ctx = c };
}

static void adopt_make(struct cluster *c, struct now now)
{
    struct ended_asker by = asker(c);
    if (c->full || c->under_way[CLUSTER_ADOPT])
        return;
    const struct ended *e = ended_open(&c->ended, &by, now.boot_ms);
    if (!e)
        return;
    struct cluster_action *a = emit(c, CLUSTER_ADOPT);
    a->epoch = e->epoch;
    a->watermark_ms = e->watermark_ms;
    a->clean = e->clean;
    a->heir = e->heir == c->epoch;
}

void cluster_adopted(struct cluster *c, struct now now, const struct cluster_action *a,
                     int64_t taken, bool left)
{
    struct ended *e = ended_find(&c->ended, a->epoch);
    if (!answers(c, a) || !e)
        return;
    e->done = !left;
    e->again_ms = now.boot_ms + (taken ? 0 : LIFE_LOOK_MS);
}

void cluster_orphans(struct cluster *c, struct now now, const struct cluster_action *a,
                     const struct cluster_row *rows, int n)
{
    if (!answers(c, a))
        return;
    for (int i = 0; i < n; i++)
        if (rows[i].ended)
            note(c, now, &rows[i], true);
}

/* ---- which others live ----------------------------------------------------------------------- */

static void watch(struct cluster *c, struct now now)
{
    const struct cluster_row *r = seen_silent(&c->seen, c->epoch, now.boot_ms, c->config.lease_ms);
    if (!r || c->under_way[CLUSTER_DECLARE])
        return;
    struct cluster_action *a = emit(c, CLUSTER_DECLARE);
    a->epoch = r->epoch;
    a->node = r->node;
    a->beat = r->beat;
}

/* The next look finds the epoch ended, with this node's as its heir: it need not wait. */
void cluster_declared(struct cluster *c, struct now now, const struct cluster_action *a,
                      enum cluster_answer answer)
{
    if (answers(c, a) && answer == CLUSTER_YES)
        c->look_ms = now.boot_ms;
}

/* ---- homes, clocks --------------------------------------------------------------------------- */

static bool off(const struct cluster *c, int64_t ms)
{
    return ms > c->config.skew_ms || ms < -c->config.skew_ms;
}

static void clocks_compare(struct cluster *c)
{
    c->odd = off(c, c->offset_ms) && seen_agrees(&c->seen, c->epoch, c->config.skew_ms);
    c->looked = c->compared;
}

static void homes_make(struct cluster *c)
{
    struct home homes[CLUSTER_MAX];
    int n = 0;
    for (int i = 0; i < c->seen.n; i++) {
        const struct cluster_row *r = &c->seen.rows[i];
        bool mine = r->epoch == c->epoch;
        if (seen_living(r) && !(mine ? c->state != CLUSTER_IN : r->draining))
            homes[n++] = (struct home){ r->node, mine ? c->weight : r->weight };
    }
    if (homes_same(homes, n, c->homes, c->nhomes))
        return;
    memcpy(c->homes, homes, (size_t)n * sizeof(homes[0]));
    c->nhomes = n;
    c->swept = false;
    c->anew = true;
}

int64_t cluster_home(const struct cluster *c, int64_t job_id)
{
    return home_of(job_id, c->homes, c->nhomes);
}

void cluster_share(const struct cluster *c, struct share *ret)
{
    *ret = (struct share){ .node = c->node, .n = c->nhomes };
    memcpy(ret->homes, c->homes, (size_t)c->nhomes * sizeof(c->homes[0]));
    for (int i = 0; i < c->seen.n; i++)
        ret->living += seen_living(&c->seen.rows[i]);
}

bool cluster_first(const struct cluster *c)
{
    bool seen = false;
    if (c->state != CLUSTER_IN && c->state != CLUSTER_DRAINING)
        return false;
    for (int i = 0; i < c->seen.n; i++) {
        const struct cluster_row *r = &c->seen.rows[i];
        if (!seen_living(r))
            continue;
        seen |= r->epoch == c->epoch;
        if (r->epoch < c->epoch)
            return false;
    }
    return seen; /* else it has not looked yet */
}

void cluster_clock(struct cluster *c, int64_t offset_ms)
{
    c->offset_ms = offset_ms;
    if (!c->stepped || c->compared || c->before_step)
        return;
    c->compared = true;
    c->look_ms = 0; /* at once: who else agrees decides whether this machine's is wrong */
}

void cluster_stepped(struct cluster *c, struct now now)
{
    c->lease_ms = INT64_MIN;
    c->stepped = true;
    c->compared = c->looked = false;
    c->before_step = c->under_way[CLUSTER_BEAT];
    c->beat_ms = now.boot_ms;
}

bool cluster_follow(struct cluster *c)
{
    bool follow = c->stepped && c->looked && !c->odd;
    if (follow)
        c->stepped = c->compared = c->looked = false;
    return follow;
}

void cluster_load(struct cluster *c, struct now now, int64_t live, int64_t live_max)
{
    c->full = live_max > 0 && live * 3 >= live_max * 2;
    if (now.boot_ms < c->weight_ms)
        return;
    c->weight = home_weight(live, live_max);
    c->weight_ms = now.boot_ms + WEIGHT_EVERY_MS;
}

/* ---- joining, leaving ------------------------------------------------------------------------ */

/* An epoch of this node's name that has not ended: this process's own last one, or another
 * process's. */
static void join_look(struct cluster *c, struct now now)
{
    const struct cluster_row *same = seen_namesake(&c->seen);
    if (c->odd || c->under_way[CLUSTER_JOIN] || now.boot_ms < c->retry_ms)
        return;
    bool gone = same && c->config.gone_epoch && same->epoch == c->config.gone_epoch;
    if (same && seen_living(same) && !gone) /* its watch ends it, or shows that it moves */
        return;
    struct cluster_action *a = emit(c, CLUSTER_JOIN);
    a->epoch = same ? same->epoch : 0;
    a->ends = gone && seen_living(same);
}

/* Another process beats under this node's name. A beat or two may be the last of a process that has
 * been killed, which were under way when it was. */
static void namesake_look(struct cluster *c, const struct cluster_row *before)
{
    const struct cluster_row *r = seen_namesake(&c->seen);
    if (c->state != CLUSTER_OUT || !r || !seen_living(r) || r->epoch == c->config.gone_epoch ||
        r->epoch != before->epoch) {
        c->moves = 0;
        return;
    }
    c->moves += r->beat != before->beat;
    if (c->moves < NAMESAKE_MOVES)
        return;
    c->moves = 0;
    tell(c, CLUSTER_REFUSED);
    c->queue[c->queued - 1].node = r->node;
}

static void hand_over(struct cluster *c)
{
    bool no_other = seen_alone(&c->seen, c->epoch);
    c->state = CLUSTER_LEAVING;
    emit(c, CLUSTER_HANDOVER)->alone = no_other;
}

void cluster_joined(struct cluster *c, struct now now, const struct cluster_action *a, int64_t node,
                    int64_t epoch)
{
    if (a && !answers(c, a))
        return;
    begin(c, now, node, epoch);
    if (c->stopping)
        hand_over(c);
}

void cluster_failed(struct cluster *c, struct now now, const struct cluster_action *a)
{
    if (!answers(c, a) || a->kind != CLUSTER_JOIN)
        return;
    c->retry_ms = now.boot_ms + c->config.lease_ms / 3;
    if (c->stopping)
        cluster_stop(c, now);
}

void cluster_stop(struct cluster *c, struct now now)
{
    c->stopping = true;
    if (c->state == CLUSTER_IN || c->state == CLUSTER_DRAINING)
        hand_over(c);
    if (c->state != CLUSTER_OUT || c->under_way[CLUSTER_JOIN])
        return; /* a join that is under way is waited for: its epoch is to end cleanly */
    end(c, now);
    tell(c, CLUSTER_LEFT);
}

/* A node whose clock was wrong looks on, and joins again when the clock is right. */
void cluster_handed(struct cluster *c, struct now now, const struct cluster_action *a)
{
    if (!answers(c, a))
        return;
    end(c, now);
    if (c->stopping)
        tell(c, CLUSTER_LEFT);
}

void cluster_fenced(struct cluster *c, struct now now)
{
    if (lives(c))
        refused(c, now);
}

/* ---- a look ---------------------------------------------------------------------------------- */

static void rows_take(struct cluster *c, struct now now, const struct cluster_row *rows, int n)
{
    const struct cluster_row *same = seen_namesake(&c->seen);
    struct cluster_row before = same ? *same : (struct cluster_row){ 0 };
    seen_begin(&c->seen);
    for (int i = 0; i < n; i++) {
        seen_put(&c->seen, &rows[i]);
        if (rows[i].epoch && rows[i].ended && rows[i].epoch != c->epoch)
            note(c, now, &rows[i], false);
    }
    namesake_look(c, &before);
}

/* All nodes read the same wishes, so they agree on which of them drain: that does not depend on
 * what the others do already. */
static void drain_look(struct cluster *c)
{
    if (c->state == CLUSTER_IN || c->state == CLUSTER_DRAINING)
        c->state = seen_drains(&c->seen, c->epoch) ? CLUSTER_DRAINING : CLUSTER_IN;
}

void cluster_rows(struct cluster *c, struct now now, const struct cluster_action *a,
                  const struct cluster_row *rows, int n)
{
    if (!answers(c, a))
        return;
    rows_take(c, now, rows, n);
    drain_look(c);
    clocks_compare(c);
    watch(c, now);
    homes_make(c);
    if (c->state == CLUSTER_OUT)
        join_look(c, now);
    else if (c->odd && c->state != CLUSTER_LEAVING)
        hand_over(c);
}

void cluster_claimed(struct cluster *c, struct now now, const struct cluster_action *a)
{
    (void)now;
    (void)answers(c, a);
}

void cluster_swept(struct cluster *c, struct now now, const struct cluster_action *a, bool more)
{
    (void)now;
    if (answers(c, a) && more)
        c->swept = false;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Whether this kind may be asked for, and when. */
static int64_t when(const struct cluster *c, enum cluster_kind kind, int64_t at_ms)
{
    return c->under_way[kind] ? INT64_MAX : at_ms;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t adopt_next(const struct cluster *c)
{
    struct ended_asker by = asker(c);
    return c->full ? INT64_MAX : when(c, CLUSTER_ADOPT, ended_next(&c->ended, &by));
}

int64_t cluster_next(const struct cluster *c)
{
    int64_t next = INT64_MAX;
    if (lives(c))
        next = when(c, CLUSTER_BEAT, c->beat_ms);
    if (c->config.single || c->state == CLUSTER_GONE)
        return next;
    next = earlier(next, when(c, CLUSTER_LOOK, c->look_ms));
    if (c->state != CLUSTER_IN)
        return next;
    next = earlier(next, when(c, CLUSTER_CLAIM, c->claim_ms));
    next = earlier(next, when(c, CLUSTER_ORPHANS, c->orphans_ms));
    next = earlier(next, c->swept ? INT64_MAX : when(c, CLUSTER_SWEEP, c->retry_ms));
    return earlier(next, adopt_next(c));
}

/* What only a node that plans does. */
static void tick_in(struct cluster *c, struct now now)
{
    if (when(c, CLUSTER_ORPHANS, c->orphans_ms) <= now.boot_ms) {
        (void)emit(c, CLUSTER_ORPHANS);
        c->orphans_ms = now.boot_ms + ORPHANS_EVERY_MS;
    }
    if (when(c, CLUSTER_CLAIM, c->claim_ms) <= now.boot_ms) {
        emit(c, CLUSTER_CLAIM)->until_ms = now.wall_ms + CLUSTER_CLAIM_MS;
        c->claim_ms = now.boot_ms + CLAIM_EVERY_MS;
    }
    if (!c->swept && !c->under_way[CLUSTER_SWEEP]) {
        emit(c, CLUSTER_SWEEP)->anew = c->anew;
        c->swept = true;
        c->anew = false;
    }
    adopt_make(c, now);
}

void cluster_tick(struct cluster *c, struct now now)
{
    if (lives(c) && when(c, CLUSTER_BEAT, c->beat_ms) <= now.boot_ms)
        beat_make(c, now);
    if (c->config.single || c->state == CLUSTER_GONE)
        return;
    if (when(c, CLUSTER_LOOK, c->look_ms) <= now.boot_ms) {
        (void)emit(c, CLUSTER_LOOK);
        c->look_ms = now.boot_ms + LIFE_LOOK_MS;
    }
    if (c->state == CLUSTER_IN)
        tick_in(c, now);
}

void cluster_look(struct cluster *c, struct now now)
{
    c->look_ms = earlier(c->look_ms, now.boot_ms);
}

/* ---- questions ------------------------------------------------------------------------------- */

enum cluster_state cluster_state(const struct cluster *c)
{
    return c->state;
}

int64_t cluster_node(const struct cluster *c)
{
    return c->node;
}

int64_t cluster_epoch(const struct cluster *c)
{
    return c->epoch;
}

bool cluster_may_plan(const struct cluster *c)
{
    return c->state == CLUSTER_IN && !c->odd;
}

bool cluster_odd(const struct cluster *c)
{
    return c->odd;
}
