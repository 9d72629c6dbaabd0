/* SPDX-License-Identifier: Apache-2.0 */
/* What pages of a long log, and the purge of a deleted job's, cost in SQLite: CPU of the process.
 *
 *     bench_pages [ROWS] [DIR]
 *
 * ROWS runs of 100 jobs are planned and ended as the writer does it; 60 % are of one job, all of
 * which fail. Of another job one of a thousand fails. */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { JOBS = 100, BATCH = 1000, FAILS = 1, FINE = 2 };

static double cpu_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static void must(enum err err, const struct why *why)
{
    if (!err)
        return;
    fprintf(stderr, "bench_pages: %s: %s\n", err_text(err), why->text);
    exit(1);
}

#define MUST(s, op, ...)                                                                           \
    do {                                                                                           \
        struct why why = { "" };                                                                   \
        must((s)->ops->op((s), ##__VA_ARGS__, &why), &why);                                        \
    } while (0)

/* Runs first to first + BATCH - 1, planned, then ended. */
static void batch(struct store *s, int first)
{
    static struct run_row rows[BATCH];
    static struct run_change changes[BATCH];
    for (int i = 0; i < BATCH; i++) {
        int n = first + i, job = n % 5 < 3 ? FAILS : FINE + n / 5 % (JOBS - 1);
        bool failed = job == FAILS || (job == FINE && n / 5 / (JOBS - 1) % 1000 == 0);
        rows[i] = (struct run_row){ .job_id = job,
                                    .group_id = 1,
                                    .scheduled_ms = 1700000000000 + n,
                                    .due_ms = 1700000000000 + n,
                                    .version = 1,
                                    .shard_total = 1,
                                    .kind = KIND_CRON,
                                    .phase = PHASE_PLANNED,
                                    .address = "http://10.0.0.17:9999/",
                                    .handler = "demoJobHandler" };
        changes[i] = (struct run_change){ .what = CHANGE_PHASE | CHANGE_TRIGGER | CHANGE_FINISH |
                                                  CHANGE_CLOSE,
                                          .phase = failed ? PHASE_FAILED : PHASE_SUCCEEDED,
                                          .trigger_code = 200,
                                          .handle_code = failed ? 500 : 200,
                                          .handle_ms = 1700000000000 + n };
    }
    int64_t missed;
    MUST(s, txn->begin);
    MUST(s, runs->runs_add, rows, BATCH);
    for (int i = 0; i < BATCH; i++)
        changes[i].log_id = rows[i].log_id;
    MUST(s, runs->runs_change, changes, BATCH, &missed);
    MUST(s, txn->commit, NULL);
}

static bool count(void *ctx, const struct log_record *r)
{
    (void)r;
    ++*(int *)ctx;
    return true;
}

static void pages(struct store *s)
{
    static const struct {
        const char *name;
        int64_t job;
        int status;
        int64_t offset;
    } cases[] = {
        { "all", 0, -1, 0 },
        { "all, row 100,000", 0, -1, 100000 },
        { "all that failed", 0, 2, 0 },
        { "a job's, 60 % of the log", FAILS, -1, 0 },
        { "a job's that failed, 60 %", FAILS, 2, 0 },
        { "a job's, 0.4 %", FINE, -1, 0 },
        { "a job's that failed, a few", FINE, 2, 0 },
        { "a job's that run, none", FAILS, 3, 0 },
    };
    printf("%-28s %9s %9s %9s %12s\n", "newest page of 10", "CPU ms", "rows", "total", "VM steps");
    for (size_t i = 0; i < countof(cases); i++) {
        const struct logs_filter f = { .job_id = cases[i].job,
                                       .status = cases[i].status,
                                       .from_ms = -1,
                                       .to_ms = -1,
                                       .offset = cases[i].offset,
                                       .limit = 10,
                                       .now_ms = 1800000000000 };
        int64_t total = 0, steps = store_sqlite_steps(s);
        double begin = cpu_ms();
        int rows = 0, rounds = 0;
        struct why why = { "" };
        enum err err = OK;
        for (; !err && rounds < 5; rounds++)
            err = s->ops->pages->logs_page(s, &f, count, &rows, &total, &why);
        printf("%-28s %9.1f %9d %9lld %12lld %s\n", cases[i].name, (cpu_ms() - begin) / rounds,
               rows / rounds, (long long)total, (long long)(store_sqlite_steps(s) - steps) / rounds,
               err ? why.text : "");
    }
}

static void purge(struct store *s)
{
    struct job_record r;
    job_record_init(&r);
    r.group_id = 1;
    MUST(s, txn->begin);
    for (int i = 0; i < FAILS; i++)
        MUST(s, catalog->job_insert, &r);
    MUST(s, catalog->job_delete, FAILS);
    MUST(s, txn->commit, NULL);
    job_record_done(&r);
    double begin = cpu_ms(), most = 0;
    int steps = 0;
    for (bool more = true; more; steps++) {
        double at = cpu_ms();
        MUST(s, txn->begin);
        MUST(s, runs->purge, 500, &more);
        MUST(s, txn->commit, NULL);
        most = cpu_ms() - at > most ? cpu_ms() - at : most;
    }
    printf("\npurge of the large job: %d steps of 500 rows, %.2f ms CPU each, %.1f at most\n",
           steps, (cpu_ms() - begin) / steps, most);
}

int main(int argc, char **argv)
{
    int rows = 1500000;
    char dir[256], path[300], url[320];
    snprintf(dir, sizeof(dir), "%s/peal-bench-XXXXXX", argc > 2 ? argv[2] : "/tmp");
    if ((argc > 1 && !parse_int(slice_text(argv[1]), &rows)) || rows <= 0 || !mkdtemp(dir)) {
        fprintf(stderr, "usage: bench_pages [ROWS] [DIR]\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/peal.db", dir);
    snprintf(url, sizeof(url), "sqlite:%s", path);
    struct why why = { "" };
    struct store *s;
    must(store_open(url, NULL, &s, &why), &why);
    double begin = cpu_ms();
    for (int i = 0; i < rows; i += BATCH)
        batch(s, i);
    printf("%d rows, %.1f us CPU each\n\n", rows, (cpu_ms() - begin) * 1e3 / rows);
    pages(s);
    purge(s);
    store_close(s);
    static const char *const endings[] = { "", "-wal", "-shm", ".lock" };
    for (size_t i = 0; i < countof(endings); i++) {
        snprintf(url, sizeof(url), "%s%s", path, endings[i]);
        unlink(url);
    }
    return rmdir(dir) != 0;
}
