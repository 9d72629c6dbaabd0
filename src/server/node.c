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
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "base/thread.h"
#include "sched/node.h"
#include "server/node_lock.h"
#include "store/url.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MAX_MS 60000
#define ROUND_TRIP_MS 100 /* a slower answer says nothing about clocks */
#define STEP_TRIP_MS 1000 /* the same while a step is looked at, which must not stay open */
#define SKEW_MS 250       /* more is told */
#define COUNT_EVERY_MS 30000
#define COUNT_AGAIN_MS 1000 /* until it is known */
#define ADOPT_ROWS 1000     /* of another node, in one transaction */
#define ASKED_GAP_MS 5      /* between two looks that others have asked for */

struct node {
    char *db, *password, *address;
    char name[NODE_NAME_SIZE];
    struct node_lock folder;
    struct store *store; /* of the beat; NULL: not open */
    struct store_options options;
    struct metrics *metrics;
    struct cluster *rules;    /* of the thread, once there is one */
    bool skewed, silent;      /* has been told */
    bool shared;              /* with other servers */
    _Atomic uint64_t others;  /* node_others */
    _Atomic int64_t lease_ms; /* boot: until then runs may be sent */
    _Atomic int64_t count_ms; /* boot: when the jobs of its home are to be counted */
    int64_t settled_ms;       /* boot: by then the others have moved jobs here, if they do */
    _Atomic int64_t first_ms; /* boot: until then it is the first one; INT64_MIN: it is not */
    bool out;                 /* this life is over: nothing is looked at any more */
    struct node_hooks hooks;
    pthread_mutex_t lock;
    struct node_says says; /* under the lock, as this: */
    struct inbox_rows came;
    struct news_rows said;
    struct live_nodes lives; /* the others, as of the last look */
    bool moved;              /* since they were taken */
    struct inbox inbox;      /* of the thread, and this: */
    struct news news;
    bool asked;          /* for a look at once, from: */
    int64_t asked_ms;    /* boot: when it may be */
    _Atomic bool nudged; /* such a message is on its way */
    struct message nudge;
    _Atomic bool stepped; /* the same, of a step of the clock */
    struct message step;
    struct cluster_action adopting;
    struct message adopted; /* the answer: */
    int64_t taken;
    bool left;
    struct cluster_action sweeping; /* and of this one: */
    struct home_row sweep;          /* where its next slice begins */
    struct message swept;
    bool swept_left;
    struct mailbox *in;
    struct message leave, stop;
    pthread_t thread;
    bool started, leaving;
};

enum node_message { NODE_LEAVE, NODE_STOP, NODE_ADOPTED, NODE_NUDGE, NODE_SWEPT, NODE_STEPPED };

static struct now node_now(void)
{
    return (struct now){ .wall_ms = clock_wall_ms(), .boot_ms = clock_boot_ms() };
}

/* ---- life ------------------------------------------------------------------------------------ */

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
    n->folder.fd = -1;
    n->shared = shared;
    n->says.lease_ms = n->says.watermark_ms = INT64_MIN;
    atomic_init(&n->lease_ms, INT64_MIN);
    atomic_init(&n->first_ms, INT64_MIN);
    metrics->shared = shared;
    atomic_init(&metrics->jobs, -1);
    n->settled_ms = clock_boot_ms() + COUNT_EVERY_MS;
    pthread_mutex_init(&n->lock, NULL);
    n->db = mem_dup(db);
    n->password = mem_dup(password);
    n->metrics = metrics;
    text_copy(n->name, sizeof(n->name), slice_text(name));
    enum err err = node_lock_open(data, db, &n->folder, why);
    if (err) {
        node_free(n);
        return err;
    }
    atomic_store(&metrics->db_lost, (uint64_t)n->folder.lost);
    *ret = n;
    return OK;
}

int64_t node_gone_epoch(const struct node *n)
{
    return n ? n->folder.epoch : 0;
}

bool node_lost_commits(const struct node *n)
{
    return n && n->folder.lost;
}

/* For the next process of the folder: this one ends, and nobody will ask it. */
static void lost_remember(const struct node *n)
{
    int64_t lost = (int64_t)atomic_load(&n->metrics->db_lost) - n->folder.lost;
    if (lost > 0 && n->options.epoch)
        node_lock_write(&n->folder, n->options.epoch, lost);
}

/* ---- the beat -------------------------------------------------------------------------------- */

/* The clock of the database is not used for anything here, but people compare its times with ours,
 * and the next server may stand on another machine. */
static void clock_look(struct node *n, int64_t before_us, int64_t after_us, int64_t machine_ms,
                       int64_t clock_ms)
{
    int64_t trip_us = after_us - before_us, step_ms = clock_step_ms();
    int64_t max_ms = step_ms ? STEP_TRIP_MS : ROUND_TRIP_MS;
    if (clock_ms < 0 || trip_us > max_ms * 1000)
        return;
    int64_t skew_ms = clock_ms - (machine_ms - trip_us / 2000);
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
                           .jobs = atomic_load_explicit(&n->metrics->jobs, memory_order_relaxed),
                           .weight = a->weight,
                           .draining = a->draining,
                           .shared = n->shared,
                           .address = n->address };
    bool ours = false;
    int64_t clock_ms = -1;
    enum err err = connected(n, why);
    if (err)
        return err;
    int64_t before_us = clock_boot_us();
    err = n->store->ops->cluster->beat(n->store, &b, &ours, &clock_ms, why);
    if (err)
        return err;
    if (!ours) {
        atomic_fetch_add(&n->metrics->db_lost, (uint64_t)n->store->lost_commits);
        return ERR_FENCED;
    }
    int64_t after_us = clock_boot_us();
    clock_look(n, before_us, after_us, clock_machine_ms(), clock_ms);
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
    struct live_nodes lives;
};

static bool take_life(void *ctx, const struct life_record *r)
{
    struct looked *l = ctx;
    bool own = r->node == l->n->options.node;
    if (!own) /* a life's number begins anew */
        l->others += ((uint64_t)r->epoch << 40) + (uint64_t)r->changes;
    if (!own && !r->ended)
        live_nodes_add(&l->lives, r->node, r->epoch, r->address);
    l->rows[l->count++] = (struct cluster_row){ .node = r->node,
                                                .epoch = r->epoch,
                                                .beat = r->beat,
                                                .watermark_ms = r->watermark_ms,
                                                .heir = r->heir,
                                                .skew_ms = r->skew_ms,
                                                .weight = r->weight,
                                                .ended = r->ended,
                                                .clean = r->clean,
                                                .draining = r->draining,
                                                .asked = r->asked,
                                                .namesake = own };
    return l->count < CLUSTER_MAX;
}

/* What the scheduler's thread is to know of it. */
static void looked(struct node *n, struct looked *l)
{
    bool news = atomic_exchange_explicit(&n->others, l->others, memory_order_relaxed) != l->others;
    pthread_mutex_lock(&n->lock);
    if (!live_nodes_same(&n->lives, &l->lives)) {
        struct live_nodes before = n->lives;
        n->lives = l->lives;
        l->lives = before;
        n->moved = news = true;
    }
    pthread_mutex_unlock(&n->lock);
    if (news && n->started)
        n->hooks.woken(n->hooks.arg);
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
        looked(n, &l);
    live_nodes_done(&l.lives);
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

bool node_lives(struct node *n, struct live_nodes *ret)
{
    *ret = (struct live_nodes){ NULL, 0 };
    pthread_mutex_lock(&n->lock);
    bool moved = n->moved;
    if (moved)
        live_nodes_copy(ret, &n->lives);
    n->moved = false;
    pthread_mutex_unlock(&n->lock);
    return moved;
}

/* ---- what the scheduler is told -------------------------------------------------------------- */

/* Those that are new since the last time: claim: it shall look for what is due. */
struct wants {
    bool claim, sweep;
    struct cluster_action adopt; /* epoch 0: none */
};

static void publish(struct node *n, const struct wants *w)
{
    int64_t lease_ms = cluster_lease_ms(n->rules), watermark_ms = cluster_watermark_ms(n->rules);
    pthread_mutex_lock(&n->lock);
    struct node_says *s = &n->says;
    atomic_store(&n->lease_ms, lease_ms);
    atomic_store(&n->first_ms, cluster_first(n->rules) ? lease_ms : INT64_MIN);
    bool wake = w->claim || w->sweep || w->adopt.epoch || s->lease_ms != lease_ms ||
                s->watermark_ms != watermark_ms;
    s->lease_ms = lease_ms;
    s->watermark_ms = watermark_ms;
    cluster_share(n->rules, &s->share);
    s->claim |= w->claim;
    if (w->adopt.epoch)
        s->adopt =
            (struct adoption){ w->adopt.epoch, w->adopt.watermark_ms, w->adopt.clean, ADOPT_ROWS };
    if (w->sweep) {
        s->sweeps = true;
        s->sweep = n->sweep;
    }
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
    n->says.sweeps = false;
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
 * when the server stops. What is left is a wrong clock, which may show at the start already: then
 * the error is what the start fails with. */
static enum err handover(struct node *n, struct why *why)
{
    if (n->leaving)
        return OK;
    why_set(why, "this machine's clock is more than 1 s from the database's, with which other "
                 "servers agree: let it follow a time server");
    lost(n, why);
    return ERR_INVALID;
}

/* What belongs to the scheduler is noted for it. */
static enum err act(struct node *n, const struct cluster_action *a, struct wants *w,
                    struct why *why)
{
    switch (a->kind) {
    case CLUSTER_BEAT:
        return beat(n, a, why);
    case CLUSTER_LOOK:
    case CLUSTER_ORPHANS:
        look(n, a);
        return OK;
    case CLUSTER_DECLARE:
        declare(n, a);
        return OK;
    case CLUSTER_ADOPT:
        w->adopt = n->adopting = *a;
        return OK;
    case CLUSTER_SWEEP:
        n->sweeping = *a;
        if (a->anew)
            n->sweep = (struct home_row){ 0, INT64_MIN, INT64_MIN };
        w->sweep = true;
        return OK;
    case CLUSTER_CLAIM:
        cluster_claimed(n->rules, node_now(), a);
        w->claim = true;
        return OK;
    case CLUSTER_HANDOVER:
        return handover(n, why);
    case CLUSTER_FORGET:
        lost(n, why);
        return OK;
    default:
        return OK;
    }
}

/* What is due now. The error is that of a start: a beat that was not taken, or a wrong clock. */
static enum err iterate(struct node *n, struct why *why)
{
    struct cluster_action a;
    enum err err = OK;
    struct wants w = { false };
    if (n->shared)
        cluster_load(n->rules, node_now(),
                     atomic_load_explicit(&n->metrics->open, memory_order_relaxed), SCHED_LIVE_MAX);
    if (!n->out && cluster_next(n->rules) <= clock_boot_ms())
        cluster_tick(n->rules, node_now());
    while (!n->out && cluster_pop(n->rules, &a)) {
        enum err one = act(n, &a, &w, why);
        err = one ? one : err;
    }
    bool follow = cluster_follow(n->rules);
    if (follow)
        clock_follow();
    publish(n, &w);
    if (follow && n->started)
        n->hooks.woken(n->hooks.arg);
    return err;
}

static int wait_ms(const struct node *n)
{
    int64_t next_ms = n->out ? INT64_MAX : cluster_next(n->rules), inbox_ms = inbox_due(n);
    if (inbox_ms < next_ms)
        next_ms = inbox_ms;
    if (news_due(n) < next_ms)
        next_ms = news_due(n);
    if (n->asked && n->asked_ms < next_ms)
        next_ms = n->asked_ms;
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
        int kind = container_of(l, struct message, node)->kind; /* it may be sent again below */
        on = on && kind != NODE_STOP;
        if (kind == NODE_ADOPTED) {
            cluster_adopted(n->rules, node_now(), &n->adopting, n->taken, n->left);
            inbox_from_start(&n->inbox);
        }
        if (kind == NODE_SWEPT)
            cluster_swept(n->rules, node_now(), &n->sweeping, n->swept_left);
        if (kind == NODE_NUDGE) {
            n->asked = n->shared && !n->out;
            atomic_store(&n->nudged, false);
        }
        if (kind == NODE_STEPPED) {
            atomic_store(&n->stepped, false);
            cluster_stepped(n->rules, node_now());
        }
        if (kind == NODE_LEAVE) {
            n->leaving = true;
            cluster_stop(n->rules, node_now());
        }
    }
    return on;
}

/* Another node says that there is something new. Whatever that is, it is found by looking. */
static void look_at_once(struct node *n)
{
    n->asked = false;
    n->asked_ms = clock_boot_ms() + ASKED_GAP_MS;
    atomic_fetch_add_explicit(&n->metrics->node_looks, 1, memory_order_relaxed);
    cluster_look(n->rules, node_now());
    inbox_now(&n->inbox);
    news_now(&n->news);
}

static void *node_main(void *arg)
{
    struct node *n = arg;
    while (take_messages(n)) {
        struct why why = { "" };
        if (n->asked && n->asked_ms <= clock_boot_ms())
            look_at_once(n);
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
    node_lock_write(&n->folder, epoch, 0);
    log_info("node", "%s is node %lld of this database, epoch %lld", n->name, (long long)node,
             (long long)epoch);
    rules_make(n, node, epoch);
    if (n->shared)
        clock_hold();
    enum err err = iterate(n, why); /* rights, limits of connections and the clock show here */
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

void node_nudge(struct node *n)
{
    if (!node_shared(n) || !n->started || atomic_exchange(&n->nudged, true))
        return;
    n->nudge.kind = NODE_NUDGE;
    mailbox_send(n->in, &n->nudge);
}

void node_stepped(struct node *n)
{
    if (!node_shared(n) || !n->started || atomic_exchange(&n->stepped, true))
        return;
    pthread_mutex_lock(&n->lock);
    n->says.lease_ms = INT64_MIN; /* until the thread says so itself */
    atomic_store(&n->lease_ms, INT64_MIN);
    atomic_store(&n->first_ms, INT64_MIN);
    pthread_mutex_unlock(&n->lock);
    n->step.kind = NODE_STEPPED;
    mailbox_send(n->in, &n->step);
}

void node_swept(struct node *n, const struct home_row *next, bool left)
{
    n->sweep = *next;
    n->swept_left = left;
    if (!left)
        atomic_store(&n->count_ms, 0);
    n->swept.kind = NODE_SWEPT;
    mailbox_send(n->in, &n->swept);
}

/* After a walk at once: that is when the number changes most. */
bool node_counts(const struct node *n)
{
    return node_shared(n) && clock_boot_ms() >= atomic_load(&n->count_ms);
}

/* None at first says nothing: the others have yet to move them here. */
void node_count(struct node *n, struct store *reader)
{
    int64_t jobs = -1;
    struct why why = { "" };
    bool counted = atomic_load_explicit(&n->metrics->jobs, memory_order_relaxed) >= 0;
    if (reader->ops->cluster->homes_count(reader, n->options.node, &jobs, &why))
        log_debug("node", "cannot count the jobs of this node: %s", why.text);
    if (!jobs && !counted && clock_boot_ms() < n->settled_ms)
        jobs = -1;
    atomic_store_explicit(&n->metrics->jobs, jobs, memory_order_relaxed);
    atomic_store(&n->count_ms, clock_boot_ms() + (jobs < 0 ? COUNT_AGAIN_MS : COUNT_EVERY_MS));
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
    live_nodes_done(&n->lives);
    store_close(n->store);
    if (n->folder.fd >= 0)
        lost_remember(n);
    node_lock_close(&n->folder);
    pthread_mutex_destroy(&n->lock);
    if (n->password)
        explicit_bzero(n->password, strlen(n->password));
    free(n->password);
    free(n->db);
    free(n->address);
    free(n);
}
