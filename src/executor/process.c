/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "wire/texts.h"

extern char **environ;

enum { TURN_PIECES = 64 };

struct process {
    struct peal_run *run;
    pid_t pid;       /* also of its group */
    int output;      /* read end of the pipe, not blocking; -1 after its end */
    int ended;       /* pidfd: readable when the child has ended */
    int64_t kill_ms; /* when to send SIGKILL; 0: not asked to stop yet */
    bool kill_sent;
};

static int spawn(struct process *p, char *const argv[], int write_end)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, write_end, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, write_end, STDERR_FILENO);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawnp(&p->pid, argv[0], &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* errno, or 0 with pid, output and ended set. */
static int begin(struct process *p, char *const argv[])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    int failed = spawn(p, argv, ends[1]);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return failed;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    p->output = ends[0];
    p->ended = pidfd_open(p->pid, 0);
    if (p->ended >= 0)
        return 0;
    failed = errno; /* out of descriptors: it cannot be watched, so it must not go on */
    kill(-p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    close(p->output);
    return failed;
}

/* At most a pipe full at a time: somebody who never stops writing must not keep us from looking at
 * the rest. */
static void take_output(struct process *p)
{
    char piece[16384];
    for (int i = 0; i < TURN_PIECES && p->output >= 0; i++) {
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

static void stop_group(struct process *p)
{
    int64_t now = clock_boot_ms();
    if (!p->kill_ms) {
        kill(-p->pid, SIGTERM);
        p->kill_ms = now + PROCESS_GRACE_MS;
    } else if (!p->kill_sent && now >= p->kill_ms) {
        kill(-p->pid, SIGKILL);
        p->kill_sent = true;
    }
}

static int wait_ms(const struct process *p)
{
    if (!p->kill_ms || p->kill_sent)
        return -1;
    int64_t left = p->kill_ms - clock_boot_ms();
    return left < 0 ? 0 : (int)left;
}

/* Until the child has ended. */
static void watch(struct process *p)
{
    for (;;) {
        struct pollfd fds[] = {
            { .fd = p->ended, .events = POLLIN },
            { .fd = p->output, .events = POLLIN },
            /* once it rang it stays readable: it has nothing more to say */
            { .fd = p->kill_ms ? -1 : p->run->bell, .events = POLLIN },
        };
        poll(fds, 3, wait_ms(p));
        take_output(p);
        if (fds[0].revents)
            return;
        if (run_stopping(p->run))
            stop_group(p);
        else if (fds[2].revents)
            run_clear_bell(p->run); /* rung for the run before this one */
    }
}

/* The leader is dead but not yet waited for, so its number still names this group and no other. */
static int end(struct process *p)
{
    int status = 0;
    kill(-p->pid, SIGKILL);
    take_output(p);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (p->output >= 0)
        close(p->output);
    close(p->ended);
    return status;
}

void process_run(struct peal_run *r, char *const argv[])
{
    struct process p = { .run = r, .output = -1, .ended = -1 };
    int failed = begin(&p, argv);
    if (failed) {
        run_result(r, WIRE_CODE_FAIL, "%.200s: cannot be started: %s", argv[0], strerror(failed));
        return;
    }
    watch(&p);
    int status = end(&p);
    if (WIFSIGNALED(status))
        run_result(r, WIRE_CODE_FAIL, "ended by signal %d (%s)", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        run_result(r, WIRE_CODE_FAIL, WIRE_TEXT_SCRIPT_EXIT, WEXITSTATUS(status));
}
