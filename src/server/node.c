/* SPDX-License-Identifier: Apache-2.0 */
/* The rules are those of src/sched/node.c: the thread ticks them when they say so, does their
 * actions, and brings the answers back. A node that has the database alone is told so: there are
 * two actions then, to beat, and to drop everything because the beat was refused. A beat without an
 * answer changes nothing; what ends this server's right to write is the fence in its commits.
 *
 * The rules belong to this thread. What the scheduler must know of them (how long it may send, what
 * it shall plan) is published under a lock, and the scheduler is woken. A lease that it reads late
 * is shorter than the true one. */
#include "server/node.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/thread.h"
#include "sched/node.h"
#include "store/url.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MAX_MS 60000
#define ROUND_TRIP_MS 100 /* a slower answer says nothing about clocks */
#define SKEW_MS 250       /* more is told */
#define LINE_MAX_BYTES 128
#define ADOPT_ROWS 1000 /* of another node, in one transaction */

struct node {
    char *db, *password, *address;
    char name[NODE_NAME_SIZE];
    char key[65]; /* of the database's URL, for the file */
    int fd;       /* node.lock */
    int64_t gone_epoch;
    struct store *store; /* of the beat; NULL: not open */
    struct store_options options;
    struct metrics *metrics;
    struct cluster *rules;    /* of the thread, once there is one */
    bool skewed, silent;      /* has been told */
    bool shared;              /* with other servers */
    _Atomic uint64_t others;  /* node_others */
    _Atomic int64_t lease_ms; /* boot: until then runs may be sent */
    _Atomic int64_t first_ms; /* boot: until then it is the first one; INT64_MIN: it is not */
    bool out;                 /* this life is over: nothing is looked at any more */
    struct node_hooks hooks;
    pthread_mutex_t lock;
    struct node_says says; /* under the lock, as this: */
    struct inbox_rows came;
    struct news_rows said;
    struct inbox inbox; /* of the thread, and this: */
    struct news news;
    struct cluster_action adopting;
    struct message adopted; /* the answer: */
    int64_t taken;
    bool left;
    struct mailbox *in;
    struct message leave, stop;
    pthread_t thread;
    bool started, leaving;
};

enum node_message { NODE_LEAVE, NODE_STOP, NODE_ADOPTED };

static struct now node_now(void)
{
    return (struct now){ .wall_ms = clock_wall_ms(), .boot_ms = clock_boot_ms() };
}

/* ---- the data folder's memory ---------------------------------------------------------------- */

static void key_of(const char *db, char key[65])
{
    struct db_url u;
    char text[1024] = "";
    unsigned char digest[32];
    if (!db_url_parse(db, &u, NULL)) {
        db_url_text(&u, text, sizeof(text));
        db_url_wipe(&u);
    }
    sha256(text, strlen(text), digest);
    hex_text(digest, sizeof(digest), key);
}

/* "EPOCH KEY": whose life the last process of this folder was. */
static int64_t epoch_read(const struct node *n)
{
    char text[LINE_MAX_BYTES] = "";
    int64_t epoch = 0;
    text[file_read(n->fd, 0, text, sizeof(text) - 1)] = '\0';
    char *blank = strchr(text, ' ');
    if (!blank || strncmp(blank + 1, n->key, sizeof(n->key) - 1) != 0)
        return 0;
    return parse_i64(slice_of(text, (size_t)(blank - text)), &epoch) ? epoch : 0;
}

static void epoch_write(const struct node *n, int64_t epoch)
{
    char text[LINE_MAX_BYTES];
    int size = snprintf(text, sizeof(text), "%lld %s\n", (long long)epoch, n->key);
    if (pwrite(n->fd, text, (size_t)size, 0) != size || ftruncate(n->fd, size))
        log_warn("node", "cannot write node.lock: %s; a start after a kill waits 3 s",
                 strerror(errno));
}

static enum err lock(struct node *n, const char *data, struct why *why)
{
    char *path = mem_join(data, "/node.lock");
    n->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    enum err err = n->fd < 0 ? ERR_IO : file_lock(n->fd);
    if (err == ERR_BUSY)
        why_set(why, "the folder %s is in use by another server; give this one another --data",
                data);
    else if (err)
        why_set(why, "cannot lock %s: %s", path, strerror(errno));
    free(path);
    return err;
}

void node_name_choose(const char *given, char ret[NODE_NAME_SIZE])
{
    char host[65] = "";
    if (!given || !*given) {
        if (gethostname(host, sizeof(host) - 1) || !host[0])
            snprintf(host, sizeof(host), "peal");
        given = host;
    }
    text_copy(ret, NODE_NAME_SIZE, slice_text(given));
}

enum err node_new(const char *data, const char *db, const char *password, const char *name,
                  bool shared, struct metrics *metrics, struct node **ret, struct why *why)
{
    *ret = NULL;
    if (!db_url_is(db) && shared)
        why_set(why,
                "node.cluster needs a database that several servers can open (mysql://, "
                "postgres://); %s is a file",
                db);
    if (!db_url_is(db))
        return shared ? ERR_INVALID : OK;
    struct node *n = mem_new(sizeof(*n));
    n->fd = -1;
    n->shared = shared;
    n->says.lease_ms = n->says.watermark_ms = INT64_MIN;
    atomic_init(&n->lease_ms, INT64_MIN);
    atomic_init(&n->first_ms, INT64_MIN);
    metrics->shared = shared;
    pthread_mutex_init(&n->lock, NULL);
    n->db = mem_dup(db);
    n->password = mem_dup(password);
    n->metrics = metrics;
    text_copy(n->name, sizeof(n->name), slice_text(name));
    key_of(db, n->key);
    enum err err = lock(n, data, why);
    if (err) {
        node_free(n);
        return err;
    }
    n->gone_epoch = epoch_read(n);
    *ret = n;
    return OK;
}

int64_t node_gone_epoch(const struct node *n)
{
    return n ? n->gone_epoch : 0;
}

/* ---- the beat -------------------------------------------------------------------------------- */

/* The clock of the database is not used for anything here, but people compare its times with ours,
 * and the next server may stand on another machine. */
static void clock_look(struct node *n, int64_t before_us, int64_t after_us, int64_t wall_ms,
                       int64_t clock_ms)
{
    int64_t trip_us = after_us - before_us;
    if (clock_ms < 0 || trip_us > ROUND_TRIP_MS * 1000)
        return;
    int64_t skew_ms = clock_ms - (wall_ms - trip_us / 2000);
    cluster_clock(n->rules, skew_ms);
    atomic_store_explicit(&n->metrics->db_skew_ms, skew_ms, memory_order_relaxed);
    bool skewed = skew_ms > SKEW_MS || skew_ms < -SKEW_MS;
    if (skewed && !n->skewed)
        log_warn("node",
                 "the database's clock is %lld ms %s this machine's: let both follow a time server",
                 (long long)(skew_ms < 0 ? -skew_ms : skew_ms),
                 skew_ms < 0 ? "behind" : "ahead of");
    n->skewed = skewed;
}

static enum err connected(struct node *n, struct why *why)
{
    struct store *store = n->store;
    enum err err = store ? OK : store_open(n->db, &n->options, &store, why);
    if (!err)
        n->store = store;
    return err;
}

/* ERR_FENCED: the row is not this life's any more. */
static enum err beat_send(struct node *n, const struct cluster_action *a, struct why *why)
{
    struct node_beat b = { .n = a->beat,
                           .last = a->last,
                           .watermark_ms = a->watermark_ms,
                           .skew_ms = a->skew_ms,
                           .wall_ms = clock_wall_ms(),
                           .live = atomic_load_explicit(&n->metrics->open, memory_order_relaxed),
                           .draining = a->draining,
                           .shared = n->shared,
                           .address = n->address,
                           .version = PEAL_VERSION };
    bool ours = false;
    int64_t clock_ms = -1;
    enum err err = connected(n, why);
    if (err)
        return err;
    int64_t before_us = clock_boot_us();
    err = n->store->ops->cluster->beat(n->store, &b, &ours, &clock_ms, why);
    if (err)
        return err;
    if (!ours)
        return ERR_FENCED;
    int64_t after_us = clock_boot_us();
    clock_look(n, before_us, after_us, clock_wall_ms(), clock_ms);
    atomic_store_explicit(&n->metrics->beat_us, after_us - before_us, memory_order_relaxed);
    atomic_store_explicit(&n->metrics->db_beat_ms, clock_wall_ms(), memory_order_relaxed);
    atomic_store_explicit(&n->metrics->db_server, 1, memory_order_relaxed);
    return OK;
}

static void beat_tell(struct node *n, enum err err, const struct why *why)
{
    if (err && err != ERR_FENCED && !n->silent)
        log_warn("node", "no beat: %s; %s", why->text,
                 n->shared ? "without one for 2 s nothing is sent"
                           : "a server that starts now would wait 3 s and take over");
    else if (!err && n->silent)
        log_info("node", "the database takes the beat again");
    n->silent = err != OK;
}

/* Whatever a failed beat met, it may have been written. */
static enum err beat(struct node *n, const struct cluster_action *a, struct why *why)
{
    enum cluster_answer answer = CLUSTER_YES;
    enum err err = beat_send(n, a, why);
    if (err)
        answer = err == ERR_FENCED ? CLUSTER_NO : CLUSTER_UNHEARD;
    cluster_beat(n->rules, node_now(), a, answer);
    atomic_fetch_add_explicit(err ? &n->metrics->beat_errors : &n->metrics->beats, 1,
                              memory_order_relaxed);
    if (n->started) /* else the start fails with it */
        beat_tell(n, err, why);
    return err;
}

/* ---- the others ------------------------------------------------------------------------------ */

struct looked {
    const struct node *n;
    struct cluster_row rows[CLUSTER_MAX];
    int count;
    uint64_t others;
};

static bool take_life(void *ctx, const struct life_record *r)
{
    struct looked *l = ctx;
    if (r->node != l->n->options.node) /* a life's number begins anew */
        l->others += ((uint64_t)r->epoch << 40) + (uint64_t)r->changes;
    l->rows[l->count++] = (struct cluster_row){ .node = r->node,
                                                .epoch = r->epoch,
                                                .beat = r->beat,
                                                .watermark_ms = r->watermark_ms,
                                                .heir = r->heir,
                                                .skew_ms = r->skew_ms,
                                                .weight = HOMES_WEIGHT,
                                                .ended = r->ended,
                                                .clean = r->clean,
                                                .draining = r->draining,
                                                .asked = r->asked,
                                                .namesake = r->node == l->n->options.node };
    return l->count < CLUSTER_MAX;
}

/* The nodes, or what is left of epochs that have ended. */
static void look(struct node *n, const struct cluster_action *a)
{
    struct looked l = { .n = n };
    struct why why = { "" };
    enum err err = connected(n, &why);
    if (!err) {
        const struct store_cluster *t = n->store->ops->cluster;
        err = (a->kind == CLUSTER_LOOK ? t->lives_each : t->orphans_each)(n->store, CLUSTER_MAX,
                                                                          take_life, &l, &why);
    }
    if (!err && a->kind == CLUSTER_LOOK)
        atomic_store_explicit(&n->others, l.others, memory_order_relaxed);
    if (err)
        cluster_failed(n->rules, node_now(), a); /* the beat tells why */
    else if (a->kind == CLUSTER_LOOK)
        cluster_rows(n->rules, node_now(), a, l.rows, l.count);
    else
        cluster_orphans(n->rules, node_now(), a, l.rows, l.count);
}

static void declare(struct node *n, const struct cluster_action *a)
{
    struct why why = { "" };
    bool done = false;
    enum err err = connected(n, &why);
    if (!err)
        err = n->store->ops->cluster->declare(n->store, a->node, a->epoch, a->beat, &done, &why);
    if (err)
        log_warn("node", "cannot end epoch %lld of node %lld, which is silent: %s",
                 (long long)a->epoch, (long long)a->node, why.text);
    else if (done)
        log_warn("node", "node %lld is silent: its epoch %lld has been ended", (long long)a->node,
                 (long long)a->epoch);
    cluster_declared(n->rules, node_now(), a,
                     err    ? CLUSTER_UNHEARD
                     : done ? CLUSTER_YES
                            : CLUSTER_NO);
}

/* Results that others have taken for runs of this one. More are read when the scheduler has these.
 * A database that takes no beat is asked for that alone: its answer may take as long as a lease. */
static void inbox_look(struct node *n)
{
    struct inbox_rows rows = { NULL, 0 };
    struct why why = { "" };
    pthread_mutex_lock(&n->lock);
    bool waits = n->came.n > 0;
    pthread_mutex_unlock(&n->lock);
    if (waits || n->silent || !n->store) {
        inbox_later(&n->inbox, clock_boot_ms());
        return;
    }
    if (inbox_read(&n->inbox, n->store, clock_boot_ms(), &rows, &why))
        log_debug("node", "cannot read the inbox: %s", why.text);
    if (!rows.n) {
        inbox_rows_done(&rows);
        return;
    }
    pthread_mutex_lock(&n->lock);
    n->came = rows;
    pthread_mutex_unlock(&n->lock);
    n->hooks.woken(n->hooks.arg);
}

/* Edits of jobs that others have made; the same. */
static void news_look(struct node *n)
{
    struct news_rows rows = { NULL, 0 };
    struct why why = { "" };
    pthread_mutex_lock(&n->lock);
    bool waits = n->said.n > 0;
    pthread_mutex_unlock(&n->lock);
    if (waits || n->silent || !n->store) {
        news_later(&n->news, clock_boot_ms());
        return;
    }
    if (news_read(&n->news, n->store, clock_boot_ms(), &rows, &why))
        log_debug("node", "cannot read what others have changed: %s", why.text);
    if (!rows.n) {
        news_rows_done(&rows);
        return;
    }
    pthread_mutex_lock(&n->lock);
    n->said = rows;
    pthread_mutex_unlock(&n->lock);
    n->hooks.woken(n->hooks.arg);
}

static int64_t news_due(const struct node *n)
{
    return n->shared && !n->out ? n->news.next_ms : INT64_MAX;
}

/* A life that is over reads nothing, and one that stops goes on for as long as it writes. */
static int64_t inbox_due(const struct node *n)
{
    return n->shared && !n->out ? inbox_next(&n->inbox) : INT64_MAX;
}

bool node_results(struct node *n, struct inbox_rows *ret)
{
    pthread_mutex_lock(&n->lock);
    *ret = n->came;
    n->came = (struct inbox_rows){ NULL, 0 };
    pthread_mutex_unlock(&n->lock);
    return ret->n > 0;
}

bool node_news(struct node *n, struct news_rows *ret)
{
    pthread_mutex_lock(&n->lock);
    *ret = n->said;
    n->said = (struct news_rows){ NULL, 0 };
    pthread_mutex_unlock(&n->lock);
    return ret->n > 0;
}

/* ---- what the scheduler is told -------------------------------------------------------------- */

/* Those that are new since the last time. claim: it shall look for what is due. */
static void publish(struct node *n, bool claim, const struct cluster_action *adopt)
{
    int64_t lease_ms = cluster_lease_ms(n->rules), watermark_ms = cluster_watermark_ms(n->rules);
    pthread_mutex_lock(&n->lock);
    struct node_says *s = &n->says;
    struct share share = { .nodes = 0 };
    share.place = cluster_place(n->rules, &share.nodes);
    atomic_store(&n->lease_ms, lease_ms);
    atomic_store(&n->first_ms, cluster_first(n->rules) ? lease_ms : INT64_MIN);
    bool wake = claim || adopt->epoch || s->lease_ms != lease_ms || s->watermark_ms != watermark_ms;
    s->lease_ms = lease_ms;
    s->watermark_ms = watermark_ms;
    s->share = share;
    s->claim |= claim;
    if (adopt->epoch)
        s->adopt = (struct adoption){ adopt->epoch, adopt->watermark_ms, adopt->clean, ADOPT_ROWS };
    pthread_mutex_unlock(&n->lock);
    if (wake && n->started)
        n->hooks.woken(n->hooks.arg);
}

bool node_shared(const struct node *n)
{
    return n && n->shared;
}

bool node_leased(const struct node *n)
{
    return !node_shared(n) || clock_boot_ms() < atomic_load(&n->lease_ms);
}

bool node_first(const struct node *n)
{
    return !node_shared(n) || clock_boot_ms() < atomic_load(&n->first_ms);
}

uint64_t node_others(const struct node *n)
{
    return n ? atomic_load_explicit(&n->others, memory_order_relaxed) : 0;
}

bool node_takes(struct node *n, struct node_says *ret)
{
    if (!n || !n->shared)
        return false;
    pthread_mutex_lock(&n->lock);
    *ret = n->says;
    n->says.claim = false;
    n->says.adopt.epoch = 0;
    pthread_mutex_unlock(&n->lock);
    return true;
}

/* ---- the rules' actions ---------------------------------------------------------------------- */

static void lost(struct node *n, const struct why *why)
{
    if (n->out || !n->started || n->leaving)
        return;
    n->out = true;
    n->hooks.lost(n->hooks.arg, why);
}

/* A single life ends by the writer's last batch, and by the store when it closes; so does this one
 * when the server stops. */
static void handover(struct node *n)
{
    struct why why = { "" };
    if (n->leaving)
        return;
    why_set(&why, "this machine's clock is more than 1 s from the database's, with which other "
                  "servers agree: let it follow a time server");
    lost(n, &why);
}

/* What is due now. The error is the beat's. */
static enum err iterate(struct node *n, struct why *why)
{
    struct cluster_action a;
    enum err err = OK;
    bool claim = false;
    struct cluster_action adopt = { .epoch = 0 };
    if (!n->out && cluster_next(n->rules) <= clock_boot_ms())
        cluster_tick(n->rules, node_now());
    while (!n->out && cluster_pop(n->rules, &a)) {
        if (a.kind == CLUSTER_BEAT)
            err = beat(n, &a, why);
        else if (a.kind == CLUSTER_LOOK || a.kind == CLUSTER_ORPHANS)
            look(n, &a);
        else if (a.kind == CLUSTER_DECLARE)
            declare(n, &a);
        else if (a.kind == CLUSTER_ADOPT)
            adopt = n->adopting = a;
        else if (a.kind == CLUSTER_SWEEP) /* jobs have no homes yet: every node plans all */
            cluster_swept(n->rules, node_now(), &a, false);
        else if (a.kind == CLUSTER_HANDOVER)
            handover(n);
        else if (a.kind == CLUSTER_FORGET)
            lost(n, why);
        if (a.kind == CLUSTER_CLAIM) {
            cluster_claimed(n->rules, node_now(), &a);
            claim = true;
        }
    }
    publish(n, claim, &adopt);
    return err;
}

static int wait_ms(const struct node *n)
{
    int64_t next_ms = n->out ? INT64_MAX : cluster_next(n->rules), inbox_ms = inbox_due(n);
    if (inbox_ms < next_ms)
        next_ms = inbox_ms;
    if (news_due(n) < next_ms)
        next_ms = news_due(n);
    int64_t left_ms = next_ms - clock_boot_ms();
    if (next_ms == INT64_MAX)
        return -1; /* refused: only the request to stop can come */
    return left_ms <= 0 ? 0 : left_ms < WAIT_MAX_MS ? (int)left_ms : WAIT_MAX_MS;
}

/* Whether the thread goes on. */
static bool take_messages(struct node *n)
{
    struct list incoming;
    bool on = true;
    list_init(&incoming);
    mailbox_take(n->in, &incoming);
    for (struct list_node *l; (l = list_pop(&incoming));) {
        struct message *m = container_of(l, struct message, node);
        on = on && m->kind != NODE_STOP;
        if (m->kind == NODE_ADOPTED) {
            cluster_adopted(n->rules, node_now(), &n->adopting, n->taken, n->left);
            inbox_from_start(&n->inbox);
        }
        if (m->kind == NODE_LEAVE) {
            n->leaving = true;
            cluster_stop(n->rules, node_now());
        }
    }
    return on;
}

static void *node_main(void *arg)
{
    struct node *n = arg;
    while (take_messages(n)) {
        struct why why = { "" };
        (void)!iterate(n, &why);
        if (inbox_due(n) <= clock_boot_ms())
            inbox_look(n);
        if (news_due(n) <= clock_boot_ms())
            news_look(n);
        mailbox_wait(n->in, wait_ms(n));
    }
    return NULL;
}

static void rules_make(struct node *n, int64_t node, int64_t epoch)
{
    const struct cluster_config config = { .single = !n->shared };
    n->rules = cluster_new(&config);
    cluster_joined(n->rules, node_now(), NULL, node, epoch);
}

enum err node_start(struct node *n, struct store *store, const char *address,
                    const struct node_hooks *hooks, struct why *why)
{
    if (!n || !store->ops->cluster)
        return OK;
    int64_t node, epoch;
    store->ops->cluster->life(store, &node, &epoch);
    n->options = (struct store_options){
        .node = node, .epoch = epoch, .life = epoch, .password = n->password, .shared = n->shared
    };
    n->address = mem_dup(address);
    n->hooks = *hooks;
    epoch_write(n, epoch);
    log_info("node", "%s is node %lld of this database, epoch %lld", n->name, (long long)node,
             (long long)epoch);
    rules_make(n, node, epoch);
    enum err err = iterate(n, why); /* rights and limits of connections show at the start */
    if (err)
        return err;
    n->in = mailbox_new();
    n->started = true;
    if (thread_start(&n->thread, "peal-node", 0, node_main, n))
        abort(); /* no threads at start: nothing can run */
    return OK;
}

void node_adopted(struct node *n, int64_t taken, bool left)
{
    n->taken = taken;
    n->left = left;
    n->adopted.kind = NODE_ADOPTED;
    mailbox_send(n->in, &n->adopted);
}

void node_leave(struct node *n)
{
    if (!n || !n->started)
        return;
    n->leave.kind = NODE_LEAVE;
    mailbox_send(n->in, &n->leave);
}

void node_free(struct node *n)
{
    if (!n)
        return;
    if (n->started) {
        n->stop.kind = NODE_STOP;
        mailbox_send(n->in, &n->stop);
        pthread_join(n->thread, NULL);
    }
    if (n->in)
        mailbox_free(n->in);
    cluster_free(n->rules);
    inbox_rows_done(&n->came);
    news_rows_done(&n->said);
    store_close(n->store);
    if (n->fd >= 0)
        close(n->fd);
    pthread_mutex_destroy(&n->lock);
    if (n->password)
        explicit_bzero(n->password, strlen(n->password));
    free(n->password);
    free(n->db);
    free(n->address);
    free(n);
}
