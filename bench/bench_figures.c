/* SPDX-License-Identifier: Apache-2.0 */
/* What figures cost: CPU of the whole process a firing, and the start from bytes that no row
 * includes yet.
 *
 *     bench_figures [SECONDS] [DIR]
 *
 * 10,000 firings a second end in batches of 100, once of 10,000 jobs that fire each second, once of
 * 600,000 that fire each minute, for SECONDS (400) of the batches' clock, which is long enough for
 * all jobs to be folded. DIR (/dev/shm): a disk's time is not CPU, and takes long. A batch writes
 * nothing but its ends; what its commit costs without figures is measured alone and taken off. */
#include "base/mem.h"
#include "ledger/figures.h"
#include "store/sqlite/sqlite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define A_SECOND 10000
#define BATCH 100
#define GROUPS 20
#define BEGIN_MS INT64_C(1760000400000) /* a full hour */
#define LOAD_BYTES (64 << 20)

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(enum err err, const struct why *why)
{
    if (!err)
        return;
    fprintf(stderr, "bench_figures: %s: %s\n", err_text(err), why->text);
    exit(1);
}

static struct store *store_new(const char *folder)
{
    char file[4096], other[4104], url[4104];
    struct store *s;
    struct why why = { "" };
    static const char *const suffixes[] = { "", "-wal", "-shm", ".lock" };
    snprintf(file, sizeof(file), "%s/bench_figures.db", folder);
    for (size_t i = 0; i < countof(suffixes); i++) {
        snprintf(other, sizeof(other), "%s%s", file, suffixes[i]);
        unlink(other);
    }
    snprintf(url, sizeof(url), "sqlite:%s", file);
    const struct store_options options = { .node = 1, .epoch = 1 };
    must(store_open(url, &options, &s, &why), &why);
    return s;
}

/* Rows of jobs, so that a start finds that they exist. */
static void jobs_new(struct store *s, int n)
{
    struct why why = { "" };
    struct job_record r;
    job_record_init(&r);
    r.group_id = 1;
    must(s->ops->txn->begin(s, &why), &why);
    for (int i = 0; i < n; i++)
        must(s->ops->catalog->job_insert(s, &r, &why), &why);
    must(s->ops->txn->commit(s, NULL, &why), &why);
    job_record_done(&r);
}

static void fill(struct batch *b, int64_t first, int jobs, int64_t now_ms)
{
    b->now_ms = now_ms;
    b->nends = BATCH;
    for (int i = 0; i < BATCH; i++) {
        int64_t job = (first + i) % jobs * 7919 % jobs + 1; /* any order of ids */
        b->ends[i] = (struct run_end){
            .log_id = first + i + 1,
            .job_id = job,
            .group_id = job % GROUPS + 1,
            .log_ms = now_ms / 1000 * 1000,
            .took_ms = 20 + (first + i) % 97 * (job % 11),
            .late_ms = (first + i) % 4,
            .now = (first + i) % 1000 ? OUTCOME_SUCCEEDED : OUTCOME_FAILED,
        };
    }
}

/* f NULL: the commit alone. */
static void commit(struct store *s, struct figures *f, struct batch *b)
{
    struct why why = { "" };
    const struct commit c = { .totals = { { [TOTAL_FINISHED] = b->nends } } };
    must(s->ops->txn->begin(s, &why), &why);
    if (f)
        must(figures_write(f, s, b, &why), &why);
    must(s->ops->txn->commit(s, &c, &why), &why);
    if (f)
        figures_written(f, b, true);
}

static double run(struct store *s, struct figures *f, int jobs, int64_t batches)
{
    struct batch *b = batch_new();
    b->ends = mem_new(BATCH * sizeof(*b->ends));
    double before = cpu_us();
    for (int64_t i = 0; i < batches; i++) {
        fill(b, i * BATCH, jobs, BEGIN_MS + i * BATCH * 1000 / A_SECOND);
        commit(s, f, b);
    }
    double took = cpu_us() - before;
    batch_free(b);
    return took / (double)(batches * BATCH);
}

static void firings(const char *folder, int jobs, int seconds)
{
    int64_t batches = (int64_t)seconds * A_SECOND / BATCH;
    struct store *s = store_new(folder);
    struct figures *f = figures_new(zone_utc());
    struct why why = { "" };
    must(figures_load(f, s, &why), &why);
    double alone = run(s, NULL, jobs, batches / 4), with = run(s, f, jobs, batches);
    printf("%d jobs, %d firings a second, %d s: %.2f us a firing (with the commit %.2f)\n", jobs,
           A_SECOND, seconds, with - alone, with);
    figures_free(f);
    store_close(s);
}

struct bytes {
    int64_t all;
};

static bool add_bytes(void *ctx, int64_t n, struct slice ends)
{
    (void)n;
    ((struct bytes *)ctx)->all += (int64_t)ends.n;
    return true;
}

/* Each job ends once, and has its rows. */
static void first_rows(struct store *s, struct figures *f, struct batch *b, int jobs)
{
    for (int64_t i = 0; i < jobs / BATCH; i++) {
        fill(b, i * BATCH, jobs, BEGIN_MS - 3600000);
        commit(s, f, b);
    }
    b->nends = 0;
    b->now_ms = BEGIN_MS - 1800000;
    for (int i = 0; i < jobs / 50; i++)
        commit(s, f, b);
}

/* All within one quarter hour and five minutes: nothing is folded. */
static void start(const char *folder, int jobs)
{
    struct store *s = store_new(folder);
    struct figures *f = figures_new(zone_utc());
    struct batch *b = batch_new();
    struct why why = { "" };
    struct bytes on_disk = { 0 };
    b->ends = mem_new(BATCH * sizeof(*b->ends));
    jobs_new(s, jobs);
    must(figures_load(f, s, &why), &why);
    first_rows(s, f, b, jobs);
    for (int64_t i = 0, bytes = 0; bytes < LOAD_BYTES - (2 << 20); i++) {
        fill(b, i * BATCH, jobs, BEGIN_MS + i % 250000);
        commit(s, f, b);
        if (i % 1000)
            continue;
        on_disk.all = 0;
        must(s->ops->figures->deltas_each(s, add_bytes, &on_disk, &why), &why);
        bytes = on_disk.all;
    }
    figures_free(f);
    f = figures_new(zone_utc());
    double cpu = cpu_us(), wall = wall_ms();
    must(figures_load(f, s, &why), &why);
    printf("%d jobs, start from %.0f MiB of ends: %.0f ms (CPU %.0f)\n", jobs,
           (double)on_disk.all / (1 << 20), wall_ms() - wall, (cpu_us() - cpu) / 1e3);
    batch_free(b);
    figures_free(f);
    store_close(s);
}

int main(int argc, char **argv)
{
    int seconds = 400;
    const char *folder = argc > 2 ? argv[2] : "/dev/shm";
    if (argc > 1 && (!parse_int(slice_text(argv[1]), &seconds) || seconds < 1)) {
        fprintf(stderr, "usage: bench_figures [SECONDS] [DIR]\n");
        return 2;
    }
    firings(folder, 10000, seconds);
    firings(folder, 600000, seconds);
    start(folder, 10000);
    start(folder, 600000);
    return 0;
}
