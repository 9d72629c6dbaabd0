/* SPDX-License-Identifier: Apache-2.0 */
/* A node in a cluster: rules of joining, leaving, homes and adoption that no other rule hides. */
#include "support_node.h"

static void what_a_life_has_asked_for_is_not_done_after_it(void **state)
{
    (void)state;
    struct rig g = rig_in();
    struct cluster_action first;
    beat(&g, CLUSTER_YES);
    g.now.boot_ms += 1000;
    cluster_tick(g.c, g.now);
    assert_true(cluster_pop(g.c, &first));
    assert_int_equal(first.kind, CLUSTER_BEAT);
    memset(g.count, 0, sizeof(g.count));
    cluster_beat(g.c, g.now, &first, CLUSTER_NO); /* the look is in the queue still */
    pop(&g);
    assert_int_equal(g.count[CLUSTER_FORGET], 1);
    assert_int_equal(g.count[CLUSTER_LOOK] + g.count[CLUSTER_CLAIM], 0);
    cluster_free(g.c);
}

static void a_process_does_not_watch_its_own_last_epoch(void **state)
{
    (void)state;
    struct rig g = rig_in();
    beat(&g, CLUSTER_YES);
    cluster_fenced(g.c, g.now);
    pop(&g);
    g.rows[0].namesake = true; /* and has not ended */
    step(&g, LIFE_LOOK_MS);
    assert_int_equal(g.count[CLUSTER_JOIN], 1);
    assert_int_equal(g.last[CLUSTER_JOIN].epoch, MINE);
    assert_true(g.last[CLUSTER_JOIN].ends);
    cluster_free(g.c);
}

static void what_is_left_of_a_living_epoch_is_not_adopted(void **state)
{
    (void)state;
    struct rig g = rig_in();
    struct cluster_row left = { .node = 1, .epoch = OTHER };
    assert_int_equal(g.count[CLUSTER_ORPHANS], 1);
    cluster_orphans(g.c, g.now, &g.last[CLUSTER_ORPHANS], &left, 1);
    run(&g, 29800);
    assert_int_equal(g.count[CLUSTER_ORPHANS], 1);
    assert_int_equal(g.count[CLUSTER_ADOPT], 0);
    run(&g, 400);
    assert_int_equal(g.count[CLUSTER_ORPHANS], 2);
    left.ended = true;
    cluster_orphans(g.c, g.now, &g.last[CLUSTER_ORPHANS], &left, 1);
    step(&g, 0);
    assert_int_equal(g.count[CLUSTER_ADOPT], 1);
    cluster_free(g.c);
}

static void any_number_of_epochs_end_one_after_the_other(void **state)
{
    (void)state;
    struct rig g = rig_in();
    struct cluster_row *other = row(&g, 1, 0);
    other->ended = true;
    for (int i = 1; i <= ENDED_MAX + 3; i++) {
        other->epoch = MINE + i;
        run(&g, 2 * LIFE_LOOK_MS);
        assert_int_equal(g.count[CLUSTER_ADOPT], i);
        assert_int_equal(g.last[CLUSTER_ADOPT].epoch, MINE + i);
        cluster_adopted(g.c, g.now, &g.last[CLUSTER_ADOPT], 1, false);
    }
    cluster_free(g.c);
}

static int weight_in(struct rig *g, int64_t node)
{
    struct share s;
    cluster_share(g->c, &s);
    for (int i = 0; i < s.n; i++)
        if (s.homes[i].node == node)
            return s.homes[i].weight;
    return -1;
}

static void homes_go_by_the_weights_of_now(void **state)
{
    (void)state;
    struct rig g = rig_in();
    struct cluster_row *other = row(&g, 1, OTHER);
    cluster_load(g.c, g.now, 0, 10);
    run_beating(&g, 1000);
    assert_int_equal(g.last[CLUSTER_BEAT].weight, HOMES_WEIGHT);
    int walks = g.count[CLUSTER_SWEEP];
    cluster_load(g.c, g.now, 5, 10); /* a minute has not passed */
    run_beating(&g, 2000);
    assert_int_equal(g.last[CLUSTER_BEAT].weight, HOMES_WEIGHT);
    assert_int_equal(g.count[CLUSTER_SWEEP], walks);
    other->weight = 1;
    run_beating(&g, 400);
    assert_int_equal(weight_in(&g, 1), 1);
    assert_int_equal(g.count[CLUSTER_SWEEP], walks + 1);
    g.now.boot_ms += 60000;
    cluster_load(g.c, g.now, 5, 10);
    run_beating(&g, 1200);
    assert_int_equal(g.last[CLUSTER_BEAT].weight, home_weight(5, 10));
    assert_int_equal(weight_in(&g, ME), home_weight(5, 10)); /* whatever was read of it */
    assert_int_equal(g.count[CLUSTER_SWEEP], walks + 2);
    cluster_free(g.c);
}

static void a_stop_waits_for_the_join_that_is_under_way(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct rig g = rig_out((struct cluster_config){ 0 });
        step(&g, 0);
        step(&g, 0);
        assert_int_equal(g.count[CLUSTER_JOIN], 1);
        cluster_stop(g.c, g.now);
        pop(&g);
        assert_int_equal(g.count[CLUSTER_LEFT], 0);
        if (fails)
            cluster_failed(g.c, g.now, &g.last[CLUSTER_JOIN]);
        else
            cluster_joined(g.c, g.now, &g.last[CLUSTER_JOIN], ME, MINE);
        pop(&g);
        assert_int_equal(g.count[CLUSTER_LEFT], fails);
        assert_int_equal(g.count[CLUSTER_HANDOVER], !fails);
        cluster_free(g.c);
    }
}

static void a_join_that_failed_is_tried_again_a_second_later(void **state)
{
    (void)state;
    struct rig g = rig_out((struct cluster_config){ 0 });
    run(&g, 400);
    assert_int_equal(g.count[CLUSTER_JOIN], 1);
    cluster_failed(g.c, g.now, &g.last[CLUSTER_JOIN]);
    run(&g, 800);
    assert_int_equal(g.count[CLUSTER_JOIN], 1);
    run(&g, 400);
    assert_int_equal(g.count[CLUSTER_JOIN], 2);
    cluster_free(g.c);
}

static void a_walk_goes_on_while_there_is_more(void **state)
{
    (void)state;
    struct rig g = rig_in();
    step(&g, 0);
    int walks = g.count[CLUSTER_SWEEP];
    row(&g, 1, OTHER);
    run(&g, LIFE_LOOK_MS);
    for (int i = 1; i <= 3; i++) {
        cluster_tick(g.c, g.now);
        pop(&g);
        assert_int_equal(g.count[CLUSTER_SWEEP], walks + i);
        assert_true(g.last[CLUSTER_SWEEP].anew == (i == 1));
        cluster_swept(g.c, g.now, &g.last[CLUSTER_SWEEP], i < 3);
    }
    cluster_tick(g.c, g.now);
    pop(&g);
    assert_int_equal(g.count[CLUSTER_SWEEP], walks + 3);
    cluster_free(g.c);
}

static void a_full_node_sleeps_beside_runs_that_it_does_not_adopt(void **state)
{
    (void)state;
    struct rig g = rig_in();
    cluster_load(g.c, g.now, 9, 10);
    row(&g, 1, OTHER)->ended = true;
    run_beating(&g, 1000);
    assert_true(cluster_next(g.c) > g.now.boot_ms);
    cluster_load(g.c, g.now, 1, 10);
    assert_true(cluster_next(g.c) <= g.now.boot_ms);
    cluster_free(g.c);
}

static void who_is_told_of_news_looks_at_once(void **state)
{
    (void)state;
    struct rig g = rig_in();
    int looks = g.count[CLUSTER_LOOK];
    step(&g, 0);
    assert_int_equal(g.count[CLUSTER_LOOK], looks);
    cluster_look(g.c, g.now);
    step(&g, 0);
    assert_int_equal(g.count[CLUSTER_LOOK], looks + 1);
    cluster_free(g.c);
}

static void who_leaves_knows_whether_another_one_plans(void **state)
{
    (void)state;
    for (int drains = 0; drains < 2; drains++) {
        struct rig g = rig_in();
        row(&g, 1, OTHER)->draining = drains;
        run_beating(&g, 400);
        cluster_stop(g.c, g.now);
        pop(&g);
        assert_int_equal(g.count[CLUSTER_HANDOVER], 1);
        assert_int_equal(g.last[CLUSTER_HANDOVER].alone, drains);
        cluster_free(g.c);
    }
}

static void what_a_dead_node_said_of_the_clock_is_of_no_use(void **state)
{
    (void)state;
    struct rig g = rig_in();
    struct cluster_row *other = row(&g, 1, OTHER);
    other->ended = true;
    cluster_clock(g.c, 5000);
    run_beating(&g, 1000);
    assert_int_equal(g.count[CLUSTER_HANDOVER], 0);
    other->ended = false;
    run_beating(&g, 400);
    assert_int_equal(g.count[CLUSTER_HANDOVER], 1);
    cluster_free(g.c);
}

static void of_two_lives_of_a_node_the_newer_one_counts(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct rig g = rig_in();
        struct share s;
        row(&g, 1, order ? OTHER + 1 : OTHER)->ended = !order;
        row(&g, 1, order ? OTHER : OTHER + 1)->ended = order;
        run(&g, 400);
        cluster_share(g.c, &s);
        assert_int_equal(s.living, 2);
        assert_int_equal(s.n, 2);
        cluster_free(g.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_life_has_asked_for_is_not_done_after_it),
        cmocka_unit_test(a_process_does_not_watch_its_own_last_epoch),
        cmocka_unit_test(what_is_left_of_a_living_epoch_is_not_adopted),
        cmocka_unit_test(any_number_of_epochs_end_one_after_the_other),
        cmocka_unit_test(homes_go_by_the_weights_of_now),
        cmocka_unit_test(a_stop_waits_for_the_join_that_is_under_way),
        cmocka_unit_test(a_join_that_failed_is_tried_again_a_second_later),
        cmocka_unit_test(a_walk_goes_on_while_there_is_more),
        cmocka_unit_test(a_full_node_sleeps_beside_runs_that_it_does_not_adopt),
        cmocka_unit_test(who_is_told_of_news_looks_at_once),
        cmocka_unit_test(who_leaves_knows_whether_another_one_plans),
        cmocka_unit_test(what_a_dead_node_said_of_the_clock_is_of_no_use),
        cmocka_unit_test(of_two_lives_of_a_node_the_newer_one_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
