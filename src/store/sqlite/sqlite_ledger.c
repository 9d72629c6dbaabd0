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
    enum err err = sql_get(s, "SELECT value FROM peal_seq WHERE name = 'log'", &q, why);
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
    int64_t slot = sqlite_span_slot(trigger_ms);
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
    bind_i64(q, 15, s->node);
    bind_i64(q, 16, s->epoch);
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
        "handle_msg = ?7",       "alarm_status = iif(alarm_status = 0, ?8, alarm_status)",
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
    if (parts & PART_ALARM)
        bind_i64(q, 8, c->quiet ? ALARM_NOT_NEEDED : ALARM_CLAIMED);
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
    }
    if (!err)
        *ret_missed = missed;
    return err;
}

/* ---- beside the rows ------------------------------------------------------------------------- */

static enum err skip_extend(struct sqlite *s, const struct skip_row *k, bool *ret_done,
                            struct why *why)
{
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "UPDATE peal_skip SET to_ms = max(to_ms, ?2), count = count + ?3 WHERE id = "
                "(SELECT max(id) FROM peal_skip WHERE job_id = ?1)",
                &q, why);
    if (err)
        return err;
    bind_i64(q, 1, k->job_id);
    bind_i64(q, 2, k->to_ms);
    bind_i64(q, 3, k->count);
    err = sql_run(s, q, why);
    *ret_done = !err && sqlite3_changes(s->db) > 0;
    return err;
}

static enum err skip_insert(struct sqlite *s, const struct skip_row *k, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO peal_skip (job_id, from_ms, to_ms, count, policy) "
                           "VALUES (?1, ?2, ?3, ?4, ?5)",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, k->job_id);
    bind_i64(q, 2, k->from_ms);
    bind_i64(q, 3, k->to_ms);
    bind_i64(q, 4, k->count);
    bind_text(q, 5, misfire_text(k->policy));
    return sql_run(s, q, why);
}

enum err sqlite_skips_add(struct store *store, const struct skip_row *rows, int n, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    enum err err = OK;
    for (int i = 0; !err && i < n; i++) {
        bool done = false;
        if (rows[i].extend)
            err = skip_extend(s, &rows[i], &done, why);
        if (!err && !done)
            err = skip_insert(s, &rows[i], why);
    }
    return err;
}

/* What a late result is added to: handle_msg of a closed row that was given up, or what stands for
 * it in one without an end; NULL for any other. Owned. */
static enum err late_to(struct sqlite *s, int64_t log_id, char **ret, bool *ret_open,
                        struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "SELECT handle_msg, trigger_code, handle_code FROM xxl_job_log "
                           "WHERE id = ?1 AND NOT EXISTS "
                           "(SELECT 1 FROM peal_run WHERE log_id = ?1)",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, log_id);
    bool row;
    err = sql_step(s, q, &row, why);
    if (err || !row)
        return err;
    char *text = col_text(q, 0);
    *ret_open = store_no_end((int)col_i64(q, 1, 0), (int)col_i64(q, 2, 0));
    sqlite3_reset(q);
    if (*ret_open || !store_given_up(text)) {
        free(text);
        text = *ret_open ? mem_dup(STORE_NO_LIVE_ROW) : NULL;
    }
    *ret = text;
    return OK;
}

static enum err late_one(struct sqlite *s, const struct late_result *late, int *noted,
                         struct why *why)
{
    char *old = NULL;
    bool open = false;
    enum err err = late_to(s, late->log_id, &old, &open, why);
    if (err || !old)
        return err;
    char *text = store_late_text(old, late);
    free(old);
    if (!text)
        return OK;
    sqlite3_stmt *q;
    err = sql_get(s,
                  open ? "UPDATE xxl_job_log SET handle_msg = ?2, handle_code = ?3, "
                         "handle_time = ?4 WHERE id = ?1"
                       : "UPDATE xxl_job_log SET handle_msg = ?2 WHERE id = ?1",
                  &q, why);
    if (!err) {
        bind_i64(q, 1, late->log_id);
        bind_text(q, 2, text);
        if (open) {
            bind_i64(q, 3, late->code);
            bind_i64(q, 4, late->at_ms);
        }
        err = sql_run(s, q, why);
        ++*noted;
    }
    free(text);
    return err;
}

enum err sqlite_late_add(struct store *store, const struct late_result *late, int n, int *ret_noted,
                         struct why *why)
{
    enum err err = OK;
    int noted = 0;
    for (int i = 0; !err && i < n; i++)
        err = late_one(sqlite_of(store), &late[i], &noted, why);
    if (!err)
        *ret_noted = noted;
    return err;
}

enum err sqlite_seq_next(struct store *store, const char *name, int n, int64_t *ret_first,
                         struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO peal_seq (name, value) VALUES (?1, ?2) ON CONFLICT (name) "
                           "DO UPDATE SET value = value + ?2 RETURNING value - ?2 + 1",
                           &q, why);
    if (err)
        return err;
    bind_text(q, 1, name);
    bind_i64(q, 2, n);
    return sql_number(s, q, 0, ret_first, why);
}

/* ---- start ----------------------------------------------------------------------------------- */

enum err sqlite_watermark_get(struct store *store, struct watermark *ret, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    struct watermark m = { 0 };
    bool row = false;
    enum err err = sql_get(s,
                           "SELECT watermark_ms, clean, recorder, renewals, batch "
                           "FROM peal_epoch WHERE epoch = 1",
                           &q, why);
    if (!err)
        err = sql_step(s, q, &row, why);
    if (err)
        return err;
    if (row) {
        m.until_ms = col_i64(q, 0, 0);
        m.clean = col_i64(q, 1, 0) == 1;
        text_copy(m.recorder, sizeof(m.recorder),
                  slice_text((const char *)sqlite3_column_text(q, 2)));
        m.renewals = col_i64(q, 3, 0);
        m.batch = col_i64(q, 4, 0);
    }
    sqlite3_reset(q);
    err = sql_get(s, "SELECT value FROM peal_seq WHERE name = 'log'", &q, why);
    if (!err)
        err = sql_number(s, q, 0, &m.last_id, why);
    if (!err)
        *ret = m;
    return err;
}

static enum err totals_read(struct sqlite *s, struct totals *ret, int64_t *ret_open,
                            struct why *why)
{
    sqlite3_stmt *q;
    bool row = false;
    enum err err = sql_get(s, "SELECT " TOTAL_COLUMNS " FROM peal_epoch WHERE epoch = 1", &q, why);
    if (!err)
        err = sql_step(s, q, &row, why);
    for (int i = 0; !err && row && i < TOTAL_COUNT; i++)
        ret->n[i] = col_i64(q, i, 0);
    if (!err && row)
        sqlite3_reset(q);
    if (!err)
        err = sql_get(s, "SELECT count(*) FROM peal_run WHERE phase BETWEEN 1 AND 4", &q, why);
    return err ? err : sql_number(s, q, 0, ret_open, why);
}

/* One snapshot: a commit between the two queries would look like runs unaccounted for. */
enum err sqlite_totals_get(struct store *store, struct totals *ret, int64_t *ret_open,
                           struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    struct totals sums = { { 0 } };
    int64_t open = 0;
    bool own;
    enum err err = sql_page_begin(s, &own, why);
    if (!err)
        err = totals_read(s, &sums, &open, why);
    sql_page_end(s, own);
    if (err)
        return err;
    *ret = sums;
    *ret_open = open;
    return OK;
}

/* A phase that no release knows is treated as doubt: the executor is asked, nothing is sent
 * blindly. A kind that none knows becomes a manual run, which planning never counts on. */
static void run_read(sqlite3_stmt *q, struct run_row *r)
{
    int i = 0;
    memset(r, 0, sizeof(*r));
    r->log_id = col_i64(q, i++, 0);
    r->job_id = col_i64(q, i++, 0);
    int64_t kind = col_i64(q, i++, -1);
    r->kind = kind < 0 || kind >= KIND_COUNT ? KIND_MANUAL : (enum kind)kind;
    r->scheduled_ms = col_i64(q, i++, 0);
    r->shard = col_int(q, i++, 0);
    r->shard_total = col_int(q, i++, 1);
    r->attempt = col_int(q, i++, 0);
    r->cause = col_i64(q, i++, 0);
    int64_t phase = col_i64(q, i++, 0);
    bool known = phase >= PHASE_PLANNED && phase <= PHASE_LOST;
    r->phase = known ? (enum phase)phase : PHASE_UNKNOWN;
    r->doubted = col_i64(q, i++, 0) != 0 || !known;
    r->broadcast = col_i64(q, i++, 0) != 0;
    r->retries_left = col_int(q, i++, 0);
    r->due_ms = col_i64(q, i++, 0);
    r->version = col_i64(q, i++, 0);
    r->address = col_text(q, i++);
    r->choices = col_text(q, i++);
    r->group_id = col_i64(q, i++, 0);
    r->handler = col_text(q, i++);
    r->param = col_text(q, i++);
    r->log_ms = col_i64(q, i++, -1);
}

static bool runs_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    struct run_row r;
    run_read(q, &r);
    bool more = (*(run_row_fn **)fn)(ctx, &r);
    run_row_done(&r);
    return more;
}

enum err sqlite_runs_each(struct store *store, run_row_fn *fn, void *ctx, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(
        s,
        "SELECT r.log_id, r.job_id, r.kind, r.moment_ms, r.shard, r.shard_total, r.attempt, "
        "r.cause, r.phase, r.doubted, r.broadcast, r.retries_left, r.due_ms, r.version, r.address, "
        "r.choices, l.job_group, l.executor_handler, l.executor_param, "
        "l.trigger_time FROM peal_run r LEFT JOIN xxl_job_log l ON l.id = r.log_id ORDER BY "
        "r.log_id",
        &q, why);
    return err ? err : sql_each(s, q, runs_row, &fn, ctx, NULL, why);
}
