/* SPDX-License-Identifier: Apache-2.0 */
/* peal executor: the executor as a process of its own. */
#include "executor/executor.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "base/mem.h"
#include "cli/command.h"
#include "executor/builtin.h"
#include "executor/handlers.h"
#include "executor/options.h"

extern char **environ;

static const char help_head[] =
    "usage: peal executor [-c FILE] [OPTIONS]\n"
    "\n"
    "Takes runs from a scheduling center (Peal's, or XXL-JOB's admin 2.2 to 3.4), runs them, "
    "keeps\n"
    "their logs and reports how they ended. It finds its center, not the other way round: give it "
    "the\n"
    "center's address, the shared token, and the app name of an executor group.\n"
    "\n"
    "  PEAL_ACCESS_TOKEN=... peal executor --centers http://127.0.0.1:8080 --app demo\n"
    "\n"
    "Then create a job in that group whose handler is one of these:\n"
    "  demoJobHandler      five lines of log with pauses\n"
    "  shardingJobHandler  logs which shard it is (route SHARDING_BROADCAST)\n"
    "  failJobHandler      fails; the parameter is the message\n"
    "  sleepJobHandler     sleeps; the parameter is the milliseconds\n"
    "  commandJobHandler   runs a program without a shell; the parameter is program and "
    "arguments,\n"
    "                      'quoted' if need be. Off unless --peal.executor.commands lists the "
    "program\n"
    "Jobs of type GLUE_SHELL bring a script along and run it with bash: off unless\n"
    "--peal.executor.glue=shell, because whoever can edit jobs can then run anything here.\n"
    "\n"
    "Options. Each is also a variable of the environment and a line key=value of the file given\n"
    "with -c, which may be a Java application's: an option counts before a variable, a variable\n"
    "before the file.\n";

static const char help_tail[] =
    "\n"
    "SIGTERM or SIGINT: deregister, take no more runs, give those that are here the time of\n"
    "--peal.executor.stop.timeout, end the rest, deliver the results. A second one cuts that "
    "short.\n";

struct agent {
    struct loop *loop;
    struct executor *executor;
    struct loop_fd signals;
};

static int complain(const char *text, int status)
{
    fprintf(stderr, "peal executor: %s (peal executor --help explains)\n", text);
    return status;
}

static void on_signal(struct loop_fd *f, uint32_t events)
{
    struct agent *a = container_of(f, struct agent, signals);
    struct signalfd_siginfo info;
    (void)events;
    while (read(f->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        executor_stop(a->executor);
}

static void on_stopped(void *arg)
{
    struct agent *a = arg;
    loop_stop(a->loop);
}

/* Blocked before any thread exists, so that all of them inherit it. */
static enum err watch_signals(struct agent *a, struct why *why)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    a->signals = (struct loop_fd){ .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                                   .events = EPOLLIN,
                                   .ready = on_signal };
    if (a->signals.fd >= 0)
        return loop_fd_add(a->loop, &a->signals);
    why_set(why, "signals cannot be watched: %s", strerror(errno));
    return ERR_IO;
}

static void print_start(const struct executor *e, const struct executor_config *cf)
{
    printf("peal executor listens on %s\n", executor_address(e));
    if (cf->centers[0] && cf->appname[0])
        printf("  registers as %s at %s\n", cf->appname, cf->centers);
    else
        printf("  registers nowhere: that takes --centers and --app\n");
    printf("  handlers:");
    for (size_t i = 0; i < cf->handlers->n; i++)
        printf(" %s", cf->handlers->all[i]->name);
    printf("\n  scripts: %s\n  logs: %s\n", cf->glue[0] ? cf->glue : "off", cf->logpath);
    fflush(stdout);
}

static enum err add_builtins(struct handlers *to, const struct builtin_config *config,
                             struct why *why)
{
    size_t n;
    const struct peal_handler *const *list = builtin_handlers(config, &n);
    enum err err = OK;
    for (size_t i = 0; !err && i < n; i++)
        err = handlers_add(to, list[i], why);
    return err;
}

static int serve(const struct executor_config *given, const struct builtin_config *builtin)
{
    struct why why = { { 0 } };
    struct handlers handlers;
    struct agent a = { .loop = loop_new(), .signals = { .fd = -1 } };
    struct executor_config cf = *given;
    cf.on_stopped = on_stopped;
    cf.arg = &a;
    cf.handlers = &handlers;
    cf.hint = builtin_hint;
    handlers_init(&handlers);
    enum err err = add_builtins(&handlers, builtin, &why);
    if (!err)
        err = watch_signals(&a, &why);
    if (!err)
        err = executor_new(a.loop, &cf, &a.executor, &why);
    if (!err) {
        print_start(a.executor, &cf);
        loop_run(a.loop);
        executor_free(a.executor);
    }
    if (a.signals.fd >= 0) {
        loop_fd_remove(a.loop, &a.signals);
        close(a.signals.fd);
    }
    loop_free(a.loop);
    handlers_done(&handlers);
    if (!err)
        return EXIT_DONE;
    return complain(why.text[0] ? why.text : err_text(err),
                    err == ERR_INVALID ? EXIT_USAGE : EXIT_FAILED);
}

int cmd_executor(int argc, char **argv)
{
    struct config config;
    struct executor_config cf;
    struct why why = { { 0 } };
    int status;
    if (config_read(&options_agent, argc, argv, environ, &config, &why)) {
        status = complain(why.text, EXIT_USAGE);
    } else if (config.help) {
        fputs(help_head, stdout);
        config_help(&options_agent, stdout);
        fputs(help_tail, stdout);
        status = EXIT_DONE;
    } else if (options_apply(&config, &cf, &why)) {
        status = complain(why.text, EXIT_USAGE);
    } else {
        config_forget(&config, OPTION_TOKEN); /* scripts and commands shall not find it */
        struct builtin_config builtin = { .commands =
                                              config_text(&config, "peal.executor.commands") };
        status = serve(&cf, &builtin);
    }
    config_done(&config);
    return status;
}
