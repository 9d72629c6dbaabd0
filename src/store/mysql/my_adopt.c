/* SPDX-License-Identifier: Apache-2.0 */
/* XXL-JOB's own database, in place: one of the two works on it at a time, unless the migration was
 * told that Java admins go on (my_beside.c).
 *
 * While Peal has it, the truth of a job's next time is peal_due, and xxl_job_info says of every
 * running job that it is due in the year 2100: a Java admin that is started by mistake finds
 * nothing to fire. That is done under XXL-JOB's own lock row, in one transaction with reading what
 * Java has left, so no time is fired by both and none by neither. A clean stop writes the next
 * times back. A job whose next time is not the one that was written back then has been changed by
 * XXL-JOB since, and what stands there holds. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/mysql/layout.h"
#include "store/mysql/my_db.h"
#include "store/mysql/mysql.h"
#include "store/sql/job_row.h"
#include <ctype.h>
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JAVA_MS = 10000,      /* a job that XXL-JOB has fired so lately says that an admin is at work */
    JAVA_AHEAD_MS = 5000, /* what is due so soon may be on its way in a Java admin */
    JOBS_SLICE = 20000, /* ids of one statement, which must end before the connection's patience */
    LOG_SLICE = 50000,
    LOG_LATE = 2000, /* ids whose rows may be committed after later ones */
    SPANS_MS = 5000,
    TEXT_MAX = 1024 * 1024,
};

#define PARKED MY_PARKED
#define SLOT_MS "600000"

/* What a clean stop says to XXL-JOB: the first time that has not been fired, whether planned or
 * not. Of i (xxl_job_info) and d (peal_due). */
#define GIVEN                                                                                      \
    "CASE WHEN i.trigger_status <> 1 THEN 0 ELSE least(coalesce(d.next_ms, " PARKED "), "          \
    "coalesce((SELECT min(r.moment_ms) FROM peal_run r WHERE r.job_id = i.id AND r.kind = 0 AND "  \
    "r.phase = 1 AND r.doubted = 0), " PARKED ")) END"
#define CHANGED                                                                                    \
    "i.trigger_next_time <> " PARKED " AND i.trigger_next_time <> " GIVEN                          \
    " AND (i.trigger_status = 1 OR d.next_ms IS NOT NULL)"

/* ---- what kind of database it is ------------------------------------------------------------- */

/* A layout_query_fn on the handle's connection. */
static enum err raw_query(void *connection, const char *sql, layout_row_fn *fn, void *ctx,
                          struct why *why)
{
    struct mydb *s = connection;
    enum err err = my_exec(s, sql, why);
    if (err)
        return err;
    MYSQL_RES *rows = mysql_store_result(s->db);
    if (!rows)
        return my_fail(s, mysql_errno(s->db), mysql_error(s->db), why);
    unsigned n = mysql_num_fields(rows);
    struct slice *values = mem_new((n + 1) * sizeof(*values));
    MYSQL_ROW row;
    while ((row = mysql_fetch_row(rows))) {
        const unsigned long *lengths = mysql_fetch_lengths(rows);
        for (unsigned i = 0; i < n; i++)
            values[i] = slice_of(row[i], row[i] ? lengths[i] : 0);
        fn(ctx, values);
    }
    free(values);
    mysql_free_result(rows);
    return OK;
}

static void on_table(void *ctx, const struct slice *v)
{
    (void)v;
    *(bool *)ctx = true;
}

static void on_info(void *ctx, const struct slice *v)
{
    struct my_adopted *a = ctx;
    if (slice_eq(v[0], "mode")) {
        a->is = true;
        a->beside = slice_eq(v[1], "beside");
    }
    if (slice_eq(v[0], "zone"))
        text_copy(a->zone, sizeof(a->zone), v[1]);
    else if (slice_eq(v[0], "zone_offset_s"))
        a->has_offset = v[1].p && parse_i64(v[1], &a->offset_s);
}

static enum err info_read(struct mydb *s, struct my_adopted *ret, struct why *why)
{
    bool there = false;
    enum err err = raw_query(s,
                             "SELECT 1 FROM information_schema.tables WHERE table_schema = "
                             "database() AND table_name = 'peal_info'",
                             on_table, &there, why);
    if (!err && there)
        err = raw_query(s, "SELECT name, value FROM peal_info", on_info, ret, why);
    return err;
}

static void formats_by_offset(struct mydb *s)
{
    long long ms = (long long)s->adopted.offset_s * 1000;
    snprintf(s->ms_of, sizeof(s->ms_of),
             "(timestampdiff(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', %%s) DIV 1000 - (%lld))",
             ms);
    snprintf(s->time_of, sizeof(s->time_of),
             "timestampadd(MICROSECOND, (%%s + (%lld)) * 1000, TIMESTAMP'1970-01-01 00:00:00')",
             ms);
}

static void formats_by_name(struct mydb *s)
{
    const char *zone = s->adopted.zone;
    snprintf(s->ms_of, sizeof(s->ms_of),
             "(timestampdiff(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', convert_tz(%%s, '%s', "
             "'+00:00')) DIV 1000)",
             zone);
    snprintf(s->time_of, sizeof(s->time_of),
             "convert_tz(timestampadd(MICROSECOND, %%s * 1000, TIMESTAMP'1970-01-01 00:00:00'), "
             "'+00:00', '%s')",
             zone);
}

static bool zone_is_safe(const char *zone)
{
    for (const char *p = zone; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_+-/", *p))
            return false;
    return zone[0] != '\0' && strlen(zone) < 48;
}

static void on_known_zone(void *ctx, const struct slice *v)
{
    *(bool *)ctx = v[0].p != NULL;
}

/* The server must know a zone whose offset changes. */
static enum err zone_check(struct mydb *s, const char *zone, struct why *why)
{
    char text[160];
    bool known = false;
    snprintf(text, sizeof(text), "SELECT convert_tz('2020-01-01 00:00:00', '%s', '+00:00')", zone);
    enum err err = zone_is_safe(zone) ? raw_query(s, text, on_known_zone, &known, why) : OK;
    if (err || known)
        return err;
    why_set(why,
            "database %s: its server does not know the zone \"%s\" of XXL-JOB's datetimes: load "
            "the zone tables (mariadb-tzinfo-to-sql or mysql_tzinfo_to_sql /usr/share/zoneinfo)",
            s->name, zone);
    return ERR_INVALID;
}

static enum err layout_take(struct mydb *s, struct why *why)
{
    struct layout l;
    enum err err = layout_read(raw_query, s, &l, why);
    if (!err)
        err = layout_usable(&l, why);
    if (!err) {
        const struct layout_column *param = layout_column(&l, "xxl_job_log", "executor_param");
        s->adopted.renamed = strcmp(l.job_name, "name") == 0;
        s->adopted.param_chars = param ? param->chars : 0;
        s->adopted.due_index = l.due_index;
        s->adopted.log_index = l.log_index;
        s->sql.store.md5_passwords = !l.user_token;
    }
    layout_done(&l);
    return err;
}

enum err my_adopted_read(struct mydb *s, struct why *why)
{
    enum err err = info_read(s, &s->adopted, why);
    if (err || !s->adopted.is)
        return err;
    err = layout_take(s, why);
    if (!err && !s->adopted.has_offset)
        err = zone_check(s, s->adopted.zone, why);
    if (err)
        return err;
    if (s->adopted.has_offset)
        formats_by_offset(s);
    else
        formats_by_name(s);
    if (s->adopted.beside) { /* the next time is written with each write of a job */
        s->sql.store.start_ahead_ms = JAVA_AHEAD_MS;
        s->sql.store.beside = true;
    } else {
        s->driver.job_more = "trigger_next_time";
        s->driver.job_more_value = PARKED;
    }
    sql_job_texts_free(&s->sql); /* nothing of them was prepared yet */
    return sql_job_texts_new(&s->sql, why);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

char *my_adopted_text(const struct mydb *s, const char *text)
{
    static const char *const old[] = { "job_desc", "title" };
    if (!s->adopted.renamed || (!strstr(text, old[0]) && !strstr(text, old[1])))
        return NULL;
    struct buf to = BUF_INIT(TEXT_MAX);
    for (const char *p = text; *p;) {
        size_t n = 1;
        const char *put = p;
        for (size_t i = 0; (p == text || !in_name(p[-1])) && i < countof(old); i++)
            if (strncmp(p, old[i], strlen(old[i])) == 0 && !in_name(p[strlen(old[i])])) {
                n = strlen(old[i]);
                put = "name";
            }
        buf_add(&to, put, put == p ? 1 : 4);
        p += n;
    }
    return buf_take(&to);
}

/* ---- marking --------------------------------------------------------------------------------- */

static enum err info_put(struct mydb *s, const char *name, const char *value, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(&s->sql, "REPLACE INTO peal_info (name, value) VALUES (?1, ?2)", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    sql_bind_text(q, 2, value);
    return sql_do(q, why);
}

static const char *mode_text(bool beside)
{
    return beside ? "beside" : "own";
}

static enum err mark(struct mydb *s, struct why *why)
{
    char offset[24];
    snprintf(offset, sizeof(offset), "%lld", (long long)s->adopt->offset_s);
    enum err err = info_put(s, "zone", s->adopt->name, why);
    if (!err && s->adopt->has_offset)
        err = info_put(s, "zone_offset_s", offset, why);
    /* the last: now it counts */
    return err ? err : info_put(s, "mode", mode_text(s->adopt->beside), why);
}

/* A server that has had the tables to itself may have planned what a Java admin would plan, too. */
static enum err mode_check(const struct mydb *s, const struct my_adopted *now, struct why *why)
{
    if (!now->is || now->beside == s->adopt->beside)
        return OK;
    why_set(why,
            "database %s: an earlier migration was called %s --beside, and that cannot be changed",
            s->name, now->beside ? "with" : "without");
    return ERR_INVALID;
}

enum err my_adopt_mark(struct mydb *s, bool ours, struct why *why)
{
    struct my_adopted now = { 0 };
    struct layout l;
    enum err err = layout_read(raw_query, s, &l, why);
    if (!err)
        err = layout_usable(&l, why);
    layout_done(&l);
    if (!err && !s->adopt->has_offset)
        err = zone_check(s, s->adopt->name, why);
    if (!err)
        err = info_read(s, &now, why);
    if (err)
        return err;
    if (now.is && strcmp(now.zone, s->adopt->name) != 0) {
        why_set(why,
                "database %s: its datetimes are in the zone %s, which an earlier migration "
                "has written down, and not in %s",
                s->name, now.zone, s->adopt->name);
        return ERR_INVALID;
    }
    err = mode_check(s, &now, why);
    if (err)
        return err;
    if (ours && !now.is) {
        why_set(why, "database %s was made by Peal: a server opens it as it is", s->name);
        return ERR_EXISTS;
    }
    if (!now.is)
        err = my_exec(s,
                      "CREATE TABLE IF NOT EXISTS peal_info (name varchar(64) NOT NULL PRIMARY "
                      "KEY, value varchar(255)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC "
                      "DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
                      why);
    if (!err && s->adopt->beside)
        err = my_exec(s,
                      "CREATE TABLE IF NOT EXISTS peal_beside (job_id int NOT NULL PRIMARY KEY, "
                      "digest char(32) NOT NULL) ENGINE=InnoDB ROW_FORMAT=DYNAMIC "
                      "DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
                      why);
    return err || now.is ? err : mark(s, why);
}

/* ---- spans of the log ------------------------------------------------------------------------ */

static enum err number(struct mydb *s, const char *text, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(&s->sql, text, &q, why);
    return err ? err : sql_one(q, 0, ret, why);
}

static enum err range_do(struct mydb *s, const char *text, int64_t first, int64_t last,
                         int64_t *ret_n, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(&s->sql, text, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, first);
    sql_bind_i64(q, 2, last);
    return sql_change(q, ret_n, why);
}

/* Of the rows behind one id up to another. */
static enum err spans_of(struct mydb *s, int64_t behind, int64_t last, struct why *why)
{
    char text[24];
    int64_t rows;
    enum err err = range_do(s,
                            "INSERT INTO peal_log_span (slot, first_id, last_id) SELECT "
                            "{ms trigger_time} DIV " SLOT_MS ", min(id), max(id) FROM xxl_job_log "
                            "WHERE id BETWEEN ?1 AND ?2 AND trigger_time IS NOT NULL GROUP BY 1 "
                            "ON DUPLICATE KEY UPDATE "
                            "first_id = least(peal_log_span.first_id, VALUES(first_id)), "
                            "last_id = greatest(peal_log_span.last_id, VALUES(last_id))",
                            behind + 1, last, &rows, why);
    snprintf(text, sizeof(text), "%lld", (long long)last);
    return err ? err : info_put(s, "spans", text, why);
}

enum err my_adopted_spans(struct mydb *s, struct why *why)
{
    int64_t at = 0, end = 0;
    enum err err = number(s,
                          "SELECT coalesce((SELECT cast(value AS signed) FROM peal_info WHERE "
                          "name = 'spans'), 0)",
                          &at, why);
    if (!err)
        err = number(s, "SELECT coalesce(max(id), 0) FROM xxl_job_log", &end, why);
    while (!err && at < end) {
        int64_t last = at + LOG_SLICE < end ? at + LOG_SLICE : end;
        err = spans_of(s, at, last, why);
        at = last;
    }
    s->now.spanned = at;
    return err;
}

enum err my_adopted_spans_more(struct mydb *s, struct why *why)
{
    int64_t now_ms = clock_boot_ms(), end = 0, behind = s->now.spanned - LOG_LATE;
    if (now_ms - s->spanned_ms < SPANS_MS)
        return OK;
    enum err err = number(s, "SELECT coalesce(max(id), 0) FROM xxl_job_log", &end, why);
    if (!err && end > s->now.spanned)
        err = spans_of(s, behind > 0 ? behind : 0, end, why);
    if (err)
        return err;
    s->spanned_ms = now_ms;
    if (end > s->now.spanned)
        s->now.spanned = end;
    return OK;
}

/* ---- taking and giving back ------------------------------------------------------------------ */

/* Each of the statements for a slice of jobs, slice by slice; n: rows of the last one. */
static enum err each_slice(struct mydb *s, const char *const *texts, size_t count, int64_t *rows_of,
                           struct why *why)
{
    int64_t end = 0;
    enum err err = number(s, "SELECT coalesce(max(id), 0) FROM xxl_job_info", &end, why);
    for (int64_t at = 0; !err && at < end; at += JOBS_SLICE)
        for (size_t i = 0; !err && i < count; i++) {
            int64_t rows = 0;
            err = range_do(s, texts[i], at + 1, at + JOBS_SLICE, &rows, why);
            rows_of[i] += rows;
        }
    return err;
}

/* Java admins wait for it within their scan. */
static enum err lock(struct mydb *s, struct why *why)
{
    int64_t one = 0;
    enum err err = number(
        s, "SELECT 1 FROM xxl_job_lock WHERE lock_name = 'schedule_lock' FOR UPDATE", &one, why);
    if (!err && !one) {
        why_set(why, "database %s: table xxl_job_lock has lost its row schedule_lock", s->name);
        err = ERR_INVALID;
    }
    return err;
}

/* What was given back says the last time that was planned here, which may lie ahead: any other one
 * is an admin's. An admin that fires what had been planned here comes by that very time, but its
 * next one is not what was given back. */
static enum err java_check(struct mydb *s, struct why *why)
{
    struct sql_query *q;
    int64_t fired = 0;
    enum err err = sql_query(&s->sql,
                             "SELECT count(*) FROM xxl_job_info i LEFT JOIN peal_due d ON "
                             "d.job_id = i.id WHERE i.trigger_next_time <> " PARKED " AND "
                             "(i.trigger_last_time <> coalesce(d.last_ms, 0) OR " CHANGED ") AND "
                             "i.trigger_last_time > ?1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, clock_wall_ms() - JAVA_MS);
    err = sql_one(q, 0, &fired, why);
    if (err || !fired)
        return err;
    why_set(why,
            "database %s: a Java admin has fired jobs in the last 10 s: stop all Java admins, then "
            "start Peal again",
            s->name);
    return ERR_BUSY;
}

enum { DROP_LOG, DROP_RUN, TAKE, PARK, TAKE_TEXTS };

static enum err take(struct mydb *s, struct commit *c, struct why *why)
{
    static const char *const texts[TAKE_TEXTS] = {
        /* XXL-JOB went on with these jobs: what was planned is not sent any more */
        [DROP_LOG] =
            "DELETE l FROM xxl_job_log l JOIN peal_run x ON x.log_id = l.id JOIN "
            "xxl_job_info i ON i.id = x.job_id JOIN peal_due d ON d.job_id = i.id WHERE "
            "i.id BETWEEN ?1 AND ?2 AND x.kind = 0 AND x.phase = 1 AND x.doubted = 0 AND " CHANGED,
        [DROP_RUN] = "DELETE x FROM peal_run x LEFT JOIN xxl_job_log l ON l.id = x.log_id "
                     "WHERE x.job_id BETWEEN ?1 AND ?2 AND x.kind = 0 AND x.phase = 1 AND "
                     "l.id IS NULL",
        [TAKE] = "UPDATE peal_due d JOIN xxl_job_info i ON i.id = d.job_id SET d.last_ms = "
                 "greatest(d.last_ms, i.trigger_last_time), d.version = d.version + 1, "
                 "d.next_ms = CASE WHEN i.trigger_status = 1 THEN greatest(i.trigger_next_time, 1) "
                 "END WHERE i.id BETWEEN ?1 AND ?2 AND " CHANGED,
        [PARK] = "UPDATE xxl_job_info SET trigger_next_time = " PARKED " WHERE id BETWEEN ?1 AND "
                 "?2 AND trigger_status = 1 AND trigger_next_time <> " PARKED,
    };
    static const char gone[] = "DELETE d FROM peal_due d LEFT JOIN xxl_job_info i ON "
                               "i.id = d.job_id WHERE i.id IS NULL";
    static const char new[] =
        "INSERT INTO peal_due (job_id, next_ms, last_ms, version) SELECT i.id, CASE WHEN "
        "i.trigger_status = 1 AND i.trigger_next_time < " PARKED " THEN "
        "greatest(i.trigger_next_time, 1) END, i.trigger_last_time, 1 FROM xxl_job_info i LEFT "
        "JOIN peal_due d "
        "ON d.job_id = i.id WHERE d.job_id IS NULL";
    int64_t rows_of[TAKE_TEXTS] = { 0 };
    enum err err = lock(s, why);
    if (!err)
        err = java_check(s, why);
    if (!err)
        err = my_exec(s, gone, why);
    if (!err)
        err = my_exec(s, new, why);
    if (!err)
        err = each_slice(s, texts, TAKE_TEXTS, rows_of, why);
    c->totals.n[TOTAL_WITHDRAWN] = rows_of[DROP_RUN];
    return err;
}

enum err my_adopted_take(struct mydb *s, struct why *why)
{
    struct store *store = &s->sql.store;
    struct commit c = { 0 };
    enum err err = store->ops->txn->begin(store, why);
    if (!err)
        err = take(s, &c, why);
    if (!err)
        err = store->ops->txn->commit(store, &c, why);
    if (err)
        store->ops->txn->rollback(store);
    return err;
}

enum err my_adopted_give(struct mydb *s, int64_t *ret_n, struct why *why)
{
    static const char *const texts[] = {
        "UPDATE xxl_job_info i JOIN peal_due d ON d.job_id = i.id LEFT JOIN peal_job p ON "
        "p.job_id = i.id SET i.trigger_last_time = d.last_ms, i.trigger_next_time = " GIVEN ", "
        "i.glue_updatetime = coalesce(i.glue_updatetime, i.update_time, i.add_time) "
        "WHERE i.id BETWEEN ?1 AND ?2 AND i.trigger_next_time = " PARKED " AND " MY_JAVA_KNOWS,
    };
    struct store *store = &s->sql.store;
    *ret_n = 0;
    enum err err = store->ops->txn->begin(store, why);
    if (!err)
        err = lock(s, why);
    if (!err)
        err = each_slice(s, texts, countof(texts), ret_n, why);
    if (!err)
        err = store->ops->txn->commit(store, NULL, why);
    if (err)
        store->ops->txn->rollback(store);
    return err;
}
