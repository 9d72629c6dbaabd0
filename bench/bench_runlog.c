/* SPDX-License-Identifier: Apache-2.0 */
/* Rolling logs: what runs, lines and pages cost. CPU microseconds of the process (all threads), and
 * the rate by the wall clock, the best of several rounds. The folder is $BENCH_LOGS or a fresh one
 * in memory (/dev/shm): what a file costs on a disk is the file system's affair. (ext4 makes files
 * ten times slower for five minutes where many were removed: it passes over their inodes.) */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/mailbox.h"
#include "executor/log/log_writer.h"
#include "executor/log/runlog.h"
#include "executor/log/runlog_read.h"
#include "executor/log/shared_map.h"

enum { ROUNDS = 5, RUNS = 20000, LINES = 1000000 };

static char folder[] = "/dev/shm/peal-bench-XXXXXX";
static const char *logs;
static struct log_writer *log_writer;
static struct mailbox *mailbox;
static int64_t date_ms, next_id = 1;

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void begin(struct runlog *l)
{
    runlog_init(l, logs, date_ms, next_id++, false);
    runlog_start(l, "worker-1",
                 slice_text("<br>----------- xxl-job job execute start -----------<br>"
                            "----------- Param:date=2026-11-20 region=eu"));
}

static void end(struct runlog *l)
{
    runlog_end(l, "worker-1",
               slice_text("<br>----------- xxl-job job execute end(finish) -----------<br>"
                          "----------- Result: handleCode=200, handleMsg = "));
    log_writer_share(log_writer, runlog_take(l));
    runlog_done(l);
}

/* The log writer has written what it was given. */
static void settle(void)
{
    struct list messages;
    struct log_writer_read r = { .log_id = -1, .log_date_ms = date_ms, .from_line = 1 };
    r.log_date_ms += 5 * 86400000ll; /* where nothing is to be searched */
    list_init(&messages);
    log_writer_read(log_writer, &r);
    while (!mailbox_take(mailbox, &messages))
        mailbox_wait(mailbox, -1);
    buf_done(&r.page.content);
}

static void silent_run(void)
{
    struct runlog l;
    begin(&l);
    end(&l);
}

static void loud_run(void)
{
    struct runlog l;
    begin(&l);
    runlog_line(&l, "demoJobHandler", "demo", 17, "worker-1", slice_text("one line of log"));
    end(&l);
}

static void noted_run(void)
{
    loud_run();
    log_writer_note(log_writer, next_id - 1, date_ms, "finish");
}

static struct runlog large;

static void one_line(void)
{
    runlog_line(&large, "demoJobHandler", "demo", 17, "worker-1",
                slice_text("a line of a log as handlers write them, with some text"));
}

static void raw_lines(void) /* a hundred, as a script's output comes */
{
    static char piece[8000];
    if (!piece[0]) {
        memset(piece, 'x', sizeof(piece));
        for (size_t i = 79; i < sizeof(piece); i += 80)
            piece[i] = '\n';
    }
    runlog_raw(&large, piece, sizeof(piece));
}

static void read_at(int line)
{
    struct runlog_page p;
    runlog_read(logs, date_ms, large.log_id, line, true, NULL, &p);
    if (p.to_line < line)
        abort();
    buf_done(&p.content);
}

static void read_first(void)
{
    read_at(1);
}

static void read_far(void)
{
    read_at(LINES);
}

static void read_page_end(void) /* a page of eight MiB */
{
    read_at(LINES / 2);
}

static int64_t find_id;

static void find_shared(void)
{
    struct runlog_page p;
    runlog_read(logs, date_ms, find_id, 1, true, NULL, &p);
    if (!p.found)
        abort();
    buf_done(&p.content);
}

static struct shared_map map;

static void find_mapped(void)
{
    struct runlog_page p;
    runlog_read(logs, date_ms, find_id, 1, true, &map, &p);
    buf_done(&p.content);
}

static void measure(const char *name, void (*call)(void), int calls, int per)
{
    double best = 1e300, wall = 1e300;
    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_us();
        int64_t began = clock_boot_us();
        for (int i = 0; i < calls; i++)
            call();
        settle();
        double each = (cpu_us() - start) / calls / per;
        double took = (double)(clock_boot_us() - began) / calls / per;
        best = each < best ? each : best;
        wall = took < wall ? took : wall;
    }
    printf("%-44s %9.2f us CPU %12.0f /s\n", name, best, 1e6 / wall);
}

static void remove_logs(void)
{
    char command[256];
    snprintf(command, sizeof(command), "rm -rf '%s'", logs);
    if (logs == folder && system(command) != 0)
        perror(command);
}

int main(void)
{
    const char *given = getenv("BENCH_LOGS");
    logs = given ? given : mkdtemp(folder);
    if (!logs) {
        perror(folder);
        return 1;
    }
    printf("logs in %s\n", logs);
    date_ms = clock_wall_ms();
    mailbox = mailbox_new();
    log_writer = log_writer_new(logs, -1, mailbox);
    measure("run that logs nothing", silent_run, RUNS, 1);
    find_id = next_id - 1;
    measure("  its log found, the youngest", find_shared, 100, 1);
    find_id = 1;
    measure("  its log found, 100,000 records back", find_shared, 3, 1);
    measure("  the same with the map", find_mapped, 100, 1);
    find_id = -1;
    measure("  a log that is not there, with the map", find_mapped, 1000, 1);
    shared_map_done(&map);
    measure("run with one line, a file of its own", loud_run, RUNS, 1);
    measure("  and its callback's line", noted_run, RUNS, 1);
    begin(&large);
    measure("line", one_line, LINES / ROUNDS, 1);
    measure("page from line 1", read_first, 10, 1);
    measure("page from line 500,000", read_page_end, 10, 1);
    measure("page from line 1,000,000", read_far, 1000, 1);
    measure("line of raw output, 100 a write", raw_lines, 2000, 100);
    end(&large);
    log_writer_free(log_writer);
    mailbox_free(mailbox);
    remove_logs();
    return 0;
}
