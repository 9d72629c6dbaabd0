/* SPDX-License-Identifier: Apache-2.0 */
/* The thread: takes what has gathered, makes one transaction of it, answers, and begins again; so a
 * group grows with the time that a commit takes, and no change waits for a timer.
 *
 * A group that the disk does not take is halved until the change that does not fit stands alone:
 * changes that fit are written, and one that is too large for a nearly full disk is the only one
 * refused. What may not be refused (RESULT, TELL, FORGET) is held, and so is every later one of its
 * kind: they are written in their order when the disk has room. ACCEPT and START pass them, which
 * harms nothing, since a run's START is never sent after its RESULT; so they are answered at once,
 * also with an error.
 *
 * Pruning rides in the group's transaction, a slice at a time; the log is checkpointed after a
 * group has been answered, sooner when nothing waits. */
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "executor/journal/run_journal_db.h"
#include <stdlib.h>

enum {
    GROUP_OPS = 4096,
    GROUP_BYTES = 8 * 1024 * 1024,
    SMALL = 4096, /* bytes: when a change of this size does not fit, none will */
    RETRY_MIN_MS = 50,
    RETRY_MAX_MS = 1000,
    HALVE_MS = 1000, /* how long a group is halved before all that is left of it is refused */
    STOP_MS = 3000,  /* how long stopping waits for a disk */
    PRUNE_SLICE = 2000,
    PRUNE_MS = 100,        /* between slices while there is work */
    PRUNE_IDLE_MS = 10000, /* and while there is none to do */
    WAL_IDLE_FRAMES = 500,
    WAL_MAX_FRAMES = 4000, /* 16 MiB */
};

#define HELD ERR_FULL /* op->err of one that waits; not seen outside this file */

struct run_journal {
    struct rdb *db;
    struct mailbox *in, *answers;
    struct list outbox; /* the loop's: not handed over yet */
    struct log_sink *log;
    int64_t keep, keep_ms, first_seq;
    pthread_t thread;
    struct message stop;

    /* the thread's own */
    struct list incoming; /* taken, not looked at yet */
    struct list held;     /* RESULT, TELL, FORGET that the disk has not taken yet, in order */
    size_t nheld, waited; /* now; at the most since the disk was full */
    struct run_journal_op *group[GROUP_OPS];
    size_t n;
    bool stopping;
    bool refused;           /* something of this group was not written */
    int64_t halve_until_ms; /* for this group: its changes wait for an answer no longer */
    bool hopeless;          /* a small change alone was refused: do not try the rest of the group */
    bool holding;      /* one of this group or an earlier one is held: so must be those after it */
    enum err trouble;  /* what the disk said last; OK: it works */
    struct why why;    /* about it */
    bool told_trouble; /* it stands in the log */
    int64_t trouble_ms, retry_ms, pause_ms; /* since when; when next; boot time */
    int64_t prune_ms, checkpoint_ms;        /* not before */
};

static bool may_wait(const struct run_journal_op *op)
{
    return op->what == RUN_JOURNAL_RESULT || op->what == RUN_JOURNAL_FORGET ||
           op->what == RUN_JOURNAL_TELL;
}

static size_t bytes_of(const struct run_journal_op *op)
{
    switch (op->what) {
    case RUN_JOURNAL_ACCEPT:
        return 64 + op->row.request.n;
    case RUN_JOURNAL_RESULT:
        return 64 + op->row.msg.n;
    case RUN_JOURNAL_TELL:
        return 64 * op->nseqs;
    default:
        return 64;
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void pruned(struct run_journal *s, int n, int64_t now)
{
    s->prune_ms = now + (n >= PRUNE_SLICE / 2 ? PRUNE_MS : PRUNE_IDLE_MS);
}

/* In a transaction. */
static enum err prune(struct run_journal *s, size_t told, struct why *why)
{
    int64_t now = clock_boot_ms();
    int64_t before = INT64_MIN;
    int n = 0;
    int most = told > PRUNE_SLICE / 2 ? 2 * (int)told : PRUNE_SLICE;
    bool due = now >= s->prune_ms;
    if (!due && told == 0)
        return OK;
    if (due)
        before = clock_wall_ms() - s->keep_ms;
    enum err err = rdb_prune(s->db, s->keep, before, most, &n, why);
    if (!err && due)
        pruned(s, n, now);
    return err;
}

/* What concerns one change alone stays with it; the first other error ends the transaction. */
static enum err apply_all(struct run_journal *s, struct run_journal_op *const *ops, size_t n,
                          size_t *ret_told, struct why *why)
{
    for (size_t i = 0; i < n; i++) {
        struct run_journal_op *op = ops[i];
        struct why own;
        own.text[0] = '\0';
        if (s->holding && may_wait(op)) {
            op->err = HELD;
            continue;
        }
        op->err = rdb_apply(s->db, op, &own);
        if (rdb_is_trouble(op->err)) {
            why_set(why, "%s", own.text);
            return op->err;
        }
        if (op->err)
            op->why = own;
        if (op->what == RUN_JOURNAL_TELL)
            *ret_told += op->nseqs;
    }
    return OK;
}

static enum err write_once(struct run_journal *s, struct run_journal_op *const *ops, size_t n,
                           struct why *why)
{
    size_t told = 0;
    enum err err = rdb_begin(s->db, why);
    if (!err)
        err = apply_all(s, ops, n, &told, why);
    if (!err && !s->trouble)
        err = prune(s, told, why);
    if (!err)
        err = rdb_commit(s->db, why);
    if (err)
        rdb_rollback(s->db);
    return err;
}

static void works_again(struct run_journal *s)
{
    int64_t now = clock_boot_ms();
    if (s->told_trouble)
        log_info("journal", "the journal can be written again, after %lld ms; %zu changes waited",
                 (long long)(now - s->trouble_ms), s->waited);
    s->waited = 0;
    s->trouble = OK;
    s->told_trouble = false;
    s->retry_ms = now;
    s->pause_ms = RETRY_MIN_MS;
}

static void in_trouble(struct run_journal *s, enum err err, const struct why *why)
{
    int64_t now = clock_boot_ms();
    if (!s->trouble) {
        s->trouble_ms = now;
        s->pause_ms = RETRY_MIN_MS;
        s->retry_ms = now + RETRY_MIN_MS;
    }
    s->trouble = err;
    s->why = *why;
}

/* Halves until it is clear what cannot be written: op->err says it for each. */
static void write_range(struct run_journal *s, struct run_journal_op **ops, size_t n)
{
    struct why why = { "" };
    if (!s->hopeless) {
        enum err err = write_once(s, ops, n, &why);
        if (!err)
            return;
        in_trouble(s, err, &why);
        bool size_matters = err == ERR_FULL || err == ERR_NOMEM;
        if (n > 1 && size_matters && clock_boot_ms() < s->halve_until_ms) {
            write_range(s, ops, n / 2);
            write_range(s, ops + n / 2, n - n / 2);
            return;
        }
        s->hopeless = n > 1 || !size_matters || bytes_of(ops[0]) <= SMALL;
    }
    s->refused = true;
    for (size_t i = 0; i < n; i++) {
        ops[i]->err = s->trouble;
        ops[i]->why = s->why;
        s->holding |= may_wait(ops[i]);
    }
}

/* ---- one iteration
 * -------------------------------------------------------------------------------- */

/* The next changes that were sent; false when there are none. */
static bool gather(struct run_journal *s)
{
    size_t bytes = 0;
    s->n = 0;
    for (struct list_node *node; s->n < GROUP_OPS && bytes < GROUP_BYTES;) {
        node = list_pop(&s->incoming);
        if (!node)
            break;
        struct message *l = container_of(node, struct message, node);
        if (l == &s->stop) {
            s->stopping = true;
            continue;
        }
        struct run_journal_op *op = container_of(l, struct run_journal_op, message);
        op->err = OK;
        op->why.text[0] = '\0';
        bytes += bytes_of(op);
        s->group[s->n++] = op;
    }
    return s->n > 0;
}

static bool is_held(const struct run_journal_op *op)
{
    return may_wait(op) && rdb_is_trouble(op->err);
}

/* New changes that must wait go to the end of the held; old ones (again) stay where they are in
 * that list until they are written. */
static void answer(struct run_journal *s, bool again)
{
    struct list answers;
    list_init(&answers);
    for (size_t i = 0; i < s->n; i++) {
        struct run_journal_op *op = s->group[i];
        if (is_held(op) && !again) {
            list_push(&s->held, &op->message.node);
            s->nheld++;
        } else if (!is_held(op)) {
            list_remove(&op->message.node);
            s->nheld -= again;
            list_push(&answers, &op->message.node);
        }
    }
    mailbox_send_all(s->answers, &answers);
    s->n = 0;
    if (s->nheld > s->waited)
        s->waited = s->nheld;
}

static void tell_trouble(struct run_journal *s)
{
    if (s->told_trouble)
        return;
    s->told_trouble = true;
    log_error("journal",
              "%s (%s); new runs are refused, results wait for it and go to the centers "
              "nevertheless",
              s->why.text, err_text(s->trouble));
}

static void next_retry(struct run_journal *s)
{
    s->pause_ms = s->pause_ms * 2 < RETRY_MAX_MS ? s->pause_ms * 2 : RETRY_MAX_MS;
    s->retry_ms = clock_boot_ms() + s->pause_ms;
}

/* The group's changes, newly sent or (again) held before. */
static void write_group(struct run_journal *s, bool again)
{
    s->refused = s->hopeless = false;
    s->halve_until_ms = clock_boot_ms() + HALVE_MS;
    s->holding = !again && !list_empty(&s->held);
    write_range(s, s->group, s->n);
    answer(s, again);
    if (s->refused)
        tell_trouble(s);
    else if (s->trouble && !s->nheld)
        works_again(s);
    if (again && s->refused)
        next_retry(s);
}

/* Only what a failed checkpoint costs: a longer log. It is not tried for each group then. */
static void checkpoint(struct run_journal *s, int frames)
{
    struct why why = { "" };
    int64_t now = clock_boot_ms();
    if (s->db->wal_frames < frames || now < s->checkpoint_ms)
        return;
    if (rdb_checkpoint(s->db, &why) == OK)
        return;
    s->checkpoint_ms = now + RETRY_MAX_MS;
    log_warn("journal", "the log goes on growing: %s", why.text);
}

/* Those that wait, or, without any, a change of nothing: until it succeeds, a group that was
 * refused could still stand in the log and count again at the next start. */
static void retry(struct run_journal *s)
{
    struct why why = { "" };
    size_t bytes = 0;
    if (s->trouble == ERR_CORRUPT && rdb_reopen(s->db, &why)) {
        s->why = why;
        next_retry(s);
        return;
    }
    checkpoint(s, 1); /* the log begins anew then, in room that it has already */
    list_each(&s->held, n, tmp)
    {
        struct message *l = container_of(n, struct message, node);
        struct run_journal_op *op = container_of(l, struct run_journal_op, message);
        if (s->n == GROUP_OPS || bytes >= GROUP_BYTES)
            break;
        bytes += bytes_of(op);
        s->group[s->n++] = op;
    }
    if (s->n)
        write_group(s, true);
    else if (rdb_probe(s->db, &why) == OK)
        works_again(s);
    else
        next_retry(s);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Nothing waits: prune what is old, make the log short. Returns the ms until there is more. */
static int idle(struct run_journal *s)
{
    struct why why = { "" };
    if (!s->trouble && clock_boot_ms() >= s->prune_ms) {
        enum err err = write_once(s, NULL, 0, &why);
        if (err) {
            in_trouble(s, err, &why);
            tell_trouble(s);
        }
    }
    checkpoint(s, WAL_IDLE_FRAMES);
    int64_t wait = (s->trouble ? s->retry_ms : s->prune_ms) - clock_boot_ms();
    return wait < 0 ? 0 : (int)wait;
}

static void abandon(struct run_journal *s)
{
    size_t n = s->nheld;
    if (n)
        log_error("journal",
                  "%zu changes could not be written before the end: runs that have ended may be "
                  "reported again, or as broken off; %s",
                  n, s->why.text);
    for (struct list_node *node; (node = list_pop(&s->held));) {
        struct message *l = container_of(node, struct message, node);
        struct run_journal_op *op = container_of(l, struct run_journal_op, message);
        op->err = s->trouble ? s->trouble : ERR_FULL;
        op->why = s->why;
        mailbox_send(s->answers, l);
    }
    s->nheld = 0;
}

static void stop(struct run_journal *s)
{
    int64_t until = clock_boot_ms() + STOP_MS;
    while (s->nheld && clock_boot_ms() < until) {
        int64_t wait = s->retry_ms - clock_boot_ms();
        if (wait > 0)
            mailbox_wait(s->in, (int)wait); /* nothing is sent any more */
        retry(s);
    }
    abandon(s);
}

static void *run_journal_main(void *arg)
{
    struct run_journal *s = arg;
    log_to(s->log);
    for (;;) {
        mailbox_take(s->in, &s->incoming);
        if (gather(s)) {
            write_group(s, false);
            checkpoint(s, WAL_MAX_FRAMES);
        } else if (s->stopping) {
            break;
        }
        if ((s->trouble || s->nheld) && clock_boot_ms() >= s->retry_ms)
            retry(s);
        else if (!s->stopping && list_empty(&s->incoming) && !mailbox_take(s->in, &s->incoming))
            mailbox_wait(s->in, idle(s));
    }
    stop(s);
    return NULL;
}

/* ---- for the loop ---------------------------------------------------------------------------- */

enum err run_journal_open(const struct run_journal_config *config, struct run_journal **ret,
                          struct why *why)
{
    struct rdb *db;
    enum err err = rdb_open(config->path, &db, why);
    if (err)
        return err;
    err = rdb_each(db, config->each, config->arg, why);
    if (err) {
        rdb_close(db);
        return err;
    }
    struct run_journal *s = mem_new(sizeof(*s));
    s->db = db;
    s->in = mailbox_new();
    s->answers = config->answers;
    s->log = log_sink_here();
    s->keep = config->keep;
    s->keep_ms = config->keep_ms;
    s->first_seq = db->seq_limit;
    list_init(&s->outbox);
    list_init(&s->incoming);
    list_init(&s->held);
    if (thread_start(&s->thread, "peal-journal", 0, run_journal_main, s)) {
        why_set(why, "no thread for the journal: the system has no more");
        mailbox_free(s->in);
        rdb_close(db);
        free(s);
        return ERR_NOMEM;
    }
    *ret = s;
    return OK;
}

void run_journal_free(struct run_journal *s)
{
    if (!s)
        return;
    run_journal_flush(s);
    mailbox_send(s->in, &s->stop);
    pthread_join(s->thread, NULL);
    mailbox_free(s->in);
    rdb_close(s->db);
    free(s);
}

void run_journal_send(struct run_journal *s, struct run_journal_op *op)
{
    op->message.node = (struct list_node){ NULL, NULL };
    list_push(&s->outbox, &op->message.node);
}

void run_journal_flush(struct run_journal *s)
{
    mailbox_send_all(s->in, &s->outbox);
}

int64_t run_journal_first_seq(const struct run_journal *s)
{
    return s->first_seq;
}
