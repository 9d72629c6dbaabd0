/* SPDX-License-Identifier: Apache-2.0 */
/* front_live.c - what is told as it happens: streams of logs and events, whether their viewers may
 * still see them, alarms, the forecast that follows edits. What needs the database for it is a call
 * of the server's own, which a worker runs. */
#include "api/front_internal.h"
#include "api/alarm_look.h"
#include "api/end_look.h"
#include "api/watch.h"
#include "base/clock.h"
#include "base/mem.h"
#include "live/forecast.h"
#include "live/vitals.h"

static void ask_log(void *arg, struct center_log_ask *a)
{
    struct web *w = arg;
    center_log_ask(w->center, a, w->mailbox, MESSAGE_LOG);
}

/* A call of the server's own; under_way: while there is one no other is made. */
static struct web_call *call_own(struct web *w, bool *under_way)
{
    struct web_call *call = mem_new(sizeof(*call));
    call->message.kind = MESSAGE_ANSWER;
    call->config = w->config;
    call->center = w->center;
    call->logins = w->logins;
    call->forecast = w->forecast;
    call->under_way = under_way;
    buf_init(&call->headers, 0);
    buf_init(&call->output, 0);
    return call;
}

static void queue_own(struct web *w, struct web_call *call)
{
    *call->under_way = true;
    web_queue_or_refuse(w, call);
}

static void look_at_ends(struct web *w)
{
    if (w->ending || !end_look_wanted(w->ends))
        return;
    struct web_call *call = call_own(w, &w->ending);
    end_look_collect(call, w->ends);
    queue_own(w, call);
}

static void look_at_end(void *arg, struct center_log_ask *a)
{
    struct web *w = arg;
    end_look_add(w->ends, a);
    look_at_ends(w);
}

/* A viewer whose user has logged out since, or has other rights now, is sent no more. */
static void check_viewers(void *arg)
{
    struct web *w = arg;
    if (w->checking || !viewers_count(w->live.viewers))
        return;
    struct web_call *call = call_own(w, &w->checking);
    watch_collect(call, w->live.viewers);
    queue_own(w, call);
}

static void look_at_alarms(struct loop_timer *t)
{
    struct web *w = container_of(t, struct web, alarms_timer);
    loop_timer_set(w->loop, t, loop_now_ms(w->loop) + ALARM_LOOK_MS);
    look_at_ends(w); /* those that came while one was under way, or was refused */
    if (w->looking || !alarm_look_wanted(w->alarms, w->live.events))
        return;
    struct web_call *call = call_own(w, &w->looking);
    alarm_look_collect(call, w->alarms);
    queue_own(w, call);
}

static void write_vitals(void *arg, struct jsonw *to)
{
    struct web *w = arg;
    struct vitals_now v;
    vitals_read(w->vitals, &v);
    jsonw_bool(to, "ok", v.ok);
    jsonw_i64(to, "inFlight", v.in_flight);
    jsonw_i64(to, "waiting", v.waiting);
    jsonw_i64(to, "unknown", v.unknown);
    if (v.lateness_p99_ms >= 0)
        jsonw_real(to, "latenessP99Ms", v.lateness_p99_ms);
    else
        jsonw_null(to, "latenessP99Ms");
    jsonw_i64(to, "horizonMs", v.horizon_ms);
    jsonw_i64(to, "nowMs", clock_wall_ms());
}

static void on_begin(struct feed_reader *r, const struct run_seen *open, size_t n)
{
    (void)r;
    (void)open;
    (void)n;
}

static void on_edits(struct feed_reader *r, const struct feed_edit *edits, size_t n)
{
    struct web *w = container_of(r, struct web, edits);
    for (size_t i = 0; i < n; i++)
        if (edits[i].kind <= EDIT_JOB_DELETE)
            forecast_changed(w->forecast, edits[i].id);
}

void web_live_new(struct web *w)
{
    w->live.viewers = viewers_new(w->loop, 0, check_viewers, w);
    struct tails_config tails = { .loop = w->loop,
                                  .viewers = w->live.viewers,
                                  .ask = ask_log,
                                  .look = center_shares(w->center) ? look_at_end : NULL,
                                  .arg = w };
    w->ends = end_look_new();
    w->live.tails = tails_new(&tails);
}

void web_live_start(struct web *w)
{
    w->edits.begin = on_begin;
    w->edits.edits = on_edits;
    feed_add(w->feed, &w->edits);
    struct events_config events = { .loop = w->loop,
                                    .viewers = w->live.viewers,
                                    .feed = w->feed,
                                    .vitals = write_vitals,
                                    .arg = w };
    w->live.events = events_new(&events);
    w->alarms = alarm_look_new();
    w->alarms_timer.fire = look_at_alarms;
    loop_timer_set(w->loop, &w->alarms_timer, loop_now_ms(w->loop) + ALARM_LOOK_MS);
}

void web_live_undo(struct web *w)
{
    viewers_free(w->live.viewers);
    tails_free(w->live.tails);
    end_look_free(w->ends);
}

void web_live_free(struct web *w)
{
    web_live_undo(w);
    events_free(w->live.events);
    loop_timer_clear(w->loop, &w->alarms_timer);
    alarm_look_free(w->alarms);
    feed_remove(w->feed, &w->edits);
}
