/* SPDX-License-Identifier: Apache-2.0 */
/* Routes: the consistent hash equals XXL-JOB's on every line of the vectors; the others by their
 * distribution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/dice.h"
#include "base/mem.h"
#include "plan/hash_ring.h"
#include "plan/route.h"

static struct group_view *view_of(uint64_t version, int n)
{
    static const char *const all[] = { "a", "b", "c", "d", "e", "f", "g" };
    return group_view_new(1, version, all, n);
}

static struct group_view *view_of_list(uint64_t version, char *list)
{
    const char *addresses[512];
    int n = 0;
    for (char *save, *one = strtok_r(list, ",", &save); one; one = strtok_r(NULL, ",", &save))
        addresses[n++] = one;
    return group_view_new(1, version, addresses, n);
}

static void the_consistent_hash_is_the_original_s(void **state)
{
    (void)state;
    FILE *f = fopen(PEAL_SOURCE_DIR "/tests/vectors/route-consistent-hash.tsv", "r");
    assert_non_null(f);
    struct router *r = router_new(1);
    static char line[1 << 16];
    uint64_t version = 0;
    int lines = 0;
    for (; fgets(line, sizeof(line), f); lines++) {
        char *list = strchr(line, '\t');
        char *want = strrchr(line, '\t');
        *list++ = *want++ = '\0';
        want[strcspn(want, "\n")] = '\0';
        int64_t job_id;
        assert_true(parse_i64(slice_text(line), &job_id));
        struct group_view *v = view_of_list(++version, list);
        int i = router_pick(r, ROUTE_CONSISTENT_HASH, job_id, v, 0);
        assert_string_equal(v->addresses[i], want);
        group_view_unref(v);
    }
    fclose(f);
    assert_int_equal(lines, 500);
    router_free(r);
}

static void lists_made_for_one_run_do_not_share_a_ring(void **state)
{
    (void)state;
    struct router *r = router_new(1);
    struct group_view *seven = view_of(0, 7), *one = view_of(0, 1);
    for (int64_t job = 1; job < 200; job++) {
        assert_in_range(router_pick(r, ROUTE_CONSISTENT_HASH, job, seven, 0), 0, 6);
        assert_int_equal(router_pick(r, ROUTE_CONSISTENT_HASH, job, one, 0), 0);
    }
    group_view_unref(seven);
    group_view_unref(one);
    router_free(r);
}

enum { MANY = 4000 };

/* Addresses first to last, less the one with this number. */
static struct group_view *many_but(uint64_t version, int first, int last, int but)
{
    char **names = mem_new((size_t)(last - first + 1) * sizeof(*names));
    int n = 0;
    for (int i = first; i <= last; i++) {
        char name[40];
        snprintf(name, sizeof(name), "http://10.0.%d.%d:9999/", i / 250, i % 250);
        if (i != but)
            names[n++] = mem_dup(name);
    }
    struct group_view *v = group_view_new(1, version, (const char *const *)names, n);
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return v;
}

/* Hashes that a pick over this list costs. */
static uint64_t pick_costs(struct router *r, int64_t job_id, struct group_view *v)
{
    uint64_t before = router_hashes(r);
    assert_in_range(router_pick(r, ROUTE_CONSISTENT_HASH, job_id, v, 0), 0, v->n - 1);
    group_view_unref(v);
    return router_hashes(r) - before;
}

static void a_change_of_one_address_costs_the_hashes_of_one(void **state)
{
    (void)state;
    struct router *r = router_new(1);
    assert_int_equal(pick_costs(r, 1, many_but(1, 1, MANY, 0)), 100 * MANY + 1);
    assert_int_equal(pick_costs(r, 2, many_but(1, 1, MANY, 0)), 1); /* jobs share the ring */
    uint64_t version = 1;
    for (int i = 7; i < 17; i++) { /* it goes, and comes back */
        assert_int_equal(pick_costs(r, i, many_but(++version, 1, MANY, i)), 1);
        assert_int_equal(pick_costs(r, i, many_but(++version, 1, MANY, 0)), 1);
    }
    assert_int_equal(pick_costs(r, 3, many_but(++version, 0, MANY, -1)), 101);
    assert_int_equal(pick_costs(r, 4, many_but(++version, 5, 5, 0)), 1); /* all but one die */
    assert_int_equal(pick_costs(r, 4, many_but(++version, 0, MANY, -1)), 1);
    assert_int_equal(pick_costs(r, 4, many_but(0, 50, 60, 0)), 1101); /* made for one run */
    assert_int_equal(pick_costs(r, 4, many_but(version, 0, MANY, -1)), 1);
    router_free(r);
}

/* A list of up to 40 of 300 addresses, some of them twice, in any order. */
static struct group_view *any_list(struct dice *d, uint64_t version)
{
    static char names[40][8];
    const char *list[40];
    int n = 1 + (int)dice_below(d, 40), base = (int)dice_below(d, 260);
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "%d", base + (int)dice_below(d, 40));
        list[i] = names[i];
    }
    return group_view_new(1, version, list, n);
}

static void a_ring_that_saw_many_lists_picks_as_a_new_one(void **state)
{
    (void)state;
    struct dice d = { .state = 5 };
    struct router *old = router_new(1);
    for (uint64_t version = 1; version <= 400; version++) {
        struct group_view *v = any_list(&d, version);
        struct router *new = router_new(1);
        for (int64_t job = 1; job <= 20; job++)
            assert_int_equal(router_pick(old, ROUTE_CONSISTENT_HASH, job, v, 0),
                             router_pick(new, ROUTE_CONSISTENT_HASH, job, v, 0));
        router_free(new);
        group_view_unref(v);
    }
    router_free(old);
}

static void a_ring_forgets_addresses_that_stay_away(void **state)
{
    (void)state;
    struct hash_ring ring;
    hash_ring_init(&ring);
    for (int i = 0; i < 500; i++) { /* each executor has a new address */
        struct group_view *v = many_but((uint64_t)i + 1, 3 * i, 3 * i + 9, -1);
        hash_ring_set(&ring, v);
        assert_in_range(hash_ring_pick(&ring, (uint32_t)i << 23), 0, 9);
        assert_in_range(ring.nmembers, 10, 10 + 10 + 64);
        assert_int_equal(ring.npoints, 100 * ring.nmembers);
        assert_int_equal(ring.members.len, ring.nmembers);
        group_view_unref(v);
    }
    hash_ring_done(&ring);
}

static void first_and_last_and_an_empty_list(void **state)
{
    (void)state;
    struct router *r = router_new(1);
    struct group_view *v = view_of(1, 5), *none = view_of(1, 0);
    assert_int_equal(router_pick(r, ROUTE_FIRST, 1, v, 0), 0);
    assert_int_equal(router_pick(r, ROUTE_LAST, 1, v, 0), 4);
    assert_int_equal(router_pick(r, ROUTE_FAILOVER, 1, v, 0), 0);
    for (int route = 0; route < ROUTE_COUNT; route++) {
        assert_int_equal(router_pick(r, (enum route)route, 1, none, 0), -1);
        assert_int_equal(router_pick(r, (enum route)route, 1, NULL, 0), -1);
    }
    group_view_unref(v);
    group_view_unref(none);
    router_free(r);
}

/* How often each of the n addresses is picked in `times` picks of one job. */
static void count_picks(struct router *r, enum route route, const struct group_view *v, int times,
                        int *counts)
{
    memset(counts, 0, (size_t)v->n * sizeof(*counts));
    for (int i = 0; i < times; i++)
        counts[router_pick(r, route, 9, v, 1000)]++;
}

static void round_lfu_and_lru_use_all_alike(void **state)
{
    (void)state;
    static const enum route routes[] = { ROUTE_ROUND, ROUTE_LFU, ROUTE_LRU };
    struct router *r = router_new(7);
    struct group_view *v = view_of(1, 5);
    for (size_t k = 0; k < countof(routes); k++) {
        int counts[5];
        count_picks(r, routes[k], v, 5000, counts);
        for (int i = 0; i < 5; i++)
            assert_in_range(counts[i], 995, 1005);
    }
    group_view_unref(v);
    router_free(r);
}

static void random_uses_all_about_alike(void **state)
{
    (void)state;
    struct router *r = router_new(7);
    struct group_view *v = view_of(1, 5);
    int counts[5];
    count_picks(r, ROUTE_RANDOM, v, 10000, counts);
    for (int i = 0; i < 5; i++)
        assert_in_range(counts[i], 1800, 2200);
    group_view_unref(v);
    router_free(r);
}

static void lru_takes_the_one_that_rested_longest(void **state)
{
    (void)state;
    struct router *r = router_new(7);
    struct group_view *v = view_of(1, 4);
    int order[8];
    for (int i = 0; i < 8; i++)
        order[i] = router_pick(r, ROUTE_LRU, 3, v, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(order[i], order[i + 4]);
    group_view_unref(v);
    router_free(r);
}

static void a_changed_list_keeps_what_is_known_of_those_that_stay(void **state)
{
    (void)state;
    struct router *r = router_new(7);
    struct group_view *four = view_of(1, 4), *five = view_of(2, 5);
    for (int i = 0; i < 4; i++)
        router_pick(r, ROUTE_LRU, 3, four, 0);
    int first = router_pick(r, ROUTE_LRU, 3, five, 0);
    assert_int_not_equal(first, 4); /* the new one stands behind all that were used */
    group_view_unref(four);
    group_view_unref(five);
    router_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_consistent_hash_is_the_original_s),
        cmocka_unit_test(lists_made_for_one_run_do_not_share_a_ring),
        cmocka_unit_test(a_change_of_one_address_costs_the_hashes_of_one),
        cmocka_unit_test(a_ring_that_saw_many_lists_picks_as_a_new_one),
        cmocka_unit_test(a_ring_forgets_addresses_that_stay_away),
        cmocka_unit_test(first_and_last_and_an_empty_list),
        cmocka_unit_test(round_lfu_and_lru_use_all_alike),
        cmocka_unit_test(random_uses_all_about_alike),
        cmocka_unit_test(lru_takes_the_one_that_rested_longest),
        cmocka_unit_test(a_changed_list_keeps_what_is_known_of_those_that_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
