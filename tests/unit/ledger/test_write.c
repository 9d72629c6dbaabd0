/* SPDX-License-Identifier: Apache-2.0 */
/* Writes of all kinds in a transaction, on both engines: alone, refused, in parts, and in a batch
 * that fails. */
#include "base/mem.h"
#include "ledger/txn.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    struct store *s;
    struct store_ops ops; /* the engine's, to make some of them fail */
    const struct store_ops *engine;
    struct planner *planner;
    struct list writes;
};

static enum err only_utc(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    (void)name;
    (void)why;
    *ret = zone_ref(zone_utc());
    return OK;
}

static struct bench *bench_new(struct store *s)
{
    struct planner_config c = { .zone_find = only_utc, .last_year = 2125, .seed = 1 };
    struct bench *b = mem_new(sizeof(*b));
    b->s = s;
    b->engine = s->ops;
    b->ops = *s->ops;
    b->planner = planner_new(&c);
    list_init(&b->writes);
    return b;
}

static int memory_new(void **state)
{
    *state = bench_new(store_memory_new(NULL));
    return 0;
}

static int sqlite_new(void **state)
{
    struct why why = { "" };
    struct store *s = NULL;
    assert_int_equal(store_open("sqlite::memory:", NULL, &s, &why), OK);
    *state = bench_new(s);
    return 0;
}

static int bench_free(void **state)
{
    struct bench *b = *state;
    assert_true(list_empty(&b->writes));
    planner_free(b->planner);
    store_close(b->s);
    free(b);
    return 0;
}

/* One write under test: what it does, and what became of it. */
struct probe {
    const char *names[4]; /* users that it inserts, in this order */
    enum err then;        /* and then returns */
    int a_call;           /* so many of them a call, ERR_MORE while there are others; 0: all */
    int runs, dones;
    enum err err; /* as done heard it */
    char why[64];
};

static bool is_user(struct bench *b, const char *name)
{
    struct user_record u = { 0 };
    bool yes = b->engine->user_find(b->s, name, &u, NULL) == OK;
    user_record_done(&u);
    return yes;
}

static enum err probe_run(struct store *s, void *arg, struct why *why)
{
    struct probe *p = arg;
    int n = 0;
    p->runs++;
    for (size_t i = 0; i < countof(p->names) && p->names[i]; i++) {
        struct user_record u = { .username = (char *)p->names[i], .password = "" }, old = { 0 };
        if (p->a_call && s->ops->user_find(s, u.username, &old, NULL) == OK) {
            user_record_done(&old); /* written by an earlier call */
            continue;
        }
        if (p->a_call && n++ == p->a_call)
            return ERR_MORE;
        enum err err = s->ops->user_insert(s, &u, why);
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
    struct batch *batch = batch_new();
    batch->now_ms = 1700000000000;
    batch->edits = mem_new(sizeof(struct edit *));
    struct edit *e = batch->edits[batch->nedits++] = edit_new(EDIT_GROUP_INSERT);
    e->group.app = mem_dup(group);
    e->group.title = mem_dup(group);
    txn_run(b->s, b->planner, batch, &b->writes);
    enum err err = batch->err;
    batch_free(batch);
    return err;
}

static int64_t groups(struct bench *b)
{
    int64_t total = -1;
    const struct groups_filter all = { .limit = 0 };
    assert_int_equal(b->engine->groups_page(b->s, &all, NULL, NULL, &total, NULL), OK);
    return total;
}

/* As the driver does when the commit was heard. */
static void heard(struct bench *b)
{
    list_each(&b->writes, n, tmp)
    {
        struct ledger_entry *e = container_of(n, struct ledger_entry, node);
        if (e->err == ERR_MORE)
            continue;
        list_remove(n);
        ledger_entry_end(e, e->err);
    }
}

static void a_write_stands_with_its_batch_and_is_told_later(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann", "bob" } };
    give(b, &p);
    assert_int_equal(run(b, "g"), OK);
    assert_true(is_user(b, "ann") && is_user(b, "bob"));
    assert_int_equal(groups(b), 1);
    assert_int_equal(p.dones, 0);
    heard(b);
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
        heard(b);
        assert_int_equal(p.err, refusals[i]);
        assert_string_equal(p.why, "because");
        assert_int_equal(first.err, OK);
        assert_int_equal(last.err, OK);
        assert_false(is_user(b, refused));
        assert_true(is_user(b, before) && is_user(b, after));
        assert_int_equal(groups(b), (int64_t)i + 1);
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
    heard(b);
    assert_int_equal(p.err, ERR_EXISTS);
    assert_true(strstr(p.why, "exists already") != NULL);
    assert_true(is_user(b, "ann"));
    assert_false(is_user(b, "bob") || is_user(b, "cid"));
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
    heard(b);
    assert_int_equal(other.dones, 1);
    assert_true(is_user(b, "ann"));
    assert_false(is_user(b, "bob"));
    assert_int_equal(run(b, "g2"), OK);
    heard(b);
    assert_int_equal(p.dones, 0);
    assert_true(is_user(b, "bob"));
    assert_int_equal(run(b, "g3"), OK);
    heard(b);
    assert_int_equal(p.dones, 1);
    assert_int_equal(p.err, OK);
    assert_int_equal(p.runs, 3);
    assert_true(is_user(b, "cid"));
}

/* A part that is refused goes alone; what was committed before it stays, as write.h says. */
static void a_refused_part_leaves_those_before_it(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann", "bob" }, .a_call = 1, .then = ERR_INVALID };
    give(b, &p);
    assert_int_equal(run(b, "g1"), OK);
    heard(b);
    assert_int_equal(run(b, "g2"), OK);
    heard(b);
    assert_int_equal(p.err, ERR_INVALID);
    assert_true(is_user(b, "ann"));
    assert_false(is_user(b, "bob"));
}

static int fails; /* so many commits */

static const struct store_ops *engine;

static enum err failing_commit(struct store *s, struct why *why)
{
    if (fails-- > 0) {
        why_set(why, "the disk is full");
        return ERR_FULL;
    }
    return engine->commit(s, why);
}

static void commits_fail(struct bench *b, int n)
{
    fails = n;
    engine = b->engine;
    b->ops.commit = failing_commit;
    b->s->ops = &b->ops;
}

static void a_batch_that_fails_takes_the_writes_back_and_runs_them_again(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann" } }, refused = { .names = { "bob", "ann" } },
                 parts = { .names = { "cid", "dan" }, .a_call = 1 };
    give(b, &p);
    give(b, &refused);
    give(b, &parts);
    commits_fail(b, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(b, "g"), ERR_FULL);
        assert_false(is_user(b, "ann") || is_user(b, "bob") || is_user(b, "cid"));
        assert_int_equal(groups(b), 0);
    }
    assert_int_equal(run(b, "g"), OK);
    heard(b);
    b->s->ops = b->engine;
    assert_int_equal(p.runs, 3);
    assert_int_equal(p.dones, 1);
    assert_int_equal(p.err, OK);
    assert_int_equal(refused.err, ERR_EXISTS);
    assert_int_equal(parts.runs, 3);
    assert_true(is_user(b, "ann") && is_user(b, "cid"));
    assert_false(is_user(b, "dan"));
    assert_int_equal(run(b, "g"), OK);
    heard(b);
    assert_true(is_user(b, "dan"));
}

/* Any other error is the batch's, and the batch's reason says so. */
static void an_error_of_the_database_fails_the_batch(void **state)
{
    struct bench *b = *state;
    struct probe p = { .names = { "ann" }, .then = ERR_IO };
    give(b, &p);
    assert_int_equal(run(b, "g"), ERR_IO);
    assert_false(is_user(b, "ann"));
    assert_int_equal(groups(b), 0);
    p.then = OK;
    assert_int_equal(run(b, "g"), OK);
    heard(b);
    assert_int_equal(p.err, OK);
    assert_int_equal(p.dones, 1);
    assert_true(is_user(b, "ann"));
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
    assert_int_equal(b->s->ops->runs_add(b->s, &r, 1, NULL), OK);
    return r.log_id;
}

/* Counters too go back to where they were: the ids of a part that was taken back are given again.
 */
static void a_savepoint_takes_back_all_behind_it_and_nothing_else(void **state)
{
    struct bench *b = *state;
    const struct store_ops *ops = b->s->ops;
    int64_t seq = 0;
    assert_int_equal(ops->begin(b->s, NULL), OK);
    int64_t first = run_add(b, 1000);
    assert_int_equal(ops->savepoint(b->s, NULL), OK);
    int64_t second = run_add(b, 700000000);
    assert_int_equal(ops->seq_next(b->s, "x", &seq, NULL), OK);
    assert_int_equal(ops->savepoint_undo(b->s, NULL), OK);
    assert_int_equal(ops->savepoint(b->s, NULL), OK);
    assert_int_equal(run_add(b, 2000), second);
    assert_int_equal(ops->seq_next(b->s, "x", &seq, NULL), OK);
    assert_int_equal(seq, 1);
    assert_int_equal(ops->savepoint_keep(b->s, NULL), OK);
    assert_int_equal(ops->commit(b->s, NULL), OK);
    const struct logs_filter all = { .from_ms = -1, .to_ms = -1 };
    int64_t total = 0;
    assert_int_equal(ops->logs_page(b->s, &all, NULL, NULL, &total, NULL), OK);
    assert_int_equal(total, 2);
    struct log_record l;
    assert_int_equal(ops->log_get(b->s, first, &l, NULL), OK);
    log_record_done(&l);
    assert_int_equal(ops->log_get(b->s, second, &l, NULL), OK);
    assert_int_equal(l.trigger_ms, 2000);
    log_record_done(&l);
}

static void a_rollback_ends_a_savepoint_too(void **state)
{
    struct bench *b = *state;
    const struct store_ops *ops = b->s->ops;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ops->begin(b->s, NULL), OK);
        run_add(b, 1000);
        assert_int_equal(ops->savepoint(b->s, NULL), OK);
        run_add(b, 2000);
        ops->rollback(b->s);
    }
    const struct logs_filter all = { .from_ms = -1, .to_ms = -1 };
    int64_t total = 0;
    assert_int_equal(ops->logs_page(b->s, &all, NULL, NULL, &total, NULL), OK);
    assert_int_equal(total, 0);
}

int main(void)
{
#define BOTH(test)                                                                                 \
    { "memory: " #test, test, memory_new, bench_free, NULL },                                      \
    {                                                                                              \
        "sqlite: " #test, test, sqlite_new, bench_free, NULL                                       \
    }
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
