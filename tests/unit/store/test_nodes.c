/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of peal_node on a database that several servers can open: which beat is taken, why another
 * one is not, and the list. Without PEAL_TEST_DB there is no such database, and nothing is tried.
 */
#include "support_store.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    struct engine *e;
    struct store *beats; /* the life of e->s, for its beat */
    int64_t node, epoch;
};

static struct place place_of(void **state)
{
    struct place p = { .e = *state };
    if (!p.e->server)
        skip();
    p.e->s->ops->cluster->life(p.e->s, &p.node, &p.epoch);
    const struct store_options options = { .node = p.node, .epoch = p.epoch, .life = p.epoch };
    EXPECT(store_open(p.e->url, &options, &p.beats, &why), OK);
    return p;
}

static struct node_beat beat_of(int64_t n, int64_t last)
{
    return (struct node_beat){ .n = n,
                               .last = last,
                               .watermark_ms = 1000 * n,
                               .skew_ms = -7,
                               .wall_ms = 1795271528000 + n,
                               .live = 812,
                               .address = "10.0.3.4:8080" };
}

static bool takes(const struct place *p, int64_t n, int64_t last, struct why *told)
{
    struct node_beat b = beat_of(n, last);
    bool ours = false;
    int64_t clock_ms = -1;
    why_clear(told);
    assert_int_equal(p->beats->ops->cluster->beat(p->beats, &b, &ours, &clock_ms, told), OK);
    if (ours)
        assert_true(clock_ms > 1700000000000);
    return ours;
}

static void a_beat_lies_between_the_last_that_was_answered_and_the_new_one(void **state)
{
    struct place p = place_of(state);
    struct why told;
    assert_true(takes(&p, 1, 0, &told));
    assert_true(takes(&p, 2, 1, &told));  /* say that its answer got lost, */
    assert_true(takes(&p, 4, 1, &told));  /* and that the third was not written */
    assert_false(takes(&p, 3, 1, &told)); /* it comes late */
    assert_false(takes(&p, 4, 1, &told)); /* the same once more */
    assert_true(takes(&p, 5, 4, &told));
    assert_int_equal(engine_sql_number(p.e, "SELECT beat FROM peal_node"), 5);
    store_close(p.beats);
}

static void what_is_not_ours_is_told(void **state)
{
    struct place p = place_of(state);
    struct why told;
    assert_true(takes(&p, 9, 0, &told));
    engine_sql(p.e, "UPDATE peal_node SET beat = 5");
    assert_false(takes(&p, 10, 9, &told));
    assert_non_null(strstr(told.text, "beat 5 of epoch"));
    assert_non_null(strstr(told.text, "where 9 was acknowledged"));
    engine_sql(p.e, "UPDATE peal_node SET beat = 9, dead = 1");
    assert_false(takes(&p, 11, 9, &told));
    assert_non_null(strstr(told.text, "declared dead"));
    engine_sql(p.e, "DELETE FROM peal_node");
    assert_false(takes(&p, 12, 9, &told));
    assert_non_null(strstr(told.text, "taken away"));
    store_close(p.beats);
}

static void a_watermark_never_goes_back(void **state)
{
    struct place p = place_of(state);
    struct why told;
    engine_sql(p.e, "UPDATE peal_node SET mark_ms = 2500");
    assert_true(takes(&p, 2, 0, &told));
    assert_int_equal(engine_sql_number(p.e, "SELECT mark_ms FROM peal_node"), 2500);
    assert_true(takes(&p, 3, 2, &told));
    assert_int_equal(engine_sql_number(p.e, "SELECT mark_ms FROM peal_node"), 3000);
    store_close(p.beats);
}

struct listed {
    struct node_record rows[4];
    char names[4][16];
    int n;
};

static bool take_node(void *ctx, const struct node_record *r)
{
    struct listed *l = ctx;
    assert_true(l->n < 4);
    l->rows[l->n] = *r;
    text_copy(l->names[l->n], sizeof(l->names[0]), slice_text(r->name));
    if (r->beat) {
        assert_string_equal(r->address, "10.0.3.4:8080");
        assert_string_equal(r->version, PEAL_VERSION);
        assert_int_equal(r->protocol, 1);
    }
    l->n++;
    return true;
}

static struct listed list(struct store *s, int64_t below_epoch, int64_t limit)
{
    struct listed l = { .n = 0 };
    int64_t total = 0;
    OP(s, cluster->nodes_page, below_epoch, limit, take_node, &l, &total);
    assert_int_equal(total, 2);
    return l;
}

static void who_opens_a_database_declares_the_one_before_dead(void **state)
{
    struct place p = place_of(state);
    struct why told;
    struct store *next;
    assert_true(takes(&p, 1, 0, &told));
    const struct store_options options = { .node_name = "next", .gone_epoch = p.epoch };
    EXPECT(store_open(p.e->url, &options, &next, &why), OK);
    assert_false(takes(&p, 2, 1, &told));
    assert_non_null(strstr(told.text, "next"));
    struct listed l = list(next, INT64_MAX, 4);
    assert_int_equal(l.n, 2);
    assert_string_equal(l.names[0], "next");
    assert_string_equal(l.names[1], "peal");
    assert_true(!l.rows[0].ended && !l.rows[0].dead && l.rows[0].beat == 0);
    assert_true(l.rows[1].ended && l.rows[1].dead && !l.rows[1].draining);
    assert_int_equal(l.rows[1].node, p.node);
    assert_int_equal(l.rows[1].epoch, p.epoch);
    assert_int_equal(l.rows[1].wall_ms, 1795271528001);
    assert_int_equal(l.rows[1].skew_ms, -7);
    assert_int_equal(l.rows[1].live, 812);
    assert_int_equal(list(next, l.rows[0].epoch, 4).n, 1);
    assert_string_equal(list(next, INT64_MAX, 1).names[0], "next");
    store_close(next);
    store_close(p.beats);
}

static void who_said_that_it_stops_is_not_dead(void **state)
{
    struct place p = place_of(state);
    struct why told;
    struct store *next;
    assert_true(takes(&p, 1, 0, &told));
    const struct store_options options = { .node_name = "next", .gone_epoch = p.epoch };
    EXPECT(store_open(p.e->url, &options, &next, &why), OK);
    store_close(next);
    engine_reopen(p.e);
    struct listed l = list(p.e->s, INT64_MAX, 4);
    assert_string_equal(l.names[0], "peal");
    assert_true(!l.rows[0].ended && !l.rows[0].dead);
    assert_int_equal(l.rows[0].beat, 0); /* of this life */
    assert_true(l.rows[1].ended && !l.rows[1].dead);
    store_close(p.beats);
}

static struct store *beside(const struct place *p, const char *name, int64_t gone_epoch,
                            int64_t *ret_epoch)
{
    int64_t node;
    struct store *s;
    const struct store_options o = { .shared = true, .node_name = name, .gone_epoch = gone_epoch };
    EXPECT(store_open(p->e->url, &o, &s, &why), OK);
    s->ops->cluster->life(s, &node, ret_epoch);
    return s;
}

static int64_t heir_of(const struct place *p, int64_t epoch)
{
    char text[120];
    snprintf(text, sizeof(text),
             "SELECT coalesce(heir, 0) FROM peal_epoch WHERE ended = 1 AND epoch = %lld",
             (long long)epoch);
    return engine_sql_number(p->e, text);
}

#define DEAD "SELECT count(*) FROM peal_node WHERE dead = 1"
#define LIVE "SELECT count(*) FROM peal_epoch WHERE ended = 0"

/* Each server opens the database when it knows that the rival has ended: nobody is waited for. */
static void who_begins_ends_the_rivals_and_leaves_the_others_alone(void **state)
{
    struct place p = place_of(state);
    struct store *s[5];
    int64_t one, two, three, four, again;
    s[0] = beside(&p, "one", p.epoch, &one);
    assert_int_equal(heir_of(&p, p.epoch), one); /* it had the database alone */
    assert_int_equal(engine_sql_number(p.e, DEAD), 1);
    s[1] = beside(&p, "two", 0, &two);
    assert_int_equal(engine_sql_number(p.e, LIVE), 2);
    engine_sql(p.e, "UPDATE peal_node SET protocol = 0 WHERE name = 'one'");
    s[2] = beside(&p, "three", one, &three); /* an older release */
    assert_int_equal(heir_of(&p, one), three);
    assert_int_equal(engine_sql_number(p.e, DEAD), 2);
    assert_int_equal(engine_sql_number(p.e, LIVE), 2);
    engine_sql(p.e, "UPDATE peal_node SET protocol = 9, oldest = 2 WHERE name = 'two'");
    s[3] = beside(&p, "four", two, &four); /* a newer one */
    assert_int_equal(heir_of(&p, two), four);
    assert_int_equal(engine_sql_number(p.e, DEAD), 3);
    assert_int_equal(engine_sql_number(p.e, LIVE), 2);
    s[4] = beside(&p, "three", three, &again); /* its own last life */
    assert_int_equal(heir_of(&p, three), again);
    assert_int_equal(engine_sql_number(p.e, DEAD), 3);
    assert_int_equal(engine_sql_number(p.e, LIVE), 2);
    for (int i = 0; i < 5; i++)
        store_close(s[i]);
    store_close(p.beats);
}

static void a_database_in_a_file_has_no_such_rows(void **state)
{
    const struct engine *e = *state;
    assert_true(e->server || !e->s->ops->cluster);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup_sql, teardown_engine)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_database_in_a_file_has_no_such_rows),
        CASE(a_beat_lies_between_the_last_that_was_answered_and_the_new_one),
        CASE(what_is_not_ours_is_told),
        CASE(a_watermark_never_goes_back),
        CASE(who_opens_a_database_declares_the_one_before_dead),
        CASE(who_said_that_it_stops_is_not_dead),
        CASE(who_begins_ends_the_rivals_and_leaves_the_others_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
