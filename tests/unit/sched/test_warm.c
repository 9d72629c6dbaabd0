/* SPDX-License-Identifier: Apache-2.0 */
/* Connections ahead of a burst: asked for once, for lanes with many runs on one millisecond, and
 * never for the same number of runs spread over a second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "sched/sched.h"

#define NOW_MS 1800000000000
#define LANES 4

struct fixture {
    struct sched *s;
    struct job *job;
    int64_t last_id;
};

static enum err no_zone(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    (void)name;
    why_set(why, "no zone is needed");
    *ret = NULL;
    return ERR_NOTFOUND;
}

static int set_up(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct sched_config config;
    sched_config_default(&config);
    config.seed = 7;
    f->s = sched_new(&config);
    struct job_record r;
    job_record_init(&r);
    r.id = 1;
    r.group_id = 1;
    f->job = job_new(&r, no_zone, NULL, 2100);
    job_record_done(&r);
    sched_load_watermark(f->s, NOW_MS, true);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sched_free(f->s);
    job_unref(f->job);
    free(f);
    return 0;
}

static struct now at(int64_t ms)
{
    return (struct now){ .wall_ms = NOW_MS + ms, .boot_ms = 1000 + ms };
}

/* n planned runs, the first at due_ms from now, the others each step_ms later; lane by lane. */
static void plan(struct fixture *f, int n, int64_t due_ms, int64_t step_ms)
{
    for (int i = 0; i < n; i++) {
        char address[64];
        snprintf(address, sizeof(address), "http://10.0.0.%d:9999/", 1 + i % LANES);
        struct run_row row = { .log_id = ++f->last_id,
                               .job_id = 1,
                               .group_id = 1,
                               .scheduled_ms = NOW_MS + due_ms + i * step_ms,
                               .due_ms = NOW_MS + due_ms + i * step_ms,
                               .kind = KIND_CRON,
                               .phase = PHASE_PLANNED,
                               .shard_total = 1,
                               .address = address };
        sched_load_run(f->s, at(0), &row, f->job, FLIGHT_KNOWS_NOTHING);
    }
}

/* How many lanes are to get connections, and that each gets so many. */
static int warmed(struct fixture *f, int connections)
{
    struct action a;
    int n = 0;
    while (sched_pop(f->s, &a)) {
        if (a.kind != ACTION_WARM)
            continue;
        assert_int_equal(a.connections, connections);
        assert_non_null(a.call.address);
        n++;
    }
    return n;
}

static void a_burst_gets_its_connections_before(void **state)
{
    struct fixture *f = *state;
    plan(f, 160, 1500, 0);
    sched_started(f->s, at(0));
    sched_tick(f->s, at(0));
    assert_int_equal(warmed(f, 40), LANES);
    sched_tick(f->s, at(1000)); /* and once */
    assert_int_equal(warmed(f, 40), 0);
}

static void no_lane_gets_more_than_it_may_have(void **state)
{
    struct fixture *f = *state;
    plan(f, 4000, 2000, 0);
    sched_started(f->s, at(0));
    sched_tick(f->s, at(0));
    assert_int_equal(warmed(f, 64), LANES);
}

static void what_is_far_ahead_waits(void **state)
{
    struct fixture *f = *state;
    plan(f, 160, 3000, 0);
    sched_started(f->s, at(0));
    sched_tick(f->s, at(0));
    assert_int_equal(warmed(f, 40), 0);
    sched_tick(f->s, at(1000));
    assert_int_equal(warmed(f, 40), LANES);
}

static void a_steady_load_is_no_burst(void **state)
{
    struct fixture *f = *state;
    for (int k = 0; k < 70; k++)
        plan(f, 1500, 500, 1);
    sched_started(f->s, at(0));
    sched_tick(f->s, at(0));
    assert_int_equal(warmed(f, 0), 0);
}

static void a_burst_within_a_steady_load_is_seen(void **state)
{
    struct fixture *f = *state;
    plan(f, 2000, 100, 1);
    plan(f, 100, 50, 0);
    sched_started(f->s, at(0));
    sched_tick(f->s, at(0));
    assert_int_equal(warmed(f, 25), LANES);
}

static void a_clock_that_went_back_is_followed(void **state)
{
    struct fixture *f = *state;
    plan(f, 160, 1500, 0);
    sched_started(f->s, at(0));
    sched_tick(f->s, at(0));
    assert_int_equal(warmed(f, 40), LANES);
    struct now back = { .wall_ms = NOW_MS - 60000, .boot_ms = 3000 };
    sched_clock_stepped(f->s, back, -60000);
    assert_int_equal(warmed(f, 40), 0);
    plan(f, 100, -57000, 0);
    back.wall_ms += 1000;
    back.boot_ms += 1000;
    sched_tick(f->s, back);
    assert_int_equal(warmed(f, 25), LANES);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_burst_gets_its_connections_before),
        T(no_lane_gets_more_than_it_may_have),
        T(what_is_far_ahead_waits),
        T(a_steady_load_is_no_burst),
        T(a_burst_within_a_steady_load_is_seen),
        T(a_clock_that_went_back_is_followed),
    };
    return cmocka_run_group_tests_name("sched.warm", tests, NULL, NULL);
}
