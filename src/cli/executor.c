/* SPDX-License-Identifier: Apache-2.0 */
/* peal executor: the executor as a process of its own, with the built-in handlers. */
#include <string.h>
#include <sys/prctl.h>
#include "cli/command.h"
#include "cli/executor_call.h"
#include "executor/agent/builtin.h"
#include "executor/lib/options.h"
#include "executor/lib/program.h"

static const char help_head[] =
    "usage: peal executor [-c FILE] [OPTIONS]\n"
    "       peal executor status|drain|undrain --url URL [--token TOKEN]\n"
    "                      [--ca FILE | --insecure]\n"
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
    "  httpJobHandler      sends a request; the parameter is its URL and what goes with it:\n"
    "                      {\"url\": \"https://example.com/x\", \"method\": \"POST\", \"data\": "
    "\"...\"}\n"
    "                      Off unless --peal.executor.http.hosts lists the host\n"
    "  lifecycleJobHandler keeps a count from its init to its destroy\n"
    "Jobs of the types GLUE_SHELL, GLUE_PYTHON, GLUE_PYTHON2, GLUE_PHP, GLUE_NODEJS and\n"
    "GLUE_POWERSHELL bring a script along: off unless --peal.executor.glue lists the kind, "
    "because\n"
    "whoever can edit jobs can then run anything here that --peal.executor.glue.user can.\n"
    "\n"
    "Options. Each is also a variable of the environment and a line key=value of the file given\n"
    "with -c, which may be a Java application's: an option counts before a variable, a variable\n"
    "before the file.\n";

static const char help_tail[] =
    "\n"
    "SIGTERM or SIGINT: deregister, take no more runs, give those that are here the time of\n"
    "--peal.executor.stop.timeout, end the rest, deliver the results. A second one cuts that "
    "short.\n"
    "\n"
    "drain makes an executor at URL deregister and take no new runs, while those that it has go "
    "on;\n"
    "undrain brings it back to work; status shows what it does. The token comes from\n"
    "PEAL_ACCESS_TOKEN, or --token.\n";

static enum err add_builtins(struct peal_executor *e, const struct config *c, const void *arg,
                             struct why *why)
{
    static struct builtin_config config; /* the handlers use it as long as they live */
    size_t n;
    (void)arg;
    config = (struct builtin_config){
        .samples = config_text(c, "peal.executor.samples"),
        .commands = config_text(c, "peal.executor.commands"),
        .http_hosts = config_text(c, "peal.executor.http.hosts"),
        .http_private = config_flag(c, "peal.executor.http.private"),
    };
    enum err err = builtin_check(&config, why);
    if (err)
        return err;
    const struct peal_handler *const *list = builtin_handlers(&config, &n);
    for (size_t i = 0; i < n; i++)
        if (peal_executor_add(e, list[i])) {
            why_set(why, "%s", peal_executor_why(e));
            return ERR_INVALID;
        }
    return OK;
}

int cmd_executor(int argc, char **argv)
{
    static const struct program program = {
        .name = "peal executor",
        .head = help_head,
        .tail = help_tail,
        .table = &options_agent,
        .add = add_builtins,
        .hint = builtin_hint,
    };
    if (argc > 1 && executor_call_knows(argv[1]))
        return executor_call(argc - 1, argv + 1);
    prctl(PR_SET_DUMPABLE, 0); /* the token is not for scripts of the same user to read */
    return program_run(&program, argc, argv);
}
