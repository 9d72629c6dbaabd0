/* SPDX-License-Identifier: Apache-2.0 */
/* Writes of all kinds in a transaction, on both engines: alone, refused, in parts, and in a batch
 * that fails. */
#include "base/mem.h"
#include "support_ledger.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One write under test: what it does, and what became of it. */
struct probe {
    const char *names[4]; /* users that it inserts, in this order */
    enum err then;        /* and then returns */
    int a_call;           /* so many of them a call, ERR_MORE while there are others; 0: all */
    int runs, dones;
    enum err err; /* as done heard it */
    char why[64];
};

static enum err probe_run(struct store *s, void *arg, struct why *why)
{
    struct probe *p = arg;
    int n = 0;
    p->runs++;
    for (size_t i = 0; i < countof(p->names) && p->names[i]; i++) {
        struct user_record u = { .username = (char *)p->names[i], .password = "" }, old = { 0 };
        if (p->a_call && s->ops->users->user_find(s, u.username, &old, NULL) == OK) {
            user_record_done(&old); /* written by an earlier call */
            continue;
        }
        if (p->a_call && n++ == p->a_call)
            return ERR_MORE;
        enum err err = s->ops->users->user_insert(s, &u, why);
        if (err)
            return err;
    }
    if (p->then)
        why_set(why, "because");
    return p->then;
}

static void probe_done(void *arg, enum err err, const struct why *why)
{
    struct probe *p = arg;
    p->dones++;
    p->err = err;
    snprintf(p->why, sizeof(p->why), "%.60s", why->text);
}

static struct ledger_entry *give(struct bench *b, struct probe *p)
{
    static const struct ledger_write write = { probe_run, probe_done };
    struct ledger_entry *e = ledger_entry_new(&write, p);
    list_push(&b->writes, &e->node);
    return e;
}

/* A batch that makes a group, with the writes. */
static enum err run(struct bench *b, const char *group)
{
    struct edit *e = edit_new(EDIT_GROUP_INSERT);
    e->group.app = mem_dup(group);
    e->group.title = mem_dup(group);
    struct batch *batch = bench_edit(e);
    enum err err = bench_run(b, batch);
    batch_free(batch);
    return err;
}

static void a_write_stands_with_its_batch_and_is_told_later(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann", "bob" } };
    give(b, &p);
    assert_int_equal(run(b, "g"), OK);
    assert_true(bench_is_user(b, "ann") && bench_is_user(b, "bob"));
    assert_int_equal(bench_groups(b), 1);
    assert_int_equal(p.dones, 0);
    bench_heard(b);
    assert_int_equal(p.dones, 1);
    assert_int_equal(p.err, OK);
    assert_int_equal(p.runs, 1);
}

/* Refused after it has written a row: neither that row stays, nor does anything else go. */
static void a_refused_write_leaves_no_trace_and_takes_nothing_down(void **state)
{
    struct bench *b = *state;
    static const enum err refusals[] = { ERR_NOTFOUND, ERR_EXISTS, ERR_INVALID, ERR_OVERTAKEN };
    for (size_t i = 0; i < countof(refusals); i++) {
        char before[16], after[16], refused[16], group[16];
        snprintf(before, sizeof(before), "before%zu", i);
        snprintf(after, sizeof(after), "after%zu", i);
        snprintf(refused, sizeof(refused), "refused%zu", i);
        snprintf(group, sizeof(group), "g%zu", i);
        struct probe first = { .names = { before } }, last = { .names = { after } },
                     p = { .names = { refused }, .then = refusals[i] };
        give(b, &first);
        give(b, &p);
        give(b, &last);
        assert_int_equal(run(b, group), OK);
        bench_heard(b);
        assert_int_equal(p.err, refusals[i]);
        assert_string_equal(p.why, "because");
        assert_int_equal(first.err, OK);
        assert_int_equal(last.err, OK);
        assert_false(bench_is_user(b, refused));
        assert_true(bench_is_user(b, before) && bench_is_user(b, after));
        assert_int_equal(bench_groups(b), (int64_t)i + 1);
    }
}

/* The table's own rule: the name is there already. */
static void a_row_that_exists_refuses_the_rows_before_it(void **state)
{
    struct bench *b = *state;
    struct probe first = { .names = { "ann" } }, p = { .names = { "bob", "ann", "cid" } };
    give(b, &first);
    give(b, &p);
    assert_int_equal(run(b, "g"), OK);
    bench_heard(b);
    assert_int_equal(p.err, ERR_EXISTS);
    assert_true(strstr(p.why, "exists already") != NULL);
    assert_true(bench_is_user(b, "ann"));
    assert_false(bench_is_user(b, "bob") || bench_is_user(b, "cid"));
}

static void a_write_in_parts_has_one_part_a_transaction(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann", "bob", "cid" }, .a_call = 1 };
    struct probe other = { .names = { "dan" } };
    struct ledger_entry *e = give(b, &p);
    give(b, &other);
    assert_int_equal(run(b, "g1"), OK);
    assert_int_equal(e->err, ERR_MORE);
    bench_heard(b);
    assert_int_equal(other.dones, 1);
    assert_true(bench_is_user(b, "ann"));
    assert_false(bench_is_user(b, "bob"));
    assert_int_equal(run(b, "g2"), OK);
    bench_heard(b);
    assert_int_equal(p.dones, 0);
    assert_true(bench_is_user(b, "bob"));
    assert_int_equal(run(b, "g3"), OK);
    bench_heard(b);
    assert_int_equal(p.dones, 1);
    assert_int_equal(p.err, OK);
    assert_int_equal(p.runs, 3);
    assert_true(bench_is_user(b, "cid"));
}

/* A part that is refused goes alone; what was committed before it stays, as write.h says. */
static void a_refused_part_leaves_those_before_it(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann", "bob" }, .a_call = 1, .then = ERR_INVALID };
    give(b, &p);
    assert_int_equal(run(b, "g1"), OK);
    bench_heard(b);
    assert_int_equal(run(b, "g2"), OK);
    bench_heard(b);
    assert_int_equal(p.err, ERR_INVALID);
    assert_true(bench_is_user(b, "ann"));
    assert_false(bench_is_user(b, "bob"));
}

static void a_batch_that_fails_takes_the_writes_back_and_runs_them_again(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann" } }, refused = { .names = { "bob", "ann" } },
                 parts = { .names = { "cid", "dan" }, .a_call = 1 };
    give(b, &p);
    give(b, &refused);
    give(b, &parts);
    bench_commits_fail(b, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(b, "g"), ERR_FULL);
        assert_false(bench_is_user(b, "ann") || bench_is_user(b, "bob") || bench_is_user(b, "cid"));
        assert_int_equal(bench_groups(b), 0);
    }
    assert_int_equal(run(b, "g"), OK);
    bench_heard(b);
    assert_int_equal(p.runs, 3);
    assert_int_equal(p.dones, 1);
    assert_int_equal(p.err, OK);
    assert_int_equal(refused.err, ERR_EXISTS);
    assert_int_equal(parts.runs, 3);
    assert_true(bench_is_user(b, "ann") && bench_is_user(b, "cid"));
    assert_false(bench_is_user(b, "dan"));
    assert_int_equal(run(b, "g"), OK);
    bench_heard(b);
    assert_true(bench_is_user(b, "dan"));
}

/* Any other error is the batch's, and the batch's reason says so. */
static void an_error_of_the_database_fails_the_batch(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann" }, .then = ERR_IO };
    give(b, &p);
    assert_int_equal(run(b, "g"), ERR_IO);
    assert_false(bench_is_user(b, "ann"));
    assert_int_equal(bench_groups(b), 0);
    p.then = OK;
    assert_int_equal(run(b, "g"), OK);
    bench_heard(b);
    assert_int_equal(p.err, OK);
    assert_int_equal(p.dones, 1);
    assert_true(bench_is_user(b, "ann"));
}

static void what_nobody_hears_of_is_ended_once(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann" } }, q = { .names = { "bob" } };
    give(b, &p);
    give(b, &q);
    ledger_entries_end(&b->writes, ERR_STOPPING);
    assert_int_equal(p.dones, 1);
    assert_int_equal(p.err, ERR_STOPPING);
    assert_int_equal(q.dones, 1);
    assert_int_equal(p.runs + q.runs, 0);
}

/* ---- savepoints of the store ------------------------------------------------------------------
 */

static int64_t run_add(struct bench *b, int64_t scheduled_ms)
{
    struct run_row r = { .job_id = 1,
                         .group_id = 1,
                         .scheduled_ms = scheduled_ms,
                         .due_ms = scheduled_ms,
                         .shard_total = 1,
                         .kind = KIND_CRON,
                         .phase = PHASE_PLANNED };
    assert_int_equal(b->s->ops->runs->runs_add(b->s, &r, 1, NULL), OK);
    return r.log_id;
}

/* Counters too go back to where they were: the ids of a part that was taken back are given again.
 */
static void a_savepoint_takes_back_all_behind_it_and_nothing_else(void **state)
{
    struct bench *b = *state;
    const struct store_ops *ops = b->s->ops;
    int64_t seq = 0;
    assert_int_equal(ops->txn->begin(b->s, NULL), OK);
    int64_t first = run_add(b, 1000);
    assert_int_equal(ops->txn->savepoint(b->s, NULL), OK);
    int64_t second = run_add(b, 700000000);
    assert_int_equal(ops->txn->seq_next(b->s, "x", 1, &seq, NULL), OK);
    assert_int_equal(ops->txn->savepoint_undo(b->s, NULL), OK);
    assert_int_equal(ops->txn->savepoint(b->s, NULL), OK);
    assert_int_equal(run_add(b, 2000), second);
    assert_int_equal(ops->txn->seq_next(b->s, "x", 1, &seq, NULL), OK);
    assert_int_equal(seq, 1);
    assert_int_equal(ops->txn->savepoint_keep(b->s, NULL), OK);
    assert_int_equal(ops->txn->commit(b->s, NULL, NULL), OK);
    assert_int_equal(bench_logs(b), 2);
    struct log_record l;
    assert_int_equal(ops->pages->log_get(b->s, first, &l, NULL), OK);
    log_record_done(&l);
    assert_int_equal(ops->pages->log_get(b->s, second, &l, NULL), OK);
    assert_int_equal(l.trigger_ms, 2000);
    log_record_done(&l);
}

static void a_rollback_ends_a_savepoint_too(void **state)
{
    struct bench *b = *state;
    const struct store_ops *ops = b->s->ops;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ops->txn->begin(b->s, NULL), OK);
        run_add(b, 1000);
        assert_int_equal(ops->txn->savepoint(b->s, NULL), OK);
        run_add(b, 2000);
        ops->txn->rollback(b->s);
    }
    assert_int_equal(bench_logs(b), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_write_stands_with_its_batch_and_is_told_later),
        BOTH(a_refused_write_leaves_no_trace_and_takes_nothing_down),
        BOTH(a_row_that_exists_refuses_the_rows_before_it),
        BOTH(a_write_in_parts_has_one_part_a_transaction),
        BOTH(a_refused_part_leaves_those_before_it),
        BOTH(a_batch_that_fails_takes_the_writes_back_and_runs_them_again),
        BOTH(an_error_of_the_database_fails_the_batch),
        BOTH(what_nobody_hears_of_is_ended_once),
        BOTH(a_savepoint_takes_back_all_behind_it_and_nothing_else),
        BOTH(a_rollback_ends_a_savepoint_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
