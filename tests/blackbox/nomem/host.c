/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - a program that must outlive its executor's lack of memory.
 *
 * usage: host CENTER FOLDER start|run|process TIMES
 *
 * start: makes, configures, starts, stops and frees an executor, while the n-th allocation and
 * TIMES-1 after it fail; n grows from 0 until a round has no failure any more. Each call either
 * works or says PEAL_NOMEM or another reason; a round that could not start must be able to with
 * memory. run: one executor, and runs that are sent to it in the same way, by a client that needs
 * no memory. Each is sent until the executor has it, and must end: the center counts results.
 * process: the same with a handler in processes of its own, whose allocations fail as well.
 *
 * Prints the number of rounds, "refused N", and at the end that its own signals are as they were.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <peal/executor.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "failmalloc.h"

static const char *center, *folder;
static int flags;            /* of the handler */
static _Atomic int *entered; /* shared with its processes */

static int touch(struct peal_run *run)
{
    atomic_fetch_add(entered, 1);
    peal_log(run, "%s", peal_param(run));
    peal_progress(run, 50, "half of it");
    peal_result(run, 200, "with memory or without: %s", peal_param(run));
    return 0;
}

static void die(const char *what, const char *why)
{
    failmalloc_disarm();
    fprintf(stderr, "host: %s: %s\n", what, why);
    exit(1);
}

/* ---- an executor, begun and ended ---- */

static enum peal_err configure(struct peal_executor *e)
{
    static char logs[512];
    snprintf(logs, sizeof(logs), "%s/logs", folder);
    const char *const settings[][2] = {
        { "xxl.job.admin.addresses", center },   { "xxl.job.accessToken", "token" },
        { "xxl.job.executor.appname", "nomem" }, { "listen", "127.0.0.1" },
        { "xxl.job.executor.port", "0" },        { "xxl.job.executor.logpath", logs },
        { "peal.executor.workers", "2" },
    };
    enum peal_err err = PEAL_OK;
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings) && !err; i++)
        err = peal_executor_set(e, settings[i][0], settings[i][1]);
    return err;
}

/* OK, or the call's reason, which must not be empty. */
static enum peal_err begin(struct peal_executor *e)
{
    const struct peal_handler handler = { .name = "touch", .run = touch, .flags = flags };
    enum peal_err err = configure(e);
    if (!err)
        err = peal_executor_add(e, &handler);
    if (!err)
        err = peal_executor_start(e);
    if (err && !peal_executor_why(e)[0])
        die("a failure without a reason", "");
    return err;
}

static void end(struct peal_executor *e)
{
    peal_executor_stop(e);
    enum peal_err err = peal_executor_wait(e, -1);
    if (err)
        die("wait", peal_executor_why(e));
    peal_executor_free(e);
}

static struct peal_executor *begin_with_memory(void)
{
    struct peal_executor *e = peal_executor_new();
    if (!e || begin(e))
        die("start with memory", e ? peal_executor_why(e) : "none");
    return e;
}

/* One round; true if it had a failure. */
static int start_round(long n, long times, int *refused)
{
    failmalloc_arm(n, times);
    struct peal_executor *e = peal_executor_new();
    enum peal_err err = e ? begin(e) : PEAL_NOMEM;
    if (err) {
        long failed = failmalloc_disarm();
        ++*refused;
        if (!failed)
            die("refused with memory", e ? peal_executor_why(e) : "new");
        peal_executor_free(e);
        end(begin_with_memory()); /* nothing was left behind */
        return 1;
    }
    peal_executor_stop(e);
    if (peal_executor_wait(e, -1))
        die("wait", peal_executor_why(e));
    peal_executor_free(e);
    return failmalloc_disarm() > 0;
}

/* ---- runs ---- */

static struct sockaddr_in address_of(const struct peal_executor *e)
{
    struct sockaddr_in to = { .sin_family = AF_INET };
    const char *port = strrchr(peal_executor_address(e), ':');
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)strtoul(port ? port + 1 : "0", NULL, 10));
    return to;
}

/* Does the executor have the run? Only system calls between arming and the end. */
static int send_run(const struct sockaddr_in *to, long id)
{
    char body[1024], text[2048], answer[4096];
    int n = snprintf(
        body, sizeof(body),
        "{\"jobId\":%ld,\"executorHandler\":\"touch\",\"executorParams\":\"a parameter\","
        "\"executorBlockStrategy\":\"SERIAL_EXECUTION\",\"executorTimeout\":0,\"logId\":%ld,"
        "\"logDateTime\":%lld,\"glueType\":\"BEAN\",\"glueSource\":\"\","
        "\"glueUpdatetime\":0,\"broadcastIndex\":0,\"broadcastTotal\":1}",
        id % 7 + 1, id, 1700000000000LL);
    n = snprintf(
        text, sizeof(text),
        "POST /run HTTP/1.1\r\nHost: localhost\r\nXXL-JOB-ACCESS-TOKEN: token\r\n"
        "Content-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
        n, body);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t have = 0;
    ssize_t got = -1;
    if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0 &&
        send(fd, text, (size_t)n, MSG_NOSIGNAL) == n)
        while (have < sizeof(answer) - 1 &&
               (got = recv(fd, answer + have, sizeof(answer) - 1 - have, 0)) > 0)
            have += (size_t)got;
    close(fd);
    answer[have] = '\0';
    return strstr(answer, "\"code\":200") || strstr(answer, "repeate");
}

/* Until everything that was accepted has been told to a center. */
static void settle(const struct peal_executor *e, int64_t accepted)
{
    struct peal_status s = { .size = sizeof(s) };
    do {
        poll(NULL, 0, 1);
        peal_executor_status(e, &s);
    } while (s.accepted < accepted || s.ended < s.accepted || s.running || s.waiting ||
             s.results_pending);
}

static int run_round(struct peal_executor *e, const struct sockaddr_in *to, long id, long n,
                     long times, int *refused)
{
    failmalloc_arm(n, times);
    if (!send_run(to, id)) {
        ++*refused;
        failmalloc_disarm();
        while (!send_run(to, id))
            poll(NULL, 0, 10);
        settle(e, id);
        return 1;
    }
    settle(e, id);
    return failmalloc_disarm() > 0;
}

/* ---- the whole ---- */

/* From one round to the next: each allocation at first, then ever larger steps. */
static long next(long n)
{
    return n < 150 ? n + 1 : n + n / 40;
}

static int rounds(int run, long times, int *refused)
{
    int quiet = 0, n = 0;
    struct peal_executor *e = run ? begin_with_memory() : NULL;
    struct sockaddr_in to = { 0 };
    if (run)
        to = address_of(e);
    for (long at = 0; quiet < 3 && n < 1000; at = next(at), n++) {
        int failed =
            run ? run_round(e, &to, n + 1, at, times, refused) : start_round(at, times, refused);
        quiet = failed ? 0 : quiet + 1;
    }
    if (run)
        end(e);
    return n;
}

static void remember_signals(struct sigaction *actions, sigset_t *mask)
{
    for (int i = 1; i < 32; i++)
        sigaction(i, NULL, &actions[i]);
    pthread_sigmask(SIG_SETMASK, NULL, mask);
}

int main(int argc, char **argv)
{
    static struct sigaction before[32], after[32];
    static sigset_t mask_before, mask_after;
    if (argc != 5)
        die("usage", "host CENTER FOLDER start|run|process TIMES");
    center = argv[1];
    folder = argv[2];
    int refused = 0, run = strcmp(argv[3], "start") != 0;
    flags = strcmp(argv[3], "process") == 0 ? PEAL_PROCESS : 0;
    entered =
        mmap(NULL, sizeof(*entered), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (entered == MAP_FAILED)
        die("mmap", "no memory");
    remember_signals(before, &mask_before);
    int n = rounds(run, strtol(argv[4], NULL, 10), &refused);
    remember_signals(after, &mask_after);
    printf("rounds %d\nrefused %d\nentered %d\n", n, refused, atomic_load(entered));
    for (int i = 1; i < 32; i++)
        if (before[i].sa_handler != after[i].sa_handler ||
            sigismember(&mask_before, i) != sigismember(&mask_after, i))
            die("a signal was touched", strsignal(i));
    printf("signals untouched\n");
    return 0;
}
