/* SPDX-License-Identifier: Apache-2.0 */
/* results_reply.c - what the journal's side of a callback and the core's have in common: its
 * answer, and which of its results are this database's. */
#include "base/log.h"
#include "base/mem.h"
#include "server/state.h"
#include "wire/open_api.h"
#include "wire/texts.h"
#include <stdlib.h>

#define REFUSED_EVERY_MS 10000 /* between two lines about refused results */
#define UNREAD                                                                                     \
    "{\"code\":500,\"msg\":\"an element of this request is no JSON: the others were taken, and "   \
    "this "                                                                                        \
    "one is not lost as long as it is sent again\",\"content\":null,\"data\":null}"

void results_reply(struct reply *r, const char *body)
{
    list_remove(&r->node);
    list_remove(&r->fresh);
    httpd_reply(r->request, 200, "application/json", slice_of(NULL, 0), slice_text(body));
    r->request = NULL;
}

void results_answer(struct reply *r)
{
    if (r->request)
        results_reply(r, r->unread ? UNREAD : WIRE_REPLY_OK);
}

/* The first at once, then those of ten seconds together: executors send them again and again. */
static void tell_refused(struct center *c, uint64_t refused)
{
    if (refused == c->refused || clock_boot_ms() < c->refused_ms)
        return;
    log_error("callback",
              "%llu results were refused, because too many wait for the database: their executors "
              "have to send them again",
              (unsigned long long)(refused - c->refused));
    c->refused = refused;
    c->refused_ms = clock_boot_ms() + REFUSED_EVERY_MS;
}

void results_full(struct center *c)
{
    struct sched_stats st;
    sched_stats(c->sched, &st);
    atomic_store_explicit(&c->metrics.results_refused, st.refused_results, memory_order_relaxed);
    tell_refused(c, st.refused_results);
}

/* What was taken of its results stays. */
void results_refuse_full(struct center *c, struct reply *r)
{
    results_full(c);
    if (r->request)
        results_reply(r, "{\"code\":500,\"msg\":\"too many results wait for the database; those "
                         "of this request that found no room will be taken when they are sent "
                         "again\",\"content\":null,\"data\":null}");
}

void results_refuse(struct reply *r)
{
    struct buf b = BUF_INIT(512);
    wire_reply_error(&b, 500, slice_text(WIRE_TEXT_TOKEN));
    if (r->request)
        results_reply(r, buf_str(&b));
    buf_done(&b);
}

size_t results_own(struct center *c, struct center_result *results, size_t n, int64_t *ret_last)
{
    size_t own = 0;
    for (size_t i = 0; i < n; i++)
        if (sched_result_foreign(c->sched, results[i].log_id, results[i].date_ms))
            *ret_last = results[i].log_id;
        else
            results[own++] = results[i];
    return own;
}

/* They are acknowledged with the rest: sent again they would be no better. */
size_t results_leave_foreign(struct center *c, struct center_result *results, size_t n)
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

void results_drop(struct reply *r)
{
    list_remove(&r->held);
    list_remove(&r->node);
    list_remove(&r->fresh);
    claim_unref(r->claim);
    free(r);
}
