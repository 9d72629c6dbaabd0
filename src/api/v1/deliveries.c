/* SPDX-License-Identifier: Apache-2.0 */
/* Deliveries as a resource: each message to a channel, of a rule or of a failed run, and what its
 * tries came to. Who may run a group's jobs may have one sent again. */
#include "alarm/alarm.h"
#include "api/gate.h"
#include "api/rules.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <stdlib.h>

#define ID_MAX ((INT64_C(1) << 53) - 1)
#define TRIES_SHOWN 500

/* ---- tries ----------------------------------------------------------------------------------- */

struct tries { /* of a delivery; texts owned */
    struct delivery_record *rows;
    int n, cap;
};

static bool keep_try(void *ctx, const struct delivery_record *d)
{
    struct tries *t = ctx;
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 8;
        t->rows = mem_resize(t->rows, (size_t)t->cap * sizeof(*t->rows));
    }
    t->rows[t->n] = *d;
    t->rows[t->n].target = mem_dup(d->target ? d->target : "");
    t->rows[t->n].said = mem_dup(d->said);
    t->n++;
    return true;
}

static int newest_first(const void *a, const void *b)
{
    const struct delivery_record *x = a, *y = b;
    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? 1 : -1;
    return y->n - x->n;
}

static enum err tries_read(struct store *db, int64_t id, struct tries *ret, struct why *why)
{
    *ret = (struct tries){ .n = 0 };
    enum err err = db->ops->alarms->deliveries_each(db, id, keep_try, ret, why);
    if (ret->n)
        qsort(ret->rows, (size_t)ret->n, sizeof(*ret->rows), newest_first);
    return err;
}

static void tries_done(struct tries *t)
{
    for (int i = 0; i < t->n; i++)
        delivery_record_done(&t->rows[i]);
    free(t->rows);
}

static void write_try(struct jsonw *w, const struct delivery_record *d)
{
    static const char *const outcomes[DELIVERIES] = { [DELIVERY_SENT] = "sent",
                                                      [DELIVERY_AGAIN] = "failed",
                                                      [DELIVERY_NEVER] = "given_up",
                                                      [DELIVERY_HELD] = "held" };
    jsonw_object(w, NULL);
    jsonw_text(w, "target", d->target);
    jsonw_i64(w, "n", d->n);
    v1_instant(w, "sent", d->at_ms);
    jsonw_i64(w, "tookMs", d->took_ms);
    jsonw_text(w, "outcome", outcomes[d->outcome]);
    jsonw_text(w, "said", d->said);
    jsonw_object_end(w);
}

/* ---- one ------------------------------------------------------------------------------------- */

static const char *const states[] = { "waiting", "sent", "failed", "held" };
static const enum alarm_status statuses[] = { ALARM_CLAIMED, ALARM_SENT, ALARM_FAILED, ALARM_HELD };

static const char *state_of(const struct alarm_record *r)
{
    for (size_t i = 0; r->closed_ms >= 0 && i < countof(states); i++)
        if (statuses[i] == r->status)
            return states[i];
    return states[0];
}

static void id_or_null(struct jsonw *w, const char *key, int64_t id)
{
    if (id > 0)
        jsonw_i64(w, key, id);
    else
        jsonw_null(w, key);
}

/* What it tells of. */
static void write_subject(struct jsonw *w, struct store *db, const struct alarm_record *r)
{
    struct tell_record t = { .id = 0 };
    struct why why = { "" };
    bool told = r->log_id < 0 && !db->ops->rules->tell_get(db, -r->log_id, &t, &why);
    id_or_null(w, "alarmId", told ? t.incident_id : 0);
    id_or_null(w, "runId", r->log_id);
    v1_group_named(w, db, r->group_id);
    jsonw_text(w, "channel", r->channel);
    jsonw_text(w, "message", told ? tell_state_text(t.state) : NULL);
}

static void write_members(struct jsonw *w, struct store *db, const struct alarm_record *r,
                          const struct tries *tries)
{
    jsonw_i64(w, "id", r->id);
    write_subject(w, db, r);
    jsonw_text(w, "state", state_of(r));
    jsonw_i64(w, "tries", tries->n);
    jsonw_text(w, "said", tries->n ? tries->rows[0].said : NULL);
    v1_instant(w, "made", r->made_ms);
    v1_instant_or_null(w, "resent", r->resent_ms);
    v1_instant_or_null(w, "closed", r->closed_ms);
}

static void answer(struct web_call *call, const struct alarm_record *r)
{
    struct why why = { "" };
    struct tries tries;
    struct jsonw w = jsonw_on(&call->output);
    enum err err = tries_read(call->db, r->id, &tries, &why);
    if (err) {
        problem_err(call, err, &why);
    } else {
        jsonw_object(&w, NULL);
        write_members(&w, call->db, r, &tries);
        jsonw_array(&w, "items");
        for (int i = 0; i < tries.n && i < TRIES_SHOWN; i++)
            write_try(&w, &tries.rows[i]);
        jsonw_array_end(&w);
        jsonw_object_end(&w);
    }
    tries_done(&tries);
}

/* The delivery that the path names, if the asker may do to it what the row says. False: the call is
 * answered. */
static bool find(struct web_call *call, struct alarm_record *ret)
{
    struct why why = { "" };
    int64_t id = call->params.items[0].number;
    enum err err = call->db->ops->alarms->alarm_get(call->db, id, ret, &why);
    if (err) {
        problem_err(call, err, &why);
        return false;
    }
    bool may = gate_group(call, ret->group_id, "delivery", id);
    if (!may)
        alarm_record_done(ret);
    return may;
}

void v1_delivery_get(struct web_call *call)
{
    struct alarm_record r;
    if (!find(call, &r))
        return;
    answer(call, &r);
    alarm_record_done(&r);
}

/* ---- list ------------------------------------------------------------------------------------ */

struct listing {
    struct v1_listing l;
    struct store *db;
    enum err err;
    struct why why;
};

static bool add_delivery(void *ctx, const struct alarm_record *r)
{
    struct listing *x = ctx;
    struct tries tries;
    if (!v1_listing_takes(&x->l, r->id))
        return false;
    x->err = tries_read(x->db, r->id, &tries, &x->why);
    if (!x->err) {
        jsonw_object(&x->l.w, NULL);
        write_members(&x->l.w, x->db, r, &tries);
        jsonw_object_end(&x->l.w);
    }
    tries_done(&tries);
    return !x->err;
}

void v1_deliveries_list(struct web_call *call)
{
    struct query q;
    struct cursor after = { .id = 0 };
    struct listing x = { .l = { .w = jsonw_on(&call->output) }, .db = call->db };
    struct alarms_filter f = { .scope = actor_scope(call->actor, PERM_READ),
                               .below_id = INT64_MAX };
    int64_t total = 0;
    query_begin(&q, call);
    x.l.limit = query_limit(&q);
    f.incident_id = query_i64(&q, "alarm", 1, ID_MAX, 0);
    f.log_id = query_i64(&q, "run", 1, ID_MAX, 0);
    f.channel = query_text(&q, "channel", CHANNEL_NAME_MAX);
    int state = query_word(&q, "state", states, countof(states));
    f.status = state < 0 ? ALARM_UNSEEN : statuses[state];
    f.since_ms = query_i64(&q, "sinceMs", 0, ID_MAX, 0);
    if (query_cursor(&q, &after))
        f.below_id = after.id;
    if (!query_end(&q))
        return;
    f.limit = x.l.limit + 1;
    v1_list_begin(&x.l.w);
    enum err err =
        call->db->ops->alarms->alarms_page(call->db, &f, add_delivery, &x, &total, &x.why);
    if (err || x.err)
        problem_err(call, err ? err : x.err, &x.why);
    else
        v1_list_end(call, &x.l.w, x.l.more ? &x.l.last : NULL, total, total < ALARMS_COUNT_MAX);
}

/* ---- again ----------------------------------------------------------------------------------- */

struct looked_for {
    const char *name;
    bool on;
};

static bool look(void *ctx, const struct channel_record *r)
{
    struct looked_for *x = ctx;
    if (slice_eq(slice_text(x->name), r->name))
        x->on = r->enabled;
    return true;
}

/* Is there a channel that would send it? False: the call is answered. */
static bool can_send(struct web_call *call, const char *channel)
{
    struct looked_for x = { .name = channel };
    struct why why = { "" };
    const char *one;
    bool by_job;
    for (int i = 0; call->config->alarms && alarms_set_up(call->config->alarms, i, &one, &by_job);
         i++)
        x.on |= one && slice_eq(slice_text(channel), one);
    enum err err = call->db->ops->alarms->channels_each(call->db, look, &x, &why);
    if (!err && !x.on) {
        why_set(&why, "the channel %s is not there, or off", channel);
        err = ERR_EXISTS;
    }
    if (err)
        problem_err(call, err, &why);
    return !err;
}

void v1_delivery_resend(struct web_call *call)
{
    struct alarm_record r;
    struct why why = { "" };
    if (!find(call, &r))
        return;
    bool good = can_send(call, r.channel);
    int64_t id = r.id;
    alarm_record_done(&r);
    if (!good)
        return;
    enum err err = delivery_resend(call->center, id, audit_new(call, "delivery.resend"), &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    if (call->config->alarms)
        alarms_resent(call->config->alarms, id);
    v1_delivery_get(call);
}
