/* SPDX-License-Identifier: Apache-2.0 */
/* chart.c - days and counts as XXL-JOB's dashboard wants them: the rows of its report, the last
 * days of which are as they are now. Who may not see all groups gets the counts of theirs. */
#include "api/xxl/chart.h"
#include "api/xxl/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include "ledger/figures.h"
#include <stdlib.h>
#include <string.h>

#define DAYS_MAX 4000 /* ten years and more */
#define EMPTY_DAYS 7  /* shown where there are none */

struct chart {
    struct web_call *call;
    const struct scope *scope;
    struct zone *zone;
    int64_t from_ms, to_ms;
    struct report_row days[DAYS_MAX];
    int n;
};

static bool add_day(void *ctx, const struct report_row *r)
{
    struct chart *c = ctx;
    c->days[c->n++] = *r;
    return c->n < DAYS_MAX;
}

static int by_day(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return (x->day_ms > y->day_ms) - (x->day_ms < y->day_ms);
}

static struct report_row *find_day(struct chart *c, int64_t day_ms)
{
    for (int i = c->n - 1; i >= 0; i--)
        if (c->days[i].day_ms == day_ms)
            return &c->days[i];
    return NULL;
}

static bool is_zero(const struct report_row *r)
{
    return !r->succeeded && !r->failed && !r->running;
}

/* Today has a row whatever happened on it, an earlier day if there is one already or if something
 * did. What the table knows and the figures do not (of before they began) stays. */
static enum err last_days(struct chart *c, struct why *why)
{
    struct report_row now[FIGURES_REPORT_DAYS];
    enum err err = figures_report(center_figures(c->call->center), c->call->db, c->scope,
                                  clock_wall_ms(), now, why);
    for (int i = 0; !err && i < FIGURES_REPORT_DAYS; i++) {
        struct report_row *there = find_day(c, now[i].day_ms);
        bool wanted = now[i].day_ms >= c->from_ms && now[i].day_ms <= c->to_ms;
        if (there && (!is_zero(&now[i]) || !scope_is_all(c->scope)))
            *there = now[i];
        else if (!there && wanted && c->n < DAYS_MAX && (i == 0 || !is_zero(&now[i])))
            c->days[c->n++] = now[i];
    }
    if (!err)
        qsort(c->days, (size_t)c->n, sizeof(*c->days), by_day);
    return err;
}

static enum err own_groups(struct chart *c, struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < c->n; i++)
        err = figures_report_day(center_figures(c->call->center), c->call->db, c->scope,
                                 c->days[i].day_ms, &c->days[i], why);
    return err;
}

static enum err look_up(struct chart *c, struct why *why)
{
    struct store *db = c->call->db;
    enum err err = db->ops->figures->reports_each(db, c->from_ms, c->to_ms, add_day, c, why);
    if (!err && !scope_is_all(c->scope))
        err = own_groups(c, why);
    return err ? err : last_days(c, why);
}

static void empty_days(struct chart *c)
{
    for (int64_t day = EMPTY_DAYS - 1; day >= 0; day--)
        c->days[c->n++] = (struct report_row){ .day_ms = clock_wall_ms() - day * 86400000 };
}

static int64_t column(struct jsonw *w, const char *name, const struct chart *c, size_t offset)
{
    int64_t sum = 0;
    jsonw_array(w, name);
    for (int i = 0; i < c->n; i++) {
        int64_t v = *(const int64_t *)((const char *)&c->days[i] + offset);
        jsonw_i64(w, NULL, v);
        sum += v;
    }
    jsonw_array_end(w);
    return sum;
}

static void write_chart(const struct chart *c)
{
    struct buf b = BUF_INIT(WEB_REPLY_MAX);
    struct jsonw w = jsonw_on(&b);
    char text[RFC3339_SIZE];
    jsonw_object(&w, NULL);
    jsonw_array(&w, "triggerDayList");
    for (int i = 0; i < c->n; i++)
        jsonw_slice(&w, NULL, slice_of(walltime_format(c->days[i].day_ms, c->zone, text), 10));
    jsonw_array_end(&w);
    int64_t running =
        column(&w, "triggerDayCountRunningList", c, offsetof(struct report_row, running));
    int64_t succeeded =
        column(&w, "triggerDayCountSucList", c, offsetof(struct report_row, succeeded));
    int64_t failed = column(&w, "triggerDayCountFailList", c, offsetof(struct report_row, failed));
    jsonw_i64(&w, "triggerCountRunningTotal", running);
    jsonw_i64(&w, "triggerCountSucTotal", succeeded);
    jsonw_i64(&w, "triggerCountFailTotal", failed);
    jsonw_object_end(&w);
    reply_json(c->call, slice_of(b.data, b.len));
    buf_done(&b);
}

static enum err bound(const struct chart *c, const char *name, int64_t *ret, struct why *why)
{
    const char *text = form_get(&c->call->form, name);
    if (text && walltime_parse(slice_trim(slice_text(text)), c->zone, ret, NULL) == OK)
        return OK;
    why_set(why, "%s: must be yyyy-MM-dd HH:mm:ss", name);
    return ERR_INVALID;
}

void chart_info(struct web_call *call)
{
    struct chart *c = mem_new(sizeof(*c));
    struct why why = { "" };
    c->call = call;
    c->scope = actor_scope(call->actor, PERM_READ);
    c->zone = call_zone(call);
    enum err err = bound(c, "startDate", &c->from_ms, &why);
    if (!err)
        err = bound(c, "endDate", &c->to_ms, &why);
    if (!err)
        err = look_up(c, &why);
    if (!err && !c->n)
        empty_days(c);
    if (err)
        reply_err(call, err, &why);
    else
        write_chart(c);
    zone_unref(c->zone);
    free(c);
}
