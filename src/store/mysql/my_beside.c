/* SPDX-License-Identifier: Apache-2.0 */
/* XXL-JOB's own database while Java admins schedule on it, too.
 *
 * Whoever wants to plan takes XXL-JOB's lock row first, reads which jobs are due within the next
 * seconds, and writes their next scheduled times: so each scheduled time is planned by one of them.
 * Here the truth of a next scheduled time is xxl_job_info.trigger_next_time. peal_due follows it,
 * and planned_until_ms in it says which scheduled times were planned before, by whomever: an old
 * value that a Java admin writes back makes this server plan nothing twice.
 *
 * Jobs that XXL-JOB cannot schedule (other kinds, a zone of their own) are parked: XXL-JOB's
 * columns say the year 2100, and peal_due is the truth.
 *
 * A Java admin tells nobody of an edit. The digest of what a job is (peal_beside) shows it when the
 * job is due: it has another version from then on. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/mysql/my_db.h"
#include <stdlib.h>

#define TELL_MAX 1000 /* jobs in one statement: its text is bounded */

/* The digest of a job, of i: all that a planned run is made of. */
#define DIGEST                                                                                     \
    "md5(concat_ws('|', i.job_group, i.schedule_type, coalesce(i.schedule_conf, ''), "             \
    "i.misfire_strategy, coalesce(i.executor_route_strategy, ''), "                                \
    "coalesce(i.executor_handler, ''), coalesce(i.executor_param, ''), "                           \
    "coalesce(i.executor_block_strategy, ''), i.executor_timeout, i.executor_fail_retry_count, "   \
    "i.glue_type, coalesce(i.glue_updatetime, ''), coalesce(i.child_jobid, ''), "                  \
    "coalesce(i.alarm_email, ''), i.job_desc))"

#define COLUMNS                                                                                    \
    "SELECT i.id, i.trigger_next_time, i.trigger_last_time, d.next_ms, d.last_ms, "                \
    "d.planned_until_ms, d.version, " MY_JAVA_KNOWS ", coalesce(b.digest = " DIGEST ", 0)"

/* ---- the lock -------------------------------------------------------------------------------- */

/* A transaction that does not begin with it waits itself. Its own place in the queue, if it has
 * one, would be in its way: a Java admin may stand between the two. */
enum err my_beside_lock(struct mydb *s, struct why *why)
{
    struct sql_query *q;
    int64_t one = 0;
    if (s->plan_locked)
        return OK;
    if (s->lock.asked)
        my_lock_drop(s);
    enum err err = sql_query(&s->sql, MY_SCHEDULE_LOCK, &q, why);
    if (!err)
        err = sql_one(q, 0, &one, why);
    if (!err && !one)
        err = my_schedule_lock_lost(s, why);
    s->plan_locked = !err;
    return err;
}

/* ---- jobs that are due ----------------------------------------------------------------------- */

struct claimed { /* a job that is due */
    struct due_row due;
    int64_t at_ms; /* trigger_next_time */
    bool has_due;  /* there is a row of peal_due */
    bool known;    /* XXL-JOB can schedule it */
    bool same;     /* as it was when it was looked at last */
};

static void claimed_read(struct sql_query *q, struct claimed *c)
{
    int64_t last = sql_i64(q, 2, 0), ours = sql_i64(q, 4, 0), until = sql_i64(q, 5, 0);
    *c = (struct claimed){
        .due = { .job_id = sql_i64(q, 0, 0),
                 .next_ms = sql_i64(q, 3, NEVER_MS),
                 .last_ms = last > ours ? last : ours,
                 .planned_until_ms = last > until ? last : until,
                 .version = sql_i64(q, 6, 0) },
        .at_ms = sql_i64(q, 1, 0),
        .has_due = sql_i64(q, 6, -1) >= 0,
        .known = sql_i64(q, 7, 0) != 0,
        .same = sql_i64(q, 8, 0) != 0,
    };
}

static enum err claim(struct mydb *s, const char *text, int64_t from_ms, int64_t until_ms, int max,
                      struct claimed *rows, int *ret_n, struct why *why)
{
    struct sql_query *q;
    bool row = true;
    enum err err = sql_query(&s->sql, text, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, from_ms);
    sql_bind_i64(q, 2, until_ms);
    sql_bind_i64(q, 3, max);
    while (!(err = sql_next(q, &row, why)) && row)
        claimed_read(q, &rows[(*ret_n)++]);
    return err;
}

/* Its definition is not the one that was known: the next look at it reads it anew. */
static enum err look_anew(struct mydb *s, struct claimed *c, struct why *why)
{
    static const char *const texts[] = {
        "UPDATE peal_due SET version = version + 1 WHERE job_id = ?1",
        "REPLACE INTO peal_beside (job_id, digest) SELECT i.id, " DIGEST
        " FROM xxl_job_info i WHERE i.id = ?1",
    };
    enum err err = OK;
    for (size_t i = 0; !err && i < countof(texts); i++)
        err = sql_change_by_id(&s->sql, texts[i], c->due.job_id, NULL, why);
    c->due.version++;
    return err;
}

/* What the year 2100 should stand for, and does not: a Java admin has saved the job. */
static enum err park_again(struct mydb *s, const struct claimed *c, struct why *why)
{
    return sql_change_by_id(&s->sql,
                            "UPDATE xxl_job_info SET trigger_next_time = " MY_PARKED
                            " WHERE id = ?1 AND trigger_status = 1",
                            c->due.job_id, NULL, why);
}

/* The next scheduled time behind now, whichever that is: planning goes on behind what it takes for
 * planned already. */
static void begin_anew(struct due_row *due)
{
    int64_t now_ms = clock_wall_ms();
    if (due->planned_until_ms < now_ms)
        due->planned_until_ms = now_ms;
    due->next_ms = due->planned_until_ms;
}

/* *ret_due: it is, for planning. */
static enum err take_one(struct mydb *s, struct claimed *c, int64_t until_ms, bool *ret_due,
                         struct why *why)
{
    enum err err = OK;
    if (!c->has_due)
        err = sql_change_by_id(&s->sql, "INSERT INTO peal_due (job_id) VALUES (?1)", c->due.job_id,
                               NULL, why);
    if (!err && !(c->same && c->has_due))
        err = look_anew(s, c, why);
    if (!err && !c->known)
        err = park_again(s, c, why);
    if (c->known)
        c->due.next_ms = c->at_ms;
    if (c->due.next_ms <= 0 || c->due.next_ms == NEVER_MS)
        begin_anew(&c->due);
    *ret_due = c->due.next_ms <= until_ms;
    return err;
}

/* A Java admin has advanced or stopped these since: what peal_due says of them is old. */
static enum err forget_old(struct mydb *s, int64_t until_ms, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_query(&s->sql,
                  "UPDATE peal_due d FORCE INDEX (i_due_next) LEFT JOIN xxl_job_info i ON "
                  "i.id = d.job_id SET d.next_ms = CASE WHEN i.trigger_status = 1 THEN "
                  "i.trigger_next_time END WHERE d.next_ms <= ?1 AND (i.id IS NULL OR "
                  "i.trigger_status <> 1 OR (i.trigger_next_time <> " MY_PARKED
                  " AND i.trigger_next_time > ?1))",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, until_ms);
    return sql_do(q, why);
}

static enum err claim_all(struct mydb *s, int64_t from_ms, int64_t until_ms, int max,
                          struct claimed *rows, int *ret_n, struct why *why)
{
    static const char java[] =
        COLUMNS " FROM xxl_job_info i LEFT JOIN peal_due d ON d.job_id = i.id LEFT JOIN peal_job p "
                "ON p.job_id = i.id LEFT JOIN peal_beside b ON b.job_id = i.id WHERE "
                "i.trigger_status = 1 AND i.trigger_next_time BETWEEN ?1 AND ?2 "
                "ORDER BY i.trigger_next_time, i.id LIMIT ?3 FOR UPDATE SKIP LOCKED";
    static const char parked[] =
        COLUMNS " FROM peal_due d FORCE INDEX (i_due_next) JOIN xxl_job_info i ON i.id = d.job_id "
                "LEFT JOIN peal_job p ON p.job_id = i.id LEFT JOIN peal_beside b ON "
                "b.job_id = i.id WHERE d.next_ms BETWEEN ?1 AND ?2 AND i.trigger_status = 1 AND "
                "i.trigger_next_time = " MY_PARKED
                " ORDER BY d.next_ms, i.id LIMIT ?3 FOR UPDATE SKIP LOCKED";
    enum err err = forget_old(s, until_ms, why);
    if (!err)
        err = claim(s, java, from_ms, until_ms, max, rows, ret_n, why);
    if (!err && *ret_n < max)
        err = claim(s, parked, from_ms, until_ms, max - *ret_n, rows, ret_n, why);
    return err;
}

enum err my_beside_take(struct mydb *s, int64_t from_ms, int64_t until_ms, int max,
                        struct due_row *rows, int *ret_n, int64_t *ret_next_ms, struct why *why)
{
    struct claimed *claimed = mem_new(((size_t)max + 1) * sizeof(*claimed));
    int found = 0, n = 0;
    enum err err = my_beside_lock(s, why);
    if (!err)
        err = claim_all(s, from_ms, until_ms, max, claimed, &found, why);
    for (int i = 0; !err && i < found; i++) {
        bool due = false;
        err = take_one(s, &claimed[i], until_ms, &due, why);
        if (!err && due)
            rows[n++] = claimed[i].due;
    }
    if (!err)
        err = my_adopted_spans_more(s, why);
    free(claimed);
    if (err)
        return err;
    *ret_n = n;
    *ret_next_ms = until_ms + 1;
    return OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Of i, d (peal_due) and p (peal_job). A job that has stopped has no times, as XXL-JOB has it. By
 * the primary key: along an index on trigger_status it would wait for jobs that it does not write,
 * which a Java admin holds while it waits for that index. */
#define TELL                                                                                       \
    "UPDATE xxl_job_info i FORCE INDEX (PRIMARY) JOIN peal_due d ON d.job_id = i.id LEFT JOIN "    \
    "peal_job p ON p.job_id = i.id SET i.trigger_last_time = CASE WHEN i.trigger_status <> 1 "     \
    "THEN 0 ELSE "                                                                                 \
    "greatest(i.trigger_last_time, d.last_ms) END, i.trigger_next_time = CASE WHEN "               \
    "i.trigger_status <> 1 THEN 0 WHEN " MY_JAVA_KNOWS " THEN coalesce(d.next_ms, " MY_PARKED      \
    ") ELSE " MY_PARKED " END WHERE "

static enum err tell_some(struct mydb *s, const struct due_row *rows, int n, struct why *why)
{
    struct buf text = BUF_INIT(65536);
    struct sql_query *q = NULL;
    buf_text(&text, TELL "i.trigger_status = 1 AND i.id IN (");
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%s%lld", i ? "," : "", (long long)rows[i].job_id);
    buf_char(&text, ')');
    enum err err = sql_query_once(&s->sql, buf_str(&text), &q, why);
    if (!err)
        err = sql_do(q, why);
    sql_query_end(q);
    buf_done(&text);
    return err;
}

enum err my_beside_put(struct mydb *s, const struct due_row *rows, int n, struct why *why)
{
    enum err err = n ? my_beside_lock(s, why) : OK;
    for (int i = 0; !err && i < n; i += TELL_MAX)
        err = tell_some(s, rows + i, n - i < TELL_MAX ? n - i : TELL_MAX, why);
    return err;
}

static enum err told(struct mydb *s, int64_t id, struct why *why)
{
    enum err err = sql_change_by_id(&s->sql, TELL "i.id = ?1", id, NULL, why);
    if (!err)
        err = sql_change_by_id(&s->sql,
                               "REPLACE INTO peal_beside (job_id, digest) SELECT i.id, " DIGEST
                               " FROM xxl_job_info i WHERE i.id = ?1",
                               id, NULL, why);
    return err;
}

enum err my_job_insert(struct store *store, struct job_record *r, struct why *why)
{
    struct mydb *s = my_of(store);
    enum err err = s->adopted.beside ? my_beside_lock(s, why) : OK;
    if (!err)
        err = sql_job_insert(store, r, why);
    return err || !s->adopted.beside ? err : told(s, r->id, why);
}

/* peal_due says where the job stands, so that an edit that leaves its times alone leaves them where
 * a Java admin has put them: old in the record, they are not written. */
static enum err update_beside(struct mydb *s, const struct job_record *r, struct why *why)
{
    struct sql_query *q;
    struct job_record now = *r;
    int64_t known = NEVER_MS, at_ms = 0;
    enum err err = my_beside_lock(s, why);
    if (!err)
        err = sql_query(&s->sql, "SELECT next_ms FROM peal_due WHERE job_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    err = sql_one(q, NEVER_MS, &known, why);
    if (!err)
        err = sql_query(&s->sql,
                        "SELECT trigger_next_time FROM xxl_job_info WHERE id = ?1 AND "
                        "trigger_status = 1 AND trigger_next_time <> " MY_PARKED " FOR UPDATE",
                        &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, r->id);
    err = sql_one(q, 0, &at_ms, why);
    if (at_ms > 0 && r->enabled && r->next_ms == known)
        now.next_ms = at_ms;
    if (!err)
        err = sql_job_update(&s->sql.store, &now, why);
    return err ? err : told(s, r->id, why);
}

enum err my_job_update(struct store *store, const struct job_record *r, struct why *why)
{
    struct mydb *s = my_of(store);
    return s->adopted.beside ? update_beside(s, r, why) : sql_job_update(store, r, why);
}

enum err my_jobs_stop(struct store *store, const struct job_stop *stops, int n, int64_t now_ms,
                      struct why *why)
{
    struct mydb *s = my_of(store);
    enum err err = s->adopted.beside ? my_beside_lock(s, why) : OK;
    if (!err)
        err = sql_jobs_stop(store, stops, n, now_ms, why);
    for (int i = 0; !err && s->adopted.beside && i < n; i++)
        err = told(s, stops[i].job_id, why);
    return err;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool ended_lend(struct sql_query *q, void *fn, void *ctx)
{
    char *msg = sql_text(q, 2);
    bool more = (*(run_ended_fn **)fn)(ctx, sql_i64(q, 0, 0), sql_int(q, 1, 500), msg);
    free(msg);
    return more;
}

enum err my_runs_ended(struct store *store, run_ended_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT r.log_id, l.handle_code, l.handle_msg FROM peal_run r JOIN "
                             "xxl_job_log l ON l.id = r.log_id WHERE r.phase BETWEEN 2 AND 4 AND "
                             "l.handle_code > 0 LIMIT 1000",
                             &q, why);
    return err ? err : sql_rows(q, ended_lend, &fn, ctx, why);
}

/* ---- all jobs -------------------------------------------------------------------------------- */

enum err my_beside_sync(struct mydb *s, struct why *why)
{
    static const char *const texts[] = {
        "DELETE d FROM peal_due d LEFT JOIN xxl_job_info i ON i.id = d.job_id WHERE i.id IS NULL",
        "DELETE b FROM peal_beside b LEFT JOIN xxl_job_info i ON i.id = b.job_id WHERE i.id IS "
        "NULL",
        "INSERT INTO peal_due (job_id, last_ms, version) SELECT i.id, i.trigger_last_time, 1 FROM "
        "xxl_job_info i LEFT JOIN peal_due d ON d.job_id = i.id WHERE d.job_id IS NULL",
        "UPDATE peal_due d JOIN xxl_job_info i ON i.id = d.job_id LEFT JOIN peal_job p ON "
        "p.job_id = i.id SET d.next_ms = CASE WHEN i.trigger_status = 1 THEN "
        "i.trigger_next_time END, d.last_ms = greatest(d.last_ms, i.trigger_last_time), "
        "d.planned_until_ms = greatest(d.planned_until_ms, i.trigger_last_time) WHERE "
        "i.trigger_next_time <> " MY_PARKED " AND (" MY_JAVA_KNOWS " OR i.trigger_status <> 1)",
        "UPDATE xxl_job_info i LEFT JOIN peal_job p ON p.job_id = i.id SET i.trigger_next_time "
        "= " MY_PARKED " WHERE i.trigger_status = 1 AND NOT " MY_JAVA_KNOWS,
    };
    enum err err = my_beside_lock(s, why);
    for (size_t i = 0; !err && i < countof(texts); i++)
        err = my_exec(s, texts[i], why);
    return err;
}

enum err my_beside_begin(struct mydb *s, struct why *why)
{
    struct store *store = &s->sql.store;
    struct commit none = { 0 };
    enum err err = store->ops->txn->begin(store, why);
    if (!err)
        err = my_beside_sync(s, why);
    if (!err)
        err = store->ops->txn->commit(store, &none, why);
    if (err)
        store->ops->txn->rollback(store);
    return err;
}
