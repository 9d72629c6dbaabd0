/* SPDX-License-Identifier: Apache-2.0 */
/* crasher.c - code that one does not trust, in a process of its own.
 *
 * PEAL_PROCESS runs each run of the handler in a child. If it crashes, the run has failed and the
 * message names the signal; the executor and its other runs go on. If it does not stop when it is
 * asked to, it gets SIGTERM and then SIGKILL, with every process that it started. What it prints,
 * on standard output or standard error, becomes the run's log: also the output of libraries and of
 * programs that it starts.
 *
 * The price is a fork for each run, and that a child cannot leave anything in memory for the next
 * one. Handlers without the flag run on a thread of the executor: faster, but a crash is
 * everyone's.
 *
 *     cc crasher.c $(pkg-config --cflags --libs peal) -o crasher
 *     PEAL_ACCESS_TOKEN=... ./crasher --centers http://127.0.0.1:8080 --app crasher */
#include <peal/executor.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pretends to be busy, and does not react to a stop. */
static void hang(struct peal_run *run)
{
    signal(SIGTERM, SIG_IGN); /* the child's own: the executor is another process */
    peal_log(run, "hanging");
    for (;;)
        pause();
}

/* The parameter says how it shall end. */
PEAL_HANDLER(crashJobHandler, .flags = PEAL_PROCESS)
{
    const char *how = peal_param(run);
    printf("process %d, about to: %s\n", (int)getpid(), how); /* into the log */
    fflush(stdout);
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV); /* as a pointer that is not one would */
    else if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "exit") == 0)
        exit(3);
    else if (strcmp(how, "hang") == 0)
        hang(run);
    else
        peal_result(run, 200, "survived: %s", how);
    return 0;
}

/* In the executor's own process: still there after all of the above. */
PEAL_HANDLER(steadyJobHandler)
{
    peal_result(run, 200, "process %d", (int)getpid());
    return 0;
}

int main(int argc, char **argv)
{
    return peal_executor_main(argc, argv);
}
