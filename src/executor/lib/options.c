/* SPDX-License-Identifier: Apache-2.0 */
/* The settings. One table for the library and the agent; the agent's further rows are its last
 * ones, so the library's table is the same array with fewer rows. Rules that take one value are in
 * the rows; those that take two are in options_apply. */
#include "executor/lib/options.h"
#include <string.h>
#include "base/log.h"
#include "base/mem.h"

#define OPTION_CERT "peal.executor.centers.cert"
#define OPTION_KEY "peal.executor.centers.key"

static const struct config_row rows[] = {
    { "xxl.job.admin.addresses", "centers", CONFIG_TEXT, "", "URLS",
      "addresses of the centers, comma separated", 0, 0 },
    { "peal.executor.centers.ca", "centers.ca", CONFIG_TEXT, "system", "system|FILE|any",
      "what the certificates of https centers are checked with: those that this machine trusts,\n"
      "or a file of certificates (PEM); any: they are not checked",
      0, 0 },
    { OPTION_CERT, "centers.cert", CONFIG_TEXT, "", "FILE",
      "certificate (PEM) to show to https centers that ask for one", 0, 0 },
    { OPTION_KEY, "centers.key", CONFIG_TEXT, "", "FILE",
      "its private key (PEM, without a pass phrase)", 0, 0 },
    { OPTION_TOKEN, "token, access.token, xxl.job.admin.accessToken", CONFIG_TEXT, "", "TEXT",
      "the token that center and executor share; better in PEAL_ACCESS_TOKEN, where ps does\n"
      "not show it",
      0, 0 },
    { "xxl.job.executor.appname", "app", CONFIG_TEXT, "", "NAME",
      "app name of the group to register in", 0, 0 },
    { OPTION_ENABLED, NULL, CONFIG_FLAG, "true", NULL, "false: it does not start", 0, 0 },
    { "xxl.job.executor.address", "address", CONFIG_TEXT, "", "URL",
      "address to register, verbatim; empty: http://ip:port/", 0, 0 },
    { "xxl.job.executor.ip", "ip", CONFIG_TEXT, "", "IP",
      "ip to register; empty: the one it listens on, or the first of the machine", 0, 0 },
    { "xxl.job.executor.port", "port", CONFIG_INT, "9999", "PORT",
      "0 or -1: the first free one from 9999 on", -1, 65535 },
    { "xxl.job.executor.logpath", "logs", CONFIG_TEXT, "peal-executor-logs", "DIR",
      "folder of the runs' logs: day/logId.log", 0, 0 },
    { "xxl.job.executor.logretentiondays", NULL, CONFIG_INT, "30", "DAYS",
      "logs of older days are removed; fewer than 3: none are", -1, EXECUTOR_RETENTION_MAX_DAYS },
    { "listen", NULL, CONFIG_TEXT, "", "HOST", "host to listen on; empty: every interface", 0, 0 },
    { "peal.executor.glue", "glue", CONFIG_TEXT, "", "KINDS",
      "script kinds that may run here, comma separated: shell, python, python2, php, nodejs,\n"
      "powershell. Users who can edit jobs can then run anything here",
      0, 0 },
    { "peal.executor.glue.user", NULL, CONFIG_TEXT, "", "USER",
      "scripts and commands run as this user, which takes root; empty: the executor's own", 0, 0 },
    { "peal.executor.glue.env", NULL, CONFIG_TEXT, "", "NAMES",
      "variables that they get besides PATH, HOME, USER, LANG, TZ and PEAL_...", 0, 0 },
    { "peal.executor.glue.time", NULL, CONFIG_MS, "0", "DURATION",
      "time that each of them has, whatever the job's timeout is; 0: no limit", 0, 31536000000 },
    { "peal.executor.glue.memory", NULL, CONFIG_INT, "0", "MIB",
      "address space of each of their processes, in MiB; 0: no limit. Node.js and PowerShell\n"
      "reserve much more than they use",
      0, 1048576 },
    { "peal.executor.glue.processes", NULL, CONFIG_INT, "0", "N",
      "processes and threads that their user may have, all of the machine's together, so give\n"
      "them a user of their own; does not bind root; 0: no limit",
      0, 4194304 },
    { "peal.executor.glue.files", NULL, CONFIG_INT, "1024", "N",
      "files that each of their processes may have open; 0: no limit", 0, 1048576 },
    { "peal.executor.workers", "workers", CONFIG_INT, "64", "N", "runs at a time", 1,
      EXECUTOR_WORKERS_MAX },
    { "peal.executor.stack", NULL, CONFIG_INT, "8192", "KIB",
      "stack of each worker's thread, in KiB: what a handler's variables may take", 128, 1048576 },
    { "peal.executor.queue", "queue", CONFIG_INT, "10000", "N",
      "runs that may wait, per job; more are refused", 1, EXECUTOR_QUEUE_MAX },
    { "peal.executor.remember", NULL, CONFIG_INT, "1000000", "N",
      "finished log ids to remember, at most for a day: known ones are refused", 0,
      EXECUTOR_REMEMBER_MAX },
    { "peal.executor.memory", NULL, CONFIG_INT, "256", "MIB",
      "memory that runs and results may take here, in MiB; more runs are refused", 1, 1048576 },
    { "peal.executor.journal", "journal", CONFIG_TEXT, "", "FILE",
      "where accepted runs and results are kept until they are done with; empty: journal.db in\n"
      "the folder of the logs",
      0, 0 },
    { "peal.executor.stop.timeout", NULL, CONFIG_MS, "5s", "DURATION",
      "time that runs have when it stops", 0, EXECUTOR_STOP_MAX_MS },
    { "peal.executor.stop.grace", NULL, CONFIG_MS, "3s", "DURATION",
      "time that a run has to end when it is asked to; then its process is killed, and a\n"
      "handler in a thread is reported as one that would not stop",
      0, EXECUTOR_STOP_MAX_MS },
    { OPTION_LOG_FORMAT, "log.format", CONFIG_TEXT, "logfmt", "logfmt|text|json",
      "of the lines on standard error: key=value, for people, or an object of JSON each", 0, 0 },
    { "insecure-no-token", NULL, CONFIG_FLAG, "false", NULL,
      "start without a token: anybody can then start runs", 0, 0 },
    /* from here on: the agent's own */
    { "peal.executor.samples", NULL, CONFIG_TEXT, "*", "NAMES",
      "sample handlers: demo, sharding, fail, sleep, lifecycle; *: all; empty: none", 0, 0 },
    { "peal.executor.commands", "commands", CONFIG_TEXT, "", "PROGRAMS",
      "programs that commandJobHandler may run, comma separated; *: any", 0, 0 },
    { "peal.executor.http.hosts", NULL, CONFIG_TEXT, "", "HOSTS",
      "hosts that httpJobHandler may ask, comma separated: name, *.name, name:port, or * for any;\n"
      "empty: the handler is off",
      0, 0 },
    { "peal.executor.http.private", NULL, CONFIG_FLAG, "false", NULL,
      "also where their addresses are private, loopback or link-local", 0, 0 },
};

enum { AGENT_ROWS = 4, APP_MIN = 4, APP_MAX = 64 };

/* A file may be the configuration of a whole Java application. */
const struct config_table options_library = { rows, countof(rows) - AGENT_ROWS,
                                              .shared_file = true };
const struct config_table options_agent = { rows, countof(rows), .shared_file = true };

/* A Spring application fills in ${NAME} of its file; here it would be taken as it stands, and a
 * token too that everybody can guess. */
static enum err check_placeholders(const struct config *c, struct why *why)
{
    for (int i = 0; i < c->table->n; i++) {
        const char *key = c->table->rows[i].key;
        if (config_origin(c, key) != CONFIG_FILE || !strstr(config_text(c, key), "${"))
            continue;
        why_set(why,
                "%s: ${...} in the file is not filled in here: write the value, or give it as an "
                "option or variable",
                key);
        return ERR_INVALID;
    }
    return OK;
}

static enum err check_certificate(const struct config *c, struct why *why)
{
    if (!config_text(c, OPTION_CERT)[0] == !config_text(c, OPTION_KEY)[0])
        return OK;
    why_set(why, OPTION_CERT " and " OPTION_KEY ": one needs the other");
    return ERR_INVALID;
}

/* As groups are checked: with another name it would register in vain. */
static enum err check_app(const char *name, struct why *why)
{
    size_t n = utf8_units(name, strlen(name));
    if (!name[0] || (n >= APP_MIN && n <= APP_MAX))
        return OK;
    why_set(why, "xxl.job.executor.appname: must have %d-%d characters", APP_MIN, APP_MAX);
    return ERR_INVALID;
}

static enum err check_log_format(const struct config *c, struct why *why)
{
    enum log_format ignored;
    if (log_format_of(config_text(c, OPTION_LOG_FORMAT), &ignored))
        return OK;
    why_set(why, OPTION_LOG_FORMAT ": must be logfmt, text or json");
    return ERR_INVALID;
}

enum err options_apply(const struct config *c, struct executor_config *cf, struct why *why)
{
    *cf = (struct executor_config){
        .centers = config_text(c, "xxl.job.admin.addresses"),
        .token = config_text(c, OPTION_TOKEN),
        .ca = config_text(c, "peal.executor.centers.ca"),
        .cert = config_text(c, OPTION_CERT),
        .key = config_text(c, OPTION_KEY),
        .appname = config_text(c, "xxl.job.executor.appname"),
        .address = config_text(c, "xxl.job.executor.address"),
        .ip = config_text(c, "xxl.job.executor.ip"),
        .port = (int)config_int(c, "xxl.job.executor.port"),
        .logpath = config_text(c, "xxl.job.executor.logpath"),
        .retention_days = (int)config_int(c, "xxl.job.executor.logretentiondays"),
        .listen = config_text(c, "listen"),
        .glue = config_text(c, "peal.executor.glue"),
        .programs = config_text(c, "peal.executor.glue")[0] ||
                    (c->table == &options_agent && config_text(c, "peal.executor.commands")[0]),
        .script_limits = {
            .user = config_text(c, "peal.executor.glue.user"),
            .env = config_text(c, "peal.executor.glue.env"),
            .time_ms = config_int(c, "peal.executor.glue.time"),
            .memory = config_int(c, "peal.executor.glue.memory") << 20,
            .processes = (int)config_int(c, "peal.executor.glue.processes"),
            .files = (int)config_int(c, "peal.executor.glue.files"),
        },
        .workers = (int)config_int(c, "peal.executor.workers"),
        .stack = (size_t)config_int(c, "peal.executor.stack") << 10,
        .queue = (int)config_int(c, "peal.executor.queue"),
        .remember = (int)config_int(c, "peal.executor.remember"),
        .memory = config_int(c, "peal.executor.memory") << 20,
        .journal = config_text(c, "peal.executor.journal"),
        .grace_ms = (int)config_int(c, "peal.executor.stop.grace"),
        .stop_ms = (int)config_int(c, "peal.executor.stop.timeout"),
    };
    enum err err = check_placeholders(c, why);
    if (!err)
        err = check_app(cf->appname, why);
    if (!err)
        err = check_log_format(c, why);
    if (!err)
        err = check_certificate(c, why);
    if (err || cf->token[0] || config_flag(c, "insecure-no-token"))
        return err;
    why_set(why, "a token is missing: set PEAL_ACCESS_TOKEN to the center's, or say "
                 "--insecure-no-token");
    return ERR_INVALID;
}
