/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger on MySQL and MariaDB: what every firing costs stands in this file and in my_change.c.
 *
 * Rows go to the server in statements of 1,000, 100, 10 and 1 rows, the largest first, each
 * prepared once. There is one writer, so log ids are counted here and given with the rows: live row
 * and log row need no answer of the other, and a transaction that is rolled back gives its ids
 * again. The column is AUTO_INCREMENT all the same: an id that is given raises what the server
 * would give next, and at start that is where ids go on.
 *
 * XXL-JOB's own tables are another matter: a Java admin may insert log rows at any time; and so may
 * other servers of Peal where they share the database. There the server gives the ids, so log rows
 * go first. MariaDB says them: what lies between two changes on a Galera cluster whenever a server
 * joins or leaves it. MySQL says the first one, and all rows of one statement have ids with the
 * same distance: the server knows their number before it begins, and takes that many at once. */
#include "base/mem.h"
#include "store/mysql/my_db.h"
#include "store/shared.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM (1024 * 1024)
#define LOG_ROW_MAX 96
#define SPAN_IDS 4096 /* by so many ids the end of a span moves where there are several servers */

const int my_sizes[MY_SIZES] = { 1, 10, 100, 1000 };

int my_size_of(int n, int count)
{
    int i = count - 1;
    while (my_sizes[i] > n)
        i--;
    return i;
}

/* ---- planning -------------------------------------------------------------------------------- */

static void due_read(struct sql_query *q, struct due_row *ret)
{
    ret->job_id = sql_i64(q, 0, 0);
    ret->next_ms = sql_i64(q, 1, NEVER_MS);
    ret->last_ms = sql_i64(q, 2, 0);
    ret->planned_until_ms = sql_i64(q, 3, 0);
    ret->version = sql_i64(q, 4, 0);
    ret->home = 0;
}

/* The earliest next_ms behind that one, and behind that job among those of the same time. */
static enum err due_behind(struct mydb *s, int64_t ms, int64_t job_id, int64_t *ret,
                           struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(&s->sql,
                  s->sql.homed ? "SELECT next_ms FROM peal_due FORCE INDEX (i_due_home) WHERE "
                                 "home = ?3 AND next_ms >= ?1 AND (next_ms > ?1 OR job_id > ?2) "
                                 "ORDER BY next_ms, job_id LIMIT 1"
                               : "SELECT next_ms FROM peal_due FORCE INDEX (i_due_next) WHERE "
                                 "next_ms >= ?1 AND (next_ms > ?1 OR job_id > ?2) "
                                 "ORDER BY next_ms, job_id LIMIT 1",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, ms);
    sql_bind_i64(q, 2, job_id);
    if (s->sql.homed)
        sql_bind_i64(q, 3, s->sql.home);
    return sql_one(q, NEVER_MS, ret, why);
}

/* Where most jobs are due, the server would rather sort the whole table than go by the index. */
#define TAKEN(index)                                                                               \
    "SELECT job_id, next_ms, last_ms, planned_until_ms, version FROM peal_due FORCE INDEX "        \
    "(" index ") WHERE "
#define DUE "next_ms BETWEEN ?1 AND ?2 ORDER BY next_ms, job_id LIMIT ?3 FOR UPDATE SKIP LOCKED"

/* Behind the n rows that are there. The text has the home as well, if the handle goes by homes. */
static enum err take(struct mydb *s, const char *text, int64_t from_ms, int64_t until_ms, int max,
                     struct due_row *rows, int *n, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(&s->sql, text, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, from_ms);
    sql_bind_i64(q, 2, until_ms);
    sql_bind_i64(q, 3, max - *n);
    if (s->sql.homed)
        sql_bind_i64(q, 4, s->sql.home);
    for (bool row = true; row;) {
        err = sql_next(q, &row, why);
        if (err)
            return err;
        if (row)
            due_read(q, &rows[(*n)++]);
    }
    return OK;
}

/* What other homes have left, by the index of all: there is nothing while all is well. */
static enum err take_others(struct mydb *s, int64_t from_ms, int64_t until_ms, int max,
                            struct due_row *rows, int *n, struct why *why)
{
    if (until_ms > s->sql.claim_ms)
        until_ms = s->sql.claim_ms;
    if (!s->sql.homed || *n >= max || until_ms < from_ms)
        return OK;
    return take(s, TAKEN("i_due_next") "home <> ?4 AND " DUE, from_ms, until_ms, max, rows, n, why);
}

enum err my_due_take(struct store *store, int64_t from_ms, int64_t until_ms, int max,
                     struct due_row *rows, int *ret_n, int64_t *ret_next_ms, struct why *why)
{
    struct mydb *s = my_of(store);
    if (s->adopted.beside && s->in_transaction)
        return my_beside_take(s, from_ms, until_ms, max, rows, ret_n, ret_next_ms, why);
    int n = 0;
    int64_t next_ms = NEVER_MS;
    enum err err =
        take(s, s->sql.homed ? TAKEN("i_due_home") "home = ?4 AND " DUE : TAKEN("i_due_next") DUE,
             from_ms, until_ms, max, rows, &n, why);
    if (!err && n > 0 && n == max)
        err = due_behind(s, rows[n - 1].next_ms, rows[n - 1].job_id, &next_ms, why);
    else if (!err)
        err = due_behind(s, max > 0 ? until_ms : from_ms, max > 0 ? INT64_MAX : INT64_MIN, &next_ms,
                         why);
    if (!err)
        err = take_others(s, from_ms, until_ms, max, rows, &n, why);
    if (err)
        return err;
    *ret_n = n;
    *ret_next_ms = next_ms;
    return OK;
}

static void write_case(struct buf *text, int n, int of, int each, int value)
{
    buf_text(text, "CASE job_id");
    for (int i = 0; i < n; i++)
        buf_printf(text, " WHEN ?%d THEN ?%d", i * each + of, i * each + value);
    buf_text(text, " END");
}

#define DUE_COLUMNS 5 /* job_id first, home last */

/* Columns are set from left to right: before_ms reads last_ms as it was. A handle goes by homes
 * from its first transaction on, or never. */
static const char *due_text(struct mydb *s, int size)
{
    if (!s->due_update[size]) {
        struct buf text = BUF_INIT(TEXT_ROOM);
        int n = my_sizes[size], each = DUE_COLUMNS - !s->sql.homed;
        buf_text(&text, "UPDATE peal_due SET before_ms = CASE WHEN last_ms < ");
        write_case(&text, n, 1, each, 3);
        buf_text(&text, " THEN last_ms ELSE before_ms END, next_ms = ");
        write_case(&text, n, 1, each, 2);
        buf_text(&text, ", last_ms = ");
        write_case(&text, n, 1, each, 3);
        buf_text(&text, ", planned_until_ms = ");
        write_case(&text, n, 1, each, 4);
        buf_text(&text, ", home = ");
        if (s->sql.homed)
            write_case(&text, n, 1, each, 5);
        buf_text(&text, s->sql.homed ? " WHERE job_id IN (" : "0 WHERE job_id IN (");
        for (int i = 0; i < n; i++)
            buf_printf(&text, "%s?%d", i ? ", " : "", i * each + 1);
        buf_char(&text, ')');
        s->due_update[size] = buf_take(&text);
    }
    return s->due_update[size];
}

static void due_bind(const struct mydb *s, struct sql_query *q, int at, const struct due_row *r)
{
    sql_bind_i64(q, at + 1, r->job_id);
    sql_bind_unless(q, at + 2, r->next_ms, NEVER_MS);
    sql_bind_i64(q, at + 3, r->last_ms);
    sql_bind_i64(q, at + 4, r->planned_until_ms);
    if (s->sql.homed)
        sql_bind_i64(q, at + 5, r->home);
}

enum err my_due_put(struct store *store, const struct due_row *rows, int n, struct why *why)
{
    struct mydb *s = my_of(store);
    enum err err = OK;
    for (int done = 0; !err && done < n;) {
        int size = my_size_of(n - done, MY_CHANGE_SIZES);
        struct sql_query *q;
        err = sql_query(&s->sql, due_text(s, size), &q, why);
        for (int i = 0; !err && i < my_sizes[size]; i++)
            due_bind(s, q, i * (DUE_COLUMNS - !s->sql.homed), &rows[done + i]);
        if (!err)
            err = sql_do(q, why);
        done += my_sizes[size];
    }
    return err || !s->adopted.beside ? err : my_beside_put(s, rows, n, why);
}

enum err my_due_each(struct store *store, bool rate, int64_t after_id, int max,
                     struct due_row *rows, int *ret_n, struct why *why)
{
    struct mydb *s = my_of(store);
    enum err err = s->adopted.beside ? my_beside_sync(s, why) : OK;
    return err ? err : sql_due_each(store, rate, after_id, max, rows, ret_n, why);
}

/* ---- log ids --------------------------------------------------------------------------------- */

static enum err number(struct mydb *s, const char *text, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(&s->sql, text, &q, why);
    return err ? err : sql_one(q, 0, ret, why);
}

/* Behind every id that stands in a table, or that the server has seen. */
static enum err ids_behind(struct mydb *s, int64_t *ret, struct why *why)
{
    static const char *const texts[] = {
        "SELECT max(id) + 1 FROM xxl_job_log",
        "SELECT max(log_id) + 1 FROM peal_run",
    };
    int64_t next = 1;
    enum err err = OK;
    for (size_t i = 0; !err && i < countof(texts); i++) {
        int64_t here = 0;
        err = number(s, texts[i], &here, why);
        next = here > next ? here : next;
    }
    if (!err)
        *ret = next;
    return err;
}

#define LOG_IDS_GIVEN                                                                              \
    "SELECT auto_increment FROM information_schema.tables "                                        \
    "WHERE table_schema = database() AND table_name = 'xxl_job_log'"

enum err my_ledger_open(struct mydb *s, struct why *why)
{
    int64_t next = 1, seen = 0;
    enum err err = ids_behind(s, &next, why);
    if (!err)
        err = number(s, LOG_IDS_GIVEN, &seen, why);
    if (!err)
        s->now.log_id = seen > next ? seen : next;
    return err;
}

void my_ledger_close(struct mydb *s)
{
    char **const lists[] = { s->live_insert, s->log_insert, s->live_delete, s->live_find,
                             s->log_delete };
    for (size_t i = 0; i < countof(lists); i++)
        for (int k = 0; k < MY_SIZES; k++)
            free(lists[i][k]);
    for (int k = 0; k < MY_CHANGE_SIZES; k++) {
        free(s->due_update[k]);
        for (size_t i = 0; i < countof(s->live_update); i++)
            free(s->live_update[i][k]);
        for (size_t i = 0; i < countof(s->log_update); i++)
            free(s->log_update[i][k]);
    }
}

/* Another program has put rows under ids that we have not given yet: go on behind them. */
static enum err ids_step_over(struct mydb *s, struct why *why)
{
    int64_t next = 0;
    enum err err = ids_behind(s, &next, why);
    if (!err)
        s->now.log_id = next > s->now.log_id ? next : s->now.log_id + 1;
    return err;
}

/* What a row has been given is given, also where the row has gone. */
static enum err give(struct mydb *s, const char *insert, const char *drop, int64_t id,
                     struct why *why)
{
    enum err err = sql_change_by_id(&s->sql, insert, id, NULL, why);
    return err ? err : sql_change_by_id(&s->sql, drop, id, NULL, why);
}

/* The next log id that this handle gives, behind what the server has seen. */
static enum err ids_given(struct mydb *s, int64_t *ret, struct why *why)
{
    int64_t given = 0;
    enum err err = ids_behind(s, ret, why);
    if (!err)
        err = number(s, LOG_IDS_GIVEN, &given, why);
    *ret = given > *ret ? given : *ret;
    *ret = s->now.log_id > *ret ? s->now.log_id : *ret;
    return err;
}

enum err my_ids_skip(struct sql *sql, bool done, struct why *why)
{
    struct mydb *s = (struct mydb *)sql;
    int64_t next = 0, epoch = 0;
    enum err err = ids_given(s, &next, why);
    if (!err && !done)
        err = number(s, "SELECT max(epoch) FROM peal_epoch", &epoch, why);
    if (!err && !done)
        err = give(s,
                   "INSERT INTO xxl_job_log (id, job_group, job_id, trigger_code, handle_code) "
                   "VALUES (?1, 0, 0, 0, 0)",
                   "DELETE FROM xxl_job_log WHERE id = ?1", next + SQL_IDS_LOST, why);
    if (!err && !done)
        err = give(s, "INSERT INTO peal_epoch (epoch, ended) VALUES (?1, 1)",
                   "DELETE FROM peal_epoch WHERE epoch = ?1", epoch + SQL_EPOCHS_LOST, why);
    s->now.log_id = done ? next : next + SQL_IDS_LOST + 1;
    return err;
}

/* ---- spans: which ids a time can have -------------------------------------------------------- */

static enum err span_write(struct mydb *s, const struct my_span *span, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(&s->sql,
                             "INSERT INTO peal_log_span (slot, first_id, last_id) "
                             "VALUES (?1, ?2, ?3) ON DUPLICATE KEY UPDATE "
                             "first_id = least(first_id, ?2), last_id = greatest(last_id, ?3)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, span->slot);
    sql_bind_i64(q, 2, span->first_id);
    sql_bind_i64(q, 3, span->last_id);
    return sql_do(q, why);
}

/* Where several servers add log rows the row of a slot would be written by all of them all the
 * time, so it says more than there is, and is left alone until that is not enough. */
static bool span_known(const struct mydb *s, int64_t slot, int64_t id)
{
    for (int i = 0; i < MY_SPANS; i++)
        if (s->known[i].slot == slot && s->known[i].first_id)
            return s->known[i].first_id <= id && id <= s->known[i].last_id;
    return false;
}

/* After the commit. */
static void span_keep(struct mydb *s, const struct my_span *span)
{
    int at = 0;
    for (int i = 0; i < MY_SPANS; i++) {
        if (s->known[i].slot == span->slot)
            at = i;
        if (s->known[i].slot == span->slot)
            break;
        if (s->known[i].slot < s->known[at].slot)
            at = i;
    }
    s->known[at] = *span;
}

/* Ids only grow within a transaction, so widening is moving the end. */
static enum err span_note(struct mydb *s, int64_t trigger_ms, int64_t id, struct why *why)
{
    struct my_counts *c = &s->now;
    int64_t slot = sql_span_slot(trigger_ms);
    if (s->sql.shared && span_known(s, slot, id))
        return OK;
    int64_t last_id = s->sql.shared ? id | (SPAN_IDS - 1) : id;
    for (int i = c->nspans - 1; i >= 0; i--) {
        if (c->spans[i].slot == slot) {
            c->spans[i].last_id = last_id;
            return OK;
        }
    }
    enum err err = OK;
    if (c->nspans == MY_SPANS)
        err = span_write(s, &c->spans[--c->nspans], why);
    c->spans[c->nspans++] = (struct my_span){ slot, id, last_id };
    return err;
}

void my_ledger_committed(struct mydb *s)
{
    for (int i = 0; s->sql.shared && i < s->now.nspans; i++)
        span_keep(s, &s->now.spans[i]);
    s->now.nspans = 0;
}

enum err my_ledger_flush(struct mydb *s, struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < s->now.nspans; i++)
        err = span_write(s, &s->now.spans[i], why);
    return err;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* head, so many times row, with commas, tail. */
static const char *rows_text(char **texts, int size, const char *head, const char *row,
                             const char *tail)
{
    if (!texts[size]) {
        struct buf text = BUF_INIT(TEXT_ROOM);
        buf_text(&text, head);
        for (int i = 0; i < my_sizes[size]; i++)
            buf_printf(&text, "%s%s", i ? ", " : "", row);
        buf_text(&text, tail);
        texts[size] = buf_take(&text);
    }
    return texts[size];
}

/* The server counts log ids. */
static bool server_counts(const struct mydb *s)
{
    return s->adopted.is || s->sql.shared;
}

static int live_bind(struct mydb *s, struct sql_query *q, int i, const struct run_row *r)
{
    sql_bind_i64(q, i++, r->log_id);
    sql_bind_i64(q, i++, r->job_id);
    sql_bind_i64(q, i++, r->kind);
    sql_bind_i64(q, i++, r->scheduled_ms);
    sql_bind_i64(q, i++, r->shard);
    sql_bind_i64(q, i++, r->shard_total);
    sql_bind_i64(q, i++, r->attempt);
    sql_bind_i64(q, i++, r->cause);
    sql_bind_i64(q, i++, r->phase);
    sql_bind_i64(q, i++, r->doubted);
    sql_bind_i64(q, i++, r->broadcast);
    sql_bind_i64(q, i++, r->retries_left);
    sql_bind_i64(q, i++, r->due_ms);
    sql_bind_i64(q, i++, r->version);
    sql_bind_i64(q, i++, r->version); /* told */
    sql_bind_i64(q, i++, s->sql.node);
    sql_bind_i64(q, i++, s->sql.epoch);
    sql_bind_text(q, i++, r->address);
    sql_bind_text(q, i++, r->choices);
    return i;
}

/* A row that exists leaves the transaction usable: the statement alone is undone. */
static enum err insert(struct sql_query *q, bool *ret_exists, struct why *why)
{
    struct why exists = { "" };
    enum err err = sql_do(q, &exists);
    *ret_exists = err == ERR_EXISTS;
    if (*ret_exists)
        return OK;
    if (err)
        why_set(why, "%s", exists.text);
    return err;
}

/* Their log ids are in the rows. */
static enum err live_insert(struct mydb *s, const struct run_row *rows, int size, bool *ret_exists,
                            struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(
        &s->sql,
        rows_text(s->live_insert, size,
                  "INSERT INTO peal_run (log_id, job_id, kind, moment_ms, shard, shard_total, "
                  "attempt, cause, phase, doubted, broadcast, retries_left, due_ms, version, told, "
                  "node, epoch, address, choices) VALUES ",
                  "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ""),
        &q, why);
    if (err)
        return err;
    for (int i = 0, at = 1; i < my_sizes[size]; i++)
        at = live_bind(s, q, at, &rows[i]);
    return insert(q, ret_exists, why);
}

/* A parameter may be longer than an old release's column of the log; the run gets all of it. */
static const char *log_row_text(const struct mydb *s, char row[LOG_ROW_MAX])
{
    int64_t chars = s->adopted.is ? s->adopted.param_chars : INT16_MAX;
    if (chars >= INT16_MAX) /* a text: bounded by what a job may have */
        return "(?, ?, ?, ?, ?, ?, ?, ?, {time ?}, ?, 0, 0)";
    snprintf(row, LOG_ROW_MAX, "(?, ?, ?, ?, ?, left(?, %lld), ?, ?, {time ?}, ?, 0, 0)",
             (long long)chars);
    return row;
}

/* What the server says of the rows that it gave ids to. */
static enum err ids_read(struct mydb *s, struct sql_query *q, struct run_row *rows, int n,
                         struct why *why)
{
    bool row = true;
    int at = 0;
    if (!s->maria) {
        enum err err = sql_do(q, why);
        for (int64_t id = s->inserted; at < n; at++, id += s->id_step)
            rows[at].log_id = id;
        return err;
    }
    enum err err = sql_next(q, &row, why);
    while (!err && row) {
        if (at < n)
            rows[at].log_id = sql_i64(q, 0, 0);
        at++;
        err = sql_next(q, &row, why);
    }
    return err || at == n ? err : my_fail(s, 1105, "an INSERT says another number of rows", why);
}

/* With the ids of the rows, or such as the server gives. */
static enum err log_insert(struct mydb *s, struct run_row *rows, int size, bool *ret_exists,
                           struct why *why)
{
    char row[LOG_ROW_MAX];
    struct sql_query *q;
    bool given = server_counts(s);
    *ret_exists = false;
    enum err err =
        sql_query(&s->sql,
                  rows_text(s->log_insert, size,
                            "INSERT INTO xxl_job_log (id, job_group, job_id, executor_address, "
                            "executor_handler, executor_param, executor_sharding_param, "
                            "executor_fail_retry_count, trigger_time, trigger_msg, trigger_code, "
                            "handle_code) VALUES ",
                            log_row_text(s, row), given && s->maria ? " RETURNING id" : ""),
                  &q, why);
    if (err)
        return err;
    char(*sharding)[24] = mem_new((size_t)my_sizes[size] * sizeof(*sharding));
    for (int i = 0, at = 1; i < my_sizes[size]; i++) {
        const struct run_row *r = &rows[i];
        sql_bind_unless(q, at++, given ? 0 : r->log_id, 0);
        sql_bind_i64(q, at++, r->group_id);
        sql_bind_i64(q, at++, r->job_id);
        sql_bind_text(q, at++, r->address);
        sql_bind_text(q, at++, r->handler);
        sql_bind_text(q, at++, r->param);
        sql_bind_text(q, at++, store_sharding(r, sharding[i], sizeof(sharding[i])));
        sql_bind_i64(q, at++, r->retries_left);
        sql_bind_i64(q, at++, run_log_ms(r->kind, r->scheduled_ms, r->due_ms));
        sql_bind_text(q, at++, store_kind_text(r->kind));
    }
    err = given ? ids_read(s, q, rows, my_sizes[size], why) : insert(q, ret_exists, why);
    free(sharding);
    return err;
}

static enum err live_take_back(struct mydb *s, int n, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(&s->sql, "DELETE FROM peal_run WHERE log_id BETWEEN ?1 AND ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->now.log_id);
    sql_bind_i64(q, 2, s->now.log_id + n - 1);
    return sql_do(q, why);
}

static enum err live_exists(struct mydb *s, const struct run_row *r, bool *ret, struct why *why)
{
    struct sql_query *q;
    int64_t one = 0;
    enum err err = sql_query(&s->sql,
                             "SELECT 1 FROM peal_run WHERE job_id = ?1 AND kind = ?2 AND "
                             "moment_ms = ?3 AND shard = ?4 AND attempt = ?5 AND cause = ?6",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->job_id);
    sql_bind_i64(q, 2, r->kind);
    sql_bind_i64(q, 3, r->scheduled_ms);
    sql_bind_i64(q, 4, r->shard);
    sql_bind_i64(q, 5, r->attempt);
    sql_bind_i64(q, 6, r->cause);
    err = sql_one(q, 0, &one, why);
    *ret = one == 1;
    return err;
}

/* So many rows at once; *ret_exists: something of them does, and nothing is written. */
static enum err insert_counted(struct mydb *s, struct run_row *rows, int size, bool *ret_exists,
                               struct why *why)
{
    bool live = false, log = false;
    for (int i = 0; i < my_sizes[size]; i++)
        rows[i].log_id = s->now.log_id + i;
    enum err err = live_insert(s, rows, size, &live, why);
    if (!err && !live)
        err = log_insert(s, rows, size, &log, why);
    if (!err && log)
        err = live_take_back(s, my_sizes[size], why);
    *ret_exists = live || log;
    if (!err && !*ret_exists)
        s->now.log_id += my_sizes[size];
    return err;
}

/* The same where the server gives the ids. */
static enum err insert_given(struct mydb *s, struct run_row *rows, int size, bool *ret_exists,
                             struct why *why)
{
    bool never;
    enum err err = log_insert(s, rows, size, &never, why);
    if (!err)
        err = live_insert(s, rows, size, ret_exists, why);
    for (int i = 0; !err && *ret_exists && i < my_sizes[size]; i++)
        err = sql_change_by_id(&s->sql, "DELETE FROM xxl_job_log WHERE id = ?1", rows[i].log_id,
                               NULL, why);
    return err;
}

/* *ret_done is false where something of them exists. */
static enum err rows_add(struct mydb *s, struct run_row *rows, int size, bool *ret_done,
                         struct why *why)
{
    bool exists = false;
    enum err err = server_counts(s) ? insert_given(s, rows, size, &exists, why)
                                    : insert_counted(s, rows, size, &exists, why);
    *ret_done = !exists;
    if (err || exists)
        return err;
    for (int i = 0; !err && i < my_sizes[size]; i++)
        err = span_note(s, run_log_ms(rows[i].kind, rows[i].scheduled_ms, rows[i].due_ms),
                        rows[i].log_id, why);
    return err;
}

/* One that was refused: the run exists, or another program's row has the id. */
static enum err row_add(struct mydb *s, struct run_row *r, struct why *why)
{
    for (int tries = 0; tries < 4; tries++) {
        bool exists = false, done = false;
        enum err err = live_exists(s, r, &exists, why);
        if (!err && exists) {
            r->log_id = -1;
            return OK;
        }
        if (!err)
            err = rows_add(s, r, 0, &done, why);
        if (err || done)
            return err;
        err = ids_step_over(s, why);
        if (err)
            return err;
    }
    return my_fail(s, 1022, "rows of another program stand under the next log ids", why);
}

enum err my_runs_add(struct store *store, struct run_row *rows, int n, struct why *why)
{
    struct mydb *s = my_of(store);
    enum err err = OK;
    for (int done = 0; !err && done < n;) {
        int size = my_size_of(n - done, MY_SIZES), count = my_sizes[size];
        bool whole = false;
        err = rows_add(s, &rows[done], size, &whole, why);
        for (int i = 0; !err && !whole && i < count; i++)
            err = row_add(s, &rows[done + i], why);
        done += count;
    }
    return err;
}
