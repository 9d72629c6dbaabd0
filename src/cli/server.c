/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - peal server: the first user, and the center until a signal says stop. */
#include "alarm/alarm.h"
#include "api/api.h"
#include "base/log.h"
#include "base/thread.h"
#include "cli/command.h"
#include "cli/reload.h"
#include "cli/server_settings.h"
#include "net/service.h"
#include "net/tls.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int complain(const char *text)
{
    fprintf(stderr, "peal server: %s\n", text);
    return EXIT_USAGE;
}

/* Why there is no center, after the settings are known: a program that reads the log as JSON
 * reads this, too. */
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

/* ---- the run --------------------------------------------------------------------------------- */

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
        printf("  |  token     %s   (kept in %s/" SERVER_TOKEN_FILE ")\n", g->token,
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

static int serve(const struct config *config, const struct api_config *api_config,
                 struct tls_server *tls, struct tls_client *trust)
{
    struct why why = { "" };
    char token[SERVER_TOKEN_MAX + 1];
    struct greeter g = { .config = config, .token = token, .prefix = api_config->prefix };
    struct alarms *alarms;
    if (alarms_open(config, &alarms, &why))
        return complain(why.text);
    struct center_config cc;
    server_center(config, &cc);
    if (server_token_choose(config, token, &g.token_made, &why) ||
        server_targets(config, &cc.targets, &why)) {
        alarms_free(alarms);
        return complain(why.text);
    }
    cc.tls = tls;
    cc.trust = trust;
    cc.token = token;
    cc.retention = server_retention(config);
    cc.backups = server_backups(config);
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

/* ---- settings that are read again ------------------------------------------------------------ */

/* To the center: it is waited for while it starts. */
static void give_again(const struct config *c, const struct server_settings *s)
{
    const struct backups_config backups = server_backups(c);
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
    struct server_settings s;
    struct why why = { "" };
    if (server_settings_read(c, &s, &why)) /* it was looked at before */
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

/* Certificates are there, and SIGHUP heard, before and behind anything that uses them. */
static int serve_reloading(const struct config *c, const struct api_config *api, int argc,
                           char **argv)
{
    struct why why = { "" };
    struct tls_server *tls;
    struct tls_client *trust;
    if (reload_tls_open(c, &tls, &why))
        return complain(why.text);
    if (reload_trust_open(c, &trust, &why)) {
        tls_server_free(tls);
        return complain(why.text);
    }
    service_open(&service);
    struct reload *r = reload_start(c, argc, argv, &again, tls, trust);
    int status = serve(c, api, tls, trust);
    live_set(NULL); /* also if there was none */
    reload_stop(r);
    service_close(&service);
    tls_server_free(tls);
    tls_client_free(trust);
    return status;
}

static int serve_with(const struct config *c, const struct server_settings *s, int argc,
                      char **argv)
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
    api.metrics_allow = s->metrics_allow;
    api.metrics_token = config_text(c, "metrics.token");
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
    struct server_settings settings;
    struct config_table table;
    struct config_row *all = server_options(&table);
    int status;
    catch_early_signals();
    reload_hold();
    if (server_config_read(&table, argc, argv, &config, &why))
        status = complain(why.text);
    else if (config.help)
        status = print_help(&table);
    else if (server_settings_read(&config, &settings, &why))
        status = complain(why.text);
    else
        status = serve_with(&config, &settings, argc, argv);
    config_done(&config);
    free(all);
    return status;
}
