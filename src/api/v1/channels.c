/* SPDX-License-Identifier: Apache-2.0 */
/* Alarm channels as a resource. What a kind's table of fields calls secret is taken and never shown
 * again: not here, not in the audit. Channels of the server's settings are shown along, without an
 * id, and cannot be changed here. */
#include "alarm/alarm.h"
#include "alarm/http.h"
#include "alarm/settings.h"
#include "api/body.h"
#include "api/channels.h"
#include "api/v1/etag.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */

static void write_settings(struct jsonw *w, const struct settings *s)
{
    int n = s->kind ? s->kind->nfields : 0;
    const char *url = s->values.v[CHANNEL_URL];
    char *target = http_url_target(url ? url : s->kind && s->kind->url ? s->kind->url : "");
    jsonw_text(w, "target", target);
    free(target);
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

struct channel_in {
    struct slice name, kind;
    const struct json_t *settings; /* NULL: absent */
    bool enabled;
    int64_t per_minute; /* -1: absent, or null */
};

static const struct body_field new_fields[] = {
    { "name", FIELD_TEXT, offsetof(struct channel_in, name), true, 1, CHANNEL_NAME_MAX },
    { "kind", FIELD_TEXT, offsetof(struct channel_in, kind), true, 1, 30 },
    { "settings", FIELD_OBJECT, offsetof(struct channel_in, settings), true, 0, 0 },
    { "enabled", FIELD_BOOL, offsetof(struct channel_in, enabled), false, 0, 0 },
    { "perMinute", FIELD_I64_OR_NULL, offsetof(struct channel_in, per_minute), false, 1,
      CHANNEL_PER_MINUTE_MAX },
};

static const struct body_field patch_fields[] = {
    /* another kind has other settings: that is another channel */
    { "name", FIELD_TEXT, offsetof(struct channel_in, name), false, 1, CHANNEL_NAME_MAX },
    { "settings", FIELD_OBJECT, offsetof(struct channel_in, settings), false, 0, 0 },
    { "enabled", FIELD_BOOL, offsetof(struct channel_in, enabled), false, 0, 0 },
    { "perMinute", FIELD_I64_OR_NULL, offsetof(struct channel_in, per_minute), false, 1,
      CHANNEL_PER_MINUTE_MAX },
};

static bool name_ok(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f || s.p[i] == ',')
            return false;
    return slice_trim(s).n == s.n && s.n <= CHANNEL_NAME_MAX;
}

static bool name_taken(struct slice s)
{
    for (int i = 0; channel_table[i]; i++)
        if (slice_eq_nocase(s, channel_table[i]->name))
            return true;
    return false;
}

static void read_name(struct slice name, struct channel_record *r, struct problem_errors *errors)
{
    if (!name.p)
        return;
    if (!name_ok(name))
        problem_error(errors, "/name", "channel.name", NULL,
                      "name: must have at most %d bytes, no comma, no control characters, and no "
                      "blanks around it",
                      CHANNEL_NAME_MAX);
    else if (name_taken(name))
        problem_error(errors, "/name", "channel.taken", NULL,
                      "name: is that of a channel of the server's settings");
    free(r->name);
    r->name = mem_dupn(name.p, name.n);
}

static void kind_unknown(struct problem_errors *errors)
{
    struct buf b = BUF_INIT(1000);
    for (int i = 0; kind_table[i]; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", kind_table[i]->name);
    problem_error(errors, "/kind", "word", NULL, "kind: must be one of %s", buf_str(&b));
    buf_done(&b);
}

static const struct channel_field *field_of(const struct channel_kind *k, const char *name)
{
    for (int i = 0; i < k->nfields; i++)
        if (strcmp(k->fields[i].name, name) == 0)
            return &k->fields[i];
    return NULL;
}

/* The members of the body's settings over those that there are; null takes one away. */
static void merge(const struct channel_kind *k, const json_t *in, struct channel_values *v,
                  struct problem_errors *errors)
{
    const char *name;
    json_t *value;
    char pointer[BODY_POINTER_SIZE];
    json_object_foreach((json_t *)in, name, value)
    {
        const struct channel_field *f = field_of(k, name);
        body_pointer("/settings", name, pointer);
        if (!f)
            body_unknown_error(errors, pointer);
        else if (!json_is_string(value) && !json_is_null(value))
            body_type_error(errors, pointer, FIELD_TEXT_OR_NULL);
        else
            v->v[f->value] = json_is_string(value) && json_string_length(value)
                                 ? json_string_value(value)
                                 : NULL;
    }
}

static void check_settings(const struct channel_kind *k, const struct channel_values *v,
                           struct problem_errors *errors)
{
    const char *field = "";
    struct why why = { "" };
    char pointer[BODY_POINTER_SIZE];
    if (!settings_check(k, v, &field, &why))
        return;
    body_pointer("/settings", field, pointer);
    problem_error(errors, pointer, "channel.setting", NULL, "%s: %s", field, why.text);
}

static void read_settings(const json_t *in, struct channel_record *r, struct problem_errors *errors)
{
    struct settings old;
    struct why why = { "" };
    const struct channel_kind *k = kind_of(slice_text(r->kind));
    if (!k) {
        kind_unknown(errors);
        return;
    }
    if (settings_read(r->kind, r->settings ? r->settings : "{}", &old, &why))
        old = (struct settings){ .doc = NULL };
    if (in)
        merge(k, in, &old.values, errors);
    if (!errors->n)
        check_settings(k, &old.values, errors);
    if (!errors->n) {
        char *text = settings_text(k, &old.values);
        free(r->settings);
        r->settings = text;
    }
    settings_free(&old);
}

/* The body over what is in r. False: the call is answered. */
static bool read_channel(struct web_call *call, const struct body_field *fields, size_t n,
                         struct channel_record *r)
{
    struct channel_in in = { .enabled = r->enabled, .per_minute = -1 };
    struct problem_errors errors;
    problem_errors_init(&errors);
    body_fields(call->json, fields, n, &in, &errors);
    read_name(in.name, r, &errors);
    r->enabled = in.enabled;
    if (in.per_minute > 0 || body_has(call->json, "perMinute"))
        r->per_minute = in.per_minute > 0 ? (int)in.per_minute : 0;
    if (in.kind.p && !r->kind)
        r->kind = mem_dupn(in.kind.p, in.kind.n);
    if (r->kind)
        read_settings(in.settings, r, &errors);
    bool good = errors.n == 0;
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
    if (read_channel(call, new_fields, countof(new_fields), &r)) {
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
    if (etag_match(call, tag_of(&r), "the channel") &&
        read_channel(call, patch_fields, countof(patch_fields), &r)) {
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
