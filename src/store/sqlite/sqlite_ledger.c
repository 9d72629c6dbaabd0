/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger on SQLite: what every firing costs stands in this file (bench/bench_store.c).
 *
 * A firing is four statements: its live row and its log row in, later one update of the log row
 * that holds all that happened since the last write, and the live row out. The id counter, the
 * spans of time, totals and watermark are kept in memory within a transaction and written once at
 * its end. */
#include "base/mem.h"
#include "store/shared.h"
#include "store/sqlite/sqlite_db.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX (INT64_C(1) << 53) /* larger ids do not survive JSON readers; never given */
#define ID_JUMP (INT64_C(1) << 24)

/* ---- planning -------------------------------------------------------------------------------- */

static void due_read(sqlite3_stmt *q, struct due_row *ret)
{
    ret->job_id = sqlite3_column_int64(q, 0);
    ret->next_ms = col_i64(q, 1, NEVER_MS);
    ret->last_ms = sqlite3_column_int64(q, 2);
    ret->planned_until_ms = sqlite3_column_int64(q, 3);
    ret->version = sqlite3_column_int64(q, 4);
}

enum err sqlite_due_take(struct store *store, int64_t from_ms, int64_t until_ms, int max,
                         struct due_row *rows, int *ret_n, int64_t *ret_next_ms, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    /* one walk along the index: the row after the last taken tells the next scheduled time */
    enum err err = sql_get(s,
                           "SELECT job_id, next_ms, last_ms, planned_until_ms, version "
                           "FROM peal_due WHERE next_ms >= ? ORDER BY next_ms, job_id",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, from_ms);
    int n = 0;
    int64_t next_ms = NEVER_MS;
    for (;;) {
        bool row;
        err = sql_step(s, q, &row, why);
        if (err)
            return err;
        if (!row)
            break;
        next_ms = sqlite3_column_int64(q, 1);
        if (next_ms > until_ms || n == max)
            break;
        due_read(q, &rows[n++]);
        next_ms = NEVER_MS;
    }
    sqlite3_reset(q);
    *ret_n = n;
    *ret_next_ms = next_ms;
    return OK;
}

enum err sqlite_due_put(struct store *store, const struct due_row *rows, int n, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "UPDATE peal_due SET next_ms = ?2, before_ms = iif(last_ms < ?3, "
                           "last_ms, before_ms), last_ms = ?3, planned_until_ms = ?4 "
                           "WHERE job_id = ?1",
                           &q, why);
    for (int i = 0; !err && i < n; i++) {
        bind_i64(q, 1, rows[i].job_id);
        bind_scheduled(q, 2, rows[i].next_ms, NEVER_MS);
        bind_i64(q, 3, rows[i].last_ms);
        bind_i64(q, 4, rows[i].planned_until_ms);
        err = sql_run(s, q, why);
    }
    return err;
}

/* ---- log ids --------------------------------------------------------------------------------- */

static enum err log_id_load(struct sqlite *s, struct why *why)
{
    if (s->log_id_read)
        return OK;
    sqlite3_stmt *q;
    enum err err = sql_get(s, "SELECT value FROM peal_seq WHERE name = 'log'", &q, why);
    int64_t last = 0;
    if (!err)
        err = sql_number(s, q, 0, &last, why);
    if (err)
        return err;
    if (last < 0 || last >= ID_MAX - ID_JUMP) {
        why_set(why,
                "database %s: the log counter (peal_seq, name log) holds %lld, which is not "
                "a number this program wrote; set it to the largest id of xxl_job_log",
                s->path, (long long)last);
        s->lost = ERR_CORRUPT;
        return ERR_CORRUPT;
    }
    s->log_id = last + 1; /* the next to give */
    s->log_id_read = last + 1;
    return OK;
}

static enum err log_id_largest(struct sqlite *s, int64_t *ret, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "SELECT max(ifnull((SELECT max(id) FROM xxl_job_log WHERE id < ?1), 0), "
                           "ifnull((SELECT max(log_id) FROM peal_run WHERE log_id < ?1), 0))",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, ID_MAX - 2 * ID_JUMP);
    return sql_number(s, q, 0, ret, why);
}

static enum err log_id_put(struct sqlite *s, int64_t last, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO peal_seq (name, value) VALUES ('log', ?1) "
                           "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, last);
    return sql_run(s, q, why);
}

enum err sqlite_ledger_open(struct sqlite *s, struct why *why)
{
    sqlite3_stmt *q;
    int64_t last = 0, largest = 0;
    enum err err = sql_move_ended(&s->sql, why);
    if (!err)
        err = sql_get(s, "SELECT value FROM peal_seq WHERE name = 'log'", &q, why);
    if (!err)
        err = sql_number(s, q, 0, &last, why);
    if (!err)
        err = log_id_largest(s, &largest, why);
    if (!err && largest > last)
        err = log_id_put(s, largest, why);
    return err;
}

enum err store_sqlite_jump_ids(struct store *store, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    enum err err = log_id_load(s, why);
    if (!err)
        s->log_id += ID_JUMP;
    return err;
}

/* ---- spans: which ids a time can have -------------------------------------------------------- */

static enum err span_write(struct sqlite *s, const struct span *span, struct why *why)
{
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "INSERT INTO peal_log_span (slot, first_id, last_id) VALUES (?1, ?2, ?3) "
                "ON CONFLICT (slot) DO UPDATE SET first_id = min(first_id, "
                "excluded.first_id), last_id = max(last_id, excluded.last_id)",
                &q, why);
    if (err)
        return err;
    bind_i64(q, 1, span->slot);
    bind_i64(q, 2, span->first_id);
    bind_i64(q, 3, span->last_id);
    return sql_run(s, q, why);
}

/* Ids only grow within a transaction, so widening is moving the end. */
static enum err span_note(struct sqlite *s, int64_t trigger_ms, int64_t id, struct why *why)
{
    int64_t slot = sql_span_slot(trigger_ms);
    for (int i = s->nspans - 1; i >= 0; i--) {
        if (s->spans[i].slot == slot) {
            s->spans[i].last_id = id;
            return OK;
        }
    }
    enum err err = OK;
    if (s->nspans == SQLITE_SPANS)
        err = span_write(s, &s->spans[--s->nspans], why);
    s->spans[s->nspans++] = (struct span){ slot, id, id };
    return err;
}

/* ---- the epoch's row --------------------------------------------------------------------------
 */

/* In the order of enum total. */
#define TOTAL_COLUMNS                                                                              \
    "planned, finished, rejected, lost, skipped, withdrawn, sent, resent, late, found"

/* Each commit has the next number. What is not changed is NULL here. */
static enum err epoch_update(struct sqlite *s, const struct commit *c, bool *ret_done,
                             struct why *why)
{
    bool put = c->watermark.until_ms;
    static_assert(TOTAL_COUNT == 10, "the statement names them");
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "UPDATE peal_epoch SET batch = batch + 1, planned = planned + ?1, "
                           "finished = finished + ?2, rejected = rejected + ?3, lost = lost + ?4, "
                           "skipped = skipped + ?5, withdrawn = withdrawn + ?6, sent = sent + ?7, "
                           "resent = resent + ?8, late = late + ?9, found = found + ?10, "
                           "watermark_ms = ifnull(max(watermark_ms, ?11), watermark_ms), "
                           "clean = ifnull(?12, clean), recorder = ifnull(?13, recorder), "
                           "renewals = ifnull(?14, renewals) WHERE epoch = 1",
                           &q, why);
    if (err)
        return err;
    sqlite3_clear_bindings(q);
    for (int i = 0; i < TOTAL_COUNT; i++)
        bind_i64(q, 1 + i, c->totals.n[i]);
    if (put) {
        bind_i64(q, 11, c->watermark.until_ms);
        bind_text(q, 13, c->watermark.recorder);
        bind_i64(q, 14, c->watermark.renewals);
    }
    if (put || c->clean)
        bind_i64(q, 12, c->clean);
    err = sql_run(s, q, why);
    *ret_done = !err && sqlite3_changes(s->db) > 0;
    return err;
}

/* The row that another program has removed is made anew. */
static enum err epoch_write(struct sqlite *s, const struct commit *c, struct why *why)
{
    bool done = false;
    enum err err = epoch_update(s, c, &done, why);
    if (err || done)
        return err;
    sqlite3_stmt *q;
    err = sql_get(s, "INSERT INTO peal_epoch (epoch) VALUES (1)", &q, why);
    if (!err)
        err = sql_run(s, q, why);
    return err ? err : epoch_update(s, c, &done, why);
}

enum err sqlite_ledger_flush(struct sqlite *s, const struct commit *c, struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < s->nspans; i++)
        err = span_write(s, &s->spans[i], why);
    if (!err && s->log_id != s->log_id_read)
        err = log_id_put(s, s->log_id - 1, why);
    return err ? err : epoch_write(s, c, why);
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Insert the live row. *ret_there: the run exists already. *ret_taken: another row has the id. */
static enum err live_insert(struct sqlite *s, sqlite3_stmt *q, const struct run_row *r, int64_t id,
                            bool *ret_there, bool *ret_taken, struct why *why)
{
    bind_i64(q, 1, id);
    bind_i64(q, 2, r->job_id);
    bind_i64(q, 3, r->kind);
    bind_i64(q, 4, r->scheduled_ms);
    bind_i64(q, 5, r->shard);
    bind_i64(q, 6, r->shard_total);
    bind_i64(q, 7, r->attempt);
    bind_i64(q, 8, r->cause);
    bind_i64(q, 9, r->phase);
    bind_i64(q, 10, r->doubted);
    bind_i64(q, 11, r->broadcast);
    bind_i64(q, 12, r->retries_left);
    bind_i64(q, 13, r->due_ms);
    bind_i64(q, 14, r->version);
    bind_i64(q, 15, s->sql.node);
    bind_i64(q, 16, s->sql.epoch);
    bind_text(q, 17, r->address);
    bind_text(q, 18, r->choices);
    int rc = sql_step_rc(q);
    enum err err = OK;
    *ret_there = rc == SQLITE_DONE && sqlite3_changes(s->db) == 0;
    *ret_taken = rc == SQLITE_CONSTRAINT_PRIMARYKEY || rc == SQLITE_CONSTRAINT_ROWID;
    if (rc != SQLITE_DONE && !*ret_taken)
        err = sql_fail(s, rc, why);
    sqlite3_reset(q);
    return err;
}

static enum err log_insert(struct sqlite *s, sqlite3_stmt *q, const struct run_row *r, int64_t id,
                           bool *ret_taken, struct why *why)
{
    char sharding[24];
    bind_i64(q, 1, id);
    bind_i64(q, 2, r->group_id);
    bind_i64(q, 3, r->job_id);
    bind_text(q, 4, r->address);
    bind_text(q, 5, r->handler);
    bind_text(q, 6, r->param);
    bind_text(q, 7, store_sharding(r, sharding, sizeof(sharding)));
    bind_i64(q, 8, r->retries_left);
    bind_i64(q, 9, run_log_ms(r->kind, r->scheduled_ms, r->due_ms));
    bind_text(q, 10, store_kind_text(r->kind));
    int rc = sql_step_rc(q);
    enum err err = OK;
    *ret_taken = rc == SQLITE_CONSTRAINT_PRIMARYKEY || rc == SQLITE_CONSTRAINT_ROWID;
    if (rc != SQLITE_DONE && !*ret_taken)
        err = sql_fail(s, rc, why);
    sqlite3_reset(q);
    return err;
}

static enum err live_delete(struct sqlite *s, int64_t log_id, bool *ret_was, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, "DELETE FROM peal_run WHERE log_id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, log_id);
    err = sql_run(s, q, why);
    if (!err)
        *ret_was = sqlite3_changes(s->db) > 0;
    return err;
}

/* Another program has put rows under ids that we have not given yet: go on behind them. */
static enum err ids_step_over(struct sqlite *s, struct why *why)
{
    int64_t largest = 0;
    enum err err = log_id_largest(s, &largest, why);
    s->log_id = (largest > s->log_id ? largest : s->log_id) + 1;
    return err;
}

static enum err run_add(struct sqlite *s, sqlite3_stmt *live, sqlite3_stmt *log, struct run_row *r,
                        struct why *why)
{
    bool there = false, taken = false, was;
    enum err err = OK;
    for (int tries = 0; !err && tries < 4; tries++) {
        int64_t id = s->log_id;
        err = live_insert(s, live, r, id, &there, &taken, why);
        if (!err && there) {
            r->log_id = -1;
            return OK;
        }
        if (!err && !taken) {
            err = log_insert(s, log, r, id, &taken, why);
            if (!err && !taken) {
                r->log_id = id;
                s->log_id = id + 1;
                return span_note(s, run_log_ms(r->kind, r->scheduled_ms, r->due_ms), id, why);
            }
            if (!err)
                err = live_delete(s, id, &was, why);
        }
        if (!err)
            err = ids_step_over(s, why);
    }
    return err ? err : sql_fail(s, SQLITE_CONSTRAINT, why);
}

enum err sqlite_runs_add(struct store *store, struct run_row *rows, int n, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *live, *log;
    enum err err = log_id_load(s, why);
    if (!err)
        err = sql_get(s,
                      "INSERT INTO peal_run (log_id, job_id, kind, moment_ms, shard, shard_total, "
                      "attempt, cause, phase, doubted, broadcast, retries_left, due_ms, version, "
                      "node, epoch, address, choices) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
                      "?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) "
                      "ON CONFLICT (job_id, kind, moment_ms, shard, attempt, cause) DO NOTHING",
                      &live, why);
    if (!err)
        err = sql_get(s,
                      "INSERT INTO xxl_job_log (id, job_group, job_id, executor_address, "
                      "executor_handler, executor_param, executor_sharding_param, "
                      "executor_fail_retry_count, trigger_time, trigger_code, trigger_msg, "
                      "handle_code) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10, 0)",
                      &log, why);
    for (int i = 0; !err && i < n; i++)
        err = run_add(s, live, log, &rows[i], why);
    return err;
}

/* ---- changing -------------------------------------------------------------------------------- */

/* Which columns of the log row a change sets. */
enum log_part {
    PART_ADDRESS = 1,
    PART_TRIGGER = 2,
    PART_TRIGGER_MSG = 4,
    PART_FINISH = 8,
    PART_FINISH_MSG = 16,
    PART_ALARM = 32,
};

static unsigned log_parts(const struct run_change *c)
{
    unsigned parts = 0;
    if (c->what & CHANGE_ADDRESS)
        parts |= PART_ADDRESS;
    if (c->what & CHANGE_TRIGGER)
        parts |= PART_TRIGGER | (c->trigger_msg ? PART_TRIGGER_MSG : 0);
    if (c->what & CHANGE_FINISH)
        parts |= PART_FINISH | (c->handle_msg ? PART_FINISH_MSG : 0);
    if (c->what & CHANGE_ALARM)
        parts |= PART_ALARM;
    return parts;
}

static enum err log_statement(struct sqlite *s, unsigned parts, sqlite3_stmt **ret, struct why *why)
{
    static const char *const sets[] = {
        "executor_address = ?2", "trigger_code = ?3",
        "trigger_msg = ?4",      "handle_time = ?5, handle_code = ?6",
        "handle_msg = ?7",       "alarm_status = iif(alarm_status IN (0, ?9), ?8, alarm_status)",
    };
    if (!s->change[parts]) {
        struct buf text = BUF_INIT(1024);
        const char *before = "UPDATE xxl_job_log SET ";
        for (unsigned i = 0; i < countof(sets); i++) {
            if (!(parts & 1u << i))
                continue;
            buf_printf(&text, "%s%s", before, sets[i]);
            before = ", ";
        }
        buf_text(&text, " WHERE id = ?1");
        int rc = sqlite3_prepare_v3(s->db, buf_str(&text), -1, SQLITE_PREPARE_PERSISTENT,
                                    &s->change[parts], NULL);
        buf_done(&text);
        if (rc)
            return sql_fail(s, rc, why);
    }
    *ret = s->change[parts];
    return OK;
}

static enum err log_change(struct sqlite *s, const struct run_change *c, struct why *why)
{
    unsigned parts = log_parts(c);
    char *said = NULL;
    sqlite3_stmt *q = NULL;
    if (!parts)
        return OK;
    enum err err = log_statement(s, parts, &q, why);
    if (err)
        return err;
    bind_i64(q, 1, c->log_id);
    if (parts & PART_ADDRESS)
        bind_text(q, 2, c->address);
    if (parts & PART_TRIGGER)
        bind_i64(q, 3, c->trigger_code);
    if (parts & PART_TRIGGER_MSG) {
        said = store_trigger_text(c->kind, c->trigger_msg);
        bind_text(q, 4, said);
    }
    if (parts & PART_FINISH) {
        bind_i64(q, 5, c->handle_ms);
        bind_i64(q, 6, c->handle_code);
    }
    if (parts & PART_FINISH_MSG)
        bind_text(q, 7, c->handle_msg);
    if (parts & PART_ALARM) {
        bind_i64(q, 8, c->quiet ? ALARM_NOT_NEEDED : ALARM_CLAIMED);
        bind_i64(q, 9, c->quiet ? ALARM_UNSEEN : ALARM_NOT_NEEDED);
    }
    err = sql_run(s, q, why);
    free(said);
    return err;
}

static enum err live_exists(struct sqlite *s, int64_t log_id, bool *ret, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, "SELECT 1 FROM peal_run WHERE log_id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, log_id);
    int64_t one = 0;
    err = sql_number(s, q, 0, &one, why);
    *ret = one == 1;
    return err;
}

/* The live row's part. *ret_was: there is one, so the rest of the change counts. */
static enum err live_change(struct sqlite *s, const struct run_change *c, bool *ret_was,
                            struct why *why)
{
    static const char *const texts[] = {
        NULL,
        "UPDATE peal_run SET phase = ?2, doubted = ?3 WHERE log_id = ?1",
        "UPDATE peal_run SET address = ?4 WHERE log_id = ?1",
        "UPDATE peal_run SET phase = ?2, doubted = ?3, address = ?4 WHERE log_id = ?1",
        "UPDATE peal_run SET version = ?5 WHERE log_id = ?1",
        "UPDATE peal_run SET phase = ?2, doubted = ?3, version = ?5 WHERE log_id = ?1",
        "UPDATE peal_run SET address = ?4, version = ?5 WHERE log_id = ?1",
        ("UPDATE peal_run SET phase = ?2, doubted = ?3, address = ?4, version = ?5 "
         "WHERE log_id = ?1"),
    };
    unsigned at = (c->what & CHANGE_PHASE ? 1 : 0) | (c->what & CHANGE_ADDRESS ? 2 : 0) |
                  (c->what & CHANGE_VERSION ? 4 : 0);
    if (c->what & (CHANGE_CLOSE | CHANGE_DROP))
        return live_delete(s, c->log_id, ret_was, why);
    if (!at)
        return live_exists(s, c->log_id, ret_was, why);
    sqlite3_stmt *q;
    enum err err = sql_get(s, texts[at], &q, why);
    if (err)
        return err;
    bind_i64(q, 1, c->log_id);
    if (at & 1) {
        bind_i64(q, 2, c->phase);
        bind_i64(q, 3, c->doubted);
    }
    if (at & 2)
        bind_text(q, 4, c->address);
    if (at & 4)
        bind_i64(q, 5, c->version);
    err = sql_run(s, q, why);
    if (!err)
        *ret_was = sqlite3_changes(s->db) > 0;
    return err;
}

static enum err log_delete(struct sqlite *s, int64_t id, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s, "DELETE FROM xxl_job_log WHERE id = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, id);
    return sql_run(s, q, why);
}

enum err sqlite_runs_change(struct store *store, struct run_change *changes, int n,
                            int64_t *ret_missed, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    int64_t missed = 0;
    enum err err = OK;
    for (int i = 0; !err && i < n; i++) {
        bool was = false;
        err = live_change(s, &changes[i], &was, why);
        changes[i].missing = !was;
        missed += !was;
        if (err || !was)
            continue;
        err = changes[i].what & CHANGE_DROP ? log_delete(s, changes[i].log_id, why)
                                            : log_change(s, &changes[i], why);
        if (!err)
            err = sql_runs_task(&s->sql, &changes[i], 1, why);
    }
    if (!err)
        *ret_missed = missed;
    return err;
}
