/* SPDX-License-Identifier: Apache-2.0 */
/* Group commit: what came while the disk was busy is written together and made durable by one
 * fdatasync. */
#include "server/journal/journal.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include <pthread.h>
#include <stdlib.h>

enum { MESSAGE_WRITE, MESSAGE_RESET, MESSAGE_STOP };

struct journal {
    struct journal_file *files[JOURNAL_FILES];
    struct mailbox *in, *done;
    int done_kind;
    struct metrics *metrics;
    pthread_t thread;
    struct message stop;
};

struct reset_message {
    struct message message;
    int file;
};

struct journal_message *journal_message_new(void)
{
    struct journal_message *m = mem_new(sizeof(*m));
    buf_init(&m->records, JOURNAL_MAX);
    list_init(&m->waiting);
    return m;
}

void journal_message_free(struct journal_message *m)
{
    buf_done(&m->records);
    free(m);
}

static void give_back(struct journal *j, struct journal_message *m, enum err err)
{
    m->err = err;
    m->message.kind = j->done_kind;
    mailbox_send(j->done, &m->message);
}

static void write_one(struct journal *j, struct journal_message *m, struct list *group)
{
    struct why why = { "" };
    enum err err = m->records.failed ? ERR_TOOBIG
                                     : journal_file_put(j->files[m->file], m->records.data,
                                                        m->records.len, m->n, &why);
    if (!err) {
        list_push(group, &m->message.node);
        return;
    }
    atomic_fetch_add_explicit(err == ERR_FULL ? &j->metrics->journal_full
                                              : &j->metrics->journal_errors,
                              1, memory_order_relaxed);
    log_error("journal", "%u results are not kept: %s", m->n,
              why.text[0] ? why.text : err_text(err));
    give_back(j, m, err);
}

static void count(struct journal *j)
{
    unsigned n = 0;
    for (int i = 0; i < JOURNAL_FILES; i++)
        n += j->files[i] ? journal_file_records(j->files[i]) : 0;
    atomic_store_explicit(&j->metrics->journal_records, n, memory_order_relaxed);
}

static enum err sync_file(struct journal *j, int file)
{
    struct why why = { "" };
    enum err err = journal_file_sync(j->files[file], &why);
    if (err) {
        atomic_fetch_add_explicit(&j->metrics->journal_errors, 1, memory_order_relaxed);
        log_error("journal", "results are not kept: %s", why.text);
    }
    return err;
}

/* Make the group durable, each file that has some of it once; the senders are told. */
static void keep(struct journal *j, struct list *group)
{
    bool synced[JOURNAL_FILES] = { false };
    enum err errs[JOURNAL_FILES] = { OK };
    list_each(group, n, tmp)
    {
        int file = container_of(n, struct journal_message, message.node)->file;
        if (!synced[file])
            errs[file] = sync_file(j, file);
        synced[file] = true;
    }
    count(j); /* before any request is answered */
    for (struct list_node *n; (n = list_pop(group));) {
        struct journal_message *m = container_of(n, struct journal_message, message.node);
        give_back(j, m, errs[m->file]);
    }
}

static void reset(struct journal *j, int file)
{
    struct why why = { "" };
    if (journal_file_reset(j->files[file], &why)) {
        atomic_fetch_add_explicit(&j->metrics->journal_errors, 1, memory_order_relaxed);
        log_warn("journal", "%s; it will be tried again before the next result", why.text);
    }
    count(j);
}

static void *journal_main(void *arg)
{
    struct journal *j = arg;
    struct list incoming, group;
    list_init(&incoming);
    list_init(&group);
    for (;;) {
        if (!mailbox_take(j->in, &incoming)) {
            mailbox_wait(j->in, -1);
            continue;
        }
        for (struct list_node *n; (n = list_pop(&incoming));) {
            struct message *l = container_of(n, struct message, node);
            if (l->kind == MESSAGE_WRITE) {
                write_one(j, container_of(l, struct journal_message, message), &group);
                continue;
            }
            keep(j, &group); /* in the order in which it was asked for */
            if (l->kind == MESSAGE_STOP)
                return NULL;
            struct reset_message *r = container_of(l, struct reset_message, message);
            reset(j, r->file);
            free(r);
        }
        keep(j, &group);
    }
}

struct journal *journal_new(struct journal_file *const files[JOURNAL_FILES], struct mailbox *done,
                            int done_kind, struct metrics *metrics)
{
    struct journal *j = mem_new(sizeof(*j));
    for (int i = 0; i < JOURNAL_FILES; i++)
        j->files[i] = files[i];
    j->in = mailbox_new();
    j->done = done;
    j->done_kind = done_kind;
    j->metrics = metrics;
    count(j);
    if (thread_start(&j->thread, "peal-journal", 0, journal_main, j))
        abort(); /* no threads at start: nothing can run */
    return j;
}

void journal_give(struct journal *j, struct journal_message *m)
{
    m->message.kind = MESSAGE_WRITE;
    mailbox_send(j->in, &m->message);
}

void journal_reset(struct journal *j, int file)
{
    struct reset_message *r = mem_new(sizeof(*r));
    r->message.kind = MESSAGE_RESET;
    r->file = file;
    mailbox_send(j->in, &r->message);
}

void journal_free(struct journal *j)
{
    if (!j)
        return;
    j->stop.kind = MESSAGE_STOP;
    mailbox_send(j->in, &j->stop);
    pthread_join(j->thread, NULL);
    mailbox_free(j->in);
    for (int i = 0; i < JOURNAL_FILES; i++)
        journal_file_close(j->files[i]);
    free(j);
}
