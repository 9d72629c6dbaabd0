/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - a table of fields says what a kind's settings are; what is not in it does not exist.
 */
#include "alarm/settings.h"
#include <string.h>
#include "alarm/http.h"
#include "base/jsonw.h"
#include "wire/json.h"

static const struct wire_json_rules rules = { .max = SETTINGS_MAX, .depth = 2, .strict = true };

enum err settings_read(const char *kind, const char *text, struct settings *ret, struct why *why)
{
    *ret = (struct settings){ .kind = kind_of(slice_text(kind)) };
    if (!ret->kind) {
        why_set(why, "there is no kind of channels %s", kind);
        return ERR_INVALID;
    }
    enum err err = wire_json_read(slice_text(text), &rules, "settings", &ret->doc, why);
    for (int i = 0; !err && i < ret->kind->nfields; i++) {
        const struct channel_field *f = &ret->kind->fields[i];
        struct slice value = { NULL, 0 };
        err = wire_json_text(ret->doc, f->name, &value, why);
        ret->values.v[f->value] = value.n ? value.p : NULL;
    }
    if (err)
        settings_free(ret);
    return err;
}

enum err settings_check(const struct channel_kind *k, const struct channel_values *v,
                        const char **field, struct why *why)
{
    for (int i = 0; i < k->nfields; i++) {
        const struct channel_field *f = &k->fields[i];
        const char *value = v->v[f->value];
        *field = f->name;
        if (!value && f->required) {
            why_set(why, "a channel of the kind %s needs it", k->name);
            return ERR_INVALID;
        }
        if (value && strlen(value) > (size_t)f->max) {
            why_set(why, "must have at most %d bytes", f->max);
            return ERR_INVALID;
        }
        if (value && f->value == CHANNEL_URL && http_url_check("it", value, why))
            return ERR_INVALID;
    }
    return k->check ? k->check(v, field, why) : OK;
}

char *settings_text(const struct channel_kind *k, const struct channel_values *v)
{
    struct buf b = BUF_INIT(6 * SETTINGS_MAX);
    struct jsonw w = jsonw_on(&b);
    jsonw_object(&w, NULL);
    for (int i = 0; i < k->nfields; i++)
        if (v->v[k->fields[i].value])
            jsonw_text(&w, k->fields[i].name, v->v[k->fields[i].value]);
    jsonw_object_end(&w);
    return buf_take(&b);
}

void settings_free(struct settings *s)
{
    wire_json_free(s->doc);
    *s = (struct settings){ .doc = NULL };
}
