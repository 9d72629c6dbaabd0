/* SPDX-License-Identifier: Apache-2.0 */
/* A burst is taken up in parts: results and commits come between them. */
#include "support_core.h"

enum { BURST = 7000, PART = 6000 };

static int in_heap(const struct core *c)
{
    struct sched_stats st;
    sched_stats(c->s, &st);
    return st.planned - st.lanes_waiting;
}

static void a_burst_is_taken_up_in_parts(void **state)
{
    struct core *c = *state;
    const int64_t scheduled_ms = CORE_NOW_MS + 60000;
    core_register(c, "app", "http://127.0.0.1:9001/");
    for (int i = 0; i < BURST; i++)
        core_simple_job(c, "ONCE", "2027-01-15T08:01:00Z");
    core_run(c, scheduled_ms - c->now.wall_ms - 1);
    assert_int_equal(in_heap(c), BURST);
    c->now.wall_ms++;
    c->now.boot_ms++;
    for (int taken = 0; taken < BURST; taken += PART) {
        assert_true(sched_next_wall(c->s) <= c->now.wall_ms); /* the driver is to tick at once */
        int before = in_heap(c);
        sched_tick(c->s, c->now);
        assert_in_range(before - in_heap(c), 1, PART);
    }
    assert_true(sched_next_wall(c->s) > c->now.wall_ms);
    assert_int_equal(in_heap(c), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_burst_is_taken_up_in_parts, core_setup, core_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
