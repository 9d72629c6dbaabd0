/* SPDX-License-Identifier: Apache-2.0 */
/* server_settings.c - the table of the settings of `peal server`, and what they are given to. */
#include "alarm/alarm.h"
#include "cli/command.h"
#include "cli/reload.h"
#include "cli/server_settings.h"
#include <stdio.h>
#include <string.h>

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
    { "executor.targets", NULL, CONFIG_TEXT, "", "NETWORKS|any",
      "addresses that executors are called at, such as 10.0.0.0/8; if left out, all but "
      "link-local,\n"
      "multicast, unspecified ones and those of clouds' metadata services",
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
      "several servers share the database, and each plans and sends; not for a file", 0, 0 },
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
    { "metrics.allow", NULL, CONFIG_TEXT, "", "NETWORKS",
      "who may read /metrics, such as 127.0.0.1, 10.0.0.0/8; everybody, if this and\n"
      "metrics.token are left out",
      0, 0 },
    { "metrics.token", NULL, CONFIG_SECRET, NULL, "TEXT",
      "with this Bearer token anybody may read /metrics", 0, 0 },
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

/* ---- what they are given to -------------------------------------------------------------------
 */

struct retention_rules server_retention(const struct config *config)
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

struct backups_config server_backups(const struct config *c)
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
        .recorder = config_text(c, "recorder"),
        .zone = config_text(c, "zone"),
        .misfire_threshold_ms = config_int(c, "misfire.threshold"),
        .start_deadline_ms = config_int(c, "start.deadline"),
        .lane_connections = (int)config_int(c, "lane.connections"),
        .lane_queue = (int)config_int(c, "lane.queue"),
    };
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

static enum err networks(const struct config *c, const char *name, struct proxies *ret,
                         struct why *why)
{
    return proxies_parse(slice_text(config_text(c, name)), name, ret, why);
}

enum err server_targets(const struct config *c, struct targets *ret, struct why *why)
{
    static const char name[] = "executor.targets";
    return targets_parse(slice_text(config_text(c, name)), name, ret, why);
}

enum err server_settings_read(const struct config *c, struct server_settings *ret, struct why *why)
{
    struct targets targets;
    if (!log_level(config_text(c, "log.level"), &ret->level))
        why_set(why, "log.level must be error, warn, info or debug");
    else if (!log_format_of(config_text(c, "log.format"), &ret->format))
        why_set(why, "log.format must be logfmt, text or json");
    else if (!wire_lang_of(slice_text(config_text(c, "language")), &ret->lang))
        why_set(why, "language must be en or zh_CN");
    else if (!per_job(config_text(c, "metrics.per_job"), &ret->per_job))
        why_set(why, "metrics.per_job must be off, failing or all");
    else if (reload_tls_check(c, why) == OK &&
             networks(c, "http.proxies", &ret->proxies, why) == OK &&
             networks(c, "metrics.allow", &ret->metrics_allow, why) == OK &&
             server_targets(c, &targets, why) == OK)
        return api_prefix(config_text(c, "http.prefix"), ret->prefix, why);
    return ERR_INVALID;
}

enum err server_settings_check(const struct config *c, struct why *why)
{
    struct server_settings s;
    return server_settings_read(c, &s, why);
}
