/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of entries and, for each viewer, the number of the next one that it has not looked at. A
 * viewer writes what it may see while its client takes it, and is set to the end when it falls
 * behind: a slow client costs nothing and holds up nobody.
 *
 * Changes of runs leave at once while there are few. From the moment that more than EVENTS_SINGLE
 * come within a window they are gathered, and told as one entry when the window ends: its counts
 * are rendered for each set of groups that somebody may see, once. Vitals are about now, so they
 * are not kept. */
#include "live/events.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base64url.h"
#include "base/clock.h"
#include "base/mem.h"
#include "live/crowd.h"

#define VIEWS_KEPT 64 /* renderings of a crowd, */
#define CROWDS_KEPT 8 /* of so many: who is farther behind has his own made */

struct view { /* a set of groups that somebody may see; several viewers share it */
    struct list_node node;
    int refs;
    struct scope scope; /* ids owned */
};

struct rendering {
    struct view *view; /* counted */
    struct shared_buf *event;
    struct rendering *next;
};

struct entry {
    unsigned topic;
    int64_t group_id, job_id;
    int64_t *also; /* further groups, ascending: who sees one of them sees it; owned */
    size_t nalso;
    struct shared_buf *event; /* or: */
    struct crowd *crowd;
    struct rendering *renderings;
    int nrenderings;
    size_t bytes;
    uint64_t before; /* bytes of all events before it */
};

struct watcher {
    struct viewer viewer;
    struct events *of;
    struct list_node node;
    uint64_t next; /* number of the entry that it looks at next */
    struct view *view;
    unsigned topics;
    int64_t *jobs;
    size_t njobs;
    bool reset; /* it is to be told */
};

struct events {
    struct events_config cf;
    struct feed_reader reader;
    bool begun;
    int64_t epoch;
    struct entry *ring;
    uint64_t first, next; /* numbers of the entries that are kept: first..next - 1 */
    size_t held;          /* bytes of them */
    uint64_t bytes;       /* of all that there ever were */
    struct list views, watchers;
    struct loop_task pump;
    uint64_t crowds[CROWDS_KEPT]; /* numbers of the last; 0: none */
    int crowd;                    /* the oldest of them */
    /* changes of runs in this window */
    struct loop_timer window, vitals;
    int in_window;
    int64_t window_ms; /* wall: its begin */
    bool busy;         /* the window before had too many for single events */
    struct crowd_change *changes;
    size_t nchanges, room;
};

/* ---- views -------------------------------------------------------------------------------------
 */

static struct view *view_get(struct events *e, const struct scope *scope)
{
    list_each(&e->views, n, tmp)
    {
        struct view *v = container_of(n, struct view, node);
        if (scope_same(&v->scope, scope)) {
            v->refs++;
            return v;
        }
    }
    struct view *v = mem_new(sizeof(*v));
    int64_t *ids = mem_new((scope->n + 1) * sizeof(*ids));
    if (scope->n)
        memcpy(ids, scope->ids, scope->n * sizeof(*ids));
    v->scope = (struct scope){ .all = scope->all, .ids = ids, .n = scope->n };
    v->refs = 1;
    list_push(&e->views, &v->node);
    return v;
}

static void view_put(struct view *v)
{
    if (--v->refs)
        return;
    list_remove(&v->node);
    free((int64_t *)v->scope.ids);
    free(v);
}

/* ---- the ring ----------------------------------------------------------------------------------
 */

static struct entry *entry_of(const struct events *e, uint64_t number)
{
    return &e->ring[number % EVENTS_KEPT];
}

static void drop_renderings(struct entry *x)
{
    for (struct rendering *r; (r = x->renderings);) {
        x->renderings = r->next;
        view_put(r->view);
        shared_buf_drop(r->event);
        free(r);
    }
    x->nrenderings = 0;
}

static void drop_first(struct events *e)
{
    struct entry *x = entry_of(e, e->first++);
    e->held -= x->bytes;
    shared_buf_drop(x->event);
    crowd_free(x->crowd);
    drop_renderings(x);
    free(x->also);
    *x = (struct entry){ 0 };
}

static struct entry *add(struct events *e, size_t bytes)
{
    while (e->next > e->first &&
           (e->next - e->first == EVENTS_KEPT || e->held + bytes > EVENTS_BYTES))
        drop_first(e);
    struct entry *x = entry_of(e, e->next++);
    x->bytes = bytes;
    x->before = e->bytes;
    e->held += bytes;
    e->bytes += bytes;
    loop_defer(e->cf.loop, &e->pump);
    return x;
}

static struct shared_buf *render(const struct events *e, uint64_t number, const char *name,
                                 struct slice json)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 4);
    if (number)
        buf_printf(&b, "id: %lld-%llu\n", (long long)e->epoch, (unsigned long long)number);
    buf_printf(&b, "event: %s\ndata: %.*s\n\n", name, (int)json.n, json.p);
    struct shared_buf *event = shared_buf_new(slice_of(b.data, b.len));
    buf_done(&b);
    return event;
}

static struct entry *add_single(struct events *e, unsigned topic, int64_t group_id, int64_t job_id,
                                const char *name, struct slice json)
{
    struct shared_buf *event = render(e, e->next, name, json);
    struct entry *x = add(e, event->n);
    x->topic = topic;
    x->group_id = group_id;
    x->job_id = job_id;
    x->event = event;
    return x;
}

static void also_seen_in(struct entry *x, const int64_t *groups, size_t n)
{
    x->also = mem_new((n + 1) * sizeof(*x->also));
    x->nalso = n;
    if (n)
        memcpy(x->also, groups, n * sizeof(*groups));
}

static void add_crowd(struct events *e, struct crowd *crowd)
{
    struct entry *x = add(e, crowd_bytes(crowd));
    x->topic = EVENT_RUN;
    x->crowd = crowd;
    if (e->crowds[e->crowd] >= e->first)
        drop_renderings(entry_of(e, e->crowds[e->crowd]));
    e->crowds[e->crowd] = e->next - 1;
    e->crowd = (e->crowd + 1) % CROWDS_KEPT;
}

/* ---- what a viewer sees ------------------------------------------------------------------------
 */

static bool has_job(const struct watcher *w, int64_t job_id)
{
    size_t low = 0, high = w->njobs;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (w->jobs[middle] < job_id)
            low = middle + 1;
        else
            high = middle;
    }
    return !w->njobs || (low < w->njobs && w->jobs[low] == job_id);
}

static struct shared_buf *render_crowd(const struct events *e, const struct entry *x,
                                       uint64_t number, const struct scope *scope,
                                       const int64_t *jobs, size_t njobs)
{
    struct buf json;
    struct shared_buf *event = NULL;
    buf_init(&json, 65536);
    if (crowd_write(x->crowd, scope, jobs, njobs, EVENTS_JOBS_MAX, &json))
        event = render(e, number, "runs", slice_of(json.data, json.len));
    buf_done(&json);
    return event;
}

/* Its rendering for the viewer, held; NULL: there is nothing in it for him. */
static struct shared_buf *crowd_event(const struct events *e, struct entry *x, uint64_t number,
                                      const struct watcher *w)
{
    if (w->njobs)
        return render_crowd(e, x, number, &w->view->scope, w->jobs, w->njobs);
    for (struct rendering *r = x->renderings; r; r = r->next)
        if (r->view == w->view)
            return r->event ? shared_buf_hold(r->event) : NULL;
    struct shared_buf *event = render_crowd(e, x, number, &w->view->scope, NULL, 0);
    if (x->nrenderings < VIEWS_KEPT) {
        struct rendering *r = mem_new(sizeof(*r));
        *r = (struct rendering){ w->view, event ? shared_buf_hold(event) : NULL, x->renderings };
        w->view->refs++;
        x->renderings = r;
        x->nrenderings++;
    }
    return event;
}

static bool sees(const struct watcher *w, const struct entry *x)
{
    const struct scope *scope = &w->view->scope;
    bool seen = scope->all || scope_has(scope, x->group_id);
    for (size_t i = 0; i < x->nalso && !seen; i++)
        seen = scope_has(scope, x->also[i]);
    return seen;
}

/* The entry as the viewer gets it, held; NULL: it is not for him. */
static struct shared_buf *event_for(const struct events *e, uint64_t number,
                                    const struct watcher *w)
{
    struct entry *x = entry_of(e, number);
    if (!(x->topic & w->topics))
        return NULL;
    if (x->crowd)
        return crowd_event(e, x, number, w);
    bool seen = sees(w, x) && (x->topic != EVENT_RUN || has_job(w, x->job_id));
    return seen ? shared_buf_hold(x->event) : NULL;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static bool is_behind(const struct events *e, const struct watcher *w)
{
    if (w->next < e->first || e->next - w->next > EVENTS_BEHIND)
        return true;
    return w->next < e->next && e->bytes - entry_of(e, w->next)->before > EVENTS_BEHIND_BYTES;
}

static bool write_reset(struct events *e, struct watcher *w)
{
    struct shared_buf *event = render(e, e->next - 1, "reset", slice_text("{}"));
    bool written = viewer_write(&w->viewer, event);
    shared_buf_drop(event);
    if (written) {
        w->reset = false;
        w->next = e->next;
    }
    return written;
}

static void pump(struct events *e, struct watcher *w)
{
    w->reset |= is_behind(e, w);
    if (w->reset && (!viewer_has_room(&w->viewer) || !write_reset(e, w)))
        return;
    while (w->next < e->next && viewer_has_room(&w->viewer)) {
        struct shared_buf *event = event_for(e, w->next, w);
        bool written = !event || viewer_write(&w->viewer, event);
        shared_buf_drop(event);
        if (!written)
            return;
        w->next++;
    }
}

static void run_pump(struct loop_task *t)
{
    struct events *e = container_of(t, struct events, pump);
    list_each(&e->watchers, n, tmp) pump(e, container_of(n, struct watcher, node));
}

static void on_ready(struct viewer *v)
{
    struct watcher *w = container_of(v, struct watcher, viewer);
    pump(w->of, w);
}

static void on_gone(struct viewer *v)
{
    struct watcher *w = container_of(v, struct watcher, viewer);
    list_remove(&w->node);
    view_put(w->view);
    viewer_who_done(&v->who);
    free(w->jobs);
    free(w);
}

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
        add_crowd(e, crowd_new(e->changes, e->nchanges, e->window_ms));
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
    add_single(e, EVENT_RUN, c->group_id, c->job_id, "run", slice_of(json.data, json.len));
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
        drop_first(e);
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
        struct entry *x = add_single(e, EVENT_JOB, edits[i].group_id, edits[i].id, "job",
                                     slice_of(json.data, json.len));
        if (edits[i].was_group_id) /* those who saw it there learn that it has left */
            also_seen_in(x, &edits[i].was_group_id, 1);
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
    also_seen_in(add_single(e, EVENT_EXECUTOR, 0, 0, "executor", slice_of(json.data, json.len)),
                 x->groups, x->ngroups);
    buf_done(&json);
    free(key);
}

/* ---- alarms ------------------------------------------------------------------------------------
 */

bool events_wanted(const struct events *e, enum event_topic topic)
{
    list_each(&e->watchers, n, tmp)
    {
        if (container_of(n, const struct watcher, node)->topics & (unsigned)topic)
            return true;
    }
    return false;
}

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
    add_single(e, EVENT_ALARM, group_id, 0, "alarm", slice_of(json.data, json.len));
    buf_done(&json);
}

/* ---- vitals ------------------------------------------------------------------------------------
 */

static void write_vitals(struct events *e)
{
    struct buf json = BUF_INIT(4096);
    struct jsonw w = jsonw_on(&json);
    jsonw_object(&w, NULL);
    e->cf.vitals(e->cf.arg, &w);
    jsonw_object_end(&w);
    struct shared_buf *event = render(e, 0, "vitals", slice_of(json.data, json.len));
    buf_done(&json);
    list_each(&e->watchers, n, tmp)
    {
        struct watcher *w2 = container_of(n, struct watcher, node);
        if (w2->topics & EVENT_VITALS && viewer_has_room(&w2->viewer)) {
            bool written = viewer_write(&w2->viewer, event); /* the next ones come soon */
            (void)written;
        }
    }
    shared_buf_drop(event);
}

static void on_vitals(struct loop_timer *t)
{
    struct events *e = container_of(t, struct events, vitals);
    if (!list_empty(&e->watchers))
        write_vitals(e);
    loop_timer_set(e->cf.loop, t, loop_now_ms(e->cf.loop) + EVENTS_VITALS_MS);
}

/* ---- watching ----------------------------------------------------------------------------------
 */

/* Where the client goes on; the end and a reset, if that is not known any more. */
static void find_place(const struct events *e, struct watcher *w, const char *after)
{
    struct slice rest = slice_text(after), epoch;
    int64_t number, of;
    w->next = e->next;
    if (!after || !after[0])
        return;
    bool known = slice_cut(&rest, '-', &epoch) && parse_i64(epoch, &of) && of == e->epoch &&
                 parse_i64(rest, &number) && number >= 0 && (uint64_t)number + 1 >= e->first &&
                 (uint64_t)number < e->next;
    if (known)
        w->next = (uint64_t)number + 1;
    w->reset = !known;
}

/* So that a client whose connection breaks before the first event comes back to this place. */
static void write_place(struct events *e, struct watcher *w)
{
    char text[80];
    snprintf(text, sizeof(text), "id: %lld-%llu\n\n", (long long)e->epoch,
             (unsigned long long)w->next - 1);
    struct shared_buf *b = shared_buf_new(slice_text(text));
    bool written = viewer_write(&w->viewer, b); /* its queue is new */
    (void)written;
    shared_buf_drop(b);
}

void events_watch(struct events *e, struct httpd_request *q, struct slice headers,
                  const struct events_wish *wish, struct viewer_who *who)
{
    struct watcher *w = mem_new(sizeof(*w));
    w->of = e;
    w->viewer.who = *who;
    *who = (struct viewer_who){ 0 };
    w->viewer.ready = on_ready;
    w->viewer.gone = on_gone;
    if (!viewer_begin(e->cf.viewers, &w->viewer, q, headers)) {
        viewer_who_done(&w->viewer.who);
        free(w);
        return;
    }
    w->view = view_get(e, &wish->scope);
    w->topics = wish->topics;
    w->njobs = wish->njobs;
    w->jobs = mem_new((wish->njobs + 1) * sizeof(*w->jobs));
    if (wish->njobs)
        memcpy(w->jobs, wish->jobs, wish->njobs * sizeof(*w->jobs));
    find_place(e, w, wish->after);
    list_push(&e->watchers, &w->node);
    write_place(e, w);
    pump(e, w);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

struct events *events_new(const struct events_config *config)
{
    struct events *e = mem_new(sizeof(*e));
    e->cf = *config;
    e->epoch = clock_wall_ms();
    e->ring = mem_new(EVENTS_KEPT * sizeof(*e->ring));
    e->first = e->next = 1;
    list_init(&e->views);
    list_init(&e->watchers);
    e->pump.run = run_pump;
    e->window.fire = on_window;
    e->vitals.fire = on_vitals;
    loop_timer_set(e->cf.loop, &e->vitals, loop_now_ms(e->cf.loop) + EVENTS_VITALS_MS);
    e->reader = (struct feed_reader){ .begin = on_begin,
                                      .runs = on_runs,
                                      .ends = on_ends,
                                      .others = on_others,
                                      .edits = on_edits,
                                      .executor = on_executor };
    if (e->cf.feed)
        feed_add(e->cf.feed, &e->reader);
    return e;
}

struct feed_reader *events_reader(struct events *e)
{
    return &e->reader;
}

void events_free(struct events *e)
{
    if (!e)
        return;
    if (e->cf.feed)
        feed_remove(e->cf.feed, &e->reader);
    loop_undefer(e->cf.loop, &e->pump);
    loop_timer_clear(e->cf.loop, &e->window);
    loop_timer_clear(e->cf.loop, &e->vitals);
    while (e->first < e->next)
        drop_first(e);
    free(e->changes);
    free(e->ring);
    free(e);
}
