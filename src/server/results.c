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

static void warn_others(size_t n, int64_t log_id)
{
    log_warn("callback",
             "%zu results are left out, the last for log id %lld: wrong access token, they are of "
             "another group",
             n, (long long)log_id);
}

/* Those of runs of groups for which the token does not serve. They are not sent again for ever, and
 * those beside them count. *ret_claim: for runs that only the log knows now; NULL: there is none.
 */
static size_t leave_others(struct center *c, struct center_result *results, size_t n,
                           struct slice token, struct claim **ret_claim)
{
    size_t own = 0;
    int64_t last_id = 0, group;
    *ret_claim = NULL;
    if (!keys_any(c->keys))
        return n;
    for (size_t i = 0; i < n; i++) {
        bool live = sched_result_group(c->sched, results[i].log_id, &group);
        if (live && !keys_serve_group(c->keys, group, token)) {
            last_id = results[i].log_id;
            continue;
        }
        if (!live && !*ret_claim)
            *ret_claim = keys_claim(c->keys, token);
        results[own++] = results[i];
    }
    if (own < n)
        warn_others(n - own, last_id);
    return own;
}

/* A result of another server's run is of no use in this one's journal if this one does not come
 * back: it waits for the commit, as long as the database answers. */
static bool keeps_here(const struct center *c, const struct center_result *results, size_t n)
{
    int64_t group;
    if (!node_shared(c->node) || writer_in_trouble(c->writer))
        return true;
    for (size_t i = 0; i < n; i++)
        if (!sched_result_group(c->sched, results[i].log_id, &group))
            return false;
    return true;
}

/* Those of other nodes' runs go to these, the rest into the core. What a sender may speak for only
 * in part goes through the database, where the group of each run is looked at. True: it waits
 * for the core. */
static bool take_results(struct center *c, struct now now, struct reply *r,
                         const struct center_result *results)
{
    bool forwards = !r->claim && c->peers && !writer_in_trouble(c->writer), here = false;
    bool full = false;
    int64_t group;
    for (size_t i = 0; i < r->n; i++) {
        const struct center_result *one = &results[i];
        if (forwards && !sched_result_group(c->sched, one->log_id, &group) &&
            forward_result(c, r, one))
            continue;
        full |= !sched_result_claimed(c->sched, now, one->log_id, one->code, one->msg, r->claim);
        here = true;
    }
    if (full) /* once all have been looked at: the answer ends the request, which has their texts */
        results_refuse_full(c, r);
    here |= !r->waits; /* there is nothing to wait for but the next batch */
    if (here)
        results_wait(c, now, r);
    return here;
}

bool center_results(struct center *c, struct center_result *results, size_t n, size_t unread,
                    struct slice token, struct httpd_request *q)
{
    struct now now = center_now();
    struct claim *claim;
    atomic_fetch_add_explicit(&c->metrics.callbacks, n, memory_order_relaxed);
    size_t came = n;
    n = leave_others(c, results, n, token, &claim);
    if (came && !n)
        return false;
    bool all = n == came && !claim && keeps_here(c, results, n);
    n = results_leave_foreign(c, results, n);
    struct reply *r = mem_new(sizeof(*r));
    r->request = q;
    r->at_boot_ms = now.boot_ms;
    r->file = -1;
    r->claim = claim;
    r->n = n;
    r->unread = unread != 0;
    list_push(&c->held, &r->held);
    list_push(&c->replies, &r->node);
    bool here = take_results(c, now, r, results);
    all &= r->request != NULL; /* else it was refused, and comes again */
    /* the journal keeps no claims, and offers what it reads from the body once more: what is not
     * the sender's, or is not known to be, waits for the commit */
    bool kept = all && journalling_pays(c, now) && journalling_offer(c, r, results, n);
    if (here && !kept)
        sched_want_batch(c->sched);
    if (all && !kept)
        list_push(&c->fresh, &r->fresh);
    return true;
}

void results_committed(struct center *c, const struct batch *b)
{
    size_t n = 0;
    int64_t last_id = 0;
    (void)c;
    for (int i = 0; i < b->nlate; i++) {
        if (!b->late[i].refused)
            continue;
        b->late[i].claim->refused++;
        last_id = b->late[i].log_id;
        n++;
    }
    if (n)
        warn_others(n, last_id);
}

void results_ack(struct center *c, struct ack *ack)
{
    struct waiter *k = container_of(ack, struct waiter, ack);
    k->done(c, k);
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
    forwards_flush(c);
}

int64_t results_next(const struct center *c)
{
    struct list_node *n = list_first(&c->fresh), *m = list_first(&c->replies);
    int64_t next = journalling_next(c), forward_ms = forwards_next(c);
    next = forward_ms < next ? forward_ms : next;
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
    forwards_free(c);
    taken_free(c);
    while ((n = list_first(&c->held)))
        results_drop(container_of(n, struct reply, held));
}
