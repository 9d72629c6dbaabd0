/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/executor.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "executor/inside.h"
#include "executor/script.h"
#include "wire/executor_side.h"
#include "wire/open_api.h"

enum {
    PORT_FIRST = 9999,
    PORT_LAST = 65534,
    FLUSH_MS = 5000,
    MAX_CONNECTIONS = 4096,
};

/* --- the end of a run --- */

static void advance(struct executor *e);

static void run_ended(struct peal_run *r, void *arg)
{
    struct executor *e = arg;
    struct result *result = mem_new(sizeof(*result));
    result->log_id = r->log_id;
    result->log_date_ms = r->log_date_ms;
    result->code = r->code;
    result->has_log = r->started && runlog_has_file(&r->log);
    keeper_share(e->keeper, runlog_take(&r->log));
    result->msg = buf_take(&r->msg);
    run_drop(r);
    centers_report(e->centers, result);
    advance(e);
}

static void told(const struct result *r, bool acknowledged, void *arg)
{
    struct executor *e = arg;
    if (r->has_log)
        keeper_note(e->keeper, r->log_id, r->log_date_ms, acknowledged ? "finish" : "fail");
    if (acknowledged)
        advance(e);
}

static void letter(struct loop_mail *m, struct letter *l)
{
    struct executor *e = container_of(m, struct executor, mail);
    switch ((enum executor_letter)l->kind) {
    case LETTER_BEGUN:
        jobs_begun(&e->jobs, container_of(l, struct peal_run, begun));
        break;
    case LETTER_OVER:
        jobs_over(&e->jobs, container_of(l, struct peal_run, over));
        break;
    case LETTER_PAGE:
        front_page(container_of(l, struct keeper_read, letter));
        break;
    }
}

/* --- stopping --- */

static void tell_stopped(struct loop_task *t)
{
    struct executor *e = container_of(t, struct executor, stopped_task);
    e->cf.on_stopped(e->cf.arg);
}

static void finish(struct executor *e)
{
    if (centers_pending(e->centers))
        log_error("executor", "%zu results were not delivered", centers_pending(e->centers));
    e->phase = STOPPED;
    loop_timer_clear(e->loop, &e->stop_timer);
    loop_defer(e->loop, &e->stopped_task);
}

/* Look whether the phase's condition is met: after each event that might have met it. */
static void advance(struct executor *e)
{
    if ((e->phase == LEAVING || e->phase == ENDING) && e->left && e->jobs.live == 0) {
        e->phase = FLUSHING;
        loop_timer_set(e->loop, &e->stop_timer, loop_now_ms(e->loop) + FLUSH_MS);
    }
    if (e->phase == FLUSHING && centers_pending(e->centers) == 0)
        finish(e);
}

static void left(void *arg)
{
    struct executor *e = arg;
    e->left = true;
    advance(e);
}

static void end_runs(struct executor *e)
{
    e->phase = ENDING;
    loop_timer_clear(e->loop, &e->stop_timer);
    jobs_end_all(&e->jobs, RUN_SHUTDOWN);
    advance(e);
}

static void time_over(struct loop_timer *t)
{
    struct executor *e = container_of(t, struct executor, stop_timer);
    if (e->phase == LEAVING)
        end_runs(e);
    else if (e->phase == FLUSHING)
        finish(e);
}

void executor_stop(struct executor *e)
{
    switch (e->phase) {
    case RUNNING:
        e->phase = LEAVING;
        log_info("executor", "stopping: %d runs are here", e->jobs.live);
        loop_timer_set(e->loop, &e->stop_timer, loop_now_ms(e->loop) + e->cf.stop_ms);
        centers_leave(e->centers);
        break;
    case LEAVING:
        end_runs(e);
        break;
    case FLUSHING:
        finish(e);
        break;
    case ENDING:
    case STOPPED:
        break;
    }
}

/* --- starting --- */

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static void copy_config(struct executor *e, const struct executor_config *cf)
{
    e->cf = *cf;
    e->cf.centers = text_or_empty(cf->centers);
    e->cf.token = text_or_empty(cf->token);
    e->cf.appname = text_or_empty(cf->appname);
    e->cf.address = text_or_empty(cf->address);
    e->cf.ip = text_or_empty(cf->ip);
    e->cf.listen = text_or_empty(cf->listen);
    e->cf.journal = text_or_empty(cf->journal);
    e->cf.glue = text_or_empty(cf->glue);
}

static enum err check_numbers(const struct executor_config *cf, struct why *why)
{
    static const char rule[] = "%s: must be %d-%d";
    if (cf->port > 65535)
        why_set(why, rule, "xxl.job.executor.port", 0, 65535);
    else if (cf->workers < 1 || cf->workers > 1000)
        why_set(why, rule, "peal.executor.workers", 1, 1000);
    else if (cf->queue < 1 || cf->queue > 1000000)
        why_set(why, rule, "peal.executor.queue", 1, 1000000);
    else if (cf->remember < 0 || cf->remember > 100000000)
        why_set(why, rule, "peal.executor.remember", 0, 100000000);
    else if (cf->grace_ms < 0 || cf->grace_ms > 86400000)
        why_set(why, rule, "peal.executor.stop.grace", 0, 86400000);
    else if (cf->stop_ms < 0 || cf->stop_ms > 86400000)
        why_set(why, rule, "peal.executor.stop.timeout", 0, 86400000);
    else if (cf->retention_days < -1 || cf->retention_days > 100000)
        why_set(why, rule, "xxl.job.executor.logretentiondays", -1, 100000);
    else
        return OK;
    return ERR_INVALID;
}

/* Like mkdir -p, and a look whether files can be made there. */
static enum err make_logpath(const char *path, struct why *why)
{
    char at[RUNLOG_PATH];
    if (!path || !path[0] || strlen(path) >= sizeof(at) - 64) {
        why_set(why, "xxl.job.executor.logpath: must name a folder, in less than 4000 bytes");
        return ERR_INVALID;
    }
    text_copy(at, sizeof(at), slice_text(path));
    for (char *p = at + 1;; p++) {
        char c = *p;
        if (c && c != '/')
            continue;
        *p = '\0';
        if (mkdir(at, 0755) < 0 && errno != EEXIST) {
            why_set(why, "xxl.job.executor.logpath: %.300s: %s", at, strerror(errno));
            return ERR_IO;
        }
        *p = c;
        if (!c)
            break;
    }
    if (access(path, W_OK | X_OK) == 0)
        return OK;
    why_set(why, "xxl.job.executor.logpath: %.300s: %s", path, strerror(errno));
    return ERR_IO;
}

static enum err listen_somewhere(struct executor *e, struct why *why)
{
    struct addr_listen at;
    text_copy(at.host, sizeof(at.host), slice_text(e->cf.listen));
    if (e->cf.port > 0) {
        at.port = (uint16_t)e->cf.port;
        return httpd_listen(e->front, &at, why);
    }
    enum err err = ERR_NET;
    for (int port = PORT_FIRST; err && port <= PORT_LAST; port++) {
        at.port = (uint16_t)port;
        why_clear(why);
        err = httpd_listen(e->front, &at, why);
    }
    return err;
}

static bool is_any(const char *host)
{
    return !host[0] || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0 ||
           strcmp(host, "*") == 0;
}

/* The first IPv4 address of an interface that is up and not loopback; else loopback. */
static void own_ip(char *to, size_t size)
{
    struct ifaddrs *all = NULL;
    snprintf(to, size, "127.0.0.1");
    if (getifaddrs(&all) < 0)
        return;
    for (struct ifaddrs *i = all; i; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP) ||
            (i->ifa_flags & IFF_LOOPBACK))
            continue;
        inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, to,
                  (socklen_t)size);
        break;
    }
    freeifaddrs(all);
}

static enum err choose_address(struct executor *e, struct why *why)
{
    char ip[ADDR_HOST_MAX + 1];
    if (e->cf.address[0])
        snprintf(e->address, sizeof(e->address), "%s", e->cf.address);
    else {
        if (e->cf.ip[0])
            text_copy(ip, sizeof(ip), slice_text(e->cf.ip));
        else if (!is_any(e->cf.listen))
            text_copy(ip, sizeof(ip), slice_text(e->cf.listen));
        else
            own_ip(ip, sizeof(ip));
        snprintf(e->address, sizeof(e->address),
                 strchr(ip, ':') ? "http://[%s]:%u/" : "http://%s:%u/", ip, httpd_port(e->front));
    }
    return wire_address_check(slice_text(e->address), "xxl.job.executor.address", why);
}

static enum err open_front(struct executor *e, struct why *why)
{
    const struct httpd_config front = {
        .max_connections = MAX_CONNECTIONS,
        .body_max = WIRE_REQUEST_MAX,
        .on_request = front_request,
        .arg = e,
    };
    e->front = httpd_new(e->loop, &front);
    enum err err = listen_somewhere(e, why);
    return err ? err : choose_address(e, why);
}

static enum err open_centers(struct executor *e, struct why *why)
{
    e->centers_config = (struct centers_config){
        .addresses = e->cf.centers,
        .token = e->cf.token,
        .appname = e->cf.appname,
        .address = e->address,
        .told = told,
        .left = left,
        .arg = e,
    };
    return centers_new(e->loop, &e->centers_config, &e->centers, why);
}

static enum err open_mail(struct executor *e)
{
    e->mailbox = mailbox_new();
    e->mail.letter = letter;
    e->mail.mailbox = e->mailbox;
    enum err err = loop_mail_add(e->loop, &e->mail);
    if (err) {
        mailbox_free(e->mailbox);
        e->mailbox = NULL;
    }
    return err;
}

enum err executor_new(struct loop *l, const struct executor_config *config, struct executor **ret,
                      struct why *why)
{
    struct executor *e = mem_new(sizeof(*e));
    e->loop = l;
    e->stop_timer.fire = time_over;
    e->stopped_task.run = tell_stopped;
    copy_config(e, config);
    jobs_init(&e->jobs, l, NULL, e->cf.queue, e->cf.remember);
    e->jobs.ended = run_ended;
    e->jobs.arg = e;
    enum err err = check_numbers(&e->cf, why);
    if (!err)
        err = script_kinds_check(e->cf.glue, why);
    if (!err)
        err = make_logpath(e->cf.logpath, why);
    if (!err)
        err = open_mail(e);
    if (!err)
        err = open_front(e, why);
    if (!err)
        err = open_centers(e, why);
    if (err) {
        executor_free(e);
        return err;
    }
    if (!(e->keeper = keeper_new(e->cf.logpath, e->cf.retention_days, e->mailbox))) {
        why_set(why, "the system gives no thread");
        executor_free(e);
        return ERR_IO;
    }
    e->pool = e->jobs.pool = pool_new(e->cf.workers, e->mailbox);
    centers_join(e->centers);
    *ret = e;
    return OK;
}

const char *executor_address(const struct executor *e)
{
    return e->address;
}

/* Letters that came after the last turn, once no thread can send any more. */
static void read_last_mail(struct executor *e)
{
    struct list letters;
    list_init(&letters);
    mailbox_take(e->mailbox, &letters);
    for (struct list_node *n; (n = list_pop(&letters));) {
        struct letter *l = container_of(n, struct letter, node);
        if (l->kind == LETTER_OVER)
            run_drop(container_of(l, struct peal_run, over));
        else if (l->kind == LETTER_PAGE)
            front_page(container_of(l, struct keeper_read, letter));
    }
}

void executor_free(struct executor *e)
{
    if (!e)
        return;
    loop_timer_clear(e->loop, &e->stop_timer);
    loop_undefer(e->loop, &e->stopped_task);
    if (e->pool)
        jobs_end_all(&e->jobs, RUN_SHUTDOWN);
    pool_free(e->pool);
    keeper_free(e->keeper);
    if (e->mailbox) {
        loop_mail_remove(e->loop, &e->mail);
        read_last_mail(e);
        mailbox_free(e->mailbox);
    }
    jobs_done(&e->jobs);
    centers_free(e->centers);
    httpd_free(e->front);
    free(e);
}
