/* SPDX-License-Identifier: Apache-2.0 */
/* A node in a cluster: each rule of docs/internals/cluster.md on its own. What the rules come to
 * together is tests/sim_nodes. */
#include "support_node.h"

/* ---- lease ----------------------------------------------------------------------------------- */

static void a_lease_counts_from_before_the_beat_was_sent(void **state)
{
    (void)state;
    struct rig g = rig_in();
    assert_false(sends(&g));
    g.now.boot_ms += 700; /* the answer is slow, and the wall clock steps meanwhile */
    g.now.wall_ms -= 60000;
    beat(&g, CLUSTER_YES);
    assert_true(sends(&g));
    assert_int_equal(cluster_lease_ms(g.c), 5000 + 2000);
    g.now.boot_ms = 6999;
    assert_true(sends(&g));
    g.now.boot_ms = 7000;
    assert_false(sends(&g));
    cluster_free(g.c);
}

static void nothing_leaves_beyond_the_watermark(void **state)
{
    (void)state;
    struct rig g = rig_in();
    beat(&g, CLUSTER_YES);
    int64_t mark_ms = g.last[CLUSTER_BEAT].watermark_ms;
    assert_true(cluster_may_send(g.c, g.now, mark_ms));
    assert_false(cluster_may_send(g.c, g.now, mark_ms + 1));
    step(&g, 1000); /* asked for, not written */
    assert_true(g.last[CLUSTER_BEAT].watermark_ms > mark_ms);
    assert_false(cluster_may_send(g.c, g.now, mark_ms + 1));
    cluster_free(g.c);
}

static void a_beat_without_an_answer_may_have_been_written(void **state)
{
    (void)state;
    struct rig g = rig_in();
    beat(&g, CLUSTER_YES);
    step(&g, 1000);
    beat(&g, CLUSTER_UNHEARD);
    step(&g, 1000);
    assert_int_equal(g.last[CLUSTER_BEAT].last, 1);
    assert_int_equal(g.last[CLUSTER_BEAT].beat, 3);
    assert_int_equal(g.count[CLUSTER_FORGET], 0);
    cluster_free(g.c);
}

static void a_refused_node_drops_its_runs_and_joins_anew(void **state)
{
    (void)state;
    struct rig g = rig_in();
    beat(&g, CLUSTER_YES);
    step(&g, 1000);
    struct cluster_action before = g.last[CLUSTER_BEAT];
    beat(&g, CLUSTER_NO);
    assert_int_equal(g.count[CLUSTER_FORGET], 1);
    assert_false(sends(&g));
    assert_int_equal(cluster_state(g.c), CLUSTER_OUT);
    g.rows[0].ended = g.rows[0].namesake = true;
    step(&g, LIFE_LOOK_MS);
    assert_int_equal(g.count[CLUSTER_JOIN], 1);
    assert_int_equal(g.last[CLUSTER_JOIN].epoch, MINE);
    cluster_joined(g.c, g.now, &g.last[CLUSTER_JOIN], ME, MINE + 1);
    step(&g, 0);
    assert_int_equal(g.last[CLUSTER_BEAT].epoch, MINE + 1);
    cluster_beat(g.c, g.now, &before, CLUSTER_NO); /* an answer from the life before */
    pop(&g);
    assert_int_equal(g.count[CLUSTER_FORGET], 1);
    assert_int_equal(cluster_epoch(g.c), MINE + 1);
    cluster_free(g.c);
}

/* ---- watching -------------------------------------------------------------------------------- */

static void a_silent_node_is_declared_dead_by_its_beat(void **state)
{
    (void)state;
    struct rig g = rig_in();
    struct cluster_row *other = row(&g, 1, OTHER);
    other->beat = 40;
    run_beating(&g, 2800);
    other->beat = 41;
    run_beating(&g, 3000);
    assert_int_equal(g.count[CLUSTER_DECLARE], 0);
    run_beating(&g, 400);
    assert_int_equal(g.count[CLUSTER_DECLARE], 1);
    assert_int_equal(g.last[CLUSTER_DECLARE].epoch, OTHER);
    assert_int_equal(g.last[CLUSTER_DECLARE].node, 1);
    assert_int_equal(g.last[CLUSTER_DECLARE].beat, 41);
    int looks = g.count[CLUSTER_LOOK];
    cluster_declared(g.c, g.now, &g.last[CLUSTER_DECLARE], CLUSTER_YES);
    step(&g, 0);
    assert_int_equal(g.count[CLUSTER_LOOK], looks + 1);
    cluster_free(g.c);
}

/* The database answers reads and takes no beat: neither this node's nor, it may be, the other's. */
static void while_its_own_beat_is_not_taken_no_other_grows_silent(void **state)
{
    (void)state;
    struct rig g = rig_in();
    row(&g, 1, OTHER)->beat = 40;
    run_beating(&g, 1000);
    for (int i = 0; i < 10; i++) {
        run(&g, 1000);
        beat(&g, CLUSTER_UNHEARD);
    }
    run(&g, 1000);
    beat(&g, CLUSTER_YES);
    run_beating(&g, 1000); /* what was seen before the pause stays, and no more */
    assert_int_equal(g.count[CLUSTER_DECLARE], 0);
    run_beating(&g, 600);
    assert_int_equal(g.count[CLUSTER_DECLARE], 1);
    cluster_free(g.c);
}

/* ---- adoption -------------------------------------------------------------------------------- */

static void runs_of_a_living_epoch_are_not_adopted(void **state)
{
    (void)state;
    struct rig g = rig_in();
    struct cluster_row *other = row(&g, 1, OTHER);
    run(&g, 1000);
    assert_int_equal(g.count[CLUSTER_ADOPT], 0);
    other->ended = other->clean = true;
    other->watermark_ms = 99;
    run(&g, 400);
    assert_int_equal(g.count[CLUSTER_ADOPT], 1);
    assert_int_equal(g.last[CLUSTER_ADOPT].epoch, OTHER);
    assert_int_equal(g.last[CLUSTER_ADOPT].watermark_ms, 99);
    assert_true(g.last[CLUSTER_ADOPT].clean);
    assert_false(g.last[CLUSTER_ADOPT].heir);
    cluster_free(g.c);
}

static void adoption_goes_on_until_no_run_is_left(void **state)
{
    (void)state;
    struct rig g = rig_in();
    row(&g, 1, OTHER)->ended = true;
    run(&g, 400);
    cluster_adopted(g.c, g.now, &g.last[CLUSTER_ADOPT], 1000, true);
    step(&g, 1); /* at once */
    assert_int_equal(g.count[CLUSTER_ADOPT], 2);
    cluster_adopted(g.c, g.now, &g.last[CLUSTER_ADOPT], 0, true); /* others are at it */
    step(&g, 1);
    assert_int_equal(g.count[CLUSTER_ADOPT], 2);
    step(&g, 200);
    assert_int_equal(g.count[CLUSTER_ADOPT], 3);
    cluster_adopted(g.c, g.now, &g.last[CLUSTER_ADOPT], 7, false);
    run(&g, 1000);
    assert_int_equal(g.count[CLUSTER_ADOPT], 3);
    struct cluster_row again = g.rows[1];
    run(&g, 29000);
    assert_int_equal(g.count[CLUSTER_ORPHANS], 1);
    cluster_orphans(g.c, g.now, &g.last[CLUSTER_ORPHANS], &again, 1);
    step(&g, 1);
    assert_int_equal(g.count[CLUSTER_ADOPT], 4);
    cluster_free(g.c);
}

static void an_heir_adopts_alone_while_it_lives(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int64_t heir;
        bool heir_ended;
        int64_t wait_ms;
        int adopts;
    } cases[] = {
        { "mine", MINE, false, 0, 1 },
        { "no heir", 0, false, 0, 1 },
        { "another", 30, false, 9600, 0 },
        { "for 10 s", 30, false, 10200, 1 },
        { "that has died", 30, true, 0, 1 },
        { "that has gone", 5, false, 0, 1 },
        { "newer than the look", 31, false, 0, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig g = rig_in();
        struct cluster_row *dead = row(&g, 1, OTHER), *heir = row(&g, 3, 30);
        dead->ended = true;
        dead->heir = cases[i].heir;
        heir->ended = cases[i].heir_ended;
        for (int64_t ms = 0; ms <= cases[i].wait_ms; ms += 200) {
            heir->beat++;
            step(&g, 200);
        }
        step(&g, 1);
        bool adopts = g.count[CLUSTER_ADOPT] && g.last[CLUSTER_ADOPT].epoch == OTHER;
        if (adopts != (cases[i].adopts > 0))
            fail_msg("%s: %d", cases[i].what, adopts);
        assert_int_equal(g.last[CLUSTER_ADOPT].heir, cases[i].heir == MINE);
        cluster_free(g.c);
    }
}

static void a_full_node_adopts_nothing(void **state)
{
    (void)state;
    struct rig g = rig_in();
    cluster_load(g.c, g.now, 200, 300);
    row(&g, 1, OTHER)->ended = true;
    run(&g, 1000);
    assert_int_equal(g.count[CLUSTER_ADOPT], 0);
    cluster_load(g.c, g.now, 199, 300);
    step(&g, 1);
    assert_int_equal(g.count[CLUSTER_ADOPT], 1);
    cluster_free(g.c);
}

/* ---- joining --------------------------------------------------------------------------------- */

static void the_last_life_of_a_name_is_looked_at_before_the_next(void **state)
{
    (void)state;
    struct rig g = rig_out((struct cluster_config){ 0 });
    struct cluster_row *r = row(&g, ME, MINE);
    r->namesake = true;
    run(&g, 3000);
    assert_int_equal(g.count[CLUSTER_JOIN] + g.count[CLUSTER_DECLARE], 0);
    run(&g, 600);
    assert_int_equal(g.count[CLUSTER_DECLARE], 1);
    assert_int_equal(g.count[CLUSTER_JOIN], 0);
    r->ended = true;
    cluster_declared(g.c, g.now, &g.last[CLUSTER_DECLARE], CLUSTER_YES);
    run(&g, 200);
    assert_int_equal(g.count[CLUSTER_JOIN], 1);
    assert_int_equal(g.last[CLUSTER_JOIN].epoch, MINE);
    assert_false(g.last[CLUSTER_JOIN].ends);
    cluster_failed(g.c, g.now, &g.last[CLUSTER_JOIN]);
    run(&g, 1200);
    assert_int_equal(g.count[CLUSTER_JOIN], 2);
    cluster_free(g.c);
}

static void a_life_that_is_known_to_be_over_is_not_waited_for(void **state)
{
    (void)state;
    struct rig g = rig_out((struct cluster_config){ .gone_epoch = MINE });
    row(&g, ME, MINE)->namesake = true;
    step(&g, 0);
    assert_int_equal(g.count[CLUSTER_JOIN], 1);
    assert_true(g.last[CLUSTER_JOIN].ends);
    cluster_free(g.c);
}

static void a_name_that_another_process_has_is_refused(void **state)
{
    (void)state;
    struct rig g = rig_out((struct cluster_config){ 0 });
    struct cluster_row *r = row(&g, ME, MINE);
    r->namesake = true;
    for (int i = 0; i < 8; i++, r->beat += i % 2 == 0) {
        assert_int_equal(g.count[CLUSTER_REFUSED], 0);
        step(&g, 500);
    }
    r->beat++;
    step(&g, 500);
    assert_int_equal(g.count[CLUSTER_REFUSED], 1);
    assert_int_equal(g.last[CLUSTER_REFUSED].node, ME);
    assert_int_equal(g.count[CLUSTER_JOIN], 0);
    cluster_free(g.c);
}

/* ---- leaving --------------------------------------------------------------------------------- */

static void a_stop_hands_over_before_the_process_may_go(void **state)
{
    (void)state;
    struct rig g = rig_in();
    row(&g, 1, OTHER);
    step(&g, 200);
    beat(&g, CLUSTER_YES);
    assert_true(sends(&g));
    cluster_stop(g.c, g.now);
    pop(&g);
    assert_false(sends(&g));
    assert_false(cluster_may_plan(g.c));
    assert_int_equal(g.count[CLUSTER_HANDOVER], 1);
    assert_false(g.last[CLUSTER_HANDOVER].alone);
    step(&g, 1000);
    assert_true(g.last[CLUSTER_BEAT].draining); /* it still beats */
    assert_int_equal(g.count[CLUSTER_LEFT], 0);
    cluster_handed(g.c, g.now, &g.last[CLUSTER_HANDOVER]);
    pop(&g);
    assert_int_equal(g.count[CLUSTER_LEFT], 1);
    assert_int_equal(cluster_state(g.c), CLUSTER_GONE);
    assert_int_equal(cluster_next(g.c), INT64_MAX);
    cluster_free(g.c);
}

static void a_node_that_drains_sends_and_plans_nothing(void **state)
{
    (void)state;
    struct rig g = rig_in();
    row(&g, 1, OTHER);
    step(&g, 200);
    beat(&g, CLUSTER_YES);
    g.rows[0].asked = true;
    row(&g, 3, 30)->ended = true;
    step(&g, 200);
    assert_int_equal(cluster_state(g.c), CLUSTER_DRAINING);
    int claims = g.count[CLUSTER_CLAIM], adopts = g.count[CLUSTER_ADOPT];
    run(&g, 1000);
    assert_true(g.last[CLUSTER_BEAT].draining);
    assert_true(sends(&g));
    assert_false(cluster_may_plan(g.c));
    assert_int_equal(g.count[CLUSTER_ADOPT], adopts);
    assert_int_equal(g.count[CLUSTER_CLAIM], claims);
    for (int64_t job = 1; job <= 50; job++)
        assert_int_equal(cluster_home(g.c, job), 1);
    g.rows[0].asked = false;
    step(&g, 200);
    assert_true(cluster_may_plan(g.c));
    cluster_free(g.c);
}

/* Otherwise the jobs would have no home, and the runs of a dead node no new owner. */
static void the_last_node_that_plans_does_not_drain(void **state)
{
    (void)state;
    static const struct {
        bool asked, ended, stops;
        enum cluster_state want;
    } cases[] = {
        { false, false, false, CLUSTER_DRAINING }, /* the other one plans */
        { true, false, false, CLUSTER_IN },        /* it is asked as well: both plan */
        { true, false, true, CLUSTER_IN },         /* so it is when it drains already */
        { false, true, false, CLUSTER_IN },        /* it is dead */
        { false, false, true, CLUSTER_IN },        /* it stops */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig g = rig_in();
        struct cluster_row *other = row(&g, 1, OTHER);
        g.rows[0].asked = true;
        step(&g, 200);
        assert_int_equal(cluster_state(g.c), CLUSTER_DRAINING);
        other->asked = cases[i].asked;
        other->ended = cases[i].ended;
        other->draining = cases[i].stops;
        step(&g, 200);
        assert_int_equal(cluster_state(g.c), cases[i].want);
        struct share share;
        cluster_share(g.c, &share);
        assert_int_equal(share.node, ME);
        assert_int_equal(homes_have(&share, ME), cases[i].want == CLUSTER_IN);
        assert_true(share.n > 0);
        assert_int_equal(share.living, 1 + !cases[i].ended);
        cluster_free(g.c);
    }
}

static void a_clock_that_is_wrong_alone_hands_over(void **state)
{
    (void)state;
    static const struct {
        int64_t mine, other;
        bool odd;
    } cases[] = { { 1001, 1000, true },
                  { -1001, 0, true },
                  { 1000, 0, false },
                  { 5000, 5000, false },
                  { 0, 5000, false } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig g = rig_in();
        row(&g, 1, OTHER)->skew_ms = cases[i].other;
        cluster_clock(g.c, cases[i].mine);
        step(&g, 200);
        assert_int_equal(cluster_odd(g.c), cases[i].odd);
        assert_int_equal(cluster_may_plan(g.c), !cases[i].odd);
        assert_int_equal(g.count[CLUSTER_HANDOVER], cases[i].odd);
        if (cases[i].odd) {
            cluster_handed(g.c, g.now, &g.last[CLUSTER_HANDOVER]);
            g.rows[0].ended = g.rows[0].namesake = true;
            run(&g, 1000);
            assert_int_equal(g.count[CLUSTER_JOIN], 0);
            cluster_clock(g.c, 0);
            run(&g, 200);
            assert_int_equal(g.count[CLUSTER_JOIN], 1);
        }
        cluster_free(g.c);
    }
}

/* The machine was stopped, and its clock is set when it goes on: its lease may be over. */
static void a_step_ends_the_lease_until_a_beat_that_begins_after_it(void **state)
{
    (void)state;
    struct rig g = rig_in();
    beat(&g, CLUSTER_YES);
    step(&g, 1000); /* this beat is under way */
    assert_true(sends(&g));
    cluster_stepped(g.c, g.now);
    assert_false(sends(&g));
    assert_int_equal(cluster_state(g.c), CLUSTER_IN);
    cluster_clock(g.c, 3600000); /* with its answer: it says nothing of the clock that is now */
    beat(&g, CLUSTER_YES);
    assert_false(sends(&g));
    assert_false(cluster_follow(g.c));
    assert_int_equal(cluster_epoch(g.c), MINE);
    step(&g, 0); /* at once */
    beat(&g, CLUSTER_YES);
    assert_true(sends(&g));
    cluster_free(g.c);
}

static void a_step_is_followed_unless_others_and_the_database_contradict(void **state)
{
    (void)state;
    static const struct {
        bool other;
        int64_t offset_ms;
        bool follows;
    } cases[] = { { true, 0, true }, { true, -3600000, false }, { false, -3600000, true } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig g = rig_in();
        if (cases[i].other)
            row(&g, 1, OTHER);
        step(&g, 200);
        beat(&g, CLUSTER_YES);
        assert_false(cluster_follow(g.c));
        cluster_stepped(g.c, g.now);
        step(&g, 200); /* looks; nothing is compared yet */
        assert_false(cluster_follow(g.c));
        cluster_clock(g.c, cases[i].offset_ms);
        beat(&g, CLUSTER_YES);
        assert_false(cluster_follow(g.c));
        step(&g, 0);
        assert_int_equal(cluster_follow(g.c), cases[i].follows);
        assert_int_equal(cluster_odd(g.c), !cases[i].follows);
        assert_false(cluster_follow(g.c)); /* once */
        cluster_free(g.c);
    }
}

/* ---- homes ----------------------------------------------------------------------------------- */

static void a_node_that_goes_moves_its_own_jobs_only(void **state)
{
    (void)state;
    struct home all[] = { { 1, 4 }, { 2, 4 }, { 3, 2 } };
    int of[4] = { 0 };
    for (int64_t job = 1; job <= 10000; job++) {
        int64_t home = home_of(job, all, 3);
        of[home]++;
        if (home != 3)
            assert_int_equal(home_of(job, all, 2), home);
    }
    assert_in_range(of[1], 3700, 4300);
    assert_in_range(of[2], 3700, 4300);
    assert_in_range(of[3], 1800, 2200);
    assert_int_equal(home_of(7, all, 0), 0);
    assert_int_equal(home_weight(0, 100), 4);
    assert_int_equal(home_weight(99, 100), 1);
    assert_int_equal(home_weight(200, 100), 1);
}

static void what_no_home_has_planned_is_claimed_in_time(void **state)
{
    (void)state;
    struct rig g = rig_in();
    row(&g, 1, OTHER)->ended = true;
    run(&g, 10000);
    assert_in_range(g.count[CLUSTER_CLAIM], 16, 20); /* each 500 ms, by looks of 200 */
    assert_in_range(g.last[CLUSTER_CLAIM].until_ms, g.now.wall_ms + 1000, g.now.wall_ms + 1500);
    cluster_free(g.c);
}

static void jobs_are_moved_when_the_list_of_nodes_changes(void **state)
{
    (void)state;
    struct rig g = rig_in();
    step(&g, 200);
    assert_int_equal(g.count[CLUSTER_SWEEP], 1);
    assert_true(g.last[CLUSTER_SWEEP].anew);
    struct cluster_row *other = row(&g, 1, OTHER);
    step(&g, 200);
    step(&g, 200);
    assert_int_equal(g.count[CLUSTER_SWEEP], 2);
    other->beat++;
    step(&g, 200);
    assert_int_equal(g.count[CLUSTER_SWEEP], 2);
    other->draining = true;
    step(&g, 200);
    step(&g, 1);
    assert_int_equal(g.count[CLUSTER_SWEEP], 3);
    cluster_free(g.c);
}

static void the_node_that_is_there_longest_is_the_first(void **state)
{
    (void)state;
    struct rig g = rig_in();
    assert_true(cluster_first(g.c));
    row(&g, OTHER, MINE + 1); /* one that comes takes it from nobody, whatever its number */
    row(&g, ME + 2, MINE - 2)->ended = true;
    step(&g, LIFE_LOOK_MS);
    assert_true(cluster_first(g.c));
    g.rows[0].asked = true; /* it may plan again, and the one that came later never begins */
    step(&g, LIFE_LOOK_MS);
    assert_int_equal(cluster_state(g.c), CLUSTER_DRAINING);
    assert_true(cluster_first(g.c));
    row(&g, ME + 1, MINE - 1)->draining = true;
    step(&g, LIFE_LOOK_MS);
    assert_false(cluster_first(g.c));
    g.rows[3].ended = true;
    step(&g, LIFE_LOOK_MS);
    assert_true(cluster_first(g.c));
    cluster_stop(g.c, g.now);
    assert_false(cluster_first(g.c));
    cluster_free(g.c);
}

static void a_node_that_has_not_looked_is_not_the_first(void **state)
{
    (void)state;
    struct rig g = rig_out((struct cluster_config){ 0 });
    cluster_joined(g.c, g.now, NULL, ME, MINE);
    assert_false(cluster_first(g.c));
    cluster_free(g.c);
}

static void a_single_node_beats_and_looks_at_nobody(void **state)
{
    (void)state;
    struct rig g = rig_out((struct cluster_config){ .single = true });
    assert_int_equal(cluster_next(g.c), INT64_MAX);
    cluster_joined(g.c, g.now, NULL, ME, MINE);
    for (int i = 1; i <= 5; i++) {
        step(&g, i == 1 ? 0 : 1000);
        assert_int_equal(g.count[CLUSTER_BEAT], i);
        assert_int_equal(cluster_next(g.c), INT64_MAX);
        beat(&g, i % 2 ? CLUSTER_UNHEARD : CLUSTER_YES);
        assert_int_equal(cluster_next(g.c), g.now.boot_ms + 1000);
        assert_true(sends(&g)); /* without a lease */
    }
    assert_int_equal(g.count[CLUSTER_LOOK] + g.count[CLUSTER_FORGET], 0);
    cluster_free(g.c);
}

static void a_single_node_that_is_refused_is_over(void **state)
{
    (void)state;
    struct rig g = rig_out((struct cluster_config){ .single = true });
    cluster_joined(g.c, g.now, NULL, ME, MINE);
    step(&g, 0);
    beat(&g, CLUSTER_YES);
    step(&g, 1000);
    beat(&g, CLUSTER_NO);
    step(&g, 0);
    assert_int_equal(g.count[CLUSTER_FORGET], 1);
    assert_false(sends(&g));
    assert_int_equal(cluster_next(g.c), INT64_MAX);
    step(&g, 5000);
    assert_int_equal(g.count[CLUSTER_LOOK] + g.count[CLUSTER_JOIN], 0);
    cluster_free(g.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_counts_from_before_the_beat_was_sent),
        cmocka_unit_test(nothing_leaves_beyond_the_watermark),
        cmocka_unit_test(a_beat_without_an_answer_may_have_been_written),
        cmocka_unit_test(a_refused_node_drops_its_runs_and_joins_anew),
        cmocka_unit_test(a_silent_node_is_declared_dead_by_its_beat),
        cmocka_unit_test(while_its_own_beat_is_not_taken_no_other_grows_silent),
        cmocka_unit_test(runs_of_a_living_epoch_are_not_adopted),
        cmocka_unit_test(adoption_goes_on_until_no_run_is_left),
        cmocka_unit_test(an_heir_adopts_alone_while_it_lives),
        cmocka_unit_test(a_full_node_adopts_nothing),
        cmocka_unit_test(the_last_life_of_a_name_is_looked_at_before_the_next),
        cmocka_unit_test(a_life_that_is_known_to_be_over_is_not_waited_for),
        cmocka_unit_test(a_name_that_another_process_has_is_refused),
        cmocka_unit_test(a_stop_hands_over_before_the_process_may_go),
        cmocka_unit_test(a_node_that_drains_sends_and_plans_nothing),
        cmocka_unit_test(the_last_node_that_plans_does_not_drain),
        cmocka_unit_test(a_clock_that_is_wrong_alone_hands_over),
        cmocka_unit_test(a_step_ends_the_lease_until_a_beat_that_begins_after_it),
        cmocka_unit_test(a_step_is_followed_unless_others_and_the_database_contradict),
        cmocka_unit_test(a_node_that_goes_moves_its_own_jobs_only),
        cmocka_unit_test(what_no_home_has_planned_is_claimed_in_time),
        cmocka_unit_test(jobs_are_moved_when_the_list_of_nodes_changes),
        cmocka_unit_test(the_node_that_is_there_longest_is_the_first),
        cmocka_unit_test(a_node_that_has_not_looked_is_not_the_first),
        cmocka_unit_test(a_single_node_beats_and_looks_at_nobody),
        cmocka_unit_test(a_single_node_that_is_refused_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
