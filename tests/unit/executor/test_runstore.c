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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define PAGE 4096
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
        bool ok = read(go[0], &c, 1) == 1 && open_fails(&why) == ERR_BUSY;
        snprintf(holder, sizeof(holder), "(process %d)", (int)getppid());
        _exit(ok && strstr(why.text, holder) ? 0 : 1);
    }
    struct journal j;
    open_it(&j);
    assert_int_equal(write(go[1], "x", 1), 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(go[0]);
    close(go[1]);
    close_it(&j);
}

/* ---- groups ---- */

static void many_at_once_are_answered_in_order(void **state)
{
    (void)state;
    enum { N = 12000 };
    struct journal j;
    struct runstore_op *ops = mem_new(N * sizeof(*ops));
    open_it(&j);
    for (int i = 0; i < N / 2; i++) {
        ops[2 * i] = accept_op(i + 1, RUNSTORE_STARTED, "{}");
        ops[2 * i + 1] = result_op(i + 1, "done");
    }
    post_ok(&j, ops, N);
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, N / 2);
    for (int i = 0; i < seen.n; i++)
        assert_row(i, i + 1, RUNSTORE_ENDED);
    close_it(&j);
    free(ops);
}

static void what_was_posted_is_done_before_the_end(void **state)
{
    (void)state;
    enum { N = 500 };
    static struct runstore_op ops[N];
    struct journal j;
    open_it(&j);
    for (int i = 0; i < N; i++) {
        ops[i] = accept_op(i + 1, RUNSTORE_ACCEPTED, "{}");
        runstore_post(j.store, &ops[i]);
    }
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, N);
    close_it(&j);
}

static void a_large_request_is_kept_whole(void **state)
{
    (void)state;
    enum { N = 5 * 1024 * 1024 };
    struct journal j;
    char *large = mem_new(N);
    memset(large, 'x', N);
    open_it(&j);
    struct runstore_op op = accept_op(1, RUNSTORE_ACCEPTED, "");
    op.row.request = slice_of(large, N);
    post_one(&j, op);
    post_one(&j, seq_op(RUNSTORE_START, 1));
    close_it(&j);
    open_it(&j);
    assert_row(0, 1, RUNSTORE_STARTED);
    assert_int_equal(seen.row[0].nrequest, N);
    close_it(&j);
    free(large);
}

/* ---- pruning ---- */

/* Runs first to last, from their acceptance to the center's yes. */
static void tell_runs(struct journal *j, int64_t first, int64_t last, int64_t ended_ms)
{
    for (int64_t seq = first; seq <= last; seq++) {
        struct runstore_op ops[] = { accept_op(seq, RUNSTORE_STARTED, "{}"), result_op(seq, ""),
                                     tell_op(&seq, 1) };
        ops[1].row.ended_ms = ended_ms;
        post_ok(j, ops, countof(ops));
    }
}

static void only_so_many_are_remembered(void **state)
{
    (void)state;
    struct journal j;
    struct why why = { "" };
    assert_int_equal(open_with(&j, 10, DAY_MS, &why), OK);
    tell_runs(&j, 1, 50, NOW_MS);
    post_one(&j, accept_op(60, RUNSTORE_ACCEPTED, "{}"));
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 11);
    assert_row(0, 41, RUNSTORE_TOLD);
    assert_row(9, 50, RUNSTORE_TOLD);
    assert_row(10, 60, RUNSTORE_ACCEPTED);
    tell_runs(&j, 61, 62, NOW_MS);
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 13);
    close_it(&j);
}

static void the_old_are_forgotten(void **state)
{
    (void)state;
    struct journal j;
    struct why why = { "" };
    assert_int_equal(open_with(&j, 1000000, INT64_MAX / 2, &why), OK);
    tell_runs(&j, 1, 20, 1);
    tell_runs(&j, 21, 30, NOW_MS);
    close_it(&j);
    open_it(&j); /* a day is long enough from here on */
    assert_int_equal(seen.n, 30);
    post_one(&j, seq_op(RUNSTORE_FORGET, 99)); /* the first turn prunes */
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 10);
    assert_row(0, 21, RUNSTORE_TOLD);
    close_it(&j);
}

/* ---- a disk that takes nothing ---- */

/* A limit on the size of files is a full disk to all who write (EFBIG). -1: none. */
static void disk(long bytes)
{
    struct rlimit l;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &l);
    l.rlim_cur = bytes < 0 ? l.rlim_max : (rlim_t)bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void a_full_disk_refuses_runs_and_keeps_results_in_order(void **state)
{
    (void)state;
    struct journal j;
    const int64_t told[] = { 1 };
    open_it(&j);
    post_one(&j, accept_op(1, RUNSTORE_STARTED, "one"));
    post_one(&j, accept_op(2, RUNSTORE_ACCEPTED, "two"));
    disk(0);
    struct runstore_op waiting[] = { result_op(1, "ended"), tell_op(told, 1),
                                     seq_op(RUNSTORE_FORGET, 2), result_op(3, "unknown") };
    struct runstore_op refused[] = { accept_op(3, RUNSTORE_ACCEPTED, "three"),
                                     seq_op(RUNSTORE_START, 2),
                                     accept_op(4, RUNSTORE_STARTED, "four") };
    for (size_t i = 0; i < countof(waiting); i++) {
        runstore_post(j.store, &waiting[i]);
        if (i >= countof(refused))
            continue;
        runstore_post(j.store, &refused[i]);
        assert_ptr_equal(answer(&j), &refused[i]); /* though others wait */
        assert_int_equal(refused[i].err, ERR_FULL);
        assert_non_null(strstr(refused[i].why.text, path));
        assert_non_null(strstr(refused[i].why.text, "make room"));
    }
    disk(-1);
    for (size_t i = 0; i < countof(waiting); i++) {
        assert_ptr_equal(answer(&j), &waiting[i]);
        assert_int_equal(waiting[i].err, OK);
    }
    post_one(&j, accept_op(5, RUNSTORE_ACCEPTED, "five"));
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, 2);
    assert_row(0, 1, RUNSTORE_TOLD);
    assert_row(1, 5, RUNSTORE_ACCEPTED);
    close_it(&j);
}

static void more_than_a_group_may_wait(void **state)
{
    (void)state;
    enum { N = 9000 };
    struct journal j;
    struct runstore_op *ops = mem_new(N * sizeof(*ops));
    open_it(&j);
    for (int i = 0; i < N; i++)
        ops[i] = accept_op(i + 1, RUNSTORE_STARTED, "{}");
    post_ok(&j, ops, N);
    disk(0);
    for (int i = 0; i < N; i++) {
        ops[i] = result_op(i + 1, "ended");
        runstore_post(j.store, &ops[i]);
    }
    struct runstore_op refused = accept_op(N + 1, RUNSTORE_STARTED, "{}");
    runstore_post(j.store, &refused);
    assert_ptr_equal(answer(&j), &refused);
    assert_int_equal(refused.err, ERR_FULL);
    disk(-1);
    for (int i = 0; i < N; i++) {
        assert_ptr_equal(answer(&j), &ops[i]);
        assert_int_equal(ops[i].err, OK);
    }
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, N);
    for (int i = 0; i < N; i++)
        assert_row(i, i + 1, RUNSTORE_ENDED);
    close_it(&j);
    free(ops);
}

static void the_one_that_does_not_fit_is_refused_alone(void **state)
{
    (void)state;
    enum { N = 40, LARGE = 4 * 1024 * 1024 };
    struct journal j;
    static struct runstore_op ops[2 * N];
    char *large = mem_new(LARGE);
    open_it(&j);
    disk(1024 * 1024);
    for (int i = 0; i < N; i++) {
        ops[2 * i] = accept_op(i + 1, RUNSTORE_STARTED, "small");
        ops[2 * i + 1] = result_op(i + 1, "small");
    }
    ops[N].row.request = slice_of(large, LARGE); /* an ACCEPT in the middle */
    for (int i = 0; i < 2 * N; i++)
        runstore_post(j.store, &ops[i]);
    for (int i = 0; i < 2 * N; i++) {
        const struct runstore_op *op = answer(&j);
        assert_int_equal(op->err, op == &ops[N] ? ERR_FULL : OK);
    }
    disk(-1);
    close_it(&j);
    open_it(&j);
    assert_int_equal(seen.n, N - 1);
    close_it(&j);
    free(large);
}

static void stopping_does_not_wait_for_ever(void **state)
{
    (void)state;
    struct journal j;
    open_it(&j);
    post_one(&j, accept_op(1, RUNSTORE_STARTED, "one"));
    disk(0);
    struct runstore_op result = result_op(1, "ended");
    struct runstore_op more = accept_op(2, RUNSTORE_STARTED, "two");
    runstore_post(j.store, &result);
    runstore_post(j.store, &more);
    runstore_free(j.store);
    disk(-1);
    assert_ptr_equal(answer(&j), &more);
    assert_ptr_equal(answer(&j), &result);
    assert_int_equal(result.err, ERR_FULL);
    assert_non_null(strstr(result.why.text, path));
    mailbox_free(j.answers);
    open_it(&j);
    assert_int_equal(seen.n, 1);
    assert_row(0, 1, RUNSTORE_STARTED);
    close_it(&j);
}

static void a_full_disk_at_the_start_says_so(void **state)
{
    (void)state;
    struct journal j;
    struct why why;
    disk(0);
    assert_int_equal(open_fails(&why), ERR_FULL);
    disk(-1);
    assert_non_null(strstr(why.text, path));
    open_it(&j); /* what was left behind does no harm */
    post_one(&j, accept_op(1, RUNSTORE_STARTED, "one"));
    close_it(&j);
}

/* ---- kill -9 ---- */

struct note { /* acknowledged: the change is on disk */
    int64_t seq;
    int what;
};

/* Runs through all their states, 64 at a time, and each answer written down, until we are killed.
 */
static void live_until_killed(int notes)
{
    enum { OPEN = 64 };
    static struct runstore_op ops[OPEN];
    static int64_t seqs[OPEN];
    struct journal j;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing behind */
    open_it(&j);
    int64_t next = runstore_first_seq(j.store);
    for (int i = 0; i < OPEN; i++) {
        ops[i] = accept_op(next++, i % 2 ? RUNSTORE_STARTED : RUNSTORE_ACCEPTED, "{}");
        runstore_post(j.store, &ops[i]);
    }
    for (;;) {
        struct runstore_op *op = answer(&j);
        int64_t *seq = &seqs[op - ops];
        *seq = op->what == RUNSTORE_TELL ? *seq : op->row.seq;
        struct note note = { *seq, (int)op->what };
        if (op->err || write(notes, &note, sizeof(note)) != sizeof(note))
            _exit(1);
        if (op->what == RUNSTORE_ACCEPT && *seq % 7 == 0)
            *op = seq_op(RUNSTORE_FORGET, *seq);
        else if (op->what == RUNSTORE_ACCEPT && op->row.state == RUNSTORE_ACCEPTED)
            *op = seq_op(RUNSTORE_START, *seq);
        else if (op->what == RUNSTORE_ACCEPT || op->what == RUNSTORE_START)
            *op = result_op(*seq, "done");
        else if (op->what == RUNSTORE_RESULT && *seq % 5)
            *op = tell_op(seq, 1);
        else
            *op = accept_op(next++, *seq % 3 ? RUNSTORE_STARTED : RUNSTORE_ACCEPTED, "{}");
        runstore_post(j.store, op);
    }
}

/* The state that must be there at least: what comes next may have been written and not heard. */
static enum runstore_state at_least(int what)
{
    return what == RUNSTORE_TELL     ? RUNSTORE_TOLD
           : what == RUNSTORE_RESULT ? RUNSTORE_ENDED
           : what == RUNSTORE_START  ? RUNSTORE_STARTED
                                     : RUNSTORE_ACCEPTED;
}

static const struct seen_row *seen_of(int64_t seq)
{
    for (int i = 0; i < seen.n; i++)
        if (seen.row[i].seq == seq)
            return &seen.row[i];
    return NULL;
}

static void check_notes(const struct note *last, int64_t n)
{
    for (int64_t seq = 1; seq < n; seq++) {
        const struct seen_row *r = seen_of(seq);
        int what = last[seq].what;
        if (what < 0)
            continue;
        if (what == RUNSTORE_FORGET)
            assert_null(r);
        else if (what == RUNSTORE_ACCEPT && seq % 7 == 0 && !r)
            continue; /* forgotten, unheard */
        else
            assert_true(r && r->state >= at_least(what) && r->log_id == 1000 + seq);
    }
}

static void everything_acknowledged_survives_kill(void **state)
{
    (void)state;
    enum { ROUNDS = 8, ACKS = 3000, BLOCK = 1 << 20 };
    unsigned dice = 12345;
    for (int round = 0; round < ROUNDS; round++) {
        static struct note last[ACKS * 8];
        struct journal j;
        int notes[2];
        clear();
        for (size_t i = 0; i < countof(last); i++)
            last[i].what = -1;
        assert_int_equal(pipe(notes), 0);
        pid_t child = fork();
        if (child == 0)
            live_until_killed(notes[1]);
        close(notes[1]);
        dice = dice * 1103515245 + 12345;
        int kill_after = (int)(dice >> 8) % ACKS;
        struct note note;
        for (int n = 0; read(notes[0], &note, sizeof(note)) == sizeof(note); n++) {
            assert_true(note.seq > 0 && note.seq < (int64_t)countof(last));
            last[note.seq] = note;
            if (n == kill_after)
                kill(child, SIGKILL);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        close(notes[0]);
        open_it(&j);
        check_notes(last, countof(last));
        close_it(&j);
        open_it(&j); /* and once more */
        check_notes(last, countof(last));
        close_it(&j);
    }
}

/* ---- damage ---- */

static char *file_of(const char *ending, size_t *ret_n)
{
    char *name = mem_join(path, ending);
    int fd = open(name, O_RDONLY);
    struct stat st = { 0 };
    free(name);
    if (fd < 0)
        return NULL;
    assert_int_equal(fstat(fd, &st), 0);
    *ret_n = (size_t)st.st_size;
    char *p = mem_new(*ret_n + 1);
    assert_int_equal(read(fd, p, *ret_n), (ssize_t)*ret_n);
    close(fd);
    return p;
}

static void put_file(const char *ending, const char *p, size_t n)
{
    char *name = mem_join(path, ending);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, p, n), (ssize_t)n);
    close(fd);
    free(name);
}

/* How many files of this name there are ("-wal" at its end or not). */
static int damaged_files(bool log)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        bool is_log = len > 4 && strcmp(e->d_name + len - 4, "-wal") == 0;
        n += strstr(e->d_name, ".damaged-") && is_log == log;
    }
    closedir(d);
    return n;
}

enum { DAMAGE_TOLD = 300, DAMAGE_RUNS = 600 };

static const char *request_of(int64_t seq)
{
    static char text[400];
    snprintf(text, sizeof(text), "{\"jobId\":%lld,\"executorParams\":\"%0*d\"}", (long long)seq,
             (int)(seq % 200) + 1, 7);
    return text;
}

static void apply(struct rdb *s, struct runstore_op *ops, size_t n)
{
    struct why why = { "" };
    assert_int_equal(rdb_begin(s, &why), OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rdb_apply(s, &ops[i], &why), OK);
    assert_int_equal(rdb_commit(s, &why), OK);
}

/* Ids told 1.., runs after them, a third each accepted, started, ended. Few transactions, so that
 * all of it is still in the log, and some at the end, so that there is something behind each page.
 * Closed again unless ret. */
static void write_some(struct rdb **ret)
{
    static struct runstore_op ops[(DAMAGE_TOLD + DAMAGE_RUNS) * 2];
    static char texts[DAMAGE_RUNS][400];
    static int64_t seqs[DAMAGE_TOLD];
    struct rdb *s;
    struct runstore_op told = tell_op(seqs, DAMAGE_TOLD);
    struct why why = { "" };
    size_t n = 0;
    assert_int_equal(rdb_open(path, &s, &why), OK);
    for (int64_t seq = 1; seq <= DAMAGE_TOLD; seq++) {
        seqs[seq - 1] = seq;
        ops[n++] = accept_op(seq, RUNSTORE_STARTED, "{}");
        ops[n++] = result_op(seq, "");
    }
    apply(s, ops, n);
    apply(s, &told, 1);
    n = 0;
    for (int64_t i = 0; i < DAMAGE_RUNS; i++) {
        int64_t seq = DAMAGE_TOLD + 1 + i;
        strcpy(texts[i], request_of(seq));
        ops[n++] = accept_op(seq, seq % 3 ? RUNSTORE_STARTED : RUNSTORE_ACCEPTED, texts[i]);
        if (seq % 3 == 2)
            ops[n++] = result_op(seq, "done");
    }
    apply(s, ops, n - 10);
    for (size_t i = n - 10; i < n; i++)
        apply(s, &ops[i], 1);
    if (ret)
        *ret = s;
    else
        rdb_close(s);
}

/* Nothing that was not written. Returns how much of it is there. */
static int check_some(bool doubtful)
{
    int64_t last = 0;
    for (int i = 0; i < seen.n; i++) {
        const struct seen_row *r = &seen.row[i];
        assert_true(r->seq > last && r->seq <= DAMAGE_TOLD + DAMAGE_RUNS);
        assert_int_equal(r->log_id, 1000 + r->seq);
        last = r->seq;
        if (r->seq <= DAMAGE_TOLD) {
            assert_int_equal(r->state, RUNSTORE_TOLD);
            continue;
        }
        bool begun = r->seq % 3 || doubtful;
        assert_int_equal(r->state, r->seq % 3 == 2 ? RUNSTORE_ENDED
                                   : begun         ? RUNSTORE_STARTED
                                                   : RUNSTORE_ACCEPTED);
        if (r->state == RUNSTORE_ENDED)
            assert_string_equal(r->msg, "done");
        else
            assert_int_equal(r->nrequest, strlen(request_of(r->seq)));
    }
    return seen.n;
}

/* Open the damaged one: it works, and says what it could read. Then again: nothing more happens. */
static int open_damaged(bool doubtful)
{
    struct journal j;
    open_it(&j);
    int n = check_some(doubtful);
    int64_t next = runstore_first_seq(j.store);
    assert_true(n == 0 || next > seen.row[n - 1].seq);
    post_one(&j, accept_op(next, RUNSTORE_ACCEPTED, "new"));
    post_one(&j, seq_op(RUNSTORE_FORGET, next));
    close_it(&j);
    int aside = damaged_files(false);
    open_it(&j);
    assert_int_equal(seen.n, n);
    close_it(&j);
    assert_int_equal(damaged_files(false), aside);
    return n;
}

static void a_page_that_is_lost_costs_what_stood_there(void **state)
{
    (void)state;
    size_t size;
    write_some(NULL);
    char *whole = file_of("", &size), *hit = mem_new(size);
    int hurt = 0, worst = DAMAGE_TOLD + DAMAGE_RUNS;
    for (size_t page = 0; page < size / PAGE; page++) {
        clear();
        memcpy(hit, whole, size);
        memset(hit + page * PAGE, page % 2 ? 0xa5 : 0, PAGE);
        put_file("", hit, size);
        int n = open_damaged(false);
        assert_int_equal(damaged_files(false), 1);
        if (page == 0) /* the same in each journal */
            assert_int_equal(n, DAMAGE_TOLD + DAMAGE_RUNS);
        bool root = page >= 1 && page <= 3;
        worst = n < worst && !root ? n : worst;
        hurt += n < DAMAGE_TOLD + DAMAGE_RUNS;
    }
    assert_true(hurt > 20);
    assert_true(worst > DAMAGE_TOLD + DAMAGE_RUNS - 250); /* a page of ids */
    free(whole);
    free(hit);
}

static void a_file_that_was_cut_gives_what_is_left(void **state)
{
    (void)state;
    size_t size;
    write_some(NULL);
    char *whole = file_of("", &size);
    size_t cuts[] = { 5, 50, 99, 1000, PAGE, PAGE + 1, 3 * PAGE, size / 2, size - PAGE, size - 1 };
    for (size_t i = 0; i < countof(cuts); i++) {
        clear();
        put_file("", whole, cuts[i]);
        struct why why;
        if (cuts[i] < 16) {
            assert_int_equal(open_fails(&why), ERR_INVALID); /* no trace of being ours */
            continue;
        }
        int n = open_damaged(false);
        assert_true(i < countof(cuts) - 3 || n > DAMAGE_TOLD / 2);
    }
    clear();
    put_file("", "", 0); /* nothing was ever in it */
    assert_int_equal(open_damaged(false), 0);
    clear();
    put_file("", whole, 1); /* SQLite takes one byte for none */
    assert_int_equal(open_damaged(false), 0);
    assert_int_equal(damaged_files(false), 0);
    free(whole);
}

static void a_flipped_byte_never_makes_up_a_run(void **state)
{
    (void)state;
    struct journal j;
    size_t size;
    unsigned dice = 4711;
    write_some(NULL);
    char *whole = file_of("", &size), *hit = mem_new(size);
    for (int round = 0; round < 60; round++) {
        clear();
        memcpy(hit, whole, size);
        for (int i = 0; i < 8; i++) { /* the trees' own bytes, at the pages' beginnings */
            dice = dice * 1103515245 + 12345;
            size_t at = (dice >> 8) % (size / PAGE) * PAGE + (dice >> 20) % 16;
            hit[at] = (char)(hit[at] ^ (1 << (dice >> 28) % 8));
        }
        put_file("", hit, size);
        struct why why = { "" };
        enum err err = open_with(&j, 1000000, DAY_MS, &why);
        assert_true(err == OK || err == ERR_INVALID); /* its format's number was hit */
        if (err)
            continue;
        assert_true(seen.n <= DAMAGE_TOLD + DAMAGE_RUNS);
        close_it(&j);
    }
    free(whole);
    free(hit);
}

/* The files as a kill would leave them, with most of it in the log. */
static void write_some_and_crash(char **ret_file, size_t *ret_n, char **ret_log, size_t *ret_nlog)
{
    struct rdb *s;
    write_some(&s);
    *ret_file = file_of("", ret_n);
    *ret_log = file_of("-wal", ret_nlog);
    rdb_close(s);
    clear();
}

static void a_log_that_is_damaged_is_not_taken_for_a_short_one(void **state)
{
    (void)state;
    size_t n, nlog;
    char *file, *log;
    write_some_and_crash(&file, &n, &log, &nlog);
    assert_true(nlog > 20 * PAGE);
    put_file("", file, n);
    put_file("-wal", log, nlog);
    assert_int_equal(open_damaged(false), DAMAGE_TOLD + DAMAGE_RUNS); /* as it is: all of it */
    assert_int_equal(damaged_files(false), 0);
    log[nlog / 2] ^= 1;
    clear();
    put_file("", file, n);
    put_file("-wal", log, nlog);
    struct journal j;
    open_it(&j);
    assert_int_equal(damaged_files(false), 1);
    assert_int_equal(damaged_files(true), 1);
    for (int i = 0; i < seen.n; i++) /* who knows what has begun since */
        assert_int_not_equal(seen.row[i].state, RUNSTORE_ACCEPTED);
    close_it(&j);
    log[nlog / 2] ^= 1;
    log[5] ^= 1; /* its header */
    clear();
    put_file("", file, n);
    put_file("-wal", log, nlog);
    open_it(&j);
    assert_int_equal(damaged_files(true), 1);
    close_it(&j);
    free(file);
    free(log);
}

static void an_end_that_was_being_written_is_no_damage(void **state)
{
    (void)state;
    size_t n, nlog;
    char *file, *log;
    write_some_and_crash(&file, &n, &log, &nlog);
    put_file("", file, n);
    put_file("-wal", log, nlog - PAGE - 24); /* the last transaction, whichever it was, is torn */
    struct journal j;
    open_it(&j);
    assert_true(seen.n >= DAMAGE_TOLD);
    assert_int_equal(damaged_files(false), 0);
    close_it(&j);
    free(file);
    free(log);
}

static void a_log_without_its_file_is_kept(void **state)
{
    (void)state;
    size_t n, nlog;
    char *file, *log;
    write_some_and_crash(&file, &n, &log, &nlog);
    put_file("-wal", log, nlog);
    assert_int_equal(open_damaged(false), DAMAGE_TOLD + DAMAGE_RUNS);
    assert_int_equal(damaged_files(true), 1);
    free(file);
    free(log);
}

static void a_mending_that_was_interrupted_is_finished(void **state)
{
    (void)state;
    size_t n;
    write_some(NULL);
    char *whole = file_of("", &n);
    put_file(".mended", whole, n);
    put_file("", "", 0);
    put_file("-wal", whole, n / 2); /* of the damaged one */
    assert_int_equal(open_damaged(false), DAMAGE_TOLD + DAMAGE_RUNS);
    assert_int_equal(damaged_files(false), 0);
    clear();
    put_file("", whole, n);
    put_file(".mending", whole, n / 2); /* and one that had not come so far is begun anew */
    put_file(".salvage-wal", whole, n / 2);
    whole[5 * PAGE] ^= 0x55;
    put_file("", whole, n);
    assert_true(open_damaged(false) > DAMAGE_TOLD);
    free(whole);
}

static void damage_without_room_changes_nothing(void **state)
{
    (void)state;
    struct why why;
    size_t n, m;
    write_some(NULL);
    char *whole = file_of("", &n);
    memset(whole + 6 * PAGE, 0xa5, PAGE);
    put_file("", whole, n);
    for (size_t room = 0; room < n; room += n / 5) {
        disk((long)room);
        assert_int_equal(open_fails(&why), ERR_FULL);
        disk(-1);
        char *after = file_of("", &m);
        assert_int_equal(m, n);
        assert_memory_equal(after, whole, n);
        free(after);
    }
    assert_int_equal(damaged_files(false), 0);
    assert_true(open_damaged(false) > DAMAGE_TOLD);
    free(whole);
}

static void damage_is_mended_while_it_runs(void **state)
{
    (void)state;
    struct rdb *s;
    struct why why = { "" };
    write_some(NULL);
    assert_int_equal(rdb_open(path, &s, &why), OK);
    int fd = open(path, O_WRONLY);
    char zeros[PAGE] = { 0 };
    assert_int_equal(pwrite(fd, zeros, PAGE, 6 * PAGE), PAGE);
    close(fd);
    assert_int_equal(rdb_reopen(s, &why), OK);
    assert_string_equal(why.text, "");
    assert_int_equal(damaged_files(false), 1);
    memset(&seen, 0, sizeof(seen));
    assert_int_equal(rdb_each(s, see, &seen, &why), OK);
    assert_true(check_some(false) > DAMAGE_TOLD);
    assert_int_equal(rdb_probe(s, &why), OK);
    rdb_close(s);
}

/* ---- files that are not ours ---- */

static void assert_left_alone(enum err want, const char *word)
{
    size_t n, m;
    struct why why;
    char *before = file_of("", &n);
    assert_int_equal(open_fails(&why), want);
    assert_non_null(strstr(why.text, path));
    assert_non_null(strstr(why.text, word));
    char *after = file_of("", &m);
    assert_int_equal(m, n);
    assert_memory_equal(after, before, n);
    assert_int_equal(damaged_files(false), 0);
    free(before);
    free(after);
}

static void change(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void what_is_not_ours_is_left_alone(void **state)
{
    (void)state;
    write_some(NULL);
    change("PRAGMA user_version = 2");
    assert_left_alone(ERR_INVALID, "newer version");
    clear();
    change("CREATE TABLE run (seq INTEGER PRIMARY KEY)");
    assert_left_alone(ERR_INVALID, "another program");
    clear();
    char text[5 * PAGE];
    memset(text, 'a', sizeof(text));
    put_file("", text, sizeof(text));
    assert_left_alone(ERR_INVALID, "no journal");
    put_file("", "hello", 5);
    assert_left_alone(ERR_INVALID, "no journal");
}

static void newer_changes_in_the_log_are_seen_and_left(void **state)
{
    (void)state;
    size_t n, nlog, m;
    write_some(NULL);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 7", NULL, NULL, NULL), SQLITE_OK);
    char *file = file_of("", &n), *log = file_of("-wal", &nlog);
    sqlite3_close(db);
    clear();
    put_file("", file, n);
    put_file("-wal", log, nlog);
    assert_left_alone(ERR_INVALID, "newer version");
    char *after = file_of("-wal", &m);
    assert_int_equal(m, nlog);
    assert_memory_equal(after, log, m);
    free(after);
    free(file);
    free(log);
}

static void rows_that_make_no_sense_are_left_out(void **state)
{
    (void)state;
    write_some(NULL);
    change("PRAGMA ignore_check_constraints = ON; UPDATE run SET state = 9 WHERE seq = 400; "
           "UPDATE run SET code = NULL WHERE state = 4 AND seq < 420");
    int n = open_damaged(false);
    assert_true(n < DAMAGE_TOLD + DAMAGE_RUNS && n > DAMAGE_TOLD + DAMAGE_RUNS - 50);
    assert_int_equal(damaged_files(false), 1);
}

static void a_place_where_no_file_can_be_is_named(void **state)
{
    (void)state;
    struct why why;
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(open_fails(&why), ERR_IO);
    assert_non_null(strstr(why.text, path));
    assert_non_null(strstr(why.text, "a directory"));
    clear();
    char good[96];
    strcpy(good, path);
    snprintf(path, sizeof(path), "%s/missing/runs.db", dir);
    assert_int_equal(open_fails(&why), ERR_IO);
    assert_non_null(strstr(why.text, "No such file"));
    strcpy(path, good);
}

/* As a user who may read and not write: in a child, because that is for good. */
static void a_file_that_may_not_be_written_is_named(void **state)
{
    (void)state;
    write_some(NULL);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(dir, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        struct why why;
        if (getuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(2);
        bool ok = open_fails(&why) == ERR_READONLY && strstr(why.text, path) &&
                  strstr(why.text, "write permission");
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(dir, 0755), 0);
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
        T(another_process_is_told_too),
        T(many_at_once_are_answered_in_order),
        T(what_was_posted_is_done_before_the_end),
        T(a_large_request_is_kept_whole),
        T(only_so_many_are_remembered),
        T(the_old_are_forgotten),
        T(a_full_disk_refuses_runs_and_keeps_results_in_order),
        T(more_than_a_group_may_wait),
        T(the_one_that_does_not_fit_is_refused_alone),
        T(stopping_does_not_wait_for_ever),
        T(a_full_disk_at_the_start_says_so),
        T(everything_acknowledged_survives_kill),
        T(a_page_that_is_lost_costs_what_stood_there),
        T(a_file_that_was_cut_gives_what_is_left),
        T(a_flipped_byte_never_makes_up_a_run),
        T(a_log_that_is_damaged_is_not_taken_for_a_short_one),
        T(an_end_that_was_being_written_is_no_damage),
        T(a_log_without_its_file_is_kept),
        T(a_mending_that_was_interrupted_is_finished),
        T(damage_without_room_changes_nothing),
        T(damage_is_mended_while_it_runs),
        T(what_is_not_ours_is_left_alone),
        T(newer_changes_in_the_log_are_seen_and_left),
        T(rows_that_make_no_sense_are_left_out),
        T(a_place_where_no_file_can_be_is_named),
        T(a_file_that_may_not_be_written_is_named),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
