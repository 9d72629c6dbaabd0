/* SPDX-License-Identifier: Apache-2.0 */
/* center_looks.c - what the layers above see of a center (center.h): whom it tells, what it has,
 * and whether it fires. */
#include "base/clock.h"
#include "net/tls.h"
#include "server/ages.h"
#include "server/state.h"
#include <stdio.h>
#include <string.h>

/* ---- what it calls -------------------------------------------------------------------------- */

void center_on_request(struct center *c, void (*fn)(struct httpd_request *q, void *arg),
                       size_t (*head)(struct httpd_request *q, void *arg), void *arg)
{
    c->on_request = fn;
    c->on_head = head;
    c->on_request_arg = arg;
}

void center_on_alarm(struct center *c, void (*fn)(void *arg), void *arg)
{
    c->on_alarm = fn;
    c->on_alarm_arg = arg;
}

void center_on_heard(struct center *c, void (*fn)(void *arg), void *arg)
{
    c->on_heard = fn;
    c->on_heard_arg = arg;
}

void center_alarms_changed(struct center *c)
{
    if (c->on_alarm)
        c->on_alarm(c->on_alarm_arg);
}

void center_on_others(struct center *c, follow_fn *fn, void *arg)
{
    follow_on(c->follow, fn, arg);
}

void center_watch(struct center *c, const struct center_watcher *w, void *arg)
{
    c->watcher = w;
    c->watcher_arg = arg;
}

/* ---- what it has, and how it stands --------------------------------------------------------- */

bool center_shares(const struct center *c)
{
    return node_shared(c->node);
}

bool center_first(const struct center *c)
{
    return node_first(c->node);
}

const char *center_node_name(const struct center *c)
{
    return c->node_name;
}

uint16_t center_port(const struct center *c)
{
    return httpd_port(c->tls_front ? tls_front_httpd(c->tls_front) : c->front);
}

bool center_wants_certificate(const struct center *c)
{
    return c->config.tls && tls_server_asks(c->config.tls);
}

struct loop *center_loop(struct center *c)
{
    return c->loop;
}

struct httpd *center_front(struct center *c)
{
    return c->front;
}

struct zones *center_zones(struct center *c)
{
    return c->zones;
}

const char *center_zone_name(const struct center *c)
{
    return c->zone_name;
}

const char *center_listen(const struct center *c)
{
    return c->config.listen;
}

const char *center_token(const struct center *c)
{
    return c->config.token;
}

int64_t center_start_deadline_ms(const struct center *c)
{
    return c->config.start_deadline_ms;
}

int center_last_year(const struct center *c)
{
    return c->last_year;
}

struct figures *center_figures(struct center *c)
{
    return c->figures;
}

struct incidents *center_incidents(struct center *c)
{
    return c->incidents;
}

struct metrics *center_metrics(struct center *c)
{
    return &c->metrics;
}

int64_t center_trace_key(const struct center *c)
{
    return c->trace_key;
}

enum err center_reader(struct center *c, struct store **ret, struct why *why)
{
    const struct store_options options = { .read_only = true,
                                           .start_deadline_ms = c->config.start_deadline_ms,
                                           .password = c->config.db_password };
    return store_open(c->db, &options, ret, why);
}

/* What becomes of results while the database takes none. */
static const char *journal_health(struct center *c, char *text, size_t size)
{
    if (!c->journalling.journal)
        return "there is no journal: executors are told to send their results again";
    long long n = c->metrics.journal_records;
    snprintf(text, size, "results go to the journal, which holds %lld%s", n,
             c->metrics.journal_full ? " and has been full" : "");
    return text;
}

void center_health(struct center *c, struct center_health *ret)
{
    char trouble[512], journal[100];
    bool stepped;
    memset(ret, 0, sizeof(*ret));
    ret->store_ok = !writer_trouble(c->writer, trouble, sizeof(trouble));
    bool marked = c->watermark_ms > clock_wall_ms(), leased = node_leased(c->node);
    ret->fires = marked && leased;
    ret->draining = c->draining;
    if (!ret->store_ok)
        snprintf(ret->reason, sizeof(ret->reason), "the database does not take writes: %s; %s",
                 trouble, journal_health(c, journal, sizeof(journal)));
    else if (!marked)
        snprintf(ret->reason, sizeof(ret->reason),
                 "nothing fires: the dispatch watermark on disk has not been renewed");
    else if (!leased)
        snprintf(ret->reason, sizeof(ret->reason),
                 "nothing fires: the lease is over, the database has taken no beat of this server "
                 "for 2 s");
    else if (ret->draining)
        snprintf(ret->reason, sizeof(ret->reason), "stopping");
    if (ages_held(&c->metrics, &stepped))
        snprintf(ret->note, sizeof(ret->note),
                 "nothing is deleted by its age for an hour: the clock %s",
                 stepped ? "stepped by more than 10 minutes"
                         : "is more than an hour ahead of the database's last commit");
}
