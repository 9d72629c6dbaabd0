/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - callbacks: into the core at once, answered when they are on disk.
 *
 * Executors give up after 3 s and some lose a refused result for ever, so the answer comes within
 * 2 s in any case: 200 once the commit is on disk; if that is late, or the writer is known to fail,
 * 200 once the journal is; else 500, and the executor sends it again. The core keeps the result
 * either way. When everything that went to the journal has been committed it is reset; what stands
 * in it at start is given to the core again, to which a repeated result is nothing
 * (docs/internals/journal.md). */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/state.h"
#include "wire/open_api.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOURNAL_AFTER_MS 1200 /* the rest is for the disk of the journal */
#define ANSWER_WITHIN_MS 2000
#define JOURNAL_BYTES (8u << 20) /* 40,000 results with a short message */
#define JOURNAL_FILE "callbacks.journal"

struct reply { /* one callback request */
    struct ack ack;
    struct list_node held, node, fresh; /* in the lists of center */
    struct httpd_request *request;      /* NULL once answered */
    struct journal_mail *mail;          /* while the journal has it */
    bool journalled;                    /* counted in center.journalled */
    int64_t at_boot_ms;
};

static void answer(struct reply *r, const char *body)
{
    list_remove(&r->node);
    list_remove(&r->fresh);
    httpd_reply(r->request, 200, "application/json", slice_of(NULL, 0), slice_text(body));
    r->request = NULL;
}

/* ---- the journal ---------------------------------------------------------------------------- */

/* One fewer that needs the journal. */
static void release(struct center *c, struct reply *r)
{
    r->journalled = false;
    if (--c->journalled == 0)
        journal_reset(c->journal);
}

/* The results once more, from the request's body: a copy of each for the rare case that it is
 * needed would cost every callback. */
static struct journal_mail *mail_of(struct reply *r, int64_t at_ms)
{
    struct wire_callbacks items;
    struct why why;
    if (wire_callbacks_parse(r->request->body, &items, &why))
        return NULL;
    struct journal_mail *m = journal_mail_new();
    for (size_t i = 0; i < items.n; i++) {
        const struct wire_callback *item = &items.items[i];
        if (item->fault)
            continue;
        struct journal_result result = { item->log_id, at_ms, item->code, item->msg };
        journal_record(&m->records, &result);
        m->n++;
    }
    wire_callbacks_done(&items);
    return m;
}

static void offer(struct center *c, struct reply *r)
{
    list_remove(&r->fresh);
    if (!c->journal || c->journal_way >= JOURNAL_BYTES)
        return; /* its disk stands still as well: no more memory for that */
    struct journal_mail *m = mail_of(r, clock_wall_ms());
    if (!m)
        return;
    c->journal_way += m->records.len;
    m->owner = r;
    r->mail = m;
    r->journalled = true;
    c->journalled++;
    journal_give(c->journal, m);
}

void results_journalled(struct center *c, struct journal_mail *m)
{
    struct reply *r = m->owner; /* NULL: the commit was faster */
    c->journal_way -= m->records.len;
    if (r) {
        r->mail = NULL;
        if (m->err)
            release(c, r); /* the commit may still come in time */
        else if (r->request)
            answer(r, WIRE_REPLY_OK);
    }
    journal_mail_free(m);
}

struct replay {
    struct center *c;
    struct moment_now now;
    int64_t oldest_ms;
    unsigned n;
};

static void replay_one(void *ctx, const struct journal_result *result)
{
    struct replay *p = ctx;
    if (!p->n++)
        p->oldest_ms = result->at_ms;
    sched_result(p->c->sched, p->now, result->log_id, result->code, result->msg);
}

enum err results_replay(struct center *c, struct why *why)
{
    struct replay p = { .c = c, .now = center_now() };
    struct journal_file *file;
    struct buf path = BUF_INIT(8192);
    buf_printf(&path, "%s/" JOURNAL_FILE, c->config.data);
    struct why no = { "" };
    enum err err = journal_file_open(buf_str(&path), JOURNAL_BYTES, replay_one, &p, &file, &no);
    buf_done(&path);
    if (err == ERR_INVALID) { /* acknowledged results that only another version can read */
        why_set(why, "%s; start that version once, or move the file away", no.text);
        return err;
    }
    if (err) {
        log_warn("journal",
                 "there is no journal, results wait for the database alone until the next start: "
                 "%s",
                 no.text);
        return OK;
    }
    c->journal = journal_new(file, c->mailbox, MAIL_JOURNAL, &c->metrics);
    if (!p.n)
        return OK;
    log_info("journal",
             "%u results were kept for the database, the oldest for %lld s; it gets them", p.n,
             (long long)(p.now.wall_ms - p.oldest_ms) / 1000);
    struct reply *r = mem_new(sizeof(*r)); /* nobody waits for it, the journal does */
    r->journalled = true;
    c->journalled++;
    list_push(&c->held, &r->held);
    sched_ack_after(c->sched, p.now, &r->ack);
    return OK;
}

/* ---- callbacks ------------------------------------------------------------------------------ */

void center_results(struct center *c, const struct center_result *results, size_t n,
                    struct httpd_request *q)
{
    struct moment_now now = center_now();
    for (size_t i = 0; i < n; i++)
        sched_result(c->sched, now, results[i].log_id, results[i].code, results[i].msg);
    atomic_fetch_add_explicit(&c->metrics.callbacks, n, memory_order_relaxed);
    struct reply *r = mem_new(sizeof(*r));
    r->request = q;
    r->at_boot_ms = now.boot_ms;
    list_push(&c->held, &r->held);
    list_push(&c->replies, &r->node);
    list_push(&c->fresh, &r->fresh);
    sched_ack_after(c->sched, now, &r->ack);
    if (writer_in_trouble(c->writer))
        offer(c, r);
}

static void reply_free(struct reply *r)
{
    list_remove(&r->held);
    list_remove(&r->node);
    list_remove(&r->fresh);
    free(r);
}

void results_ack(struct center *c, struct ack *ack)
{
    struct reply *r = container_of(ack, struct reply, ack);
    if (r->request)
        answer(r, WIRE_REPLY_OK);
    if (r->mail)
        r->mail->owner = NULL;
    if (r->journalled)
        release(c, r);
    reply_free(r);
}

void results_overdue(struct center *c, int64_t boot_ms)
{
    struct list_node *n;
    while ((n = list_first(&c->fresh))) {
        struct reply *r = container_of(n, struct reply, fresh);
        if (r->at_boot_ms + JOURNAL_AFTER_MS > boot_ms)
            break;
        offer(c, r);
    }
    while ((n = list_first(&c->replies))) {
        struct reply *r = container_of(n, struct reply, node);
        if (r->at_boot_ms + ANSWER_WITHIN_MS > boot_ms)
            return;
        answer(r, "{\"code\":500,\"msg\":\"the result could not be stored within 2 s; it will be "
                  "taken when it is sent again\",\"content\":null,\"data\":null}");
    }
}

int64_t results_next(const struct center *c)
{
    struct list_node *n = list_first(&c->fresh), *m = list_first(&c->replies);
    int64_t offer_ms = INT64_MAX, answer_ms = INT64_MAX;
    if (n)
        offer_ms = container_of(n, struct reply, fresh)->at_boot_ms + JOURNAL_AFTER_MS;
    if (m)
        answer_ms = container_of(m, struct reply, node)->at_boot_ms + ANSWER_WITHIN_MS;
    return offer_ms < answer_ms ? offer_ms : answer_ms;
}

void results_free(struct center *c)
{
    struct list_node *n;
    while ((n = list_first(&c->held)))
        reply_free(container_of(n, struct reply, held));
}
