/* SPDX-License-Identifier: Apache-2.0 */
/* alarms.c - an alarm is a row before it is a message: written with the end of the run or not at
 * all, so no crash can part the two. A run that succeeds costs one look at a bit here. */
#include "ledger/alarms.h"
#include <stdlib.h>
#include "base/mem.h"
#include "ledger/internal.h"
#include "model/cause.h"

/* ---- which failures -------------------------------------------------------------------------- */

static bool failure(enum phase p)
{
    return p == PHASE_FAILED || p == PHASE_TIMED_OUT || p == PHASE_KILLED || p == PHASE_LOST ||
           p == PHASE_REJECTED || p == PHASE_UNROUTABLE;
}

/* Does anybody want to hear of it? */
static bool wanted(const struct txn *t, const struct run_change *c)
{
    const char *const *all = t->b->alarm_channels;
    return c->what & CHANGE_ALARM && c->job && failure(c->phase) &&
           (c->job->alarm_email || (all && *all));
}

struct cause change_cause(const struct run_change *c)
{
    struct failure f = { .trigger_code = 200 };
    struct cause why;
    if (c->what & CHANGE_TRIGGER) {
        f.trigger_code = c->trigger_code;
        f.trigger_msg = c->trigger_msg;
    }
    if (c->what & CHANGE_FINISH) {
        f.handle_code = c->handle_code;
        f.handle_msg = c->handle_msg;
    }
    cause_of(&f, &why);
    return why;
}

static enum err add(struct txn *t, const struct run_change *c, const struct cause *why,
                    const char *channel, const char *targets)
{
    struct alarm_record r = {
        .log_id = c->log_id,
        .job_id = c->job->id,
        .group_id = c->job->group_id,
        .made_ms = t->b->now_ms,
        .phase = c->phase,
        .code = why->code,
        .fingerprint = why->fingerprint,
        .cause = (char *)why->text, /* lent: the store copies */
        .channel = (char *)channel,
        .targets = (char *)targets,
    };
    enum err err = t->ops->alarms->alarms_add(t->store, &r, 1, &t->b->why);
    t->b->nalarms += !err && r.id;
    return err;
}

static enum err alarm(struct txn *t, const struct run_change *c)
{
    struct cause why = change_cause(c);
    enum err err = OK;
    if (c->job->alarm_email)
        err = add(t, c, &why, ALARM_BY_JOB, c->job->alarm_email);
    for (const char *const *all = t->b->alarm_channels; !err && all && *all; all++)
        err = add(t, c, &why, *all, NULL);
    return err;
}

enum err alarms_change(struct txn *t, struct run_change *changes, int n, int64_t *ret_missed)
{
    for (int i = 0; i < n; i++)
        changes[i].quiet = changes[i].what & CHANGE_ALARM && !wanted(t, &changes[i]);
    enum err err = t->ops->runs->runs_change(t->store, changes, n, ret_missed, &t->b->why);
    for (int i = 0; !err && i < n; i++)
        if (changes[i].what & CHANGE_ALARM && !changes[i].quiet && !changes[i].missing)
            err = alarm(t, &changes[i]);
    return err;
}

/* ---- what came of them ----------------------------------------------------------------------- */

static enum err reports_run(struct store *s, void *arg, struct why *why)
{
    const struct alarm_reports *a = arg;
    enum err err = OK;
    for (int i = 0; !err && i < a->n; i++) {
        const struct alarm_report *r = &a->reports[i];
        err = s->ops->alarms->delivery_add(s, &r->tried, why);
        if (!err && r->closes != ALARM_CLAIMED)
            err = s->ops->alarms->alarm_close(s, r->tried.alarm_id, r->closes, a->now_ms, why);
    }
    return err;
}

static void reports_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    struct alarm_reports *a = arg;
    for (int i = 0; i < a->n; i++)
        delivery_record_done(&a->reports[i].tried);
    free(a->reports);
    free(a);
}

const struct ledger_write alarm_reports_write = { reports_run, reports_done };
