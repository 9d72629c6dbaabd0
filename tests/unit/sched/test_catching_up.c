/* SPDX-License-Identifier: Apache-2.0 */
/* After a long outage: what was missed is counted, and what is due does not wait for that. */
#include "support_core.h"
#include <stdlib.h>
#include "base/mem.h"

#define AWAY_MS (30 * 86400000LL)

static void add_jobs(struct core *c, int n, const char *conf, const char *misfire)
{
    struct job_record r = core_record("CRON", conf);
    core_text(&r.misfire, misfire);
    r.group_id = core_group(c, "beta", NULL); /* no address: no calls */
    for (int i = 0; i < n; i++)
        core_job(c, &r);
    job_record_done(&r);
}

/* Hundreds of jobs whose schedules cannot be counted by hours, so that each takes its time. */
static void catch_up(const char *conf, const char *misfire)
{
    struct core *c = core_new();
    c->executor = core_accepts;
    core_register(c, "app", "http://10.0.0.1:9999/");
    add_jobs(c, 600, conf, misfire);
    core_stop(c);
    c->now.wall_ms += AWAY_MS;
    c->now.boot_ms += AWAY_MS;
    core_start(c);
    core_register(c, "app", "http://10.0.0.1:9999/");
    int64_t fresh = core_simple_job(c, "FIX_RATE", "1000ms");
    struct run_row **rows = mem_new(200000 * sizeof(struct run_row *));
    int batches = 0;
    for (; batches < 20 && !core_rows(c, fresh, rows, 200000); batches++) {
        while (!core_commit(c)) {
            c->now.wall_ms++;
            c->now.boot_ms++;
        }
    }
    assert_true(batches <= 3);
    core_run(c, 8000);
    for (int64_t scheduled_ms = 2000; scheduled_ms < 8000; scheduled_ms += 1000) {
        int sent = 0;
        for (int i = 0; i < c->nsent; i++)
            sent += c->sent[i].job_id == fresh &&
                    c->sent[i].scheduled_ms / 1000 == (c->now.wall_ms - scheduled_ms) / 1000;
        assert_true(sent >= 1);
    }
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_true(st.horizon_ms > c->now.wall_ms); /* all is counted: planning looks ahead again */
    free(rows);
    core_free(c);
}

static void what_is_due_does_not_wait(void **state)
{
    (void)state;
    catch_up("* * * * * ?", "DO_NOTHING");
    catch_up("* * * * * ?", "FIRE_ONCE_NOW");
    catch_up("0/30 * * * * ?", "FIRE_ALL"); /* fewer than 100 an hour, many a day */
    catch_up("0 0/20 * * * ?", "FIRE_ALL"); /* each is looked at */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_due_does_not_wait) };
    return cmocka_run_group_tests_name("sched.catching_up", tests, NULL, NULL);
}
