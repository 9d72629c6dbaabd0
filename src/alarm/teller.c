/* SPDX-License-Identifier: Apache-2.0 */
/* teller.c - looks at the alarms of which something may be to be told, when one of them changes and
 * when the next of them is due. It decides on a reading handle; the write looks again, in its
 * transaction, whether that still holds. So a message is told once, whatever a crash cuts off. */
#include "alarm/teller.h"
#include "alarm/settings.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cron/rfc3339.h"

#define PAGE 500       /* alarms looked at in one read */
#define AGAIN_MS 1000  /* after a look or a write that failed */
#define IDLE_MS 600000 /* and clocks may step */
#define MINUTE_MS 60000
#define FOLLOW_MS 1000 /* among several servers, whose alarms wake nobody here */

enum { MESSAGE_WAKE, MESSAGE_STOP };

struct teller {
    struct teller_config c;
    struct mailbox *in;
    struct message wake, stop;
    _Atomic bool woken;
    pthread_t thread;
};

/* ---- one look -------------------------------------------------------------------------------- */

struct look {
    int64_t now_ms, next_ms; /* wall; next: of what is not due yet */
    int minute;              /* of the day, in the server's zone */
    struct rule_record *rules;
    int nrules, crules;
    struct silence_record *silences; /* that hold now, texts empty */
    int nsilences, csilences, njobs; /* njobs: silences of single jobs */
    struct store *reader;
    struct tells *due; /* NULL: none yet */
    int64_t last_id;
    int seen;
};

static int minute_of_day(struct teller *t, int64_t now_ms)
{
    struct zone *zone = NULL;
    char text[RFC3339_SIZE]; /* "yyyy-MM-dd HH:mm:ss" */
    if (zones_get(center_zones(t->c.center), center_zone_name(t->c.center), &zone, NULL))
        zone = zone_ref(zone_utc());
    walltime_format(now_ms, zone, text);
    zone_unref(zone);
    return (int)strtol(text + 11, NULL, 10) * 60 + (int)strtol(text + 14, NULL, 10);
}

static bool keep_rule(void *ctx, const struct rule_record *r)
{
    struct look *l = ctx;
    if (l->nrules == l->crules) {
        l->crules = l->crules ? l->crules * 2 : 16;
        l->rules = mem_resize(l->rules, (size_t)l->crules * sizeof(*l->rules));
    }
    rule_record_copy(&l->rules[l->nrules++], r);
    return true;
}

static const struct rule_record *rule_find(const struct look *l, int64_t id)
{
    for (int i = 0; i < l->nrules; i++)
        if (l->rules[i].id == id)
            return &l->rules[i];
    return NULL;
}

static bool keep_silence(void *ctx, const struct silence_record *r)
{
    struct look *l = ctx;
    if (l->now_ms < r->from_ms || l->now_ms >= r->until_ms)
        return true;
    if (l->nsilences == l->csilences) {
        l->csilences = l->csilences ? l->csilences * 2 : 16;
        l->silences = mem_resize(l->silences, (size_t)l->csilences * sizeof(*l->silences));
    }
    l->silences[l->nsilences] = *r;
    l->silences[l->nsilences].reason = l->silences[l->nsilences].by = NULL;
    l->njobs += r->job_id != 0;
    l->nsilences++;
    return true;
}

struct jobs { /* of an alarm */
    const struct look *l;
    const struct incident_record *i;
    int64_t until_ms; /* the first end of their silences; 0: one has none */
    int64_t n;
};

static bool job_silent(void *ctx, const struct incident_job *j)
{
    struct jobs *x = ctx;
    int64_t until_ms = 0;
    for (int k = 0; k < x->l->nsilences; k++) {
        const struct silence_record *s = &x->l->silences[k];
        if (silence_holds_job(s, j->job_id, x->i->rule_id, x->l->now_ms) && s->until_ms > until_ms)
            until_ms = s->until_ms;
    }
    x->until_ms = !x->n || until_ms < x->until_ms ? until_ms : x->until_ms;
    x->n++;
    return until_ms > 0;
}

/* Until when nothing is told of it because each of its jobs has a silence of its own; 0: one has
 * none. */
static int64_t jobs_silent_until(struct look *l, const struct incident_record *i)
{
    struct jobs x = { .l = l, .i = i };
    struct why why = { "" };
    if (!i->jobs || i->jobs > l->njobs)
        return 0;
    if (l->reader->ops->rules->incident_jobs_each(l->reader, i->id, l->njobs, job_silent, &x, &why))
        log_warn("alarm", "silences of jobs cannot be looked at: %s", why.text);
    return x.n == i->jobs ? x.until_ms : 0;
}

/* Until when nothing is told of it, by a silence; 0: none holds. */
static int64_t silent_until(struct look *l, const struct incident_record *i)
{
    int64_t until_ms = jobs_silent_until(l, i);
    for (int k = 0; k < l->nsilences; k++)
        if (silence_holds(&l->silences[k], i->group_id, i->rule_id, l->now_ms) &&
            l->silences[k].until_ms > until_ms)
            until_ms = l->silences[k].until_ms;
    return until_ms;
}

/* Until when nothing is told of it, by its rule's quiet hours or by a silence; 0: now it is. */
static int64_t held_until(struct look *l, const struct incident_record *i,
                          const struct rule_record *r)
{
    int quiet = rule_quiet_left(r, l->minute);
    int64_t until_ms = quiet ? (l->now_ms / MINUTE_MS + quiet) * MINUTE_MS : 0;
    int64_t silent_ms = silent_until(l, i);
    return silent_ms > until_ms ? silent_ms : until_ms;
}

static void next_at(struct look *l, int64_t ms)
{
    if (ms < l->next_ms)
        l->next_ms = ms;
}

/* *ret_now: is it to be told now, or to end? Else next_ms says when. */
static enum tell_state judge(struct look *l, const struct incident_record *i, bool *ret_now)
{
    enum tell_state state = TELL_NOTHING;
    const struct rule_record *r = rule_find(l, i->rule_id);
    *ret_now = !r || !r->enabled;
    if (*ret_now)
        return TELL_NOTHING;
    int64_t due_ms = incident_due_ms(i, r, &state);
    if (due_ms > l->now_ms) {
        next_at(l, due_ms);
        return state;
    }
    *ret_now = true;
    int64_t held_ms = held_until(l, i, r);
    if (!held_ms || state == TELL_NOTHING)
        return state;
    if (i->told_ms < 0 && i->closed_ms >= 0) /* it came and went meanwhile */
        return TELL_NOTHING;
    next_at(l, held_ms);
    *ret_now = false;
    return state;
}

static bool look_at(void *ctx, const struct incident_record *i)
{
    struct look *l = ctx;
    bool now;
    enum tell_state state = judge(l, i, &now);
    l->last_id = i->id;
    l->seen++;
    if (!now)
        return true;
    if (!l->due)
        l->due = mem_new(sizeof(*l->due));
    l->due->now_ms = l->now_ms;
    l->due->tells[l->due->n++] =
        (struct tell){ .incident_id = i->id, .told = i->told, .state = state };
    return l->due->n < TELLS_MAX;
}

static enum err look(struct teller *t, struct look *l, struct why *why)
{
    const struct store_rules *ops = t->c.reader->ops->rules;
    enum err err = ops->rules_each(t->c.reader, keep_rule, l, why);
    if (!err)
        err = ops->silences_each(t->c.reader, keep_silence, l, why);
    do {
        l->seen = 0;
        if (!err)
            err = ops->incidents_unsettled(t->c.reader, l->last_id, PAGE, look_at, l, why);
    } while (!err && l->seen == PAGE && (!l->due || l->due->n < TELLS_MAX));
    return err;
}

/* Each address of a channel by mail is a target of its own. */
static bool keep_targets(void *ctx, const struct channel_record *r)
{
    struct tells *a = ctx;
    struct settings s;
    struct why why = { "" };
    if (settings_read(r->kind, r->settings, &s, &why)) /* damaged: its sender says so */
        return true;
    if (s.kind->by_mail && s.values.v[CHANNEL_TO])
        a->to[a->nto++] = (struct tell_to){ mem_dup(r->name), mem_dup(s.values.v[CHANNEL_TO]) };
    settings_free(&s);
    return a->nto < CHANNELS_MAX;
}

static enum err targets_read(struct teller *t, struct tells *a, struct why *why)
{
    a->to = mem_new(CHANNELS_MAX * sizeof(*a->to));
    return t->c.reader->ops->alarms->channels_each(t->c.reader, keep_targets, a, why);
}

static enum err tell(struct teller *t, struct look *l, struct why *why)
{
    if (!l->due)
        return OK;
    enum err err = targets_read(t, l->due, why);
    if (err)
        return err;
    err = center_write(t->c.center, &tells_write, l->due, why);
    l->due = NULL; /* the write's */
    if (!err) {
        t->c.told(t->c.arg);
        l->next_ms = l->now_ms; /* there may be more */
    }
    return err;
}

/* How long nothing is to be done. Of several servers the first one alone tells. */
static int work(struct teller *t)
{
    struct why why = { "" };
    int64_t idle_ms = center_shares(t->c.center) ? FOLLOW_MS : IDLE_MS;
    if (!center_first(t->c.center))
        return FOLLOW_MS;
    struct look l = { .now_ms = clock_wall_ms(), .next_ms = INT64_MAX, .reader = t->c.reader };
    l.minute = minute_of_day(t, l.now_ms);
    enum err err = look(t, &l, &why);
    if (!err)
        err = tell(t, &l, &why);
    tells_free(l.due);
    for (int i = 0; i < l.nrules; i++)
        rule_record_done(&l.rules[i]);
    free(l.rules);
    free(l.silences);
    if (err && err != ERR_STOPPING)
        log_warn("alarm", "cannot tell what rules have found, trying again: %s", why.text);
    int64_t wait = err ? AGAIN_MS : l.next_ms - clock_wall_ms();
    return wait < 0 ? 0 : (int)(wait < idle_ms ? wait : idle_ms);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *teller_main(void *arg)
{
    struct teller *t = arg;
    struct list incoming;
    list_init(&incoming);
    for (;;) {
        int wait_ms = work(t);
        if (!mailbox_take(t->in, &incoming)) {
            mailbox_wait(t->in, wait_ms);
            mailbox_take(t->in, &incoming);
        }
        for (struct list_node *n; (n = list_pop(&incoming));) {
            if (container_of(n, struct message, node)->kind == MESSAGE_STOP)
                return NULL;
            t->woken = false;
        }
    }
}

struct teller *teller_new(const struct teller_config *config)
{
    struct teller *t = mem_new(sizeof(*t));
    t->c = *config;
    t->in = mailbox_new();
    t->wake.kind = MESSAGE_WAKE;
    t->stop.kind = MESSAGE_STOP;
    if (thread_start(&t->thread, "peal-teller", 0, teller_main, t))
        abort(); /* no threads at start: nothing can run */
    return t;
}

void teller_wake(struct teller *t)
{
    if (!atomic_exchange(&t->woken, true))
        mailbox_send(t->in, &t->wake);
}

void teller_free(struct teller *t)
{
    if (!t)
        return;
    mailbox_send(t->in, &t->stop);
    pthread_join(t->thread, NULL);
    struct list rest;
    list_init(&rest);
    mailbox_take(t->in, &rest); /* messages that are parts of t */
    mailbox_free(t->in);
    store_close(t->c.reader);
    free(t);
}
