/* SPDX-License-Identifier: Apache-2.0 */
/* What a firing costs in the store: CPU of the whole process, because a machine shared with others
 * loses wall time without showing it.
 *
 *     bench_store [FIRINGS] [JOBS] [DIR]
 *     bench_store --db URL SERVER [FIRINGS] [JOBS]
 *
 * The second form measures an empty database of a server on this machine, whose first process is
 * SERVER: what that and its children use is told apart.
 *
 * A firing is its live row and log row in, in one transaction of N firings, and in a later one the
 * merged update that closes it, as the writer does when a run is over before it is written again.
 * Planning is due_take and due_put in slices of 500 over JOBS stored jobs. */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* ---- the server of the database -------------------------------------------------------------- */

static int server; /* its first process; 0: the database is a file */

/* The first number of the file, and the one behind the name in parentheses. 0: there is none. */
static int64_t number_in(const char *path, bool parent)
{
    char text[512] = "";
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    int64_t v = 0;
    if (f)
        fclose(f);
    struct slice rest = slice_of(text, n), word;
    const char *behind = parent ? strrchr(text, ')') : NULL;
    if (behind && behind[1])
        rest = slice_text(behind + 4); /* the state is a letter */
    return slice_cut(&rest, ' ', &word) && parse_i64(word, &v) ? v : 0;
}

/* Time on a processor of all threads of the process, in microseconds. */
static double process_us(const char *pid)
{
    char path[300];
    double us = 0;
    snprintf(path, sizeof(path), "/proc/%s/task", pid);
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%s/task/%.20s/schedstat", pid, e->d_name);
        us += (double)number_in(path, false) / 1e3;
    }
    if (d)
        closedir(d);
    return us;
}

/* Of the server and its children that live now. */
static double server_us(void)
{
    double us = 0;
    DIR *d = server ? opendir("/proc") : NULL;
    for (const struct dirent *e; d && (e = readdir(d));) {
        char path[64];
        int pid;
        if (!parse_int(slice_text(e->d_name), &pid))
            continue;
        snprintf(path, sizeof(path), "/proc/%.20s/stat", e->d_name);
        if (pid == server || number_in(path, true) == server)
            us += process_us(e->d_name);
    }
    if (d)
        closedir(d);
    return us;
}

/* ---- the clocks ------------------------------------------------------------------------------ */

static double wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static long resident_kib(void)
{
    char line[128] = "";
    int64_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fgets(line, sizeof(line), f)) {
        struct slice rest = slice_text(line), size, resident;
        if (slice_cut(&rest, ' ', &size) && slice_cut(&rest, ' ', &resident))
            parse_i64(resident, &pages);
    }
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void must(enum err err, const struct why *why)
{
    if (!err)
        return;
    fprintf(stderr, "bench_store: %s: %s\n", err_text(err), why->text);
    exit(1);
}

#define MUST(s, op, ...)                                                                           \
    do {                                                                                           \
        struct why why = { "" };                                                                   \
        must((s)->ops->op((s), ##__VA_ARGS__, &why), &why);                                        \
    } while (0)

static void plan(struct store *s, struct run_row *rows, int n, int jobs, int64_t scheduled_ms,
                 bool sorted)
{
    const struct commit planned = { .totals = { { [TOTAL_PLANNED] = n } } };
    for (int i = 0; i < n; i++) {
        /* planning takes jobs in the order of their scheduled times, which is any order of ids */
        int64_t job = sorted ? i % jobs : (int64_t)i * 7919 % jobs;
        rows[i] = (struct run_row){
            .job_id = job + 1,
            .group_id = 1,
            .scheduled_ms = scheduled_ms + i / jobs,
            .due_ms = scheduled_ms + i / jobs,
            .version = 1,
            .shard_total = 1,
            .kind = KIND_CRON,
            .phase = PHASE_PLANNED,
            .address = "http://10.0.0.17:9999/",
            .handler = "demoJobHandler",
            .param = "{\"shop\": 4711, \"day\": \"2024-02-29\"}",
        };
    }
    MUST(s, txn->begin);
    MUST(s, runs->runs_add, rows, n);
    MUST(s, txn->commit, &planned);
}

static void finish(struct store *s, const struct run_row *rows, int n)
{
    const struct commit ended = { .totals = { { [TOTAL_FINISHED] = n, [TOTAL_SENT] = n } } };
    int64_t missed;
    struct run_change *c = mem_new((size_t)n * sizeof(*c));
    for (int i = 0; i < n; i++)
        c[i] = (struct run_change){
            .log_id = rows[i].log_id,
            .what = CHANGE_PHASE | CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_CLOSE,
            .phase = PHASE_SUCCEEDED,
            .trigger_code = 200,
            .trigger_msg = ".123", /* what the columns do not hold */
            .handle_code = 200,
            .handle_ms = rows[i].scheduled_ms + 12,
        };
    MUST(s, txn->begin);
    MUST(s, runs->runs_change, c, n, &missed);
    MUST(s, txn->commit, &ended);
    free(c);
}

/* Firings with `ahead` batches planned before the first is finished, as the horizon has it. */
static void bench_firings(struct store *s, int firings, int batch, int jobs, int ahead)
{
    struct run_row *rows = mem_new((size_t)batch * (size_t)ahead * sizeof(*rows));
    static int64_t scheduled_ms = 1700000000000;
    int rounds = firings / batch;
    double plan_us = 0, finish_us = 0, theirs = server_us(), wall = wall_us();
    for (int i = 0; i < rounds + ahead; i++) {
        struct run_row *slot = rows + (size_t)(i % ahead) * (size_t)batch;
        double a = cpu_us();
        if (i >= ahead)
            finish(s, slot, batch);
        double b = cpu_us();
        if (i < rounds)
            plan(s, slot, batch, jobs, scheduled_ms += 1000, false);
        plan_us += cpu_us() - b;
        finish_us += b - a;
    }
    wall = wall_us() - wall;
    theirs = server_us() - theirs;
    double n = (double)rounds * batch;
    printf("%9d %9d %9d %10.2f %10.2f %10.2f %10.2f %12.0f\n", batch, jobs, ahead, plan_us / n,
           finish_us / n, (plan_us + finish_us) / n, theirs / n, n / wall * 1e6);
    free(rows);
}

static void store_jobs(struct store *s, int jobs)
{
    struct job_record r;
    job_record_init(&r);
    r.group_id = 1;
    r.description = "nightly report of the shop";
    r.author = "ann";
    r.schedule_type = "CRON";
    r.schedule_conf = "0 0/5 * * * ?";
    r.misfire = "DO_NOTHING";
    r.route = "ROUND";
    r.handler = "demoJobHandler";
    r.param = "{\"shop\": 4711}";
    r.block = "SERIAL_EXECUTION";
    r.glue_type = "BEAN";
    r.enabled = true;
    double cpu = cpu_us();
    for (int i = 0; i < jobs;) {
        MUST(s, txn->begin);
        for (int end = i + 1000; i < end && i < jobs; i++) {
            r.next_ms = 1700000000000 + (int64_t)i * 7919 % jobs; /* any order of ids */
            MUST(s, catalog->job_insert, &r);
        }
        MUST(s, txn->commit, NULL);
    }
    printf("\n%d jobs stored: %.1f us CPU each, resident %ld KiB\n", jobs, (cpu_us() - cpu) / jobs,
           resident_kib());
}

static void bench_due(struct store *s, int jobs)
{
    enum { SLICE = 500 };
    struct due_row rows[SLICE];
    double take = 0, put = 0, theirs = server_us(), wall = wall_us();
    int done = 0;
    while (done < jobs && done < 200000) {
        int n;
        int64_t next_ms;
        double a = cpu_us();
        MUST(s, txn->begin);
        MUST(s, runs->due_take, INT64_MIN, NEVER_MS - 1, SLICE, rows, &n, &next_ms);
        double b = cpu_us();
        for (int i = 0; i < n; i++) {
            rows[i].last_ms = rows[i].next_ms;
            rows[i].planned_until_ms = rows[i].next_ms;
            rows[i].next_ms += 300000;
        }
        MUST(s, runs->due_put, rows, n);
        MUST(s, txn->commit, NULL);
        put += cpu_us() - b;
        take += b - a;
        done += n;
    }
    wall = wall_us() - wall;
    printf("planning over %d jobs, slices of %d: take %.2f, put %.2f, server %.2f us CPU a job, "
           "%.0f jobs/s\n",
           jobs, SLICE, take / done, put / done, (server_us() - theirs) / done, done / wall * 1e6);
    printf("resident %ld KiB\n", resident_kib());
}

static void bench(const char *url, int firings, int jobs)
{
    static const int batches[] = { 1, 100, 1000 };
    struct why why = { "" };
    struct store *s;
    double opened = wall_us();
    must(store_open(url, NULL, &s, &why), &why);
    printf("a fresh database opens in %.1f ms\n\n", (wall_us() - opened) / 1e3);
    printf("%9s %9s %9s %10s %10s %10s %10s %12s\n", "batch", "jobs", "ahead", "add us",
           "change us", "firing us", "server us", "firings/s");
    for (size_t i = 0; i < countof(batches); i++) {
        int n = batches[i] == 1 ? firings / 40 : firings;
        bench_firings(s, n, batches[i], 1000, 5);
        bench_firings(s, n, batches[i], 100000, 5);
    }
    store_jobs(s, jobs);
    bench_due(s, jobs);
    opened = wall_us();
    store_close(s);
    printf("closing %.1f ms, ", (wall_us() - opened) / 1e3);
    opened = wall_us();
    must(store_open(url, NULL, &s, &why), &why);
    printf("opening again %.1f ms\n", (wall_us() - opened) / 1e3);
    store_close(s);
}

static int bench_file(const char *dir, int firings, int jobs)
{
    static const char *const endings[] = { "", "-wal", "-shm", ".lock" };
    char name[256], path[300], url[320];
    snprintf(name, sizeof(name), "%s/peal-bench-XXXXXX", dir);
    if (!mkdtemp(name))
        return 2;
    snprintf(path, sizeof(path), "%s/peal.db", name);
    snprintf(url, sizeof(url), "sqlite:%s", path);
    bench(url, firings, jobs);
    for (size_t i = 0; i < countof(endings); i++) {
        snprintf(url, sizeof(url), "%s%s", path, endings[i]);
        unlink(url);
    }
    return rmdir(name) != 0;
}

int main(int argc, char **argv)
{
    int firings = 200000, jobs = 1000000;
    const char *url = NULL;
    bool bad = false;
    if (argc > 1 && strcmp(argv[1], "--db") == 0) {
        bad = argc < 4 || !parse_int(slice_text(argv[3]), &server);
        url = argc > 2 ? argv[2] : NULL;
        argc -= 3;
        argv += 3;
    }
    if (bad || (argc > 1 && !parse_int(slice_text(argv[1]), &firings)) ||
        (argc > 2 && !parse_int(slice_text(argv[2]), &jobs)) || firings <= 0 || jobs <= 0) {
        fprintf(stderr, "usage: bench_store [FIRINGS] [JOBS] [DIR]\n"
                        "       bench_store --db URL SERVER [FIRINGS] [JOBS]\n");
        return 2;
    }
    if (!url)
        return bench_file(argc > 3 ? argv[3] : "/tmp", firings, jobs);
    bench(url, firings, jobs);
    return 0;
}
