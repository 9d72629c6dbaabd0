/* SPDX-License-Identifier: Apache-2.0 */
/* Every member is read before the answer: a refused request names all bad members at once. A member
 * that breaks its rule leaves its place in the struct as it was. */
#include "api/body.h"
#include "api/front.h"
#include "base/mem.h"
#include "wire/json.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 16
#define POINTER_SIZE 300

enum err body_parse(struct slice text, struct json_t **ret, struct why *why)
{
    static const struct wire_json_rules rules = { .max = WEB_BODY_MAX,
                                                  .depth = DEPTH,
                                                  .strict = true };
    json_t *doc;
    enum err err = wire_json_read(text, &rules, "body", &doc, why);
    if (err)
        return err;
    if (!json_is_object(doc)) {
        wire_json_free(doc);
        why_set(why, "body must be a JSON object");
        return ERR_INVALID;
    }
    *ret = doc;
    return OK;
}

/* ---- one member ---------------------------------------------------------------------------------
 */

/* The JSON pointer of a member of the body. A long name is cut. */
static void pointer_to(const char *name, char to[POINTER_SIZE])
{
    struct buf b = BUF_INIT(POINTER_SIZE - 1);
    buf_char(&b, '/');
    size_t n = utf8_cut(name, strlen(name), 100);
    for (size_t i = 0; i < n; i++) {
        if (name[i] == '~')
            buf_text(&b, "~0");
        else if (name[i] == '/')
            buf_text(&b, "~1");
        else
            buf_char(&b, name[i]);
    }
    snprintf(to, POINTER_SIZE, "%s", buf_str(&b));
    buf_done(&b);
}

static int64_t characters(struct slice s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static void type_error(struct problem_errors *errors, const struct body_field *f)
{
    static const struct {
        const char *rule, *what;
    } types[] = {
        [FIELD_TEXT] = { "type.text", "text" },
        [FIELD_I64] = { "type.integer", "a whole number" },
        [FIELD_BOOL] = { "type.boolean", "true or false" },
    };
    char pointer[POINTER_SIZE];
    pointer_to(f->name, pointer);
    problem_error(errors, pointer, types[f->type].rule, NULL, "%s: must be %s", f->name,
                  types[f->type].what);
}

static void range_error(struct problem_errors *errors, const struct body_field *f)
{
    const struct problem_limits limits = { f->min, f->max };
    char pointer[POINTER_SIZE];
    bool text = f->type == FIELD_TEXT;
    pointer_to(f->name, pointer);
    problem_error(errors, pointer, text ? "text.length" : "number.range", &limits,
                  "%s: must %s %lld to %lld%s", f->name, text ? "have" : "be from",
                  (long long)f->min, (long long)f->max, text ? " characters" : "");
}

static void read_text(const json_t *v, const struct body_field *f, struct slice *to,
                      struct problem_errors *errors)
{
    struct slice text = slice_of(json_string_value(v), json_string_length(v));
    int64_t n = json_is_string(v) ? characters(text) : 0;
    if (!json_is_string(v))
        type_error(errors, f);
    else if (n < f->min || n > f->max)
        range_error(errors, f);
    else
        *to = text;
}

static void read_i64(const json_t *v, const struct body_field *f, int64_t *to,
                     struct problem_errors *errors)
{
    int64_t n = json_integer_value(v);
    if (!json_is_integer(v))
        type_error(errors, f);
    else if (n < f->min || n > f->max)
        range_error(errors, f);
    else
        *to = n;
}

static void read_member(const json_t *v, const struct body_field *f, char *to,
                        struct problem_errors *errors)
{
    switch (f->type) {
    case FIELD_TEXT:
        read_text(v, f, (struct slice *)(void *)(to + f->at), errors);
        break;
    case FIELD_I64:
        read_i64(v, f, (int64_t *)(void *)(to + f->at), errors);
        break;
    case FIELD_BOOL:
        if (json_is_boolean(v))
            *(bool *)(to + f->at) = json_is_true(v);
        else
            type_error(errors, f);
        break;
    }
}

/* ---- all members --------------------------------------------------------------------------------
 */

static bool known(const struct body_field *fields, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(fields[i].name, name) == 0)
            return true;
    return false;
}

void body_fields(const struct json_t *object, const struct body_field *fields, size_t n, void *to,
                 struct problem_errors *errors)
{
    char pointer[POINTER_SIZE];
    for (const struct body_field *f = fields; f < fields + n; f++) {
        const json_t *v = json_object_get(object, f->name);
        if (v) {
            read_member(v, f, to, errors);
        } else if (f->required) {
            pointer_to(f->name, pointer);
            problem_error(errors, pointer, "required", NULL, "%s: is missing", f->name);
        }
    }
    for (void *i = json_object_iter((json_t *)object); i;
         i = json_object_iter_next((json_t *)object, i)) {
        const char *name = json_object_iter_key(i);
        if (known(fields, n, name))
            continue;
        pointer_to(name, pointer);
        problem_error(errors, pointer, "unknown", NULL, "%s: there is no such member", pointer + 1);
    }
}

bool body_read(struct web_call *call, const struct body_field *fields, size_t n, void *to)
{
    struct problem_errors errors;
    problem_errors_init(&errors);
    body_fields(call->json, fields, n, to, &errors);
    bool good = errors.n == 0;
    if (!good)
        problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
    return good;
}
