/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of the log are not committed in their order: each look begins where the look before the last
 * one has ended. A row is inserted before the call to the executor and finished after it; those
 * that were seen unfinished are read again by id for some minutes. */
#include "shadow/source.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <stdlib.h>
#include <string.h>

#define OPEN_MAX 5000      /* unfinished rows that are looked at again */
#define OPEN_FOR_MS 300000 /* and how long */
#define OPEN_SLICE 500     /* of them in one statement */
#define SQL_MAX 32768

struct open_row {
    int64_t id, until_ms;
};

struct source {
    struct db_url url;
    struct reader *reader; /* NULL: not connected */
    struct layout layout;
    bool known; /* the layout */
    struct zone *zone;
    int64_t after, newest; /* log ids: the next look's first, and the highest seen */
    struct open_row *open;
    int nopen;
    int64_t now_ms;
};

struct source *source_new(const struct db_url *url, struct zone *zone)
{
    struct source *s = mem_new(sizeof(*s));
    s->url = *url;
    s->zone = zone_ref(zone);
    s->open = mem_new(OPEN_MAX * sizeof(*s->open));
    return s;
}

void source_free(struct source *s)
{
    if (!s)
        return;
    if (s->known)
        layout_done(&s->layout);
    reader_free(s->reader);
    db_url_wipe(&s->url);
    zone_unref(s->zone);
    free(s->open);
    free(s);
}

enum err source_open(struct source *s, const struct layout **ret, struct why *why)
{
    enum err err = s->reader ? OK : reader_open(&s->url, &s->reader, why);
    if (!err && !s->known) {
        err = layout_read(reader_query, s->reader, &s->layout, why);
        if (err)
            layout_done(&s->layout);
        s->known = !err;
    }
    if (!err)
        *ret = &s->layout;
    return err;
}

static enum err query(struct source *s, const char *sql, layout_row_fn *fn, void *ctx,
                      struct why *why)
{
    if (!s->reader) {
        why_set(why, "there is no connection to the database");
        return ERR_NET;
    }
    enum err err = reader_query(s->reader, sql, fn, ctx, why);
    if (err == ERR_NET) {
        reader_free(s->reader);
        s->reader = NULL;
    }
    return err;
}

static int64_t number(struct slice v)
{
    int64_t n = 0;
    return v.p && parse_i64(v, &n) ? n : 0;
}

/* ---- clocks and zones -------------------------------------------------------------------------
 */

/* A wall time of about now: of two passes of an hour the one that is nearer. False: it is none. */
static bool wall_to_s(const struct source *s, struct slice text, int64_t *ret_s)
{
    int64_t utc_ms;
    struct why why = { "" };
    if (text.n > 19)
        text.n = 19; /* without a fraction */
    if (!text.p || walltime_parse(text, zone_utc(), &utc_ms, &why))
        return false;
    struct zone_local at = zone_from_local(s->zone, utc_ms / 1000);
    int64_t now_s = s->now_ms / 1000;
    *ret_s = llabs(at.last_s - now_s) < llabs(at.first_s - now_s) ? at.last_s : at.first_s;
    return true;
}

struct clocks {
    const struct source *source;
    int64_t server_s, beat_s;
};

static void on_clock(void *ctx, const struct slice *v)
{
    struct clocks *c = ctx;
    c->server_s = number(v[0]);
    if (!wall_to_s(c->source, v[1], &c->beat_s))
        c->beat_s = INT64_MIN;
}

enum err source_clock(struct source *s, int64_t *ret_ahead_ms, int64_t *ret_beat_s, struct why *why)
{
    struct clocks c = { s, 0, INT64_MIN };
    s->now_ms = clock_wall_ms();
    enum err err = query(s,
                         "SELECT TIMESTAMPDIFF(SECOND, '1970-01-01', UTC_TIMESTAMP()), "
                         "(SELECT MAX(update_time) FROM xxl_job_registry)",
                         on_clock, &c, why);
    if (err)
        return err;
    int64_t between_ms = (s->now_ms + clock_wall_ms()) / 2;
    *ret_ahead_ms = c.server_s * 1000 + 500 - between_ms;
    *ret_beat_s = c.beat_s == INT64_MIN ? INT64_MIN : c.beat_s - between_ms / 1000;
    return OK;
}

/* ---- jobs and groups --------------------------------------------------------------------------
 */

struct each_job {
    void (*fn)(void *ctx, const struct source_job *j);
    void *ctx;
};

static void on_job(void *ctx, const struct slice *v)
{
    const struct each_job *each = ctx;
    struct source_job j = {
        .id = number(v[0]),
        .group_id = number(v[1]),
        .type = v[2],
        .conf = v[3],
        .misfire = v[4],
        .route = v[5],
        .retries = (int)number(v[6]),
        .running = number(v[7]) == 1,
        .next_ms = number(v[8]),
        .updated = v[9],
        .name = v[10],
    };
    each->fn(each->ctx, &j);
}

enum err source_jobs(struct source *s, void (*fn)(void *ctx, const struct source_job *j), void *ctx,
                     struct why *why)
{
    struct each_job each = { fn, ctx };
    struct buf sql = BUF_INIT(SQL_MAX);
    buf_printf(&sql,
               "SELECT id, job_group, schedule_type, schedule_conf, misfire_strategy, "
               "executor_route_strategy, executor_fail_retry_count, trigger_status, "
               "trigger_next_time, update_time, LEFT(%s, 60) FROM xxl_job_info",
               s->layout.job_name);
    enum err err = query(s, buf_str(&sql), on_job, &each, why);
    buf_done(&sql);
    return err;
}

struct each_group {
    void (*fn)(void *ctx, int64_t id, struct slice list);
    void *ctx;
};

static void on_group(void *ctx, const struct slice *v)
{
    const struct each_group *each = ctx;
    each->fn(each->ctx, number(v[0]), v[1]);
}

enum err source_groups(struct source *s, void (*fn)(void *ctx, int64_t id, struct slice list),
                       void *ctx, struct why *why)
{
    struct each_group each = { fn, ctx };
    return query(s, "SELECT id, address_list FROM xxl_job_group", on_group, &each, why);
}

/* ---- the log ----------------------------------------------------------------------------------
 */

static bool contains(struct slice text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++)
        if (slice_eq_nocase(slice_of(text.p + i, n), word))
            return true;
    return false;
}

static bool contains_one(struct slice text, const char *const *words)
{
    for (; *words; words++)
        if (contains(text, *words))
            return true;
    return false;
}

/* The first line of a trigger message says why: a label, a full-width colon, a word of the admin's
 * language. */
static enum match_kind kind_of(struct slice message)
{
    static const char *const misfires[] = { "misfire", "过期", "過期", "错过", NULL };
    static const char *const others[] = { "manual", "by hand", "手动", "手動", "retry", "重试",
                                          "重試",   "parent",  "父任", "api",  NULL };
    static const char *const schedules[] = { "cron", "schedule", "定时", "定時", NULL };
    static const char colon[] = "：";
    struct slice line = message;
    for (size_t i = 0; i + 3 <= line.n; i++)
        if (memcmp(line.p + i, "<br", 3) == 0)
            line.n = i;
    for (size_t i = 0; i + sizeof(colon) - 1 <= line.n; i++)
        if (memcmp(line.p + i, colon, sizeof(colon) - 1) == 0) {
            line = slice_of(line.p + i, line.n - i);
            break;
        }
    if (contains_one(line, misfires))
        return MATCH_MISFIRE;
    if (contains_one(line, others))
        return MATCH_OTHER;
    return contains_one(line, schedules) ? MATCH_SCHEDULE : MATCH_UNKNOWN;
}

struct each_row {
    struct source *source;
    int (*retries)(void *ctx, int64_t job_id);
    void (*fn)(void *ctx, const struct match_row *r);
    void *ctx;
    struct open_row *still; /* rows that are unfinished now */
    int nstill;
};

static void keep_open(struct each_row *each, int64_t id)
{
    struct source *s = each->source;
    int64_t until_ms = s->now_ms + OPEN_FOR_MS;
    for (int i = 0; i < s->nopen; i++)
        if (s->open[i].id == id)
            until_ms = s->open[i].until_ms;
    for (int i = 0; i < each->nstill; i++)
        if (each->still[i].id == id)
            return;
    if (each->nstill < OPEN_MAX && until_ms > s->now_ms)
        each->still[each->nstill++] = (struct open_row){ id, until_ms };
}

static void shard_of(struct slice text, struct match_row *r)
{
    struct slice shard;
    int i, n;
    if (text.p && slice_cut(&text, '/', &shard) && parse_int(shard, &i) && parse_int(text, &n) &&
        i >= 0 && i < n) {
        r->shard = i;
        r->shards = n;
    }
}

static void on_log(void *ctx, const struct slice *v)
{
    struct each_row *each = ctx;
    struct match_row r = { .log_id = number(v[0]), .job_id = number(v[1]) };
    if (r.log_id > each->source->newest)
        each->source->newest = r.log_id;
    if (!wall_to_s(each->source, v[2], &r.fired_s))
        return;
    shard_of(v[3], &r);
    r.told = v[6].p != NULL;
    char *address = v[5].p && v[5].n ? mem_dupn(v[5].p, v[5].n) : NULL;
    r.address = address;
    if (!r.told)
        keep_open(each, r.log_id);
    else
        r.kind = kind_of(v[6]);
    if (r.kind == MATCH_UNKNOWN && r.told && number(v[4]) < each->retries(each->ctx, r.job_id))
        r.kind = MATCH_OTHER; /* a retry counts down */
    each->fn(each->ctx, &r);
    free(address);
}

#define LOG_COLUMNS                                                                                \
    "SELECT id, job_id, trigger_time, executor_sharding_param, executor_fail_retry_count, "        \
    "executor_address, LEFT(trigger_msg, 200) FROM xxl_job_log "

static void on_newest(void *ctx, const struct slice *v)
{
    struct source *s = ctx;
    s->after = s->newest = number(v[0]);
}

enum err source_log_begin(struct source *s, struct why *why)
{
    s->now_ms = clock_wall_ms();
    return query(s, "SELECT MAX(id) FROM xxl_job_log", on_newest, s, why);
}

static enum err read_again(struct source *s, struct each_row *each, struct why *why)
{
    struct buf sql = BUF_INIT(SQL_MAX);
    enum err err = OK;
    for (int i = 0; !err && i < s->nopen; i += OPEN_SLICE) {
        buf_reset(&sql);
        buf_text(&sql, LOG_COLUMNS "WHERE id IN (0");
        for (int k = i; k < s->nopen && k < i + OPEN_SLICE; k++)
            buf_printf(&sql, ",%lld", (long long)s->open[k].id);
        buf_char(&sql, ')');
        err = query(s, buf_str(&sql), on_log, each, why);
    }
    buf_done(&sql);
    return err;
}

enum err source_log(struct source *s, int (*retries)(void *ctx, int64_t job_id),
                    void (*fn)(void *ctx, const struct match_row *r), void *ctx, struct why *why)
{
    struct each_row each = { s, retries, fn, ctx, mem_new(OPEN_MAX * sizeof(struct open_row)), 0 };
    s->now_ms = clock_wall_ms();
    int64_t before = s->newest;
    struct buf sql = BUF_INIT(SQL_MAX);
    buf_printf(&sql, LOG_COLUMNS "WHERE id > %lld ORDER BY id", (long long)s->after);
    enum err err = read_again(s, &each, why);
    if (!err)
        err = query(s, buf_str(&sql), on_log, &each, why);
    buf_done(&sql);
    if (!err) {
        s->after = before;
        free(s->open);
        s->open = each.still;
        s->nopen = each.nstill;
    } else {
        free(each.still);
    }
    return err;
}
