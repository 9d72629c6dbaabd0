/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - callbacks: into the core at once, answered when their results are on disk.
 *
 * Executors give up after 3 s and some lose a refused result for ever, so the answer comes within
 * 2 s in any case: 200 once the commit is on disk or, if that is slow or fails, once the journal is
 * (results_journal.c); else 500, and the executor sends it again. The core keeps the result either
 * way. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/state.h"
#include <stdlib.h>
#include <string.h>

#define JOURNAL_AFTER_MS 100 /* a commit that was expected sooner */
#define ANSWER_WITHIN_MS 2000

/* They are acknowledged with the rest: sent again they would be no better. */
static size_t leave_foreign(struct center *c, struct center_result *results, size_t n)
{
    int64_t last_id = 0;
    size_t own = results_own(c, results, n, &last_id), foreign = n - own;
    if (!foreign)
        return own;
    atomic_fetch_add_explicit(&c->metrics.callbacks_foreign, foreign, memory_order_relaxed);
    log_warn(
        "callback",
        "%zu results are left out, the last for log id %lld: they bring back the date of an older "
        "run, which had that id in a database that has been replaced",
        foreign, (long long)last_id);
    return own;
}

void center_results(struct center *c, struct center_result *results, size_t n,
                    struct httpd_request *q)
{
    struct now now = center_now();
    atomic_fetch_add_explicit(&c->metrics.callbacks, n, memory_order_relaxed);
    n = leave_foreign(c, results, n);
    for (size_t i = 0; i < n; i++)
        sched_result(c->sched, now, results[i].log_id, results[i].code, results[i].msg);
    struct reply *r = mem_new(sizeof(*r));
    r->request = q;
    r->at_boot_ms = now.boot_ms;
    r->file = -1;
    list_push(&c->held, &r->held);
    list_push(&c->replies, &r->node);
    sched_ack_after(c->sched, now, &r->ack);
    if (!journalling_pays(c) || !journalling_offer(c, r, results, n))
        list_push(&c->fresh, &r->fresh);
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
    results_answer(r);
    journalling_release(c, r);
    reply_free(r);
}

void results_overdue(struct center *c, int64_t boot_ms)
{
    struct list_node *n;
    while ((n = list_first(&c->fresh)) && !journalling_full(c)) {
        struct reply *r = container_of(n, struct reply, fresh);
        if (r->at_boot_ms + JOURNAL_AFTER_MS > boot_ms)
            break;
        list_remove(&r->fresh);
        if (!journalling_offer_again(c, r)) { /* once there is room again */
            list_push(&c->fresh, &r->fresh);
            break;
        }
    }
    while ((n = list_first(&c->replies))) {
        struct reply *r = container_of(n, struct reply, node);
        if (r->at_boot_ms + ANSWER_WITHIN_MS > boot_ms)
            break;
        results_reply(
            r, "{\"code\":500,\"msg\":\"the result could not be stored within 2 s; it will be "
               "taken when it is sent again\",\"content\":null,\"data\":null}");
    }
    journalling_sweep(c, boot_ms);
}

int64_t results_next(const struct center *c)
{
    struct list_node *n = list_first(&c->fresh), *m = list_first(&c->replies);
    int64_t next = journalling_next(c);
    if (n && !journalling_full(c)) {
        int64_t offer_ms = container_of(n, struct reply, fresh)->at_boot_ms + JOURNAL_AFTER_MS;
        next = offer_ms < next ? offer_ms : next;
    }
    if (m) {
        int64_t answer_ms = container_of(m, struct reply, node)->at_boot_ms + ANSWER_WITHIN_MS;
        next = answer_ms < next ? answer_ms : next;
    }
    return next;
}

void results_free(struct center *c)
{
    struct list_node *n;
    while ((n = list_first(&c->held)))
        reply_free(container_of(n, struct reply, held));
}
