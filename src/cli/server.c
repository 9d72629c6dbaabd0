/* SPDX-License-Identifier: Apache-2.0 */
/* peal server: settings, the token, the first user, and the center until a signal says stop. */
#include "alarm/alarm.h"
#include "api/api.h"
#include "api/group_tokens.h"
#include "base/config.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/thread.h"
#include "cli/command.h"
#include "cli/reload.h"
#include "cli/server.h"
#include "net/service.h"
#include "net/tls.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_FILE "token" /* in the data folder */
#define TOKEN_MAX 256
#define RETENTION_DAYS 30 /* as XXL-JOB comes configured */

extern char **environ;

static const struct config_row rows[] = {
    { "listen", NULL, CONFIG_TEXT, "127.0.0.1:8080", "HOST:PORT",
      "where executors, scripts and browsers connect; port 0 takes a free one", 0, 0 },
    { "server.port", NULL, CONFIG_INT, NULL, "PORT",
      "of an XXL-JOB center's file: the port, on every interface, if listen is not set", 0, 65535 },
    { "server.address", NULL, CONFIG_TEXT, NULL, "HOST",
      "of such a file, too: the address that goes with it", 0, 0 },
    { "tls.cert", NULL, CONFIG_TEXT, NULL, "FILE",
      "the port speaks TLS with this certificate (PEM; behind it those up to its root); SIGHUP\n"
      "reads it and its key again",
      0, 0 },
    { "tls.key", NULL, CONFIG_TEXT, NULL, "FILE", "its private key (PEM, without a pass phrase)", 0,
      0 },
    { "tls.client-ca", NULL, CONFIG_TEXT, NULL, "FILE",
      "executors must show a certificate that one of these (PEM) has signed; people need not", 0,
      0 },
    { "executor.ca", NULL, CONFIG_TEXT, "system", "system|FILE|any",
      "what the certificates of https executors are checked with: those that this machine trusts,\n"
      "or a file of certificates (PEM); any: they are not checked, as in XXL-JOB",
      0, 0 },
    { "data", NULL, CONFIG_TEXT, "peal-data", "DIR", "folder of the database and the token", 0, 0 },
    { "db", NULL, CONFIG_TEXT, NULL, "URL",
      "the database: sqlite:FILE (default: peal.db in the data folder), or a server's:\n"
      "mysql://USER@HOST/DATABASE, postgres://USER@HOST/DATABASE, or the jdbc: URL of one",
      0, 0 },
    { "db.password", NULL, CONFIG_SECRET, NULL, "TEXT",
      "of the database's user, if the URL does not say it; another way is password-file=FILE in\n"
      "the URL. On a command line others can read it",
      0, 0 },
    { "db.clock-skew", NULL, CONFIG_MS, "5s", "DURATION",
      "a server does not start where the clock of the database's server is further from this\n"
      "machine's; 0: it may be",
      0, 86400000 },
    { "node.name", NULL, CONFIG_TEXT, NULL, "NAME",
      "of this server in a database that is a server's (default: the host's name)", 0, 0 },
    { "node.address", NULL, CONFIG_TEXT, NULL, "HOST:PORT",
      "where the other servers of a cluster reach this one (default: where it listens, with the\n"
      "host's name in place of every interface); https:// before it if the port speaks TLS",
      0, 0 },
    { "node.cluster", NULL, CONFIG_FLAG, "false", NULL,
      "being built, not for use: several servers on one database", 0, 0 },
    { "recorder", NULL, CONFIG_TEXT, NULL, "DIR",
      "folder on tmpfs for the flight recorder, by which a killed server knows what it had sent;\n"
      "none: do without (default: $RUNTIME_DIRECTORY, else /dev/shm)",
      0, 0 },
    { "token", "access.token, xxl.job.accessToken", CONFIG_SECRET, NULL, "TEXT",
      "access token of executors, in both directions; a random one is made and kept in\n"
      "the data folder if none is given",
      0, 0 },
    { "insecure-no-token", NULL, CONFIG_FLAG, "false", NULL,
      "take an empty token: anybody who can connect can register as an executor", 0, 0 },
    { "admin.password", NULL, CONFIG_SECRET, NULL, "TEXT",
      "password of the user admin that the first start makes, 4-20 characters; random if\n"
      "left out; ignored once there are users. On a command line others can read it",
      0, 0 },
    { "zone", NULL, CONFIG_TEXT, NULL, "NAME",
      "time zone of schedules and dates, such as Asia/Shanghai (default: this machine's)", 0, 0 },
    { "misfire.threshold", NULL, CONFIG_MS, TEXT_OF(PLAN_MISFIRE_THRESHOLD_S) "s", "DURATION",
      "a scheduled time that was not planned so long after it goes to its job's misfire strategy",
      100, 86400000 },
    { "start.deadline", NULL, CONFIG_MS, TEXT_OF(JOB_START_DEADLINE_S) "s", "DURATION",
      "how late a run may still start, of jobs that do not say", JOB_START_DEADLINE_MIN_MS,
      JOB_START_DEADLINE_MAX_MS },
    { "lane.connections", NULL, CONFIG_INT, TEXT_OF(SCHED_LANE_CONNECTIONS), "N",
      "calls at once to one executor address; more than 64 only while it answers slowly", 1, 1000 },
    { "lane.queue", NULL, CONFIG_INT, TEXT_OF(SCHED_LANE_QUEUE), "N",
      "runs that wait for one address before others take the next; those that are bound to it\n"
      "(FIRST, LAST, CONSISTENT_HASH, broadcasts, given addresses) wait up to start.deadline",
      1, 1000000 },
    { "log.retention-days", "xxl.job.logretentiondays", CONFIG_INT, TEXT_OF(RETENTION_DAYS), "N",
      "rows of the log go when they are so old; below " TEXT_OF(
          SERVER_RETENTION_DAYS_MIN) ": never",
      0, 36500 },
    { "log.retention-failed-days", NULL, CONFIG_INT, "0", "N",
      "the same of failures, if they shall stay longer", 0, 36500 },
    { "log.retention-rows", NULL, CONFIG_INT, "0", "N",
      "of each job the newest so many rows of the log stay; 0: all", 0, 1000000000 },
    { "backup.folder", NULL, CONFIG_TEXT, NULL, "DIR",
      "folder that exists, in which the server backs its database up; without it, it does not", 0,
      0 },
    { "backup.every", NULL, CONFIG_MS, "1d", "DURATION",
      "a backup is made when the newest one in the folder is so old", 1000, INT64_C(31536000000) },
    { "backup.keep", NULL, CONFIG_INT, "7", "N",
      "how many stay in the folder; older ones go once a new one is checked", 1, 100000 },
    { "language", NULL, CONFIG_TEXT, "en", "en|zh_CN", "of the messages in the trigger log", 0, 0 },
    { "metrics.per_job", NULL, CONFIG_TEXT, "", "off|failing|all",
      "whose own metrics /metrics has, by job number; all, or with more than 2,000 jobs failing,\n"
      "if left out",
      0, 0 },
    { "compat.get-changes", NULL, CONFIG_FLAG, "false", NULL,
      "let GET requests of the web API change something, as XXL-JOB does: a link on any page\n"
      "can then act for a user who is logged in",
      0, 0 },
    { "compat.write-passwords", NULL, CONFIG_FLAG, "false", NULL,
      "write new passwords into xxl_job_user.password, too (SHA-256), for centers of XXL-JOB on "
      "the\n"
      "same database; else only an argon2id hash is kept",
      0, 0 },
    { "audit.keep", NULL, CONFIG_MS, TEXT_OF(API_AUDIT_KEEP_DAYS) "d", "DURATION",
      "entries of the audit that are older are deleted; 0: none are", 0, INT64_C(315360000000) },
    { "session.idle", NULL, CONFIG_MS, TEXT_OF(API_SESSION_IDLE_DAYS) "d", "DURATION",
      "a login that was not used for so long has ended", 60000, INT64_C(31536000000) },
    { "http.prefix", "server.servlet.context-path", CONFIG_TEXT, "", "/PATH",
      "path under which browsers reach this server, such as /peal behind a proxy", 0, 0 },
    { "http.proxies", NULL, CONFIG_TEXT, "", "NETWORKS",
      "proxies, such as 127.0.0.1, 10.0.0.0/8, whose X-Forwarded-For, -Proto and -Host count", 0,
      0 },
    { "streams.max", NULL, CONFIG_INT, TEXT_OF(API_STREAMS_MAX), "N",
      "pages and logs that are followed at once, by all users; at most a quarter of the files "
      "that\n"
      "the process may open",
      1, 100000 },
    { "limit.token", NULL, CONFIG_INT, TEXT_OF(API_TOKEN_LIMIT), "N",
      "requests a minute to /api/v1 with one token; above, 429; 0: as many as it likes", 0,
      1000000 },
    { "limit.session", NULL, CONFIG_INT, TEXT_OF(API_SESSION_LIMIT), "N",
      "the same of a login, and of an address without either", 0, 1000000 },
    { "limit.login", NULL, CONFIG_INT, TEXT_OF(API_LOGIN_LIMIT), "N",
      "failed logins a minute from an address where the user never logged in, and of a user name\n"
      "from all such addresses; above, they wait; 0: only five of a name from an address are free",
      0, 1000000 },
    { "insecure-known-token", NULL, CONFIG_FLAG, "false", NULL,
      "take an access token that XXL-JOB's documentation names (default_token)", 0, 0 },
    { "log.level", NULL, CONFIG_TEXT, "info", "LEVEL", "error, warn, info or debug", 0, 0 },
    { "log.format", NULL, CONFIG_TEXT, "logfmt", "logfmt|text|json",
      "of the lines on standard error: key=value, for people, or an object of JSON each", 0, 0 },
};

struct config_row *server_options(struct config_table *ret)
{
    int n;
    struct config_row *all = alarm_options(rows, countof(rows), &n);
    *ret = (struct config_table){ .rows = all, .n = n, .environment = environ };
    server_foreign(ret);
    return all;
}

/* Where a Spring application would listen with this file. */
static enum err listen_as_spring(struct config *c, struct why *why)
{
    const char *host = config_text(c, "server.address"), *port = config_text(c, "server.port");
    char at[320];
    if (config_origin(c, "listen") != CONFIG_DEFAULT || (!host && !port))
        return OK;
    bool v6 = host && strchr(host, ':') && host[0] != '[';
    int n = snprintf(at, sizeof(at), "%s%s%s:%s", v6 ? "[" : "", host ? host : "", v6 ? "]" : "",
                     port ? port : "8080");
    if (n >= (int)sizeof(at)) {
        why_set(why, "server.address must be shorter than 300 bytes");
        return ERR_INVALID;
    }
    return config_set_like(c, "listen", at, port ? "server.port" : "server.address", why);
}

enum err server_config_read(const struct config_table *table, int argc, char **argv,
                            struct config *ret, struct why *why)
{
    enum err err = config_read(table, argc, argv, environ, ret, why);
    return err || ret->help ? err : listen_as_spring(ret, why);
}

static int complain(const char *text)
{
    fprintf(stderr, "peal server: %s\n", text);
    return EXIT_USAGE;
}

/* Why there is no center, after the settings are known: who reads the lines as JSON reads this,
 * too. */
static int complain_failed(const char *text)
{
    if (log_format() == LOG_JSON)
        log_error("server", "%s", text);
    else
        fprintf(stderr, "peal server: %s\n", text);
    return EXIT_FAILED;
}

static int print_help(const struct config_table *table)
{
    fputs("usage: peal server [OPTIONS]\n\n"
          "The scheduling center: fires jobs on time at executors that register with it.\n\n",
          stdout);
    config_help(table, stdout);
    return EXIT_DONE;
}

/* ---- the token ---------------------------------------------------------------------------------
 */

/* First line of the file; false if there is no file. */
static bool token_read(const char *path, char *to, size_t size, struct why *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            why_set(why, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    char text[TOKEN_MAX + 2];
    ssize_t n = read(fd, text, sizeof(text));
    close(fd);
    struct slice s = slice_trim(slice_of(text, n > 0 ? (size_t)n : 0));
    if (n < 0)
        why_set(why, "cannot read %s: %s", path, strerror(errno));
    else if (s.n == 0 || s.n > TOKEN_MAX)
        why_set(why, "%s must hold a token of 1-%d bytes; delete it to get a new one", path,
                TOKEN_MAX);
    else
        text_copy(to, size, s);
    return !why->text[0];
}

static bool token_write(const char *path, const char *token, struct why *why)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && file_write(fd, slice_text(token)) && file_write(fd, slice_of("\n", 1)) &&
              fsync(fd) == 0;
    if (!ok)
        why_set(why, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

bool server_token_known(const char *token)
{
    return group_token_famous(token);
}

/* The token in force into to; *ret_made: it was made just now. */
static enum err token_choose(const struct config *c, char to[TOKEN_MAX + 1], bool *ret_made,
                             struct why *why)
{
    const char *given = config_text(c, "token"), *data = config_text(c, "data");
    *ret_made = false;
    if (given && !given[0] && !config_flag(c, "insecure-no-token")) {
        why_set(why, "token is empty: anybody could register as an executor or end runs; "
                     "--insecure-no-token allows it");
        return ERR_INVALID;
    }
    if (given && server_token_known(given) && !config_flag(c, "insecure-known-token")) {
        why_set(why,
                "token is %s, which everybody knows from XXL-JOB's documentation: anybody could "
                "register as an executor or end runs. Choose another, here and as "
                "xxl.job.accessToken of the executors, or leave it out and a random one is made; "
                "--insecure-known-token allows it",
                given);
        return ERR_INVALID;
    }
    if (given && strlen(given) > TOKEN_MAX) {
        why_set(why, "token must have at most %d bytes", TOKEN_MAX);
        return ERR_INVALID;
    }
    for (const char *p = given ? given : ""; *p; p++)
        if (*p < '!' || *p > '~') {
            why_set(why, "token must be printable ASCII without blanks (it is sent in a header)");
            return ERR_INVALID;
        }
    text_copy(to, TOKEN_MAX + 1, slice_text(given));
    if (given || config_flag(c, "insecure-no-token"))
        return OK;
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/" TOKEN_FILE, data) >= (int)sizeof(path)) {
        why_set(why, "data must be shorter than 4,000 bytes");
        return ERR_INVALID;
    }
    if (mkdir(data, 0750) < 0 && errno != EEXIST) {
        why_set(why, "cannot make the data folder %s: %s", data, strerror(errno));
        return ERR_IO;
    }
    if (token_read(path, to, TOKEN_MAX + 1, why))
        return OK;
    if (why->text[0])
        return ERR_IO;
    secret_token(to, TOKEN_MAX + 1, 24);
    *ret_made = true;
    return token_write(path, to, why) ? OK : ERR_IO;
}

/* ---- the run -----------------------------------------------------------------------------------
 */

static struct center *running; /* for the signal handler, as the next two */
static struct service service;
static volatile sig_atomic_t told_to_stop;

/* There is no center yet: nothing that a kill would not leave as well. Process 1 of a container
 * needs it, because the kernel drops signals for which that has no handler. */
static void on_early_signal(int number)
{
    (void)number;
    _exit(EXIT_DONE);
}

static void on_signal(int number)
{
    (void)number;
    told_to_stop = 1;
    service_stopping(&service);
    center_stop(running);
}

struct greeter { /* makes the first user and says hello, while the scheduler turns */
    struct center *center;
    struct api *api;
    const struct config *config;
    const char *token, *prefix;
    bool token_made, failed;
};

/* One box, written at once: it is what people copy from. */
static void greet(const struct greeter *g, const char *password)
{
    char host[300];
    const char *listen = config_text(g->config, "listen"), *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : 0;
    snprintf(host, sizeof(host), "%.*s", (int)n, n ? listen : "");
    if (!n || strcmp(host, "*") == 0)
        snprintf(host, sizeof(host), "127.0.0.1");
    printf("\n"
           "  +---------------------------------------------------------------+\n"
           "  |  Peal listens at %s://%s:%u%s\n",
           config_text(g->config, "tls.cert") ? "https" : "http", host, center_port(g->center),
           g->prefix);
    if (password[0])
        printf("  |  user      admin\n"
               "  |  password  %s   (shown this once)\n",
               password);
    if (g->token_made)
        printf("  |  token     %s   (kept in %s/" TOKEN_FILE ")\n", g->token,
               config_text(g->config, "data"));
    printf("  +---------------------------------------------------------------+\n\n");
    fflush(stdout);
}

static void *start_up(void *arg)
{
    struct greeter *g = arg;
    const char *wanted = config_text(g->config, "admin.password");
    char password[API_PASSWORD_SIZE];
    struct why why = { "" };
    enum err err = api_first_user(g->api, wanted, password, &why);
    if (err && told_to_stop) {
        log_info("server", "stopped before the first user was made: the next start makes it");
        return NULL;
    }
    if (err) {
        log_error("server", "the first user cannot be made: %s", why.text);
        g->failed = true;
        center_stop(g->center);
        return NULL;
    }
    if (wanted && !password[0])
        log_info("server", "admin.password is ignored: there are users already");
    greet(g, wanted && wanted[0] ? "" : password);
    service_ready(&service, NULL);
    log_info("server", "ready on port %u", center_port(g->center));
    return NULL;
}

/* What systemctl status shows. */
static void status(void *arg, char text[SERVICE_STATUS_MAX])
{
    struct center_health health;
    center_health(arg, &health);
    const struct metrics *m = center_metrics(arg);
    if (health.reason[0])
        snprintf(text, SERVICE_STATUS_MAX, "not ready: %s", health.reason);
    else
        snprintf(text, SERVICE_STATUS_MAX, "executors: %lld, runs that they work on: %lld",
                 (long long)m->addresses, (long long)m->accepted);
}

static void catch_early_signals(void)
{
    const struct sigaction end = { .sa_handler = on_early_signal };
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
}

static void catch_signals(struct center *c)
{
    running = c;
    struct sigaction stop = { .sa_handler = on_signal };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    if (getpid() == 1) /* of a container: orphans come here, and shall not stay as zombies */
        sigaction(SIGCHLD, &ignore, NULL);
}

static int iterate(struct center *c, struct greeter *g)
{
    pthread_t hello;
    int rc = thread_start(&hello, "peal-hello", 0, start_up, g);
    if (rc) {
        log_error("server", "cannot start a thread: %s", strerror(rc));
        return EXIT_FAILED;
    }
    service_watch(&service, center_loop(c), status, c);
    center_run(c);
    service_unwatch(&service);
    pthread_join(hello, NULL);
    return g->failed || center_fenced(c) ? EXIT_FAILED : EXIT_DONE;
}

/* A shell's usual 1,024 are enough for a dozen executors at 64 connections each. The soft limit
 * guards programs that use select(); this one uses epoll. */
static void take_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit); /* that it fails shows when they are used up */
}

static struct retention_rules retention_rules(const struct config *config)
{
    int64_t days = config_int(config, "log.retention-days");
    bool kept = days < SERVER_RETENTION_DAYS_MIN;
    if (kept && days > 0)
        log_warn("server", "log.retention-days below %d means that rows of the log stay for ever",
                 SERVER_RETENTION_DAYS_MIN);
    return (struct retention_rules){ .days = kept ? 0 : days,
                                     .failed_days = config_int(config, "log.retention-failed-days"),
                                     .job_rows = config_int(config, "log.retention-rows"),
                                     .audit_keep_ms = config_int(config, "audit.keep") };
}

/* What settings that are read again are given to: SIGHUP may come before it is there, and after. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum { LIFE_STARTS, LIFE_GOES_ON, LIFE_ENDS } life;
    struct center *center;
} live = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, LIFE_STARTS, NULL };

static void live_set(struct center *c)
{
    pthread_mutex_lock(&live.lock);
    live.life = c ? LIFE_GOES_ON : LIFE_ENDS;
    live.center = c;
    pthread_cond_broadcast(&live.changed);
    pthread_mutex_unlock(&live.lock);
}

/* The center with what stands on it, from its start to its end. */
static int serve_by(const struct center_config *cc, const struct api_config *api_config,
                    struct alarms *alarms, struct greeter *g)
{
    struct why why = { "" };
    int status = EXIT_FAILED;
    if (center_new(cc, &g->center, &why)) {
        alarms_free(alarms);
        return complain_failed(why.text);
    }
    catch_signals(g->center);
    struct api_config with = *api_config;
    with.alarms = alarms;
    enum err err = api_new(g->center, &with, &g->api, &why);
    if (!err)
        err = alarms_start(alarms, g->center, api_config->lang, &why);
    if (err)
        complain_failed(why.text);
    live_set(err ? NULL : g->center);
    if (!err)
        status = iterate(g->center, g);
    live_set(NULL);
    signal(SIGTERM, SIG_IGN); /* the center is about to go */
    signal(SIGINT, SIG_IGN);
    alarms_stop(alarms);
    api_free(g->api); /* its workers wake the alarms */
    alarms_free(alarms);
    center_free(g->center);
    log_info("server", "stopped");
    return status;
}

static struct backups_config backups_of(const struct config *c)
{
    return (struct backups_config){ .folder = config_text(c, "backup.folder"),
                                    .every_ms = config_int(c, "backup.every"),
                                    .keep = (int)config_int(c, "backup.keep") };
}

void server_center(const struct config *c, struct center_config *ret)
{
    *ret = (struct center_config){
        .listen = config_text(c, "listen"),
        .data = config_text(c, "data"),
        .db = config_text(c, "db"),
        .db_password = config_text(c, "db.password"),
        .db_clock_skew_ms = config_int(c, "db.clock-skew"),
        .node_name = config_text(c, "node.name"),
        .node_address = config_text(c, "node.address"),
        .cluster = config_flag(c, "node.cluster"),
        .executor_ca = config_text(c, "executor.ca"),
        .recorder = config_text(c, "recorder"),
        .zone = config_text(c, "zone"),
        .misfire_threshold_ms = config_int(c, "misfire.threshold"),
        .start_deadline_ms = config_int(c, "start.deadline"),
        .lane_connections = (int)config_int(c, "lane.connections"),
        .lane_queue = (int)config_int(c, "lane.queue"),
    };
}

static int serve(const struct config *config, const struct api_config *api_config,
                 struct tls_server *tls)
{
    struct why why = { "" };
    char token[TOKEN_MAX + 1];
    struct greeter g = { .config = config, .token = token, .prefix = api_config->prefix };
    struct alarms *alarms;
    if (alarms_open(config, &alarms, &why))
        return complain(why.text);
    if (token_choose(config, token, &g.token_made, &why)) {
        alarms_free(alarms);
        return complain(why.text);
    }
    struct center_config cc;
    server_center(config, &cc);
    cc.tls = tls;
    cc.token = token;
    cc.retention = retention_rules(config);
    cc.backups = backups_of(config);
    cc.alarm_channels = alarms_for_all(alarms);
    if (!token[0])
        log_warn("server", "no access token: anybody who can connect can act as an executor");
    if (server_token_known(token))
        log_warn("server",
                 "the access token is %s, which everybody knows: anybody who can connect "
                 "can act as an executor",
                 token);
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is a full disk, not an end */
    take_descriptors();
    return serve_by(&cc, api_config, alarms, &g);
}

static bool log_level(const char *name, enum log_level *ret)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(names[i], name) == 0) {
            *ret = (enum log_level)i;
            return true;
        }
    return false;
}

static bool per_job(const char *name, enum api_per_job *ret)
{
    static const char *const names[] = { "", "off", "failing", "all" };
    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *ret = (enum api_per_job)i;
            return true;
        }
    return false;
}

struct settings { /* what is not a number or a text as it stands */
    enum log_level level;
    enum log_format format;
    enum wire_lang lang;
    enum api_per_job per_job;
    char prefix[API_PREFIX_MAX + 1];
    struct proxies proxies;
};

static enum err settings_read(const struct config *c, struct settings *ret, struct why *why)
{
    if (!log_level(config_text(c, "log.level"), &ret->level))
        why_set(why, "log.level must be error, warn, info or debug");
    else if (!log_format_of(config_text(c, "log.format"), &ret->format))
        why_set(why, "log.format must be logfmt, text or json");
    else if (!wire_lang_of(slice_text(config_text(c, "language")), &ret->lang))
        why_set(why, "language must be en or zh_CN");
    else if (!per_job(config_text(c, "metrics.per_job"), &ret->per_job))
        why_set(why, "metrics.per_job must be off, failing or all");
    else if (reload_tls_check(c, why) == OK &&
             proxies_parse(slice_text(config_text(c, "http.proxies")), &ret->proxies, why) == OK)
        return api_prefix(config_text(c, "http.prefix"), ret->prefix, why);
    return ERR_INVALID;
}

enum err server_settings_check(const struct config *c, struct why *why)
{
    struct settings s;
    return settings_read(c, &s, why);
}

/* To the center: it is waited for while it starts. */
static void give_again(const struct config *c, const struct settings *s)
{
    const struct backups_config backups = backups_of(c);
    pthread_mutex_lock(&live.lock);
    while (live.life == LIFE_STARTS)
        pthread_cond_wait(&live.changed, &live.lock);
    if (live.life == LIFE_GOES_ON) {
        api_proxies(&s->proxies);
        center_backups(live.center, &backups);
    }
    pthread_mutex_unlock(&live.lock);
}

/* Of settings that count at once when they are read again. */
static void apply_again(const struct config *c)
{
    struct settings s;
    struct why why = { "" };
    if (settings_read(c, &s, &why)) /* it was looked at before */
        return;
    log_set_level(s.level);
    log_set_format(s.format);
    give_again(c, &s);
}

static void tell_reloading(bool reading)
{
    if (reading)
        service_reloading(&service);
    else
        service_reloaded(&service);
}

static const struct reload_ops again = { server_config_read, server_settings_check, apply_again,
                                         tell_reloading };

/* The certificate is there, and SIGHUP heard, before and behind anything that uses them. */
static int serve_reloading(const struct config *c, const struct api_config *api, int argc,
                           char **argv)
{
    struct why why = { "" };
    struct tls_server *tls;
    if (reload_tls_open(c, &tls, &why))
        return complain(why.text);
    service_open(&service);
    struct reload *r = reload_start(c, argc, argv, &again, tls);
    int status = serve(c, api, tls);
    live_set(NULL); /* also if there was none */
    reload_stop(r);
    service_close(&service);
    tls_server_free(tls);
    return status;
}

static int serve_with(const struct config *c, const struct settings *s, int argc, char **argv)
{
    struct api_config api;
    log_set_level(s->level);
    log_set_format(s->format);
    if (c->foreign)
        log_warn("server",
                 "%d settings are of XXL-JOB or Spring and do nothing here; "
                 "peal config check FILE names them",
                 c->foreign);
    if (c->loud)
        log_warn("server", "%s: %s", c->loud->name, c->loud->text);
    api_config_default(&api);
    api.lang = s->lang;
    api.per_job = s->per_job;
    api.prefix = s->prefix;
    api.proxies = s->proxies;
    api.address = config_text(c, "listen");
    api.streams_max = (int)config_int(c, "streams.max");
    api.write_passwords = config_flag(c, "compat.write-passwords");
    api.audit_keep_ms = config_int(c, "audit.keep");
    api.token_limit = (int)config_int(c, "limit.token");
    api.session_limit = (int)config_int(c, "limit.session");
    api.login_limit = (int)config_int(c, "limit.login");
    api.session_idle_ms = config_int(c, "session.idle");
    api.get_changes = config_flag(c, "compat.get-changes");
    api.settings = c;
    return serve_reloading(c, &api, argc, argv);
}

int cmd_server(int argc, char **argv)
{
    struct config config;
    struct why why = { "" };
    struct settings settings;
    struct config_table table;
    struct config_row *all = server_options(&table);
    int status;
    catch_early_signals();
    reload_hold();
    if (server_config_read(&table, argc, argv, &config, &why))
        status = complain(why.text);
    else if (config.help)
        status = print_help(&table);
    else if (settings_read(&config, &settings, &why))
        status = complain(why.text);
    else
        status = serve_with(&config, &settings, argc, argv);
    config_done(&config);
    free(all);
    return status;
}
