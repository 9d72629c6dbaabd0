/* SPDX-License-Identifier: Apache-2.0 */
/* One batch at a time. A batch that fails stays as it is and is tried again, so that memory never
 * believes what the database does not have. */
#include "server/writer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "ledger/alarms.h"
#include "ledger/retention.h"
#include "ledger/txn.h"
#include "server/ages.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define HOUSE_MS 1000    /* is there housekeeping to do? */
#define HOUSE_MORE_MS 20 /* the next step of what takes several */
#define HOUSE_US 3000    /* a step begins no further part after that */
#define HOUSE_FAILED_MS 60000
#define PURGE_EVERY_MS 60000
#define PURGE_ROWS 500   /* rows of deleted jobs in one step */
#define PURGE_ALARMS 100 /* with their deliveries */
#define PURGE_IDEM 100   /* requests with a key */
#define RETRY_MIN_MS 50
#define RETRY_MAX_MS 1000
#define RETRY_REFUSED_MS 5000 /* of what people must mend first: rights, tables */
#define CONFLICT_MIN_MS 5
#define CONFLICT_MAX_MS 50
#define CONFLICTS_MANY 10  /* in a minute: the log says so */
#define CONFLICTS_STUCK 10 /* of a batch, one after the other: it does not get through */
#define SAY_AGAIN_MS 60000

enum { MESSAGE_BATCH, MESSAGE_STOP };

struct writer {
    struct store *store;
    struct planner *planner;
    struct figures *figures;
    struct mailbox *in, *done;
    int done_kind;
    struct metrics *metrics;
    const struct node *node; /* says whether housekeeping is this server's */
    pthread_t thread;
    bool joined;
    _Atomic bool stopping;
    pthread_mutex_t lock; /* guards trouble */
    char trouble[512];
    _Atomic bool in_trouble;
    struct message stop;
    struct retention *retention;
    struct ledger_entry house; /* housekeeping as a part of a batch's transaction */
    int64_t house_ms;          /* boot: the next step */
    int64_t purge_ms;          /* boot: the next look at deleted jobs and old sessions */
    int64_t audit_keep_ms;
    bool more;            /* the last step has not done all */
    int64_t conflicts_ms; /* boot: when the minute began in which they are counted */
    int conflicts;
    enum err said;   /* the class of failure that the log has told of, */
    int64_t said_ms; /* and when (boot) */
};

static void set_trouble(struct writer *w, const struct batch *b)
{
    pthread_mutex_lock(&w->lock);
    if (b->err)
        snprintf(w->trouble, sizeof(w->trouble), "%s: %.400s", err_text(b->err), b->why.text);
    else
        w->trouble[0] = '\0';
    w->in_trouble = b->err != OK;
    pthread_mutex_unlock(&w->lock);
}

bool writer_in_trouble(const struct writer *w)
{
    return w->in_trouble;
}

bool writer_trouble(struct writer *w, char *text, size_t size)
{
    pthread_mutex_lock(&w->lock);
    bool any = w->trouble[0];
    snprintf(text, size, "%s", w->trouble);
    pthread_mutex_unlock(&w->lock);
    return any;
}

static void count(struct writer *w, const struct batch *b, int64_t us)
{
    struct metrics *m = w->metrics;
    atomic_fetch_add(&m->batches, 1);
    histogram_add(&m->phase[METRIC_COMMIT], us);
    atomic_fetch_add(&m->planned_jobs, b->njobs_planned);
    if (b->plan_until_ms)
        histogram_add(&m->phase[METRIC_PLAN], b->plan_us);
    for (int i = 0; i < b->nchanges; i++)
        if (b->changes[i].what & CHANGE_FINISH)
            histogram_add(&m->phase[METRIC_RUN], b->changes[i].took_ms * 1000);
}

/* Conflicts are the daily bread of a shared database: only many of them are worth a line. */
static void met_another(struct writer *w, const struct why *why)
{
    int64_t now_ms = clock_boot_ms();
    atomic_fetch_add(&w->metrics->db_conflicts, 1);
    if (now_ms >= w->conflicts_ms + 60000) {
        w->conflicts_ms = now_ms;
        w->conflicts = 0;
    }
    if (++w->conflicts == CONFLICTS_MANY)
        log_warn("writer", "%d transactions of the last minute met others and were repeated: %s",
                 CONFLICTS_MANY, why->text);
}

/* ---- housekeeping ------------------------------------------------------------------------------
 * A step of a few milliseconds: in the next batch's transaction, so that it costs no commit of its
 * own, or in one of its own while there is no batch. */

static enum err purge(struct writer *w, bool *ret_more, struct why *why)
{
    const struct store_ops *ops = w->store->ops;
    enum err err = ops->runs->purge(w->store, PURGE_ROWS, ret_more, why);
    if (!err && !*ret_more)
        err = ops->alarms->alarms_purge(w->store, clock_wall_ms() - ALARMS_KEPT_MS, PURGE_ALARMS,
                                        ret_more, why);
    if (!err && !*ret_more)
        err = ops->rules->incidents_purge(w->store, clock_wall_ms() - INCIDENTS_KEPT_MS,
                                          PURGE_ALARMS, ret_more, why);
    if (err || *ret_more)
        return err;
    w->purge_ms = clock_boot_ms() + PURGE_EVERY_MS;
    if (w->audit_keep_ms > 0)
        err =
            ops->users->audit_expire(w->store, clock_wall_ms() - w->audit_keep_ms, PURGE_ROWS, why);
    if (!err)
        err = ops->users->idem_expire(w->store, clock_wall_ms() - IDEM_KEPT_MS, PURGE_IDEM, why);
    return err ? err : ops->users->sessions_expire(w->store, clock_wall_ms(), why);
}

static enum err house_run(struct store *s, void *arg, struct why *why)
{
    struct writer *w = arg;
    int64_t boot_ms = clock_boot_ms(), wall_ms = clock_wall_ms();
    int64_t end_us = clock_boot_us() + HOUSE_US;
    bool more = false, held = ages_held(w->metrics, NULL);
    retention_hold(w->retention, held);
    enum err err = !held && boot_ms >= w->purge_ms ? purge(w, &more, why) : OK;
    w->more = more;
    do {
        more = false;
        if (!err && clock_boot_us() < end_us)
            err = retention_step(w->retention, s, wall_ms, boot_ms, &more, why);
    } while (!err && more && clock_boot_us() < end_us);
    w->more = w->more || more;
    return err;
}

/* Of a step whose transaction was not committed, for whatever reason. */
static void house_undone(struct writer *w)
{
    retention_lost(w->retention);
    w->purge_ms = 0;
    w->more = false;
    w->house_ms = clock_boot_ms() + HOUSE_MS;
}

static void house_done(void *arg, enum err err, const struct why *why)
{
    struct writer *w = arg;
    int64_t boot_ms = clock_boot_ms();
    if (err) {
        house_undone(w);
        log_warn("writer", "housekeeping failed, will be tried again: %s", why->text);
    } else {
        retention_kept(w->retention, boot_ms);
        for (int i = 0; i < GONE_COUNT; i++)
            atomic_store(&w->metrics->log_gone[i],
                         retention_count(w->retention, (enum retention_gone)i));
    }
    w->house_ms = boot_ms + (w->more ? HOUSE_MORE_MS : HOUSE_MS);
}

static bool house_due(struct writer *w)
{
    int64_t boot_ms = clock_boot_ms();
    if (boot_ms < w->house_ms)
        return false;
    bool held = ages_held(w->metrics, NULL);
    retention_hold(w->retention, held);
    if (!node_first(w->node))
        w->more = false;
    else if (w->more || (!held && boot_ms >= w->purge_ms) ||
             retention_due(w->retention, w->store, boot_ms))
        return true;
    w->house_ms = boot_ms + HOUSE_MS;
    return false;
}

/* Ask what became of a commit until it is known, or the writer is told to stop. */
static enum err housekeeping_settle(struct writer *w, struct why *why)
{
    bool done = false;
    enum err err = ERR_UNHEARD;
    w->store->ops->txn->rollback(w->store);
    while (err && err != ERR_FENCED && !w->stopping) {
        why_clear(why);
        err = w->store->ops->txn->outcome(w->store, &done, why);
        if (err && err != ERR_FENCED)
            mailbox_wait(w->in, RETRY_MIN_MS);
    }
    if (!err && !done)
        why_set(why, "the connection was lost before the commit");
    return err ? err : done ? OK : ERR_STORE;
}

static void housekeeping(struct writer *w)
{
    const struct store_txn *txn = w->store->ops->txn;
    struct why why = { "" };
    if (!house_due(w))
        return;
    enum err err = txn->begin(w->store, &why);
    if (!err)
        err = house_run(w->store, w, &why);
    if (!err)
        err = txn->commit(w->store, NULL, &why);
    if (err == ERR_UNHEARD)
        err = housekeeping_settle(w, &why);
    if (err)
        txn->rollback(w->store);
    if (err == ERR_CONFLICT) {
        met_another(w, &why);
        house_undone(w);
    } else {
        house_done(w, err, &why);
    }
}

/* ---- batches that fail -------------------------------------------------------------------------
 */

/* A class of failure is said once, and again each minute while it lasts. */
static void say_failed(struct writer *w, const struct batch *b)
{
    int64_t now_ms = clock_boot_ms();
    if (w->said == b->err && now_ms < w->said_ms + SAY_AGAIN_MS)
        return;
    w->said = b->err;
    w->said_ms = now_ms;
    log_error("writer", "cannot commit, trying again: %s (%s)", b->why.text, err_text(b->err));
}

/* Between half of it and all of it, so that servers that lost the same database do not come back in
 * step. */
static int jitter(int ms)
{
    return ms / 2 + (int)((uint64_t)clock_boot_us() * 2654435761u % 1000 * (uint64_t)ms / 2000);
}

/* How long to wait after the nth failure of a batch in a row, from 1 on. */
static int pause_of(enum err err, int n)
{
    int ms = err == ERR_CONFLICT ? CONFLICT_MIN_MS : RETRY_MIN_MS;
    int max = err == ERR_CONFLICT ? CONFLICT_MAX_MS : RETRY_MAX_MS;
    if (err == ERR_INVALID)
        return RETRY_REFUSED_MS;
    if (err == ERR_CONFLICT && n == 1)
        return 0;
    for (int i = 1; i < n && ms < max; i++)
        ms *= 2;
    return jitter(ms < max ? ms : max);
}

/* Report the failure and wait; woken early only by the request to stop. */
static void failed(struct writer *w, const struct batch *b, int n)
{
    atomic_fetch_add(&w->metrics->batch_errors, 1);
    atomic_fetch_add(&w->metrics->db_unheard, b->err == ERR_UNHEARD);
    if (b->err == ERR_CONFLICT)
        met_another(w, &b->why);
    else
        say_failed(w, b);
    int ms = pause_of(b->err, n);
    if (ms && !w->stopping)
        mailbox_wait(w->in, ms);
}

/* ---- batches -----------------------------------------------------------------------------------
 */

/* Whether the nth failure of a batch in a row makes /readyz red and requests refused. A transaction
 * that has met another one is made again within milliseconds, and requests wait for that. */
static bool is_trouble(enum err err, int n)
{
    return err != ERR_CONFLICT || n >= CONFLICTS_STUCK;
}

/* Run the batch; while it is not known whether it was committed, ask. */
static void run(struct writer *w, struct batch *b, struct list *writes)
{
    b->waited_ms = clock_boot_ms() - b->taken_boot_ms;
    txn_run(w->store, w->planner, w->figures, b, writes);
    for (int n = 1; b->err == ERR_UNHEARD && !w->stopping; n++) {
        set_trouble(w, b);
        failed(w, b, n);
        txn_settle(w->store, w->planner, w->figures, b);
    }
}

/* The batch, and what housekeeping there is to do, in one transaction. */
static void transact(struct writer *w, struct batch *b, struct list *writes)
{
    bool house = house_due(w);
    w->house.err = OK;
    if (house)
        list_push(writes, &w->house.node);
    run(w, b, writes);
    if (!house)
        return;
    list_remove(&w->house.node);
    if (b->err == ERR_CONFLICT || (b->err && !w->house.err)) { /* which failed() tells of */
        house_undone(w);
        return;
    }
    house_done(w, w->house.err, &w->house.why);
    if (w->house.err) /* what cannot be deleted does not keep batches from their commits */
        w->house_ms = clock_boot_ms() + HOUSE_FAILED_MS;
}

/* Until it is on disk, or never can be, or the writer is told to stop. */
static void do_batch(struct writer *w, struct batch *b, struct list *writes)
{
    for (int n = 1;; n++) {
        int64_t start = clock_boot_us();
        transact(w, b, writes);
        if (is_trouble(b->err, n))
            set_trouble(w, b);
        if (!b->err)
            count(w, b, clock_boot_us() - start);
        if (b->err == ERR_FENCED)
            atomic_fetch_add(&w->metrics->db_lost, (uint64_t)w->store->lost_commits);
        if (!b->err || b->err == ERR_FENCED)
            break;
        failed(w, b, n);
        if (w->stopping)
            return;
    }
    if (!b->err && w->said) {
        log_info("writer", "the database takes writes again");
        w->said = OK;
    }
}

static void *writer_main(void *arg)
{
    struct writer *w = arg;
    struct list incoming;
    list_init(&incoming);
    for (;;) {
        if (!mailbox_take(w->in, &incoming)) {
            housekeeping(w);
            mailbox_wait(w->in, w->more ? HOUSE_MORE_MS : HOUSE_MS);
            continue;
        }
        for (struct list_node *n; (n = list_pop(&incoming));) {
            struct message *l = container_of(n, struct message, node);
            if (l->kind == MESSAGE_STOP)
                return NULL;
            struct batch_message *m = container_of(l, struct batch_message, message);
            do_batch(w, m->batch, &m->writes);
            l->kind = w->done_kind;
            mailbox_send(w->done, l);
        }
    }
}

struct writer *writer_new(struct store *store, struct planner *planner, struct figures *figures,
                          const struct retention_rules *rules, struct mailbox *done, int done_kind,
                          struct metrics *metrics, const struct node *node)
{
    static const struct ledger_write house = { house_run, house_done };
    struct writer *w = mem_new(sizeof(*w));
    w->store = store;
    w->planner = planner;
    w->figures = figures;
    w->in = mailbox_new();
    w->done = done;
    w->done_kind = done_kind;
    w->metrics = metrics;
    w->node = node;
    w->retention = retention_new(rules);
    w->audit_keep_ms = rules->audit_keep_ms;
    w->house = (struct ledger_entry){ .write = &house, .arg = w };
    w->house_ms = clock_boot_ms() + HOUSE_MS;
    pthread_mutex_init(&w->lock, NULL);
    if (thread_start(&w->thread, "peal-writer", 0, writer_main, w))
        abort(); /* no threads at start: nothing can run */
    return w;
}

void writer_give(struct writer *w, struct batch_message *incoming)
{
    incoming->message.kind = MESSAGE_BATCH;
    mailbox_send(w->in, &incoming->message);
}

void writer_stop(struct writer *w)
{
    if (w->joined)
        return;
    w->stopping = true;
    w->stop.kind = MESSAGE_STOP;
    mailbox_send(w->in, &w->stop);
    pthread_join(w->thread, NULL);
    w->joined = true;
}

void writer_free(struct writer *w)
{
    if (!w)
        return;
    writer_stop(w);
    mailbox_free(w->in);
    store_close(w->store);
    planner_free(w->planner);
    retention_free(w->retention);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
