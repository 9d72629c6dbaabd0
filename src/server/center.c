/* SPDX-License-Identifier: Apache-2.0 */
/* center.c - the scheduler's loop: start, the pump, the clock. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include "net/tls.h"
#include "server/state.h"
#include "server/stopping.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define CLOCK_STEP_MS 500 /* a smaller difference between the clocks is drift */
/* Between two transactions on a database server: each costs the two processes some 2 ms of CPU
 * together, whatever is in it, and results have been acknowledged by the journal before. */
#define SERVER_GAP_MS 16
/* The same where nothing is in it that is waited for, unless it has some hundreds of rows. Not
 * among several servers: there the journal of one that never comes back is of no use. */
#define SERVER_WAIT_MS 150
#define SERVER_APPEND_US 10000 /* so results wait for the journal, which then keeps nearly all */
#define CRON_YEARS 100         /* as the original: this year and so many more */

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

/* The difference between the clocks tells a step from time that has passed. */
static void look_at_clocks(struct center *c)
{
    struct now now = center_now();
    int64_t difference = now.wall_ms - now.boot_ms, by = difference - c->wall_minus_boot_ms;
    if (by > -CLOCK_STEP_MS && by < CLOCK_STEP_MS)
        return;
    c->wall_minus_boot_ms = difference;
    log_warn("center", "the clock stepped by %lld ms; the schedule follows it", (long long)by);
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

bool center_shares(const struct center *c)
{
    return node_shared(c->node);
}

bool center_first(const struct center *c)
{
    return node_first(c->node);
}

const char *center_node_name(const struct center *c)
{
    return c->node_name;
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

/* What the node's rules have said since the last time. */
static void node_said(struct center *c)
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
    node_said(c);
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

static void on_request(struct httpd_request *q, void *arg)
{
    struct center *c = arg;
    if (peers_path(q->path))
        peers_serve(c->peers, q);
    else if (c->on_request)
        c->on_request(q, c->on_request_arg);
    else
        httpd_reply_error(q, 503, "starting");
}

static size_t on_head(struct httpd_request *q, void *arg)
{
    struct center *c = arg;
    if (peers_path(q->path))
        return peers_head(c->peers, q);
    return c->on_head ? c->on_head(q, c->on_request_arg) : 0;
}

/* ---- start ---------------------------------------------------------------------------------- */

static enum err find_zone(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    struct center *c = ctx;
    return zones_get(c->zones, name && *name ? name : c->zone_name, ret, why);
}

struct loading {
    struct center *c;
    struct store *store;
    struct planner *planner;
    struct now now;
    int runs;
    struct flight_said said;
    enum err err;
    struct why *why;
};

/* What the last process left in its recorder. */
static void recorder_read(struct center *c, const struct watermark *watermark,
                          struct flight_said *said)
{
    struct why why = { "" };
    bool believed = flight_file_read(c->flight, watermark, said, &why);
    if (watermark->clean || !watermark->until_ms)
        return; /* nothing that is planned has been sent, whatever a file says */
    if (believed)
        log_info(
            "center",
            "the flight recorder of the last process: %d runs may have left, %d were accepted, "
            "what else is planned was not sent",
            said->leaving, said->accepted);
    else
        log_warn("center",
                 "the flight recorder of the last process is not believed: %s; what is planned "
                 "within the dispatch watermark counts as in doubt",
                 why.text);
}

static void recorder_make(struct center *c, const struct watermark *last)
{
    struct why why = { "" };
    struct flight_head *head = flight_file_make(c->flight, &why);
    c->journalling.owner.life = head ? journal_life(head->id) : 0;
    c->journalling.owner.before = journal_life(last->recorder);
    c->journalling.last_id = last->last_id;
    if (head)
        sched_record(c->sched, head);
    int swept = flight_file_sweep(c->flight);
    if (swept)
        log_info("center", "%d old flight recorders that no process holds are removed", swept);
    if (!head)
        log_warn(
            "center",
            "no flight recorder: %s; after a kill what is planned for the next 2 s counts as in "
            "doubt",
            why.text);
}

static bool load_group(void *ctx, const struct group_record *g)
{
    struct center *c = ((struct loading *)ctx)->c;
    sched_load_group(c->sched, g);
    keys_group(c->keys, g->id, g->app ? g->app : "");
    return true;
}

static bool load_group_token(void *ctx, const struct group_token *t)
{
    keys_put(((struct loading *)ctx)->c->keys, t);
    return true;
}

static bool load_moved(void *ctx, int64_t group_id, const char *address)
{
    keys_moved(((struct loading *)ctx)->c->keys, group_id, address);
    return true;
}

static bool load_registry(void *ctx, const struct registry_record *r)
{
    struct loading *l = ctx;
    sched_load_registry(l->c->sched, l->now, r);
    return true;
}

/* A live run whose job is gone (another program deleted it) is loaded with an empty definition:
 * reconciliation still finds its end. */
static bool load_run(void *ctx, const struct run_row *row)
{
    struct loading *l = ctx;
    struct job *j = planner_find(l->planner, row->job_id, row->version);
    if (!j) {
        struct job_record r;
        job_record_init(&r);
        struct why why = { "" };
        l->err = l->store->ops->catalog->job_get(l->store, row->job_id, &r, &why);
        if (l->err == ERR_NOTFOUND) {
            r.id = row->job_id;
            r.group_id = row->group_id;
            l->err = OK;
        }
        if (l->err)
            why_set(l->why, "%s", why.text);
        else
            j = planner_keep(l->planner, &r);
        job_record_done(&r);
    }
    if (l->err)
        return false;
    sched_load_run(l->c->sched, l->now, row, j, flight_known(&l->said, row->log_id));
    l->runs++;
    return true;
}

static enum err load(struct center *c, struct store *store, struct planner *planner,
                     struct why *why)
{
    const struct store_ops *ops = store->ops;
    struct loading l = {
        .c = c, .store = store, .planner = planner, .now = center_now(), .why = why
    };
    struct totals totals;
    int64_t open = 0;
    struct watermark watermark = { 0 };
    enum err err = ops->txn->watermark_get(store, &watermark, why);
    c->trace_key = watermark.trace_key;
    sched_load_watermark(c->sched, watermark.until_ms, watermark.clean);
    recorder_read(c, &watermark, &l.said);
    if (!err)
        err = ops->txn->totals_get(store, &totals, &open, why);
    if (!err)
        err = ops->catalog->groups_each(store, load_group, &l, why);
    if (!err)
        err = ops->catalog->group_tokens_each(store, load_group_token, &l, why);
    if (!err)
        err = ops->catalog->group_moved_each(store, load_moved, &l, why);
    if (!err)
        err = ops->catalog->registry_each(store, load_registry, &l, why);
    if (!err)
        err = ops->runs->runs_each(store, load_run, &l, why);
    flight_said_done(&l.said);
    if (err || l.err)
        return err ? err : l.err;
    for (int i = 0; i < TOTAL_COUNT; i++)
        c->metrics.totals[i] = totals.n[i];
    recorder_make(c, &watermark);
    sched_started(c->sched, l.now);
    if (c->config.still) /* as at a stop: edits are still written */
        sched_drain(c->sched);
    if (l.runs)
        log_info("center", "%d runs were open when the last process ended; they go on", l.runs);
    return OK;
}

static void own_config(struct center *c, const struct center_config *config)
{
    c->config = *config;
    c->config.listen = mem_dup(config->listen);
    c->config.data = mem_dup(config->data);
    c->config.token = mem_dup(config->token ? config->token : "");
    c->config.zone = mem_dup(config->zone ? config->zone : "");
    c->config.recorder = mem_dup(config->recorder);
    c->config.db_password = mem_dup(config->db_password);
    c->config.node_name = mem_dup(config->node_name);
    c->config.node_address = mem_dup(config->node_address);
    struct buf b = BUF_INIT(8192);
    if (config->db)
        buf_text(&b, config->db);
    else
        buf_printf(&b, "sqlite:%s/peal.db", config->data);
    c->db = buf_take(&b);
    c->config.db = c->db;
}

static enum err zone_choose(struct center *c, struct why *why)
{
    struct zone *zone;
    if (c->config.zone[0])
        snprintf(c->zone_name, sizeof(c->zone_name), "%s", c->config.zone);
    else
        zones_local_name(c->zone_name);
    enum err err = zones_get(c->zones, c->zone_name, &zone, why);
    if (!err)
        zone_unref(zone);
    return err;
}

/* What slow executors may have beyond their 64 connections, in all: a quarter of the descriptors.
 */
static int spare_connections(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 0;
    rlim_t quarter = limit.rlim_cur / 4;
    return quarter < 16384 ? (int)quarter : 16384;
}

/* Hours and days are cut by the server's zone. */
static enum err figures_begin(struct center *c, struct store *store, struct why *why)
{
    struct zone *zone;
    enum err err = zones_get(c->zones, c->zone_name, &zone, why);
    if (err)
        return err;
    c->figures = figures_new(zone);
    c->incidents = incidents_new();
    if (node_shared(c->node)) {
        incidents_share(c->incidents);
        figures_share(c->figures, c->metrics.node.node);
    }
    zone_unref(zone);
    return figures_load(c->figures, store, why);
}

/* On the node's thread. */
static void lost(void *arg, const struct why *why)
{
    struct center *c = arg;
    c->lost_why = *why;
    c->lost.kind = MESSAGE_LOST;
    mailbox_send(c->mailbox, &c->lost);
}

/* On the node's thread. */
static void woken(void *arg)
{
    struct center *c = arg;
    if (atomic_exchange(&c->is_woken, true))
        return; /* it is on its way */
    c->woken.kind = MESSAGE_NODE;
    mailbox_send(c->mailbox, &c->woken);
}

/* One that is a server's hears from now on that this process lives. */
static enum err database_open(struct center *c, struct store **ret, struct why *why)
{
    node_name_choose(c->config.node_name, c->node_name);
    enum err err = node_address_choose(c->config.node_address, c->config.listen, center_port(c),
                                       c->config.tls != NULL, c->node_address, why);
    if (err)
        return err;
    err = node_new(c->config.data, c->db, c->config.db_password, c->node_name, c->config.cluster,
                   &c->metrics, &c->node, why);
    if (err)
        return err;
    const struct store_options options = { .node = 1,
                                           .epoch = 1,
                                           .start_deadline_ms = c->config.start_deadline_ms,
                                           .password = c->config.db_password,
                                           .node_name = c->node_name,
                                           .clock_skew_ms = c->config.db_clock_skew_ms,
                                           .shared = c->config.cluster,
                                           .gone_epoch = node_gone_epoch(c->node),
                                           .lost_commits = node_lost_commits(c->node) };
    struct store *s;
    err = store_open(c->db, &options, &s, why);
    if (err)
        return err;
    c->metrics.node = (struct metric_node){ c->node_name, options.node, options.epoch };
    if (s->ops->cluster)
        s->ops->cluster->life(s, &c->metrics.node.node, &c->metrics.node.epoch);
    const struct node_hooks hooks = { .lost = lost, .woken = woken, .arg = c };
    err = node_start(c->node, s, c->node_address, &hooks, why);
    if (err)
        store_close(s);
    else
        *ret = s;
    return err;
}

/* One without a token has nothing by which nodes could know each other. */
static enum err peers_begin(struct center *c, struct why *why)
{
    const struct peers_config config = { .center = c,
                                         .rows = peer_rows,
                                         .token = c->config.token,
                                         .ca = c->config.executor_ca,
                                         .epoch = c->metrics.node.epoch,
                                         .metrics = &c->metrics };
    if (!center_shares(c) || c->config.still || !c->config.token[0])
        return OK;
    return peers_new(c->loop, &config, &c->peers, why);
}

static enum err core_new(struct center *c, struct why *why)
{
    struct store *store;
    enum err err = database_open(c, &store, why);
    if (err)
        return err;
    err = peers_begin(c, why);
    if (err) {
        store_close(store);
        return err;
    }
    c->beside = store->beside;
    c->flight = flight_file_new(c->config.recorder, c->db); /* the database's file is there now */
    struct timespec seed;
    clock_gettime(CLOCK_REALTIME, &seed);
    struct sched_config s;
    sched_config_default(&s);
    s.seed = (uint64_t)seed.tv_nsec * 1000003u + (uint64_t)seed.tv_sec;
    s.lane_connections = c->config.lane_connections;
    s.lane_queue = c->config.lane_queue;
    s.spare_connections = spare_connections();
    if (store->ops->cluster)
        s.batch_gap_ms = s.batch_wait_ms = SERVER_GAP_MS;
    if (store->ops->cluster && !node_shared(c->node)) {
        s.batch_wait_ms = SERVER_WAIT_MS;
        c->journalling.gap_us = SERVER_APPEND_US;
    }
    c->sched = sched_new(&s);
    node_said(c); /* among others nothing leaves without a lease */
    struct planner_config p = { find_zone, c, c->last_year, c->config.misfire_threshold_ms,
                                s.seed + 1 };
    struct planner *planner = planner_new(&p);
    err = load(c, store, planner, why);
    if (err) {
        store_close(store);
        planner_free(planner);
        return err;
    }
    err = figures_begin(c, store, why);
    if (err) {
        store_close(store);
        planner_free(planner);
        return err;
    }
    c->writer = writer_new(store, planner, c->figures, &c->config.retention, c->mailbox,
                           MESSAGE_BATCH_DONE, &c->metrics, c->node);
    struct store *reader;
    err = center_reader(c, &reader, why);
    if (!err) {
        c->heard = heard_new(c->node, reader->beside, c->mailbox, MESSAGE_HEARD);
        c->maintenance =
            maintenance_new(reader, c->zones, c->figures, c->mailbox, MESSAGE_ZONES, c->heard);
    }
    if (!err && node_shared(c->node)) {
        struct store *follower;
        err = center_reader(c, &follower, why);
        if (!err)
            c->follow = follow_new(follower, c->metrics.node.node, c->figures);
    }
    if (!err)
        err = results_replay(c, why);
    if (!err)
        c->backups = backups_new(c->db, &c->config.backups, &c->metrics);
    return err;
}

static enum err net_new(struct center *c, struct why *why)
{
    struct addr_listen at;
    enum err err = addr_listen_parse(slice_text(c->config.listen), &at, why);
    if (err)
        return err;
    struct transport_config out = { .token = c->config.token,
                                    .connections = c->config.lane_connections + EXTRA_CONNECTIONS,
                                    .ca = c->config.executor_ca };
    err = transports_new(transport_rows, c->loop, &out, &c->transports, why);
    if (err)
        return err;
    struct httpd_config front = { .on_request = on_request,
                                  .on_head = on_head,
                                  .arg = c,
                                  .body_max = CENTER_BODY_MAX,
                                  .answered = &c->metrics.http_requests };
    c->front = httpd_new(c->loop, &front);
    struct httpd *listener = c->front;
    if (c->config.tls) {
        c->tls_front = tls_front_new(c->config.tls, c->loop, c->front);
        listener = tls_front_httpd(c->tls_front);
    }
    int passed = 0;
    if (c->config.still)
        return OK;
    err = httpd_inherit(listener, &passed, why);
    c->passed = passed > 0;
    if (err)
        return err;
    if (passed) {
        log_info("center",
                 "listening on %d sockets that were passed (port %u); the setting listen "
                 "does not count",
                 passed, httpd_port(listener));
    } else {
        err = httpd_listen(listener, &at, why);
    }
    if (!err && c->tls_front)
        err = tls_front_start(c->tls_front, why);
    return err;
}

enum err center_new(const struct center_config *config, struct center **ret, struct why *why)
{
    struct center *c = mem_new(sizeof(*c));
    own_config(c, config);
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    c->last_year = tm.tm_year + 1900 + CRON_YEARS;
    c->metrics.started_ms = clock_wall_ms();
    c->wall_minus_boot_ms = clock_wall_ms() - clock_boot_ms();
    c->loop = loop_new();
    c->mailbox = mailbox_new();
    c->zones = zones_new(NULL);
    c->keys = keys_new(c->config.token);
    c->timer.fire = on_timer;
    c->look_again.fire = on_look_again;
    c->incoming.mailbox = c->mailbox;
    c->incoming.message = on_message;
    list_init(&c->held);
    list_init(&c->replies);
    list_init(&c->fresh);
    list_init(&c->calls);
    list_init(&c->requests);
    list_init(&c->log_asks);
    list_init(&c->forwards.open);
    list_init(&c->taken);
    list_init(&c->peer_asks);
    pthread_mutex_init(&c->attention_lock, NULL);
    buf_init(&c->attention, PEER_ANSWER_MAX);
    list_init(&c->writes);
    list_init(&c->batch.writes);
    enum err err = OK;
    if (mkdir(config->data, 0750) < 0 && errno != EEXIST) {
        why_set(why, "cannot make the data folder %s: %s", config->data, strerror(errno));
        err = ERR_IO;
    }
    if (!err)
        err = zone_choose(c, why);
    if (!err)
        err = loop_mailbox_add(c->loop, &c->incoming);
    if (!err)
        err = net_new(c, why); /* before the store: a taken port must not cost a migration */
    if (!err)
        err = core_new(c, why);
    if (err) {
        center_free(c);
        return err;
    }
    loop_on_wall(c->loop, on_wake, on_set, c);
    loop_before_sleep(c->loop, before_sleep, c);
    publish(c);
    *ret = c;
    return OK;
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

void center_free(struct center *c)
{
    if (!c)
        return;
    backups_free(c->backups);
    maintenance_free(c->maintenance);
    follow_free(c->follow);
    writer_free(c->writer); /* before the mailbox, to which it and the journal post */
    heard_free(c->heard);
    node_free(c->node); /* whose lock holds until the database is closed */
    figures_free(c->figures);
    incidents_free(c->incidents);
    journalling_free(c);
    struct list rest;
    list_init(&rest);
    while (mailbox_take(c->mailbox, &rest))
        ;
    for (struct list_node *n; (n = list_pop(&rest));) {
        struct message *l = container_of(n, struct message, node);
        if (l->kind == MESSAGE_JOURNAL)
            journalling_message_free(container_of(l, struct journal_message, message));
        else if (l->kind == MESSAGE_REQUEST)
            request_refuse(l);
        else if (l->kind == MESSAGE_LOG_ASK)
            log_ask_refuse(l);
        else if (l->kind == MESSAGE_HEARD)
            heard_drop(l);
        else if (l->kind == MESSAGE_PEER_ASK)
            peer_ask_refuse(l);
        else if (l->kind == MESSAGE_ZONES)
            free(l);
    }
    ledger_entries_end(&c->batch.writes, ERR_STOPPING);
    ledger_entries_end(&c->writes, ERR_STOPPING);
    batch_free(c->batch.batch);
    sched_free(c->sched);
    keys_free(c->keys);
    flight_file_free(c->flight, c->left_clean);
    results_free(c); /* the core pointed to them */
    peers_free(c->peers);
    buf_done(&c->attention);
    pthread_mutex_destroy(&c->attention_lock);
    tls_front_free(c->tls_front);
    if (c->front)
        httpd_free(c->front);
    transports_free(c->transports);
    loop_mailbox_remove(c->loop, &c->incoming);
    mailbox_free(c->mailbox);
    loop_free(c->loop);
    zones_free(c->zones);
    free((char *)c->config.listen);
    free((char *)c->config.data);
    free((char *)c->config.token);
    free((char *)c->config.zone);
    free((char *)c->config.recorder);
    free((char *)c->config.db_password);
    free((char *)c->config.node_name);
    free((char *)c->config.node_address);
    free(c->db);
    free(c);
}

/* ---- looks ---------------------------------------------------------------------------------- */

void center_on_request(struct center *c, void (*fn)(struct httpd_request *q, void *arg),
                       size_t (*head)(struct httpd_request *q, void *arg), void *arg)
{
    c->on_request = fn;
    c->on_head = head;
    c->on_request_arg = arg;
}

void center_on_alarm(struct center *c, void (*fn)(void *arg), void *arg)
{
    c->on_alarm = fn;
    c->on_alarm_arg = arg;
}

void center_on_heard(struct center *c, void (*fn)(void *arg), void *arg)
{
    c->on_heard = fn;
    c->on_heard_arg = arg;
}

void center_alarms_changed(struct center *c)
{
    if (c->on_alarm)
        c->on_alarm(c->on_alarm_arg);
}

void center_on_others(struct center *c, follow_fn *fn, void *arg)
{
    follow_on(c->follow, fn, arg);
}

void center_watch(struct center *c, const struct center_watcher *w, void *arg)
{
    c->watcher = w;
    c->watcher_arg = arg;
}

uint16_t center_port(const struct center *c)
{
    return httpd_port(c->tls_front ? tls_front_httpd(c->tls_front) : c->front);
}

bool center_wants_certificate(const struct center *c)
{
    return c->config.tls && tls_server_asks(c->config.tls);
}

struct loop *center_loop(struct center *c)
{
    return c->loop;
}

struct httpd *center_front(struct center *c)
{
    return c->front;
}

struct zones *center_zones(struct center *c)
{
    return c->zones;
}

const char *center_zone_name(const struct center *c)
{
    return c->zone_name;
}

const char *center_listen(const struct center *c)
{
    return c->config.listen;
}

const char *center_token(const struct center *c)
{
    return c->config.token;
}

int64_t center_start_deadline_ms(const struct center *c)
{
    return c->config.start_deadline_ms;
}

int center_last_year(const struct center *c)
{
    return c->last_year;
}

struct figures *center_figures(struct center *c)
{
    return c->figures;
}

struct incidents *center_incidents(struct center *c)
{
    return c->incidents;
}

struct metrics *center_metrics(struct center *c)
{
    return &c->metrics;
}

int64_t center_trace_key(const struct center *c)
{
    return c->trace_key;
}

enum err center_reader(struct center *c, struct store **ret, struct why *why)
{
    const struct store_options options = { .read_only = true,
                                           .start_deadline_ms = c->config.start_deadline_ms,
                                           .password = c->config.db_password };
    return store_open(c->db, &options, ret, why);
}

/* What becomes of results while the database takes none. */
static const char *journal_health(struct center *c, char *text, size_t size)
{
    if (!c->journalling.journal)
        return "there is no journal: executors are told to send their results again";
    long long n = c->metrics.journal_records;
    snprintf(text, size, "results go to the journal, which holds %lld%s", n,
             c->metrics.journal_full ? " and has been full" : "");
    return text;
}

void center_health(struct center *c, struct center_health *ret)
{
    char trouble[512], journal[100];
    memset(ret, 0, sizeof(*ret));
    ret->store_ok = !writer_trouble(c->writer, trouble, sizeof(trouble));
    bool marked = c->watermark_ms > clock_wall_ms(), leased = node_leased(c->node);
    ret->fires = marked && leased;
    ret->draining = c->draining;
    if (!ret->store_ok)
        snprintf(ret->reason, sizeof(ret->reason), "the database does not take writes: %s; %s",
                 trouble, journal_health(c, journal, sizeof(journal)));
    else if (!marked)
        snprintf(ret->reason, sizeof(ret->reason),
                 "nothing fires: the dispatch watermark on disk has not been renewed");
    else if (!leased)
        snprintf(ret->reason, sizeof(ret->reason),
                 "nothing fires: the lease is over, the database has taken no beat of this server "
                 "for 2 s");
    else if (ret->draining)
        snprintf(ret->reason, sizeof(ret->reason), "stopping");
}
