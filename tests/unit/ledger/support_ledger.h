/* SPDX-License-Identifier: Apache-2.0 */
/* support_ledger.h - a store of either engine with a planner, and batches that are run on them. */
#ifndef PEAL_TESTS_SUPPORT_LEDGER_H
#define PEAL_TESTS_SUPPORT_LEDGER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ledger/txn.h"

#define BENCH_NOW_MS INT64_C(1700000000000)

struct bench {
    struct store *s;
    struct planner *planner;
    struct list writes;             /* go with the next batch */
    const struct store_ops *engine; /* the store's own functions */
    struct store_ops ops;           /* the same, to make commits fail */
    struct store_txn txn;
};

/* A case is run on each engine: *state is a fresh struct bench. */
int memory_new(void **state);
int sqlite_new(void **state);
int shared_new(void **state); /* in memory, one of several servers; then bench_free */
int bench_free(void **state);
#define BOTH(test)                                                                                 \
    { "memory: " #test, test, memory_new, bench_free, NULL },                                      \
    {                                                                                              \
        "sqlite: " #test, test, sqlite_new, bench_free, NULL                                       \
    }

/* An empty batch of BENCH_NOW_MS; one with the edit, which it owns. */
struct batch *bench_batch(void);
struct batch *bench_edit(struct edit *e);
/* Run it with the writes that wait; it stays the caller's. */
enum err bench_run(struct bench *b, struct batch *batch);
/* As the driver does when the commit was heard: tell the ends, keep what goes on. */
void bench_heard(struct bench *b);
/* From now on so many commits fail with ERR_FULL. */
void bench_commits_fail(struct bench *b, int n);

bool bench_is_user(struct bench *b, const char *name);
int64_t bench_groups(struct bench *b);
int64_t bench_logs(struct bench *b);
/* What is not accounted for; 0 when the books balance. */
int64_t bench_unaccounted(struct bench *b);

#endif
