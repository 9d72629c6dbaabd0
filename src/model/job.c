/* SPDX-License-Identifier: Apache-2.0 */
/* A record becomes a job here, once a version: what the row says, with what XXL-JOB makes of words
 * that it does not know. */
#include "base/buf.h"
#include "base/mem.h"
#include "model/job.h"
#include "model/mail_list.h"
#include <stdlib.h>
#include <string.h>

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

/* ---- parsing ----------------------------------------------------------------------------------
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

/* ---- the numbers: one that lies below its column's limits was spoiled, the default counts ---- */

static int64_t number_of(const struct job_record *r, const struct job_column *c)
{
    int64_t v = job_number(r, c);
    return v < c->min ? c->number : v;
}

static double real_of(double v, const struct job_column *c)
{
    return v >= (double)c->min ? v : (double)c->number; /* also of NaN */
}

static void take_numbers(struct job *j, const struct job_record *r)
{
#undef JOB_VALUE_INT
#undef JOB_VALUE_I64
#undef JOB_VALUE_BOOL
#undef JOB_VALUE_REAL
#define COLUMN(member) (&job_columns[JOB_COLUMN_##member])
#define JOB_VALUE_INT(member) j->member = (int)number_of(r, COLUMN(member));
#define JOB_VALUE_I64(member) j->member = number_of(r, COLUMN(member));
#define JOB_VALUE_BOOL(member) j->member = r->member;
#define JOB_VALUE_REAL(member) j->member = real_of(r->member, COLUMN(member));
#define JOB_COLUMN(member, type, table, ...) JOB_VALUE_##table(type, member)
#include "model/job_columns.def"
    /* shorter than a form may say is as good: a test's or another program's row */
    if (r->start_deadline_ms >= 0)
        j->start_deadline_ms = r->start_deadline_ms;
}

/* NULL: nobody. */
static char *emails_of(const char *text)
{
    struct slice rest = slice_text(text), one;
    struct buf list = BUF_INIT(65536);
    while (mail_list_next(&rest, &one)) {
        buf_text(&list, list.len ? "," : "");
        buf_slice(&list, one);
    }
    char *ret = list.len && !list.failed ? mem_dup(buf_str(&list)) : NULL;
    buf_done(&list);
    return ret;
}

/* ---- the job ----------------------------------------------------------------------------------
 */

struct job *job_new(const struct job_record *r, zone_find_fn *zone_find, void *ctx, int last_year)
{
    struct job *j = mem_new(sizeof(*j));
    atomic_init(&j->refs, 1);
    j->id = r->id;
    j->group_id = r->group_id;
    j->version = r->version;
    take_numbers(j, r);
    j->ended = !r->enabled && r->stop_reason;
    parse_schedule(j, r, zone_find, ctx, last_year);
    route_parse(slice_text(r->route), &j->route);
    block_parse(slice_text(r->block), &j->block);
    if (!misfire_parse(slice_text(r->misfire), &j->misfire) && j->schedule.type == SCHEDULE_ONCE)
        j->misfire = MISFIRE_FIRE_ONCE;
    j->on_doubt = r->on_doubt && strcmp(r->on_doubt, "resend") == 0 ? DOUBT_RESEND : DOUBT_WAIT;
    j->glue_updated_ms = r->glue_updated_ms > 0 ? r->glue_updated_ms : 0;
    j->handler = text_or_empty(r->handler);
    j->param = text_or_empty(r->param);
    j->glue_type = text_or_empty(r->glue_type);
    j->glue_source = text_or_empty(r->glue_source);
    j->bean = strcmp(j->glue_type, "BEAN") == 0;
    j->alarm_email = emails_of(r->alarm_email);
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
    free(j->alarm_email);
    free(j->children);
    free(j->form);
    free(j);
}
