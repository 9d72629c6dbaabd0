/* SPDX-License-Identifier: Apache-2.0 */
/* What changes, as it changes: the worker reads what is wanted and who asks, the web loop opens the
 * stream. */
#include "api/v1/group_filter.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "api/watch.h"
#include "base/mem.h"
#include <stdlib.h>

#define ID_MAX 64 /* characters of Last-Event-ID */

/* enum event_topic */
static const char *const topics[] = { "run", "executor", "job", "vitals", "alarm" };

struct asked {
    struct events_wish wish;
    int64_t jobs[EVENTS_JOBS_MAX];
    int64_t groups[QUERY_GROUPS_MAX];
    int64_t *seen; /* groups that are asked for and may be seen; owned */
    char after[ID_MAX + 1];
};

static void asked_free(void *wish)
{
    struct asked *a = wish;
    if (a)
        free(a->seen);
    free(a);
}

static bool begin(struct web_call *call, const struct web_live *live)
{
    const struct asked *a = call->wish;
    if (!watch_room(call, live))
        return false;
    events_watch(live->events, call->request, slice_of(call->headers.data, call->headers.len),
                 &a->wish, call->who);
    return true;
}

/* The groups whose events are wanted, of those that the asker may read. */
static void read_groups(struct query *q, struct web_call *call, struct asked *a)
{
    const struct scope *may = actor_scope(call->actor, PERM_READ);
    struct scope wanted = SCOPE_ALL;
    if (!query_groups(q, "group", a->groups, &wanted))
        wanted = SCOPE_ALL;
    size_t room = may->n > wanted.n ? may->n : wanted.n;
    a->seen = mem_new((room + 1) * sizeof(*a->seen));
    a->wish.scope = scope_and(may, &wanted, a->seen);
}

static void read_place(struct query *q, struct web_call *call, struct asked *a)
{
    if (call->last_event_id.n > ID_MAX)
        query_bad(q, "Last-Event-ID", "text.length",
                  "Last-Event-ID must have at most %d characters", ID_MAX);
    else
        text_copy(a->after, sizeof(a->after), call->last_event_id);
    a->wish.after = a->after;
}

void v1_events(struct web_call *call)
{
    struct asked *a = call->wish = mem_new(sizeof(*a));
    struct query q;
    call->wish_free = asked_free;
    query_begin(&q, call);
    a->wish.topics = (unsigned)query_words(&q, "topics", topics, countof(topics));
    if (!a->wish.topics)
        a->wish.topics = EVENTS_ALL;
    a->wish.njobs = query_ids(&q, "job", a->jobs, countof(a->jobs));
    a->wish.jobs = a->jobs;
    read_groups(&q, call, a);
    read_place(&q, call, a);
    if (!query_end(&q))
        return;
    watch_who(call);
    call->stream = begin;
}
