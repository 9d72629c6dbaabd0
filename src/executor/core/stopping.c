/* SPDX-License-Identifier: Apache-2.0 */
/* Draining and stopping: the phases of internal.h, and what moves the executor from one to the
 * next: the center has let go of it, no run is left, no result is left, or the time is over.
 *
 * The other files say when one of these may have happened (stopping_advance) and never set a phase
 * themselves. */
#include "base/log.h"
#include "executor/core/internal.h"

enum {
    FLUSH_MS = 5000,
    LEAVE_MS = 3000, /* to deregister, however many centers do not answer */
};

static void tell_stopped(struct loop_task *t)
{
    struct executor *e = container_of(t, struct executor, stopped_task);
    e->cf.on_stopped(e->cf.arg);
}

static void finish(struct executor *e)
{
    if (e->results.n)
        log_warn("executor", "%zu results are not delivered yet: they go out after the next start",
                 e->results.n);
    if (e->jobs.stuck)
        log_warn("executor", "%d handlers did not stop", e->jobs.stuck);
    e->phase = STOPPED;
    loop_timer_clear(e->loop, &e->stop_timer);
    loop_timer_clear(e->loop, &e->leave_timer);
    loop_defer(e->loop, &e->stopped_task);
}

void stopping_advance(struct executor *e)
{
    if ((e->phase == LEAVING || e->phase == ENDING) && e->left && e->jobs.live == 0) {
        e->phase = FLUSHING;
        loop_timer_set(e->loop, &e->stop_timer, loop_now_ms(e->loop) + FLUSH_MS);
    }
    if (e->phase == FLUSHING && e->results.n == 0)
        finish(e);
}

void stopping_left(void *executor)
{
    struct executor *e = executor;
    e->left = true;
    stopping_advance(e);
}

/* The centers notice by themselves, from the missing beats. */
static void leave_without_goodbye(struct executor *e)
{
    loop_timer_clear(e->loop, &e->leave_timer);
    e->left = true;
}

static void no_goodbye(struct loop_timer *t)
{
    struct executor *e = container_of(t, struct executor, leave_timer);
    leave_without_goodbye(e);
    stopping_advance(e);
}

void executor_drain(struct executor *e, bool drain)
{
    if (e->phase != RUNNING || e->draining == drain)
        return;
    e->draining = drain;
    log_info("executor",
             drain ? "draining: no new runs, %d are here" : "back to work, %d runs are here",
             e->jobs.live);
    if (drain) {
        centers_leave(e->centers);
    } else {
        e->left = false;
        centers_join(e->centers);
    }
}

static void end_runs(struct executor *e)
{
    e->phase = ENDING;
    loop_timer_clear(e->loop, &e->stop_timer);
    jobs_end_all(&e->jobs, RUN_SHUTDOWN);
    stopping_advance(e);
}

static void time_over(struct loop_timer *t)
{
    struct executor *e = container_of(t, struct executor, stop_timer);
    if (e->phase == LEAVING)
        end_runs(e);
    else if (e->phase == FLUSHING)
        finish(e);
}

void executor_stop(struct executor *e)
{
    switch (e->phase) {
    case RUNNING:
        e->phase = LEAVING;
        log_info("executor", "stopping: %d runs are here", e->jobs.live);
        loop_timer_set(e->loop, &e->stop_timer, loop_now_ms(e->loop) + e->cf.stop_ms);
        loop_timer_set(e->loop, &e->leave_timer, loop_now_ms(e->loop) + LEAVE_MS);
        centers_leave(e->centers);
        stopping_advance(e); /* one that was draining has left already */
        break;
    case LEAVING:
        leave_without_goodbye(e);
        end_runs(e);
        break;
    case FLUSHING:
        finish(e);
        break;
    case ENDING:
    case STOPPED:
        break;
    }
}

void stopping_init(struct executor *e)
{
    e->stop_timer.fire = time_over;
    e->leave_timer.fire = no_goodbye;
    e->stopped_task.run = tell_stopped;
}

void stopping_done(struct executor *e)
{
    e->phase = STOPPED;
    loop_timer_clear(e->loop, &e->stop_timer);
    loop_timer_clear(e->loop, &e->leave_timer);
    loop_undefer(e->loop, &e->stopped_task);
}
