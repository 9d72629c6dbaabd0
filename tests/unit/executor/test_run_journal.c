/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's journal: what was acknowledged is there when the journal is opened again, in
 * order; which process may have it; groups; what is remembered for how long. */
#include "support_journal.h"
#include "base/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- order and recovery ---- */

static void every_state_comes_back(void **state)
{
    (void)state;
    struct journal j;
    journal_open(&j);
    assert_int_equal(seen.n, 0);
    assert_true(run_journal_first_seq(j.store) >= 1);
    const int64_t told[] = { 4 };
    struct run_journal_op ops[] = {
        accept_op(1, RUN_JOURNAL_ACCEPTED, "one"),
        accept_op(2, RUN_JOURNAL_STARTED, "two"),
        accept_op(3, RUN_JOURNAL_ACCEPTED, "three"),
        accept_op(4, RUN_JOURNAL_STARTED, "four"),
        accept_op(5, RUN_JOURNAL_ACCEPTED, "five"),
        accept_op(6, RUN_JOURNAL_ACCEPTED, ""),
        seq_op(RUN_JOURNAL_START, 3),
        result_op(3, "it \"worked\""),
        result_op(4, ""),
        tell_op(told, 1),
        seq_op(RUN_JOURNAL_FORGET, 5),
        seq_op(RUN_JOURNAL_START, 6),
    };
    journal_send(&j, ops, countof(ops));
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 5);
    assert_row(0, 4, RUN_JOURNAL_TOLD);
    assert_int_equal(seen.row[0].ended_ms, NOW_MS + 4);
    assert_row(1, 1, RUN_JOURNAL_ACCEPTED);
    assert_string_equal(seen.row[1].request, "one");
    assert_int_equal(seen.row[1].attempt, 1);
    assert_row(2, 2, RUN_JOURNAL_STARTED);
    assert_string_equal(seen.row[2].request, "two");
    assert_row(3, 3, RUN_JOURNAL_ENDED);
    assert_string_equal(seen.row[3].msg, "it \"worked\"");
    assert_int_equal(seen.row[3].code, 200);
    assert_int_equal(seen.row[3].ended_ms, NOW_MS + 3);
    assert_true(seen.row[3].has_log);
    assert_int_equal(seen.row[3].nrequest, 0);
    assert_row(4, 6, RUN_JOURNAL_STARTED);
    assert_true(run_journal_first_seq(j.store) > 6);
    journal_close(&j);
}

static void changes_of_unknown_runs_do_no_harm(void **state)
{
    (void)state;
    struct journal j;
    journal_open(&j);
    const int64_t told[] = { 70, 71 };
    struct run_journal_op ops[] = { seq_op(RUN_JOURNAL_START, 70), result_op(70, "x"),
                                    tell_op(told, 2), seq_op(RUN_JOURNAL_FORGET, 70),
                                    tell_op(told, 0) };
    journal_send(&j, ops, countof(ops));
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 0);
    journal_close(&j);
}

static void neighbours_are_told_together_and_each_once(void **state)
{
    (void)state;
    struct journal j;
    static const int64_t first[] = { 2, 3 }, all[] = { 1, 2, 3, 4, 6, 9, 5 };
    static const int64_t order[] = { 2, 3, 1, 4, 6, 5 };
    journal_open(&j);
    for (int64_t seq = 1; seq <= 7; seq++)
        journal_send_one(&j, accept_op(seq, RUN_JOURNAL_STARTED, "{}"));
    journal_send_one(&j, tell_op(first, countof(first)));
    journal_send_one(&j,
                     tell_op(all, countof(all))); /* some were told before, one was never here */
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, countof(order) + 1);
    for (int i = 0; i < (int)countof(order); i++)
        assert_row(i, order[i], RUN_JOURNAL_TOLD);
    assert_row((int)countof(order), 7, RUN_JOURNAL_STARTED);
    journal_close(&j);
}

static void a_number_used_twice_is_refused_alone(void **state)
{
    (void)state;
    struct journal j;
    journal_open(&j);
    struct run_journal_op ops[] = { accept_op(1, RUN_JOURNAL_ACCEPTED, "one"),
                                    accept_op(1, RUN_JOURNAL_ACCEPTED, "again"),
                                    accept_op(2, RUN_JOURNAL_ACCEPTED, "two") };
    journal_send_all(&j, ops, countof(ops));
    assert_int_equal(ops[0].err, OK);
    assert_int_equal(ops[1].err, ERR_EXISTS);
    assert_non_null(strstr(ops[1].why.text, journal_path));
    assert_int_equal(ops[2].err, OK);
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.row[0].request, "one");
    journal_close(&j);
}

static void numbers_are_never_given_twice(void **state)
{
    (void)state;
    struct journal j;
    journal_open(&j);
    int64_t first = run_journal_first_seq(j.store);
    const int64_t told[] = { first };
    journal_send_one(&j, accept_op(first, RUN_JOURNAL_STARTED, "gone"));
    journal_send_one(&j, seq_op(RUN_JOURNAL_FORGET, first));
    journal_send_one(&j, accept_op(first + 5, RUN_JOURNAL_STARTED, "gone too"));
    journal_send_one(&j, tell_op(told, 1));
    journal_send_one(&j, seq_op(RUN_JOURNAL_FORGET, first + 5));
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 0);
    assert_true(run_journal_first_seq(j.store) > first + 5);
    journal_close(&j);
}

/* ---- the lock ---- */

static void a_second_one_is_told_who_has_it(void **state)
{
    (void)state;
    struct journal j;
    journal_open(&j);
    struct why why;
    journal_send_one(&j, accept_op(1, RUN_JOURNAL_ACCEPTED, "one"));
    assert_int_equal(journal_refused(&why), ERR_BUSY);
    assert_non_null(strstr(why.text, journal_path));
    assert_non_null(strstr(why.text, "stop that one"));
    pid_t child = fork();
    if (child == 0) { /* what a fork hands on is neither the lock nor a way around it */
        bool busy = journal_refused(&why) == ERR_BUSY;
        _exit(busy ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    journal_send_one(&j, accept_op(2, RUN_JOURNAL_ACCEPTED, "two"));
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 2);
    journal_close(&j);
}

static void another_process_is_told_too(void **state)
{
    (void)state;
    int go[2];
    assert_int_equal(pipe(go), 0);
    pid_t child = fork(); /* before we have it: it knows of nothing but the file */
    if (child == 0) {
        struct why why;
        char c;
        char holder[32];
        close(go[1]);
        bool ok = read(go[0], &c, 1) == 1 && journal_refused(&why) == ERR_BUSY;
        snprintf(holder, sizeof(holder), "(process %d)", (int)getppid());
        _exit(ok && strstr(why.text, holder) ? 0 : 1);
    }
    struct journal j;
    journal_open(&j);
    assert_int_equal(write(go[1], "x", 1), 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(go[0]);
    close(go[1]);
    journal_close(&j);
}

/* ---- groups ---- */

static void many_at_once_are_answered_in_order(void **state)
{
    (void)state;
    enum { N = 12000 };
    struct journal j;
    struct run_journal_op *ops = mem_new(N * sizeof(*ops));
    journal_open(&j);
    for (int i = 0; i < N / 2; i++) {
        ops[2 * i] = accept_op(i + 1, RUN_JOURNAL_STARTED, "{}");
        ops[2 * i + 1] = result_op(i + 1, "done");
    }
    journal_send(&j, ops, N);
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, N / 2);
    for (int i = 0; i < seen.n; i++)
        assert_row(i, i + 1, RUN_JOURNAL_ENDED);
    journal_close(&j);
    free(ops);
}

static void what_was_posted_is_done_before_the_end(void **state)
{
    (void)state;
    enum { N = 500 };
    static struct run_journal_op ops[N];
    struct journal j;
    journal_open(&j);
    for (int i = 0; i < N; i++) {
        ops[i] = accept_op(i + 1, RUN_JOURNAL_ACCEPTED, "{}");
        run_journal_send(j.store, &ops[i]);
    }
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, N);
    journal_close(&j);
}

static void a_large_request_is_kept_whole(void **state)
{
    (void)state;
    enum { N = 5 * 1024 * 1024 };
    struct journal j;
    char *large = mem_new(N);
    memset(large, 'x', N);
    journal_open(&j);
    struct run_journal_op op = accept_op(1, RUN_JOURNAL_ACCEPTED, "");
    op.row.request = slice_of(large, N);
    journal_send_one(&j, op);
    journal_send_one(&j, seq_op(RUN_JOURNAL_START, 1));
    journal_close(&j);
    journal_open(&j);
    assert_row(0, 1, RUN_JOURNAL_STARTED);
    assert_int_equal(seen.row[0].nrequest, N);
    journal_close(&j);
    free(large);
}

/* ---- pruning ---- */

/* Runs first to last, from their acceptance to the center's yes. */
static void tell_runs(struct journal *j, int64_t first, int64_t last, int64_t ended_ms)
{
    for (int64_t seq = first; seq <= last; seq++) {
        struct run_journal_op ops[] = { accept_op(seq, RUN_JOURNAL_STARTED, "{}"),
                                        result_op(seq, ""), tell_op(&seq, 1) };
        ops[1].row.ended_ms = ended_ms;
        journal_send(j, ops, countof(ops));
    }
}

static void only_so_many_are_remembered(void **state)
{
    (void)state;
    struct journal j;
    struct why why = { "" };
    assert_int_equal(journal_try(&j, 10, DAY_MS, &why), OK);
    tell_runs(&j, 1, 50, NOW_MS);
    journal_send_one(&j, accept_op(60, RUN_JOURNAL_ACCEPTED, "{}"));
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 11);
    assert_row(0, 41, RUN_JOURNAL_TOLD);
    assert_row(9, 50, RUN_JOURNAL_TOLD);
    assert_row(10, 60, RUN_JOURNAL_ACCEPTED);
    tell_runs(&j, 61, 62, NOW_MS);
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 13);
    journal_close(&j);
}

static void the_old_are_forgotten(void **state)
{
    (void)state;
    struct journal j;
    struct why why = { "" };
    assert_int_equal(journal_try(&j, 1000000, INT64_MAX / 2, &why), OK);
    tell_runs(&j, 1, 20, 1);
    tell_runs(&j, 21, 30, NOW_MS);
    journal_close(&j);
    journal_open(&j); /* a day is long enough from here on */
    assert_int_equal(seen.n, 30);
    journal_send_one(&j, seq_op(RUN_JOURNAL_FORGET, 99)); /* the first turn prunes */
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 10);
    assert_row(0, 21, RUN_JOURNAL_TOLD);
    journal_close(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, journal_setup, journal_teardown)
        T(every_state_comes_back),
        T(changes_of_unknown_runs_do_no_harm),
        T(neighbours_are_told_together_and_each_once),
        T(a_number_used_twice_is_refused_alone),
        T(numbers_are_never_given_twice),
        T(a_second_one_is_told_who_has_it),
        T(another_process_is_told_too),
        T(many_at_once_are_answered_in_order),
        T(what_was_posted_is_done_before_the_end),
        T(a_large_request_is_kept_whole),
        T(only_so_many_are_remembered),
        T(the_old_are_forgotten),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
