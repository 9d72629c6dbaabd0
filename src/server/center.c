/* SPDX-License-Identifier: Apache-2.0 */
/* center.c - the scheduler's loop: the pump, the clock, messages. */
#include "base/clock.h"
#include "base/clock_step.h"
#include "base/log.h"
#include "server/ages.h"
#include "server/state.h"
#include "server/stopping.h"
#include <stdlib.h>

/* ---- the pump ------------------------------------------------------------------------------- */

static void do_action(struct center *c, const struct action *a)
{
    switch (a->kind) {
    case ACTION_CALL:
        calls_start(c, &a->call);
        break;
    case ACTION_ACK:
        results_ack(c, a->ack);
        break;
    case ACTION_EDITED:
        request_edited(c, a->edit);
        break;
    case ACTION_SPAWNED:
        request_spawned(c, a);
        break;
    case ACTION_KILLED:
        request_killed(c, a);
        break;
    case ACTION_WARM:
        transports_warm(c->transports, a->call.address, a->connections);
        break;
    }
}

static void publish(struct center *c)
{
    struct sched_stats st;
    sched_stats(c->sched, &st);
    struct metrics *m = &c->metrics;
    atomic_store_explicit(&m->queue_planned, st.planned, memory_order_relaxed);
    atomic_store_explicit(&m->queue_lanes, st.lanes_waiting, memory_order_relaxed);
    atomic_store_explicit(&m->in_flight, st.in_flight, memory_order_relaxed);
    atomic_store_explicit(&m->in_doubt, st.in_doubt, memory_order_relaxed);
    atomic_store_explicit(&m->accepted, st.accepted, memory_order_relaxed);
    atomic_store_explicit(&m->open, st.live - st.lost, memory_order_relaxed);
    atomic_store_explicit(&m->addresses, st.addresses, memory_order_relaxed);
    atomic_store_explicit(&m->dead, st.dead, memory_order_relaxed);
    atomic_store_explicit(&m->horizon_ms, st.horizon_ms, memory_order_relaxed);
    atomic_store_explicit(&m->recorded, st.recorded, memory_order_relaxed);
    atomic_store_explicit(&m->recorder_words, st.words, memory_order_relaxed);
    atomic_store_explicit(&m->recorder_without, st.without_word, memory_order_relaxed);
    atomic_store_explicit(&m->recorder_wrong, st.contradicted, memory_order_relaxed);
    if (st.contradicted > c->contradicted)
        log_error(
            "center",
            "%llu results came for runs that the flight recorder had called unsent: they count, "
            "but it was wrong; please report it",
            (unsigned long long)(st.contradicted - c->contradicted));
    c->contradicted = st.contradicted;
}

static void set_timers(struct center *c)
{
    int64_t boot = stopping_next(c, sched_next_boot(c->sched)), overdue = results_next(c);
    loop_wake_at(c->loop, sched_next_wall(c->sched));
    loop_timer_set(c->loop, &c->timer, boot < overdue ? boot : overdue);
}

void center_pump(struct center *c)
{
    struct action a;
    while (sched_pop(c->sched, &a))
        do_action(c, &a);
    if (!c->writing) {
        struct batch *b = sched_take_batch(c->sched, center_now());
        if (b) {
            c->writing = true;
            b->alarm_channels = c->config.alarm_channels;
            b->incidents = c->incidents;
            b->no_report = !node_first(c->node);
            c->batch.batch = b;
            list_move(&c->batch.writes, &c->writes);
            atomic_store_explicit(&c->metrics.queue_writer, b->nchanges + b->nspawns,
                                  memory_order_relaxed);
            c->batch_us = clock_boot_us();
            writer_give(c->writer, &c->batch);
        }
    }
    set_timers(c);
}

static void before_sleep(void *arg)
{
    struct center *c = arg;
    journalling_flush(c);
    forwards_flush(c);
    center_pump(c);
    if (c->watcher) {
        int64_t again = c->watcher->turned(c->watcher_arg, c->sched);
        if (again < INT64_MAX)
            loop_timer_set(c->loop, &c->look_again, again);
    }
    stopping_look(c);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* A server of a cluster does not see the step of its machine's clock before that clock has been
 * compared with the database's and the others' (clock_hold). What is due goes on by the boot clock;
 * only what would be sent waits for the next beat. */
static void look_at_machine(struct center *c)
{
    int64_t step_ms = clock_step_ms();
    if (!clock_step_of(step_ms - c->step_ms))
        return;
    c->step_ms = step_ms;
    if (!step_ms) /* it is followed, or has been set back */
        return;
    log_warn("center",
             "this machine's clock stepped by %lld ms; it is compared with the database's "
             "before the schedule follows it",
             (long long)step_ms);
    sched_lease(c->sched, center_now(), INT64_MIN, INT64_MIN);
    node_stepped(c->node);
}

/* The difference between the clocks tells a step from time that has passed. */
static void look_at_clocks(struct center *c)
{
    look_at_machine(c);
    struct now now = center_now();
    int64_t difference = now.wall_ms - now.boot_ms;
    int64_t by = clock_step_of(difference - c->wall_minus_boot_ms);
    if (!by)
        return;
    c->wall_minus_boot_ms = difference;
    log_warn("center", "the clock stepped by %lld ms; the schedule follows it", (long long)by);
    ages_stepped(&c->metrics, by);
    sched_clock_stepped(c->sched, now, by);
}

static void tick(struct center *c)
{
    look_at_clocks(c);
    sched_tick(c->sched, center_now());
}

static void on_wake(void *arg)
{
    tick(arg);
    center_pump(arg); /* what is due leaves before the rest of the iteration's events */
}

static void on_set(void *arg)
{
    look_at_clocks(arg);
}

static void on_look_again(struct loop_timer *t)
{
    (void)t; /* the iteration ends with it */
}

static void on_timer(struct loop_timer *t)
{
    struct center *c = container_of(t, struct center, timer);
    results_overdue(c, clock_boot_ms());
    transports_sweep(c->transports, clock_boot_ms());
    flight_file_alive(c->flight, clock_boot_ms());
    publish(c);
    tick(c);
}

/* ---- messages -----------------------------------------------------------------------------------
 */

/* Another server owns the runs that stand in this one's memory: nothing may be done about them any
 * more, and nothing can be written down. */
static void fenced(struct center *c, const struct why *why)
{
    if (c->fenced)
        return;
    log_error("center", "this server stops at once: %s", why->text);
    c->fenced = c->finished = true;
    loop_stop(c->loop);
}

static void batch_done(struct center *c)
{
    struct batch *b = c->batch.batch;
    if (b->err == ERR_FENCED) {
        fenced(c, &b->why);
        return;
    }
    c->writing = false;
    c->batch.batch = NULL;
    journalling_committed(c, clock_boot_us() - c->batch_us);
    for (int i = 0; i < TOTAL_COUNT; i++)
        atomic_fetch_add_explicit(&c->metrics.totals[i], b->written.n[i], memory_order_relaxed);
    atomic_store_explicit(&c->metrics.queue_writer, 0, memory_order_relaxed);
    atomic_fetch_add(&c->metrics.inbox_given, (uint64_t)b->inbox_given);
    atomic_fetch_add(&c->metrics.refused, (uint64_t)b->refused);
    atomic_fetch_add(&c->metrics.inbox_taken, (uint64_t)b->inbox_taken);
    if (b->told || b->inbox_given || b->clean) /* what others are to see, or to take over */
        peers_nudge(c->peers);
    if (b->watermark.until_ms > c->watermark_ms)
        c->watermark_ms = b->watermark.until_ms;
    if (b->watermark.until_ms && !c->settled) {
        c->settled = true;
        flight_file_settle(c->flight);
    }
    c->left_clean |= b->clean;
    if (b->nalarms && c->on_alarm)
        c->on_alarm(c->on_alarm_arg);
    if (c->watcher)
        c->watcher->committed(c->watcher_arg, c->sched, b);
    if (b->adopt.epoch)
        node_adopted(c->node, b->nadopted, b->adopt_left);
    if (b->nadopted)
        log_info("center", "%d runs of epoch %lld are this server's now", b->nadopted,
                 (long long)b->adopt.epoch);
    if (b->homes.wanted)
        node_swept(c->node, &b->homes.next, b->homes.left);
    if (b->homes.moved)
        log_debug("center", "%d jobs of home %lld have another home now", b->homes.moved,
                  (long long)b->homes.from.home);
    results_committed(c, b);
    sched_batch_done(c->sched, center_now(), b);
    heard_committed(c->heard, sched_committed(c->sched));
    requests_written(c, &c->batch.writes);
    center_pump(
        c); /* at once: the writer has nothing to do, and callbacks wait for their answers */
}

void center_nudge(struct center *c)
{
    if (!center_shares(c) || atomic_exchange(&c->is_nudged, true))
        return; /* it is on its way */
    c->nudge.kind = MESSAGE_NUDGE;
    mailbox_send(c->mailbox, &c->nudge);
}

static void nudge_them(struct center *c)
{
    atomic_store(&c->is_nudged, false);
    peers_nudge(c->peers);
}

/* Which nodes there are, and whether one of them has changed what all keep in memory. */
static void take_lives(struct center *c)
{
    struct live_nodes lives;
    if (node_lives(c->node, &lives) && c->peers)
        peers_heard(c->peers, &lives);
    live_nodes_done(&lives);
    if (c->others == node_others(c->node) || !c->maintenance)
        return;
    c->others = node_others(c->node);
    maintenance_wake(c->maintenance);
}

static void take_news(struct center *c)
{
    struct news_rows rows;
    if (!node_news(c->node, &rows))
        return;
    for (int i = 0; i < rows.n; i++)
        sched_job_changed(c->sched, center_now(), &rows.items[i]);
    news_rows_done(&rows);
}

void center_node_said(struct center *c)
{
    struct node_says says;
    if (!node_takes(c->node, &says))
        return;
    sched_lease(c->sched, center_now(), says.lease_ms, says.watermark_ms);
    sched_share(c->sched, &says.share);
    if (says.claim)
        sched_claim(c->sched);
    if (says.adopt.epoch)
        sched_adopt(c->sched, &says.adopt);
    if (says.sweeps)
        sched_homes(c->sched, &says.sweep);
    take_lives(c);
    take_news(c);
    struct inbox_rows rows;
    if (!node_results(c->node, &rows))
        return;
    for (int i = 0; i < rows.n; i++)
        if (rows.items[i].what == INBOX_KILL)
            request_kill(c, &rows.items[i]);
        else
            sched_inbox(c->sched, center_now(), &rows.items[i]);
    inbox_rows_done(&rows);
}

/* The message has been taken: from now on it may be sent again. */
static void node_woke(struct center *c)
{
    atomic_store(&c->is_woken, false);
    look_at_clocks(c); /* it may be that a step is to be followed */
    center_node_said(c);
}

static void zones_changed(struct center *c, struct message *l)
{
    sched_zones_changed(c->sched);
    free(l);
}

static void on_message(struct loop_mailbox *m, struct message *l)
{
    struct center *c = container_of(m, struct center, incoming);
    if (l->kind == MESSAGE_BATCH_DONE)
        batch_done(c);
    else if (l->kind == MESSAGE_JOURNAL)
        results_journalled(c, container_of(l, struct journal_message, message));
    else if (l->kind == MESSAGE_REQUEST)
        request_open(c, l);
    else if (l->kind == MESSAGE_LOG_ASK)
        log_ask_open(c, l);
    else if (l->kind == MESSAGE_LOST)
        fenced(c, &c->lost_why);
    else if (l->kind == MESSAGE_NODE)
        node_woke(c);
    else if (l->kind == MESSAGE_HEARD)
        heard_take(c, l);
    else if (l->kind == MESSAGE_PEER_ASK)
        peer_ask_open(c, l);
    else if (l->kind == MESSAGE_NUDGE)
        nudge_them(c);
    else
        zones_changed(c, l);
}

/* ---- begin and end -------------------------------------------------------------------------- */

void center_loop_init(struct center *c)
{
    c->timer.fire = on_timer;
    c->look_again.fire = on_look_again;
    c->incoming.message = on_message;
}

void center_loop_begin(struct center *c)
{
    loop_on_wall(c->loop, on_wake, on_set, c);
    loop_before_sleep(c->loop, before_sleep, c);
    publish(c);
}

void center_run(struct center *c)
{
    center_pump(c); /* sets the first timers: the loop would sleep until the first call */
    while (!c->finished) {
        loop_run(c->loop);
        stopping_asked(c);
    }
    calls_abort(c);
    log_asks_refuse(c);
    peer_asks_refuse(c);
    results_overdue(c, INT64_MAX);
    c->closed = true;
    requests_refuse(c);
}

bool center_fenced(const struct center *c)
{
    return c->fenced;
}

void center_stop(struct center *c)
{
    c->stop++;
    loop_stop(c->loop); /* center_run looks why it returned */
}

void center_backups(struct center *c, const struct backups_config *config)
{
    c->backups = backups_again(c->backups, c->db, config, &c->metrics);
}
