/* SPDX-License-Identifier: Apache-2.0 */
/* Alarm channels as a resource. What a kind's table of fields calls secret is taken and never shown
 * again: not here, not in the audit. Channels of the server's settings are shown along, without an
 * id, and cannot be changed here. */
#include "alarm/alarm.h"
#include "alarm/http.h"
#include "alarm/settings.h"
#include "api/body.h"
#include "api/channels.h"
#include "api/v1/channel_json.h"
#include "api/v1/etag.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */

/* The first address, and how many there are behind it. */
static void write_addresses(struct jsonw *w, const char *addresses)
{
    struct slice rest = slice_text(addresses), first = { "", 0 }, one;
    struct buf target = BUF_INIT(8192);
    int n = 0;
    while (slice_item(&rest, &one))
        if (n++ == 0)
            first = one;
    buf_slice(&target, first);
    if (n > 1)
        buf_printf(&target, " +%d", n - 1);
    jsonw_text(w, "target", buf_str(&target));
    buf_done(&target);
}

static void write_target(struct jsonw *w, const struct settings *s)
{
    const char *url = s->values.v[CHANNEL_URL];
    if (s->kind && s->kind->by_mail) {
        write_addresses(w, s->values.v[CHANNEL_TO]);
        return;
    }
    char *target = http_url_target(url ? url : s->kind && s->kind->url ? s->kind->url : "");
    jsonw_text(w, "target", target);
    free(target);
}

static void write_settings(struct jsonw *w, const struct settings *s)
{
    int n = s->kind ? s->kind->nfields : 0;
    write_target(w, s);
    jsonw_object(w, "settings");
    for (int i = 0; i < n; i++)
        if (!s->kind->fields[i].secret && s->values.v[s->kind->fields[i].value])
            jsonw_text(w, s->kind->fields[i].name, s->values.v[s->kind->fields[i].value]);
    jsonw_object_end(w);
    jsonw_array(w, "secrets");
    for (int i = 0; i < n; i++)
        if (s->kind->fields[i].secret && s->values.v[s->kind->fields[i].value])
            jsonw_text(w, NULL, s->kind->fields[i].name);
    jsonw_array_end(w);
}

static void write_limit(struct jsonw *w, int per_minute, int64_t held)
{
    if (per_minute)
        jsonw_i64(w, "perMinute", per_minute);
    else
        jsonw_null(w, "perMinute");
    jsonw_i64(w, "held", held);
}

static int64_t held_of(const struct web_call *call, int64_t id)
{
    return call->config->alarms ? alarms_held(call->config->alarms, id) : 0;
}

static void write_channel(struct jsonw *w, const struct channel_record *r, int64_t held)
{
    struct settings s;
    struct why why = { "" };
    if (settings_read(r->kind, r->settings, &s, &why)) /* damaged: it has none */
        s = (struct settings){ .doc = NULL };
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->id);
    jsonw_text(w, "name", r->name);
    jsonw_text(w, "kind", r->kind);
    jsonw_text(w, "origin", "api");
    jsonw_bool(w, "enabled", r->enabled);
    write_limit(w, r->per_minute, held);
    write_settings(w, &s);
    v1_instant(w, "created", r->created_ms);
    v1_instant(w, "updated", r->updated_ms);
    jsonw_i64(w, "version", r->version);
    jsonw_object_end(w);
    settings_free(&s);
}

/* One of the server's settings. */
static void write_set_up(struct jsonw *w, const char *name)
{
    static const struct settings none;
    jsonw_object(w, NULL);
    jsonw_null(w, "id");
    jsonw_text(w, "name", name);
    jsonw_text(w, "kind", name);
    jsonw_text(w, "origin", "settings");
    jsonw_bool(w, "enabled", true);
    write_limit(w, 0, 0);
    write_settings(w, &none);
    v1_instant_or_null(w, "created", 0);
    v1_instant_or_null(w, "updated", 0);
    jsonw_i64(w, "version", 0);
    jsonw_object_end(w);
}

static struct etag tag_of(const struct channel_record *r)
{
    return (struct etag){ 'c', r->id, r->version };
}

static void answer_channel(struct web_call *call, const struct channel_record *r)
{
    struct jsonw w = jsonw_on(&call->output);
    etag_write(call, tag_of(r));
    write_channel(&w, r, held_of(call, r->id));
}

/* ---- looking --------------------------------------------------------------------------------- */

struct listing {
    const struct web_call *call;
    struct jsonw *w;
};

static bool add_channel(void *ctx, const struct channel_record *r)
{
    struct listing *x = ctx;
    write_channel(x->w, r, held_of(x->call, r->id));
    return true;
}

static int64_t write_all_set_up(struct web_call *call, struct jsonw *w)
{
    int64_t n = 0;
    const char *name;
    bool by_job;
    for (int i = 0; call->config->alarms && alarms_set_up(call->config->alarms, i, &name, &by_job);
         i++) {
        if (!name)
            continue;
        write_set_up(w, name);
        n++;
    }
    return n;
}

static bool count(void *ctx, const struct channel_record *r)
{
    (void)r;
    ++*(int64_t *)ctx;
    return true;
}

/* All of them: there are at most CHANNELS_MAX. */
void v1_channels_list(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct jsonw w = jsonw_on(&call->output);
    struct listing x = { call, &w };
    int64_t total = 0;
    query_begin(&q, call);
    if (!query_end(&q))
        return;
    v1_list_begin(&w);
    int64_t set_up = write_all_set_up(call, &w);
    enum err err = call->db->ops->alarms->channels_each(call->db, add_channel, &x, &why);
    if (!err)
        err = call->db->ops->alarms->channels_each(call->db, count, &total, &why);
    if (err)
        problem_err(call, err, &why);
    else
        v1_list_end(call, &w, NULL, total + set_up, true);
}

/* The channel that the path names. False: the call is answered. */
static bool find(struct web_call *call, struct channel_record *ret)
{
    struct why why = { "" };
    int64_t id = call->params.items[0].number;
    enum err err = call->db->ops->alarms->channel_get(call->db, id, ret, &why);
    if (err)
        problem_err(call, err, &why);
    return !err;
}

void v1_channel_get(struct web_call *call)
{
    struct channel_record r;
    if (!find(call, &r))
        return;
    answer_channel(call, &r);
    channel_record_done(&r);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The body over what is in r. False: the call is answered. */
static bool read_channel(struct web_call *call, bool is_new, struct channel_record *r)
{
    struct problem_errors errors;
    problem_errors_init(&errors);
    bool good = channel_json_read(call->json, is_new, r, &errors);
    if (!good)
        problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
    return good;
}

/* ---- make, change, delete -------------------------------------------------------------------- */

static void changed(struct web_call *call)
{
    if (call->config->alarms)
        alarms_changed(call->config->alarms);
}

static void answer_made(struct web_call *call, int64_t id)
{
    struct channel_record r;
    struct why why = { "" };
    enum err err = call->db->ops->alarms->channel_get(call->db, id, &r, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    v1_created(call, "/alarm-channels", id);
    answer_channel(call, &r);
    channel_record_done(&r);
}

void v1_channel_create(struct web_call *call)
{
    struct why why = { "" };
    int64_t id = 0;
    struct channel_record r = { .enabled = true };
    if (read_channel(call, true, &r)) {
        enum err err = channel_add(call->center, &r, audit_new(call, "channel.create"), &id, &why);
        changed(call);
        if (err)
            problem_err(call, err, &why);
        else
            answer_made(call, id);
    }
    channel_record_done(&r);
}

/* What an edit came to. */
static void answer_edit(struct web_call *call, enum err err, const struct why *why)
{
    struct channel_record now;
    changed(call);
    if (err && err != ERR_OVERTAKEN) {
        problem_err(call, err, why);
    } else if (!err && call->match.row->answer == ANSWER_EMPTY) {
        v1_empty(call);
    } else if (find(call, &now)) {
        if (err)
            etag_changed(call, tag_of(&now), "the channel");
        else
            answer_channel(call, &now);
        channel_record_done(&now);
    }
}

void v1_channel_update(struct web_call *call)
{
    struct channel_record r;
    struct why why = { "" };
    if (!find(call, &r))
        return;
    if (etag_match(call, tag_of(&r), "the channel") && read_channel(call, false, &r)) {
        enum err err = channel_change(call->center, &r, audit_new(call, "channel.update"), &why);
        answer_edit(call, err, &why);
    }
    channel_record_done(&r);
}

void v1_channel_delete(struct web_call *call)
{
    struct channel_record r;
    struct why why = { "" };
    if (!find(call, &r))
        return;
    if (etag_match(call, tag_of(&r), "the channel")) {
        enum err err =
            channel_remove(call->center, r.id, r.version, audit_new(call, "channel.delete"), &why);
        answer_edit(call, err, &why);
    }
    channel_record_done(&r);
}

/* ---- test ------------------------------------------------------------------------------------ */

static void answer_test(struct web_call *call, enum delivery_outcome outcome, int64_t took_ms,
                        const char *said)
{
    static const char *const words[] = {
        [DELIVERY_SENT] = "sent", [DELIVERY_AGAIN] = "failed", [DELIVERY_NEVER] = "refused"
    };
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "outcome", words[outcome]);
    jsonw_slice(&w, "said", slice_of(said, utf8_cut(said, strlen(said), ALARM_SAID_MAX)));
    jsonw_i64(&w, "tookMs", took_ms);
    jsonw_object_end(&w);
}

void v1_channel_test(struct web_call *call)
{
    struct channel_record r;
    struct why said = { "" };
    int64_t took_ms = 0;
    if (!find(call, &r))
        return;
    audit_note(call, "channel.test", r.id, r.name);
    enum delivery_outcome outcome = alarms_try(call->config->alarms, &r, &took_ms, &said);
    answer_test(call, outcome, took_ms, said.text);
    channel_record_done(&r);
}
