/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of runs: live rows go or change, rows of the log change, one round trip a kind.
 *
 * A list is taken in pieces in which each run stands once, so that the order within a piece does
 * not count. */
#include "base/map.h"
#include "base/mem.h"
#include "store/postgres/pg.h"
#include "store/shared.h"
#include <assert.h>
#include <libpq-fe.h>
#include <stdlib.h>

#define LIVE_PARTS (CHANGE_PHASE | CHANGE_ADDRESS | CHANGE_VERSION)
#define END_PARTS (CHANGE_CLOSE | CHANGE_DROP)
#define LOG_PARTS (CHANGE_ADDRESS | CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_ALARM)

/* A change that is written by another statement, or by none. */
typedef bool wanted_fn(const struct run_change *c);

static bool ends(const struct run_change *c)
{
    return c->what & END_PARTS;
}

static bool goes_on(const struct run_change *c)
{
    return !ends(c) && c->what & LIVE_PARTS;
}

static bool only_asks(const struct run_change *c)
{
    return !ends(c) && !(c->what & LIVE_PARTS);
}

static bool drops(const struct run_change *c)
{
    return !c->missing && c->what & CHANGE_DROP;
}

/* What nearly all changes of a row of the log are: how its run was sent, and its end. */
static bool log_plain(const struct run_change *c)
{
    return !c->missing && !(c->what & CHANGE_DROP) && c->what & LOG_PARTS &&
           !(c->what & (CHANGE_ADDRESS | CHANGE_ALARM));
}

static bool log_other(const struct run_change *c)
{
    return !c->missing && !(c->what & CHANGE_DROP) && c->what & (CHANGE_ADDRESS | CHANGE_ALARM);
}

static int ids_fill(struct pg *s, const struct run_change *c, int n, wanted_fn *wanted)
{
    struct pg_array *id = pg_array(s, 0, PG_I64);
    for (int i = 0; i < n; i++)
        if (wanted(&c[i]))
            pg_add_i64(id, c[i].log_id);
    return id->n;
}

/* ---- live rows ------------------------------------------------------------------------------- */

/* Those wanted that the statement did not find are missing. */
static enum err missing_mark(struct run_change *c, int n, wanted_fn *wanted, const PGresult *found)
{
    static char there;
    struct map ids;
    map_init(&ids);
    for (int i = 0; i < PQntuples(found); i++)
        map_set(&ids, (uint64_t)pg_get_i64(found, i, 0, -1), &there);
    for (int i = 0; i < n; i++)
        if (wanted(&c[i]))
            c[i].missing = !map_find(&ids, (uint64_t)c[i].log_id);
    map_done(&ids);
    return OK;
}

/* The statement gives the ids that it found. */
static enum err live_call(struct pg *s, struct run_change *c, int n, wanted_fn *wanted,
                          const char *text, int arrays, struct why *why)
{
    PGresult *r = NULL;
    int asked = s->arrays[0].n;
    enum err err = pg_call(s, text, arrays, &r, why);
    if (!err && PQntuples(r) != asked)
        err = missing_mark(c, n, wanted, r);
    PQclear(r);
    return err;
}

static enum err live_end(struct pg *s, struct run_change *c, int n, struct why *why)
{
    if (ids_fill(s, c, n, ends) == 0)
        return OK;
    return live_call(s, c, n, ends,
                     "DELETE FROM peal_run WHERE log_id = ANY ($1::bigint[]) RETURNING log_id", 1,
                     why);
}

static enum err live_ask(struct pg *s, struct run_change *c, int n, struct why *why)
{
    if (ids_fill(s, c, n, only_asks) == 0)
        return OK;
    return live_call(s, c, n, only_asks,
                     "SELECT log_id FROM peal_run WHERE log_id = ANY ($1::bigint[])", 1, why);
}

static enum err live_update(struct pg *s, struct run_change *c, int n, struct why *why)
{
    if (ids_fill(s, c, n, goes_on) == 0)
        return OK;
    struct pg_array *what = pg_array(s, 1, PG_I32), *phase = pg_array(s, 2, PG_I16),
                    *doubted = pg_array(s, 3, PG_I16), *address = pg_array(s, 4, PG_TEXT),
                    *version = pg_array(s, 5, PG_I64);
    for (int i = 0; i < n; i++) {
        if (!goes_on(&c[i]))
            continue;
        pg_add_i32(what, (int32_t)c[i].what);
        pg_add_i16(phase, c[i].phase);
        pg_add_i16(doubted, c[i].doubted);
        pg_add_text(address, c[i].what & CHANGE_ADDRESS ? c[i].address : NULL);
        pg_add_i64(version, c[i].version);
    }
    static_assert(CHANGE_PHASE == 1 && CHANGE_ADDRESS == 2 && CHANGE_VERSION == 128,
                  "the statement names them");
    return live_call(s, c, n, goes_on,
                     "UPDATE peal_run r SET "
                     "phase = CASE WHEN v.what & 1 = 0 THEN r.phase ELSE v.phase END, "
                     "doubted = CASE WHEN v.what & 1 = 0 THEN r.doubted ELSE v.doubted END, "
                     "address = CASE WHEN v.what & 2 = 0 THEN r.address ELSE v.address END, "
                     "version = CASE WHEN v.what & 128 = 0 THEN r.version ELSE v.version END, "
                     "told = CASE WHEN v.what & 128 = 0 THEN r.told ELSE v.version END "
                     "FROM unnest($1::bigint[], $2::integer[], $3::smallint[], $4::smallint[], "
                     "$5::text[], $6::bigint[]) AS v(id, what, phase, doubted, address, version) "
                     "WHERE r.log_id = v.id RETURNING r.log_id",
                     6, why);
}

/* ---- rows of the log ------------------------------------------------------------------------- */

static enum err logs_drop(struct pg *s, const struct run_change *c, int n, struct why *why)
{
    if (ids_fill(s, c, n, drops) == 0)
        return OK;
    return pg_call(s, "DELETE FROM xxl_job_log WHERE id = ANY ($1::bigint[])", 1, NULL, why);
}

/* Arrays 0 to 5; NULL leaves the column as it is. */
static int logs_fill(struct pg *s, const struct run_change *c, int n, wanted_fn *wanted)
{
    struct pg_array *sent = pg_array(s, 1, PG_I32), *said = pg_array(s, 2, PG_TEXT),
                    *at = pg_array(s, 3, PG_TIME), *code = pg_array(s, 4, PG_I32),
                    *msg = pg_array(s, 5, PG_TEXT);
    int rows = ids_fill(s, c, n, wanted);
    for (int i = 0; rows && i < n; i++) {
        if (!wanted(&c[i]))
            continue;
        bool trigger = c[i].what & CHANGE_TRIGGER, finish = c[i].what & CHANGE_FINISH;
        char *text =
            trigger && c[i].trigger_msg ? store_trigger_text(c[i].kind, c[i].trigger_msg) : NULL;
        pg_add_text(said, text);
        free(text);
        if (trigger)
            pg_add_i32(sent, c[i].trigger_code);
        else
            pg_add_null(sent);
        if (finish) {
            pg_add_time(at, c[i].handle_ms);
            pg_add_i32(code, c[i].handle_code);
        } else {
            pg_add_null(at);
            pg_add_null(code);
        }
        pg_add_text(msg, finish ? c[i].handle_msg : NULL);
    }
    return rows;
}

#define LOG_SET                                                                                    \
    "UPDATE xxl_job_log l SET trigger_code = coalesce(v.sent, l.trigger_code), "                   \
    "trigger_msg = coalesce(v.said, l.trigger_msg), handle_time = coalesce(v.at, l.handle_time), " \
    "handle_code = coalesce(v.code, l.handle_code), handle_msg = coalesce(v.msg, l.handle_msg)"
#define LOG_ARRAYS                                                                                 \
    "$1::bigint[], $2::integer[], $3::text[], $4::timestamptz[], $5::integer[], $6::text[]"

static enum err logs_plain(struct pg *s, const struct run_change *c, int n, struct why *why)
{
    if (logs_fill(s, c, n, log_plain) == 0)
        return OK;
    return pg_call(s,
                   LOG_SET " FROM unnest(" LOG_ARRAYS ") AS v(id, sent, said, at, code, msg) "
                           "WHERE l.id = v.id",
                   6, NULL, why);
}

static enum err logs_other(struct pg *s, const struct run_change *c, int n, struct why *why)
{
    if (logs_fill(s, c, n, log_other) == 0)
        return OK;
    struct pg_array *what = pg_array(s, 6, PG_I32), *address = pg_array(s, 7, PG_TEXT),
                    *alarm = pg_array(s, 8, PG_I16), *from = pg_array(s, 9, PG_I16);
    for (int i = 0; i < n; i++) {
        if (!log_other(&c[i]))
            continue;
        pg_add_i32(what, (int32_t)c[i].what);
        pg_add_text(address, c[i].what & CHANGE_ADDRESS ? c[i].address : NULL);
        pg_add_i16(alarm, c[i].quiet ? ALARM_NOT_NEEDED : ALARM_CLAIMED);
        pg_add_i16(from, c[i].quiet ? ALARM_UNSEEN : ALARM_NOT_NEEDED);
    }
    static_assert(CHANGE_ADDRESS == 2 && CHANGE_ALARM == 64, "the statement names them");
    return pg_call(s,
                   LOG_SET
                   ", executor_address = CASE WHEN v.what & 2 = 0 THEN l.executor_address ELSE "
                   "v.address END, alarm_status = CASE WHEN v.what & 64 <> 0 AND l.alarm_status "
                   "IN (0, v.was) THEN v.alarm ELSE l.alarm_status END FROM unnest(" LOG_ARRAYS
                   ", $7::integer[], $8::text[], $9::smallint[], $10::smallint[]) "
                   "AS v(id, sent, said, at, code, msg, what, address, alarm, was) "
                   "WHERE l.id = v.id",
                   10, NULL, why);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* How many changes from the first on are about different runs. */
static int piece_of(const struct run_change *c, int n)
{
    static char there;
    struct map ids;
    int i = 0;
    map_init(&ids);
    while (i < n && !map_set(&ids, (uint64_t)c[i].log_id, &there))
        i++;
    map_done(&ids);
    return i;
}

static enum err piece_write(struct pg *s, struct run_change *c, int n, struct why *why)
{
    for (int i = 0; i < n; i++)
        c[i].missing = false;
    enum err err = live_end(s, c, n, why);
    if (!err)
        err = live_update(s, c, n, why);
    if (!err)
        err = live_ask(s, c, n, why);
    if (!err)
        err = logs_drop(s, c, n, why);
    if (!err)
        err = logs_plain(s, c, n, why);
    if (!err)
        err = logs_other(s, c, n, why);
    return err ? err : sql_runs_task(&s->sql, c, n, why);
}

enum err pg_runs_change(struct store *store, struct run_change *changes, int n, int64_t *ret_missed,
                        struct why *why)
{
    int64_t missed = 0;
    enum err err = OK;
    for (int at = 0; !err && at < n;) {
        int piece = piece_of(changes + at, n - at);
        err = piece_write(pg_of(store), changes + at, piece, why);
        at += piece;
    }
    for (int i = 0; i < n; i++)
        missed += changes[i].missing;
    if (!err)
        *ret_missed = missed;
    return err;
}
