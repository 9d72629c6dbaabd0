/* SPDX-License-Identifier: Apache-2.0 */
/* What a run costs in the executor's journal: CPU of the whole process, because a machine shared
 * with others loses wall time without showing it.
 *
 *     bench_run_journal [RUNS] [WINDOW] [DIR]
 *
 * WINDOW runs are on their way at a time: ACCEPT (as STARTED, 300 bytes), RESULT (40 bytes) when
 * that is on disk, and a TELL for each 50 results. */
#include "base/mem.h"
#include "executor/journal/run_journal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { TELL = 50, KEEP = 100000 };

struct trip { /* of one run, again and again */
    struct run_journal_op op;
};

struct telling {
    struct run_journal_op op;
    int64_t seqs[TELL];
};

static struct {
    struct run_journal *store;
    struct mailbox *answers;
    struct telling *telling;
    int64_t seq;
    long todo, open;
} b;

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void post(struct run_journal_op *op, enum run_journal_what what)
{
    op->what = what;
    run_journal_send(b.store, op);
}

static void begin(struct trip *t)
{
    static const char request[301] =
        "{\"jobId\":4711,\"executorHandler\":\"demoJobHandler\",\"executorParams\":\"\"}";
    if (!b.todo)
        return;
    b.todo--;
    b.open++;
    t->op.row = (struct run_journal_row){
        .seq = b.seq++,
        .state = RUN_JOURNAL_STARTED,
        .log_id = b.seq,
        .log_date_ms = 1700000000000,
        .scheduled_ms = 1700000000000,
        .accepted_ms = 1700000000000,
        .request = slice_of(request, 300),
    };
    post(&t->op, RUN_JOURNAL_ACCEPT);
}

static void end(struct trip *t)
{
    t->op.row.ended_ms = 1700000000500;
    t->op.row.code = 200;
    t->op.row.msg = slice_text("the forty bytes that a handler leaves  ..");
    post(&t->op, RUN_JOURNAL_RESULT);
}

static void tell(int64_t seq, bool last)
{
    if (!b.telling)
        b.telling = mem_new(sizeof(*b.telling));
    struct telling *t = b.telling;
    t->seqs[t->op.nseqs++] = seq;
    if (t->op.nseqs < TELL && !last)
        return;
    t->op.seqs = t->seqs;
    post(&t->op, RUN_JOURNAL_TELL);
    b.telling = NULL;
}

static void on_answer(struct run_journal_op *op)
{
    if (op->err) {
        fprintf(stderr, "bench_runstore: %s\n", op->why.text);
        exit(1);
    }
    if (op->what == RUN_JOURNAL_TELL) {
        b.open -= (long)op->nseqs;
        free(container_of(op, struct telling, op));
        return;
    }
    struct trip *t = container_of(op, struct trip, op);
    if (op->what == RUN_JOURNAL_ACCEPT) {
        end(t);
        return;
    }
    tell(op->row.seq, false);
    begin(t);
}

static void go(long runs, long window)
{
    struct trip *trips = mem_new((size_t)window * sizeof(*trips));
    double cpu = cpu_us(), wall = wall_us();
    b.todo = runs / TELL * TELL;
    b.open = 0;
    double n = (double)b.todo;
    for (long i = 0; i < window; i++)
        begin(&trips[i]);
    while (b.open > 0) {
        struct list incoming;
        list_init(&incoming);
        run_journal_flush(b.store);
        mailbox_wait(b.answers, -1);
        mailbox_take(b.answers, &incoming);
        for (struct list_node *node; (node = list_pop(&incoming));)
            on_answer(container_of(container_of(node, struct message, node), struct run_journal_op,
                                   message));
    }
    cpu = cpu_us() - cpu;
    wall = wall_us() - wall;
    printf("%9ld %9.0f %12.0f %12.0f %12.2f\n", window, n, n / wall * 1e6,
           (double)(n * 3) / wall * 1e6, cpu / n);
    free(trips);
}

static void each(void *arg, const struct run_journal_row *row)
{
    (void)row;
    ++*(long *)arg;
}

int main(int argc, char **argv)
{
    int runs = 400000, window = 0;
    char dir[256], path[320];
    long rows = 0;
    struct why why = { "" };
    snprintf(dir, sizeof(dir), "%s/peal-bench-XXXXXX", argc > 3 ? argv[3] : "/tmp");
    if ((argc > 1 && !parse_int(slice_text(argv[1]), &runs)) ||
        (argc > 2 && !parse_int(slice_text(argv[2]), &window)) || runs < TELL || window < 0 ||
        !mkdtemp(dir)) {
        fprintf(stderr, "usage: bench_runstore [RUNS] [WINDOW] [DIR]\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/runs.db", dir);
    b.answers = mailbox_new();
    struct run_journal_config config = { path, KEEP, 86400000, b.answers, each, &rows };
    config.keep_ms = INT64_MAX / 2;
    if (run_journal_open(&config, &b.store, &why)) {
        fprintf(stderr, "bench_runstore: %s\n", why.text);
        return 1;
    }
    b.seq = run_journal_first_seq(b.store);
    printf("%9s %9s %12s %12s %12s\n", "window", "runs", "runs/s", "changes/s", "us CPU/run");
    static const int windows[] = { 100, 1000, 10000 };
    for (size_t i = 0; i < countof(windows); i++)
        if (!window || i == 0)
            go(window ? runs : runs * ((long)i + 1) / 3, window ? window : windows[i]);
    run_journal_free(b.store);
    double opened = wall_us();
    if (run_journal_open(&config, &b.store, &why))
        return 1;
    printf("opening again with %ld rows: %.1f ms\n", rows, (wall_us() - opened) / 1e3);
    run_journal_free(b.store);
    mailbox_free(b.answers);
    static const char *const endings[] = { "", "-wal", ".lock" };
    for (size_t i = 0; i < countof(endings); i++) {
        char name[340];
        snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        unlink(name);
    }
    return rmdir(dir) != 0;
}
