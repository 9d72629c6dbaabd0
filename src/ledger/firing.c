/* SPDX-License-Identifier: Apache-2.0 */
/* firing.c - has a scheduled time had its run? The log tells it, where the row may be gone: for the
 * edits of a job, whose schedules may name a time twice. */
#include "ledger/internal.h"
#include <limits.h>

static bool is_of(const struct edit *e, int64_t log_id)
{
    for (int i = 0; e && i < e->nruns; i++)
        if (e->runs[i].log_id == log_id)
            return true;
    return false;
}

/* The log knows the second of a run that has ended, and the instant of one that is live. */
static bool is_firing(void *ctx, const struct log_record *r)
{
    struct firing *f = ctx;
    bool there = !r->phase || r->scheduled_ms == f->scheduled_ms;
    f->found |= there && !is_of(f->but, r->id) && r->id != f->but_id &&
                (r->kind == KIND_CRON || (r->kind == KIND_COUNT && !f->but));
    f->caught_up |= there && r->kind == KIND_MISFIRE;
    return true;
}

enum err firing_look(struct txn *t, int64_t job_id, struct firing *firing)
{
    int64_t second = firing->scheduled_ms / 1000 * 1000, total;
    const struct logs_filter f = {
        .job_id = job_id, .from_ms = second, .to_ms = second, .limit = INT32_MAX
    };
    return t->ops->pages->logs_page(t->store, &f, is_firing, firing, &total, &t->b->why);
}

static bool latest_look(void *ctx, const struct life_record *l)
{
    int64_t *latest_ms = ctx;
    if (l->watermark_ms > *latest_ms)
        *latest_ms = l->watermark_ms;
    return true;
}

/* Has another server sent this scheduled time, and is its run over? Its watermark said so before it
 * left, so what no watermark covers yet was not sent. */
static enum err sent_look(struct txn *t, const struct planned *p)
{
    struct firing firing = { .scheduled_ms = p->row.scheduled_ms, .but_id = p->row.log_id };
    enum err err = firing_look(t, p->row.job_id, &firing);
    if (err || !firing.found)
        return err;
    why_set(&t->b->why, "job %lld was sent by another server while it was changed",
            (long long)p->row.job_id);
    return ERR_CONFLICT;
}

static const struct edit *edit_of(const struct batch *b, int64_t job_id)
{
    for (int i = 0; i < b->nedits; i++)
        if (!b->edits[i]->err && b->edits[i]->anew && b->edits[i]->kind != EDIT_JOB_SYNC &&
            b->edits[i]->now && b->edits[i]->now->id == job_id)
            return b->edits[i];
    return NULL;
}

enum err firings_look_again(struct txn *t)
{
    const struct batch *b = t->b;
    int64_t latest_ms = INT64_MIN;
    enum err err = OK;
    for (int i = 0; !err && i < b->nplanned; i++) {
        const struct planned *p = &b->planned[i];
        const struct edit *e =
            p->row.log_id > 0 && !p->spawn && p->row.shard == 0 ? edit_of(b, p->row.job_id) : NULL;
        if (!e || p->row.scheduled_ms <= e->sent_until_ms)
            continue;
        if (latest_ms == INT64_MIN)
            err = t->ops->cluster->lives_each(t->store, LIVES_MAX, latest_look, &latest_ms,
                                              &t->b->why);
        if (!err && p->row.scheduled_ms <= latest_ms)
            err = sent_look(t, p);
    }
    return err;
}
