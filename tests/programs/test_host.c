/* SPDX-License-Identifier: Apache-2.0 */
/* test_host: a program that has an executor beside other work, with habits of its own that the
 * library has to live with. On the public header alone.
 *
 *     peal_test_host [HABIT...] --KEY VALUE...
 *
 * A habit: ignore-children (SIGCHLD is ignored), reap-children (whoever ends is waited for),
 * report-crashes (a fault writes a line to standard error before it ends the program). It says
 * where it listens, and stops on SIGTERM. */
#include <errno.h>
#include <peal/executor.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- handlers --- */

/* The parameter: what to return, the code to say (or "none"), and the text. */
static int say_result(struct peal_run *run)
{
    char *rest, word[16] = "";
    long back = strtol(peal_param(run), &rest, 10);
    int at = 0;
    sscanf(rest, " %15s %n", word, &at);
    if (strcmp(word, "none") != 0)
        peal_result(run, (int)strtol(word, NULL, 10), "%s", rest + at);
    return (int)back;
}

PEAL_HANDLER(resultJobHandler)
{
    return say_result(run);
}

PEAL_HANDLER(resultProcessJobHandler, .flags = PEAL_PROCESS)
{
    return say_result(run);
}

/* Which signals are blocked in the thread of a handler. */
PEAL_HANDLER(maskJobHandler)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,
                                   SIGABRT, SIGINT, SIGTERM, SIGCHLD, SIGUSR1 };
    sigset_t mask;
    char text[256] = "";
    size_t n = 0;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (!sigismember(&mask, signals[i]))
            n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", sigabbrev_np(signals[i]));
    peal_result(run, 200, "open:%s", text);
    return 0;
}

PEAL_HANDLER(faultJobHandler)
{
    peal_log(run, "a fault follows");
    int *volatile nowhere = NULL;
    return *nowhere;
}

/* Half a line, and then the end. */
PEAL_HANDLER(abortJobHandler, .flags = PEAL_PROCESS)
{
    printf("last words without an end");
    abort();
}

PEAL_HANDLER(progressJobHandler)
{
    peal_progress(run, 40, "on the way");
    (peal_progress)(run, 100, "as a program of the version before calls it");
    return 0;
}

/* A buffer on the stack, of so many KiB. */
PEAL_HANDLER(deepJobHandler)
{
    size_t size = strtoul(peal_param(run), NULL, 10) << 10;
    volatile char *bytes = __builtin_alloca(size);
    for (size_t i = 0; i < size; i += 4096)
        bytes[i] = 1;
    peal_result(run, 200, "%zu bytes", size);
    return 0;
}

/* --- habits --- */

static void reap(int signo)
{
    int saved = errno;
    (void)signo;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = saved;
}

static void report(int signo)
{
    static const char text[] = "crash reporter: here\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)n;
    signal(signo, SIG_DFL);
    raise(signo);
}

static int adopt(const char *habit)
{
    struct sigaction action = { .sa_flags = SA_RESTART };
    int signo = SIGCHLD;
    if (strcmp(habit, "ignore-children") == 0) {
        action.sa_handler = SIG_IGN;
    } else if (strcmp(habit, "reap-children") == 0) {
        action.sa_handler = reap;
    } else if (strcmp(habit, "report-crashes") == 0) {
        signo = SIGSEGV;
        action.sa_handler = report;
    } else {
        return -1;
    }
    return sigaction(signo, &action, NULL);
}

/* --- the program --- */

static void print(void *arg, enum peal_log_level level, const char *text)
{
    (void)arg;
    fprintf(stderr, "%d %s\n", (int)level, text);
}

static int complain(const struct peal_executor *e)
{
    fprintf(stderr, "test_host: %s\n", peal_executor_why(e));
    return 1;
}

static int set_up(struct peal_executor *e, int argc, char **argv)
{
    static const struct peal_handler *const all[] = {
        &peal_handler_resultJobHandler,   &peal_handler_resultProcessJobHandler,
        &peal_handler_maskJobHandler,     &peal_handler_faultJobHandler,
        &peal_handler_deepJobHandler,     &peal_handler_abortJobHandler,
        &peal_handler_progressJobHandler,
    };
    int i = 1;
    for (; i < argc && argv[i][0] != '-'; i++)
        if (adopt(argv[i]))
            return -1;
    for (; i + 1 < argc; i += 2)
        if (peal_executor_set(e, argv[i] + 2, argv[i + 1]))
            return -1;
    for (size_t n = 0; n < sizeof(all) / sizeof(*all); n++)
        if (peal_executor_add(e, all[n]))
            return -1;
    peal_executor_on_say(e, print, NULL);
    return 0;
}

static void until_stopped(struct peal_executor *e, int signals)
{
    struct pollfd fds[] = { { .fd = signals, .events = POLLIN },
                            { .fd = peal_executor_fd(e), .events = POLLIN } };
    while (!fds[1].revents) {
        struct signalfd_siginfo info;
        if (poll(fds, 2, -1) > 0 && fds[0].revents &&
            read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
            peal_executor_stop(e);
    }
}

int main(int argc, char **argv)
{
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    struct peal_executor *e = peal_executor_new();
    if (set_up(e, argc, argv) || peal_executor_start(e))
        return complain(e);
    pthread_sigmask(SIG_BLOCK, &stops, NULL);
    int signals = signalfd(-1, &stops, SFD_CLOEXEC);
    fprintf(stderr, "test_host listens on %s\n", peal_executor_address(e));
    until_stopped(e, signals);
    peal_executor_free(e);
    return 0;
}
