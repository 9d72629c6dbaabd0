/* SPDX-License-Identifier: Apache-2.0 */
/* What a transaction does with results of runs that are not in the server's memory: noted, or left
 * in the inbox for the owner of the run. The rows are those of a table here. */
#include "support_ledger.h"
#include "base/mem.h"
#include "model/claim.h"
#include <stdlib.h>

static struct books {
    bool live, held;    /* the run's row is there; another transaction holds the inbox's */
    bool none, foreign; /* no log row takes it; its sender may not speak for the group */
    int asked, put, taken, noted;
    int64_t put_log, taken_id;
} books;

static enum err runs_live(struct store *s, const int64_t *log_ids, int n, bool *live,
                          struct why *why)
{
    (void)s;
    (void)why;
    books.asked += n;
    for (int i = 0; i < n; i++)
        live[i] = books.live && log_ids[i] == 7;
    return OK;
}

static enum err inbox_put(struct store *s, const struct inbox_row *rows, int n, struct why *why)
{
    (void)s;
    (void)why;
    books.put += n;
    books.put_log = rows[0].log_id;
    assert_int_equal(rows[0].at_ms, 5000);
    assert_int_equal(rows[0].code, 200);
    assert_string_equal(rows[0].msg, "done");
    return OK;
}

static enum err inbox_take(struct store *s, const int64_t *ids, int n, bool *taken, struct why *why)
{
    (void)s;
    (void)why;
    books.taken += n;
    books.taken_id = ids[0];
    for (int i = 0; i < n; i++)
        taken[i] = !books.held;
    return OK;
}

static enum err late_add(struct store *s, struct late_result *late, int n, int *ret_noted,
                         struct why *why)
{
    (void)s;
    (void)late;
    (void)why;
    books.noted += books.none ? 0 : n;
    *ret_noted = books.none ? 0 : n;
    return OK;
}

static enum err log_get(struct store *s, int64_t log_id, struct log_record *ret, struct why *why)
{
    (void)s;
    (void)why;
    *ret = (struct log_record){ .id = log_id, .group_id = 5 };
    return OK;
}

static void home(struct store *s, int64_t node, int64_t claim_ms)
{
    (void)s;
    (void)node;
    (void)claim_ms;
}

static const struct store_cluster cluster = {
    .runs_live = runs_live, .home = home, .inbox_put = inbox_put, .inbox_take = inbox_take
};

static void run(struct bench *b, bool shared, int64_t inbox_id, bool settled)
{
    struct store_runs runs = *b->engine->runs;
    struct batch *batch = bench_batch();
    struct store_pages pages = *b->engine->pages;
    runs.late_add = late_add;
    pages.log_get = log_get;
    b->ops.pages = &pages;
    b->ops.runs = &runs;
    b->ops.cluster = &cluster;
    b->s->ops = &b->ops;
    b->s->shared = shared;
    batch->late = mem_new(sizeof(*batch->late));
    batch->late[batch->nlate++] = (struct late_result){ .log_id = 7,
                                                        .at_ms = 5000,
                                                        .code = 200,
                                                        .msg = mem_dup("done"),
                                                        .inbox_id = inbox_id,
                                                        .settled = settled };
    if (books.foreign)
        batch->late[0].claim = claim_new(false, NULL, 0);
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(batch->written.n[TOTAL_LATE], books.noted);
    batch_free(batch);
    b->s->ops = b->engine;
    b->s->shared = false;
}

static void a_result_is_noted_or_waits_for_the_owner(void **state)
{
    static const struct {
        const char *what;
        int64_t inbox_id;
        bool shared, live, held, settled;
        int asked, put, taken, noted;
    } cases[] = {
        { "alone: the log knows", 0, false, false, false, false, 0, 0, 0, 1 },
        { "alone: nobody is asked whether it is live", 0, false, true, false, false, 0, 0, 0, 1 },
        { "another's run", 0, true, true, false, false, 1, 1, 0, 0 },
        { "a run that is over", 0, true, false, false, false, 1, 0, 0, 1 },
        { "read: the run has ended with it", 9, true, false, false, true, 1, 0, 1, 0 },
        { "read: the run has ended otherwise", 9, true, false, false, false, 1, 0, 1, 1 },
        { "read: another server notes it", 9, true, false, true, false, 1, 0, 1, 0 },
        { "read: the run goes on", 9, true, true, false, false, 1, 0, 0, 0 },
        { "read: it goes on, and had it", 9, true, true, false, true, 1, 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        books = (struct books){ .live = cases[i].live, .held = cases[i].held };
        run(*state, cases[i].shared, cases[i].inbox_id, cases[i].settled);
        bool right = books.asked == cases[i].asked && books.put == cases[i].put &&
                     books.taken == cases[i].taken && books.noted == cases[i].noted &&
                     (!books.put || books.put_log == 7) && (!books.taken || books.taken_id == 9);
        if (!right)
            fail_msg("%s: asked %d, put %d, taken %d, noted %d", cases[i].what, books.asked,
                     books.put, books.taken, books.noted);
    }
}

static void a_result_that_no_row_takes_does_not_count(void **state)
{
    books = (struct books){ .none = true };
    run(*state, false, 0, false); /* which compares the total */
    assert_int_equal(books.noted, 0);
}

static void a_result_of_a_sender_without_a_right_waits_for_no_owner(void **state)
{
    books = (struct books){ .live = true, .foreign = true };
    run(*state, true, 0, false);
    assert_int_equal(books.put + books.noted, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_result_is_noted_or_waits_for_the_owner),
        BOTH(a_result_that_no_row_takes_does_not_count),
        BOTH(a_result_of_a_sender_without_a_right_waits_for_no_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
