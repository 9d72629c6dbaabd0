/* SPDX-License-Identifier: Apache-2.0 */
/* A tail is a run's log while it is followed. A page that has come is cut into events of some
 * lines, each rendered once into a ring; a viewer is a place in it. A page is taken only as fast as
 * the quickest viewer takes it, so that one who begins at line 1 of a long log loses nothing;
 * slower ones find in the ring what is still there, and see by the numbers what is not.
 *
 * A run's end is known to the scheduler, which says with each page whether the run was open when it
 * was asked: an empty page of a run that had ended is the end of its log. Of another server's run
 * the row says so, once: pages that are asked for from then on are those of a run that has ended.
 */
#include "live/tails.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsonw.h"
#include "base/map.h"
#include "base/mem.h"
#include "wire/log_lines.h"

#define PAUSE_MIN_MS 500
#define PAUSE_MAX_MS 3000
#define PAUSE_SLOW_MS 60000 /* for executors that take long */
#define KEPT_MS 30000       /* without a viewer, for those who come back */
#define UNREACHABLE_MS 60000
#define SHORTS_MAX 3
#define PIECE_LINES 500
#define PIECE_BYTES 32768
#define HELD_MAX (64u << 20)                       /* bytes of pages that are being taken, in all */
#define CLEANED "readLog fail, logFile not exists" /* as Java's executors say it */
#define LINES_KEY "\"lines\":["

enum tail_state { TAIL_RUNNING, TAIL_NOT_STARTED, TAIL_FINISHED, TAIL_CLEANED, TAIL_UNREACHABLE };
static const char *const state_texts[] = { "running", "not_started", "finished", "cleaned",
                                           "unreachable" };

struct piece { /* lines from to to, as one event */
    struct list_node node;
    int from, to;
    struct shared_buf *event;
};

struct tail {
    struct tails *of;
    int64_t group_id, log_id, trigger_ms;
    char *address; /* "" none yet */
    struct list watchers;
    struct list pieces; /* oldest first */
    size_t bytes;       /* of them */
    int next;           /* the line that comes into the ring next */
    /* the page that is being taken */
    char *content; /* NULL: none */
    size_t held;
    struct log_lines lines;
    struct slice line; /* read ahead */
    int claimed;       /* its last line's number, as the executor says */
    int shorts;        /* pages in a row that had fewer lines than they said */
    /* what viewers are told */
    enum tail_state state;
    char detail[256];
    bool ended;
    bool over;        /* the run has ended, by its row */
    unsigned version; /* of these three; 0: nothing is known yet */
    /* asking */
    bool asking, waiting;         /* for an answer; for its turn at the address */
    int64_t pause_ms, failing_ms; /* since when nothing is heard; 0: it answers */
    struct loop_timer timer;
};

struct watcher {
    struct viewer viewer;
    struct tail *tail;
    struct list_node node;
    int next;         /* the line that it wants */
    unsigned version; /* of the state that it was told */
};

struct tails {
    struct tails_config cf;
    struct map map; /* by log id */
    size_t held;
};

int64_t tail_pause(int64_t last_ms, bool lines, int64_t took_ms)
{
    int64_t pause = lines || !last_ms ? PAUSE_MIN_MS : last_ms + last_ms / 2;
    if (pause > PAUSE_MAX_MS)
        pause = PAUSE_MAX_MS;
    if (pause < 10 * took_ms)
        pause = 10 * took_ms;
    return pause < PAUSE_SLOW_MS ? pause : PAUSE_SLOW_MS;
}

/* ---- events ------------------------------------------------------------------------------------
 */

static void event_begin(struct buf *b, int from, int to)
{
    buf_printf(b, "id: %d\nevent: lines\ndata: {\"fromLine\":%d," LINES_KEY, to, from);
}

/* The same event without its first lines: the JSON texts before the comma go. */
static struct shared_buf *event_from(const struct piece *p, int from)
{
    struct slice all = shared_buf_content(p->event);
    const char *at = memmem(all.p, all.n, LINES_KEY, sizeof(LINES_KEY) - 1);
    at += sizeof(LINES_KEY) - 1;
    for (int i = p->from; i < from && *at == '"'; i++) {
        for (at++; *at != '"'; at++)
            at += *at == '\\';
        at++;             /* the quotation mark */
        at += *at == ','; /* none after the last line */
    }
    struct buf b;
    buf_init(&b, SIZE_MAX / 4);
    event_begin(&b, from, p->to);
    buf_add(&b, at, (size_t)(all.p + all.n - at));
    struct shared_buf *event = shared_buf_new(slice_of(b.data, b.len));
    buf_done(&b);
    return event;
}

static struct shared_buf *event_state(const struct tail *t)
{
    struct buf b = BUF_INIT(4096);
    buf_text(&b, "event: state\ndata: ");
    struct jsonw w = jsonw_on(&b);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "state", state_texts[t->state]);
    jsonw_bool(&w, "end", t->ended);
    jsonw_text(&w, "detail", t->detail[0] ? t->detail : NULL);
    jsonw_object_end(&w);
    buf_text(&b, "\n\n");
    struct shared_buf *event = shared_buf_new(slice_of(b.data, b.len));
    buf_done(&b);
    return event;
}

/* ---- the ring ----------------------------------------------------------------------------------
 */

static struct piece *piece_first(const struct tail *t)
{
    struct list_node *n = list_first(&t->pieces);
    return n ? container_of(n, struct piece, node) : NULL;
}

static void piece_free(struct tail *t, struct piece *p)
{
    list_remove(&p->node);
    t->bytes -= p->event->n;
    shared_buf_drop(p->event);
    free(p);
}

static void ring_empty(struct tail *t)
{
    for (struct piece *p; (p = piece_first(t));)
        piece_free(t, p);
}

static void ring_put(struct tail *t, int from, int to, struct slice event)
{
    struct piece *p = mem_new(sizeof(*p));
    p->from = from;
    p->to = to;
    p->event = shared_buf_new(event);
    t->bytes += event.n;
    list_push(&t->pieces, &p->node);
    while (t->bytes > TAIL_RING && piece_first(t) != p)
        piece_free(t, piece_first(t));
}

/* ---- a page ------------------------------------------------------------------------------------
 */

static void page_drop(struct tail *t)
{
    if (!t->content)
        return;
    log_lines_done(&t->lines);
    free(t->content);
    t->content = NULL;
    t->of->held -= t->held;
}

/* The page has lines, the first of them t->next. */
static void page_hold(struct tail *t, struct center_log *page)
{
    t->content = page->content;
    t->held = page->n;
    t->claimed = page->to_line;
    t->of->held += t->held;
    page->content = NULL;
    log_lines_begin(&t->lines, slice_of(t->content, t->held));
    if (!log_lines_next(&t->lines, &t->line))
        page_drop(t);
}

/* The page is taken. The lines that came count, not what the executor says of them: the next
 * request begins after them. One that numbers otherwise would be asked for the same lines for ever,
 * so after some such pages in a row its own number counts. */
static void page_end(struct tail *t)
{
    t->shorts = t->claimed >= t->next ? t->shorts + 1 : 0;
    if (t->shorts == SHORTS_MAX) {
        t->next = t->claimed + 1;
        t->shorts = 0;
    }
    page_drop(t);
}

/* Some lines of the page go into the ring. */
static void page_take(struct tail *t)
{
    struct buf text, event;
    buf_init(&text, SIZE_MAX / 4);
    buf_init(&event, SIZE_MAX / 4);
    struct jsonw w = jsonw_on(&text);
    int from = t->next, to = from - 1;
    bool more = true;
    while (more && to - from < PIECE_LINES && text.len < PIECE_BYTES) {
        jsonw_slice(&w, NULL, t->line);
        to++;
        more = log_lines_next(&t->lines, &t->line);
    }
    event_begin(&event, from, to);
    buf_add(&event, text.data, text.len);
    buf_text(&event, "]}\n\n");
    ring_put(t, from, to, slice_of(event.data, event.len));
    t->next = to + 1;
    buf_done(&text);
    buf_done(&event);
    if (!more)
        page_end(t);
}

/* ---- viewers -----------------------------------------------------------------------------------
 */

/* Where the watcher goes on; NULL: it has all that is there. */
static struct piece *piece_for(const struct tail *t, const struct watcher *w)
{
    struct piece *found = NULL;
    for (struct list_node *n = t->pieces.head.prev; n != &t->pieces.head; n = n->prev) {
        struct piece *p = container_of(n, struct piece, node);
        if (p->to < w->next)
            break;
        found = p;
    }
    return found;
}

static bool write_piece(struct watcher *w, const struct piece *p)
{
    bool part = p->from < w->next;
    struct shared_buf *event = part ? event_from(p, w->next) : shared_buf_hold(p->event);
    bool written = viewer_write(&w->viewer, event);
    shared_buf_drop(event);
    if (written)
        w->next = p->to + 1;
    return written;
}

/* Write what the watcher has room for; after the last event of a log that has ended, its end. */
static void pump(struct tail *t, struct watcher *w)
{
    struct piece *p = piece_for(t, w);
    while (p && viewer_has_room(&w->viewer) && write_piece(w, p))
        p = p->node.next == &t->pieces.head ? NULL : container_of(p->node.next, struct piece, node);
    if (p || t->content || w->version == t->version)
        return;
    struct shared_buf *event = event_state(t);
    bool written = viewer_write(&w->viewer, event);
    shared_buf_drop(event);
    if (!written)
        return;
    w->version = t->version;
    if (t->ended)
        viewer_end(&w->viewer);
}

static void pump_all(struct tail *t)
{
    list_each(&t->watchers, n, tmp) pump(t, container_of(n, struct watcher, node));
}

/* Is there one who has everything in the ring, and room for more? */
static bool page_wanted(const struct tail *t)
{
    list_each(&t->watchers, n, tmp)
    {
        const struct watcher *w = container_of(n, struct watcher, node);
        if (!piece_for(t, w) && viewer_has_room(&w->viewer))
            return true;
    }
    return false;
}

/* ---- asking ------------------------------------------------------------------------------------
 */

static void ask(struct tail *t);

static void after(struct tail *t, int64_t ms)
{
    loop_timer_set(t->of->cf.loop, &t->timer, loop_now_ms(t->of->cf.loop) + ms);
}

/* Take of the page what is wanted, tell everybody, and see to the next ask. */
static void go_on(struct tail *t)
{
    bool had = t->content != NULL;
    while (t->content && page_wanted(t)) {
        page_take(t);
        pump_all(t);
    }
    if (!t->content) {
        pump_all(t);
        if (had && !t->ended && !list_empty(&t->watchers))
            after(t, t->pause_ms);
    }
}

static int asks_to(const struct tails *ts, const char *address)
{
    int n = 0;
    void *value;
    for (size_t i = 0; map_next(&ts->map, &i, &value);) {
        const struct tail *t = value;
        n += t->asking && strcmp(t->address, address) == 0;
    }
    return n;
}

static void ask(struct tail *t)
{
    struct tails *ts = t->of;
    t->waiting = t->address[0] && asks_to(ts, t->address) >= TAILS_OF_ADDRESS;
    if (t->waiting)
        return;
    t->asking = true;
    const struct center_log_of of = { .group_id = t->group_id,
                                      .log_id = t->log_id,
                                      .trigger_ms = t->trigger_ms,
                                      .address = t->address };
    ts->cf.ask(ts->cf.arg, center_log_ask_new(&of, t->next));
}

/* A place at the address has become free: it is the next one's. */
static void let_next_ask(struct tails *ts, const char *address)
{
    void *value;
    for (size_t i = 0; map_next(&ts->map, &i, &value);) {
        struct tail *t = value;
        if (!t->waiting || strcmp(t->address, address) != 0)
            continue;
        ask(t);
        return;
    }
}

static void tail_free(struct tail *t)
{
    struct tails *ts = t->of;
    loop_timer_clear(ts->cf.loop, &t->timer);
    map_take(&ts->map, (uint64_t)t->log_id);
    page_drop(t);
    ring_empty(t);
    free(t->address);
    free(t);
}

static void on_timer(struct loop_timer *timer)
{
    struct tail *t = container_of(timer, struct tail, timer);
    if (!list_empty(&t->watchers)) {
        if (!t->asking && !t->waiting && !t->content && !t->ended)
            ask(t);
    } else if (t->asking) { /* until its answer has come */
        after(t, KEPT_MS);
    } else {
        tail_free(t);
    }
}

static void tell(struct tail *t, enum tail_state state, bool ended, const char *detail)
{
    if (t->version && t->state == state && t->ended == ended && strcmp(t->detail, detail) == 0)
        return;
    t->state = state;
    t->ended = ended;
    text_copy(t->detail, sizeof(t->detail), slice_text(detail));
    t->version++;
}

/* ---- answers -----------------------------------------------------------------------------------
 */

static void unheard(struct tail *t, const struct center_log_ask *a)
{
    int64_t now = loop_now_ms(t->of->cf.loop);
    if (!t->failing_ms)
        t->failing_ms = now;
    tell(t, TAIL_UNREACHABLE, now - t->failing_ms >= UNREACHABLE_MS, a->why.text);
}

static bool is_cleaned(const struct center_log *page)
{
    return page->n >= sizeof(CLEANED) - 1 &&
           memmem(page->content, page->n, CLEANED, sizeof(CLEANED) - 1);
}

static void heard(struct tail *t, struct center_log_ask *a)
{
    struct center_log *page = &a->log;
    t->failing_ms = 0;
    if (!t->address[0]) {
        free(t->address);
        t->address = mem_dup(a->address);
        t->trigger_ms = a->trigger_ms;
    }
    /* no more lines than bytes: their numbers stay below that of the claim's type */
    bool lines = page->n && page->to_line >= t->next && page->to_line < INT32_MAX &&
                 page->n < (size_t)(INT32_MAX - t->next);
    if (is_cleaned(page)) { /* its file is made when the run starts */
        tell(t, a->run_open ? TAIL_NOT_STARTED : TAIL_CLEANED, !a->run_open, "");
        lines = false;
    } else if (lines && t->of->held + page->n > HELD_MAX) {
        lines = false; /* it is asked for again when others have taken theirs */
    } else if (lines) {
        tell(t, a->run_open ? TAIL_RUNNING : TAIL_FINISHED, false, "");
        page_hold(t, page);
    } else {
        /* isEnd of an open run is the end of what the file has now: some executors say it each time
         */
        tell(t, a->run_open ? TAIL_RUNNING : TAIL_FINISHED, !a->run_open, "");
    }
    t->pause_ms = tail_pause(t->pause_ms, lines, a->took_ms);
}

static void take_answer(struct tail *t, struct center_log_ask *a)
{
    if (a->err == ERR_STOPPING)
        return;
    if (a->err == ERR_NOTFOUND)
        tell(t, TAIL_NOT_STARTED, !a->run_open, "");
    else if (a->err)
        unheard(t, a);
    if (a->err)
        t->pause_ms = tail_pause(t->pause_ms, false, 0); /* nothing was read for us */
    else
        heard(t, a);
    if (!t->content && !t->ended)
        after(t, t->pause_ms);
    go_on(t);
}

static void answered(struct tails *ts, struct tail *t, struct center_log_ask *a)
{
    if (t) {
        t->asking = false;
        bool fits = a->from_line == t->next && !t->content && !t->ended;
        if (!list_empty(&t->watchers) && fits)
            take_answer(t, a);
        else if (!list_empty(&t->watchers))
            after(t, 0); /* they have come for other lines meanwhile */
        let_next_ask(ts, a->address);
    }
    center_log_ask_free(a);
}

void tails_answered(struct tails *ts, struct center_log_ask *a)
{
    struct tail *t = map_find(&ts->map, (uint64_t)a->log_id);
    if (t && !t->over && !a->run_open && a->err != ERR_STOPPING && ts->cf.look)
        ts->cf.look(ts->cf.arg, a);
    else
        answered(ts, t, a);
}

/* The page was read before the row: lines may have come in between. */
void tails_looked(struct tails *ts, struct center_log_ask *a, bool ended)
{
    struct tail *t = map_find(&ts->map, (uint64_t)a->log_id);
    if (t)
        t->over = ended;
    a->run_open = true;
    answered(ts, t, a);
}

/* ---- watching ----------------------------------------------------------------------------------
 */

static void on_gone(struct viewer *v)
{
    struct watcher *w = container_of(v, struct watcher, viewer);
    struct tail *t = w->tail;
    list_remove(&w->node);
    viewer_who_done(&v->who);
    free(w);
    if (!list_empty(&t->watchers))
        return;
    t->waiting = false;
    page_drop(t); /* asked for again when it is wanted */
    after(t, KEPT_MS);
}

static void on_ready(struct viewer *v)
{
    struct watcher *w = container_of(v, struct watcher, viewer);
    struct tail *t = w->tail;
    pump(t, w); /* may be its end */
    go_on(t);
}

static struct tail *tail_new(struct tails *ts, const struct tail_wish *wish)
{
    struct tail *t = mem_new(sizeof(*t));
    t->of = ts;
    t->log_id = wish->log_id;
    t->group_id = wish->group_id;
    t->trigger_ms = wish->trigger_ms;
    t->address = mem_dup(wish->address ? wish->address : "");
    t->next = wish->from_line;
    t->over = wish->ended;
    t->timer.fire = on_timer;
    list_init(&t->watchers);
    list_init(&t->pieces);
    map_set(&ts->map, (uint64_t)t->log_id, t);
    return t;
}

/* A place for one more: that of one without a viewer. */
static bool make_room(struct tails *ts)
{
    void *value;
    if (ts->map.len < TAILS_MAX)
        return true;
    for (size_t i = 0; map_next(&ts->map, &i, &value);) {
        struct tail *t = value;
        if (!list_empty(&t->watchers) || t->asking)
            continue;
        tail_free(t);
        return true;
    }
    return false;
}

/* The first to come back decides where the log begins, if the ring begins behind it; what could not
 * be reached is tried again. */
static void tail_again(struct tail *t, const struct tail_wish *wish)
{
    const struct piece *first = piece_first(t);
    int begin = first ? first->from : t->next;
    bool back = wish->from_line < begin;
    t->over |= wish->ended;
    if (back) {
        ring_empty(t);
        t->next = wish->from_line;
    }
    if (back || t->state == TAIL_UNREACHABLE) {
        t->ended = false;
        t->version = 0;
        t->failing_ms = 0;
    }
    t->pause_ms = 0;
}

/* One more comes for earlier lines, and there are none yet: the asking goes back to his, for those
 * who were there first may have named a line that the log never reaches. */
static void tail_back(struct tail *t, int from_line)
{
    if (from_line >= t->next || t->content || piece_first(t))
        return;
    t->next = from_line;
    t->shorts = 0;
    t->pause_ms = 0;
    if (!t->asking && !t->waiting)
        after(t, 0);
}

enum err tails_watch(struct tails *ts, struct httpd_request *q, struct slice headers,
                     const struct tail_wish *wish, struct viewer_who *who)
{
    struct tail *t = map_find(&ts->map, (uint64_t)wish->log_id);
    if (!t && !make_room(ts))
        return ERR_FULL;
    struct watcher *w = mem_new(sizeof(*w));
    w->viewer.who = *who;
    *who = (struct viewer_who){ 0 };
    w->viewer.ready = on_ready;
    w->viewer.gone = on_gone;
    w->next = wish->from_line;
    if (!viewer_begin(ts->cf.viewers, &w->viewer, q, headers)) {
        viewer_who_done(&w->viewer.who);
        free(w);
        return OK;
    }
    bool first = !t || list_empty(&t->watchers);
    if (!t)
        t = tail_new(ts, wish);
    else if (first)
        tail_again(t, wish);
    else
        tail_back(t, wish->from_line);
    w->tail = t;
    list_push(&t->watchers, &w->node);
    pump(t, w);
    if (first && !t->ended)
        after(t, 0);
    return OK;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

int tails_count(const struct tails *ts)
{
    return (int)ts->map.len;
}

struct tails *tails_new(const struct tails_config *config)
{
    struct tails *ts = mem_new(sizeof(*ts));
    ts->cf = *config;
    map_init(&ts->map);
    return ts;
}

void tails_free(struct tails *ts)
{
    if (!ts)
        return;
    void *value;
    for (size_t i = 0; (value = map_any(&ts->map, &i));)
        tail_free(value);
    map_done(&ts->map);
    free(ts);
}
