/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to start a script: beside a bare loop of fork, exec and wait for the same program,
 * in turns in the same run, the best of several rounds each. Time is the wall's; CPU is that of
 * this process and of the children together, because a process that forks pays in both; ours
 * include the fork server, which is made and ended in each round so that its children are counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "executor/process/isolate.h"
#include "executor/process/limits.h"
#include "executor/process/process.h"
#include "executor/process/script.h"
#include "wire/executor_side.h"

enum { ROUNDS = 9, STARTS = 100 };

#define SOURCE "exit 0\n"

extern char **environ;

static struct run_context context;
static struct limits *limits;
static struct peal_run *run;
static char script[512];

static void ignore_line(struct peal_run *r, const char *function, int line, struct slice text)
{
    (void)r, (void)function, (void)line, (void)text;
}

static void ignore_raw(struct peal_run *r, const char *p, size_t n)
{
    (void)r, (void)p, (void)n;
}

static const struct run_io io_nothing = { ignore_line, ignore_raw, NULL };

static void bare(const char *path, char *const argv[])
{
    pid_t pid = fork();
    if (pid == 0) {
        execve(path, argv, environ);
        _exit(127);
    }
    int status = -1;
    if (waitpid(pid, &status, 0) < 0 || status != 0)
        abort();
}

static char *const argv_true[] = { (char *)"/bin/true", NULL };

static void bare_true(void)
{
    bare("/bin/true", argv_true);
}

static void bare_script(void)
{
    char *const argv[] = { (char *)"bash", script, (char *)"", (char *)"0", (char *)"1", NULL };
    bare("/bin/bash", argv);
}

static void check(void)
{
    if (run->code != 200) {
        fprintf(stderr, "bench_script: %s\n", buf_str(&run->msg));
        exit(1);
    }
}

static void our_true(void)
{
    process_run(run, context.limits, argv_true);
    check();
}

static void our_script(void)
{
    script_run(run);
    check();
}

struct cost {
    double wall_us, cpu_us;
};

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double cpu(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return seconds(u.ru_utime) + seconds(u.ru_stime);
}

static void begin_server(void)
{
    struct why why = { { 0 } };
    if (isolate_new(NULL, 0, 3000, &context.isolate, &why)) {
        fprintf(stderr, "bench_script: %s\n", why.text);
        exit(1);
    }
}

static void end_server(void)
{
    isolate_free(context.isolate);
    context.isolate = NULL;
}

static void measure(void (*start)(void), bool ours, struct cost *best)
{
    struct timespec a, b;
    double before = cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN);
    clock_gettime(CLOCK_MONOTONIC, &a);
    if (ours)
        begin_server();
    for (int i = 0; i < STARTS; i++)
        start();
    if (ours)
        end_server();
    clock_gettime(CLOCK_MONOTONIC, &b);
    double used = (cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN) - before) * 1e6 / STARTS;
    double wall =
        ((double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3) / STARTS;
    if (best->wall_us == 0 || wall < best->wall_us)
        best->wall_us = wall;
    if (best->cpu_us == 0 || used < best->cpu_us)
        best->cpu_us = used;
}

static void compare(const char *what, void (*bare_one)(void), void (*our_one)(void))
{
    struct cost theirs = { 0, 0 }, ours = { 0, 0 };
    for (int i = 0; i < ROUNDS; i++) {
        measure(bare_one, false, &theirs);
        measure(our_one, true, &ours);
    }
    printf("%-10s fork+exec %7.1f us (CPU %7.1f)   executor %7.1f us (CPU %7.1f)   x %.2f (CPU x "
           "%.2f)\n",
           what, theirs.wall_us, theirs.cpu_us, ours.wall_us, ours.cpu_us,
           ours.wall_us / theirs.wall_us, ours.cpu_us / theirs.cpu_us);
}

static void prepare(char *folder)
{
    struct why why = { { 0 } };
    struct limits_config lc = { .files = 1024 };
    struct wire_run_request q = {
        .job_id = 1, .log_id = 1, .shard_total = 1, .glue_source = slice_text(SOURCE)
    };
    context.logpath = mkdtemp(folder);
    if (!context.logpath || limits_new(&lc, 3000, &limits, &why)) {
        fprintf(stderr, "bench_script: %s\n", why.text);
        exit(1);
    }
    context.limits = limits;
    if (script_folder(&context, &why)) {
        fprintf(stderr, "bench_script: %s\n", why.text);
        exit(1);
    }
    run = run_make(&q, &context, false);
    run->io = &io_nothing;
    run->script = script_kind_find(slice_text("GLUE_SHELL"));
    run->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    snprintf(script, sizeof(script), "%s/gluesource/1_0.sh", context.logpath);
}

int main(void)
{
    char folder[] = "/tmp/peal-bench-script-XXXXXX", at[512];
    prepare(folder);
    compare("/bin/true", bare_true, our_true);
    begin_server();
    our_script(); /* the file */
    end_server();
    compare("bash", bare_script, our_script);
    unlink(script);
    snprintf(at, sizeof(at), "%s/gluesource", folder);
    rmdir(at);
    rmdir(folder);
    return 0;
}
