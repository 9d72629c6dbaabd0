/* SPDX-License-Identifier: Apache-2.0 */
/* support_store.h - a store to test, whichever engine; and the whole of it as text. */
#ifndef PEAL_TESTS_SUPPORT_STORE_H
#define PEAL_TESTS_SUPPORT_STORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/buf.h"
#include "store/store.h"

/* ENGINE_SQL: the server that PEAL_TEST_DB names (a URL; scripts/test-db.py), otherwise SQLite. */
enum engine_kind { ENGINE_MEMORY, ENGINE_SQLITE, ENGINE_SQL };

struct engine {
    enum engine_kind kind;
    struct store *s;
    bool server;
    int64_t
        opening; /* commits that opening and closing the store made, in the number of the last */
    char dir[64], path[96], url[512];
};

struct engine *engine_new(enum engine_kind kind);
void engine_free(struct engine *e);
/* Close and open again; memory, which would lose everything, stays as it is. */
void engine_reopen(struct engine *e);

/* Everything that the store holds, one line a row; owned by the caller. Reads what is committed. */
char *engine_dump(struct engine *e);

/* Run statements, divided by ";", beside the store: on SQLite's file with a connection of its own,
 * on a server by the store's. Must succeed. */
void engine_sql(struct engine *e, const char *sql);
int64_t engine_sql_number(struct engine *e, const char *sql);

/* The id that the next row of the table gets; only on a server, which counts outside of
 * transactions.
 */
void engine_next_id(struct engine *e, const char *table, int64_t id);

/* Fail the test with the reason if err is not expected. */
void expect(enum err got, enum err wanted, const struct why *why, const char *file, int line);
#define EXPECT(call, wanted)                                                                       \
    do {                                                                                           \
        struct why why = { "" };                                                                   \
        expect((call), (wanted), &why, __FILE__, __LINE__);                                        \
    } while (0)
/* OP(s, txn->begin), OP(s, catalog->job_get, 7, &r): must succeed. */
#define OP(store, op, ...) EXPECT((store)->ops->op((store), ##__VA_ARGS__, &why), OK)
#define OP_FAILS(wanted, store, op, ...)                                                           \
    EXPECT((store)->ops->op((store), ##__VA_ARGS__, &why), (wanted))

/* Rows with something in every field; text is static, so never call _done on them. */
struct job_record sample_job(const char *name, int64_t next_ms);
struct run_row sample_run(int64_t job_id, int64_t scheduled_ms);
/* In a transaction: a sample job's id. */
int64_t sample_job_add(struct store *s, const char *name, int64_t next_ms);

/* A case is run against each engine: *state is a fresh struct engine. */
int setup_memory(void **state);
int setup_sql(void **state);
int teardown_engine(void **state);
#define BOTH(f)                                                                                    \
    { "memory: " #f, f, setup_memory, teardown_engine, NULL },                                     \
    {                                                                                              \
        "sql: " #f, f, setup_sql, teardown_engine, NULL                                            \
    }

#endif
