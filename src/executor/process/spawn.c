/* SPDX-License-Identifier: Apache-2.0 */
/* In the child of vfork the memory is the parent's, which waits: no library call there that keeps
 * state (setuid() of libc would signal the parent's threads), and its errors are simply left in a
 * variable. Where vfork is fork, as under a sanitizer, the exit status 127 is all that is seen. */
#include "executor/process/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"
#include "executor/process/limits.h"

struct birth { /* what parent and child share */
    const struct spawn *spawn;
    const struct rlimit *limits; /* by the order of limit_names */
    int output, nothing;         /* nothing: /dev/null */
    pid_t parent;
    void (*born)(void *arg, pid_t pid);
    void *arg;
    volatile int failed;
    volatile enum spawn_stage stage;
};

enum { LIMITS = 4 };

static const int limit_names[LIMITS] = { RLIMIT_CORE, RLIMIT_AS, RLIMIT_NPROC, RLIMIT_NOFILE };

static bool can_run(const struct limits *l, const char *path)
{
    char which[64];
    struct stat s;
    return access(path, X_OK) == 0 && stat(path, &s) == 0 && S_ISREG(s.st_mode) &&
           (!l->change_user || limits_may_use(l, path, which, sizeof(which)));
}

bool spawn_find(const struct limits *l, const char *program, char *to, size_t size)
{
    if (strchr(program, '/')) {
        snprintf(to, size, "%s", program);
        return strlen(program) < size;
    }
    for (const char *p = limits_env(l, "PATH"), *end; p; p = *end ? end + 1 : NULL) {
        end = strchrnul(p, ':');
        int n = snprintf(to, size, "%.*s%s%s", (int)(end - p), p, end > p ? "/" : "", program);
        if (n > 0 && (size_t)n < size && can_run(l, to))
            return true;
    }
    return false;
}

/* 0 means no limit of ours. None is looser than what the executor has itself. */
static void choose_limits(const struct limits *l, struct rlimit *to)
{
    const rlim_t wanted[LIMITS] = { 0, (rlim_t)l->memory, (rlim_t)l->processes, (rlim_t)l->files };
    for (int i = 0; i < LIMITS; i++) {
        struct rlimit now = { RLIM_INFINITY, RLIM_INFINITY };
        getrlimit(limit_names[i], &now);
        to[i] = now;
        if (limit_names[i] != RLIMIT_CORE && wanted[i] == 0)
            continue;
        rlim_t value = wanted[i] < now.rlim_max ? wanted[i] : now.rlim_max;
        to[i] = (struct rlimit){ value, value };
    }
}

/* --- in the child --- */

static void reset_signals(void)
{
    struct sigaction normal = { .sa_handler = SIG_DFL };
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &normal, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_files(const struct birth *b)
{
    if (dup2(b->nothing, STDIN_FILENO) < 0 || dup2(b->output, STDOUT_FILENO) < 0 ||
        dup2(b->output, STDERR_FILENO) < 0)
        return false;
    if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) == 0)
        return true;
    for (int fd = 3; fd < 65536; fd++) /* a kernel before 5.11 */
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    return true;
}

static bool set_limits(const struct birth *b)
{
    for (int i = 0; i < LIMITS; i++)
        if (setrlimit(limit_names[i], &b->limits[i]) < 0)
            return false;
    return true;
}

static bool set_user(const struct limits *l)
{
    if (!l->change_user)
        return true;
    if (syscall(SYS_setgroups, (size_t)l->ngroups, l->groups) < 0 ||
        syscall(SYS_setresgid, l->gid, l->gid, l->gid) < 0 ||
        syscall(SYS_setresuid, l->uid, l->uid, l->uid) < 0)
        return false;
    if (chdir(l->home) < 0 && chdir("/") < 0)
        return false;
    return true;
}

/* After the user: changing it forgets the signal. */
static bool set_ties(const struct birth *b)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == b->parent &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static enum spawn_stage become(const struct birth *b)
{
    if (!set_files(b))
        return SPAWN_FILES;
    if (!set_limits(b))
        return SPAWN_LIMITS;
    if (!set_user(b->spawn->limits))
        return SPAWN_USER;
    if (!set_ties(b))
        return SPAWN_TIES;
    execve(b->spawn->path, b->spawn->argv, b->spawn->envp);
    return SPAWN_EXEC;
}

__attribute__((noinline)) static void be_child(struct birth *b)
{
    setpgid(0, 0);
    reset_signals();
    b->born(b->arg, getpid());
    errno = 0;
    b->stage = become(b);
    b->failed = errno ? errno : EPERM;
}

/* --- in the parent --- */

/* Alone, so that nothing of the caller's is in registers while two processes use one stack. */
__attribute__((noinline)) static pid_t give_birth(struct birth *b)
{
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): see above */
    if (pid == 0) {
        be_child(b); /* NOLINT(clang-analyzer-unix.Vfork): system calls only, see above */
        _exit(127);
    }
    return pid;
}

/* All signals are blocked here, as everywhere in the server. */
int spawn(const struct spawn *s, int output, void (*born)(void *arg, pid_t pid), void *arg,
          pid_t *ret, enum spawn_stage *stage)
{
    struct rlimit limits[LIMITS];
    struct birth b = { .spawn = s,
                       .limits = limits,
                       .output = output,
                       .parent = getpid(),
                       .born = born,
                       .arg = arg,
                       .stage = SPAWN_PROCESS };
    choose_limits(s->limits, limits);
    b.nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (b.nothing < 0) {
        *stage = SPAWN_FILES;
        return errno;
    }
    pid_t pid = give_birth(&b);
    int failed = pid < 0 ? errno : b.failed;
    close(b.nothing);
    *stage = b.stage;
    if (pid > 0 && failed)
        waitpid(pid, NULL, 0);
    else if (!failed)
        *ret = pid;
    return failed;
}

const char *spawn_stage_text(enum spawn_stage stage, const char *path)
{
    static const char *const texts[SPAWN_STAGES] = {
        [SPAWN_PROCESS] = "a process",   [SPAWN_FILES] = "its descriptors",
        [SPAWN_LIMITS] = "its limits",   [SPAWN_USER] = "its user",
        [SPAWN_TIES] = "its privileges",
    };
    return stage < SPAWN_STAGES && texts[stage] ? texts[stage] : path;
}
