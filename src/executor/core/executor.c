/* SPDX-License-Identifier: Apache-2.0 */
/* The executor as a whole: its parts are made in order, joined, and freed in the opposite order.
 *
 * Its iteration: messages of workers, log writer and journal, then what they made the parts want to
 * do, handed over together at the end. What is refused at a start is refused before a center hears
 * of this executor. */
#include "executor/core/executor.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "executor/core/internal.h"
#include "executor/process/script.h"
#include "net/tls.h"
#include "wire/executor_side.h"
#include "wire/open_api.h"

enum {
    PORT_FIRST = 9999,
    PORT_LAST = 65534,
    IDLE_MS = 90000, /* about what the original takes to let go of a job's thread */
    SOON_MS = 4,     /* a commit or two of a usual disk */
    MAX_CONNECTIONS = 4096,
    MIN_CONNECTIONS = 16,
    DESCRIPTORS_OWN = 64,
    DESCRIPTORS_RUN = 8, /* its bell, log and index, and what the start of a child takes */
};

/* --- the loop's iteration --- */

static void message(struct loop_mailbox *m, struct message *l)
{
    struct executor *e = container_of(m, struct executor, incoming);
    switch ((enum executor_message)l->kind) {
    case MESSAGE_BEGUN:
        jobs_begun(&e->jobs, container_of(l, struct peal_run, begun));
        break;
    case MESSAGE_OVER:
        jobs_over(&e->jobs, container_of(l, struct peal_run, over));
        break;
    case MESSAGE_PAGE:
        endpoint_page(container_of(l, struct log_writer_read, message));
        break;
    case MESSAGE_KEPT:
        jobs_kept(&e->jobs, l);
        break;
    case MESSAGE_WRITTEN:
        lifecycle_written(e, container_of(l, struct write, op.message));
        break;
    }
}

static void count(struct executor *e)
{
    struct executor_counts *c = &e->counts;
    c->registered = centers_registered(e->centers);
    c->draining = e->draining;
    c->stopping = e->phase != RUNNING;
    c->running = e->jobs.busy;
    c->waiting = e->jobs.waiting + e->jobs.at_work - e->jobs.busy;
    c->results = (int64_t)e->results.n;
}

/* What an iteration has gathered goes on together: one wake for the workers. */
static void end_of_iteration(void *arg)
{
    struct executor *e = arg;
    e->jobs.other_bytes = e->results.bytes;
    pool_flush(e->pool);
    run_journal_flush(e->journal);
    count(e);
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
    else if (cf->workers < 1 || cf->workers > EXECUTOR_WORKERS_MAX)
        why_set(why, rule, "peal.executor.workers", 1, EXECUTOR_WORKERS_MAX);
    else if (cf->queue < 1 || cf->queue > EXECUTOR_QUEUE_MAX)
        why_set(why, rule, "peal.executor.queue", 1, EXECUTOR_QUEUE_MAX);
    else if (cf->remember < 0 || cf->remember > EXECUTOR_REMEMBER_MAX)
        why_set(why, rule, "peal.executor.remember", 0, EXECUTOR_REMEMBER_MAX);
    else if (cf->grace_ms < 0 || cf->grace_ms > EXECUTOR_STOP_MAX_MS)
        why_set(why, rule, "peal.executor.stop.grace", 0, EXECUTOR_STOP_MAX_MS);
    else if (cf->stop_ms < 0 || cf->stop_ms > EXECUTOR_STOP_MAX_MS)
        why_set(why, rule, "peal.executor.stop.timeout", 0, EXECUTOR_STOP_MAX_MS);
    else if (cf->retention_days < -1 || cf->retention_days > EXECUTOR_RETENTION_MAX_DAYS)
        why_set(why, rule, "xxl.job.executor.logretentiondays", -1, EXECUTOR_RETENTION_MAX_DAYS);
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
        return httpd_listen(e->httpd, &at, why);
    }
    enum err err = ERR_NET;
    for (int port = PORT_FIRST; err && port <= PORT_LAST; port++) {
        at.port = (uint16_t)port;
        why_clear(why);
        err = httpd_listen(e->httpd, &at, why);
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
                 strchr(ip, ':') ? "http://[%s]:%u/" : "http://%s:%u/", ip, httpd_port(e->httpd));
    }
    return wire_address_check(slice_text(e->address), "xxl.job.executor.address", why);
}

/* What runs, logs, journal and centers need is kept back. */
static int connections_max(const struct executor_config *cf)
{
    struct rlimit now;
    int64_t kept = DESCRIPTORS_OWN + (int64_t)cf->workers * DESCRIPTORS_RUN;
    if (getrlimit(RLIMIT_NOFILE, &now) < 0 || now.rlim_cur > (rlim_t)(kept + MAX_CONNECTIONS))
        return MAX_CONNECTIONS;
    int64_t left = (int64_t)now.rlim_cur - kept;
    if (left >= MIN_CONNECTIONS)
        return (int)left;
    log_warn(
        "executor",
        "%d workers may need %lld descriptors, and %lld are allowed (ulimit -n): runs may fail",
        cf->workers, (long long)kept + MIN_CONNECTIONS, (long long)now.rlim_cur);
    return MIN_CONNECTIONS;
}

static enum err open_httpd(struct executor *e, struct why *why)
{
    const struct httpd_config config = {
        .max_connections = connections_max(&e->cf),
        .body_max = WIRE_REQUEST_MAX,
        .on_request = endpoint_request,
        .on_head = endpoint_head,
        .arg = e,
    };
    e->httpd = httpd_new(e->loop, &config);
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
        .ca = e->cf.ca && e->cf.ca[0] ? e->cf.ca : TLS_SYSTEM,
        .cert = e->cf.cert,
        .key = e->cf.key,
        .told = lifecycle_told,
        .left = stopping_left,
        .arg = e,
    };
    return centers_new(e->loop, &e->centers_config, &e->centers, why);
}

static enum err open_mailbox(struct executor *e)
{
    e->mailbox = mailbox_new();
    e->incoming.message = message;
    e->incoming.mailbox = e->mailbox;
    enum err err = loop_mailbox_add(e->loop, &e->incoming);
    if (err) {
        mailbox_free(e->mailbox);
        e->mailbox = NULL;
    }
    return err;
}

static enum err open_journal(struct executor *e, struct why *why)
{
    int n =
        e->cf.journal[0]
            ? snprintf(e->journal_path, sizeof(e->journal_path), "%s", e->cf.journal)
            : snprintf(e->journal_path, sizeof(e->journal_path), "%s/journal.db", e->cf.logpath);
    const struct run_journal_config config = {
        .path = e->journal_path,
        .keep = e->cf.remember,
        .keep_ms = DEDUP_FOR_MS,
        .answers = e->mailbox,
        .each = recover_row,
        .arg = e,
    };
    struct why reason = { { 0 } };
    enum err err = ERR_INVALID;
    if (n >= (int)sizeof(e->journal_path))
        why_set(&reason, "its path is too long");
    else
        err = run_journal_open(&config, &e->journal, &reason);
    if (err)
        why_set(why, "peal.executor.journal: %.200s: %s", e->journal_path,
                reason.text[0] ? reason.text : err_text(err));
    else
        e->next_seq = run_journal_first_seq(e->journal);
    return err;
}

static void prepare(struct executor *e)
{
    const struct jobs_limits limits = {
        .workers = e->cf.workers,
        .queue = e->cf.queue,
        .grace_ms = e->cf.grace_ms,
        .soon_ms = SOON_MS,
        .idle_ms = IDLE_MS,
        .remember = e->cf.remember,
        .memory = e->cf.memory,
    };
    stopping_init(e);
    list_init(&e->recovered_runs);
    list_init(&e->recovered_results);
    jobs_init(&e->jobs, e->loop, &limits, &lifecycle_hooks, e);
    results_init(&e->results, e->loop);
}

/* Everything is there: what the journal has goes its way, and the center may send more. */
static void begin(struct executor *e)
{
    e->results.journal = e->journal;
    e->results.centers = e->centers;
    jobs_begin(&e->jobs, e->pool, e->mailbox);
    loop_before_sleep(e->loop, end_of_iteration, e);
    recover_begin(e);
    centers_join(e->centers);
}

/* The limits are for all children; the folder only if scripts may run. */
static enum err prepare_scripts(struct executor *e, struct why *why)
{
    enum err err = limits_new(&e->cf.script_limits, e->cf.grace_ms, &e->limits, why);
    e->context = (struct run_context){ e->cf.logpath, e->limits, e->cf.isolate };
    if (!err && e->cf.glue[0])
        err = script_folder(&e->context, why);
    return err;
}

enum err executor_new(struct loop *l, const struct executor_config *config, struct executor **ret,
                      struct why *why)
{
    struct executor *e = mem_new(sizeof(*e));
    e->loop = l;
    copy_config(e, config);
    prepare(e);
    enum err err = check_numbers(&e->cf, why);
    if (!err)
        err = script_kinds_check(e->cf.glue, why);
    if (!err)
        err = make_logpath(e->cf.logpath, why);
    if (!err)
        err = prepare_scripts(e, why);
    if (!err)
        err = open_mailbox(e);
    if (!err)
        err = open_httpd(e, why);
    if (!err)
        err = open_centers(e, why);
    if (!err)
        err = open_journal(e, why);
    if (!err)
        err = pool_new(e->cf.workers, e->cf.stack, &e->pool, why);
    if (!err &&
        !(e->log_writer = log_writer_new(e->cf.logpath, e->cf.retention_days, e->mailbox))) {
        why_set(why, "the system gives no thread for the logs");
        err = ERR_IO;
    }
    if (err) {
        executor_free(e);
        return err;
    }
    begin(e);
    *ret = e;
    return OK;
}

const struct executor_counts *executor_counts(const struct executor *e)
{
    return &e->counts;
}

int executor_stuck(const struct executor *e)
{
    return e->jobs.stuck;
}

const char *executor_address(const struct executor *e)
{
    return e->address;
}

static void drop_runs(struct list *runs)
{
    for (struct list_node *n; (n = list_pop(runs));)
        run_drop(container_of(n, struct peal_run, node));
}

static void drop_results(struct list *results)
{
    for (struct list_node *n; (n = list_pop(results));)
        result_free(container_of(n, struct result, node));
}

/* Messages that came after the last iteration. */
static void read_messages(struct executor *e)
{
    struct list messages;
    list_init(&messages);
    while (mailbox_take(e->mailbox, &messages))
        for (struct list_node *n; (n = list_pop(&messages));)
            message(&e->incoming, container_of(n, struct message, node));
}

/* Results of those that were at work still go into the journal; what they make the jobs want to do
 * next does not happen any more. */
static void close_threads(struct executor *e)
{
    e->results.closing = true;
    jobs_close(&e->jobs);
    pool_free(e->pool);
    e->pool = NULL;
    read_messages(e);
    while (e->promises) { /* they come back, written or not */
        run_journal_flush(e->journal);
        mailbox_wait(e->mailbox, -1);
        read_messages(e);
    }
    results_flush(&e->results);
    run_journal_free(e->journal);
    e->journal = NULL;
    log_writer_free(e->log_writer);
    e->log_writer = NULL;
    read_messages(e);
}

void executor_free(struct executor *e)
{
    if (!e)
        return;
    stopping_done(e);
    loop_before_sleep(e->loop, NULL, NULL);
    if (e->jobs.pool)
        close_threads(e);
    log_writer_free(e->log_writer);
    pool_free(e->pool);
    run_journal_free(e->journal);
    if (e->mailbox) {
        loop_mailbox_remove(e->loop, &e->incoming);
        mailbox_free(e->mailbox);
    }
    drop_runs(&e->recovered_runs);
    drop_results(&e->recovered_results);
    jobs_done(&e->jobs);
    centers_free(e->centers);
    results_done(&e->results);
    httpd_free(e->httpd);
    limits_free(e->limits);
    free(e);
}
