/* SPDX-License-Identifier: Apache-2.0 */
/* A list of all viewers, and one timer for them. What every viewer gets is one shared buffer. */
#include "live/viewers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"

#define RETRY_MIN_MS 2000 /* until a client comes back, so that not all come at once */
#define RETRY_MAX_MS 5000

struct viewers {
    struct loop *loop;
    struct loop_timer timer;
    int heartbeat_ms;
    void (*on_heartbeat)(void *arg);
    void *arg;
    struct list all;
    int n;
    uint64_t last_id;
    bool stopping;
};

/* ---- who ---------------------------------------------------------------------------------------
 */

void viewer_who_scope(struct viewer_who *who, const struct scope *scope)
{
    int64_t *ids = mem_new((scope->n + 1) * sizeof(*ids));
    if (scope->n)
        memcpy(ids, scope->ids, scope->n * sizeof(*ids));
    free((int64_t *)who->scope.ids);
    who->scope = (struct scope){ .all = scope->all, .ids = ids, .n = scope->n };
}

void viewer_who_copy(struct viewer_who *to, const struct viewer_who *from)
{
    *to = *from;
    to->scope.ids = NULL;
    viewer_who_scope(to, &from->scope);
}

void viewer_who_done(struct viewer_who *who)
{
    free((int64_t *)who->scope.ids);
    *who = (struct viewer_who){ 0 };
}

/* ---- life --------------------------------------------------------------------------------------
 */

static void forget(struct viewer *v)
{
    list_remove(&v->node);
    v->of->n--;
    v->stream = NULL;
    v->gone(v);
}

static void on_ready(void *arg)
{
    struct viewer *v = arg;
    v->ready(v);
}

static void on_gone(void *arg)
{
    forget(arg);
}

bool viewers_room(const struct viewers *vs, int64_t user_id)
{
    int n = 0;
    list_each(&vs->all, node, tmp) n +=
        container_of(node, struct viewer, node)->who.user_id == user_id;
    return !vs->stopping && n < VIEWERS_OF_USER;
}

static void begin_text(struct viewer *v)
{
    char text[64];
    unsigned char dice[2];
    secret_random(dice, sizeof(dice));
    int retry = RETRY_MIN_MS + (dice[0] << 8 | dice[1]) % (RETRY_MAX_MS - RETRY_MIN_MS + 1);
    snprintf(text, sizeof(text), "retry: %d\n\n", retry);
    struct shared_buf *b = shared_buf_new(slice_text(text));
    bool written = viewer_write(v, b); /* the queue is empty */
    (void)written;
    shared_buf_drop(b);
}

bool viewer_begin(struct viewers *vs, struct viewer *v, struct httpd_request *q,
                  struct slice headers)
{
    struct buf all;
    buf_init(&all, 16384);
    buf_slice(&all, headers);
    buf_text(&all, "X-Accel-Buffering: no\r\n"); /* a proxy passes each event on at once */
    v->stream = httpd_stream(q, 200, "text/event-stream", slice_of(all.data, all.len), on_ready,
                             on_gone, v);
    buf_done(&all);
    if (!v->stream)
        return false;
    v->of = vs;
    v->id = ++vs->last_id;
    list_push(&vs->all, &v->node);
    vs->n++;
    begin_text(v);
    return true;
}

bool viewer_write(struct viewer *v, struct shared_buf *event)
{
    return httpd_stream_write(v->stream, event);
}

bool viewer_has_room(const struct viewer *v)
{
    return httpd_stream_unsent(v->stream) < VIEWERS_UNSENT;
}

void viewer_end(struct viewer *v)
{
    httpd_stream_end(v->stream);
    forget(v);
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static void write_all(struct viewers *vs, const char *text, bool even_if_waiting)
{
    struct shared_buf *b = shared_buf_new(slice_text(text));
    list_each(&vs->all, n, tmp)
    {
        struct viewer *v = container_of(n, struct viewer, node);
        if (even_if_waiting || !httpd_stream_unsent(v->stream)) {
            bool written = viewer_write(v, b); /* a full queue has something to send as it is */
            (void)written;
        }
    }
    shared_buf_drop(b);
}

static void on_timer(struct loop_timer *t)
{
    struct viewers *vs = container_of(t, struct viewers, timer);
    int64_t now_ms = clock_wall_ms();
    list_each(&vs->all, n, tmp)
    {
        struct viewer *v = container_of(n, struct viewer, node);
        if (v->who.ends_ms <= now_ms)
            viewer_end(v);
    }
    write_all(vs, ":\n\n", false);
    loop_timer_set(vs->loop, t, loop_now_ms(vs->loop) + vs->heartbeat_ms);
    if (vs->on_heartbeat)
        vs->on_heartbeat(vs->arg);
}

void viewers_bye(struct viewers *vs)
{
    vs->stopping = true;
    write_all(vs, "event: bye\ndata: {}\n\n", true);
    list_each(&vs->all, n, tmp) viewer_end(container_of(n, struct viewer, node));
}

void viewers_each(const struct viewers *vs, viewers_fn *fn, void *ctx)
{
    list_each(&vs->all, n, tmp) fn(ctx, container_of(n, struct viewer, node));
}

void viewers_end(struct viewers *vs, uint64_t id)
{
    list_each(&vs->all, n, tmp)
    {
        struct viewer *v = container_of(n, struct viewer, node);
        if (v->id == id) {
            viewer_end(v);
            return;
        }
    }
}

int viewers_count(const struct viewers *vs)
{
    return vs->n;
}

struct viewers *viewers_new(struct loop *l, int heartbeat_ms, void (*on_heartbeat)(void *arg),
                            void *arg)
{
    struct viewers *vs = mem_new(sizeof(*vs));
    vs->loop = l;
    vs->heartbeat_ms = heartbeat_ms > 0 ? heartbeat_ms : VIEWERS_HEARTBEAT_MS;
    vs->on_heartbeat = on_heartbeat;
    vs->arg = arg;
    vs->timer.fire = on_timer;
    list_init(&vs->all);
    loop_timer_set(l, &vs->timer, loop_now_ms(l) + vs->heartbeat_ms);
    return vs;
}

void viewers_free(struct viewers *vs)
{
    if (!vs)
        return;
    loop_timer_clear(vs->loop, &vs->timer);
    list_each(&vs->all, n, tmp) forget(container_of(n, struct viewer, node));
    free(vs);
}
