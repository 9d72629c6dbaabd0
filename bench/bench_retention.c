/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs the writer that old rows of the log go, a row and so a firing in steady state: CPU
 * of the process, which checkpoints too. bench/databases.py --retention adds that of a server.
 *
 *     bench_retention [ROWS] [DIR | URL]
 *
 * ROWS runs of 100 jobs within 40 days, 2 % of which fail, are planned and ended as the writer does
 * it. Then they go: those older than 30 days, with and without failures that stay, and those beyond
 * the newest 1,000 of each job. Ten steps of 100 rows are in a transaction, as a center at 5,000
 * runs a second has them. */
#include "base/clock.h"
#include "base/mem.h"
#include "ledger/retention.h"
#include "store/sqlite/sqlite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { JOBS = 100, BATCH = 1000, STEPS = 10 };

#define NOW_MS INT64_C(1800000000000)
#define DAY_MS INT64_C(86400000)

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void must(enum err err, const struct why *why)
{
    if (!err)
        return;
    fprintf(stderr, "bench_retention: %s: %s\n", err_text(err), why->text);
    exit(1);
}

#define MUST(s, op, ...)                                                                           \
    do {                                                                                           \
        struct why reason = { "" };                                                                \
        must((s)->ops->op((s), ##__VA_ARGS__, &reason), &reason);                                  \
    } while (0)

/* Runs first to first + BATCH - 1 of all, planned, then ended. */
static void batch(struct store *s, int first, int all)
{
    static struct run_row rows[BATCH];
    static struct run_change changes[BATCH];
    for (int i = 0; i < BATCH; i++) {
        int n = first + i;
        int64_t ms = NOW_MS - 40 * DAY_MS + (int64_t)n * 40 * DAY_MS / all;
        rows[i] = (struct run_row){ .job_id = 1 + n % JOBS,
                                    .group_id = 1,
                                    .scheduled_ms = ms,
                                    .due_ms = ms,
                                    .version = 1,
                                    .shard_total = 1,
                                    .kind = KIND_CRON,
                                    .phase = PHASE_PLANNED,
                                    .address = "http://10.0.0.17:9999/",
                                    .handler = "demoJobHandler" };
        bool failed = n % 50 == 7;
        changes[i] = (struct run_change){ .what = CHANGE_PHASE | CHANGE_TRIGGER | CHANGE_FINISH |
                                                  CHANGE_CLOSE,
                                          .phase = failed ? PHASE_FAILED : PHASE_SUCCEEDED,
                                          .trigger_code = 200,
                                          .handle_code = failed ? 500 : 200,
                                          .handle_ms = ms + 1500 };
    }
    int64_t missed;
    MUST(s, txn->begin);
    MUST(s, runs->runs_add, rows, BATCH);
    for (int i = 0; i < BATCH; i++)
        changes[i].log_id = rows[i].log_id;
    MUST(s, runs->runs_change, changes, BATCH, &missed);
    MUST(s, txn->commit, NULL);
}

static void go(struct store *s, const char *name, const struct retention_rules *rules)
{
    struct retention *r = retention_new(rules);
    struct why why = { "" };
    double begin = cpu_us(), most = 0;
    int64_t began_us = clock_boot_us();
    int64_t boot_ms = 1;
    int steps = 0;
    for (bool more = true; more || retention_due(r, s, boot_ms);) {
        MUST(s, txn->begin);
        for (int i = 0; i < STEPS; i++, steps++) {
            double at = (double)clock_boot_us();
            must(retention_step(r, s, NOW_MS, boot_ms, &more, &why), &why);
            most = (double)clock_boot_us() - at > most ? (double)clock_boot_us() - at : most;
        }
        MUST(s, txn->commit, NULL);
        retention_kept(r, boot_ms);
    }
    int64_t gone = retention_count(r, GONE_AGE) + retention_count(r, GONE_ROWS);
    printf("%-36s %9lld rows, %5.2f us CPU a row, %7d steps of %.0f us, the longest took %.0f; "
           "%.1f s\n",
           name, (long long)gone, (cpu_us() - begin) / (double)(gone ? gone : 1), steps,
           (cpu_us() - begin) / steps, most, (double)(clock_boot_us() - began_us) / 1e6);
    fflush(stdout);
    retention_free(r);
}

static void measure(const char *url, int rows)
{
    struct why why = { "" };
    struct store *s;
    must(store_open(url, NULL, &s, &why), &why);
    double begin = cpu_us();
    for (int i = 0; i + BATCH <= rows; i += BATCH)
        batch(s, i, rows);
    printf("%-36s %9d rows, %5.2f us CPU a row\n", "planned and ended", rows,
           (cpu_us() - begin) / rows);
    fflush(stdout);
    go(s, "over 30 days, failures stay 90", &(struct retention_rules){ 30, 90, 0, 0 });
    go(s, "over 30 days, what is left", &(struct retention_rules){ 30, 30, 0, 0 });
    go(s, "beyond 1,000 of each job", &(struct retention_rules){ 0, 0, 1000, 0 });
    store_close(s);
}

int main(int argc, char **argv)
{
    int rows = 1000000;
    char dir[256], path[300], url[320];
    if (argc > 1 && (!parse_int(slice_text(argv[1]), &rows) || rows < BATCH)) {
        fprintf(stderr, "usage: bench_retention [ROWS] [DIR | URL]\n");
        return 2;
    }
    if (argc > 2 && strstr(argv[2], "://")) {
        measure(argv[2], rows);
        return 0;
    }
    snprintf(dir, sizeof(dir), "%s/peal-bench-XXXXXX", argc > 2 ? argv[2] : "/tmp");
    if (!mkdtemp(dir)) {
        fprintf(stderr, "bench_retention: %s cannot be made\n", dir);
        return 1;
    }
    snprintf(path, sizeof(path), "%s/peal.db", dir);
    snprintf(url, sizeof(url), "sqlite:%s", path);
    measure(url, rows);
    static const char *const endings[] = { "", "-wal", "-shm", ".lock" };
    for (size_t i = 0; i < countof(endings); i++) {
        snprintf(url, sizeof(url), "%s%s", path, endings[i]);
        unlink(url);
    }
    return rmdir(dir) != 0;
}
