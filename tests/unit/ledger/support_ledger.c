/* SPDX-License-Identifier: Apache-2.0 */
#include "support_ledger.h"
#include "base/mem.h"
#include <stdlib.h>

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
    b->txn = *s->ops->txn;
    b->ops.txn = &b->txn;
    b->planner = planner_new(&c);
    list_init(&b->writes);
    return b;
}

int memory_new(void **state)
{
    *state = bench_new(store_memory_new(NULL));
    return 0;
}

int shared_new(void **state)
{
    const struct store_options options = { .shared = true, .node_name = "a" };
    *state = bench_new(store_memory_new(&options));
    return 0;
}

int sqlite_new(void **state)
{
    struct why why = { "" };
    struct store *s = NULL;
    assert_int_equal(store_open("sqlite::memory:", NULL, &s, &why), OK);
    *state = bench_new(s);
    return 0;
}

int bench_free(void **state)
{
    struct bench *b = *state;
    assert_true(list_empty(&b->writes));
    planner_free(b->planner);
    b->s->ops = b->engine;
    store_close(b->s);
    free(b);
    return 0;
}

struct batch *bench_batch(void)
{
    struct batch *batch = batch_new();
    batch->now_ms = BENCH_NOW_MS;
    batch->plan_max_rows = 100;
    return batch;
}

struct batch *bench_edit(struct edit *e)
{
    struct batch *batch = bench_batch();
    batch->edits = mem_new(sizeof(struct edit *));
    batch->edits[batch->nedits++] = e;
    return batch;
}

enum err bench_run(struct bench *b, struct batch *batch)
{
    txn_run(b->s, b->planner, NULL, batch, &b->writes);
    return batch->err;
}

void bench_heard(struct bench *b)
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

static int fails; /* so many commits */
static const struct store_ops *engine;

static enum err failing_commit(struct store *s, const struct commit *c, struct why *why)
{
    if (fails-- > 0) {
        why_set(why, "the disk is full");
        return ERR_FULL;
    }
    return engine->txn->commit(s, c, why);
}

void bench_commits_fail(struct bench *b, int n)
{
    fails = n;
    engine = b->engine;
    b->txn.commit = failing_commit;
    b->s->ops = &b->ops;
}

bool bench_is_user(struct bench *b, const char *name)
{
    struct user_record u = { 0 };
    bool yes = b->engine->users->user_find(b->s, name, &u, NULL) == OK;
    user_record_done(&u);
    return yes;
}

int64_t bench_groups(struct bench *b)
{
    int64_t total = -1;
    const struct groups_filter all = { .limit = 0 };
    assert_int_equal(b->engine->pages->groups_page(b->s, &all, NULL, NULL, &total, NULL), OK);
    return total;
}

int64_t bench_logs(struct bench *b)
{
    int64_t total = -1;
    const struct logs_filter all = { .from_ms = -1, .to_ms = -1 };
    assert_int_equal(b->engine->pages->logs_page(b->s, &all, NULL, NULL, &total, NULL), OK);
    return total;
}

int64_t bench_unaccounted(struct bench *b)
{
    struct totals t;
    int64_t open;
    assert_int_equal(b->engine->txn->totals_get(b->s, &t, &open, NULL), OK);
    return totals_unaccounted(&t, open);
}
