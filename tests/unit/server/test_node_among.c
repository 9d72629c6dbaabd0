/* SPDX-License-Identifier: Apache-2.0 */
/* A server among others: what its folder remembers, what its thread reads and tells, and when. The
 * database and the clock are the test's own, and time stands still unless the test moves it; the
 * rules and the thread are real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "server/node.h"
#include "support_still.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define URL "mysql://u@127.0.0.1:1/one"
#define NODE 3
#define EPOCH 17
#define OTHER 4

static struct {
    enum err err; /* of a beat */
    bool refuses; /* beats */
    int64_t lost; /* commits, it says then */
    int64_t skew_ms, trip_ms;
    int beats, opened, looks, inbox_reads, news_reads;
    int draining;          /* the last beat says so */
    int64_t inbox_after;   /* the id behind which the last read began */
    struct node_beat beat; /* the last; its text is not kept */
    char address[40];
    struct life_record lives[4], orphans[4];
    int nlives, norphans;
    int64_t inbox, news, homes; /* rows, rows, jobs */
    int woken, ended;
    char why[300];
} at;

static struct bench {
    char folder[64];
    struct metrics metrics;
    struct node *n;
} bench;

/* ---- clock ---- */

static void pass(int64_t ms)
{
    wall_ms += ms;
    boot_ms += ms;
}

/* ---- the database ---- */

static void life(struct store *s, int64_t *ret_node, int64_t *ret_epoch)
{
    (void)s;
    *ret_node = NODE;
    *ret_epoch = EPOCH;
}

static enum err beat(struct store *s, const struct node_beat *b, bool *ret_ours,
                     int64_t *ret_clock_ms, struct why *why)
{
    pthread_mutex_lock(&lock);
    at.beats++;
    at.beat = *b;
    at.draining = b->draining;
    text_copy(at.address, sizeof(at.address), slice_text(b->address));
    enum err err = at.err;
    *ret_ours = !at.refuses;
    s->lost_commits = at.lost;
    *ret_clock_ms = wall_ms + at.skew_ms;
    pass(at.trip_ms);
    pthread_mutex_unlock(&lock);
    if (err || !*ret_ours)
        why_set(why, "as the test says");
    return err;
}

static enum err give(const struct life_record *rows, int n, life_row_fn *fn, void *ctx)
{
    for (int i = 0; i < n; i++)
        (void)fn(ctx, &rows[i]);
    return OK;
}

static enum err lives_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                           struct why *why)
{
    (void)s;
    (void)limit;
    (void)why;
    pthread_mutex_lock(&lock);
    at.looks++;
    enum err err = give(at.lives, at.nlives, fn, ctx);
    pthread_mutex_unlock(&lock);
    return err;
}

static enum err orphans_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                             struct why *why)
{
    (void)s;
    (void)limit;
    (void)why;
    pthread_mutex_lock(&lock);
    enum err err = give(at.orphans, at.norphans, fn, ctx);
    pthread_mutex_unlock(&lock);
    return err;
}

static enum err inbox_each(struct store *s, int64_t after_id, int max, inbox_row_fn *fn, void *ctx,
                           struct why *why)
{
    (void)s;
    (void)max;
    (void)why;
    pthread_mutex_lock(&lock);
    at.inbox_reads++;
    at.inbox_after = after_id;
    for (int64_t id = after_id + 1; id <= at.inbox; id++)
        (void)fn(ctx, &(struct inbox_row){ .id = id, .log_id = 7, .msg = (char *)"done" });
    pthread_mutex_unlock(&lock);
    return OK;
}

static enum err changes_each(struct store *s, int64_t after_id, int max, job_news_fn *fn, void *ctx,
                             struct why *why)
{
    (void)s;
    (void)max;
    (void)why;
    pthread_mutex_lock(&lock);
    at.news_reads++;
    for (int64_t id = after_id + 1; id <= at.news; id++)
        (void)fn(ctx, &(struct job_news){ .id = id });
    pthread_mutex_unlock(&lock);
    return OK;
}

static enum err homes_count(struct store *s, int64_t home, int64_t *ret, struct why *why)
{
    (void)s;
    (void)why;
    assert_int_equal(home, NODE);
    *ret = GET(homes);
    return OK;
}

static const struct store_cluster cluster = { .life = life,
                                              .beat = beat,
                                              .lives_each = lives_each,
                                              .orphans_each = orphans_each,
                                              .inbox_each = inbox_each,
                                              .changes_each = changes_each,
                                              .homes_count = homes_count };
static const struct store_ops ops = { .cluster = &cluster };
static struct store store = { .ops = &ops };

enum err store_open(const char *url, const struct store_options *options, struct store **ret,
                    struct why *why)
{
    (void)why;
    assert_string_equal(url, URL);
    assert_int_equal(options->node, NODE);
    assert_int_equal(options->life, EPOCH);
    assert_string_equal(options->password, "secret");
    SET(opened, at.opened + 1);
    *ret = &store;
    return OK;
}

void store_close(struct store *s)
{
    (void)s;
}

/* ---- the bench ---- */

static void on_lost(void *arg, const struct why *why)
{
    assert_ptr_equal(arg, &at);
    pthread_mutex_lock(&lock);
    at.ended++;
    text_copy(at.why, sizeof(at.why), slice_text(why->text));
    pthread_mutex_unlock(&lock);
}

static void on_woken(void *arg)
{
    assert_ptr_equal(arg, &at);
    SET(woken, at.woken + 1);
}

static const struct node_hooks hooks = { on_lost, on_woken, &at };

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    memset(&bench, 0, sizeof(bench));
    memset(&store, 0, sizeof(store));
    store.ops = &ops;
    boot_ms = 1000000;
    wall_ms = 1700000000000;
    at.lives[0] = (struct life_record){ .node = NODE, .epoch = EPOCH, .weight = 1, .address = "" };
    at.nlives = 1;
    (void)snprintf(bench.folder, sizeof(bench.folder), "/tmp/peal-unit-XXXXXX");
    assert_non_null(mkdtemp(bench.folder));
    return 0;
}

static void end(void)
{
    node_free(bench.n);
    bench.n = NULL;
}

static int tear_down(void **state)
{
    char path[100];
    (void)state;
    end();
    (void)snprintf(path, sizeof(path), "%s/node.lock", bench.folder);
    remove(path);
    remove(bench.folder);
    return 0;
}

static void make(const char *url, bool shared)
{
    struct why why = { "" };
    atomic_store(&bench.metrics.db_lost, 0);
    if (node_new(bench.folder, url, "secret", "one", shared, &bench.metrics, &bench.n, &why))
        fail_msg("%s", why.text);
}

static void start(void)
{
    struct why why = { "" };
    if (node_start(bench.n, &store, "here:80", &hooks, &why))
        fail_msg("%s", why.text);
}

static void begin(bool shared)
{
    make(URL, shared);
    start();
}

/* Time passes, and the thread has done what is due. */
static void beats_on(int64_t ms)
{
    int64_t beats = GET(beats);
    pass(ms);
    WAIT_FOR(GET(beats) > beats);
}

static void looks_again(void)
{
    int64_t looks = GET(looks);
    pass(200);
    WAIT_FOR(GET(looks) > looks);
}

/* ---- the folder ---- */

static void the_folder_knows_whose_life_was_the_last(void **state)
{
    (void)state;
    begin(false);
    assert_int_equal(node_gone_epoch(bench.n), 0);
    assert_string_equal(at.address, "here:80");
    end();
    make(URL, false);
    assert_int_equal(node_gone_epoch(bench.n), EPOCH);
    assert_false(node_lost_commits(bench.n));
    end();
    make("mysql://u@127.0.0.1:1/another", false); /* a life there was another one */
    assert_int_equal(node_gone_epoch(bench.n), 0);
    assert_int_equal(node_gone_epoch(NULL), 0);
}

static void write_lock(const char *text)
{
    char path[100];
    (void)snprintf(path, sizeof(path), "%s/node.lock", bench.folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void read_lock(char ret[200])
{
    char path[100];
    (void)snprintf(path, sizeof(path), "%s/node.lock", bench.folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    ret[fread(ret, 1, 199, f)] = '\0';
    assert_int_equal(fclose(f), 0);
}

static void what_the_folder_cannot_know_it_does_not_say(void **state)
{
    (void)state;
    char text[200], other[250];
    static const char *const wrong[] = { "", "\n", "17", "17 ", "x y z", "-" };
    for (int i = 0; i < 6; i++) {
        write_lock(wrong[i]);
        make(URL, false);
        assert_int_equal(node_gone_epoch(bench.n), 0);
        end();
    }
    begin(false);
    read_lock(text);
    end();
    assert_ptr_equal(strstr(text, "17 "), text);
    *strrchr(text, ' ') = '\0'; /* as earlier releases have written it */
    write_lock(text);
    make(URL, false);
    assert_int_equal(node_gone_epoch(bench.n), EPOCH);
    assert_false(node_lost_commits(bench.n));
    end();
    (void)snprintf(other, sizeof(other), "%s -3\n", text);
    write_lock(other);
    make(URL, false);
    assert_int_equal(node_gone_epoch(bench.n), EPOCH);
    assert_false(node_lost_commits(bench.n));
}

static void the_next_process_knows_of_lost_commits_once(void **state)
{
    (void)state;
    begin(false);
    SET(lost, 5);
    SET(refuses, true);
    beats_on(1000);
    WAIT_FOR(GET(ended) == 1);
    end();
    SET(refuses, false);
    make(URL, false);
    assert_int_equal(node_gone_epoch(bench.n), EPOCH);
    assert_true(node_lost_commits(bench.n));
    assert_int_equal(bench.metrics.db_lost, 5);
    start();
    end();
    make(URL, false); /* that one has heeded it */
    assert_int_equal(node_gone_epoch(bench.n), EPOCH);
    assert_false(node_lost_commits(bench.n));
}

static void a_folder_is_of_one_process(void **state)
{
    (void)state;
    struct node *second;
    struct why why = { "" };
    make(URL, false);
    assert_int_equal(node_new(bench.folder, URL, NULL, "two", false, &bench.metrics, &second, &why),
                     ERR_BUSY);
    assert_null(second);
    assert_non_null(strstr(why.text, "is in use by another server"));
}

static void a_file_is_shared_with_nobody(void **state)
{
    (void)state;
    struct node *n;
    struct why why = { "" };
    assert_int_equal(
        node_new(bench.folder, "sqlite:x", NULL, "one", true, &bench.metrics, &n, &why),
        ERR_INVALID);
    assert_non_null(strstr(why.text, "node.cluster needs a database"));
    assert_int_equal(
        node_new(bench.folder, "sqlite:x", NULL, "one", false, &bench.metrics, &n, &why), OK);
    assert_null(n);
    assert_true(node_leased(NULL) && node_first(NULL) && !node_shared(NULL) && !node_counts(NULL));
}

/* ---- the beat ---- */

static void the_clock_of_the_database_is_compared(void **state)
{
    (void)state;
    at.skew_ms = -700;
    begin(false);
    assert_int_equal(bench.metrics.db_skew_ms, -700);
    SET(skew_ms, 300);
    SET(trip_ms, 100); /* it was read in the middle */
    beats_on(1000);
    WAIT_FOR(atomic_load(&bench.metrics.db_skew_ms) == 250);
    SET(skew_ms, 9000);
    SET(trip_ms, 101); /* too slow to say anything */
    beats_on(1000);
    beats_on(1000);
    assert_int_equal(bench.metrics.db_skew_ms, 250);
    WAIT_FOR(atomic_load(&bench.metrics.beat_us) == 101000);
}

static void a_beat_that_fails_is_repeated(void **state)
{
    (void)state;
    begin(false);
    SET(err, ERR_STORE);
    beats_on(1000);
    beats_on(1000);
    SET(err, OK);
    beats_on(1000);
    WAIT_FOR(atomic_load(&bench.metrics.beats) == 2);
    assert_int_equal(bench.metrics.beat_errors, 2);
    assert_int_equal(GET(ended), 0);
    assert_int_equal(at.opened, 1);
}

static void a_server_that_stops_says_so_and_is_refused_in_silence(void **state)
{
    (void)state;
    begin(true);
    node_leave(bench.n);
    beats_on(1000);
    WAIT_FOR(GET(draining));
    SET(refuses, true);
    beats_on(1000);
    end();
    assert_int_equal(at.ended, 0);
}

static void a_lease_ends_without_beats(void **state)
{
    (void)state;
    begin(true);
    assert_true(node_leased(bench.n));
    WAIT_FOR(node_first(bench.n));
    SET(err, ERR_STORE);
    beats_on(1000);
    assert_true(node_leased(bench.n));
    beats_on(1000);
    assert_false(node_leased(bench.n));
    assert_false(node_first(bench.n));
    SET(err, OK);
    beats_on(1000);
    WAIT_FOR(node_leased(bench.n));
}

#define CLOCK_TEXT "this machine's clock is more than 1 s from the database's"

static void a_clock_that_others_do_not_share_ends_this_life(void **state)
{
    (void)state;
    at.lives[1] = (struct life_record){ .node = OTHER, .epoch = 20, .weight = 1, .address = "" };
    at.nlives = 2;
    begin(true);
    SET(skew_ms, 1500);
    beats_on(1000);
    WAIT_FOR(GET(ended) == 1);
    assert_ptr_equal(strstr(at.why, CLOCK_TEXT), at.why);
    int64_t reads = GET(inbox_reads);
    pass(5000);
    node_nudge(bench.n);
    poll(NULL, 0, 50); /* what is wrong has time to happen */
    end();
    assert_int_equal(at.ended, 1);
    assert_int_equal(at.inbox_reads, reads);
}

static void with_such_a_clock_no_server_starts(void **state)
{
    struct why why = { "" };
    (void)state;
    at.lives[1] = (struct life_record){ .node = OTHER, .epoch = 20, .weight = 1, .address = "" };
    at.nlives = 2;
    at.skew_ms = 1500;
    make(URL, true);
    assert_int_equal(node_start(bench.n, &store, "here:80", &hooks, &why), ERR_INVALID);
    assert_ptr_equal(strstr(why.text, CLOCK_TEXT), why.text);
    assert_int_equal(at.ended, 0); /* the start itself fails */
}

static void a_clock_that_nobody_shares_is_the_databases(void **state)
{
    (void)state;
    at.skew_ms = 1500;
    at.lives[1] = (struct life_record){
        .node = OTHER, .epoch = 20, .weight = 1, .skew_ms = 1400, .address = ""
    };
    at.nlives = 2;
    begin(true);
    looks_again();
    looks_again();
    assert_int_equal(GET(ended), 0);
    assert_true(node_leased(bench.n));
}

/* ---- the others ---- */

static void the_others_are_told_when_they_change(void **state)
{
    (void)state;
    struct live_nodes l;
    at.lives[1] = (struct life_record){ .node = OTHER, .epoch = 20, .weight = 1, .address = "b:1" };
    at.lives[2] = (struct life_record){ .node = 5, .epoch = 21, .ended = true, .address = "c:1" };
    at.lives[0].address = "here:80";
    at.nlives = 3;
    begin(true);
    WAIT_FOR(node_lives(bench.n, &l));
    assert_int_equal(l.n, 1);
    assert_int_equal(l.items[0].node, OTHER);
    assert_int_equal(l.items[0].epoch, 20);
    assert_string_equal(l.items[0].address, "b:1");
    live_nodes_done(&l);
    looks_again();
    looks_again();
    assert_false(node_lives(bench.n, &l)); /* once */
    int64_t woken = GET(woken);
    SET(lives[1].address, "b:2");
    pass(5); /* too little for anything else to be due */
    node_nudge(bench.n);
    WAIT_FOR(node_lives(bench.n, &l));
    assert_string_equal(l.items[0].address, "b:2");
    live_nodes_done(&l);
    WAIT_FOR(GET(woken) > woken);
}

static void a_number_moves_with_what_others_have_changed(void **state)
{
    (void)state;
    at.lives[1] = (struct life_record){ .node = OTHER, .epoch = 20, .weight = 1, .address = "" };
    at.nlives = 2;
    begin(true);
    WAIT_FOR(node_others(bench.n));
    uint64_t others = node_others(bench.n);
    SET(lives[0].changes, 1); /* its own */
    looks_again();
    looks_again();
    assert_true(node_others(bench.n) == others);
    SET(lives[1].changes, 1);
    pass(200);
    WAIT_FOR(node_others(bench.n) != others);
    others = node_others(bench.n);
    SET(lives[1].epoch, 21); /* which begins its number anew */
    SET(lives[1].changes, 0);
    pass(200);
    WAIT_FOR(node_others(bench.n) != others);
    assert_true(node_others(NULL) == 0);
}

static void rows_that_wait_are_taken_before_more_are_read(void **state)
{
    (void)state;
    struct inbox_rows results;
    struct news_rows edits;
    at.inbox = at.news = 1;
    begin(true);
    WAIT_FOR(GET(inbox_reads) > 0 && GET(news_reads) > 0);
    WAIT_FOR(GET(woken) >= 2);
    for (int i = 0; i < 5; i++)
        looks_again();
    assert_int_equal(GET(inbox_reads), 1);
    assert_int_equal(GET(news_reads), 1);
    assert_true(node_results(bench.n, &results));
    assert_int_equal(results.n, 1);
    assert_string_equal(results.items[0].msg, "done");
    inbox_rows_done(&results);
    assert_true(node_news(bench.n, &edits));
    assert_int_equal(edits.items[0].id, 1);
    news_rows_done(&edits);
    pass(200);
    WAIT_FOR(GET(inbox_reads) > 1 && GET(news_reads) > 1);
}

static void a_database_that_takes_no_beat_is_asked_for_that_alone(void **state)
{
    (void)state;
    begin(true);
    WAIT_FOR(GET(inbox_reads) > 0 && GET(news_reads) > 0);
    SET(err, ERR_STORE);
    beats_on(1000);
    WAIT_FOR(atomic_load(&bench.metrics.beat_errors) == 1);
    int64_t inbox = GET(inbox_reads), news = GET(news_reads);
    beats_on(1000);
    beats_on(1000);
    assert_int_equal(GET(inbox_reads), inbox);
    assert_int_equal(GET(news_reads), news);
    SET(err, OK);
    beats_on(1000);
    pass(200);
    WAIT_FOR(GET(inbox_reads) > inbox && GET(news_reads) > news);
}

static void who_is_told_of_news_looks_at_all_of_it(void **state)
{
    (void)state;
    begin(true);
    WAIT_FOR(GET(looks) > 0 && GET(inbox_reads) > 0 && GET(news_reads) > 0);
    for (int i = 0; i < 3; i++) { /* no time passes but a moment */
        int64_t looks = GET(looks), inbox = GET(inbox_reads), news = GET(news_reads);
        pass(5);
        node_nudge(bench.n);
        WAIT_FOR(GET(looks) > looks && GET(inbox_reads) > inbox && GET(news_reads) > news);
    }
    node_nudge(NULL);
}

static void a_life_that_is_over_reads_nothing(void **state)
{
    (void)state;
    begin(true);
    WAIT_FOR(GET(inbox_reads) > 0 && GET(news_reads) > 0);
    SET(refuses, true);
    beats_on(1000);
    WAIT_FOR(GET(ended) == 1);
    int64_t beats = GET(beats), looks = GET(looks), inbox = GET(inbox_reads);
    pass(60000);
    node_nudge(bench.n);
    end(); /* it has read its messages */
    assert_int_equal(at.beats, beats);
    assert_int_equal(at.looks, looks);
    assert_int_equal(at.inbox_reads, inbox);
    assert_int_equal(at.ended, 1);
}

/* ---- what the scheduler is told ---- */

/* The next slice is asked for. Each is answered once: the answer is the node's own until it has
 * read it. */
static void waits_for_a_walk(struct node_says *ret)
{
    ret->sweeps = false;
    for (int i = 0; i < 50 && !ret->sweeps; i++) {
        looks_again();
        assert_true(node_takes(bench.n, ret));
    }
    assert_true(ret->sweeps);
}

static void a_walk_through_homes_goes_on_where_it_was(void **state)
{
    (void)state;
    struct node_says says = { .sweeps = false };
    const struct home_row next = { 9, 1234, 56 };
    begin(true);
    waits_for_a_walk(&says);
    assert_int_equal(says.sweep.home, 0);
    assert_true(says.sweep.next_ms == INT64_MIN);
    assert_int_equal(says.share.n, 1);
    assert_true(node_takes(bench.n, &says));
    assert_false(says.sweeps); /* once */
    node_swept(bench.n, &next, true);
    waits_for_a_walk(&says);
    assert_int_equal(says.sweep.home, 9);
    assert_int_equal(says.sweep.next_ms, 1234);
}

static void runs_of_an_ended_life_are_taken_slice_by_slice(void **state)
{
    (void)state;
    struct node_says says = { .sweeps = false };
    at.orphans[0] = (struct life_record){
        .node = OTHER, .epoch = 12, .watermark_ms = 99, .ended = true, .clean = true, .address = ""
    };
    at.norphans = 1;
    at.inbox = 1;
    begin(true);
    WAIT_FOR(node_takes(bench.n, &says) && says.adopt.epoch);
    assert_int_equal(says.adopt.epoch, 12);
    assert_int_equal(says.adopt.watermark_ms, 99);
    assert_true(says.adopt.clean);
    assert_true(node_takes(bench.n, &says));
    assert_int_equal(says.adopt.epoch, 0); /* once */
    struct inbox_rows rows;
    WAIT_FOR(node_results(bench.n, &rows));
    inbox_rows_done(&rows);
    for (int i = 0; i < 30 && !GET(inbox_after); i++) {
        looks_again();
        if (node_results(bench.n, &rows))
            inbox_rows_done(&rows);
    }
    assert_int_equal(GET(inbox_after), 1); /* what has been read for a while is not read again */
    SET(norphans, 0);
    node_adopted(bench.n, 1000, true);
    for (int i = 0; i < 50 && !says.adopt.epoch; i++) {
        looks_again();
        assert_true(node_takes(bench.n, &says));
    }
    assert_int_equal(says.adopt.epoch, 12);
    WAIT_FOR(node_results(bench.n, &rows)); /* but it may be for one of these runs */
    inbox_rows_done(&rows);
    node_adopted(bench.n, 3, false);
    for (int i = 0; i < 10; i++) {
        looks_again();
        assert_true(node_takes(bench.n, &says));
        assert_int_equal(says.adopt.epoch, 0);
    }
}

static void jobs_are_counted_now_and_then(void **state)
{
    (void)state;
    struct node_says says = { .sweeps = false };
    const struct home_row next = { 0, 0, 0 };
    begin(true);
    assert_true(node_counts(bench.n));
    node_count(bench.n, &store); /* none yet: the others have to move them here */
    assert_int_equal(bench.metrics.jobs, -1);
    assert_false(node_counts(bench.n));
    pass(1000);
    assert_true(node_counts(bench.n));
    SET(homes, 8);
    node_count(bench.n, &store);
    assert_int_equal(bench.metrics.jobs, 8);
    SET(homes, 0); /* once it was known, none is a number */
    pass(29999);
    assert_false(node_counts(bench.n));
    pass(1);
    assert_true(node_counts(bench.n));
    node_count(bench.n, &store);
    assert_int_equal(bench.metrics.jobs, 0);
    beats_on(1000);
    WAIT_FOR(GET(beat.jobs) == 0);
    waits_for_a_walk(&says);
    node_swept(bench.n, &next, true);
    assert_false(node_counts(bench.n));
    waits_for_a_walk(&says);
    node_swept(bench.n, &next, false); /* the walk is at its end */
    assert_true(node_counts(bench.n));
}

static void who_never_had_jobs_says_none_after_a_while(void **state)
{
    (void)state;
    begin(true);
    pass(30000);
    node_count(bench.n, &store);
    assert_int_equal(bench.metrics.jobs, 0);
}

static void one_alone_is_told_nothing(void **state)
{
    (void)state;
    struct node_says says;
    begin(false);
    assert_false(node_takes(bench.n, &says));
    assert_true(node_leased(bench.n) && node_first(bench.n));
    assert_false(node_counts(bench.n));
    beats_on(1000);
    beats_on(1000);
    end();
    assert_int_equal(at.looks + at.inbox_reads + at.news_reads, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(the_folder_knows_whose_life_was_the_last),
        CASE(what_the_folder_cannot_know_it_does_not_say),
        CASE(the_next_process_knows_of_lost_commits_once),
        CASE(a_folder_is_of_one_process),
        CASE(a_file_is_shared_with_nobody),
        CASE(the_clock_of_the_database_is_compared),
        CASE(a_beat_that_fails_is_repeated),
        CASE(a_server_that_stops_says_so_and_is_refused_in_silence),
        CASE(a_lease_ends_without_beats),
        CASE(a_clock_that_others_do_not_share_ends_this_life),
        CASE(with_such_a_clock_no_server_starts),
        CASE(a_clock_that_nobody_shares_is_the_databases),
        CASE(the_others_are_told_when_they_change),
        CASE(a_number_moves_with_what_others_have_changed),
        CASE(rows_that_wait_are_taken_before_more_are_read),
        CASE(a_database_that_takes_no_beat_is_asked_for_that_alone),
        CASE(who_is_told_of_news_looks_at_all_of_it),
        CASE(a_life_that_is_over_reads_nothing),
        CASE(a_walk_through_homes_goes_on_where_it_was),
        CASE(runs_of_an_ended_life_are_taken_slice_by_slice),
        CASE(jobs_are_counted_now_and_then),
        CASE(who_never_had_jobs_says_none_after_a_while),
        CASE(one_alone_is_told_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
