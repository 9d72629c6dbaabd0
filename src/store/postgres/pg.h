/* SPDX-License-Identifier: Apache-2.0 */
/* pg.h - the handle on a PostgreSQL database: its connection, statements and errors. Private to
 * src/store.
 *
 * A handle has one connection at a time and makes it anew when it is needed and there is none:
 * nothing of a session must survive but the transaction that is under way, and that one is lost
 * then. All calls of libpq are non-blocking, with a bound of time of our own. Every error goes
 * through pg_fail, which maps it, tells people what to do and, within a transaction, marks that as
 * lost: commit refuses then. */
#ifndef PEAL_STORE_POSTGRES_PG_H
#define PEAL_STORE_POSTGRES_PG_H

#include "base/buf.h"
#include "store/sql/tables.h"
#include "store/url.h"

typedef struct pg_conn PGconn; /* of libpq */
typedef struct pg_result PGresult;

#define PG_ARRAYS 18 /* of one statement */
#define PG_SPANS 16

struct pg_prepared { /* on the connection of that life; 0: on none */
    unsigned life;
    char name[16];
};

struct pg_array { /* a parameter as the server reads it: big endian, each element with its length */
    struct buf bytes;
    unsigned type;
    int n;
    bool nulls;
};

struct pg_span { /* a row of peal_log_span that this transaction widens */
    int64_t slot, first_id, last_id;
};

struct pg {
    struct sql sql;
    struct db_url url;
    char name[512]; /* of the database, for people: without the password */
    PGconn *db;     /* NULL: there is no connection */
    unsigned life, nprepared;
    bool read_only;
    bool in_transaction;
    enum err lost; /* the transaction cannot be committed any more, and why */
    char lost_text[512];
    int64_t wait_ms; /* for one answer */
    int64_t
        blocker_ms; /* boot time when the log was last told which session held a lock; 0: never */

    struct map prepared; /* address of a text of the hot path -> struct pg_prepared * */
    struct pg_array arrays[PG_ARRAYS];
    char *jobs_text;            /* of pg_jobs_get; its address is that of the statement */
    struct pg_query *streaming; /* its rows still come; keep takes them off the connection */
    enum err (*keep)(struct pg_query *q, struct why *why);
    int64_t changes; /* of the statement that ran last */

    struct pg_span spans[PG_SPANS];
    int nspans;
    struct { /* the same as they were at the savepoint */
        bool on;
        struct pg_span spans[PG_SPANS];
        int nspans;
    } saved;
    struct pg_floor {     /* of due_take, for the handle's jobs and for those of other homes */
        int64_t ms;       /* nothing that is due earlier was left by the last one */
        int64_t until_ms; /* boot time until which that counts */
        int64_t taken_ms; /* up to there the last one came */
        bool full;        /* there may be more of what it looked for */
        /* In this transaction: the furthest that one came, and the earliest that one may have left;
         * the earlier of the two is where the next transaction begins. */
        int64_t reached_ms, left_ms;
    } own, others;
    int taken; /* rows of the last due_take that have not been put; -1: none */
};

static inline struct pg *pg_of(struct store *s)
{
    return (struct pg *)s;
}

/* ---- the connection (pg_link.c) -------------------------------------------------------------- */

/* There is a connection that may be used; one is made where none is, unless a transaction was on
 * it. */
enum err pg_ready(struct pg *s, struct why *why);
void pg_hang_up(struct pg *s);
/* The next result of what was sent, the caller's; NULL: there is none any more. An error only if
 * the connection has gone or the time is over: then there is no connection afterwards. */
enum err pg_next(struct pg *s, PGresult **ret, struct why *why);
/* Statements without parameters, one or several, whose rows do not count. */
enum err pg_exec(struct pg *s, const char *text, struct why *why);
/* The server's list of sessions says node and epoch. */
enum err pg_session_name(struct pg *s, struct why *why);
/* The connection is free for another statement. */
enum err pg_quiet(struct pg *s, struct why *why);

/* ---- a lock that was not to be had (pg_blocker.c) -------------------------------------------- */

#define PG_BLOCKER_EVERY_MS 60000
/* The log names the session that has most likely held it, once in that time. Not within a
 * transaction; asks the server once. */
void pg_blocker_tell(struct pg *s);

/* ---- errors (pg_error.c) --------------------------------------------------------------------- */

enum err pg_class(const char *sqlstate);
const char *pg_advice(enum err err);
/* What the result says, or without one the connection. Behind a statement that has failed, what was
 * said of that one. */
enum err pg_fail(struct pg *s, const PGresult *r, struct why *why);
/* The same with a text of our own. */
enum err pg_fail_as(struct pg *s, enum err err, const char *text, struct why *why);
/* The same with advice that is not the class's. */
enum err pg_fail_with(struct pg *s, enum err err, const char *text, const char *advice,
                      struct why *why);

/* ---- statements of the hot path (pg_call.c) -------------------------------------------------- */

/* The n-th array of the statement that comes, emptied; its elements are added in the order of the
 * rows. */
struct pg_array *pg_array(struct pg *s, int n, unsigned type);
enum { PG_BYTEA = 17, PG_I64 = 20, PG_I16 = 21, PG_I32 = 23, PG_TEXT = 25, PG_TIME = 1184 };
void pg_add_i64(struct pg_array *a, int64_t v);
void pg_add_i32(struct pg_array *a, int32_t v);
void pg_add_i16(struct pg_array *a, int v);
/* Epoch milliseconds as a timestamptz. */
void pg_add_time(struct pg_array *a, int64_t ms);
/* NULL is NULL. What is not UTF-8 gets a question mark in its place: PostgreSQL refuses it. */
void pg_add_text(struct pg_array *a, const char *text);
void pg_add_null(struct pg_array *a);
/* The text (a literal) with its first n parameters from the arrays, prepared once a connection.
 * ret (may be NULL): its rows, in binary form, the caller's. */
enum err pg_call(struct pg *s, const char *text, int n, PGresult **ret, struct why *why);
/* A column of a binary result. */
int64_t pg_get_i64(const PGresult *r, int row, int column, int64_t otherwise);
/* A text as PostgreSQL takes it: text itself, or a copy in *ret_copy, the caller's. */
const char *pg_text(const char *text, char **ret_copy);

/* ---- the driver (pg_driver.c) ---------------------------------------------------------------- */

extern const struct sql_driver pg_driver;

/* ---- the operations, by file ----------------------------------------------------------------- */

/* pg_migrate.c */
enum err pg_migrate(struct pg *s, struct why *why);
/* ERR_INVALID: the user may not make tables in the schema, or not write those of Peal that are
 * there; why has the GRANT. */
enum err pg_rights(struct pg *s, struct why *why);
/* Is the schema there? For handles that may not create it. */
enum err pg_schema_check(struct pg *s, struct why *why);

/* pg_ledger.c */
enum err pg_due_take(struct store *s, int64_t from_ms, int64_t until_ms, int max,
                     struct due_row *rows, int *ret_n, int64_t *ret_next_ms, struct why *why);
enum err pg_due_put(struct store *s, const struct due_row *rows, int n, struct why *why);
enum err pg_runs_add(struct store *s, struct run_row *rows, int n, struct why *why);
enum err pg_jobs_get(struct store *s, const int64_t *ids, int n, job_row_fn *fn, void *ctx,
                     struct why *why);
/* A job's next scheduled time is written, which may lie below what due_take looks at. */
void pg_due_written(struct pg *s, int64_t next_ms);
void pg_floors_lift(struct pg *s);  /* a transaction is gone, or a part of it */
void pg_floors_raise(struct pg *s); /* one begins */
/* What is written at a transaction's end: the spans, which are kept in memory. */
enum err pg_spans_flush(struct pg *s, struct why *why);

/* pg_change.c */
enum err pg_runs_change(struct store *s, struct run_change *changes, int n, int64_t *ret_missed,
                        struct why *why);

/* pg_pages.c */
enum err pg_last_fired(struct sql *s, int64_t job_id, int64_t now_ms, int64_t *ret_ms,
                       struct why *why);
enum err pg_logs_page(struct store *s, const struct logs_filter *f, log_row_fn *fn, void *ctx,
                      int64_t *ret_total, struct why *why);
enum err pg_facts(struct store *s, struct store_facts *ret, struct why *why);

#endif
