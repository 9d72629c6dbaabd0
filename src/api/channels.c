/* SPDX-License-Identifier: Apache-2.0 */
/* channels.c - alarm channels as writes. Each argument is a copy, because an asker that gives up
 * leaves it behind with the writer. */
#include "api/channels.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USERS_NAMED 5 /* rules, in an error */

enum channel_act { ACT_ADD, ACT_CHANGE, ACT_REMOVE };

struct channel_edit { /* counted, because the asker reads the id after it */
    _Atomic int refs;
    enum channel_act act;
    struct channel_record channel;
    int64_t id, now_ms;
    struct audit *audit;
};

static void edit_unref(struct channel_edit *e)
{
    if (atomic_fetch_sub(&e->refs, 1) != 1)
        return;
    channel_record_done(&e->channel);
    audit_free(e->audit);
    free(e);
}

static void edit_over(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    edit_unref(arg);
}

/* ---- in the transaction ---------------------------------------------------------------------- */

static const char *flag(const struct channel_record *r)
{
    return !r ? NULL : r->enabled ? "true" : "false";
}

static void audit_limit(const struct channel_edit *e, const struct channel_record *was,
                        const struct channel_record *now)
{
    char texts[2][24];
    snprintf(texts[0], sizeof(texts[0]), "%d", was ? was->per_minute : 0);
    snprintf(texts[1], sizeof(texts[1]), "%d", now ? now->per_minute : 0);
    audit_json(e->audit, "/perMinute", was ? texts[0] : NULL, now ? texts[1] : NULL);
}

/* was or now NULL: the channel is new, or goes. Of settings only that they have changed. */
static enum err audit_channel(const struct channel_edit *e, struct store *s,
                              const struct channel_record *was, const struct channel_record *now,
                              struct why *why)
{
    const struct channel_record *some = now ? now : was;
    audit_thing(e->audit, some->id, some->name);
    audit_text(e->audit, "/name", was ? was->name : NULL, now ? now->name : NULL);
    audit_text(e->audit, "/kind", was ? was->kind : NULL, now ? now->kind : NULL);
    audit_json(e->audit, "/enabled", flag(was), flag(now));
    audit_limit(e, was, now);
    if (now && (!was || strcmp(was->settings, now->settings) != 0))
        audit_secret(e->audit, "/settings");
    return audit_put(e->audit, s, why);
}

struct others {
    const struct channel_record *channel;
    int n;
    bool same;
};

static bool look(void *ctx, const struct channel_record *r)
{
    struct others *o = ctx;
    o->n++;
    o->same |= r->id != o->channel->id && strcmp(r->name, o->channel->name) == 0;
    return true;
}

static enum err check(struct store *s, const struct channel_record *r, struct why *why)
{
    struct others o = { .channel = r };
    enum err err = s->ops->alarms->channels_each(s, look, &o, why);
    if (!err && o.same) {
        why_set(why, "there is a channel %s", r->name);
        err = ERR_EXISTS;
    } else if (!err && !r->id && o.n >= CHANNELS_MAX) {
        why_set(why, "there are %d channels, and there may be no more", CHANNELS_MAX);
        err = ERR_EXISTS;
    }
    return err;
}

struct users { /* rules that tell a channel */
    const char *channel;
    struct buf names;
    int n;
};

static bool look_at_rule(void *ctx, const struct rule_record *r)
{
    struct users *x = ctx;
    if (!slice_has_item(slice_text(r->channels), slice_text(x->channel)))
        return true;
    if (x->n++ < USERS_NAMED)
        buf_printf(&x->names, "%s%s (%lld)", x->n > 1 ? ", " : "", r->name, (long long)r->id);
    return true;
}

/* Rules name channels: one that is named stays, under its name. */
static enum err unused(struct store *s, const char *channel, struct why *why)
{
    struct users x = { .channel = channel, .names = BUF_INIT(USERS_NAMED * 500) };
    enum err err = s->ops->rules->rules_each(s, look_at_rule, &x, why);
    if (!err && x.n) {
        why_set(why, "%d %s tell%s the channel %s: %s%s", x.n, x.n == 1 ? "rule" : "rules",
                x.n == 1 ? "s" : "", channel, buf_str(&x.names), x.n > USERS_NAMED ? ", …" : "");
        err = ERR_EXISTS;
    }
    buf_done(&x.names);
    return err;
}

static enum err add(struct channel_edit *e, struct store *s, struct why *why)
{
    struct channel_record r = e->channel; /* lent */
    r.version = 1;
    r.created_ms = r.updated_ms = e->now_ms;
    enum err err = check(s, &r, why);
    if (!err)
        err = s->ops->alarms->channel_insert(s, &r, why);
    e->id = r.id;
    return err ? err : audit_channel(e, s, NULL, &r, why);
}

static enum err replace(const struct channel_edit *e, struct store *s,
                        const struct channel_record *was, struct why *why)
{
    struct channel_record r = e->channel; /* lent */
    bool renamed = e->act == ACT_CHANGE && strcmp(was->name, r.name) != 0;
    enum err used = e->act == ACT_REMOVE || renamed ? unused(s, was->name, why) : OK;
    if (used)
        return used;
    if (e->act == ACT_REMOVE) {
        enum err err = s->ops->alarms->channel_delete(s, was->id, why);
        return err ? err : audit_channel(e, s, was, NULL, why);
    }
    r.version++;
    r.created_ms = was->created_ms;
    r.updated_ms = e->now_ms;
    enum err err = check(s, &r, why);
    if (!err)
        err = s->ops->alarms->channel_update(s, &r, why);
    return err ? err : audit_channel(e, s, was, &r, why);
}

static enum err change(const struct channel_edit *e, struct store *s, struct why *why)
{
    struct channel_record was;
    enum err err = store_record_hold(s, STORE_CHANNEL, e->channel.id, why);
    if (!err)
        err = s->ops->alarms->channel_get(s, e->channel.id, &was, why);
    if (err)
        return err;
    if (was.version == e->channel.version) {
        err = replace(e, s, &was, why);
    } else {
        why_set(why, "the channel is at version %lld, the edit was made on %lld",
                (long long)was.version, (long long)e->channel.version);
        err = ERR_OVERTAKEN;
    }
    channel_record_done(&was);
    return err;
}

static enum err edit_run(struct store *s, void *arg, struct why *why)
{
    struct channel_edit *e = arg;
    return e->act == ACT_ADD ? add(e, s, why) : change(e, s, why);
}

static const struct ledger_write edit_write = { edit_run, edit_over };

/* ---- the asker ------------------------------------------------------------------------------- */

struct channel_edit *channel_edit_new(const struct channel_record *channel, struct audit *audit)
{
    struct channel_edit *e = mem_new(sizeof(*e));
    atomic_init(&e->refs, 1);
    e->act = channel->id ? ACT_CHANGE : ACT_ADD;
    channel_record_copy(&e->channel, channel);
    e->now_ms = clock_wall_ms();
    e->audit = audit;
    return e;
}

void channel_edit_free(struct channel_edit *e)
{
    edit_unref(e);
}

enum err channel_edit_run(struct store *s, struct channel_edit *e, struct why *why)
{
    return edit_run(s, e, why);
}

static enum err make(struct center *c, enum channel_act act, const struct channel_record *channel,
                     struct audit *audit, int64_t *ret_id, struct why *why)
{
    struct channel_edit *e = mem_new(sizeof(*e));
    atomic_init(&e->refs, 2);
    e->act = act;
    channel_record_copy(&e->channel, channel);
    e->now_ms = clock_wall_ms();
    e->audit = audit;
    enum err err = center_write(c, &edit_write, e, why);
    if (!err && ret_id)
        *ret_id = e->id;
    edit_unref(e);
    return err;
}

enum err channel_add(struct center *c, const struct channel_record *channel, struct audit *audit,
                     int64_t *ret_id, struct why *why)
{
    return make(c, ACT_ADD, channel, audit, ret_id, why);
}

enum err channel_change(struct center *c, const struct channel_record *channel, struct audit *audit,
                        struct why *why)
{
    return make(c, ACT_CHANGE, channel, audit, NULL, why);
}

enum err channel_remove(struct center *c, int64_t id, int64_t version, struct audit *audit,
                        struct why *why)
{
    const struct channel_record r = { .id = id, .version = version };
    return make(c, ACT_REMOVE, &r, audit, NULL, why);
}
