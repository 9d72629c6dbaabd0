/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's journal: what was acknowledged is there after any end, in order; what the disk
 * refuses is refused or waits; a damaged file gives what can be read of it. */
#include "base/mem.h"
#include "executor/runstore.h"
#include "executor/runstore_db.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define DAY_MS 86400000
#define NOW_MS INT64_C(4000000000000) /* far from being old */

static char dir[64], path[96];

static void clear(void)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));) {
        char name[400];
        snprintf(name, sizeof(name), "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.' && unlink(name))
            rmdir(name);
    }
    closedir(d);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/peal-runstore-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/runs.db", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    clear();
    return rmdir(dir);
}

/* ---- what comes out ---- */

enum { SEEN_MAX = 20000 };

struct seen {
    int n;
    struct seen_row {
        int64_t seq, log_id, ended_ms;
        enum runstore_state state;
        int code, attempt;
        bool has_log;
        size_t nrequest, nmsg;
        char request[48], msg[48];
    } row[SEEN_MAX];
};

static struct seen seen;

static void see(void *arg, const struct runstore_row *row)
{
    struct seen *s = arg;
    assert_true(s->n < SEEN_MAX);
    struct seen_row *r = &s->row[s->n++];
    *r = (struct seen_row){ .seq = row->seq,
                            .log_id = row->log_id,
                            .ended_ms = row->ended_ms,
                            .state = row->state,
                            .code = row->code,
                            .attempt = row->attempt,
                            .has_log = row->has_log,
                            .nrequest = row->request.n,
                            .nmsg = row->msg.n };
    text_copy(r->request, sizeof(r->request), row->request);
    text_copy(r->msg, sizeof(r->msg), row->msg);
}

/* ---- the journal and its poster ---- */

struct journal {
    struct runstore *store;
    struct mailbox *answers;
    struct list mail;
};

static enum err open_with(struct journal *j, int64_t keep, int64_t keep_ms, struct why *why)
{
    struct runstore_config config = { path, keep, keep_ms, NULL, see, &seen };
    memset(&seen, 0, sizeof(seen));
    j->answers = config.answers = mailbox_new();
    list_init(&j->mail);
    enum err err = runstore_open(&config, &j->store, why);
    if (err) {
        mailbox_free(j->answers);
        j->answers = NULL;
    }
    return err;
}

static void open_it(struct journal *j)
{
    struct why why = { "" };
    enum err err = open_with(j, 1000000, DAY_MS, &why);
    assert_string_equal(why.text, "");
    assert_int_equal(err, OK);
}

static enum err open_fails(struct why *why)
{
    struct journal j;
    why->text[0] = '\0';
    enum err err = open_with(&j, 1000000, DAY_MS, why);
    assert_int_not_equal(err, OK);
    return err;
}

static void close_it(struct journal *j)
{
    runstore_free(j->store);
    while (list_pop(&j->mail))
        ;
    mailbox_take(j->answers, &j->mail);
    mailbox_free(j->answers);
}

static struct runstore_op *answer(struct journal *j)
{
    while (list_empty(&j->mail))
        if (!mailbox_take(j->answers, &j->mail))
            mailbox_wait(j->answers, -1);
    return container_of(container_of(list_pop(&j->mail), struct letter, node), struct runstore_op,
                        letter);
}

static struct runstore_op accept_op(int64_t seq, enum runstore_state state, const char *request)
{
    return (struct runstore_op){
        .what = RUNSTORE_ACCEPT,
        .row = { .seq = seq,
                 .state = state,
                 .log_id = 1000 + seq,
                 .log_date_ms = NOW_MS - 5,
                 .moment_ms = NOW_MS - 7,
                 .accepted_ms = NOW_MS,
                 .attempt = (int)(seq % 3),
                 .request = slice_text(request) },
    };
}

static struct runstore_op result_op(int64_t seq, const char *msg)
{
    return (struct runstore_op){
        .what = RUNSTORE_RESULT,
        .row = { .seq = seq,
                 .ended_ms = NOW_MS + seq,
                 .code = 200,
                 .has_log = true,
                 .msg = slice_text(msg) },
    };
}

static struct runstore_op seq_op(enum runstore_what what, int64_t seq)
{
    return (struct runstore_op){ .what = what, .row = { .seq = seq } };
}

static struct runstore_op tell_op(const int64_t *seqs, size_t n)
{
    return (struct runstore_op){ .what = RUNSTORE_TELL, .seqs = seqs, .nseqs = n };
}

/* Post them together; each is answered in its turn. */
static void post_all(struct journal *j, struct runstore_op *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        runstore_post(j->store, &ops[i]);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(answer(j), &ops[i]);
}

static void post_ok(struct journal *j, struct runstore_op *ops, size_t n)
{
    post_all(j, ops, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(ops[i].why.text, "");
        assert_int_equal(ops[i].err, OK);
    }
}

static void post_one(struct journal *j, struct runstore_op op)
{
    post_ok(j, &op, 1);
}

/* Is the i-th row this one? */
static void assert_row(int i, int64_t seq, enum runstore_state state)
{
    assert_true(i < seen.n);
    assert_int_equal(seen.row[i].seq, seq);
    assert_int_equal(seen.row[i].state, state);
    assert_int_equal(seen.row[i].log_id, 1000 + seq);
}

/* ---- order and recovery ---- */

static void every_state_comes_back(void **state)
{
    (void)state;
    struct journal j;
    open_it(&j);
    assert_int_equal(seen.n, 0);
    assert_true(runstore_first_seq(j.store) >= 1);
    const int64_t told[] = { 4 };
    struct runstore_op ops[] = {
        accept_op(1, RUNSTORE_ACCEPTED, "one"),
        accept_op(2, RUNSTORE_STARTED, "two"),
        accept_op(3, RUNSTORE_ACCEPTED, "three"),
        accept_op(4, RUNSTORE_STARTED, "four"),
        accept_op(5, RUNSTORE_ACCEPTED, "five"),
        accept_op(6, RUNSTORE_ACCEPTED, ""),
        seq_op(RUNSTORE_START, 3),
        result_op(3, "it \"worked\""),
        result_op(4, ""),
        tell_op(told, 1),
        seq_op(RUNSTORE_FORGET, 5),
        seq_op(RUNSTORE_START, 6),
    };
    post_ok(&j, ops, countof(ops));
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 5);
    assert_row(0, 4, RUNSTORE_TOLD);
    assert_int_equal(seen.row[0].ended_ms, NOW_MS + 4);
    assert_row(1, 1, RUNSTORE_ACCEPTED);
    assert_string_equal(seen.row[1].request, "one");
    assert_int_equal(seen.row[1].attempt, 1);
    assert_row(2, 2, RUNSTORE_STARTED);
    assert_string_equal(seen.row[2].request, "two");
    assert_row(3, 3, RUNSTORE_ENDED);
    assert_string_equal(seen.row[3].msg, "it \"worked\"");
    assert_int_equal(seen.row[3].code, 200);
    assert_int_equal(seen.row[3].ended_ms, NOW_MS + 3);
    assert_true(seen.row[3].has_log);
    assert_int_equal(seen.row[3].nrequest, 0);
    assert_row(4, 6, RUNSTORE_STARTED);
    assert_true(runstore_first_seq(j.store) > 6);
    close_it(&j);
}

static void changes_of_unknown_runs_do_no_harm(void **state)
{
    (void)state;
    struct journal j;
    open_it(&j);
    const int64_t told[] = { 70, 71 };
    struct runstore_op ops[] = { seq_op(RUNSTORE_START, 70), result_op(70, "x"), tell_op(told, 2),
                                 seq_op(RUNSTORE_FORGET, 70), tell_op(told, 0) };
    post_ok(&j, ops, countof(ops));
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 0);
    close_it(&j);
}

static void a_number_used_twice_is_refused_alone(void **state)
{
    (void)state;
    struct journal j;
    open_it(&j);
    struct runstore_op ops[] = { accept_op(1, RUNSTORE_ACCEPTED, "one"),
                                 accept_op(1, RUNSTORE_ACCEPTED, "again"),
                                 accept_op(2, RUNSTORE_ACCEPTED, "two") };
    post_all(&j, ops, countof(ops));
    assert_int_equal(ops[0].err, OK);
    assert_int_equal(ops[1].err, ERR_EXISTS);
    assert_non_null(strstr(ops[1].why.text, path));
    assert_int_equal(ops[2].err, OK);
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.row[0].request, "one");
    close_it(&j);
}

static void numbers_are_never_given_twice(void **state)
{
    (void)state;
    struct journal j;
    open_it(&j);
    int64_t first = runstore_first_seq(j.store);
    const int64_t told[] = { first };
    post_one(&j, accept_op(first, RUNSTORE_STARTED, "gone"));
    post_one(&j, seq_op(RUNSTORE_FORGET, first));
    post_one(&j, accept_op(first + 5, RUNSTORE_STARTED, "gone too"));
    post_one(&j, tell_op(told, 1));
    post_one(&j, seq_op(RUNSTORE_FORGET, first + 5));
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 0);
    assert_true(runstore_first_seq(j.store) > first + 5);
    close_it(&j);
}

/* ---- the lock ---- */

static void a_second_one_is_told_who_has_it(void **state)
{
    (void)state;
    struct journal j;
    open_it(&j);
    struct why why;
    post_one(&j, accept_op(1, RUNSTORE_ACCEPTED, "one"));
    assert_int_equal(open_fails(&why), ERR_BUSY);
    assert_non_null(strstr(why.text, path));
    assert_non_null(strstr(why.text, "stop that one"));
    pid_t child = fork();
    if (child == 0) { /* what a fork hands on is neither the lock nor a way around it */
        bool busy = open_fails(&why) == ERR_BUSY;
        _exit(busy ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    post_one(&j, accept_op(2, RUNSTORE_ACCEPTED, "two"));
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 2);
    close_it(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(every_state_comes_back),
        T(changes_of_unknown_runs_do_no_harm),
        T(a_number_used_twice_is_refused_alone),
        T(numbers_are_never_given_twice),
        T(a_second_one_is_told_who_has_it),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
