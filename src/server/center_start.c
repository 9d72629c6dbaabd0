/* SPDX-License-Identifier: Apache-2.0 */
/* center_start.c - a center is made, and taken down: network, database, core, writer. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/tls.h"
#include "server/state.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* Between two transactions on a database server: each costs the two processes some 2 ms of CPU
 * together, whatever is in it, and results have been acknowledged by the journal before. */
#define SERVER_GAP_MS 16
/* The same where nothing is in it that is waited for, unless it has some hundreds of rows. Not
 * among several servers: there the journal of one that never comes back is of no use. */
#define SERVER_WAIT_MS 150
#define SERVER_APPEND_US 10000 /* so results wait for the journal, which then keeps nearly all */
#define CRON_YEARS 100         /* as the original: this year and so many more */

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
    if (config->db) {
        c->db = mem_dup(config->db);
    } else {
        struct buf b = BUF_INIT(8192);
        buf_printf(&b, "sqlite:%s/peal.db", config->data);
        c->db = buf_take(&b);
    }
    c->config.db = c->db;
}

static void config_free(struct center *c)
{
    free((char *)c->config.listen);
    free((char *)c->config.data);
    free((char *)c->config.token);
    free((char *)c->config.zone);
    free((char *)c->config.recorder);
    free((char *)c->config.db_password);
    free((char *)c->config.node_name);
    free((char *)c->config.node_address);
    free(c->db);
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

/* ---- database, core, writer ------------------------------------------------------------------ */

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
                                         .trust = c->config.trust,
                                         .epoch = c->metrics.node.epoch,
                                         .metrics = &c->metrics };
    if (!center_shares(c) || c->config.still || !c->config.token[0])
        return OK;
    return peers_new(c->loop, &config, &c->peers, why);
}

static enum err find_zone(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    struct center *c = ctx;
    return zones_get(c->zones, name && *name ? name : c->zone_name, ret, why);
}

static void sched_begin(struct center *c, const struct store *store, uint64_t seed)
{
    struct sched_config s;
    sched_config_default(&s);
    s.seed = seed;
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
    center_node_said(c); /* among others nothing leaves without a lease */
}

/* The store is the writer's then; when this fails it stays the caller's. */
static enum err writer_begin(struct center *c, struct store *store, uint64_t seed, struct why *why)
{
    struct planner_config p = { find_zone, c, c->last_year, c->config.misfire_threshold_ms, seed };
    struct planner *planner = planner_new(&p);
    enum err err = center_load(c, store, planner, why);
    if (!err)
        err = figures_begin(c, store, why);
    if (err) {
        planner_free(planner);
        return err;
    }
    c->writer = writer_new(store, planner, c->figures, &c->config.retention, c->mailbox,
                           MESSAGE_BATCH_DONE, &c->metrics, c->node);
    return OK;
}

/* Threads with handles of their own, for reading. */
static enum err readers_begin(struct center *c, struct why *why)
{
    struct store *reader, *follower;
    enum err err = center_reader(c, &reader, why);
    if (err)
        return err;
    c->heard = heard_new(c->node, reader->beside, c->mailbox, MESSAGE_HEARD);
    c->maintenance =
        maintenance_new(reader, c->zones, c->figures, c->mailbox, MESSAGE_ZONES, c->heard);
    if (!node_shared(c->node))
        return OK;
    err = center_reader(c, &follower, why);
    if (!err)
        c->follow = follow_new(follower, c->metrics.node.node, c->figures);
    return err;
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
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = (uint64_t)now.tv_nsec * 1000003u + (uint64_t)now.tv_sec;
    sched_begin(c, store, seed);
    err = writer_begin(c, store, seed + 1, why);
    if (err) {
        store_close(store);
        return err;
    }
    err = readers_begin(c, why);
    if (!err)
        err = results_replay(c, why);
    if (!err)
        c->backups = backups_new(c->db, &c->config.backups, &c->metrics);
    return err;
}

/* ---- the network ----------------------------------------------------------------------------- */

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

static enum err net_new(struct center *c, struct why *why)
{
    struct addr_listen at;
    enum err err = addr_listen_parse(slice_text(c->config.listen), &at, why);
    if (err)
        return err;
    struct transport_config out = { .token = c->config.token,
                                    .connections = c->config.lane_connections + EXTRA_CONNECTIONS,
                                    .trust = c->config.trust,
                                    .targets = &c->config.targets };
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

/* ---- the whole ------------------------------------------------------------------------------ */

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
    c->incoming.mailbox = c->mailbox;
    center_loop_init(c);
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
    center_loop_begin(c);
    *ret = c;
    return OK;
}

/* Messages that came after the last iteration of the loop. */
static void messages_drop(struct center *c)
{
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
    messages_drop(c);
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
    config_free(c);
    free(c);
}
