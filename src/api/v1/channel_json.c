/* SPDX-License-Identifier: Apache-2.0 */
/* A channel's members from JSON: what there is stays where the body does not say. */
#include "api/v1/channel_json.h"
#include "alarm/alarm.h"
#include "alarm/settings.h"
#include "api/body.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int before = errors->n;
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
    if (errors->n == before)
        check_settings(k, &old.values, errors);
    if (errors->n == before) {
        char *text = settings_text(k, &old.values);
        free(r->settings);
        r->settings = text;
    }
    settings_free(&old);
}

bool channel_json_read(const json_t *body, bool is_new, struct channel_record *r,
                       struct problem_errors *errors)
{
    struct channel_in in = { .enabled = r->enabled, .per_minute = -1 };
    int before = errors->n;
    if (is_new)
        body_fields(body, new_fields, countof(new_fields), &in, errors);
    else
        body_fields(body, patch_fields, countof(patch_fields), &in, errors);
    read_name(in.name, r, errors);
    r->enabled = in.enabled;
    if (in.per_minute > 0 || body_has(body, "perMinute"))
        r->per_minute = in.per_minute > 0 ? (int)in.per_minute : 0;
    if (in.kind.p && !r->kind)
        r->kind = mem_dupn(in.kind.p, in.kind.n);
    if (r->kind)
        read_settings(in.settings, r, errors);
    return errors->n == before;
}
