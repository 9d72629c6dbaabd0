/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing that was acknowledged is lost: a process killed in the middle of commits, a disk that is
 * full or broken at any write, a file that cannot be written, is damaged or cut off. */
#include "support_faults.h"
#include "support_store.h"
#include "base/dice.h"
#include "base/mem.h"
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int setup(void **state)
{
    *state = engine_new(ENGINE_SQLITE);
    return 0;
}

static int teardown(void **state)
{
    engine_free(*state);
    return 0;
}

/* Transaction number n: three runs in, the first of them finished; the books with it. */
static enum err transaction(struct store *s, int64_t n, struct why *why)
{
    struct run_row r[3];
    for (int i = 0; i < 3; i++)
        r[i] = sample_run(n, 1700000000000 + i);
    const struct commit books = { .totals = { { [TOTAL_PLANNED] = 3, [TOTAL_FINISHED] = 1 } } };
    int64_t missed;
    enum err err = s->ops->txn->begin(s, why);
    if (!err)
        err = s->ops->runs->runs_add(s, r, 3, why);
    struct run_change c = { .log_id = r[0].log_id,
                            .what = CHANGE_FINISH | CHANGE_CLOSE,
                            .handle_code = 200,
                            .handle_ms = 5 };
    if (!err)
        err = s->ops->runs->runs_change(s, &c, 1, &missed, why);
    if (!err)
        err = s->ops->txn->commit(s, &books, why);
    if (err)
        s->ops->txn->rollback(s);
    return err;
}

/* Transactions 1..n are there, each whole, and nothing half done. Returns the number found. */
static int64_t check_whole(struct store *s)
{
    struct totals t;
    int64_t open, logs, one, n = 0;
    const struct logs_filter all = { .from_ms = -1, .to_ms = -1 };
    OP(s, txn->totals_get, &t, &open);
    OP(s, pages->logs_page, &all, NULL, NULL, &logs);
    n = t.n[TOTAL_FINISHED];
    assert_int_equal(t.n[TOTAL_PLANNED], 3 * n);
    assert_int_equal(open, 2 * n);
    assert_int_equal(logs, 3 * n);
    for (int64_t i = 1; i <= n; i++) {
        const struct logs_filter f = { .from_ms = -1, .to_ms = -1, .job_id = i };
        OP(s, pages->logs_page, &f, NULL, NULL, &one);
        assert_int_equal(one, 3);
    }
    return n;
}

/* ---- SIGKILL --------------------------------------------------------------------------------- */

/* The child: transactions from `from` on, each number written to the pipe once it is committed. */
static void commit_for_ever(const char *url, int64_t from, int out)
{
    struct store *s;
    if (store_open(url, NULL, &s, NULL))
        _exit(2);
    for (int64_t n = from;; n++)
        if (transaction(s, n, NULL) || write(out, &n, sizeof(n)) != sizeof(n))
            _exit(3);
}

static pid_t start_child(const char *url, int64_t from, int *ret_in)
{
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(fd[0]);
        commit_for_ever(url, from, fd[1]);
    }
    close(fd[1]);
    *ret_in = fd[0];
    return pid;
}

/* Read n acknowledgements; the last one's number. */
static int64_t read_acks(int in, int n)
{
    int64_t ack = 0, got;
    while (n-- > 0 && read(in, &got, sizeof(got)) == sizeof(got))
        ack = got;
    return ack;
}

static void kill_child(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void what_was_acknowledged_survives_sigkill(void **state)
{
    struct engine *e = *state;
    struct dice dice = { 20 };
    int64_t there = 0;
    for (int round = 0; round < 20; round++) {
        store_close(e->s);
        e->s = NULL;
        int in;
        pid_t pid = start_child(e->url, there + 1, &in);
        int64_t acked = read_acks(in, 1 + (int)dice_below(&dice, 40));
        usleep(dice_below(&dice, 700)); /* anywhere in the next transaction; not waited for */
        kill_child(pid);
        int64_t more = read_acks(in, INT32_MAX);
        close(in);
        acked = more > acked ? more : acked;
        assert_true(acked > there);
        EXPECT(store_open(e->url, NULL, &e->s, &why), OK);
        there = check_whole(e->s);
        assert_true(there == acked || there == acked + 1);
    }
}

static void a_lock_names_its_holder_and_dies_with_it(void **state)
{
    struct engine *e = *state;
    store_close(e->s);
    e->s = NULL;
    int in;
    pid_t pid = start_child(e->url, 1, &in);
    read_acks(in, 1);
    struct why reason = { "" };
    char text[40];
    snprintf(text, sizeof(text), "process %ld)", (long)pid);
    assert_int_equal(store_open(e->url, NULL, &e->s, &reason), ERR_BUSY);
    assert_non_null(strstr(reason.text, text));
    kill_child(pid);
    close(in);
    EXPECT(store_open(e->url, NULL, &e->s, &why), OK);
}

/* ---- a disk that fails -------------------------------------------------------------------------
 */

/* Let each write in turn be the one that fails, until a transaction passes untouched. */
static void fail_each_write(int rc, enum err wanted, enum err also, const char *advice)
{
    faults_install();
    struct engine *e = engine_new(ENGINE_SQLITE);
    int64_t done = 0;
    int failed = 0;
    EXPECT(transaction(e->s, ++done, &why), OK);
    for (int n = 1;; n++) {
        struct why reason = { "" };
        faults_after(n, rc);
        enum err err = transaction(e->s, done + 1, &reason);
        bool hit = faults_happened();
        faults_after(0, 0);
        if (!hit) {
            assert_int_equal(err, OK);
            done++;
            break;
        }
        failed++;
        if (!err) { /* the fault met a checkpoint, which may wait */
            done++;
        } else {
            assert_true(err == wanted || err == also);
            if (err == wanted && !strstr(reason.text, advice))
                fail_msg("\"%s\" does not say \"%s\"", reason.text, advice);
        }
        assert_int_equal(check_whole(e->s), done);
        EXPECT(transaction(e->s, ++done, &why), OK); /* healed: the same handle goes on */
        if (n % 4 == 0)
            engine_reopen(e);
        assert_int_equal(check_whole(e->s), done);
    }
    assert_true(failed >= 5); /* header and page of several frames, and the sync */
    engine_reopen(e);
    assert_int_equal(check_whole(e->s), done);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM pragma_integrity_check "
                                          "WHERE integrity_check = 'ok'"),
                     1);
    engine_free(e);
}

static void a_full_disk_loses_nothing_and_says_make_room(void **state)
{
    (void)state;
    fail_each_write(SQLITE_FULL, ERR_FULL, ERR_IO, "make room");
}

static void a_broken_disk_loses_nothing_and_says_so(void **state)
{
    (void)state;
    fail_each_write(SQLITE_IOERR_WRITE, ERR_IO, ERR_IO, "disk errors");
}

static void a_lost_transaction_cannot_be_committed(void **state)
{
    (void)state;
    faults_install();
    struct engine *e = engine_new(ENGINE_SQLITE);
    struct store *s = e->s;
    char *big = mem_new(128 * 1024 * 1024);
    memset(big, 'x', 128 * 1024 * 1024 - 1);
    struct run_row r[2] = { sample_run(1, 1), sample_run(1, 2) };
    r[1].param = big; /* larger than a row may be */
    OP(s, txn->begin);
    OP(s, runs->runs_add, r, 1);
    OP_FAILS(ERR_TOOBIG, s, runs->runs_add, &r[1], 1);
    OP_FAILS(ERR_TOOBIG, s, txn->commit, NULL);
    s->ops->txn->rollback(s);
    assert_int_equal(check_whole(s), 0);
    EXPECT(transaction(s, 1, &why), OK);
    assert_int_equal(check_whole(s), 1);
    free(big);
    engine_free(e);
}

/* ---- a file that cannot be written -------------------------------------------------------------
 */

static void a_read_only_file_is_refused_with_a_way_out(void **state)
{
    struct engine *e = *state;
    EXPECT(transaction(e->s, 1, &why), OK);
    store_close(e->s);
    e->s = NULL;
    chmod(e->path, 0444);
    chmod(e->dir, 0555);
    pid_t pid = fork();
    if (pid == 0) {
        /* root may write everywhere: be another user */
        if (getuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(1);
        struct store *s;
        struct why reason = { "" };
        enum err err = store_open(e->url, NULL, &s, &reason);
        _exit(err == ERR_READONLY && strstr(reason.text, "write permission") ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    chmod(e->dir, 0755);
    chmod(e->path, 0644);
    EXPECT(store_open(e->url, NULL, &e->s, &why), OK);
    assert_int_equal(check_whole(e->s), 1);
}

/* ---- damage ---------------------------------------------------------------------------------- */

struct bytes {
    char *p;
    size_t n;
};

static struct bytes file_read(const char *path)
{
    struct bytes b = { NULL, 0 };
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    b.n = (size_t)ftell(f);
    rewind(f);
    b.p = mem_new(b.n + 1);
    assert_int_equal(fread(b.p, 1, b.n, f), b.n);
    fclose(f);
    return b;
}

static void file_write(const char *path, const char *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
}

static bool any_job(void *ctx, const struct job_record *r)
{
    (void)ctx;
    return r != NULL;
}
static bool any_log(void *ctx, const struct log_record *r)
{
    (void)ctx;
    return r != NULL;
}
static bool any_run(void *ctx, const struct run_row *r)
{
    (void)ctx;
    return r != NULL;
}

/* Use a database whose file is damaged: any answer, but an answer. True if damage was reported. */
static bool use_damaged(struct store *s)
{
    struct totals t;
    struct job_record j;
    struct log_record l;
    struct due_row due[8];
    int n;
    int64_t count, next_ms;
    const struct jobs_filter jobs = { .status = -1, .limit = 1000 };
    const struct logs_filter logs = { .from_ms = 0, .to_ms = INT64_MAX, .limit = 1000 };
    enum err seen[16];
    int k = 0;
    seen[k++] = s->ops->pages->jobs_page(s, &jobs, any_job, NULL, &count, NULL);
    seen[k++] = s->ops->pages->logs_page(s, &logs, any_log, NULL, &count, NULL);
    seen[k++] = s->ops->runs->runs_each(s, any_run, NULL, NULL);
    seen[k++] = s->ops->txn->totals_get(s, &t, &count, NULL);
    seen[k++] = s->ops->catalog->job_get(s, 3, &j, NULL);
    if (!seen[k - 1])
        job_record_done(&j);
    seen[k++] = s->ops->pages->log_get(s, 3, &l, NULL);
    if (!seen[k - 1])
        log_record_done(&l);
    seen[k++] = s->ops->runs->due_take(s, 0, INT64_MAX - 1, 8, due, &n, &next_ms, NULL);
    struct why reason = { "" };
    seen[k++] = transaction(s, 4711, &reason);
    bool damage = false;
    for (int i = 0; i < k; i++) {
        damage |= seen[i] == ERR_CORRUPT;
        assert_true(seen[i] != ERR_NOMEM);
    }
    if (seen[k - 1] == ERR_CORRUPT)
        assert_non_null(strstr(reason.text, ".recover"));
    return damage;
}

static void make_full(struct engine *e)
{
    OP(e->s, txn->begin);
    for (int i = 0; i < 200; i++) {
        struct job_record r = sample_job("a job with a long enough description", 1000 + i);
        OP(e->s, catalog->job_insert, &r);
    }
    OP(e->s, txn->commit, NULL);
    for (int i = 1; i <= 60; i++)
        EXPECT(transaction(e->s, i, &why), OK);
    store_close(e->s); /* the log of the database is empty now */
    e->s = NULL;
}

static void damaged_pages_are_reported_and_never_crash(void **state)
{
    struct engine *e = *state;
    make_full(e);
    struct bytes sound = file_read(e->path);
    struct dice dice = { 99 };
    int reported = 0;
    for (int round = 0; round < 80; round++) {
        struct bytes b = { mem_new(sound.n), sound.n };
        memcpy(b.p, sound.p, sound.n);
        /* a run of bytes somewhere, rather often at the beginning of a page */
        size_t at = dice_below(&dice, (uint32_t)b.n);
        at = dice_below(&dice, 2) ? at / 4096 * 4096 : at;
        at = at < 100 ? 100 : at; /* the header of the file has its own test */
        for (size_t i = at; i < at + 1 + dice_below(&dice, 64) && i < b.n; i++)
            b.p[i] = (char)dice_u64(&dice);
        file_write(e->path, b.p, b.n);
        free(b.p);
        struct why reason = { "" };
        enum err err = store_open(e->url, NULL, &e->s, &reason);
        if (err) {
            assert_true(reason.text[0]);
            reported++;
            continue;
        }
        reported += use_damaged(e->s);
        store_close(e->s);
        e->s = NULL;
    }
    assert_true(reported > 10);
    file_write(e->path, sound.p, sound.n);
    free(sound.p);
    EXPECT(store_open(e->url, NULL, &e->s, &why), OK);
    assert_int_equal(check_whole(e->s), 60);
}

static void a_damaged_header_is_refused_with_a_way_out(void **state)
{
    struct engine *e = *state;
    make_full(e);
    struct bytes sound = file_read(e->path);
    struct bytes b = file_read(e->path);
    memset(b.p, 'X', 16);
    file_write(e->path, b.p, b.n);
    struct why reason = { "" };
    assert_int_equal(store_open(e->url, NULL, &e->s, &reason), ERR_CORRUPT);
    assert_non_null(strstr(reason.text, ".recover"));
    assert_non_null(strstr(reason.text, e->path));
    for (size_t at = 16; at < 100; at++) { /* no byte of it may crash us */
        memcpy(b.p, sound.p, b.n);
        b.p[at] ^= 0x5a;
        file_write(e->path, b.p, b.n);
        if (!store_open(e->url, NULL, &e->s, NULL)) {
            use_damaged(e->s);
            store_close(e->s);
            e->s = NULL;
        }
    }
    file_write(e->path, sound.p, sound.n / 2); /* half of the file is gone */
    if (!store_open(e->url, NULL, &e->s, NULL)) {
        assert_true(use_damaged(e->s));
        store_close(e->s);
        e->s = NULL;
    }
    free(sound.p);
    free(b.p);
}

static void a_truncated_log_gives_whole_transactions(void **state)
{
    struct engine *e = *state;
    store_close(e->s);
    e->s = NULL;
    int in;
    pid_t pid = start_child(e->url, 1, &in);
    read_acks(in, 30);
    kill_child(pid);
    close(in);
    char wal[128], shm[128];
    snprintf(wal, sizeof(wal), "%s-wal", e->path);
    snprintf(shm, sizeof(shm), "%s-shm", e->path);
    struct bytes db = file_read(e->path), log = file_read(wal);
    assert_true(log.n > 4096);
    int64_t last = 0;
    for (int part = 0; part <= 16; part++) {
        file_write(e->path, db.p, db.n);
        file_write(wal, log.p, log.n * (size_t)part / 16);
        unlink(shm);
        EXPECT(store_open(e->url, NULL, &e->s, &why), OK);
        int64_t n = check_whole(e->s);
        assert_true(n >= last);
        last = n;
        store_close(e->s);
        e->s = NULL;
    }
    assert_true(last >= 30);
    free(db.p);
    free(log.p);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_acknowledged_survives_sigkill),
        CASE(a_lock_names_its_holder_and_dies_with_it),
        CASE(a_read_only_file_is_refused_with_a_way_out),
        CASE(damaged_pages_are_reported_and_never_crash),
        CASE(a_damaged_header_is_refused_with_a_way_out),
        CASE(a_truncated_log_gives_whole_transactions),
        cmocka_unit_test(a_full_disk_loses_nothing_and_says_make_room),
        cmocka_unit_test(a_broken_disk_loses_nothing_and_says_so),
        cmocka_unit_test(a_lost_transaction_cannot_be_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
