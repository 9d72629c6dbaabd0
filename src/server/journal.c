/* SPDX-License-Identifier: Apache-2.0 */
#include "server/journal.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include <pthread.h>
#include <stdlib.h>

enum { MAIL_WRITE, MAIL_RESET, MAIL_STOP };

struct journal {
    struct journal_file *file;
    struct mailbox *in, *done;
    int done_kind;
    struct metrics *metrics;
    pthread_t thread;
    struct letter stop;
};

struct journal_mail *journal_mail_new(void)
{
    struct journal_mail *m = mem_new(sizeof(*m));
    buf_init(&m->records, JOURNAL_MAX);
    return m;
}

void journal_mail_free(struct journal_mail *m)
{
    buf_done(&m->records);
    free(m);
}

static void give_back(struct journal *j, struct journal_mail *m, enum err err)
{
    m->err = err;
    m->letter.kind = j->done_kind;
    mailbox_post(j->done, &m->letter);
}

static void write_one(struct journal *j, struct journal_mail *m, struct list *group)
{
    struct why why = { "" };
    enum err err = m->records.failed
                       ? ERR_TOOBIG
                       : journal_file_put(j->file, m->records.data, m->records.len, m->n, &why);
    if (!err) {
        list_push(group, &m->letter.node);
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
    atomic_store_explicit(&j->metrics->journal_records, journal_file_records(j->file),
                          memory_order_relaxed);
}

/* Make the group durable; everybody in it is told. */
static void keep(struct journal *j, struct list *group)
{
    if (list_empty(group))
        return;
    struct why why = { "" };
    enum err err = journal_file_sync(j->file, &why);
    if (err) {
        atomic_fetch_add_explicit(&j->metrics->journal_errors, 1, memory_order_relaxed);
        log_error("journal", "results are not kept: %s", why.text);
    }
    count(j); /* before anybody is told */
    for (struct list_node *n; (n = list_pop(group));)
        give_back(j, container_of(n, struct journal_mail, letter.node), err);
}

static void reset(struct journal *j)
{
    struct why why = { "" };
    if (journal_file_reset(j->file, &why)) {
        atomic_fetch_add_explicit(&j->metrics->journal_errors, 1, memory_order_relaxed);
        log_warn("journal", "%s; it will be tried again before the next result", why.text);
    }
    count(j);
}

static void *journal_main(void *arg)
{
    struct journal *j = arg;
    struct list mail, group;
    list_init(&mail);
    list_init(&group);
    for (;;) {
        if (!mailbox_take(j->in, &mail)) {
            mailbox_wait(j->in, -1);
            continue;
        }
        for (struct list_node *n; (n = list_pop(&mail));) {
            struct letter *l = container_of(n, struct letter, node);
            if (l->kind == MAIL_WRITE) {
                write_one(j, container_of(l, struct journal_mail, letter), &group);
                continue;
            }
            keep(j, &group); /* in the order in which it was asked for */
            if (l->kind == MAIL_STOP)
                return NULL;
            reset(j);
            free(l);
        }
        keep(j, &group);
    }
}

struct journal *journal_new(struct journal_file *file, struct mailbox *done, int done_kind,
                            struct metrics *metrics)
{
    struct journal *j = mem_new(sizeof(*j));
    j->file = file;
    j->in = mailbox_new();
    j->done = done;
    j->done_kind = done_kind;
    j->metrics = metrics;
    count(j);
    if (thread_start(&j->thread, "peal-journal", 0, journal_main, j))
        abort(); /* no threads at start: nothing can run */
    return j;
}

void journal_give(struct journal *j, struct journal_mail *m)
{
    m->letter.kind = MAIL_WRITE;
    mailbox_post(j->in, &m->letter);
}

void journal_reset(struct journal *j)
{
    struct letter *l = mem_new(sizeof(*l));
    l->kind = MAIL_RESET;
    mailbox_post(j->in, l);
}

void journal_free(struct journal *j)
{
    if (!j)
        return;
    j->stop.kind = MAIL_STOP;
    mailbox_post(j->in, &j->stop);
    pthread_join(j->thread, NULL);
    mailbox_free(j->in);
    journal_file_close(j->file);
    free(j);
}
