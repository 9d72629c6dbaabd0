/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's journal: what the disk refuses is refused or waits, and is written when there is
 * room. */
#include "support_journal.h"
#include "base/clock.h"
#include "base/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void a_full_disk_refuses_runs_and_keeps_results_in_order(void **state)
{
    (void)state;
    struct journal j;
    const int64_t told[] = { 1 };
    journal_open(&j);
    journal_send_one(&j, accept_op(1, RUN_JOURNAL_STARTED, "one"));
    journal_send_one(&j, accept_op(2, RUN_JOURNAL_ACCEPTED, "two"));
    journal_room(0);
    struct run_journal_op waiting[] = { result_op(1, "ended"), tell_op(told, 1),
                                        seq_op(RUN_JOURNAL_FORGET, 2), result_op(3, "unknown") };
    struct run_journal_op refused[] = { accept_op(3, RUN_JOURNAL_ACCEPTED, "three"),
                                        seq_op(RUN_JOURNAL_START, 2),
                                        accept_op(4, RUN_JOURNAL_STARTED, "four") };
    for (size_t i = 0; i < countof(waiting); i++) {
        run_journal_send(j.store, &waiting[i]);
        if (i >= countof(refused))
            continue;
        run_journal_send(j.store, &refused[i]);
        assert_ptr_equal(journal_answer(&j), &refused[i]); /* though others wait */
        assert_int_equal(refused[i].err, ERR_FULL);
        assert_non_null(strstr(refused[i].why.text, journal_path));
        assert_non_null(strstr(refused[i].why.text, "make room"));
    }
    journal_room(-1);
    for (size_t i = 0; i < countof(waiting); i++) {
        assert_ptr_equal(journal_answer(&j), &waiting[i]);
        assert_int_equal(waiting[i].err, OK);
    }
    journal_send_one(&j, accept_op(5, RUN_JOURNAL_ACCEPTED, "five"));
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, 2);
    assert_row(0, 1, RUN_JOURNAL_TOLD);
    assert_row(1, 5, RUN_JOURNAL_ACCEPTED);
    journal_close(&j);
}

static void more_than_a_group_may_wait(void **state)
{
    (void)state;
    enum { N = 9000 };
    struct journal j;
    struct run_journal_op *ops = mem_new(N * sizeof(*ops));
    journal_open(&j);
    for (int i = 0; i < N; i++)
        ops[i] = accept_op(i + 1, RUN_JOURNAL_STARTED, "{}");
    journal_send(&j, ops, N);
    journal_room(0);
    for (int i = 0; i < N; i++) {
        ops[i] = result_op(i + 1, "ended");
        run_journal_send(j.store, &ops[i]);
    }
    struct run_journal_op refused = accept_op(N + 1, RUN_JOURNAL_STARTED, "{}");
    run_journal_send(j.store, &refused);
    assert_ptr_equal(journal_answer(&j), &refused);
    assert_int_equal(refused.err, ERR_FULL);
    journal_room(-1);
    for (int i = 0; i < N; i++) {
        assert_ptr_equal(journal_answer(&j), &ops[i]);
        assert_int_equal(ops[i].err, OK);
    }
    journal_close(&j);
    journal_open(&j);
    assert_int_equal(seen.n, N);
    for (int i = 0; i < N; i++)
        assert_row(i, i + 1, RUN_JOURNAL_ENDED);
    journal_close(&j);
    free(ops);
}

/* The journal halves a group for a second, then refuses what is left of it: true if that time was
 * over here, on a machine that does much else, and the outcome says nothing. */
static bool one_too_large(void)
{
    enum { N = 8, ROOM = 768 * 1024, LARGE = 1024 * 1024, HALVED_MS = 1000 };
    struct journal j;
    static struct run_journal_op ops[2 * N];
    char *large = mem_new(LARGE);
    bool late = false;
    journal_open(&j);
    journal_room(ROOM);
    for (int i = 0; i < N; i++) {
        ops[2 * i] = accept_op(i + 1, RUN_JOURNAL_STARTED, "small");
        ops[2 * i + 1] = result_op(i + 1, "small");
    }
    ops[N].row.request = slice_of(large, LARGE); /* an ACCEPT in the middle */
    int64_t begun_ms = clock_boot_ms();
    for (int i = 0; i < 2 * N; i++)
        run_journal_send(j.store, &ops[i]);
    for (int i = 0; i < 2 * N; i++) {
        const struct run_journal_op *op = journal_answer(&j);
        if (op->err == (op == &ops[N] ? ERR_FULL : OK))
            continue;
        late = clock_boot_ms() - begun_ms >= HALVED_MS;
        if (!late)
            fail_msg("change %d of %d: %s: %s", (int)(op - ops), 2 * N, err_text(op->err),
                     op->why.text);
        journal_room(-1); /* what waits can be answered */
    }
    journal_room(-1);
    journal_close(&j);
    if (!late) {
        journal_open(&j);
        assert_int_equal(seen.n, N - 1);
        journal_close(&j);
    }
    free(large);
    return late;
}

static void the_one_that_does_not_fit_is_refused_alone(void **state)
{
    int tries = 20;
    while (one_too_large()) {
        if (--tries == 0)
            fail_msg("the journal never wrote a few small changes within a second");
        journal_teardown(state);
        assert_int_equal(journal_setup(state), 0);
    }
}

static void stopping_does_not_wait_for_ever(void **state)
{
    (void)state;
    struct journal j;
    journal_open(&j);
    journal_send_one(&j, accept_op(1, RUN_JOURNAL_STARTED, "one"));
    journal_room(0);
    struct run_journal_op result = result_op(1, "ended");
    struct run_journal_op more = accept_op(2, RUN_JOURNAL_STARTED, "two");
    run_journal_send(j.store, &result);
    run_journal_send(j.store, &more);
    run_journal_free(j.store);
    j.store = NULL;
    journal_room(-1);
    assert_ptr_equal(journal_answer(&j), &more);
    assert_ptr_equal(journal_answer(&j), &result);
    assert_int_equal(result.err, ERR_FULL);
    assert_non_null(strstr(result.why.text, journal_path));
    mailbox_free(j.answers);
    journal_open(&j);
    assert_int_equal(seen.n, 1);
    assert_row(0, 1, RUN_JOURNAL_STARTED);
    journal_close(&j);
}

static void a_full_disk_at_the_start_says_so(void **state)
{
    (void)state;
    struct journal j;
    struct why why;
    journal_room(0);
    assert_int_equal(journal_refused(&why), ERR_FULL);
    journal_room(-1);
    assert_non_null(strstr(why.text, journal_path));
    journal_open(&j); /* what was left behind does no harm */
    journal_send_one(&j, accept_op(1, RUN_JOURNAL_STARTED, "one"));
    journal_close(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, journal_setup, journal_teardown)
        T(a_full_disk_refuses_runs_and_keeps_results_in_order),
        T(more_than_a_group_may_wait),
        T(the_one_that_does_not_fit_is_refused_alone),
        T(stopping_does_not_wait_for_ever),
        T(a_full_disk_at_the_start_says_so),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
