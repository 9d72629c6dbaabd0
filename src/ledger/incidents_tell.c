/* SPDX-License-Identifier: Apache-2.0 */
/* incidents_tell.c - the messages of alarms: a message is a row, and one for each channel. */
#include "base/map.h"
#include "base/mem.h"
#include "ledger/incidents.h"
#include <stdlib.h>
#include <string.h>

static enum err message_add(struct store *s, const struct incident_record *i,
                            const struct tell_record *t, const struct tell_to *to, struct why *why)
{
    struct alarm_record a = {
        .log_id = -t->id,
        .group_id = i->group_id,
        .made_ms = t->at_ms,
        .phase = PHASE_FAILED,
        .fingerprint = hash_u64((uint64_t)i->id),
        .cause = i->text,
        .channel = to->channel, /* lent: the store copies */
        .targets = to->targets,
    };
    return s->ops->alarms->alarms_add(s, &a, 1, why);
}

static char *targets_of(const struct tells *a, const char *channel)
{
    for (int i = 0; i < a->nto; i++)
        if (strcmp(a->to[i].channel, channel) == 0)
            return a->to[i].targets;
    return NULL;
}

static enum err messages_add(struct store *s, const struct tells *a,
                             const struct incident_record *i, const struct rule_record *r,
                             enum tell_state state, struct why *why)
{
    struct tell_record t = { .incident_id = i->id, .state = state, .at_ms = a->now_ms };
    enum err err = s->ops->rules->tell_insert(s, &t, why);
    struct slice rest = slice_text(r->channels), one;
    while (!err && slice_item(&rest, &one)) {
        struct tell_to to = { .channel = mem_dupn(one.p, one.n) };
        to.targets = targets_of(a, to.channel);
        err = message_add(s, i, &t, &to, why);
        free(to.channel);
    }
    return err;
}

/* What the alarm is after that message. */
static void told(struct incident_record *i, const struct rule_record *r, enum tell_state state,
                 int64_t now_ms)
{
    bool over = state == TELL_CLOSED || state == TELL_NOTHING || i->closed_ms >= 0;
    if (state != TELL_NOTHING) {
        i->told++;
        i->told_ms = now_ms;
        i->untold = 0;
    }
    if (over || (!rule_stays(i->kind) && !r->repeat_ms)) {
        i->settled = true;
        i->closed_ms = i->closed_ms < 0 ? now_ms : i->closed_ms;
    }
}

static enum err tell_one(struct store *s, const struct tells *a, const struct tell *t,
                         struct why *why)
{
    struct incident_record i;
    struct rule_record r = { .id = 0 };
    enum err err = incident_take(s, t->incident_id, &i, why);
    if (err)
        return err == ERR_NOTFOUND ? OK : err;
    if (!i.settled && i.told == t->told) {
        err = s->ops->rules->rule_get(s, i.rule_id, &r, why);
        enum tell_state state = err || !r.enabled ? TELL_NOTHING : t->state;
        if (err == ERR_NOTFOUND)
            err = OK;
        if (!err && state != TELL_NOTHING)
            err = messages_add(s, a, &i, &r, state, why);
        if (!err) {
            told(&i, &r, state, a->now_ms);
            err = s->ops->rules->incident_update(s, &i, why);
        }
        rule_record_done(&r);
    }
    incident_record_done(&i);
    return err;
}

static enum err tells_run(struct store *s, void *arg, struct why *why)
{
    const struct tells *a = arg;
    enum err err = OK;
    for (int i = 0; !err && i < a->n; i++)
        err = tell_one(s, a, &a->tells[i], why);
    return err;
}

void tells_free(struct tells *t)
{
    for (int i = 0; t && i < t->nto; i++) {
        free(t->to[i].channel);
        free(t->to[i].targets);
    }
    if (t)
        free(t->to);
    free(t);
}

static void tells_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    tells_free(arg);
}

const struct ledger_write tells_write = { tells_run, tells_done };
