/* SPDX-License-Identifier: Apache-2.0 */
/* sql.h - one driver for engines that speak SQL, and statements on it. Private to src/store.
 *
 * What is read and written row by row stands in this folder once, for all of these engines. An
 * engine brings a struct sql_driver: a dozen functions that prepare, bind, step and read. What
 * every firing costs, and what an index of one engine serves, stays with the engine.
 *
 * Texts keep to what SQLite, MySQL and PostgreSQL have in common: no upsert, no RETURNING, no
 * functions but count, min, max, lower and coalesce. Parameters are ?1, ?2, …; a driver may have
 * to write $1 for them, or ? and remember which number stands where. */
#ifndef PEAL_STORE_SQL_SQL_H
#define PEAL_STORE_SQL_SQL_H

#include "base/map.h"
#include "store/store.h"

struct sql;

#define SQL_IDS_LOST (INT64_C(1) << 24) /* more than a standby can be behind */
#define SQL_EPOCHS_LOST 1024

/* stmt is the engine's prepared statement. A function that fails marks the transaction as lost, if
 * there is one, and says in why what an operator can do. */
struct sql_driver {
    /* A condition: the column (%s) contains parameter %d, ASCII letters in either case. */
    const char *contains;
    /* A condition: the column (%s) is among the numbers of parameter %d, a JSON array. */
    const char *among;
    /* A statement: the table's (%s) next id is behind all that are there. NULL: it always is. */
    const char *lift;
    /* A statement: the last id that the table (%s) has given, 0 or NULL: none. Statements: its next
     * id is that number (%1$s, %2$lld); not within a transaction. */
    const char *last_id, *next_id[2];
    const char *least; /* the function that gives the smallest of its arguments */
    /* How {ms COLUMN}, {time PARAMETER}, {bytes COLUMN}, {by INDEX}, {must INDEX} and {cut TABLE}
     * are written, with %s: see below. */
    const char *ms_of, *time_of, *bytes_of, *by_index, *must_index, *cut;
    size_t text_max; /* bytes of a column of XXL-JOB's type text; 0: there is no bound */
    /* Statements about the index by peal_due.home: how many there are, make it, drop it; and
     * store_cluster.homes_take by it (home, behind that time and job, so many). NULL: one server
     * has the database. */
    const struct sql_home_index {
        const char *there, *make, *drop, *take;
    } * home_index;
    bool counts_tables; /* count(*) of a whole table costs next to nothing */
    /* Each life of a server has a row of peal_epoch (epoch.h), and the engine counts log ids
     * itself. Otherwise there is one row, and log ids are those of peal_seq. */
    bool epochs;
    /* A column of xxl_job_info that each write of a job sets to this value, besides its own. NULL:
     * none. */
    const char *job_more, *job_more_value;
    const char *clock; /* a statement: the server's time, epoch milliseconds; NULL: none */
    /* In a transaction: leave out SQL_IDS_LOST log ids and SQL_EPOCHS_LOST epochs, which have been
     * given in commits that the database does not have. done: another handle has done that, go on
     * behind it. NULL where a commit cannot be lost. */
    enum err (*ids_skip)(struct sql *s, bool done, struct why *why);
    const struct sql_selftest *selftest; /* selftest.h; NULL: no server */

    /* kept: it will be used again. */
    enum err (*prepare)(struct sql *s, const char *text, bool kept, void **ret, struct why *why);
    void (*finalize)(struct sql *s, void *stmt);
    void (*bind_null)(void *stmt, int i);
    void (*bind_i64)(void *stmt, int i, int64_t v);
    void (*bind_real)(void *stmt, int i, double v);
    /* Lent until the statement is reset. What is too large makes the next step fail. */
    void (*bind_text)(void *stmt, int i, const char *text);
    void (*bind_blob)(void *stmt, int i, struct slice bytes); /* the same */
    /* Next row; false after the last one, and then as on failure the statement is reset. */
    enum err (*step)(struct sql *s, void *stmt, bool *ret_row, struct why *why);
    void (*reset)(void *stmt);
    /* Of the statement that ran last: rows that it found to change; id that its INSERT was given.
     */
    int64_t (*changes)(struct sql *s);
    int64_t (*inserted)(struct sql *s);

    /* Columns of the row, from 0 on, whatever type another program has put there. */
    bool (*is_null)(void *stmt, int i);
    int64_t (*i64)(void *stmt, int i);
    double (*real)(void *stmt, int i);
    const char *(*text)(void *stmt, int i, size_t *ret_n); /* lent until the next step */

    struct slice (*blob)(void *stmt, int i); /* the same; empty for NULL */

    /* A page's own snapshot, with a second to finish (ERR_TIMEOUT); within a transaction that. End
     * in any case, with what begin said. */
    enum err (*page_begin)(struct sql *s, bool *ret_own, struct why *why);
    void (*page_end)(struct sql *s, bool own);
    /* The newest run of the job's schedule whose scheduled time is not behind now; 0 if the newest
     * rows of the log do not tell. By the engine's index on the log. */
    enum err (*last_fired)(struct sql *s, int64_t job_id, int64_t now_ms, int64_t *ret_ms,
                           struct why *why);
};

enum sql_job_text { /* statements that are composed of the columns of a job */
                    SQL_JOB_GET,
                    SQL_JOB_INSERT,
                    SQL_JOB_UPDATE,
                    SQL_JOB_PUT_OWN,
                    SQL_JOB_PUT_DUE,
                    SQL_JOB_TEXTS
};

struct sql { /* an engine's handle begins with it */
    struct store store;
    const struct sql_driver *driver;
    struct map queries;             /* address of the text -> struct sql_query * */
    char *job_texts[SQL_JOB_TEXTS]; /* their addresses are those of the statements */
    int64_t start_deadline_ms;      /* of jobs whose column is NULL */
    int64_t node, epoch;            /* owner of the rows that this handle adds */
    int64_t batch;                  /* the epoch's last commit that was heard: epoch.h */
    int64_t first_batch;            /* what it was when the epoch began */
    int64_t server; /* which server the connection leads to; 0: not known, or it does not matter */
    int64_t followed;  /* the one whose ids are followed, */
    int64_t following; /* and from the commit under way on */
    bool lost_commits; /* as in store_options */
    bool found;        /* the commit that outcome was asked about; it is not safe yet */
    bool asks;         /* the transaction that begins writes nothing */
    int64_t watched;   /* the epoch that was found to stand still, 0: none */
    enum store_bulk bulk;
    bool homed; /* see store_cluster.home, as these: */
    int64_t home, claim_ms;
    int64_t counted;  /* what sql_seq_next has given on a shared database */
    bool shared;      /* with servers of other names */
    bool certified;   /* rows are locked on one of several servers only: hold.h */
    bool joined;      /* the epoch is this handle's own */
    bool leaving;     /* and ends with the commit under way */
    int64_t list_cut; /* groups.c: the group of which it was said last that its list was cut */
    bool changed;     /* what other servers are told of, since the last commit: epoch.c */
};

struct sql_query {
    struct sql *s;
    void *stmt;
};

static inline struct sql *sql_of(struct store *s)
{
    return (struct sql *)s;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Texts are expanded before they are prepared: {ms j.add_time} is such a column as epoch
 * milliseconds, {time ?5} the value of such a column that is written or compared, {bytes
 * glue_source} the length of a text, and {by i_name} behind a table the index that its rows are
 * found by, where a statement may name one; {must i_name} the same, where the server would do
 * otherwise; {cut TABLE} in an UPDATE the table whose columns take of a text what they can, where
 * the server would refuse the statement for it. */

/* The kept statement of this text (a literal), reset and ready to be bound. */
MUST_CHECK enum err sql_query(struct sql *s, const char *text, struct sql_query **ret,
                              struct why *why);
/* One that is composed and used once; release with sql_query_end (NULL is fine). */
MUST_CHECK enum err sql_query_once(struct sql *s, const char *text, struct sql_query **ret,
                                   struct why *why);
/* The same of one that is used many times: a server prepares it, and forgets it with the connection
 * only. */
MUST_CHECK enum err sql_query_own(struct sql *s, const char *text, struct sql_query **ret,
                                  struct why *why);
void sql_query_end(struct sql_query *q);
/* Run a statement without rows, to its end. */
MUST_CHECK enum err sql_do(struct sql_query *q, struct why *why);
/* The same of one that is composed and used once: it is prepared, run and released. */
MUST_CHECK enum err sql_do_once(struct sql *s, const char *text, struct why *why);
/* The same, and how many rows it found to change. */
MUST_CHECK enum err sql_change(struct sql_query *q, int64_t *ret_rows, struct why *why);
/* The same, of an INSERT of one row, and its id. */
MUST_CHECK enum err sql_insert(struct sql_query *q, int64_t *ret_id, struct why *why);
/* The same as sql_change for a text whose only parameter is an id. ret_rows may be NULL. */
MUST_CHECK enum err sql_change_by_id(struct sql *s, const char *text, int64_t id, int64_t *ret_rows,
                                     struct why *why);
/* Next row. False and OK at the end, after which the statement is reset. */
MUST_CHECK enum err sql_next(struct sql_query *q, bool *ret_row, struct why *why);
void sql_reset(struct sql_query *q);
/* One number from a statement that is bound already: its first column, otherwise where there is no
 * row or NULL. */
MUST_CHECK enum err sql_one(struct sql_query *q, int64_t otherwise, int64_t *ret, struct why *why);
/* Bind ?1 = id, step to the only row, which the caller reads before it resets the statement.
 * ERR_NOTFOUND: sql_none(what, id). */
MUST_CHECK enum err sql_row_by_id(struct sql *s, const char *text, const char *what, int64_t id,
                                  struct sql_query **ret, struct why *why);
/* The same by a text. */
MUST_CHECK enum err sql_row_by_text(struct sql *s, const char *text, const char *what,
                                    const char *value, struct sql_query **ret, struct why *why);
enum err sql_none(const char *what, int64_t id, struct why *why); /* ERR_NOTFOUND */
/* Reads the statement's row and hands it to the function whose address is fn; false stops. */
typedef bool sql_lend_fn(struct sql_query *q, void *fn, void *ctx);
/* The rows of a statement that is bound, then reset it. */
MUST_CHECK enum err sql_rows(struct sql_query *q, sql_lend_fn *lend, void *fn, void *ctx,
                             struct why *why);

/* ---- parameters and columns ------------------------------------------------------------------ */

static inline void sql_bind_null(struct sql_query *q, int i)
{
    q->s->driver->bind_null(q->stmt, i);
}

static inline void sql_bind_i64(struct sql_query *q, int i, int64_t v)
{
    q->s->driver->bind_i64(q->stmt, i, v);
}

static inline void sql_bind_real(struct sql_query *q, int i, double v)
{
    q->s->driver->bind_real(q->stmt, i, v);
}

/* none stands for NULL. */
static inline void sql_bind_unless(struct sql_query *q, int i, int64_t v, int64_t none)
{
    if (v == none)
        sql_bind_null(q, i);
    else
        sql_bind_i64(q, i, v);
}

/* NULL is NULL. Lent until the statement has run. */
static inline void sql_bind_text(struct sql_query *q, int i, const char *text)
{
    q->s->driver->bind_text(q->stmt, i, text);
}

/* Lent until the statement has run. */
static inline void sql_bind_blob(struct sql_query *q, int i, struct slice bytes)
{
    q->s->driver->bind_blob(q->stmt, i, bytes);
}

static inline void sql_bind_text_or(struct sql_query *q, int i, const char *text,
                                    const char *otherwise)
{
    sql_bind_text(q, i, text ? text : otherwise);
}

/* Columns as another program may have left them: NULL gives the default, too big is cut. */
int64_t sql_i64(struct sql_query *q, int i, int64_t otherwise);
int sql_int(struct sql_query *q, int i, int otherwise); /* out of int's range: otherwise */
double sql_real(struct sql_query *q, int i, double otherwise);
char *sql_text(struct sql_query *q, int i);        /* owned by the caller, NULL for NULL */
struct slice sql_blob(struct sql_query *q, int i); /* lent until the next step */
void sql_text_copy(struct sql_query *q, int i, char *to, size_t size);

#endif
