/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_db.h - the handle on an SQLite file, its statements and errors. Private to src/store.
 *
 * Statements are prepared at first use and kept, found by the address of their text, so that each
 * stands where it is used. Every error goes through sql_fail, which maps it, tells people what to
 * do and, within a transaction, marks that as lost: commit refuses then. */
#ifndef PEAL_STORE_SQLITE_SQLITE_DB_H
#define PEAL_STORE_SQLITE_SQLITE_DB_H

#include <sqlite3.h>
#include "base/buf.h"
#include "base/map.h"
#include "store/sql/tables.h"
#include "store/sqlite/sqlite.h"

#define SQLITE_CHANGE_MASKS 64 /* sqlite_ledger.c: one UPDATE for each set of changed columns */
#define SQLITE_SPANS 16

struct span { /* a row of peal_log_span that this transaction widens */
    int64_t slot, first_id, last_id;
};

struct sqlite {
    struct sql sql;
    sqlite3 *db;
    char *path;
    int lock_fd; /* -1: none */
    int file_fd; /* the database file, locked too: it may have several names. -1: not */
    bool read_only;
    bool in_transaction;
    enum err lost; /* the transaction cannot be committed any more, and why */
    char lost_text[512];

    struct map statements; /* address of the text -> sqlite3_stmt * */
    sqlite3_stmt *change[SQLITE_CHANGE_MASKS];

    int64_t log_id, log_id_read; /* the counter in this transaction; as read. 0: not read yet */
    struct span spans[SQLITE_SPANS];
    int nspans;
    struct { /* the same as they were at the savepoint */
        bool on;
        int64_t log_id, log_id_read;
        struct span spans[SQLITE_SPANS];
        int nspans;
    } saved;

    int wal_frames, wal_tried; /* after the last commit; at the writer's last own checkpoint */
    int64_t deadline_ms;       /* of the running page, boot time; 0 = none */
    int64_t steps;
};

static inline struct sqlite *sqlite_of(struct store *s)
{
    return (struct sqlite *)s;
}

/* The functions that our statements call. Returns SQLite's code. */
int sqlite_functions_add(sqlite3 *db);
enum err sqlite_open(const char *path, const struct store_options *options, struct store **ret,
                     struct why *why);
/* The lock that keeps a second server off the database of this name; ERR_BUSY names the holder. The
 * descriptor holds it. */
enum err sqlite_lock(const char *db, int *ret_fd, struct why *why);
/* Beside it, behind it: the lock on the file itself, which a second name of the file meets
 * (ERR_BUSY). A file that cannot be opened leaves *ret_fd as it is. Closing the descriptor ends the
 * locks that SQLite holds on that file in this process, so that SQLite is closed before. */
enum err sqlite_lock_file(const char *db, int *ret_fd, struct why *why);
enum err sqlite_migrate(struct sqlite *s, struct why *why);
/* Is the schema there? For handles that may not create it. */
enum err sqlite_schema_check(struct sqlite *s, struct why *why);
/* What is written at a transaction's end: the id counter and the spans, which it keeps in memory,
 * and the row of peal_epoch with its new number and what the commit says. */
enum err sqlite_ledger_flush(struct sqlite *s, const struct commit *c, struct why *why);
/* The id counter may not lie below ids that stand in the tables. ERR_INVALID: sql_move_ended. */
enum err sqlite_ledger_open(struct sqlite *s, struct why *why);

/* ---- statements ------------------------------------------------------------------------------ */

enum err sql_fail(struct sqlite *s, int rc, struct why *why);
/* What an operator can do about it. */
const char *sqlite_advice(enum err err);
/* Adds what the statement has done since the last time to s->steps. */
void sql_count_steps(struct sqlite *s, sqlite3_stmt *q);
/* The kept statement of this text (a literal), reset and ready to be bound. */
enum err sql_get(struct sqlite *s, const char *text, sqlite3_stmt **ret, struct why *why);
/* One that is composed and used once; release with sql_drop. */
enum err sql_prepare(struct sqlite *s, const char *text, sqlite3_stmt **ret, struct why *why);
void sql_drop(struct sqlite *s, sqlite3_stmt *q);
/* Run a statement without rows, to its end. */
enum err sql_run(struct sqlite *s, sqlite3_stmt *q, struct why *why);
/* Next row. False and OK at the end, after which the statement is reset. */
enum err sql_step(struct sqlite *s, sqlite3_stmt *q, bool *ret_row, struct why *why);
/* One number from a statement that is bound already: its first column, otherwise where there is no
 * row or NULL. */
enum err sql_number(struct sqlite *s, sqlite3_stmt *q, int64_t otherwise, int64_t *ret,
                    struct why *why);
enum err sql_exec(struct sqlite *s, const char *text, struct why *why);

static inline void bind_i64(sqlite3_stmt *q, int i, int64_t v)
{
    sqlite3_bind_int64(q, i, v);
}

/* The first bind that failed (a text larger than a row may be) since the last run of a statement
 * on this thread: a statement is bound and run in one go, and the run refuses with this code. A
 * text that was silently left out would be a row that looks right. */
extern _Thread_local int sql_bind_rc;

static inline int sql_bind_take(void)
{
    int rc = sql_bind_rc;
    sql_bind_rc = SQLITE_OK;
    return rc;
}

/* Lent until the statement has run. */
static inline void bind_blob(sqlite3_stmt *q, int i, struct slice bytes)
{
    int rc = sqlite3_bind_blob64(q, i, bytes.n ? bytes.p : "", bytes.n, SQLITE_STATIC);
    if (rc)
        sql_bind_rc = rc;
}

/* NULL is NULL. Lent until the statement has run. */
static inline void bind_text(sqlite3_stmt *q, int i, const char *text)
{
    int rc = sqlite3_bind_text(q, i, text, -1, SQLITE_STATIC);
    if (rc)
        sql_bind_rc = rc;
}

/* sqlite3_step, unless something could not be bound. */
static inline int sql_step_rc(sqlite3_stmt *q)
{
    int rc = sql_bind_take();
    return rc ? rc : sqlite3_step(q);
}

/* none stands for NULL. */
static inline void bind_scheduled(sqlite3_stmt *q, int i, int64_t v, int64_t none)
{
    if (v == none)
        sqlite3_bind_null(q, i);
    else
        sqlite3_bind_int64(q, i, v);
}

/* Columns as another program may have left them: NULL gives the default, too big is cut. */
int64_t col_i64(sqlite3_stmt *q, int i, int64_t otherwise);

/* A page's own snapshot, with a second to finish: begin, then end in any case. */
enum err sql_page_begin(struct sqlite *s, bool *ret_own, struct why *why);
void sql_page_end(struct sqlite *s, bool own);

/* ---- the driver ------------------------------------------------------------------------------ */

extern const struct sql_driver sqlite_driver; /* sqlite_driver.c */

/* ---- the operations, by file ----------------------------------------------------------------- */

/* sqlite_ledger.c */
enum err sqlite_due_take(struct store *s, int64_t from_ms, int64_t until_ms, int max,
                         struct due_row *rows, int *ret_n, int64_t *ret_next_ms, struct why *why);
enum err sqlite_due_put(struct store *s, const struct due_row *rows, int n, struct why *why);
enum err sqlite_runs_add(struct store *s, struct run_row *rows, int n, struct why *why);
enum err sqlite_runs_change(struct store *s, struct run_change *changes, int n, int64_t *ret_missed,
                            struct why *why);

/* sqlite_logs.c */
enum err sqlite_last_fired(struct sql *s, int64_t job_id, int64_t now_ms, int64_t *ret_ms,
                           struct why *why);
enum err sqlite_logs_page(struct store *s, const struct logs_filter *f, log_row_fn *fn, void *ctx,
                          int64_t *ret_total, struct why *why);
enum err sqlite_facts(struct store *s, struct store_facts *ret, struct why *why);

#endif
