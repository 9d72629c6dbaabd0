/* SPDX-License-Identifier: Apache-2.0 */
/* test_executor: an executor as a user would write one, on the public header alone. Its handlers
 * serve the crash rounds (those that take notes) and the benchmarks (the others).
 *
 * Notes: a line with the log id appended to the file PEAL_TEST_EVIDENCE when a handler begins, in
 * one write, so that it is whole and there however the process ends. What really ran is counted
 * from that file and from nothing that the library says. */
#include <fcntl.h>
#include <peal/executor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(struct peal_run *run)
{
    const char *path = getenv("PEAL_TEST_EVIDENCE");
    char line[32];
    int n = snprintf(line, sizeof(line), "%lld\n", (long long)peal_log_id(run));
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        abort(); /* evidence is what this program is for */
    close(fd);
}

/* The parameter: milliseconds. */
static int64_t pause_of(const struct peal_run *run)
{
    return strtoll(peal_param(run), NULL, 10);
}

static int note_and_wait(struct peal_run *run)
{
    note(run);
    peal_log(run, "noted; this takes %lld ms", (long long)pause_of(run));
    peal_wait(run, pause_of(run));
    return 0;
}

/* --- for crash rounds --- */

PEAL_HANDLER(noteJobHandler)
{
    return note_and_wait(run);
}

PEAL_HANDLER(quietNoteJobHandler)
{
    note(run);
    return 0;
}

PEAL_HANDLER(againNoteJobHandler, .flags = PEAL_IDEMPOTENT)
{
    return note_and_wait(run);
}

PEAL_HANDLER(processNoteJobHandler, .flags = PEAL_PROCESS)
{
    return note_and_wait(run);
}

PEAL_HANDLER(failNoteJobHandler)
{
    note(run);
    peal_result(run, 500, "failed on purpose: %s", peal_param(run));
    return 0;
}

PEAL_HANDLER(crashNoteJobHandler, .flags = PEAL_PROCESS)
{
    note(run);
    abort();
}

/* --- for benchmarks --- */

PEAL_HANDLER(emptyJobHandler)
{
    (void)run;
    return 0;
}

PEAL_HANDLER(lineJobHandler)
{
    peal_log(run, "one line of the run's log");
    return 0;
}

PEAL_HANDLER(linesJobHandler)
{
    long long n = strtoll(peal_param(run), NULL, 10);
    for (long long i = 1; i <= n && peal_stopping(run) == PEAL_GOES_ON; i++)
        peal_log(run, "line %lld of %lld: what a program of some size says in one line of its log",
                 i, n);
    return 0;
}

PEAL_HANDLER(waitJobHandler)
{
    peal_wait(run, pause_of(run));
    return 0;
}

PEAL_HANDLER(emptyProcessJobHandler, .flags = PEAL_PROCESS)
{
    (void)run;
    return 0;
}

int main(int argc, char **argv)
{
    return peal_executor_main(argc, argv);
}
