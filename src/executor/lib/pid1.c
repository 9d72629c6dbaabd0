/* SPDX-License-Identifier: Apache-2.0 */
/* Process 1 blocks all signals and takes them one by one: SIGCHLD means that there is something to
 * wait for, every other one is handed to the program. */
#include "executor/lib/pid1.h"
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Has the program ended? Then how, as a shell would say it. */
static bool reap(pid_t program, int *ret_status)
{
    bool over = false;
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid != program)
            continue;
        over = true;
        *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return over;
}

/* All signals are blocked: they wait for sigwaitinfo. */
_Noreturn static void stay(pid_t program, const sigset_t *all)
{
    int status = EXIT_SUCCESS;
    prctl(PR_SET_NAME, "peal-init");
    while (!reap(program, &status)) {
        siginfo_t info;
        int signo = sigwaitinfo(all, &info);
        if (signo > 0 && signo != SIGCHLD)
            kill(program, signo);
    }
    _exit(status);
}

int pid1_split(void)
{
    sigset_t all, before;
    if (getpid() != 1)
        return 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    signal(SIGCHLD, SIG_DFL);
    pid_t program = fork();
    if (program > 0)
        stay(program, &all);
    int failed = program < 0 ? errno : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        setpgid(0, 0); /* else a terminal's signal would come twice */
    return failed;
}
