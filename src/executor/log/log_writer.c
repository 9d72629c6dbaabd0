/* SPDX-License-Identifier: Apache-2.0 */
/* One lock and one list of work. The thread takes all of it at once and works without the lock:
 * first what is to be written, in one write a day, then the reads, so a read sees what came before
 * it. */
#include "executor/log/log_writer.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "executor/log/log_pruner.h"
#include "executor/log/runlog.h"
#include "executor/log/runlog_file.h"
#include "executor/log/shared_map.h"

#define SLEEP_MAX_MS 600000 /* the clock of waiting stands still while the machine sleeps */

struct note {
    struct list_node node;
    int64_t log_id, date_ms;
    const char *word;
};

struct work {            /* what waits, or what was taken to be done */
    struct list reads;   /* struct log_writer_read */
    struct list records; /* struct shared_record */
    struct list notes;
    size_t bytes;   /* of records and notes */
    int64_t missed; /* of them dropped */
};

struct log_writer {
    const char *logpath;
    struct mailbox *loop;
    struct log_sink *sink;
    struct log_pruner log_pruner;
    struct shared_map map;
    int64_t prune_ms; /* boot: when its next step is due; -1: never */
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t bell;
    struct work work;
    int64_t gather_ms; /* boot: when what was gathered is due; 0: nothing was */
    bool ending;
};

static void work_init(struct work *w)
{
    list_init(&w->reads);
    list_init(&w->records);
    list_init(&w->notes);
    w->bytes = 0;
    w->missed = 0;
}

/* --- shares and notes --- */

static void append(struct log_writer *lw, const char *day, struct buf *b, int *n)
{
    if (*n && shared_append(lw->logpath, day, slice_of(b->data, b->len)))
        log_warn("executor", "start and end lines of %d runs are lost: %s", *n, strerror(errno));
    buf_reset(b);
    *n = 0;
}

static void write_records(struct log_writer *lw, struct list *records)
{
    char day[RUNLOG_DAY] = "", other[RUNLOG_DAY];
    struct buf b = BUF_INIT(LOG_WRITER_GATHER_BYTES + SHARED_RECORD);
    int n = 0;
    for (struct list_node *node; (node = list_pop(records));) {
        struct shared_record *r = container_of(node, struct shared_record, node);
        runlog_day(r->date_ms, other);
        if (b.len >= LOG_WRITER_GATHER_BYTES || strcmp(day, other) != 0)
            append(lw, day, &b, &n);
        memcpy(day, other, sizeof(day));
        buf_add(&b, r->text, r->n);
        n++;
        free(r);
    }
    append(lw, day, &b, &n);
    buf_done(&b);
}

static void write_notes(struct log_writer *lw, struct list *notes)
{
    for (struct list_node *node; (node = list_pop(notes));) {
        struct note *n = container_of(node, struct note, node);
        runlog_note(lw->logpath, n->date_ms, n->log_id, n->word);
        free(n);
    }
}

/* --- the thread --- */

static void do_work(struct log_writer *lw, struct work *w)
{
    if (w->missed)
        log_warn("executor", "late lines of %lld runs are lost: the disk under the logs is slow",
                 (long long)w->missed);
    write_records(lw, &w->records);
    write_notes(lw, &w->notes);
    for (struct list_node *n; (n = list_pop(&w->reads));) {
        struct log_writer_read *r = container_of(n, struct log_writer_read, message.node);
        runlog_read(lw->logpath, r->log_date_ms, r->log_id, r->from_line, r->whole_lines, &lw->map,
                    &r->page);
        mailbox_send(lw->loop, &r->message);
    }
}

static void prune(struct log_writer *lw)
{
    if (lw->prune_ms < 0 || clock_boot_ms() < lw->prune_ms)
        return;
    int64_t wait = log_pruner_step(&lw->log_pruner, clock_wall_ms());
    lw->prune_ms = wait < 0 ? -1 : clock_boot_ms() + wait;
}

/* With the lock held. Milliseconds until there is something to do. */
static int64_t time_left(const struct log_writer *lw)
{
    int64_t now = clock_boot_ms(), left = SLEEP_MAX_MS;
    if (lw->ending || !list_empty(&lw->work.reads) || lw->work.bytes >= LOG_WRITER_GATHER_BYTES)
        return 0;
    if (lw->gather_ms && lw->gather_ms - now < left)
        left = lw->gather_ms - now;
    if (lw->prune_ms >= 0 && lw->prune_ms - now < left)
        left = lw->prune_ms - now;
    return left;
}

static void wait_ms(struct log_writer *lw, int64_t ms)
{
    struct timespec t = clock_after_ms(ms);
    pthread_cond_timedwait(&lw->bell, &lw->lock, &t);
}

static void take_list(struct list *from, struct list *to)
{
    for (struct list_node *n; (n = list_pop(from));)
        list_push(to, n);
}

/* Sleeps until there is something to do, and takes it. False: it was the last. */
static bool take_work(struct log_writer *lw, struct work *to)
{
    int64_t left;
    work_init(to);
    pthread_mutex_lock(&lw->lock);
    while ((left = time_left(lw)) > 0)
        wait_ms(lw, left);
    take_list(&lw->work.reads, &to->reads);
    take_list(&lw->work.records, &to->records);
    take_list(&lw->work.notes, &to->notes);
    to->missed = lw->work.missed;
    lw->work.bytes = 0;
    lw->work.missed = 0;
    lw->gather_ms = 0;
    bool more = !lw->ending;
    pthread_mutex_unlock(&lw->lock);
    return more;
}

static void *log_writer_main(void *arg)
{
    struct log_writer *lw = arg;
    struct work work;
    log_to(lw->sink);
    while (take_work(lw, &work)) {
        do_work(lw, &work);
        prune(lw);
    }
    do_work(lw, &work);
    return NULL;
}

/* --- for the others --- */

static void destroy(struct log_writer *lw)
{
    log_pruner_done(&lw->log_pruner);
    shared_map_done(&lw->map);
    pthread_cond_destroy(&lw->bell);
    pthread_mutex_destroy(&lw->lock);
    free(lw);
}

struct log_writer *log_writer_new(const char *logpath, int retention_days, struct mailbox *loop)
{
    struct log_writer *lw = mem_new(sizeof(*lw));
    pthread_condattr_t attr;
    lw->logpath = logpath;
    lw->loop = loop;
    lw->sink = log_sink_here();
    log_pruner_init(&lw->log_pruner, logpath, retention_days);
    work_init(&lw->work);
    pthread_mutex_init(&lw->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&lw->bell, &attr);
    pthread_condattr_destroy(&attr);
    if (thread_start(&lw->thread, "peal-logs", 0, log_writer_main, lw) == 0)
        return lw;
    destroy(lw);
    return NULL;
}

void log_writer_free(struct log_writer *lw)
{
    if (!lw)
        return;
    pthread_mutex_lock(&lw->lock);
    lw->ending = true;
    pthread_cond_signal(&lw->bell);
    pthread_mutex_unlock(&lw->lock);
    pthread_join(lw->thread, NULL);
    destroy(lw);
}

void log_writer_read(struct log_writer *lw, struct log_writer_read *r)
{
    r->message.node = (struct list_node){ NULL, NULL };
    pthread_mutex_lock(&lw->lock);
    list_push(&lw->work.reads, &r->message.node);
    pthread_cond_signal(&lw->bell);
    pthread_mutex_unlock(&lw->lock);
}

/* A record or a note, if there is room. The log writer wakes for the first, which sets the time,
 * and when enough has come together. */
static bool gather(struct log_writer *lw, struct list *to, struct list_node *n, size_t bytes,
                   size_t max)
{
    pthread_mutex_lock(&lw->lock);
    size_t before = lw->work.bytes;
    bool room = before + bytes <= max;
    if (room) {
        list_push(to, n);
        lw->work.bytes += bytes;
        if (!before)
            lw->gather_ms = clock_boot_ms() + LOG_WRITER_GATHER_MS;
        if (!before ||
            (before < LOG_WRITER_GATHER_BYTES && before + bytes >= LOG_WRITER_GATHER_BYTES))
            pthread_cond_signal(&lw->bell);
    } else {
        lw->work.missed++;
    }
    pthread_mutex_unlock(&lw->lock);
    return room;
}

void log_writer_share(struct log_writer *lw, struct shared_record *r)
{
    if (!r)
        return;
    r->node = (struct list_node){ NULL, NULL };
    if (!gather(lw, &lw->work.records, &r->node, sizeof(*r) + r->n, LOG_WRITER_WAITING_MAX))
        free(r);
}

void log_writer_note(struct log_writer *lw, int64_t log_id, int64_t log_date_ms, const char *word)
{
    struct note *n = try_alloc(sizeof(*n));
    if (!n)
        return;
    *n = (struct note){ .log_id = log_id, .date_ms = log_date_ms, .word = word };
    if (!gather(lw, &lw->work.notes, &n->node, sizeof(*n), LOG_WRITER_NOTES_MAX))
        free(n);
}
