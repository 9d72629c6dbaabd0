/* SPDX-License-Identifier: Apache-2.0 */
/* alarms.c - what becomes of failures that people want to hear of: their rows, and a sender that is
 * cut off with the center.
 *
 * The sender has dice of its own, as other writes: a seed's history is the same without it. What is
 * promised: a failure has exactly one row for each channel that wants it, in the commit that ends
 * the run; none of a success; what the log row says of its alarms is what their rows say; an alarm
 * that counts as sent has been sent. */
#include "check.h"
#include "ledger/alarms.h"
#include <stdlib.h>
#include <string.h>

#define LOOKS 200 /* rows that a commit leaves the sender to look at: a crowd has many failures */
#define TARGET "someone"

static const char *const for_all[] = { "all", NULL };

const char *const *alarms_for_all(const struct sim *s)
{
    return s->seed % 3 == 0 ? for_all : NULL;
}

void alarms_init(struct sim *s)
{
    s->alarm_dice.state = hash_u64(s->seed + 2);
    map_init(&s->alarms_sent);
}

void alarms_free(struct sim *s)
{
    map_done(&s->alarms_sent);
}

/* ---- the rows -------------------------------------------------------------------------------- */

static int rows_of(struct sim *s, int64_t log_id, const char *channel)
{
    const struct memory *m = memory_of(s->store);
    const struct mem_alarms_of *of = mem_alarms_of(m, log_id);
    int n = 0;
    for (int i = 0; of && i < of->n; i++)
        n += strcmp(((struct alarm_record *)mem_find(m, T_ALARM, of->ids[i]))->channel, channel) ==
             0;
    return n;
}

static bool is_failure(enum phase p)
{
    return p >= PHASE_FAILED && p <= PHASE_UNROUTABLE;
}

/* The job may have been edited before the center heard of it: then either is right. */
void alarms_check(struct sim *s, const struct run_change *c)
{
    const struct ghost *g = ghost_of(s, c->log_id);
    const struct job_record *j = mem_find(memory_of(s->store), T_JOB, g->job_id);
    if (!(c->what & CHANGE_ALARM) || !j || edit_open(s, g->job_id) ||
        check_edit_unheard(s, shadow_of(s, g->job_id)))
        return;
    bool failed = is_failure(c->phase) || c->phase == PHASE_LOST;
    int by_mail = rows_of(s, c->log_id, ALARM_BY_JOB), of_all = rows_of(s, c->log_id, "all");
    if (by_mail > 1 || of_all > 1)
        sim_fail(s, "alarms", "run %lld has %d and %d alarms", (long long)c->log_id, by_mail,
                 of_all);
    if (failed && j->alarm_email && !by_mail)
        sim_fail(s, "alarms", "run %lld has failed, and nobody is told", (long long)c->log_id);
    if (by_mail && !(failed && (j->alarm_email || c->doubted)))
        sim_fail(s, "alarms", "run %lld is %s and has an alarm", (long long)c->log_id,
                 phase_text(c->phase));
    if (of_all != (failed && alarms_for_all(s) ? 1 : 0))
        sim_fail(s, "alarms", "run %lld is %s and has %d alarms for all", (long long)c->log_id,
                 phase_text(c->phase), of_all);
}

/* ---- the sender ------------------------------------------------------------------------------ */

static uint64_t key_of(const struct alarm_record *r)
{
    return mix(mix((uint64_t)r->id, r->log_id), r->made_ms);
}

static int tries_of(struct sim *s, int64_t alarm_id)
{
    int n = 0;
    while (mem_find(memory_of(s->store), T_DELIVERY, mem_delivery_key(alarm_id, TARGET, n + 1)))
        n++;
    return n;
}

struct sending {
    struct sim *s;
    struct alarm_reports *reports;
};

static bool send_one(void *ctx, const struct alarm_record *r)
{
    struct sending *x = ctx;
    struct sim *s = x->s;
    uint32_t fate = dice_below(&s->alarm_dice, 10);
    enum delivery_outcome outcome = fate < 7   ? DELIVERY_SENT
                                    : fate < 9 ? DELIVERY_AGAIN
                                               : DELIVERY_NEVER;
    if (outcome == DELIVERY_SENT)
        map_set(&s->alarms_sent, key_of(r), s);
    x->reports->reports[x->reports->n++] = (struct alarm_report){
        .tried = { .alarm_id = r->id,
                   .target = mem_dup(TARGET),
                   .n = tries_of(s, r->id) + 1,
                   .at_ms = wall_ms(s),
                   .outcome = outcome },
        .closes = outcome == DELIVERY_SENT    ? ALARM_SENT
                  : outcome == DELIVERY_NEVER ? ALARM_FAILED
                                              : ALARM_CLAIMED,
    };
    return true;
}

/* What is open is sent, also a second time while the first is on its way into the database. */
void alarms_heard(struct sim *s)
{
    s->alarm_looks += LOOKS;
    if (dice_below(&s->alarm_dice, 16) || s->alarm_looks < memory_of(s->store)->tables[T_ALARM].len)
        return;
    s->alarm_looks = 0;
    struct alarm_reports *reports = mem_new(sizeof(*reports));
    reports->reports = mem_new(8 * sizeof(*reports->reports));
    reports->now_ms = wall_ms(s);
    struct sending x = { s, reports };
    struct why why = { "" };
    const struct store_alarms *ops = store_memory_ops.alarms;
    sim_must(s, ops->alarms_open(s->store, ALARM_BY_JOB, 0, 4, send_one, &x, &why), &why);
    sim_must(s, ops->alarms_open(s->store, "all", 0, 4, send_one, &x, &why), &why);
    if (reports->n)
        list_push(&s->writes, &ledger_entry_new(&alarm_reports_write, reports)->node);
    else
        alarm_reports_write.done(reports, ERR_STOPPING, &why);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void check_status(struct sim *s, const struct alarm_record *r)
{
    const struct log_record *l = log_row(s, r->log_id);
    if (r->status == ALARM_SENT && !map_find(&s->alarms_sent, key_of(r)))
        sim_fail(s, "alarms", "alarm %lld counts as sent and was not", (long long)r->id);
    if (!l)
        return; /* it has gone with its job */
    bool fits = r->closed_ms < 0 ? l->alarm_status == ALARM_CLAIMED
                                 : l->alarm_status == ALARM_CLAIMED || l->alarm_status >= r->status;
    if (!fits)
        sim_fail(s, "alarms", "alarm %lld is at %d, and run %lld at %d", (long long)r->id,
                 r->status, (long long)r->log_id, l->alarm_status);
}

void alarms_end(struct sim *s)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_ALARM], &i, &row);)
        check_status(s, row);
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_LOG], &i, &row);) {
        const struct log_record *l = row;
        bool any = rows_of(s, l->id, ALARM_BY_JOB) || rows_of(s, l->id, "all");
        if (l->alarm_status == ALARM_CLAIMED && !any)
            sim_fail(s, "alarms", "run %lld is claimed for an alarm that is not there",
                     (long long)l->id);
    }
}
