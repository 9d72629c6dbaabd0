/* SPDX-License-Identifier: Apache-2.0 */
/* The test of a database server: one function a check, on the handles that a server of Peal has,
 * with its sessions' settings. Each check leaves both connections without a transaction. */
#include "store/selftest.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/sql/clock.h"
#include "store/sql/releases.h"
#include "store/sql/selftest.h"
#include "store/sql/sql.h"
#include "store/url.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE "peal_selftest_rows"
#define LARGE (1024 * 1024) /* bytes of a text in one statement */
#define SKEW_MS 250         /* between the clocks, from which on it is worth a word */

struct selftest {
    struct sql *a, *b; /* two connections */
    const struct sql_selftest *own;
    bool left; /* an earlier test's table, which this user may not drop */
    char remark[300];
};

/* ---- statements ------------------------------------------------------------------------------ */

/* The first column of the first row, with ?1 = v; -1: there is none. */
static enum err number(struct sql *s, const char *text, int64_t v, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query_once(s, text, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, v);
    err = sql_one(q, -1, ret, why);
    sql_query_end(q);
    return err;
}

/* A statement without rows, with ?1 = v; ret (may be NULL): rows that it found. */
static enum err change(struct sql *s, const char *text, int64_t v, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    int64_t rows = 0;
    enum err err = sql_query_once(s, text, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, v);
    err = sql_change(q, &rows, why);
    sql_query_end(q);
    if (ret)
        *ret = rows;
    return err;
}

static enum err row_add(struct sql *s, int64_t batch, int64_t *ret_id, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query_once(s, "INSERT INTO " TABLE " (batch) VALUES (?1)", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, batch);
    err = sql_insert(q, ret_id, why);
    sql_query_end(q);
    return err;
}

static enum err rows_of(struct sql *s, int64_t batch, int64_t *ret, struct why *why)
{
    return number(s, "SELECT count(*) FROM " TABLE " WHERE batch = ?1", batch, ret, why);
}

static enum err begin(struct sql *s, struct why *why)
{
    return s->store.ops->txn->begin(&s->store, why);
}

static enum err commit(struct sql *s, struct why *why)
{
    return s->store.ops->txn->commit(&s->store, NULL, why);
}

static void rollback(struct sql *s)
{
    s->store.ops->txn->rollback(&s->store);
}

/* The server did what it was told, but not as Peal needs it. */
static enum err unlike(const char *text, struct why *why)
{
    why_set(why, "%s", text);
    return ERR_INVALID;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static enum err try_tables(struct selftest *t, struct why *why)
{
    struct why denied = { "" };
    enum err err = t->own->rights ? t->own->rights(t->a, why) : OK;
    if (!err)
        t->left = change(t->a, "DROP TABLE IF EXISTS " TABLE, 0, NULL, &denied) == ERR_INVALID;
    if (!err)
        err = change(t->a, t->own->create, 0, NULL, why);
    if (!err)
        err = change(t->a, t->own->alter, 0, NULL, why);
    if (err)
        return err;
    err = change(t->a, "CREATE INDEX peal_selftest_batch ON " TABLE " (batch)", 0, NULL, &denied);
    if (!err || (t->left && (err == ERR_STORE || err == ERR_EXISTS))) /* it is there already */
        return OK;
    why_set(why, "%s", denied.text);
    return err;
}

static enum err try_rows(struct selftest *t, struct why *why)
{
    int64_t id = 0, n = 0, changed = 0, same = 0, gone = 0;
    enum err err = row_add(t->a, 1, &id, why);
    if (!err)
        err = rows_of(t->b, 1, &n, why);
    if (!err)
        err = change(t->b, "UPDATE " TABLE " SET batch = 2 WHERE id = ?1", id, &changed, why);
    if (!err)
        err = change(t->b, "UPDATE " TABLE " SET batch = 2 WHERE id = ?1", id, &same, why);
    if (!err)
        err = change(t->a, "DELETE FROM " TABLE " WHERE id = ?1", id, &gone, why);
    if (!err && (n != 1 || changed != 1 || same != 1 || gone != 1))
        return unlike("a row that one connection has written is not what the other one reads and "
                      "changes: name one server, not a pool that spreads reads",
                      why);
    return err;
}

static enum err try_ids(struct selftest *t, struct why *why)
{
    int64_t first = 0, second = 0, found = 0;
    enum err err = row_add(t->a, 3, &first, why);
    if (!err)
        err = row_add(t->a, 3, &second, why);
    if (!err)
        err = number(t->b, "SELECT batch FROM " TABLE " WHERE id = ?1", second, &found, why);
    if (!err && (first <= 0 || second <= first || found != 3))
        return unlike("the server does not tell the id of a row that was added: connect to it "
                      "without a proxy that shares connections between statements",
                      why);
    return err;
}

static enum err try_undo(struct selftest *t, struct why *why)
{
    const struct store_txn *ops = t->a->store.ops->txn;
    int64_t id, undone = 0, kept = 0;
    enum err err = begin(t->a, why);
    if (!err)
        err = row_add(t->a, 4, &id, why);
    rollback(t->a);
    if (!err)
        err = begin(t->a, why);
    if (!err)
        err = row_add(t->a, 5, &id, why);
    if (!err)
        err = ops->savepoint(&t->a->store, why);
    if (!err)
        err = row_add(t->a, 4, &id, why);
    if (!err)
        err = ops->savepoint_undo(&t->a->store, why);
    if (!err)
        err = commit(t->a, why);
    rollback(t->a);
    if (!err)
        err = rows_of(t->b, 4, &undone, why);
    if (!err)
        err = rows_of(t->b, 5, &kept, why);
    if (!err && (undone || kept != 1))
        return unlike("a rollback does not undo what its transaction wrote: the tables need an "
                      "engine with transactions (InnoDB), and each session a connection of its own",
                      why);
    return err;
}

static enum err try_isolation(struct selftest *t, struct why *why)
{
    int64_t id, before = -1, open = -1, after = -1;
    enum err err = begin(t->a, why);
    if (!err)
        err = begin(t->b, why);
    if (!err)
        err = rows_of(t->a, 6, &before, why);
    if (!err)
        err = row_add(t->b, 6, &id, why);
    if (!err)
        err = rows_of(t->a, 6, &open, why);
    if (!err)
        err = commit(t->b, why);
    if (!err)
        err = rows_of(t->a, 6, &after, why);
    rollback(t->a);
    rollback(t->b);
    if (!err && (before || open || after != 1))
        return unlike("sessions are not READ COMMITTED, which Peal sets: let nothing between Peal "
                      "and the server (a proxy, init_connect) set another isolation",
                      why);
    return err;
}

static enum err try_skip_locked(struct selftest *t, struct why *why)
{
    int64_t first = 0, second = 0, mine = 0, other = 0;
    enum err err = row_add(t->a, 7, &first, why);
    if (!err)
        err = row_add(t->a, 7, &second, why);
    if (!err)
        err = begin(t->a, why);
    if (!err)
        err = begin(t->b, why);
    if (!err)
        err = number(t->a, "SELECT id FROM " TABLE " WHERE id = ?1 FOR UPDATE", first, &mine, why);
    if (!err)
        err = number(t->b,
                     "SELECT id FROM " TABLE " WHERE id >= ?1 ORDER BY id LIMIT 1 FOR UPDATE "
                     "SKIP LOCKED",
                     first, &other, why);
    rollback(t->a);
    rollback(t->b);
    if (!err && (mine != first || other != second))
        return unlike("FOR UPDATE SKIP LOCKED does not pass over a row that another session has "
                      "locked: MariaDB 10.6, MySQL 8.0 or PostgreSQL 15 is needed",
                      why);
    return err;
}

/* A row that another session holds is given up after 2 s. */
static enum err try_lock_wait(struct selftest *t, struct why *why)
{
    struct why told = { "" };
    int64_t id = 0;
    enum err err = row_add(t->a, 8, &id, why), waited = OK;
    if (!err)
        err = begin(t->a, why);
    if (!err)
        err = begin(t->b, why);
    if (!err)
        err = change(t->a, "UPDATE " TABLE " SET batch = 9 WHERE id = ?1", id, NULL, why);
    if (!err)
        waited = change(t->b, "UPDATE " TABLE " SET batch = 10 WHERE id = ?1", id, NULL, &told);
    rollback(t->b);
    rollback(t->a);
    if (!err && waited != ERR_BUSY)
        return unlike("a locked row is not given up after 2 s (innodb_lock_wait_timeout, "
                      "lock_timeout), which Peal sets for its sessions",
                      why);
    return err;
}

/* The fence of Peal's commits. */
static enum err try_compare_and_set(struct selftest *t, struct why *why)
{
    static const char text[] =
        "UPDATE " TABLE " SET batch = batch + 1 WHERE id = ?1 AND batch = 11";
    int64_t id = 0, first = 0, again = 0;
    enum err err = row_add(t->a, 11, &id, why);
    if (!err)
        err = change(t->a, text, id, &first, why);
    if (!err)
        err = change(t->b, text, id, &again, why);
    if (!err && (first != 1 || again != 0))
        return unlike("a conditional UPDATE does not say how many rows it found", why);
    return err;
}

/* Migrations keep each other off by such a lock. */
static enum err try_named_lock(struct selftest *t, struct why *why)
{
    int64_t mine = 0, other = 1, back = 0;
    enum err err = number(t->a, t->own->locks, 0, &mine, why);
    if (!err)
        err = number(t->b, t->own->locks, 0, &other, why);
    if (!err)
        err = number(t->a, t->own->unlocks, 0, &back, why);
    if (!err && (mine != 1 || other != 0 || back != 1))
        return unlike("a lock with a name (get_lock, pg_advisory_lock) does not belong to one "
                      "session: another test runs, or a proxy shares sessions between clients",
                      why);
    return err;
}

static enum err try_times(struct selftest *t, struct why *why)
{
    const int64_t moment_ms = INT64_C(1767225599987); /* 2025-12-31T23:59:59.987Z */
    int64_t id = 0, found = 0;
    enum err err = row_add(t->a, 12, &id, why);
    if (!err)
        err = change(t->a, "UPDATE " TABLE " SET moment = {time ?1} WHERE batch = 12", moment_ms,
                     NULL, why);
    if (!err)
        err = number(t->b, "SELECT {ms moment} FROM " TABLE " WHERE id = ?1", id, &found, why);
    if (!err && found != moment_ms)
        return unlike("a time does not come back to the millisecond", why);
    return err;
}

static enum err try_clock(struct selftest *t, struct why *why)
{
    int64_t apart_ms = 0;
    enum err err = sql_clock_apart(t->a, &apart_ms, why);
    int64_t ms = apart_ms < 0 ? -apart_ms : apart_ms;
    if (!err && ms > SKEW_MS)
        snprintf(t->remark, sizeof(t->remark),
                 "the server's clock is %" PRId64 " ms %s this machine's: set both by NTP; "
                 "schedules follow this machine's",
                 ms, apart_ms < 0 ? "behind" : "before");
    return err;
}

static enum err word_add(struct sql *s, const char *word, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query_once(s, "INSERT INTO " TABLE " (batch, word) VALUES (13, ?1)", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, word);
    err = sql_do(q, why);
    sql_query_end(q);
    return err;
}

static enum err try_collation(struct selftest *t, struct why *why)
{
    static const char *const words[] = { "Job", "job", "jöb", "任务", "任務🕐" };
    struct why told = { "" };
    enum err err = OK;
    for (size_t i = 0; !err && i < countof(words); i++)
        err = word_add(t->a, words[i], &told);
    if (err)
        why_set(why,
                "texts that differ in case, accents or beyond the basic plane are not kept apart: "
                "%s",
                told.text);
    return err;
}

static enum err try_cluster(struct selftest *t, struct why *why)
{
    return t->own->cluster ? t->own->cluster(t->a, t->remark, sizeof(t->remark), why) : OK;
}

/* Bytes of all values, and a text of LARGE bytes; both are read again by the other connection. */
static enum err values_compare(struct selftest *t, struct slice bytes, struct slice text,
                               struct why *why)
{
    struct sql_query *q;
    bool row = false, same = false;
    enum err err =
        sql_query_once(t->b, "SELECT packed, body FROM " TABLE " WHERE batch = 14", &q, why);
    if (err)
        return err;
    err = sql_next(q, &row, why);
    if (!err && row) {
        struct slice got = sql_blob(q, 0);
        same = got.n == bytes.n && memcmp(got.p, bytes.p, got.n) == 0;
        char *body = sql_text(q, 1);
        same = same && body && slice_eq(text, body);
        free(body);
    }
    sql_query_end(q);
    if (!err && !same)
        return unlike("bytes or a long text do not come back as they were written", why);
    return err;
}

static enum err try_values(struct selftest *t, struct why *why)
{
    struct sql_query *q;
    char bytes[256], *body = mem_new(LARGE + 1);
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    memset(body, 'x', LARGE);
    enum err err = sql_query_once(
        t->a, "INSERT INTO " TABLE " (batch, packed, body) VALUES (14, ?1, ?2)", &q, why);
    if (!err) {
        sql_bind_blob(q, 1, slice_of(bytes, sizeof(bytes)));
        sql_bind_text(q, 2, body);
        err = sql_do(q, why);
        sql_query_end(q);
    }
    if (!err)
        err = values_compare(t, slice_of(bytes, sizeof(bytes)), slice_of(body, LARGE), why);
    free(body);
    return err;
}

/* The transaction of a session that the server has ended must not be committed, and the next one
 * begins on a new connection. */
static enum err try_lost_session(struct selftest *t, struct why *why)
{
    struct why told = { "" };
    char text[100];
    int64_t id, session = 0, left = -1;
    enum err err = begin(t->a, why), lost = OK;
    if (!err)
        err = row_add(t->a, 15, &id, why);
    if (!err)
        err = number(t->a, t->own->session, 0, &session, why);
    if (!err) {
        snprintf(text, sizeof(text), t->own->end, (long long)session);
        err = number(t->b, text, 0, &id, why);
    }
    if (!err)
        lost = commit(t->a, &told);
    rollback(t->a);
    if (!err && !lost)
        return unlike("a session that was ended went on: connect without a proxy that repeats "
                      "statements",
                      why);
    if (!err)
        err = begin(t->a, why);
    if (!err)
        err = rows_of(t->a, 15, &left, why);
    rollback(t->a);
    if (!err && left)
        return unlike("the transaction of a session that was ended has been committed", why);
    return err;
}

static enum err try_drop(struct selftest *t, struct why *why)
{
    struct why denied = { "" };
    enum err err = change(t->a, "DROP TABLE " TABLE, 0, NULL, &denied);
    if (err != ERR_INVALID) {
        if (err)
            why_set(why, "%s", denied.text);
        return err;
    }
    err = change(t->a, "DELETE FROM " TABLE, 0, NULL, why);
    snprintf(t->remark, sizeof(t->remark),
             "this user may not drop tables, which Peal does not need; the empty table stays. An "
             "administrator drops it with: DROP TABLE " TABLE);
    return err;
}

static enum err try_releases(struct selftest *t, struct why *why)
{
    return sql_releases_check(t->a, t->remark, sizeof(t->remark), why);
}

/* needed: the checks after it but the last one cannot be made without it. certified: only where
 * commits are. */
static const struct {
    const char *name;
    enum err (*run)(struct selftest *t, struct why *why);
    bool needed, certified;
} checks[] = {
    { "Galera", try_cluster, false, true },
    { "tables", try_tables, true, false },
    { "rows", try_rows, true, false },
    { "generated ids", try_ids, true, false },
    { "rollback and savepoint", try_undo, false, false },
    { "read committed", try_isolation, false, false },
    { "skip locked", try_skip_locked, false, false },
    { "lock wait", try_lock_wait, false, false },
    { "compare and set", try_compare_and_set, false, false },
    { "named lock", try_named_lock, false, false },
    { "times", try_times, false, false },
    { "clock", try_clock, false, false },
    { "collation", try_collation, false, false },
    { "bytes and long texts", try_values, false, false },
    { "lost session", try_lost_session, false, false },
    { "releases", try_releases, false, false },
    { "drop", try_drop, false, false },
};

/* ---- all of them ----------------------------------------------------------------------------- */

static void tell(struct selftest_result *r, selftest_fn *fn, void *ctx, const char *name,
                 enum err err, const char *said)
{
    r->checks++;
    r->failed += err != OK;
    fn(ctx, name, !err, err && !said[0] ? err_text(err) : said);
}

static void run_all(struct selftest *t, selftest_fn *fn, void *ctx, struct selftest_result *r)
{
    bool possible = true, made = false;
    for (size_t i = 0; i < countof(checks); i++) {
        struct why why = { "" };
        bool last = i + 1 == countof(checks);
        if ((last ? !made : !possible) || (checks[i].certified && !t->a->certified))
            continue;
        t->remark[0] = '\0';
        enum err err = checks[i].run(t, &why);
        rollback(t->a);
        rollback(t->b);
        made = made || (!err && !checks[i].certified);
        possible = possible && !(err && checks[i].needed);
        tell(r, fn, ctx, checks[i].name, err, err ? why.text : t->remark);
    }
}

static enum err server_name(struct sql *s, char *to, size_t size, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query_once(s, "SELECT version()", &q, why);
    if (err)
        return err;
    err = sql_next(q, &row, why);
    if (!err && row)
        sql_text_copy(q, 0, to, size);
    sql_query_end(q);
    return err;
}

enum err store_selftest(const char *url, selftest_fn *fn, void *ctx, struct selftest_result *ret,
                        struct why *why)
{
    static const struct store_options options = { .bulk = STORE_BULK_BARE };
    struct store *a = NULL, *b = NULL;
    struct db_url u;
    *ret = (struct selftest_result){ .checks = 0 };
    if (!db_url_is(url)) {
        why_set(why, "the test is for a database server: --db mysql://… or postgres://…");
        return ERR_INVALID;
    }
    enum err err = db_url_parse(url, &u, why);
    if (err)
        return err;
    db_url_wipe(&u);
    struct why refused = { "" };
    err = store_open(url, &options, &a, &refused);
    if (!err)
        err = store_open(url, &options, &b, &refused);
    if (!err)
        err = server_name(sql_of(a), ret->server, sizeof(ret->server), &refused);
    tell(ret, fn, ctx, "connect", err, refused.text);
    if (!err) {
        struct selftest t = { .a = sql_of(a), .b = sql_of(b) };
        t.own = t.a->driver->selftest;
        run_all(&t, fn, ctx, ret);
    }
    store_close(b);
    store_close(a);
    return OK;
}
