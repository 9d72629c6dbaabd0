/* SPDX-License-Identifier: Apache-2.0 */
/* my_db.h - the handle on a MySQL or MariaDB server, its connection and errors. Private to
 * src/store.
 *
 * A handle has one connection, made anew where that is possible without losing anything: at the
 * begin of a transaction, and for a page. Statements are kept as texts and prepared at the server
 * again on each connection. Every error goes through my_fail, which maps it, tells people what to
 * do and, within a transaction, marks that as lost: commit refuses then. */
#ifndef PEAL_STORE_MYSQL_MY_DB_H
#define PEAL_STORE_MYSQL_MY_DB_H

#include "store/sql/tables.h"
#include "store/url.h"

#define MY_SPANS 16
#define MY_SIZES 4         /* rows of one statement: 1, 10, 100, 1,000 */
#define MY_CHANGE_MASKS 64 /* one UPDATE of the log for each set of changed columns */
#define MY_CHANGE_SIZES 3  /* rows of one of these: 1, 10, 100 */
#define MY_FORMAT_SIZE 192

typedef struct st_mysql MYSQL; /* of <mysql.h> */

struct my_span { /* a row of peal_log_span that this transaction widens */
    int64_t slot, first_id, last_id;
};

struct my_counts {   /* what a rollback, or the undoing of a savepoint, puts back */
    int64_t log_id;  /* the next to give */
    int64_t spanned; /* log rows up to it are in peal_log_span, whoever wrote them */
    struct my_span spans[MY_SPANS];
    int nspans;
};

/* XXL-JOB's own tables, in place: what its release and its admins' zone make different. */
struct my_adopted {
    bool is;                   /* peal_info says so */
    bool beside;               /* Java admins go on scheduling meanwhile: my_beside.c */
    bool due_index, log_index; /* as in struct layout */
    bool renamed;              /* job_desc and title are called name */
    int64_t param_chars;       /* most characters of xxl_job_log.executor_param */
    char zone[64];             /* of datetimes */
    bool has_offset;           /* the zone has had one offset for long, and keeps it */
    int64_t offset_s;          /* that, seconds east of UTC */
};

struct my_side { /* a connection that is not in use */
    MYSQL *db;
    uint64_t generation;
    int64_t used_ms;
};

/* The connection that waits for XXL-JOB's lock row: see my_lock.c. */
struct my_lock {
    struct my_side other; /* it, or while that is in use the usual one */
    bool in_use;          /* the lock's connection is */
    bool asked, held;     /* its row has been asked for; it is had */
    bool wanted;          /* for the transaction that begins next */
    int64_t told_ms;      /* boot time when the log was last told that it is not to be had; 0 */
};

struct mydb {
    struct sql sql;
    struct sql_driver driver; /* with the formats of this handle's zone */
    char ms_of[MY_FORMAT_SIZE], time_of[MY_FORMAT_SIZE];
    struct db_url url;
    char name[512]; /* for people */
    int host;       /* of the connection: index into url.hosts */
    bool read_only;
    bool beats;                     /* a further handle of a life, which must not wait for long */
    const struct mysql_zone *adopt; /* XXL-JOB's tables get ours beside them; NULL: they may not */
    struct my_adopted adopted;

    MYSQL *db;           /* NULL: there is no connection */
    uint64_t generation; /* of the connection: statements of another one are prepared again */
    struct my_lock lock;
    bool maria;
    char account[400];  /* that the server takes us for, 'USER'@'HOST'; empty: not known */
    int64_t used_ms;    /* boot time of the last answer */
    int64_t checked_ms; /* and of the last look whether the server takes writes */

    bool in_transaction, in_page;
    bool plan_locked;    /* this transaction keeps Java admins from scanning */
    int64_t page_end_ms; /* boot time; 0: none */
    enum err lost;       /* the transaction cannot be committed any more, and why */
    char lost_text[512];
    int64_t spanned_ms; /* boot time of the last look at log rows of Java admins */
    int64_t
        blocker_ms; /* boot time when the log was last told which session held a lock; 0: never */
    int64_t changes, inserted; /* of the statement that ran last */
    int64_t id_step;           /* between the ids that the server gives to rows of one INSERT */

    struct my_counts now, begun, saved;
    struct my_span known[MY_SPANS]; /* committed, of a shared database; first_id 0: none */
    bool has_saved;

    char *live_insert[MY_SIZES], *log_insert[MY_SIZES]; /* texts, composed at first use */
    char *due_update[MY_CHANGE_SIZES];
    char *live_update[8][MY_CHANGE_SIZES], *live_delete[MY_SIZES], *live_find[MY_SIZES];
    char *log_update[MY_CHANGE_MASKS][MY_CHANGE_SIZES], *log_delete[MY_SIZES];
};

static inline struct mydb *my_of(struct store *s)
{
    return (struct mydb *)s;
}

/* ---- my_error.c ------------------------------------------------------------------------------ */

/* The class of an error of the server, or of the library. */
enum err my_class(unsigned code);
#define MY_NOT_READY 1047 /* a server of a Galera cluster says so to each statement */
#define MY_COMMIT_FAILED 1180
bool my_gone(unsigned code); /* the connection is no more, or of no use */
enum err my_fail(struct mydb *s, unsigned code, const char *text, struct why *why);

/* ---- my_connect.c ---------------------------------------------------------------------------- */

/* A connection that works, or has worked a moment ago. Not within a transaction. */
MUST_CHECK enum err my_ready(struct mydb *s, struct why *why);
void my_disconnect(struct mydb *s);
/* A statement without parameters and rows. Within a transaction it fails without a connection. */
MUST_CHECK enum err my_exec(struct mydb *s, const char *text, struct why *why);

/* ---- my_blocker.c ---------------------------------------------------------------------------- */

#define MY_BLOCKER_EVERY_MS 60000
/* The log names the session that has most likely held a lock that was not to be had, once in that
 * time. Not within a transaction; asks the server once. */
void my_blocker_tell(struct mydb *s);

/* ---- my_driver.c ----------------------------------------------------------------------------- */

extern const struct sql_driver my_driver; /* without the formats of a zone */

/* ---- my_migrate.c ---------------------------------------------------------------------------- */

MUST_CHECK enum err my_migrate(struct mydb *s, struct why *why);
/* Is the schema there? For handles that may not create it. */
MUST_CHECK enum err my_schema_check(struct mydb *s, struct why *why);

/* ---- my_adopt.c ------------------------------------------------------------------------------ */

/* Marks the database as one of XXL-JOB's that Peal works on in place. Under the migrations' lock.
 * ours: there are tables of Peal; ERR_INVALID where they are not beside XXL-JOB's. */
MUST_CHECK enum err my_adopt_mark(struct mydb *s, bool ours, struct why *why);
/* Is it one? Fills s->adopted, and the formats and texts that depend on it. */
MUST_CHECK enum err my_adopted_read(struct mydb *s, struct why *why);
/* text with the names that this layout has for columns; owned. NULL: it stays. */
char *my_adopted_text(const struct mydb *s, const char *text);
/* Which ids the log rows have that Java admins have written since. Not within a transaction. */
MUST_CHECK enum err my_adopted_spans(struct mydb *s, struct why *why);
/* The same within a transaction, of what has come since; looks every few seconds only. */
MUST_CHECK enum err my_adopted_spans_more(struct mydb *s, struct why *why);
/* Java admins have no job to fire from here on; what they have changed since my_adopted_give holds.
 * ERR_BUSY: one is at work. By the handle that has joined. */
MUST_CHECK enum err my_adopted_take(struct mydb *s, struct why *why);
/* They go on where Peal stands. *ret_n: how many jobs. */
MUST_CHECK enum err my_adopted_give(struct mydb *s, int64_t *ret_n, struct why *why);

/* A scheduled time that no Java admin looks at: 2100-01-01. */
#define MY_PARKED "4102444800000"
/* A condition of i (xxl_job_info) and p (peal_job): a job that XXL-JOB can schedule. The others
 * stay parked. */
#define MY_JAVA_KNOWS                                                                              \
    "(i.schedule_type IN ('CRON', 'FIX_RATE') AND (i.schedule_type = 'CRON' OR i.schedule_conf "   \
    "REGEXP '^[0-9]+$') AND coalesce(p.zone, '') = '')"

/* ---- my_lock.c ------------------------------------------------------------------------------- */

#define MY_SCHEDULE_LOCK                                                                           \
    "SELECT 1 FROM xxl_job_lock WHERE lock_name = 'schedule_lock' LOCK IN SHARE MODE"

/* See struct store_txn. */
enum err my_plan_lock(struct store *s, int wait_ms, bool *ret_have, struct why *why);
/* A transaction begins. True: it has begun with the lock. */
bool my_lock_begun(struct mydb *s);
/* The transaction is over, and with it the lock. */
void my_lock_over(struct mydb *s);
/* Says that the lock row is missing: ERR_INVALID. */
enum err my_schedule_lock_lost(struct mydb *s, struct why *why);
/* It is asked for no longer, and not had: the connection is closed. */
void my_lock_drop(struct mydb *s);

/* ---- my_beside.c ----------------------------------------------------------------------------- */

/* These are of a handle with adopted.beside, and within a transaction but for the first one. Errors
 * are those of statements, and ERR_BUSY where a Java admin has scanned for too long. */

/* A life begins beside Java admins, once it has joined: which jobs there are, and where they stand.
 * ERR_INVALID: the lock row is missing. */
MUST_CHECK enum err my_beside_begin(struct mydb *s, struct why *why);
/* No Java admin scans from here to the end of the transaction. */
MUST_CHECK enum err my_beside_lock(struct mydb *s, struct why *why);
/* store_runs.due_take, by XXL-JOB's columns. The next one is always said to be behind until_ms:
 * what a Java admin does meanwhile is not known. */
MUST_CHECK enum err my_beside_take(struct mydb *s, int64_t from_ms, int64_t until_ms, int max,
                                   struct due_row *rows, int *ret_n, int64_t *ret_next_ms,
                                   struct why *why);
/* What peal_due says of these jobs is written to XXL-JOB's columns, of those that run. */
MUST_CHECK enum err my_beside_put(struct mydb *s, const struct due_row *rows, int n,
                                  struct why *why);
/* peal_due says where every job stands, as XXL-JOB's columns do. */
MUST_CHECK enum err my_beside_sync(struct mydb *s, struct why *why);

/* store_pages.runs_ended; of a handle for pages. */
enum err my_runs_ended(struct store *s, run_ended_fn *fn, void *ctx, struct why *why);

/* The functions of store_catalog that write jobs, on any handle. */
enum err my_job_insert(struct store *store, struct job_record *r, struct why *why);
enum err my_job_update(struct store *store, const struct job_record *r, struct why *why);
enum err my_jobs_stop(struct store *store, const struct job_stop *stops, int n, int64_t now_ms,
                      struct why *why);

/* ---- my_ledger.c ----------------------------------------------------------------------------- */

extern const int my_sizes[MY_SIZES];
/* The largest of the first count sizes that n rows fill: its index. */
int my_size_of(int n, int count);

/* Where log ids go on. */
MUST_CHECK enum err my_ledger_open(struct mydb *s, struct why *why);
MUST_CHECK enum err my_ids_skip(struct sql *sql, bool done, struct why *why); /* of the driver */
void my_ledger_close(struct mydb *s);
/* What is written at a transaction's end besides the row of the epoch. */
MUST_CHECK enum err my_ledger_flush(struct mydb *s, struct why *why);
/* It has been committed. */
void my_ledger_committed(struct mydb *s);
enum err my_due_take(struct store *s, int64_t from_ms, int64_t until_ms, int max,
                     struct due_row *rows, int *ret_n, int64_t *ret_next_ms, struct why *why);
enum err my_due_put(struct store *s, const struct due_row *rows, int n, struct why *why);
enum err my_due_each(struct store *s, bool rate, int64_t after_id, int max, struct due_row *rows,
                     int *ret_n, struct why *why);
enum err my_runs_add(struct store *s, struct run_row *rows, int n, struct why *why);

/* ---- my_change.c ----------------------------------------------------------------------------- */

enum err my_runs_change(struct store *s, struct run_change *changes, int n, int64_t *ret_missed,
                        struct why *why);

/* ---- my_logs.c ------------------------------------------------------------------------------- */

enum err my_last_fired(struct sql *s, int64_t job_id, int64_t now_ms, int64_t *ret_ms,
                       struct why *why);
enum err my_logs_page(struct store *s, const struct logs_filter *f, log_row_fn *fn, void *ctx,
                      int64_t *ret_total, struct why *why);
enum err my_facts(struct store *s, struct store_facts *ret, struct why *why);

#endif
