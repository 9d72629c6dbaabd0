/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms are changed by the ends of runs, by those who tell them, by users, and by other servers of
 * the database. All of it comes to rows that are not settled, which are few and found by an index:
 * while somebody watches they are read once a second for all, and compared. */
#include "api/alarm_look.h"
#include "base/mem.h"
#include "live/events.h"
#include <stdlib.h>
#include <string.h>

struct seen { /* an alarm; what users are shown of it */
    int64_t id, group_id;
    int64_t jobs, open, events, told;
    int64_t told_ms, acknowledged_ms, closed_ms;
};

struct seen_list { /* by id */
    int n;
    struct seen rows[ALARM_LOOK_MAX];
};

struct alarm_look {
    struct seen_list *last; /* NULL: nothing was looked at */
};

struct look { /* of one call */
    struct alarm_look *of;
    struct seen_list *now; /* owned; NULL: they could not be read */
};

struct alarm_look *alarm_look_new(void)
{
    return mem_new(sizeof(struct alarm_look));
}

static void forget(struct alarm_look *l)
{
    free(l->last);
    l->last = NULL;
}

void alarm_look_free(struct alarm_look *l)
{
    if (l)
        forget(l);
    free(l);
}

bool alarm_look_wanted(struct alarm_look *l, const struct events *e)
{
    bool wanted = events_wanted(e, EVENT_ALARM);
    if (!wanted)
        forget(l);
    return wanted;
}

/* ---- a worker -------------------------------------------------------------------------------- */

static bool add(void *ctx, const struct incident_record *i)
{
    struct seen_list *to = ctx;
    to->rows[to->n++] = (struct seen){ .id = i->id,
                                       .group_id = i->group_id,
                                       .jobs = i->jobs,
                                       .open = i->open,
                                       .events = i->events,
                                       .told = i->told,
                                       .told_ms = i->told_ms,
                                       .acknowledged_ms = i->acknowledged_ms,
                                       .closed_ms = i->closed_ms };
    return to->n < ALARM_LOOK_MAX;
}

static void look(struct web_call *call)
{
    struct look *k = call->wish;
    struct why why = { "" };
    struct seen_list *now = mem_new(sizeof(*now));
    if (call->db &&
        !call->db->ops->rules->incidents_unsettled(call->db, 0, ALARM_LOOK_MAX, add, now, &why))
        k->now = now;
    else
        free(now);
}

/* ---- the web loop ---------------------------------------------------------------------------- */

static const char *state_of(const struct seen *s)
{
    return s->closed_ms >= 0 ? "closed" : s->acknowledged_ms >= 0 ? "acknowledged" : "open";
}

/* Both lists are by id: what is in one alone has come, or is settled and so over. */
static void tell(struct events *e, const struct seen_list *was, const struct seen_list *now)
{
    int i = 0, j = 0, nwas = was ? was->n : 0;
    while (i < nwas || j < now->n) {
        const struct seen *a = i < nwas ? &was->rows[i] : NULL;
        const struct seen *b = j < now->n ? &now->rows[j] : NULL;
        if (a && (!b || a->id < b->id)) {
            if (b || now->n < ALARM_LOOK_MAX) /* else it may be beyond what was read */
                events_alarm(e, a->id, a->group_id, "closed");
            i++;
            continue;
        }
        bool same = a && a->id == b->id;
        if (!same || memcmp(a, b, sizeof(*a)) != 0)
            events_alarm(e, b->id, b->group_id, state_of(b));
        i += same;
        j++;
    }
}

static void told(struct web_call *call, const struct web_live *live)
{
    struct look *k = call->wish;
    if (!k->now)
        return;
    tell(live->events, k->of->last, k->now);
    forget(k->of);
    k->of->last = k->now;
    k->now = NULL;
}

static void look_free(void *wish)
{
    struct look *k = wish;
    free(k->now);
    free(k);
}

void alarm_look_collect(struct web_call *call, struct alarm_look *l)
{
    struct look *k = call->wish = mem_new(sizeof(*k));
    k->of = l;
    call->wish_free = look_free;
    call->task = look;
    call->done = told;
}
