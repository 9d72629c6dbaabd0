/* SPDX-License-Identifier: Apache-2.0 */
/* A program around an executor: options, signals, start, wait, exit status. Signals are blocked
 * before the first thread exists and read from a descriptor, so no signal handler is needed. */
#include "executor/lib/program.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "executor/lib/options.h"
#include "executor/lib/pid1.h"

enum { DESCRIPTORS = 65536 };

extern char **environ;

static const char library_head[] =
    "Takes runs of its handlers from a scheduling center (Peal's, or XXL-JOB's admin 2.2 to 3.4),\n"
    "keeps their logs and reports how they ended. It finds its center, not the other way round:\n"
    "give it the center's address, the shared token, and the app name of an executor group.\n"
    "\n"
    "  PEAL_ACCESS_TOKEN=... PROGRAM --centers http://127.0.0.1:8080 --app demo\n"
    "\n"
    "Options. Each is also a variable of the environment and a line key=value of the file given\n"
    "with -c, which may be a Java application's: an option counts before a variable, a variable\n"
    "before the file.\n";

static const char library_tail[] =
    "\n"
    "SIGTERM or SIGINT: deregister, take no more runs, give those that are here the time of\n"
    "--peal.executor.stop.timeout, end the rest, deliver the results. A second one cuts that "
    "short.\n";

static int complain(const struct program *p, const char *text, int status)
{
    if (strstr(text, "--help"))
        fprintf(stderr, "%s: %s\n", p->name, text);
    else
        fprintf(stderr, "%s: %s (%s --help explains)\n", p->name, text, p->name);
    return status;
}

static void print_start(const struct program *p, struct peal_executor *e)
{
    const struct config *c = embed_config(e);
    const struct handlers *h = embed_handlers(e);
    const char *centers = config_text(c, "xxl.job.admin.addresses");
    const char *app = config_text(c, "xxl.job.executor.appname");
    const char *glue = config_text(c, "peal.executor.glue");
    printf("%s listens on %s\n", p->name, peal_executor_address(e));
    if (centers[0] && app[0])
        printf("  registers as %s at %s\n", app, centers);
    else
        printf("  registers nowhere: that takes --centers and --app\n");
    printf("  handlers:");
    for (size_t i = 0; i < h->n; i++)
        printf(" %s", h->all[i]->name);
    printf("\n  scripts: %s\n  logs: %s\n", glue[0] ? glue : "off",
           config_text(c, "xxl.job.executor.logpath"));
    fflush(stdout);
}

static sigset_t stopping_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

/* Blocked before any thread exists, so that all of them inherit it. */
static int watch_signals(void)
{
    sigset_t set = stopping_signals();
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* a wrapper may have ignored it */
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void until_stopped(struct peal_executor *e, int signals, const struct service *service)
{
    struct pollfd fds[] = { { .fd = signals, .events = POLLIN },
                            { .fd = peal_executor_fd(e), .events = POLLIN } };
    while (!fds[1].revents) {
        struct signalfd_siginfo info;
        poll(fds, 2, -1);
        while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
            service_stopping(service);
            peal_executor_stop(e);
        }
    }
}

/* Connections, logs and children take descriptors; the usual soft limit of 1,024 is for programs
 * that call select(). */
static void raise_descriptors(void)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) < 0 || now.rlim_cur >= DESCRIPTORS)
        return;
    now.rlim_cur = now.rlim_max < DESCRIPTORS ? now.rlim_max : DESCRIPTORS;
    setrlimit(RLIMIT_NOFILE, &now);
}

static int serve(const struct program *p, struct peal_executor *e)
{
    static struct service service; /* the loop's thread may outlive this call, with handlers that
                                      do not stop */
    raise_descriptors();
    service_open(&service);
    embed_service(e, &service);
    int signals = watch_signals();
    if (signals < 0)
        return complain(p, strerror(errno), PROGRAM_FAILED);
    enum peal_err err = peal_executor_start(e);
    if (!err) {
        print_start(p, e);
        service_ready(&service, peal_executor_address(e));
        until_stopped(e, signals, &service);
    }
    close(signals);
    if (embed_stuck(e) == 0)
        service_close(&service);
    if (!err)
        return PROGRAM_DONE;
    return complain(p, peal_executor_why(e), err == PEAL_INVALID ? PROGRAM_USAGE : PROGRAM_FAILED);
}

static int configured(const struct program *p, struct peal_executor *e, int argc, char **argv)
{
    struct config *c = embed_config(e);
    struct why why = { { 0 } };
    config_done(c);
    if (config_read(p->table, argc, argv, environ, c, &why))
        return complain(p, why.text, PROGRAM_USAGE);
    if (c->help) {
        fputs(p->head, stdout);
        config_help(p->table, stdout);
        fputs(p->tail, stdout);
        return PROGRAM_DONE;
    }
    if (!config_flag(c, OPTION_ENABLED)) {
        printf("%s does not start: " OPTION_ENABLED " is false\n", p->name);
        return PROGRAM_DONE;
    }
    enum err err = p->add(e, c, p->arg, &why);
    if (err)
        return complain(p, why.text[0] ? why.text : err_text(err), PROGRAM_USAGE);
    config_forget(c, OPTION_TOKEN, argc, argv, environ); /* scripts must not find it */
    int failed = pid1_split();
    if (failed)
        return complain(p, strerror(failed), PROGRAM_FAILED);
    embed_hint(e, p->hint);
    embed_print(e);
    return serve(p, e);
}

/* A descriptor of ours with the number of a standard one would get what is printed. */
static void open_stdio(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_WRONLY : O_RDONLY) < 0)
            return; /* then nothing can be opened anyway */
}

/* The kernel drops what comes for process 1 of a container while nothing is there to take it: from
 * here on it waits. */
static void keep_early_signals(void)
{
    sigset_t set = stopping_signals();
    if (getpid() == 1)
        sigprocmask(SIG_BLOCK, &set, NULL);
}

int program_run(const struct program *p, int argc, char **argv)
{
    keep_early_signals();
    open_stdio();
    struct peal_executor *e = embed_new(p->table);
    if (!e)
        return complain(p, err_text(ERR_NOMEM), PROGRAM_FAILED);
    int status = configured(p, e, argc, argv);
    if (embed_stuck(e) == 0) /* else to free it would wait for what does not stop */
        peal_executor_free(e);
    return status;
}

/* --- of a program with handlers of its own --- */

struct given {
    const struct peal_handler *const *handlers;
    size_t n;
};

static enum err add_given(struct peal_executor *e, const struct config *c, const void *arg,
                          struct why *why)
{
    const struct given *given = arg;
    (void)c;
    for (size_t i = 0; i < given->n; i++) {
        enum peal_err err = peal_executor_add(e, given->handlers[i]);
        if (!err)
            continue;
        why_set(why, "%s", peal_executor_why(e));
        return err == PEAL_NOMEM ? ERR_NOMEM : ERR_INVALID;
    }
    return OK;
}

int peal_executor_run(int argc, char **argv, const struct peal_handler *const *handlers, size_t n)
{
    const struct given given = { handlers, n };
    const char *path = argc > 0 && argv[0] ? argv[0] : "executor";
    const char *slash = strrchr(path, '/');
    const struct program p = {
        .name = slash ? slash + 1 : path,
        .head = library_head,
        .tail = library_tail,
        .table = &options_library,
        .add = add_given,
        .arg = &given,
    };
    return program_run(&p, argc, argv);
}
