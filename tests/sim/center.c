/* SPDX-License-Identifier: Apache-2.0 */
/* center.c - drives the core as a server does: pops actions, gives the writer one batch at a time,
 * keeps both clocks. It may crash between any two calls. */
#include "sim.h"
#include "store/memory/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a disk that fails ----------------------------------------------------------------------- */

static struct sim *failing; /* one world at a time */

static bool disk_fails(struct why *why)
{
    if (failing->boot_ms >= failing->store_bad_until_ms || !sim_chance(failing, 400000))
        return false;
    why_set(why, "the disk is full");
    return true;
}

static enum err faulty_begin(struct store *s, struct why *why)
{
    return disk_fails(why) ? ERR_FULL : store_memory_ops.txn->begin(s, why);
}

static enum err faulty_commit(struct store *s, const struct commit *c, struct why *why)
{
    return disk_fails(why) ? ERR_IO : store_memory_ops.txn->commit(s, c, why);
}

static enum err faulty_runs_add(struct store *s, struct run_row *rows, int n, struct why *why)
{
    return disk_fails(why) ? ERR_FULL : store_memory_ops.runs->runs_add(s, rows, n, why);
}

static enum err faulty_runs_change(struct store *s, struct run_change *c, int n,
                                   int64_t *ret_missed, struct why *why)
{
    return disk_fails(why) ? ERR_FULL
                           : store_memory_ops.runs->runs_change(s, c, n, ret_missed, why);
}

static enum err faulty_job_update(struct store *s, const struct job_record *r, struct why *why)
{
    return disk_fails(why) ? ERR_FULL : store_memory_ops.catalog->job_update(s, r, why);
}

static void disk_new(struct sim *s)
{
    struct store_options options = { .node = 1, .epoch = 1 };
    s->store = store_memory_new(&options);
    s->ops = store_memory_ops;
    s->txn = *s->ops.txn;
    s->runs = *s->ops.runs;
    s->catalog = *s->ops.catalog;
    s->txn.begin = faulty_begin;
    s->txn.commit = faulty_commit;
    s->runs.runs_add = faulty_runs_add;
    s->runs.runs_change = faulty_runs_change;
    s->catalog.job_update = faulty_job_update;
    s->ops.txn = &s->txn;
    s->ops.runs = &s->runs;
    s->ops.catalog = &s->catalog;
    s->store->ops = &s->ops;
    failing = s;
}

void center_store_fault(struct sim *s, struct event *e)
{
    (void)e;
    if (s->calm)
        return;
    if (sim_chance(s, 300000)) {
        s->slow_disk = !s->slow_disk;
        return;
    }
    s->store_bad_until_ms = s->boot_ms + sim_between(s, 300, 20000);
    s->store_good_since_ms = s->store_bad_until_ms;
    sim_trace(s, "the disk fails until %.3f", (double)s->store_bad_until_ms / 1000);
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct center_call {
    struct transport_call call;
    struct list_node node; /* in sim.calls */
    struct sim *s;
    enum call_kind kind;
    int64_t log_id;
    uint32_t ticket;
    char address[48];
};

static bool on_leaving(void *arg)
{
    const struct center_call *o = arg;
    return sched_leaving(o->s->sched, sim_now(o->s), o->log_id, o->ticket);
}

/* As the server: a call that is not even tried ends while actions are popped. */
static void on_called(struct transport_call *call, struct call_result *r)
{
    struct center_call *o = container_of(call, struct center_call, call);
    struct sim *s = o->s;
    r->kind = o->kind;
    r->log_id = o->log_id;
    r->ticket = o->ticket;
    r->address = o->address;
    list_remove(&o->node);
    sched_on_call(s->sched, sim_now(s), r);
    free(o);
    if (!s->pumping)
        center_pump(s);
}

static void start_call(struct sim *s, const struct call *call)
{
    struct center_call *o = mem_new(sizeof(*o));
    o->call.done = on_called;
    o->call.leaving = call->kind == CALL_RUN ? on_leaving : NULL;
    o->call.arg = o;
    o->s = s;
    o->kind = call->kind;
    o->log_id = call->log_id;
    o->ticket = call->ticket;
    snprintf(o->address, sizeof(o->address), "%s", call->address);
    list_push(&s->calls, &o->node);
    s->net.ops->call(&s->net, call, &o->call);
}

/* The process has gone, and its connections with it. */
static void drop_calls(struct sim *s)
{
    for (struct list_node *n; (n = list_pop(&s->calls));) {
        struct center_call *o = container_of(n, struct center_call, node);
        transport_abort(&o->call);
        free(o);
    }
}

/* ---- life and death -------------------------------------------------------------------------- */

static void on_restart(struct sim *s, struct event *e)
{
    (void)e;
    if (!s->sched)
        center_start(s);
}

static void drop_acks(struct sim *s)
{
    for (struct list_node *n; (n = list_pop(&s->acks));)
        free(container_of(n, struct sim_ack, all));
}

static void center_down(struct sim *s)
{
    struct action a;
    while (sched_pop(s->sched, &a))
        if (a.kind == ACTION_EDITED)
            edit_free(a.edit);
    batch_free(s->writing);
    s->writing = NULL;
    sched_free(s->sched);
    s->sched = NULL;
    planner_free(s->planner);
    s->planner = NULL;
    figures_free(s->figures);
    s->figures = NULL;
    writes_drop(s);
    drop_acks(s);
}

/* The process is gone, however it came to that; it starts again in a while. */
static void center_end(struct sim *s, enum end_kind how)
{
    check_stop(s, how == END_CLEAN);
    check_flight_end(s, how);
    struct sched_stats st;
    sched_stats(s->sched, &st);
    s->queries += (int64_t)st.queries;
    s->doubts += (int64_t)st.doubts;
    s->crash_in = 0;
    check_wire_end(s);
    s->life++;
    s->stopping = false;
    center_down(s);
    recorder_end(s, how);
    backup_end(s);
    drop_calls(s);
    int64_t away = sim_chance(s, 500000) ? sim_between(s, 5, 1500) : sim_between(s, 1500, 25000);
    if (sim_chance(s, 80000))
        away = sim_between(s, 25000, 110000);
    if (s->outage && !s->calm) {
        s->outage = false;
        away = sim_between(s, 20000000, 200000000);
    }
    sim_send(s, away, on_restart, 0, 0, NULL);
}

void center_crash(struct sim *s)
{
    bool cut = !s->backup_heard && sim_chance(s, 350000);
    sim_trace(s, cut ? "the power is cut" : "the center is killed");
    s->crashes++;
    center_end(s, cut ? END_POWER_CUT : END_KILL);
}

static void on_stop_over(struct sim *s, struct event *e)
{
    if (!s->sched || e->life != s->life || center_frozen(s, e))
        return;
    sim_trace(s, "the center does not wait any longer");
    center_end(s, END_KILL);
}

void center_stop(struct sim *s, struct event *e)
{
    if (!s->sched || s->calm || s->stopping || center_frozen(s, e))
        return;
    sim_trace(s, "the center is asked to stop");
    s->stopping = true;
    sched_drain(s->sched);
    sim_send(s, 5000, on_stop_over, 0, 0, NULL)->life = s->life;
    center_pump(s);
}

/* As the server: calls under way have ended, all is written, everybody is answered. */
static void stop_if_drained(struct sim *s)
{
    if (s->writing || !sched_drained(s->sched) || !list_empty(&s->acks) || !list_empty(&s->calls))
        return;
    sim_trace(s, "the center has stopped");
    s->stops++;
    center_end(s, END_CLEAN);
}

void center_crash_soon(struct sim *s, struct event *e)
{
    (void)e;
    if (s->sched && !s->calm)
        s->crash_in = (int)sim_between(s, 1, 60);
}

/* Set where a call into the core may be on the stack: the crash comes at once, but only from the
 * outermost driver function, which looks here between any two calls. */
bool center_step(struct sim *s)
{
    if (!s->sched)
        return false;
    if (s->crash_in && --s->crash_in == 0) {
        center_crash(s);
        return false;
    }
    return true;
}

static bool load_group(void *ctx, const struct group_record *g)
{
    sched_load_group(((struct sim *)ctx)->sched, g);
    return true;
}

static bool load_registry(void *ctx, const struct registry_record *r)
{
    struct sim *s = ((struct sim *)ctx);
    sched_load_registry(s->sched, sim_now(s), r);
    return true;
}

struct loading {
    struct sim *s;
    struct flight_said said;
};

static bool load_run(void *ctx, const struct run_row *row)
{
    struct loading *l = ctx;
    struct sim *s = l->s;
    struct job_record r;
    job_record_init(&r);
    struct why why = { "" };
    if (store_memory_ops.catalog->job_get(s->store, row->job_id, &r, &why))
        sim_fail(s, "P1", "live run %lld belongs to job %lld, which does not exist",
                 (long long)row->log_id, (long long)row->job_id);
    struct job *j = job_new(&r, sim_zone, s, 2125);
    job_record_done(&r);
    sched_load_run(s->sched, sim_now(s), row, j, flight_known(&l->said, row->log_id));
    job_unref(j);
    return true;
}

static struct sched_config config_of(struct sim *s)
{
    struct sched_config c;
    sched_config_default(&c);
    c.seed = dice_u64(&s->dice);
    if (sim_chance(s, 300000))
        c.lane_connections = (int)sim_between(s, 1, 4);
    if (sim_chance(s, 200000))
        c.lane_queue = (int)sim_between(s, 1, 8);
    if (sim_chance(s, 200000))
        c.plan_max_rows = (int)sim_between(s, 1, 20);
    c.dispatch_at_once = 1 + (int)(c.seed % 1000); /* bursts are taken up in parts */
    if (c.seed % 3 == 0) {                         /* as on a database server */
        c.batch_gap_ms = 16;
        c.batch_wait_ms = 150;
    }
    c.lost_keep_ms = 60000;
    return c;
}

void center_start(struct sim *s)
{
    if (!s->store)
        disk_new(s);
    struct sched_config c = config_of(s);
    struct planner_config p = { .zone_find = sim_zone,
                                .zone_ctx = s,
                                .last_year = 2125,
                                .misfire_threshold_ms = PLAN_MISFIRE_THRESHOLD_S * 1000,
                                .seed = dice_u64(&s->dice) };
    s->lane_bound = c.lane_connections;
    s->lane_queue = c.lane_queue;
    s->sched = sched_new(&c);
    s->planner = planner_new(&p);
    s->planner_no++;
    struct why why = { "" };
    s->figures = figures_new(s->figures_zone);
    if (figures_load(s->figures, s->store, &why))
        sim_fail(s, "figures", "they cannot be loaded: %s", why.text);
    check_figures(s);
    struct watermark watermark;
    sim_must(s, store_memory_ops.txn->watermark_get(s->store, &watermark, &why), &why);
    sched_load_watermark(s->sched, watermark.until_ms, watermark.clean);
    sim_must(s, store_memory_ops.catalog->groups_each(s->store, load_group, s, &why), &why);
    sim_must(s, store_memory_ops.catalog->registry_each(s->store, load_registry, s, &why), &why);
    struct loading l = { .s = s };
    recorder_read(s, &watermark, &l.said);
    sim_must(s, store_memory_ops.runs->runs_each(s->store, load_run, &l, &why), &why);
    flight_said_done(&l.said);
    recorder_make(s);
    check_wire_start(s);
    sched_started(s->sched, sim_now(s));
    s->start_watermark_ms = watermark.until_ms;
    s->up_since_ms = s->boot_ms;
    if (s->must_believe && !s->calm && sim_chance(s, 200000)) /* again, before all is well */
        s->crash_in = (int)sim_between(s, 1, 12);
    s->wake_ms = -1;
    sim_trace(s, "the center starts, watermark %lld%s", (long long)watermark.until_ms,
              watermark.clean ? ", clean" : "");
    center_pump(s);
}

void center_free(struct sim *s)
{
    if (s->sched)
        center_down(s);
    drop_calls(s);
    drop_acks(s);
    recorder_free(s);
}

/* ---- the writer ------------------------------------------------------------------------------ */

static void on_written(struct sim *s, struct event *e)
{
    if (!s->sched || e->life != s->life || center_frozen(s, e) || !center_step(s))
        return;
    struct batch *b = s->writing;
    s->writing = NULL;
    recorder_heard(s, b);
    s->backup_heard = backup_ripe(s, b);
    sched_batch_done(s->sched, sim_now(s), b);
    alarms_heard(s);
    writes_heard(s);
    if (s->backup_heard)
        center_crash(s);
    else
        center_pump(s);
}

static void on_write(struct sim *s, struct event *e)
{
    if (!s->sched || e->life != s->life || center_frozen(s, e) || !center_step(s))
        return;
    txn_run(s->store, s->planner, s->figures, s->writing, &s->written_with);
    if (s->writing->err) {
        s->planner_no++;
        sim_send(s, sim_between(s, 50, 500), on_write, 0, 0, NULL)->life = s->life;
        return;
    }
    s->commits++;
    check_commit(s, s->writing);
    check_figures_commit(s);
    writes_check(s);
    backup_written(s, s->writing);
    sim_send(s, sim_chance(s, 30000) ? sim_between(s, 1, 400) : sim_between(s, 0, 2), on_written, 0,
             0, NULL)
        ->life = s->life;
}

static int64_t write_ms(struct sim *s)
{
    if (s->slow_disk || sim_chance(s, 10000))
        return sim_between(s, 20, 1500);
    return sim_between(s, 1, 12);
}

/* ---- actions --------------------------------------------------------------------------------- */

struct ack_reply {
    int n, exec;
    struct exec_result results[10];
};

static void on_acked(struct sim *s, struct event *e)
{
    const struct ack_reply *r = e->p;
    exec_acked(s, r->exec, e->life, r->results, r->n);
}

static void acknowledge(struct sim *s, struct sim_ack *a)
{
    check_ack(s, a);
    list_remove(&a->all);
    if (!sim_chance(s, s->loss_ppm)) {
        struct ack_reply *r = mem_new(sizeof(*r));
        r->n = a->n;
        r->exec = a->exec;
        memcpy(r->results, a->results, sizeof(r->results));
        sim_send(s, sim_between(s, 0, 5), on_acked, 0, 0, r)->life = a->exec_lifecycle;
    }
    free(a);
}

static void act(struct sim *s, struct action *a)
{
    switch (a->kind) {
    case ACTION_CALL:
        if (a->call.kind == CALL_RUN)
            check_send(s, &a->call);
        start_call(s, &a->call);
        break;
    case ACTION_ACK:
        acknowledge(s, container_of(a->ack, struct sim_ack, ack));
        break;
    case ACTION_EDITED:
        users_edited(s, a->edit);
        break;
    case ACTION_SPAWNED:
        users_spawned(s, a);
        break;
    case ACTION_WARM:
        s->net.ops->warm(&s->net, a->call.address, a->connections);
        break;
    case ACTION_KILLED:
        if (a->err == OK)
            check_killed(s, a->log_id);
        break;
    }
}

static void on_wake(struct sim *s, struct event *e)
{
    if (!s->sched || e->life != s->life || s->wake_ms != e->at_ms)
        return;
    s->wake_ms = -1;
    if (center_frozen(s, e)) {
        s->wake_ms = s->frozen_until_ms;
        return;
    }
    if (!center_step(s))
        return;
    sched_tick(s->sched, sim_now(s));
    center_pump(s);
}

static void wake_when_due(struct sim *s)
{
    int64_t wall = sched_next_wall(s->sched), next = sched_next_boot(s->sched);
    if (wall != INT64_MAX && wall - s->offset_ms < next)
        next = wall - s->offset_ms;
    if (next <= s->boot_ms)
        next = s->boot_ms + 1;
    if (s->wake_ms >= 0 && s->wake_ms <= next)
        return;
    s->wake_ms = next;
    sim_send(s, next - s->boot_ms, on_wake, 0, 0, NULL)->life = s->life;
}

static void pop_all(struct sim *s)
{
    struct action a;
    while (center_step(s) && sched_pop(s->sched, &a)) {
        s->pumping = true;
        act(s, &a);
        s->pumping = false;
    }
}

void center_pump(struct sim *s)
{
    pop_all(s);
    if (!s->sched)
        return;
    if (!s->writing) {
        s->writing = sched_take_batch(s->sched, sim_now(s));
        if (s->writing) {
            s->writing->alarm_channels = alarms_for_all(s);
            check_taken(s);
            writes_taken(s);
            sim_send(s, write_ms(s), on_write, 0, 0, NULL)->life = s->life;
        }
    }
    pop_all(s);
    if (s->sched && s->stopping)
        stop_if_drained(s);
    if (s->sched)
        wake_when_due(s);
}

/* ---- a pause --------------------------------------------------------------------------------- */

static void on_thaw(struct sim *s, struct event *e)
{
    check_thaw(s, e->a);
    sim_trace(s, "the center goes on");
}

void center_freeze(struct sim *s, struct event *e)
{
    (void)e;
    if (s->calm || !s->sched)
        return;
    int64_t for_ms = sim_between(s, 3000, sim_chance(s, 300000) ? 120000 : 20000);
    s->frozen_until_ms = s->boot_ms + for_ms;
    sim_trace(s, "the center is stopped until %.3f", (double)s->frozen_until_ms / 1000);
    sim_send(s, for_ms, on_thaw, for_ms, 0, NULL);
}

bool center_frozen(struct sim *s, struct event *e)
{
    if (s->boot_ms >= s->frozen_until_ms)
        return false;
    struct event *again = sim_send(s, s->frozen_until_ms - s->boot_ms, e->fn, e->a, e->b, e->p);
    again->life = e->life;
    e->p = NULL;
    return true;
}

/* ---- the wall clock -------------------------------------------------------------------------- */

static void on_told(struct sim *s, struct event *e)
{
    if (!s->sched || e->life != s->life || center_frozen(s, e) || !center_step(s))
        return;
    sched_clock_stepped(s->sched, sim_now(s), e->a);
    center_pump(s);
}

void center_clock_step(struct sim *s, struct event *e)
{
    (void)e;
    if (s->calm)
        return;
    int64_t by = sim_chance(s, 500000) ? sim_between(s, 1, 3000) : sim_between(s, 3000, 90000);
    if (sim_chance(s, 500000))
        by = -by;
    s->offset_ms += by;
    s->went_back |= by < 0;
    s->stepped_ms = s->boot_ms;
    s->steps++;
    s->wake_ms = -1;
    sim_trace(s, "the wall clock steps by %lld", (long long)by);
    sim_send(s, sim_between(s, 0, 3), on_told, by, 0, NULL)->life = s->life;
}
