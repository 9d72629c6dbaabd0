/* SPDX-License-Identifier: Apache-2.0 */
/* What the web loop is told, by a scheduler's loop that the test plays: a core with two runs, and
 * batches made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "live/feed.h"
#include "server/center.h"

static const struct center_watcher *watcher;
static void *watcher_arg;

/* In place of the center's. */
void center_watch(struct center *c, const struct center_watcher *w, void *arg)
{
    (void)c;
    watcher = w;
    watcher_arg = arg;
}

static follow_fn *others;
static void *others_arg;

void center_on_others(struct center *c, follow_fn *fn, void *arg)
{
    (void)c;
    others = fn;
    others_arg = arg;
}

struct heard {
    struct feed_reader reader;
    int64_t node; /* of the last end that was another server's */
    int begins, ends, edits;
    size_t open, runs;
    struct feed_end last_end;
    char said[64], address[64];
    struct feed_edit last_edit;
    int64_t no;
};

static void on_begin(struct feed_reader *r, const struct run_seen *open, size_t n)
{
    struct heard *h = container_of(r, struct heard, reader);
    h->begins++;
    h->open = n;
    h->runs = 0;
    for (size_t i = 0; i < n; i++)
        assert_true(phase_open((enum phase)open[i].phase));
}

static void on_runs(struct feed_reader *r, const struct run_seen *runs, size_t n)
{
    (void)runs;
    container_of(r, struct heard, reader)->runs += n;
}

static void on_ends(struct feed_reader *r, const struct feed_end *ends, size_t n, int64_t no)
{
    struct heard *h = container_of(r, struct heard, reader);
    h->ends += (int)n;
    h->no = no;
    h->last_end = ends[n - 1];
    const struct failure *f = &ends[n - 1].failure;
    snprintf(h->said, sizeof(h->said), "%s", f->handle_msg ? f->handle_msg : "");
    snprintf(h->address, sizeof(h->address), "%s", f->address ? f->address : "");
}

static void on_others(struct feed_reader *r, int64_t node, const struct feed_end *ends, size_t n,
                      int64_t no)
{
    on_ends(r, ends, n, no);
    container_of(r, struct heard, reader)->node = node;
}

static void on_edits(struct feed_reader *r, const struct feed_edit *edits, size_t n)
{
    struct heard *h = container_of(r, struct heard, reader);
    h->edits += (int)n;
    h->last_edit = edits[n - 1];
}

struct test {
    struct sched *sched;
    struct loop *web;
    struct feed *feed;
    struct heard heard;
};

static enum err no_zone(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    (void)name;
    (void)ret;
    (void)why;
    return ERR_NOTFOUND;
}

static void load(struct sched *s, int64_t log_id, enum phase phase)
{
    struct job_record record;
    job_record_init(&record);
    record.id = 3;
    record.group_id = 2;
    char address[] = "10.0.0.1:9999";
    struct job *job = job_new(&record, no_zone, NULL, 2100);
    struct run_row row = { .log_id = log_id,
                           .job_id = 3,
                           .group_id = 2,
                           .scheduled_ms = 1000,
                           .due_ms = 1000,
                           .log_ms = 1000,
                           .kind = KIND_CRON,
                           .phase = phase,
                           .address = address };
    sched_load_run(s, (struct now){ 5000, 5000 }, &row, job, FLIGHT_KNOWS_NOTHING);
    job_unref(job);
    job_record_done(&record);
}

static void turn(struct test *t)
{
    while (watcher->turned(watcher_arg, t->sched) != INT64_MAX) /* it gathers for a while */
        usleep(1000);
    loop_iterate(t->web, 0);
}

static int setup(void **state)
{
    struct test *t = mem_new(sizeof(*t));
    struct sched_config config;
    sched_config_default(&config);
    t->sched = sched_new(&config);
    load(t->sched, 11, PHASE_ACCEPTED);
    load(t->sched, 12, PHASE_ACCEPTED);
    t->web = loop_new();
    assert_int_equal(feed_new(NULL, t->web, &t->feed), OK);
    t->heard.reader = (struct feed_reader){
        .begin = on_begin, .runs = on_runs, .ends = on_ends, .others = on_others, .edits = on_edits
    };
    feed_add(t->feed, &t->heard.reader);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct test *t = *state;
    feed_free(t->feed);
    assert_null(watcher);
    assert_null(others);
    loop_free(t->web);
    sched_free(t->sched);
    free(t);
    return 0;
}

/* One end a change, all of them failures. */
static struct batch *failures(int64_t log_id, int n, const char *message)
{
    struct batch *b = batch_new();
    b->now_ms = 7000;
    b->ends_no = 4;
    b->nchanges = b->nends = n;
    b->changes = mem_new((size_t)n * sizeof(*b->changes));
    b->ends = mem_new((size_t)n * sizeof(*b->ends));
    for (int i = 0; i < n; i++) {
        b->ends[i] = (struct run_end){
            .log_id = log_id + i, .job_id = 3, .group_id = 2, .now = OUTCOME_FAILED
        };
        b->changes[i].log_id = log_id + i;
        b->changes[i].what = CHANGE_FINISH | CHANGE_CLOSE;
        b->changes[i].end = b->ends[i];
        b->changes[i].handle_code = 500;
        b->changes[i].handle_msg = mem_dup(message);
    }
    return b;
}

static void commit(struct test *t, struct batch *b)
{
    watcher->committed(watcher_arg, t->sched, b);
    batch_free(b);
}

static void test_begins_with_what_is_out(void **state)
{
    struct test *t = *state;
    assert_int_equal(t->heard.begins, 0);
    turn(t);
    assert_int_equal(t->heard.begins, 1);
    assert_int_equal(t->heard.open, 2);
    turn(t);
    assert_int_equal(t->heard.begins, 1);
}

static void test_runs_that_come(void **state)
{
    struct test *t = *state;
    turn(t);
    load(t->sched, 13, PHASE_ACCEPTED);
    assert_int_equal(t->heard.runs, 0);
    turn(t);
    assert_int_equal(t->heard.runs, 1);
}

static void test_end_says_why_it_failed(void **state)
{
    struct test *t = *state;
    turn(t);
    commit(t, failures(11, 1, " \n no such order"));
    assert_int_equal(t->heard.ends, 0);
    turn(t);
    assert_int_equal(t->heard.ends, 1);
    assert_int_equal(t->heard.no, 4);
    assert_int_equal(t->heard.last_end.end.log_id, 11);
    assert_int_equal(t->heard.last_end.ended_ms, 7000);
    assert_int_equal(t->heard.last_end.failure.handle_code, 500);
    assert_string_equal(t->heard.said, "no such order");
    assert_string_equal(t->heard.address, "10.0.0.1:9999");
}

/* Ends of edits stand behind those of changes, and have no words. */
static void test_end_without_change(void **state)
{
    struct test *t = *state;
    turn(t);
    struct batch *b = failures(11, 2, "first");
    b->ends[1] = (struct run_end){ .log_id = 99, .job_id = 3, .now = OUTCOME_WITHDRAWN };
    commit(t, b);
    turn(t);
    assert_int_equal(t->heard.ends, 2);
    assert_int_equal(t->heard.last_end.end.log_id, 99);
    assert_null(t->heard.last_end.failure.handle_msg);
}

static void test_ends_of_another_server(void **state)
{
    struct test *t = *state;
    char said[] = "  no such order";
    struct follow_end end = { .end = { .log_id = 77, .job_id = 3, .now = OUTCOME_FAILED },
                              .ended_ms = 8000,
                              .failure = { .trigger_code = 200,
                                           .handle_code = 500,
                                           .handle_msg = said,
                                           .address = "10.0.0.2:9999" } };
    others(others_arg, 2, 41, &end, 1);
    memset(said, 'x', sizeof(said) - 1); /* it is copied */
    turn(t);
    assert_int_equal(t->heard.ends, 1);
    assert_int_equal(t->heard.node, 2);
    assert_int_equal(t->heard.no, 41);
    assert_int_equal(t->heard.last_end.end.log_id, 77);
    assert_int_equal(t->heard.last_end.ended_ms, 8000);
    assert_int_equal(t->heard.last_end.failure.handle_code, 500);
    assert_string_equal(t->heard.said, "no such order");
    assert_string_equal(t->heard.address, "10.0.0.2:9999");
}

/* A web loop that does not turn begins anew: the figures have what was left out. */
static void test_ends_of_another_server_are_bounded(void **state)
{
    struct test *t = *state;
    turn(t);
    size_t n = FEED_BACKLOG_MAX / 40 / sizeof(struct feed_end);
    struct follow_end *ends = mem_new(n * sizeof(*ends));
    int begins = t->heard.begins;
    for (int i = 0; i < 50; i++)
        others(others_arg, 2, 100 + i, ends, n);
    loop_iterate(t->web, 0);
    assert_in_range((size_t)t->heard.ends, n, 40 * n);
    turn(t);
    assert_int_equal(t->heard.begins, begins + 1);
    free(ends);
}

static void test_edits_that_were_made(void **state)
{
    struct test *t = *state;
    turn(t);
    struct batch *b = batch_new();
    b->edits = mem_new(2 * sizeof(*b->edits));
    b->nedits = 2;
    b->edits[0] = edit_new(EDIT_JOB_DELETE);
    b->edits[0]->id = 3;
    b->edits[0]->was_group_id = 5;
    b->edits[1] = edit_new(EDIT_JOB_STOP);
    b->edits[1]->err = ERR_NOTFOUND;
    commit(t, b);
    turn(t);
    assert_int_equal(t->heard.edits, 1);
    assert_int_equal(t->heard.last_edit.id, 3);
    assert_int_equal(t->heard.last_edit.group_id, 5);
    assert_int_equal(t->heard.last_edit.kind, EDIT_JOB_DELETE);
}

/* A web loop that stands still: what waits is bounded, and it begins anew. */
static void test_backlog_is_dropped(void **state)
{
    enum { MANY = 60000 };
    struct test *t = *state;
    turn(t);
    int told = 0;
    for (size_t bytes = 0; bytes < 3 * (size_t)FEED_BACKLOG_MAX; told += MANY) {
        commit(t, failures(100, MANY, "x"));
        watcher->turned(watcher_arg, t->sched);
        bytes += MANY * sizeof(struct feed_end);
    }
    loop_iterate(t->web, 0);
    assert_true(t->heard.ends > 0 && t->heard.ends < told / 2);
    assert_int_equal(t->heard.begins, 1);
    turn(t);
    assert_int_equal(t->heard.begins, 2);
    assert_int_equal(t->heard.open, 2);
    commit(t, failures(11, 1, "again"));
    turn(t);
    assert_string_equal(t->heard.said, "again");
}

/* Asked for twice before the scheduler's loop has turned: begun once. */
static void test_begins_again_when_asked(void **state)
{
    struct test *t = *state;
    turn(t);
    feed_again(t->feed);
    feed_again(t->feed);
    turn(t);
    turn(t);
    assert_int_equal(t->heard.begins, 2);
}

static void test_removed_reader_hears_nothing(void **state)
{
    struct test *t = *state;
    feed_remove(t->feed, &t->heard.reader);
    feed_remove(t->feed, &t->heard.reader);
    turn(t);
    assert_int_equal(t->heard.begins, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_begins_with_what_is_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_runs_that_come, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end_says_why_it_failed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end_without_change, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ends_of_another_server, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ends_of_another_server_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_edits_that_were_made, setup, teardown),
        cmocka_unit_test_setup_teardown(test_backlog_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_begins_again_when_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_removed_reader_hears_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
