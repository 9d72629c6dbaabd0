/* SPDX-License-Identifier: Apache-2.0 */
/* events_feed.c - what the feed tells becomes entries of the ring.
 *
 * Changes of runs leave at once while there are few. From the moment that more than EVENTS_SINGLE
 * come within a window they are gathered, and told as one entry when the window ends: its counts
 * are rendered for each set of groups that some viewer may see, once. */
#include "live/events_internal.h"
#include "base/base64url.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* ---- runs --------------------------------------------------------------------------------------
 */

struct change {
    int64_t run_id, job_id, group_id, scheduled_ms, ended_ms, took_ms; /* ms: -1 none */
    const char *phase;
    enum log_outcome outcome;
};

static void or_null(struct jsonw *w, const char *key, int64_t v)
{
    if (v < 0)
        jsonw_null(w, key);
    else
        jsonw_i64(w, key, v);
}

static void write_run(const struct change *c, struct buf *to)
{
    struct jsonw w = jsonw_on(to);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "id", c->run_id);
    jsonw_i64(&w, "jobId", c->job_id);
    if (c->group_id > 0)
        jsonw_i64(&w, "groupId", c->group_id);
    jsonw_text(&w, "phase", c->phase);
    jsonw_text(&w, "outcome", log_outcome_text(c->outcome));
    if (c->scheduled_ms >= 0)
        jsonw_i64(&w, "scheduledMs", c->scheduled_ms);
    or_null(&w, "endedMs", c->ended_ms);
    or_null(&w, "tookMs", c->took_ms);
    jsonw_object_end(&w);
}

/* A window has ended: what has been gathered in it is told. */
static void on_window(struct loop_timer *t)
{
    struct events *e = container_of(t, struct events, window);
    e->busy = e->in_window > EVENTS_SINGLE;
    if (e->nchanges)
        events_add_crowd(e, crowd_new(e->changes, e->nchanges, e->window_ms));
    e->nchanges = 0;
    e->in_window = 0;
    if (e->room > 4096) {
        free(e->changes);
        e->changes = NULL;
        e->room = 0;
    }
}

static void gather(struct events *e, const struct change *c)
{
    if (e->nchanges == e->room) {
        e->room = e->room ? e->room * 2 : 256;
        e->changes = mem_resize(e->changes, e->room * sizeof(*e->changes));
    }
    e->changes[e->nchanges++] = (struct crowd_change){ c->job_id, c->group_id, c->outcome };
}

static void run_changed(struct events *e, const struct change *c)
{
    if (!e->in_window++) {
        e->window_ms = clock_wall_ms();
        loop_timer_set(e->cf.loop, &e->window, loop_now_ms(e->cf.loop) + EVENTS_WINDOW_MS);
    }
    if (e->busy || e->in_window > EVENTS_SINGLE) {
        gather(e, c);
        return;
    }
    struct buf json = BUF_INIT(4096);
    write_run(c, &json);
    events_add(e, EVENT_RUN, c->group_id, c->job_id, "run", slice_of(json.data, json.len));
    buf_done(&json);
}

/* ---- the feed ----------------------------------------------------------------------------------
 */

static void on_begin(struct feed_reader *r, const struct run_seen *open, size_t n)
{
    struct events *e = container_of(r, struct events, reader);
    (void)open;
    (void)n;
    if (!e->begun) {
        e->begun = true;
        return;
    }
    while (e->first < e->next)
        events_drop_first(e);
    e->first = ++e->next; /* an id of before is not of the ring any more */
    e->nchanges = 0;
    list_each(&e->watchers, node, tmp) container_of(node, struct watcher, node)->reset = true;
    loop_defer(e->cf.loop, &e->pump);
}

static void on_runs(struct feed_reader *r, const struct run_seen *runs, size_t n)
{
    struct events *e = container_of(r, struct events, reader);
    for (size_t i = 0; i < n; i++) {
        const struct run_seen *s = &runs[i];
        enum phase phase = (enum phase)s->phase;
        if (!phase_open(phase) && phase != PHASE_LOST)
            continue;
        const struct change c = { .run_id = s->log_id,
                                  .job_id = s->job_id,
                                  .group_id = s->group_id,
                                  .scheduled_ms = s->scheduled_ms,
                                  .ended_ms = -1,
                                  .took_ms = -1,
                                  .phase = phase_text(phase),
                                  .outcome = phase == PHASE_LOST ? LOG_LOST : LOG_OPEN };
        run_changed(e, &c);
    }
}

/* Of what never ran there is a row only if it had been in doubt. */
static enum log_outcome outcome_of(enum outcome o)
{
    static const enum log_outcome outcomes[OUTCOME_COUNT] = {
        [OUTCOME_NONE] = LOG_OPEN,          [OUTCOME_SUCCEEDED] = LOG_SUCCEEDED,
        [OUTCOME_FAILED] = LOG_FAILED,      [OUTCOME_TIMED_OUT] = LOG_TIMED_OUT,
        [OUTCOME_KILLED] = LOG_KILLED,      [OUTCOME_LOST] = LOG_LOST,
        [OUTCOME_REJECTED] = LOG_REJECTED,  [OUTCOME_SKIPPED] = LOG_REJECTED,
        [OUTCOME_WITHDRAWN] = LOG_REJECTED,
    };
    return outcomes[o];
}

static void on_ends(struct feed_reader *r, const struct feed_end *ends, size_t n, int64_t no)
{
    struct events *e = container_of(r, struct events, reader);
    (void)no;
    for (size_t i = 0; i < n; i++) {
        const struct run_end *end = &ends[i].end;
        enum log_outcome o = outcome_of(end->now);
        if (end->log_id <= 0 || end->now == OUTCOME_NONE)
            continue;
        bool result = end->now >= OUTCOME_SUCCEEDED && end->now <= OUTCOME_KILLED;
        const struct change c = { .run_id = end->log_id,
                                  .job_id = end->job_id,
                                  .group_id = end->group_id,
                                  .scheduled_ms = -1,
                                  .ended_ms = ends[i].ended_ms,
                                  .took_ms = result ? end->took_ms : -1,
                                  .phase = log_outcome_text(o),
                                  .outcome = o };
        run_changed(e, &c);
    }
}

static void on_others(struct feed_reader *r, int64_t node, const struct feed_end *ends, size_t n,
                      int64_t no)
{
    (void)node;
    on_ends(r, ends, n, no);
}

static const char *change_text(enum edit_kind kind)
{
    switch (kind) {
    case EDIT_JOB_INSERT:
        return "created";
    case EDIT_JOB_UPDATE:
    case EDIT_JOB_SYNC:
        return "updated";
    case EDIT_JOB_START:
        return "started";
    case EDIT_JOB_STOP:
        return "stopped";
    case EDIT_JOB_DELETE:
        return "deleted";
    case EDIT_GROUP_INSERT:
    case EDIT_GROUP_UPDATE:
    case EDIT_GROUP_DELETE:
        break;
    }
    return NULL;
}

static void on_edits(struct feed_reader *r, const struct feed_edit *edits, size_t n)
{
    struct events *e = container_of(r, struct events, reader);
    for (size_t i = 0; i < n; i++) {
        const char *change = change_text(edits[i].kind);
        if (!change)
            continue;
        struct buf json = BUF_INIT(1024);
        struct jsonw w = jsonw_on(&json);
        jsonw_object(&w, NULL);
        jsonw_i64(&w, "id", edits[i].id);
        jsonw_text(&w, "change", change);
        jsonw_i64(&w, "version", edits[i].version);
        jsonw_object_end(&w);
        struct entry *x = events_add(e, EVENT_JOB, edits[i].group_id, edits[i].id, "job",
                                     slice_of(json.data, json.len));
        if (edits[i].was_group_id) /* viewers of that group learn that it has left */
            events_also_in(x, &edits[i].was_group_id, 1);
        buf_done(&json);
    }
}

static void on_executor(struct feed_reader *r, const struct feed_executor *x)
{
    struct events *e = container_of(r, struct events, reader);
    struct buf json = BUF_INIT(8192);
    struct jsonw w = jsonw_on(&json);
    size_t n = strlen(x->address);
    char *key = mem_new(BASE64URL_SIZE(n));
    base64url_write(x->address, n, key);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "key", key);
    jsonw_text(&w, "address", x->address);
    jsonw_text(&w, "state", x->state == EXECUTOR_STATES ? "gone" : executor_state_text(x->state));
    jsonw_object_end(&w);
    events_also_in(events_add(e, EVENT_EXECUTOR, 0, 0, "executor", slice_of(json.data, json.len)),
                   x->groups, x->ngroups);
    buf_done(&json);
    free(key);
}

void events_feed_init(struct events *e)
{
    e->window.fire = on_window;
    e->reader = (struct feed_reader){ .begin = on_begin,
                                      .runs = on_runs,
                                      .ends = on_ends,
                                      .others = on_others,
                                      .edits = on_edits,
                                      .executor = on_executor };
}

/* ---- alarms ---------------------------------------------------------------------------------- */

void events_alarm(struct events *e, int64_t id, int64_t group_id, const char *state)
{
    struct buf json = BUF_INIT(1024);
    struct jsonw w = jsonw_on(&json);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "id", id);
    if (group_id > 0)
        jsonw_i64(&w, "groupId", group_id);
    else
        jsonw_null(&w, "groupId");
    jsonw_text(&w, "state", state);
    jsonw_object_end(&w);
    events_add(e, EVENT_ALARM, group_id, 0, "alarm", slice_of(json.data, json.len));
    buf_done(&json);
}
