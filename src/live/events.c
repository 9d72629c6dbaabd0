/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - viewers of the ring of events: each has the number of the next entry that it has not
 * looked at. A viewer writes what it may see while its client takes it, and is set to the end when
 * it falls behind: a slow client costs nothing and delays no other.
 *
 * Vitals are about now, so they are not kept. */
#include "live/events_internal.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIEWS_KEPT 64 /* renderings of a crowd */

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
        event = events_render(e, number, "runs", slice_of(json.data, json.len));
    buf_done(&json);
    return event;
}

/* Its rendering for the viewer, held; NULL: nothing in it is for the viewer. */
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

/* The entry as the viewer gets it, held; NULL: the viewer may not see it. */
static struct shared_buf *event_for(const struct events *e, uint64_t number,
                                    const struct watcher *w)
{
    struct entry *x = events_entry(e, number);
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
    return w->next < e->next && e->bytes - events_entry(e, w->next)->before > EVENTS_BEHIND_BYTES;
}

static bool write_reset(struct events *e, struct watcher *w)
{
    struct shared_buf *event = events_render(e, e->next - 1, "reset", slice_text("{}"));
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
    events_view_put(w->view);
    viewer_who_done(&v->who);
    free(w->jobs);
    free(w);
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
    struct shared_buf *event = events_render(e, 0, "vitals", slice_of(json.data, json.len));
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
    w->view = events_view_get(e, &wish->scope);
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
    events_feed_init(e);
    e->vitals.fire = on_vitals;
    loop_timer_set(e->cf.loop, &e->vitals, loop_now_ms(e->cf.loop) + EVENTS_VITALS_MS);
    if (e->cf.feed)
        feed_add(e->cf.feed, &e->reader);
    return e;
}

bool events_wanted(const struct events *e, enum event_topic topic)
{
    list_each(&e->watchers, n, tmp)
    {
        if (container_of(n, const struct watcher, node)->topics & (unsigned)topic)
            return true;
    }
    return false;
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
        events_drop_first(e);
    free(e->changes);
    free(e->ring);
    free(e);
}
