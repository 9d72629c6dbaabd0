/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as another program may have left them: the input decides what is written into the columns,
 * then everything is read and a transaction is tried. No answer may crash; what is read must be
 * within the bounds that the records promise. */
#include "fuzz.h"
#include "ledger/figures.h"
#include "store/sqlite/sqlite_db.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    const uint8_t *p;
    size_t n;
};

static unsigned take(struct input *in)
{
    if (!in->n)
        return 0;
    in->n--;
    return *in->p++;
}

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* One value of any type, from the input. */
static void bind_any(sqlite3_stmt *q, int i, struct input *in)
{
    static const int64_t odd[] = { INT64_MIN, INT64_MAX, -1, 0, INT32_MAX, INT64_C(1) << 53 };
    unsigned kind = take(in), n;
    switch (kind % 6) {
    case 0:
        sqlite3_bind_null(q, i);
        break;
    case 1:
        sqlite3_bind_int64(q, i, (int64_t)take(in) - 8);
        break;
    case 2:
        sqlite3_bind_int64(q, i, odd[take(in) % 6]);
        break;
    case 3:
        sqlite3_bind_double(q, i, (double)take(in) / 3);
        break;
    default:
        n = take(in) % 32;
        n = n > in->n ? (unsigned)in->n : n;
        if (kind % 6 == 4)
            sqlite3_bind_text(q, i, (const char *)in->p, (int)n, SQLITE_TRANSIENT);
        else
            sqlite3_bind_blob(q, i, in->p, (int)n, SQLITE_TRANSIENT);
        in->p += n;
        in->n -= n;
    }
}

static const char *const tables[] = {
    "xxl_job_info", "xxl_job_log", "xxl_job_group", "xxl_job_registry",  "xxl_job_user",
    "peal_job",     "peal_due",    "peal_run",      "peal_skip",         "peal_epoch",
    "peal_seq",     "peal_purge",  "peal_user",     "peal_session",      "peal_log_span",
    "peal_delta",   "peal_figure", "peal_job_stat", "xxl_job_log_report"
};

static void write_row(sqlite3 *db, struct input *in)
{
    const char *table = tables[take(in) % (sizeof(tables) / sizeof(*tables))];
    char text[512];
    sqlite3_stmt *q;
    snprintf(text, sizeof(text), "SELECT count(*) FROM pragma_table_info('%s')", table);
    check(sqlite3_prepare_v2(db, text, -1, &q, NULL) == SQLITE_OK);
    sqlite3_step(q);
    int columns = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    int n = snprintf(text, sizeof(text), "INSERT OR REPLACE INTO %s VALUES (?", table);
    for (int i = 1; i < columns; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, ", ?");
    snprintf(text + n, sizeof(text) - (size_t)n, ")");
    check(sqlite3_prepare_v2(db, text, -1, &q, NULL) == SQLITE_OK);
    for (int i = 1; i <= columns; i++)
        bind_any(q, i, in);
    sqlite3_step(q); /* STRICT tables refuse much of it */
    sqlite3_finalize(q);
}

static bool on_job(void *ctx, const struct job_record *r)
{
    (void)ctx;
    check(!r->description || strlen(r->description) < 64);
    return true;
}
static bool on_log(void *ctx, const struct log_record *r)
{
    (void)ctx;
    check(r->phase < PHASE_COUNT && r->kind <= KIND_COUNT); /* KIND_COUNT: nobody knows */
    return true;
}
static bool on_group(void *ctx, const struct group_record *r)
{
    (void)ctx;
    return r->id != 77;
}
static bool on_registry(void *ctx, const struct registry_record *r)
{
    (void)ctx;
    return r->key != NULL;
}
static bool on_run(void *ctx, const struct run_row *r)
{
    (void)ctx;
    check(r->phase >= PHASE_PLANNED && r->phase <= PHASE_LOST && r->kind < KIND_COUNT);
    return true;
}

static void read_one(struct store *s, int64_t id)
{
    const struct store_ops *ops = s->ops;
    struct job_record j;
    struct log_record l;
    struct group_record g;
    struct user_record u;
    if (!ops->catalog->job_get(s, id, &j, NULL))
        job_record_done(&j);
    if (!ops->pages->log_get(s, id, &l, NULL))
        log_record_done(&l);
    if (!ops->catalog->group_get(s, id, &g, NULL))
        group_record_done(&g);
    if (!ops->users->user_get(s, id, &u, NULL))
        user_record_done(&u);
}

/* Figures of any rows can be loaded and read. */
static void read_figures(struct store *s)
{
    struct figures *f = figures_new(zone_utc());
    struct report_row days[FIGURES_REPORT_DAYS];
    struct figure figure;
    uint32_t durations[DURATION_BUCKETS];
    check(!figures_load(f, s, NULL));
    check(!figures_report(f, s, NULL, 1000000, days, NULL));
    for (int64_t id = 0; id < 3; id++)
        check(!figures_read(f, s, FIGURE_DAY, id, 0, 0, &figure, durations, NULL));
    figures_free(f);
}

static void read_all(struct store *s, struct input *in)
{
    const struct store_ops *ops = s->ops;
    const struct jobs_filter jobs = { .status = (int)(take(in) % 4) - 1, .limit = 100 };
    const struct logs_filter logs = { .status = (int)(take(in) % 5), .limit = 100, .to_ms = -1 };
    const struct logs_filter open = { .from_ms = -1, .to_ms = INT64_MAX, .limit = 100 };
    const struct groups_filter groups = { .app = "a", .limit = 100 };
    struct due_row due[8];
    struct totals t;
    struct session_record session;
    int n;
    int64_t number;
    struct watermark watermark;
    check(!ops->pages->jobs_page(s, &jobs, on_job, NULL, &number, NULL));
    check(!ops->pages->logs_page(s, &logs, on_log, NULL, &number, NULL));
    check(!ops->pages->logs_page(s, &open, on_log, NULL, &number, NULL));
    check(!ops->pages->groups_page(s, &groups, on_group, NULL, &number, NULL));
    check(!ops->catalog->groups_each(s, on_group, NULL, NULL));
    check(!ops->catalog->registry_each(s, on_registry, NULL, NULL));
    check(!ops->runs->runs_each(s, on_run, NULL, NULL));
    check(!ops->runs->due_take(s, INT64_MIN, INT64_MAX - 1, 8, due, &n, &number, NULL) && n <= 8);
    check(!ops->runs->due_each(s, true, 0, 8, due, &n, NULL) && n <= 8);
    check(!ops->runs->due_each(s, false, 0, 8, due, &n, NULL) && n <= 8);
    check(!ops->txn->totals_get(s, &t, &number, NULL));
    check(!ops->txn->watermark_get(s, &watermark, NULL));
    enum err err = ops->users->session_find(s, "a", &session, NULL);
    check(!err || err == ERR_NOTFOUND);
    for (int64_t id = -8; id < 16; id++)
        read_one(s, id);
    read_figures(s);
}

static enum err write_figures(struct store *s)
{
    const struct store_figures *ops = s->ops->figures;
    static const uint32_t durations[DURATION_BUCKETS] = { 1, 2, UINT32_MAX };
    static const struct job_stat stat = { .nlast = 0 };
    const struct job_stat_row job = { .job_id = 1, .through = 5, .stat = &stat };
    const struct report_row report = { .day_ms = 0, .running = 1 };
    bool more;
    int64_t n;
    struct figure_row rows[3] = { { .slot = 1, .through = 5, .durations = durations },
                                  { .slot = 2, .through = INT64_MAX, .group_id = 1 },
                                  { .slot = 3, .through = 6, .job_id = 1 } };
    for (int i = 0; i < 3; i++)
        rows[i].figure.counts[OUTCOME_SUCCEEDED] = rows[i].figure.took_ms = 7;
    enum err err = ops->figures_add(s, rows, 3, NULL);
    err = err ? err : ops->job_stats_put(s, &job, 1, NULL);
    err = err ? err : ops->delta_add(s, slice_text("x"), &n, NULL);
    err = err ? err : ops->deltas_drop(s, 3, NULL);
    err = err ? err : ops->figures_expire(s, INT64_MIN, 1, 5, &more, NULL);
    check(!err); /* no row of another program may keep the center from committing */
    return ops->reports_put(s, &report, 1, NULL);
}

/* Whatever stands there, a transaction succeeds or refuses, and the handle stays usable. */
static void try_writing(struct store *s)
{
    const struct store_ops *ops = s->ops;
    struct run_row r = {
        .job_id = 1, .scheduled_ms = 5, .kind = KIND_CRON, .phase = PHASE_PLANNED
    };
    const struct commit commit = { .totals = { { 1, 1 } } };
    struct late_result late = { .log_id = 1, .at_ms = 1, .code = 200, .msg = (char *)"late" };
    struct skip_row skip = { 1, 1, 2, 3, MISFIRE_FIRE_ALL, true };
    int noted;
    int64_t missed;
    bool more;
    check(!ops->txn->begin(s, NULL));
    enum err err = ops->runs->runs_add(s, &r, 1, NULL);
    struct run_change c = { .log_id = 1, .what = CHANGE_FINISH | CHANGE_CLOSE | CHANGE_ALARM };
    err = err ? err : ops->runs->runs_change(s, &c, 1, &missed, NULL);
    err = err ? err : ops->runs->late_add(s, &late, 1, &noted, NULL);
    err = err ? err : ops->runs->skips_add(s, &skip, 1, NULL);
    err = err ? err : ops->runs->purge(s, 5, &more, NULL);
    err = err ? err : write_figures(s);
    err = err ? err : ops->txn->commit(s, &commit, NULL);
    if (err)
        ops->txn->rollback(s);
    check(!ops->txn->begin(s, NULL));
    ops->txn->rollback(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct store *s;
    if (!s)
        check(!store_open("sqlite::memory:", NULL, &s, NULL));
    struct input in = { data, size };
    sqlite3 *db = sqlite_of(s)->db;

    for (int i = 0; i < 8 && in.n; i++)
        write_row(db, &in);
    read_all(s, &in);
    try_writing(s);
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        char text[64];
        snprintf(text, sizeof(text), "DELETE FROM %s", tables[i]);
        check(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
    }
    return 0;
}
