/* SPDX-License-Identifier: Apache-2.0 */
#include "support_journal.h"
#include "base/mem.h"
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
#include <unistd.h>
#include <cmocka.h>

char journal_dir[64], journal_path[96];

void journal_clear(void)
{
    DIR *d = opendir(journal_dir);
    for (struct dirent *e; (e = readdir(d));) {
        char name[400];
        snprintf(name, sizeof(name), "%s/%s", journal_dir, e->d_name);
        if (e->d_name[0] != '.' && unlink(name))
            rmdir(name);
    }
    closedir(d);
}

int journal_setup(void **state)
{
    (void)state;
    strcpy(journal_dir, "/tmp/peal-run-journal-XXXXXX");
    if (!mkdtemp(journal_dir))
        return -1;
    snprintf(journal_path, sizeof(journal_path), "%s/runs.db", journal_dir);
    return 0;
}

int journal_teardown(void **state)
{
    (void)state;
    journal_clear();
    return rmdir(journal_dir);
}

/* ---- what comes out ---- */

struct seen seen;

void journal_see(void *arg, const struct run_journal_row *row)
{
    struct seen *s = arg;
    assert_true(s->n < SEEN_MAX);
    struct seen_row *r = &s->row[s->n++];
    *r = (struct seen_row){ .seq = row->seq,
                            .log_id = row->log_id,
                            .log_date_ms = row->log_date_ms,
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

/* ---- the journal and its sender ---- */

enum err journal_try(struct journal *j, int64_t keep, int64_t keep_ms, struct why *why)
{
    struct run_journal_config config = { journal_path, keep, keep_ms, NULL, journal_see, &seen };
    memset(&seen, 0, sizeof(seen));
    j->answers = config.answers = mailbox_new();
    list_init(&j->incoming);
    enum err err = run_journal_open(&config, &j->store, why);
    if (err) {
        mailbox_free(j->answers);
        j->answers = NULL;
    }
    return err;
}

void journal_open(struct journal *j)
{
    struct why why = { "" };
    enum err err = journal_try(j, 1000000, DAY_MS, &why);
    assert_string_equal(why.text, "");
    assert_int_equal(err, OK);
}

enum err journal_refused(struct why *why)
{
    struct journal j;
    why->text[0] = '\0';
    enum err err = journal_try(&j, 1000000, DAY_MS, why);
    assert_int_not_equal(err, OK);
    return err;
}

void journal_close(struct journal *j)
{
    run_journal_free(j->store);
    while (list_pop(&j->incoming))
        ;
    mailbox_take(j->answers, &j->incoming);
    mailbox_free(j->answers);
}

struct run_journal_op *journal_answer(struct journal *j)
{
    if (j->store)
        run_journal_flush(j->store);
    while (list_empty(&j->incoming))
        if (!mailbox_take(j->answers, &j->incoming))
            mailbox_wait(j->answers, -1);
    return container_of(container_of(list_pop(&j->incoming), struct message, node),
                        struct run_journal_op, message);
}

struct run_journal_op accept_op(int64_t seq, enum run_journal_state state, const char *request)
{
    return (struct run_journal_op){
        .what = RUN_JOURNAL_ACCEPT,
        .row = { .seq = seq,
                 .state = state,
                 .log_id = 1000 + seq,
                 .log_date_ms = NOW_MS - 5,
                 .scheduled_ms = NOW_MS - 7,
                 .accepted_ms = NOW_MS,
                 .attempt = (int)(seq % 3),
                 .request = slice_text(request) },
    };
}

struct run_journal_op result_op(int64_t seq, const char *msg)
{
    return (struct run_journal_op){
        .what = RUN_JOURNAL_RESULT,
        .row = { .seq = seq,
                 .ended_ms = NOW_MS + seq,
                 .code = 200,
                 .has_log = true,
                 .msg = slice_text(msg) },
    };
}

struct run_journal_op seq_op(enum run_journal_what what, int64_t seq)
{
    return (struct run_journal_op){ .what = what, .row = { .seq = seq } };
}

struct run_journal_op tell_op(const int64_t *seqs, size_t n)
{
    return (struct run_journal_op){ .what = RUN_JOURNAL_TELL, .seqs = seqs, .nseqs = n };
}

void journal_send_all(struct journal *j, struct run_journal_op *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run_journal_send(j->store, &ops[i]);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(journal_answer(j), &ops[i]);
}

void journal_send(struct journal *j, struct run_journal_op *ops, size_t n)
{
    journal_send_all(j, ops, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(ops[i].why.text, "");
        assert_int_equal(ops[i].err, OK);
    }
}

void journal_send_one(struct journal *j, struct run_journal_op op)
{
    journal_send(j, &op, 1);
}

void assert_row(int i, int64_t seq, enum run_journal_state state)
{
    assert_true(i < seen.n);
    assert_int_equal(seen.row[i].seq, seq);
    assert_int_equal(seen.row[i].state, state);
    assert_int_equal(seen.row[i].log_id, 1000 + seq);
}

void journal_room(long bytes)
{
    struct rlimit l;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &l);
    l.rlim_cur = bytes < 0 ? l.rlim_max : (rlim_t)bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

char *journal_file(const char *ending, size_t *ret_n)
{
    char *name = mem_join(journal_path, ending);
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

void journal_put(const char *ending, const char *p, size_t n)
{
    char *name = mem_join(journal_path, ending);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, p, n), (ssize_t)n);
    close(fd);
    free(name);
}

int journal_damaged(bool log)
{
    int n = 0;
    DIR *d = opendir(journal_dir);
    for (struct dirent *e; (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        bool is_log = len > 4 && strcmp(e->d_name + len - 4, "-wal") == 0;
        n += strstr(e->d_name, ".damaged-") && is_log == log;
    }
    closedir(d);
    return n;
}

static const char *some_request(int64_t seq)
{
    static char text[400];
    snprintf(text, sizeof(text), "{\"jobId\":%lld,\"executorParams\":\"%0*d\"}", (long long)seq,
             (int)(seq % 200) + 1, 7);
    return text;
}

static void journal_apply(struct rdb *s, struct run_journal_op *ops, size_t n)
{
    struct why why = { "" };
    assert_int_equal(rdb_begin(s, &why), OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rdb_apply(s, &ops[i], &why), OK);
    assert_int_equal(rdb_commit(s, &why), OK);
}

void some_write(struct rdb **ret)
{
    static struct run_journal_op ops[(SOME)*2];
    static char texts[SOME_RUNS][400];
    static int64_t seqs[SOME_TOLD];
    struct rdb *s;
    struct run_journal_op told = tell_op(seqs, SOME_TOLD);
    struct why why = { "" };
    size_t n = 0;
    assert_int_equal(rdb_open(journal_path, &s, &why), OK);
    for (int64_t seq = 1; seq <= SOME_TOLD; seq++) {
        seqs[seq - 1] = seq;
        ops[n++] = accept_op(seq, RUN_JOURNAL_STARTED, "{}");
        ops[n++] = result_op(seq, "");
    }
    journal_apply(s, ops, n);
    journal_apply(s, &told, 1);
    n = 0;
    for (int64_t i = 0; i < SOME_RUNS; i++) {
        int64_t seq = SOME_TOLD + 1 + i;
        strcpy(texts[i], some_request(seq));
        ops[n++] = accept_op(seq, seq % 3 ? RUN_JOURNAL_STARTED : RUN_JOURNAL_ACCEPTED, texts[i]);
        if (seq % 3 == 2)
            ops[n++] = result_op(seq, "done");
    }
    journal_apply(s, ops, n - 10);
    for (size_t i = n - 10; i < n; i++)
        journal_apply(s, &ops[i], 1);
    if (ret)
        *ret = s;
    else
        rdb_close(s);
}

int some_check(void)
{
    int64_t last = 0;
    for (int i = 0; i < seen.n; i++) {
        const struct seen_row *r = &seen.row[i];
        assert_true(r->seq > last && r->seq <= SOME);
        assert_int_equal(r->log_id, 1000 + r->seq);
        last = r->seq;
        if (r->seq <= SOME_TOLD) {
            assert_int_equal(r->state, RUN_JOURNAL_TOLD);
            continue;
        }
        assert_int_equal(r->state, r->seq % 3 == 2 ? RUN_JOURNAL_ENDED
                                   : r->seq % 3    ? RUN_JOURNAL_STARTED
                                                   : RUN_JOURNAL_ACCEPTED);
        if (r->state == RUN_JOURNAL_ENDED)
            assert_string_equal(r->msg, "done");
        else
            assert_int_equal(r->nrequest, strlen(some_request(r->seq)));
    }
    return seen.n;
}

int some_open_damaged(void)
{
    struct journal j;
    journal_open(&j);
    int n = some_check();
    int64_t next = run_journal_first_seq(j.store);
    assert_true(n == 0 || next > seen.row[n - 1].seq);
    journal_send_one(&j, accept_op(next, RUN_JOURNAL_ACCEPTED, "new"));
    journal_send_one(&j, seq_op(RUN_JOURNAL_FORGET, next));
    journal_close(&j);
    int aside = journal_damaged(false);
    journal_open(&j);
    assert_int_equal(seen.n, n);
    journal_close(&j);
    assert_int_equal(journal_damaged(false), aside);
    return n;
}

void some_crash(char **ret_file, size_t *ret_n, char **ret_log, size_t *ret_nlog)
{
    struct rdb *s;
    some_write(&s);
    *ret_file = journal_file("", ret_n);
    *ret_log = journal_file("-wal", ret_nlog);
    rdb_close(s);
    journal_clear();
}
