/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* ---- enums ------------------------------------------------------------------------------------
 */

static const char *const phases[PHASE_COUNT] = {
    [PHASE_PLANNED] = "planned",
    [PHASE_SENT] = "sent",
    [PHASE_UNKNOWN] = "unknown",
    [PHASE_ACCEPTED] = "accepted",
    [PHASE_LOST] = "lost",
    [PHASE_SUCCEEDED] = "succeeded",
    [PHASE_FAILED] = "failed",
    [PHASE_TIMED_OUT] = "timed_out",
    [PHASE_KILLED] = "killed",
    [PHASE_REJECTED] = "rejected",
    [PHASE_UNROUTABLE] = "unroutable",
    [PHASE_SKIPPED] = "skipped",
    [PHASE_WITHDRAWN] = "withdrawn",
};
static const char *const kinds[KIND_COUNT] = {
    "CRON", "MISFIRE", "MANUAL", "RETRY", "PARENT", "API"
};
static const char *const routes[ROUTE_COUNT] = {
    [ROUTE_FIRST] = "FIRST",
    [ROUTE_LAST] = "LAST",
    [ROUTE_ROUND] = "ROUND",
    [ROUTE_RANDOM] = "RANDOM",
    [ROUTE_CONSISTENT_HASH] = "CONSISTENT_HASH",
    [ROUTE_LFU] = "LEAST_FREQUENTLY_USED",
    [ROUTE_LRU] = "LEAST_RECENTLY_USED",
    [ROUTE_FAILOVER] = "FAILOVER",
    [ROUTE_BUSYOVER] = "BUSYOVER",
    [ROUTE_BROADCAST] = "SHARDING_BROADCAST",
};
static const char *const blocks[BLOCK_COUNT] = { "SERIAL_EXECUTION", "DISCARD_LATER",
                                                 "COVER_EARLY" };
static const char *const misfires[MISFIRE_COUNT] = { "DO_NOTHING", "FIRE_ONCE_NOW", "FIRE_ALL" };
static const char *const totals[TOTAL_COUNT] = { "planned", "finished",  "rejected", "lost",
                                                 "skipped", "withdrawn", "sent",     "resent",
                                                 "late",    "found" };

const char *phase_text(enum phase p)
{
    return p < PHASE_COUNT && phases[p] ? phases[p] : "?";
}

const char *kind_text(enum kind k)
{
    return k < KIND_COUNT ? kinds[k] : "?";
}

const char *route_text(enum route r)
{
    return r < ROUTE_COUNT ? routes[r] : "?";
}

const char *block_text(enum block b)
{
    return b < BLOCK_COUNT ? blocks[b] : "?";
}

const char *misfire_text(enum misfire m)
{
    return m < MISFIRE_COUNT ? misfires[m] : "?";
}

int64_t totals_unaccounted(const struct totals *t, int64_t open)
{
    int64_t lost = t->n[TOTAL_LOST] - t->n[TOTAL_FOUND];
    return t->n[TOTAL_PLANNED] - t->n[TOTAL_FINISHED] - t->n[TOTAL_REJECTED] - lost -
           t->n[TOTAL_SKIPPED] - t->n[TOTAL_WITHDRAWN] - open;
}

const char *total_name(enum total t)
{
    return t < TOTAL_COUNT ? totals[t] : "?";
}

static int text_index(const char *const *texts, int n, struct slice s)
{
    for (int i = 0; i < n; i++)
        if (slice_eq(s, texts[i]))
            return i;
    return -1;
}

bool route_parse(struct slice s, enum route *ret)
{
    int i = text_index(routes, ROUTE_COUNT, s);
    if (i >= 0)
        *ret = (enum route)i;
    return i >= 0;
}

bool block_parse(struct slice s, enum block *ret)
{
    int i = text_index(blocks, BLOCK_COUNT, s);
    if (i >= 0)
        *ret = (enum block)i;
    return i >= 0;
}

bool misfire_parse(struct slice s, enum misfire *ret)
{
    int i = text_index(misfires, MISFIRE_COUNT, s);
    if (i >= 0)
        *ret = (enum misfire)i;
    return i >= 0;
}

/* ---- records ----------------------------------------------------------------------------------
 */

/* clang-format off */
#define JOB_TEXTS(X) \
    X(description) X(author) X(alarm_email) X(schedule_type) X(schedule_conf) X(misfire) X(route) \
    X(handler) X(param) X(block) X(glue_type) X(glue_source) X(glue_remark) X(children) X(zone) \
    X(dst) X(on_doubt) X(stop_reason)
/* clang-format on */

void job_record_init(struct job_record *r)
{
    memset(r, 0, sizeof(*r));
    r->misfire_max = JOB_MISFIRE_MAX;
    r->retry_delay_ms = JOB_RETRY_DELAY_MS;
    r->start_deadline_ms = JOB_START_DEADLINE_MS;
    r->retry_backoff = 1;
    r->next_ms = NEVER_MS;
}

void job_record_done(struct job_record *r)
{
#define FREE(field) free(r->field);
    JOB_TEXTS(FREE)
#undef FREE
    job_record_init(r);
}

void job_record_copy(struct job_record *to, const struct job_record *from)
{
    *to = *from;
#define DUP(field) to->field = mem_dup(from->field);
    JOB_TEXTS(DUP)
#undef DUP
}

void group_record_done(struct group_record *r)
{
    free(r->app);
    free(r->title);
    free(r->address_list);
    memset(r, 0, sizeof(*r));
}

void group_record_copy(struct group_record *to, const struct group_record *from)
{
    *to = *from;
    to->app = mem_dup(from->app);
    to->title = mem_dup(from->title);
    to->address_list = mem_dup(from->address_list);
}

void registry_record_done(struct registry_record *r)
{
    free(r->group);
    free(r->key);
    free(r->value);
    memset(r, 0, sizeof(*r));
}

int64_t run_log_ms(enum kind kind, int64_t scheduled_ms, int64_t due_ms)
{
    int64_t ms = kind == KIND_RETRY ? due_ms : scheduled_ms, rest = ms % 1000;
    if (rest >= 0)
        return ms - rest;
    return ms < INT64_MIN + 1000 ? INT64_MIN : ms - rest - 1000;
}

void run_row_done(struct run_row *r)
{
    free(r->address);
    free(r->handler);
    free(r->param);
    free(r->choices);
    memset(r, 0, sizeof(*r));
}

void run_change_done(struct run_change *c)
{
    free(c->address);
    free(c->trigger_msg);
    free(c->handle_msg);
    memset(c, 0, sizeof(*c));
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

static char *text_or_empty(const char *text)
{
    return mem_dup(text ? text : "");
}

/* Comma separated ids; what is not a positive number is left out, as the original does. */
static void parse_children(struct job *j, const char *text)
{
    struct slice rest = slice_text(text);
    for (struct slice one; slice_item(&rest, &one);) {
        int64_t id;
        if (parse_i64(one, &id) && id > 0) {
            j->children = mem_resize(j->children, ((size_t)j->nchildren + 1) * sizeof(id));
            j->children[j->nchildren++] = id;
        }
    }
}

static void parse_schedule(struct job *j, const struct job_record *r, zone_find_fn *zone_find,
                           void *ctx, int last_year)
{
    struct why why = { "" };
    struct zone *zone = NULL;
    enum err err = zone_find(ctx, r->zone ? r->zone : "", &zone, &why);
    if (!err) {
        enum dst_policy dst = r->dst && strcmp(r->dst, "smart") == 0 ? DST_SMART : DST_XXL;
        err = schedule_parse(slice_text(r->schedule_type), slice_text(r->schedule_conf), zone, dst,
                             last_year, &j->schedule, &why);
        zone_unref(zone);
    }
    if (err) {
        memset(&j->schedule, 0, sizeof(j->schedule));
        j->fault = mem_dup(why.text[0] ? why.text : err_text(err));
    }
}

static int64_t at_least(int64_t v, int64_t least, int64_t otherwise)
{
    return v < least ? otherwise : v;
}

struct job *job_new(const struct job_record *r, zone_find_fn *zone_find, void *ctx, int last_year)
{
    struct job *j = mem_new(sizeof(*j));
    atomic_init(&j->refs, 1);
    j->id = r->id;
    j->group_id = r->group_id;
    j->version = r->version;
    j->enabled = r->enabled;
    j->ended = !r->enabled && r->stop_reason;
    parse_schedule(j, r, zone_find, ctx, last_year);
    route_parse(slice_text(r->route), &j->route);
    block_parse(slice_text(r->block), &j->block);
    if (!misfire_parse(slice_text(r->misfire), &j->misfire) && j->schedule.type == SCHEDULE_ONCE)
        j->misfire = MISFIRE_FIRE_ONCE;
    j->on_doubt = r->on_doubt && strcmp(r->on_doubt, "resend") == 0 ? DOUBT_RESEND : DOUBT_WAIT;
    j->timeout_s = r->timeout_s > 0 ? r->timeout_s : 0;
    j->retries = r->retries > 0 ? r->retries : 0;
    j->misfire_max = (int)at_least(r->misfire_max, 1, JOB_MISFIRE_MAX);
    j->retry_delay_ms = at_least(r->retry_delay_ms, 0, JOB_RETRY_DELAY_MS);
    j->start_deadline_ms = at_least(r->start_deadline_ms, 0, JOB_START_DEADLINE_MS);
    j->retry_backoff = r->retry_backoff >= 1 ? r->retry_backoff : 1;
    j->glue_updated_ms = at_least(r->glue_updated_ms, 0, 0);
    j->handler = text_or_empty(r->handler);
    j->param = text_or_empty(r->param);
    j->glue_type = text_or_empty(r->glue_type);
    j->glue_source = text_or_empty(r->glue_source);
    j->bean = strcmp(j->glue_type, "BEAN") == 0;
    parse_children(j, r->children);
    return j;
}

struct job *job_ref(struct job *j)
{
    atomic_fetch_add_explicit(&j->refs, 1, memory_order_relaxed);
    return j;
}

void job_unref(struct job *j)
{
    if (!j || atomic_fetch_sub_explicit(&j->refs, 1, memory_order_acq_rel) != 1)
        return;
    schedule_done(&j->schedule);
    free(j->fault);
    free(j->handler);
    free(j->param);
    free(j->glue_type);
    free(j->glue_source);
    free(j->children);
    free(j->form);
    free(j);
}

/* ---- views ------------------------------------------------------------------------------------
 */

struct group_view *group_view_new(int64_t group_id, uint64_t version, const char *const *addresses,
                                  int n)
{
    struct group_view *v = mem_new(sizeof(*v));
    atomic_init(&v->refs, 1);
    v->group_id = group_id;
    v->version = version;
    v->n = n;
    v->addresses = mem_new((size_t)n * sizeof(*v->addresses));
    for (int i = 0; i < n; i++)
        v->addresses[i] = mem_dup(addresses[i]);
    return v;
}

struct group_view *group_view_ref(struct group_view *v)
{
    atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed);
    return v;
}

void group_view_unref(struct group_view *v)
{
    if (!v || atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < v->n; i++)
        free(v->addresses[i]);
    free(v->addresses);
    free(v);
}
