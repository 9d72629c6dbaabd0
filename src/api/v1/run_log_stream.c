/* SPDX-License-Identifier: Apache-2.0 */
/* A run's log as it is written: the worker finds the run and says who asks, the web loop opens the
 * stream. */
#include "api/v1/query.h"
#include "api/v1/run_page.h"
#include "api/v1/v1.h"
#include "api/watch.h"
#include "base/mem.h"
#include <string.h>

struct log_wish {
    struct tail_wish tail;
    char address[];
};

static bool begin(struct web_call *call, const struct web_live *live)
{
    const struct log_wish *wish = call->wish;
    if (!watch_room(call, live))
        return false;
    if (!tails_watch(live->tails, call->request, slice_of(call->headers.data, call->headers.len),
                     &wish->tail, call->who))
        return true;
    problem_wait(call, PROBLEM_UNAVAILABLE, 5000,
                 "as many logs are followed as this server follows (" TEXT_OF(TAILS_MAX) ")");
    return false;
}

/* A browser that comes back names the last line that it has. */
static int first_line(struct query *q, struct web_call *call)
{
    int from = (int)query_i64(q, "fromLine", 1, INT32_MAX, 1);
    int64_t last;
    if (!call->last_event_id.n)
        return from;
    if (!parse_i64(call->last_event_id, &last) || last < 0 || last >= INT32_MAX) {
        query_bad(q, "Last-Event-ID", "line", "Last-Event-ID must be the number of a line");
        return from;
    }
    return (int)last + 1;
}

static void wish_for(struct web_call *call, const struct log_record *r, int from)
{
    size_t n = r->address ? strlen(r->address) : 0;
    struct log_wish *wish = call->wish = mem_new(sizeof(*wish) + n + 1);
    if (n)
        memcpy(wish->address, r->address, n);
    wish->tail = (struct tail_wish){
        .group_id = r->group_id,
        .log_id = r->id,
        .trigger_ms = r->trigger_ms,
        .address = wish->address,
        .from_line = from,
        .ended = r->handle_code > 0,
    };
    watch_who(call);
    call->stream = begin;
}

void v1_run_log_stream(struct web_call *call)
{
    struct log_record r;
    struct query q;
    query_begin(&q, call);
    int from = first_line(&q, call);
    if (!query_end(&q) || !run_find_for(call, &r))
        return;
    wish_for(call, &r, from);
    log_record_done(&r);
}
