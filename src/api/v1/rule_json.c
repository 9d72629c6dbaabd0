/* SPDX-License-Identifier: Apache-2.0 */
/* A rule's members, from and to JSON. What lies outside of the rule (its channels, its job) is
 * looked at by those who read it. */
#include "api/v1/rule_json.h"
#include "api/body.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX ((INT64_C(1) << 53) - 1)

/* ---- writing --------------------------------------------------------------------------------- */

static void number_or_null(struct jsonw *w, const char *key, int64_t v)
{
    if (v > 0)
        jsonw_i64(w, key, v);
    else
        jsonw_null(w, key);
}

static void write_minute(struct jsonw *w, const char *key, int minute)
{
    char text[16];
    snprintf(text, sizeof(text), "%02d:%02d", minute / 60, minute % 60);
    jsonw_text(w, key, text);
}

static void write_quiet(struct jsonw *w, const struct rule_record *r)
{
    if (r->quiet_from < 0) {
        jsonw_null(w, "quiet");
        return;
    }
    jsonw_object(w, "quiet");
    write_minute(w, "from", r->quiet_from);
    write_minute(w, "to", r->quiet_to);
    jsonw_object_end(w);
}

void rule_json_write(struct jsonw *w, const struct rule_record *r)
{
    struct slice rest = slice_text(r->channels), one;
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->id);
    jsonw_text(w, "name", r->name);
    jsonw_text(w, "kind", rule_kind_text(r->kind));
    jsonw_text(w, "level", rule_level_text(r->level));
    number_or_null(w, "groupId", r->group_id);
    number_or_null(w, "jobId", r->job_id);
    number_or_null(w, "inARow", r->in_a_row);
    number_or_null(w, "longerMs", r->longer_ms);
    jsonw_array(w, "channels");
    while (slice_item(&rest, &one))
        jsonw_slice(w, NULL, one);
    jsonw_array_end(w);
    write_quiet(w, r);
    number_or_null(w, "repeatMs", r->repeat_ms);
    jsonw_bool(w, "enabled", r->enabled);
    v1_instant(w, "created", r->created_ms);
    v1_instant(w, "updated", r->updated_ms);
    jsonw_i64(w, "version", r->version);
    jsonw_object_end(w);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct rule_in {
    struct slice name;
    struct body_word kind, level;
    int64_t group_id, job_id, in_a_row, longer_ms, repeat_ms; /* -1: absent */
    struct body_texts channels;
    const struct json_t *quiet; /* NULL: absent */
    bool enabled;
};

#define RULE_FIELDS(new)                                                                            \
    { "name", FIELD_TEXT, offsetof(struct rule_in, name), new, 1, RULE_NAME_MAX },                  \
        { "kind", FIELD_WORD, offsetof(struct rule_in, kind), new, 0, 0 },                          \
        { "level", FIELD_WORD, offsetof(struct rule_in, level), false, 0, 0 },                      \
        { "groupId", FIELD_I64_OR_NULL, offsetof(struct rule_in, group_id), false, 1, ID_MAX },     \
        { "jobId", FIELD_I64_OR_NULL, offsetof(struct rule_in, job_id), false, 1, ID_MAX },         \
        { "inARow", FIELD_I64_OR_NULL, offsetof(struct rule_in, in_a_row), false,                   \
          1,        RULE_IN_A_ROW_MAX },                                                            \
        { "longerMs", FIELD_I64_OR_NULL,  offsetof(struct rule_in, longer_ms),                      \
          false,      RULE_LONGER_MIN_MS, RULE_LONGER_MAX_MS },                                     \
        { "channels", FIELD_TEXTS, offsetof(struct rule_in, channels), new, 1, RULE_CHANNELS_MAX }, \
        { "quiet", FIELD_ANY, offsetof(struct rule_in, quiet), false, 0, 0 },                       \
        { "repeatMs", FIELD_I64_OR_NULL,  offsetof(struct rule_in, repeat_ms),                      \
          false,      RULE_REPEAT_MIN_MS, RULE_REPEAT_MAX_MS },                                     \
    {                                                                                               \
        "enabled", FIELD_BOOL, offsetof(struct rule_in, enabled), false, 0, 0                       \
    }

static const struct body_field new_fields[] = { RULE_FIELDS(true) };
static const struct body_field patch_fields[] = { RULE_FIELDS(false) };

/* A member that is null stands for none; one that is absent leaves what there is. */
static void put_number(const json_t *body, const char *name, int64_t v, int64_t *to)
{
    if (v >= 0)
        *to = v;
    else if (body_has(body, name))
        *to = 0;
}

static bool control_in(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static void read_channels(const struct body_texts *in, struct rule_record *r,
                          struct problem_errors *errors)
{
    struct buf b = BUF_INIT((RULE_CHANNELS_MAX + 1) * 4 * (RULE_CHANNEL_MAX + 1));
    if (!in->array)
        return;
    for (size_t i = 0; i < in->n; i++) {
        struct slice name = body_text(in, i);
        bool bad = memchr(name.p, ',', name.n) || control_in(name) ||
                   slice_trim(name).n != name.n || name.n > RULE_CHANNEL_MAX;
        if (bad)
            problem_error(errors, "/channels", "channel.name", NULL,
                          "channels: %.*s: the name of a channel has at most %d bytes, no comma, "
                          "no control characters, and no blanks around it",
                          (int)utf8_cut(name.p, name.n, 40), name.p, RULE_CHANNEL_MAX);
        if (slice_has_item(slice_of(b.data, b.len), name))
            problem_error(errors, "/channels", "list.unique", NULL, "channels: %.*s comes twice",
                          (int)utf8_cut(name.p, name.n, 40), name.p);
        buf_printf(&b, "%s%.*s", i ? "," : "", (int)name.n, name.p);
    }
    free(r->channels);
    r->channels = buf_take(&b);
}

/* "22:30". False: it is no time of day. */
static bool read_minute(const json_t *v, int *ret)
{
    const char *s = json_is_string(v) ? json_string_value(v) : "";
    int hour, minute;
    if (strlen(s) != 5 || s[2] != ':' || !parse_int(slice_of(s, 2), &hour) ||
        !parse_int(slice_of(s + 3, 2), &minute) || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59)
        return false;
    *ret = hour * 60 + minute;
    return true;
}

static void read_quiet(const struct json_t *v, struct rule_record *r, struct problem_errors *errors)
{
    r->quiet_from = r->quiet_to = -1;
    if (json_is_null(v))
        return;
    if (!json_is_object(v) || json_object_size(v) != 2 ||
        !read_minute(json_object_get(v, "from"), &r->quiet_from) ||
        !read_minute(json_object_get(v, "to"), &r->quiet_to))
        problem_error(
            errors, "/quiet", "rule.quiet", NULL,
            "quiet: must be null, or an object of from and to, times of day as \"22:30\"");
    else if (r->quiet_from == r->quiet_to)
        problem_error(errors, "/quiet", "rule.quiet", NULL,
                      "quiet: from and to must differ; enabled: false turns a rule off");
}

void rule_json_kind(struct rule_record *r, struct problem_errors *errors)
{
    if (r->kind == RULE_FAILED && !r->in_a_row)
        r->in_a_row = 1;
    if (r->kind != RULE_FAILED && r->in_a_row)
        problem_error(errors, "/inARow", "rule.kind", NULL,
                      "inARow: is only for rules of the kind failed");
    bool limit = r->kind == RULE_SLOW || r->kind == RULE_LATE;
    if (limit && !r->longer_ms)
        problem_error(errors, "/longerMs", "required", NULL,
                      "longerMs: a rule of the kind %s needs it", rule_kind_text(r->kind));
    if (!limit && !rule_watches(r->kind) && r->longer_ms)
        problem_error(errors, "/longerMs", "rule.kind", NULL,
                      "longerMs: is not for rules of the kind %s", rule_kind_text(r->kind));
    if (rule_watches(r->kind) && r->kind != RULE_LATE && r->job_id)
        problem_error(errors, "/jobId", "rule.kind", NULL, "jobId: is not for rules of the kind %s",
                      rule_kind_text(r->kind));
    if (r->kind == RULE_CENTER && r->group_id)
        problem_error(errors, "/groupId", "rule.kind", NULL,
                      "groupId: is not for rules of the kind center");
}

static void put(const json_t *body, const struct rule_in *in, struct rule_record *r,
                struct problem_errors *errors)
{
    if (in->name.p) {
        free(r->name);
        r->name = mem_dupn(in->name.p, in->name.n);
        if (control_in(in->name))
            problem_error(errors, "/name", "text.control", NULL,
                          "name: must have no control characters");
    }
    if (in->kind.text.p)
        (void)!rule_kind_of(in->kind.text, &r->kind);
    if (in->level.text.p)
        (void)!rule_level_of(in->level.text, &r->level);
    put_number(body, "groupId", in->group_id, &r->group_id);
    put_number(body, "jobId", in->job_id, &r->job_id);
    int64_t in_a_row = r->in_a_row;
    put_number(body, "inARow", in->in_a_row, &in_a_row);
    r->in_a_row = (int)in_a_row;
    put_number(body, "longerMs", in->longer_ms, &r->longer_ms);
    put_number(body, "repeatMs", in->repeat_ms, &r->repeat_ms);
    read_channels(&in->channels, r, errors);
    if (in->quiet)
        read_quiet(in->quiet, r, errors);
    r->enabled = in->enabled;
}

bool rule_json_read(const json_t *body, bool is_new, struct rule_record *r,
                    struct problem_errors *errors)
{
    struct rule_in in = { .kind = { .words =
                                        "failed,recovered,slow,stopped,late,empty,gone,center" },
                          .level = { .words = "info,warning,critical" },
                          .group_id = -1,
                          .job_id = -1,
                          .in_a_row = -1,
                          .longer_ms = -1,
                          .repeat_ms = -1,
                          .enabled = r->enabled };
    int before = errors->n;
    body_fields(body, is_new ? new_fields : patch_fields, countof(new_fields), &in, errors);
    put(body, &in, r, errors);
    return errors->n == before;
}
