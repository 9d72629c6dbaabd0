/* SPDX-License-Identifier: Apache-2.0 */
/* What other servers commit is read, counted and told. The database, the figures and the clock are
 * the test's own; the follower's thread is real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "server/follow.h"
#include "support_still.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN 1
#define COMMITS_MAX 1300
#define ENDED_MS 1700000000000

struct written { /* a letter an end: what became of the run */
    int64_t node, n;
    const char *ends;
};

static struct {
    struct life_record lives[4];
    int nlives;
    struct written commits[COMMITS_MAX];
    int ncommits;
    enum err lives_err, deltas_err; /* the second after the first commit of a read */
    int64_t read[4];                /* by node: what the figures have counted */
    int looks, asked[4], anew, rows_read;
    int64_t below[4];
    int most; /* commits of one read */
    int told, ends, failures;
    char last[100];
} at;

/* ---- figures ---- */

enum err figures_others_load(struct figures *f, struct store *s, struct why *why)
{
    (void)f;
    (void)s;
    (void)why;
    pthread_mutex_lock(&lock);
    at.anew++;
    pthread_mutex_unlock(&lock);
    return OK;
}

int64_t figures_others_read(struct figures *f, int64_t node)
{
    (void)f;
    return get(&at.read[node], true);
}

static enum outcome outcome_of(char c)
{
    return c == 'S' ? OUTCOME_SUCCEEDED : c == 'W' ? OUTCOME_WITHDRAWN : OUTCOME_FAILED;
}

struct run_end *figures_others_take(struct figures *f, int64_t node, int64_t n, struct slice bytes,
                                    size_t *ret_n, int64_t *ret_at_ms)
{
    (void)f;
    pthread_mutex_lock(&lock);
    assert_true(n > at.read[node]);
    at.read[node] = n;
    pthread_mutex_unlock(&lock);
    struct run_end *ends = mem_new((bytes.n + 1) * sizeof(*ends));
    for (size_t i = 0; i < bytes.n; i++)
        ends[i] =
            (struct run_end){ .log_id = n * 1000 + (int64_t)i, .now = outcome_of(bytes.p[i]) };
    *ret_n = bytes.n;
    *ret_at_ms = ENDED_MS + n;
    return ends;
}

/* ---- the database ---- */

static enum err lives_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                           struct why *why)
{
    (void)s;
    (void)limit;
    (void)why;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < at.nlives && !at.lives_err; i++)
        (void)fn(ctx, &at.lives[i]);
    at.looks++;
    enum err err = at.lives_err;
    pthread_mutex_unlock(&lock);
    return err;
}

static enum err deltas_of(struct store *s, int64_t node, int64_t after_n, int64_t below_n,
                          int64_t max, delta_row_fn *fn, void *ctx, struct why *why)
{
    int n = 0;
    (void)s;
    (void)why;
    pthread_mutex_lock(&lock);
    at.asked[node]++;
    at.below[node] = below_n;
    enum err err = at.deltas_err;
    for (int i = 0; i < at.ncommits && (!err || !n); i++) {
        const struct written *w = &at.commits[i];
        if (w->node != node || w->n <= after_n || w->n >= below_n)
            continue;
        n++;
        if (!fn(ctx, w->n, slice_text(w->ends)))
            break;
    }
    assert_true(n <= max);
    at.most = n > at.most ? n : at.most;
    pthread_mutex_unlock(&lock);
    return err;
}

static enum err log_get(struct store *s, int64_t id, struct log_record *ret, struct why *why)
{
    char text[40];
    (void)s;
    (void)why;
    pthread_mutex_lock(&lock);
    at.rows_read++;
    pthread_mutex_unlock(&lock);
    (void)snprintf(text, sizeof(text), "why %lld failed", (long long)id);
    *ret = (struct log_record){ .id = id, .handle_code = 500, .handle_msg = mem_dup(text) };
    return OK;
}

static void close_it(struct store *s)
{
    (void)s;
}

static const struct store_cluster cluster = { .lives_each = lives_each, .deltas_of = deltas_of };
static const struct store_pages pages = { .log_get = log_get };
static const struct store_ops ops = { .cluster = &cluster, .pages = &pages, .close = close_it };
static struct store store = { .ops = &ops };

/* ---- the bench ---- */

static void on_ends(void *arg, int64_t node, int64_t no, const struct follow_end *ends, size_t n)
{
    assert_ptr_equal(arg, &at);
    pthread_mutex_lock(&lock);
    at.told++;
    at.ends += (int)n;
    for (size_t i = 0; i < n; i++) {
        const struct failure *f = &ends[i].failure;
        assert_int_equal(ends[i].ended_ms, ENDED_MS + no);
        if (!f->handle_msg)
            continue;
        at.failures++;
        assert_int_equal(f->handle_code, 500);
        (void)snprintf(at.last, sizeof(at.last), "node %lld: %s", (long long)node, f->handle_msg);
    }
    pthread_mutex_unlock(&lock);
}

/* It finds servers when there is somebody to tell. */
static struct follow *begin(void)
{
    int n = at.nlives;
    at.nlives = 0;
    struct follow *f = follow_new(&store, OWN, NULL);
    follow_on(f, on_ends, &at);
    pthread_mutex_lock(&lock);
    at.nlives = n;
    pthread_mutex_unlock(&lock);
    return f;
}

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    boot_ms = 1000000;
    at.lives[0] = (struct life_record){ .node = OWN, .epoch = 5 };
    at.lives[1] = (struct life_record){ .node = 2, .epoch = 6 };
    at.nlives = 2;
    return 0;
}

static void commit(int64_t node, int64_t n, const char *ends)
{
    pthread_mutex_lock(&lock);
    at.commits[at.ncommits++] = (struct written){ node, n, ends };
    pthread_mutex_unlock(&lock);
}

/* Two more looks: the second one began after this call. */
static void looks(void)
{
    int64_t n = GET(looks);
    WAIT_FOR(GET(looks) >= n + 2);
}

/* ---- cases ---- */

static void what_others_have_ended_is_told_with_its_reasons(void **state)
{
    (void)state;
    commit(OWN, 1, "FFF");
    commit(2, 7, "SFW");
    commit(2, 8, "");
    struct follow *f = begin();
    WAIT_FOR(GET(read[2]) == 8);
    looks();
    follow_free(f);
    assert_int_equal(at.asked[OWN], 0); /* what it has ended itself it knows */
    assert_int_equal(at.told, 1);       /* nothing is told of a commit that ends nothing */
    assert_int_equal(at.ends, 3);
    assert_int_equal(at.failures, 1);
    assert_int_equal(at.rows_read, 1);
    assert_string_equal(at.last, "node 2: why 7001 failed");
    assert_true(at.below[2] == (int64_t)7 << EPOCH_COMMITS_BITS); /* up to the newest life's end */
    assert_int_equal(at.anew, 0);
}

static void of_many_failures_some_are_told_without_a_reason(void **state)
{
    (void)state;
    char ends[151];
    memset(ends, 'F', sizeof(ends));
    ends[150] = '\0';
    commit(2, 7, ends);
    struct follow *f = begin();
    WAIT_FOR(GET(told) == 1);
    follow_free(f);
    assert_int_equal(at.ends, 150);
    assert_int_equal(at.failures, 100);
}

static void much_is_read_piece_by_piece(void **state)
{
    (void)state;
    for (int i = 1; i <= COMMITS_MAX; i++)
        commit(2, i, "S");
    struct follow *f = begin();
    WAIT_FOR(GET(told) == COMMITS_MAX);
    follow_free(f);
    assert_int_equal(at.most, 500);
}

static void what_a_read_got_before_it_failed_counts_once(void **state)
{
    (void)state;
    commit(2, 7, "S");
    commit(2, 8, "S");
    at.deltas_err = ERR_STORE;
    struct follow *f = begin();
    WAIT_FOR(GET(read[2]) == 8);
    pthread_mutex_lock(&lock);
    at.deltas_err = OK;
    at.lives_err = ERR_STORE;
    pthread_mutex_unlock(&lock);
    looks();
    commit(2, 9, "S");
    looks();
    assert_int_equal(GET(told), 2);
    pthread_mutex_lock(&lock);
    at.lives_err = OK;
    pthread_mutex_unlock(&lock);
    WAIT_FOR(GET(told) == 3);
    follow_free(f);
    assert_int_equal(at.ends, 3);
}

static void a_server_that_is_gone_is_asked_no_more(void **state)
{
    (void)state;
    struct follow *f = begin();
    WAIT_FOR(GET(asked[2]) > 0);
    pthread_mutex_lock(&lock);
    at.nlives = 1;
    pthread_mutex_unlock(&lock);
    looks();
    int64_t asked = GET(asked[2]);
    looks();
    follow_free(f);
    assert_int_equal(at.asked[2], asked);
}

static void who_has_not_read_for_two_minutes_reads_all_anew(void **state)
{
    (void)state;
    struct follow *f = begin();
    looks();
    pthread_mutex_lock(&lock);
    at.lives_err = ERR_STORE;
    pthread_mutex_unlock(&lock);
    looks();
    boot_ms += 119000;
    looks();
    assert_int_equal(GET(anew), 0);
    boot_ms += 2000;
    WAIT_FOR(GET(anew) > 0);
    pthread_mutex_lock(&lock);
    at.lives_err = OK;
    pthread_mutex_unlock(&lock);
    looks();
    int64_t anew = GET(anew);
    looks();
    assert_int_equal(GET(anew), anew);
    follow_free(f);
}

static void nobody_is_told_who_does_not_listen(void **state)
{
    (void)state;
    struct follow *f = begin();
    follow_on(f, NULL, NULL);
    commit(2, 7, "S");
    WAIT_FOR(GET(read[2]) == 7); /* it counts all the same */
    looks();
    assert_int_equal(GET(told), 0);
    follow_free(f);
    follow_on(NULL, on_ends, NULL);
    follow_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup(name, set_up)
        CASE(what_others_have_ended_is_told_with_its_reasons),
        CASE(of_many_failures_some_are_told_without_a_reason),
        CASE(much_is_read_piece_by_piece),
        CASE(what_a_read_got_before_it_failed_counts_once),
        CASE(a_server_that_is_gone_is_asked_no_more),
        CASE(who_has_not_read_for_two_minutes_reads_all_anew),
        CASE(nobody_is_told_who_does_not_listen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
