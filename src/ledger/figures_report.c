/* SPDX-License-Identifier: Apache-2.0 */
/* figures_report.c - XXL-JOB's report of the last days: answered from the figures, and kept in its
 * table for programs that read that. */
#include "ledger/figures_internal.h"
#include "cron/civil.h"

#define REPORT_MS 60000
#define LOOK_MS 1000

static void report_days(const struct figures *f, int64_t now_ms, int64_t days[FIGURES_REPORT_DAYS])
{
    int64_t ms = now_ms;
    for (int i = 0; i < FIGURES_REPORT_DAYS; i++) {
        days[i] = figure_slot_ms(figure_slot(FIGURE_DAY, f->all.zone, ms));
        ms = days[i] - 1;
    }
}

enum err figures_report_day(struct figures *f, struct store *reader, const struct scope *scope,
                            int64_t day_ms, struct report_row *ret, struct why *why)
{
    static const int64_t whole = 0;
    bool all = scope_is_all(scope);
    const int64_t *groups = all ? &whole : scope->ids;
    size_t n = all ? 1 : scope->n;
    enum err err = OK;
    *ret = (struct report_row){ .day_ms = day_ms };
    for (size_t i = 0; !err && i < n; i++) {
        struct figure day;
        err = figures_read(f, reader, FIGURE_DAY, groups[i], 0, day_ms, &day, NULL, why);
        if (err)
            break;
        ret->succeeded += day.counts[OUTCOME_SUCCEEDED];
        ret->failed += figure_failed(&day);
    }
    return err;
}

static enum err report_row(struct figures *f, struct store *s, int64_t day_ms, int64_t now_ms,
                           struct report_row *ret, struct why *why)
{
    enum err err = figures_report_day(f, s, NULL, day_ms, ret, why);
    ret->updated_ms = now_ms;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < FIGURES_REPORT_DAYS; i++)
        if (f->running.days[i] == day_ms)
            ret->running = f->running.counts[i];
    pthread_mutex_unlock(&f->lock);
    return err;
}

/* Rows of days of which nothing is known may be another program's: they stay. */
enum err figures_report_write(struct figures *f, struct store *s, int64_t now_ms, struct why *why)
{
    int64_t age = now_ms - f->report_ms, days[FIGURES_REPORT_DAYS];
    if (age >= 0 && age < REPORT_MS)
        return OK;
    report_days(f, now_ms, days);
    enum err err = OK;
    for (int i = 0; !err && i < FIGURES_REPORT_DAYS; i++) {
        struct report_row r;
        err = report_row(f, s, days[i], now_ms, &r, why);
        if (!err && (i == 0 || r.succeeded || r.failed || r.running))
            err = s->ops->figures->reports_put(s, &r, 1, why);
    }
    f->step.report = !err;
    return err;
}

/* Live runs of all groups, as they were at most a second ago. */
static enum err running_look(struct figures *f, struct store *reader, struct running *r,
                             struct why *why)
{
    pthread_mutex_lock(&f->lock);
    int64_t age = r->at_ms - f->running.at_ms;
    bool look = age < 0 || age >= LOOK_MS || f->running.days[0] != r->days[0];
    if (!look)
        *r = f->running;
    pthread_mutex_unlock(&f->lock);
    if (!look)
        return OK;
    enum err err = reader->ops->figures->runs_running(reader, NULL, r->days, FIGURES_REPORT_DAYS,
                                                      r->at_ms, r->counts, why);
    if (err)
        return err;
    pthread_mutex_lock(&f->lock);
    f->running = *r;
    pthread_mutex_unlock(&f->lock);
    return OK;
}

enum err figures_report(struct figures *f, struct store *reader, const struct scope *scope,
                        int64_t now_ms, struct report_row ret[FIGURES_REPORT_DAYS], struct why *why)
{
    struct running r = { .at_ms = now_ms };
    report_days(f, now_ms, r.days);
    enum err err = scope_is_all(scope) ? running_look(f, reader, &r, why)
                                       : reader->ops->figures->runs_running(reader, scope, r.days,
                                                                            FIGURES_REPORT_DAYS,
                                                                            now_ms, r.counts, why);
    for (int i = 0; !err && i < FIGURES_REPORT_DAYS; i++) {
        err = figures_report_day(f, reader, scope, r.days[i], &ret[i], why);
        ret[i].running = r.counts[i];
    }
    return err;
}
