/* SPDX-License-Identifier: Apache-2.0 */
/* results_reply.c - what the journal's side of a callback and the core's have in common: its
 * answer, and which of its results are this database's. */
#include "base/mem.h"
#include "server/state.h"
#include "wire/open_api.h"
#include "wire/texts.h"

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
        results_reply(r, WIRE_REPLY_OK);
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
