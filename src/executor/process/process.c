/* SPDX-License-Identifier: Apache-2.0 */
/* A worker and one child: it polls the fork server's notes, the child's output and its own bell,
 * and moves from SIGTERM to SIGKILL by the clock. The result is set once, when the server has said
 * that the whole group has ended. */
#include "executor/process/process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "executor/process/isolate.h"
#include "executor/process/spawn.h"
#include "wire/texts.h"

#define TEXT_COMMAND_EXIT "command exit value(%d) is failed"

enum { ITERATION_PIECES = 64, FACT_MAX = 48, PROGRAM_MAX = 4096 };

struct process {
    struct peal_run *run;
    const struct limits *limits;
    struct isolate_process child;
    int output;      /* read end of the pipe, not blocking; -1 after its end */
    int64_t late_ms; /* boot: when its time is over; 0: never */
    int64_t kill_ms; /* boot: when to send SIGKILL; 0: not asked to stop yet */
    bool kill_sent, late;
};

/* --- the start --- */

enum { FACTS = 7 };

struct env {     /* the limits' and the run's own */
    char **list; /* owned */
    char facts[FACTS][FACT_MAX];
    char trace[sizeof("TRACEPARENT=") + WIRE_TRACE_PARENT_SIZE];
};

static bool env_make(struct env *e, const struct peal_run *r, const struct limits *l)
{
    const struct {
        const char *name;
        int64_t value;
    } facts[FACTS] = {
        { "JOB_ID", r->job_id },           { "LOG_ID", r->log_id },
        { "SHARD_INDEX", r->shard },       { "SHARD_TOTAL", r->shard_total },
        { "ATTEMPT", r->attempt },         { "MOMENT_MS", r->scheduled_ms },
        { "DEADLINE_MS", r->deadline_ms },
    };
    e->list = try_alloc((l->nenv + FACTS + 2) * sizeof(*e->list));
    if (!e->list)
        return false;
    memcpy(e->list, l->env, l->nenv * sizeof(*e->list));
    for (size_t i = 0; i < FACTS; i++) {
        snprintf(e->facts[i], FACT_MAX, "PEAL_%s=%lld", facts[i].name, (long long)facts[i].value);
        e->list[l->nenv + i] = e->facts[i];
    }
    snprintf(e->trace, sizeof(e->trace), "TRACEPARENT=%s", r->trace);
    e->list[l->nenv + FACTS] = r->trace[0] ? e->trace : NULL;
    return true;
}

static bool spawn_it(struct process *p, char *const argv[], int write_end, struct why *why)
{
    struct env env;
    char program[PROGRAM_MAX];
    if (!spawn_find(p->limits, argv[0], program, sizeof(program))) {
        why_set(why, "it is not in PATH, which is %.300s", limits_env(p->limits, "PATH"));
        return false;
    }
    if (!env_make(&env, p->run, p->limits)) {
        why_set(why, "%s", err_text(ERR_NOMEM));
        return false;
    }
    const struct spawn s = { program, argv, env.list, p->limits };
    bool sent = isolate_spawn(p->run->context->isolate, &s, write_end, &p->child, why);
    free(env.list);
    return sent;
}

/* False with the reason, or child and output are set. */
static bool begin(struct process *p, char *const argv[], struct why *why)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        why_set(why, "a pipe: %s", strerror(errno));
        return false;
    }
    bool begun = spawn_it(p, argv, ends[1], why);
    close(ends[1]);
    if (!begun) {
        close(ends[0]);
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    p->output = ends[0];
    if (p->limits->time_ms)
        p->late_ms = clock_boot_ms() + p->limits->time_ms;
    return true;
}

/* --- the end --- */

/* At most a pipe full at a time: a child that never stops writing must not hold up
 * the rest. */
static void take_output(struct process *p)
{
    char piece[16384];
    for (int i = 0; i < ITERATION_PIECES && p->output >= 0; i++) {
        ssize_t n = read(p->output, piece, sizeof(piece));
        if (n > 0) {
            run_output(p->run, piece, (size_t)n);
            continue;
        }
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        close(p->output);
        p->output = -1;
    }
}

static void stop_group(struct process *p, int64_t now)
{
    if (!p->kill_ms) {
        isolate_signal(&p->child, SIGTERM);
        p->kill_ms = now + p->limits->grace_ms;
    } else if (!p->kill_sent && now >= p->kill_ms) {
        isolate_signal(&p->child, SIGKILL);
        p->kill_sent = true;
    }
}

static int wait_ms(const struct process *p)
{
    int64_t until = p->kill_sent ? 0 : p->kill_ms ? p->kill_ms : p->late_ms;
    int64_t left = until - clock_boot_ms();
    if (!until)
        return -1;
    return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

/* Until the child and its group have ended. */
static void watch(struct process *p)
{
    while (!p->child.over) {
        struct pollfd fds[] = {
            { .fd = p->child.notes, .events = POLLIN },
            { .fd = p->output, .events = POLLIN },
            /* once it rang it stays readable: it has nothing more to say */
            { .fd = p->kill_ms ? -1 : p->run->bell, .events = POLLIN },
        };
        poll(fds, 3, wait_ms(p));
        take_output(p);
        if (fds[0].revents)
            isolate_hear(&p->child);
        int64_t now = clock_boot_ms();
        p->late |= p->late_ms && now >= p->late_ms;
        if (p->late || run_stopping(p->run))
            stop_group(p, now);
        if (fds[2].revents && !run_stopping(p->run))
            run_clear_bell(p->run); /* rung for the run before this one */
    }
}

static void set_result(const struct process *p, const char *program)
{
    struct peal_run *r = p->run;
    int status = p->child.status;
    if (p->child.failed)
        run_result(r, WIRE_CODE_FAIL, "%.200s: cannot be started: %.300s: %s", program,
                   spawn_stage_text(p->child.stage, program), strerror(p->child.failed));
    else if (p->late)
        run_result(r, WIRE_CODE_TIMEOUT,
                   "ended: it took longer than peal.executor.glue.time, %lld ms",
                   (long long)p->limits->time_ms);
    else if (p->child.notes < 0)
        run_result(r, WIRE_CODE_FAIL, "%s", isolate_lost_text(&p->child));
    else if (p->child.lost)
        run_result(r, WIRE_CODE_FAIL, "it has ended, and how is not known");
    else if (WIFSIGNALED(status))
        run_result(r, WIRE_CODE_FAIL, "ended by signal %d (%s)", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        run_result(r, WIRE_CODE_FAIL, r->script ? WIRE_TEXT_SCRIPT_EXIT : TEXT_COMMAND_EXIT,
                   WEXITSTATUS(status));
}

void process_run(struct peal_run *r, const struct limits *limits, char *const argv[])
{
    struct why why = { { 0 } };
    struct process p = { .run = r, .limits = limits, .output = -1 };
    if (!begin(&p, argv, &why)) {
        run_result(r, WIRE_CODE_FAIL, "%.200s: cannot be started: %s", argv[0], why.text);
        return;
    }
    watch(&p);
    take_output(&p);
    set_result(&p, argv[0]);
    if (p.output >= 0)
        close(p.output);
    isolate_forget(&p.child);
}

int process_ask(const struct run_context *context, char *const argv[], int ms)
{
    const struct limits *limits = context->limits;
    char program[PROGRAM_MAX];
    struct isolate_process p;
    struct why why;
    if (!spawn_find(limits, argv[0], program, sizeof(program)))
        return -1;
    const struct spawn s = { program, argv, limits->env, limits };
    if (!isolate_spawn(context->isolate, &s, -1, &p, &why))
        return -1;
    int64_t end = clock_boot_ms() + ms;
    for (bool killed = false; !p.over;) {
        int64_t left = end - clock_boot_ms();
        struct pollfd fd = { .fd = p.notes, .events = POLLIN };
        if (poll(&fd, 1, killed ? -1 : left > 0 ? (int)left : 0) > 0) {
            isolate_hear(&p);
        } else if (!killed && left <= 0) {
            isolate_signal(&p, SIGKILL);
            killed = true;
        }
    }
    bool exited = p.notes >= 0 && !p.failed && !p.lost && WIFEXITED(p.status);
    isolate_forget(&p);
    return exited ? WEXITSTATUS(p.status) : -1;
}
