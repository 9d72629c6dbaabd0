/* SPDX-License-Identifier: Apache-2.0 */
/* Every member is read before the answer: a refused request names all bad members at once. A member
 * that breaks its rule leaves its place in the struct as it was. */
#include "api/body.h"
#include "api/front.h"
#include "base/map.h"
#include "base/mem.h"
#include "wire/catalog.h"
#include "wire/json.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 16
#define ID_MAX ((int64_t)9007199254740991) /* what JSON's readers hold exactly */

static enum err parse(struct slice text, const struct wire_json_rules *rules, struct json_t **ret,
                      struct why *why)
{
    json_t *doc;
    enum err err = wire_json_read(text, rules, "body", &doc, why);
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

enum err body_parse(struct slice text, struct json_t **ret, struct why *why)
{
    static const struct wire_json_rules rules = { .max = WEB_BODY_MAX,
                                                  .depth = DEPTH,
                                                  .strict = true };
    return parse(text, &rules, ret, why);
}

enum err body_parse_file(struct slice text, struct json_t **ret, struct why *why)
{
    static const struct wire_json_rules rules = {
        .max = CATALOG_BYTES_MAX, .depth = DEPTH, .strict = true, .values = CATALOG_VALUES_MAX
    };
    return parse(text, &rules, ret, why);
}

/* ---- one member ---------------------------------------------------------------------------------
 */

void body_pointer(const char *parent, const char *name, char to[BODY_POINTER_SIZE])
{
    struct buf b = BUF_INIT(BODY_POINTER_SIZE - 1);
    buf_text(&b, parent);
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
    snprintf(to, BODY_POINTER_SIZE, "%s", buf_str(&b));
    buf_done(&b);
}

static int64_t characters(struct slice s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

void body_type_error(struct problem_errors *errors, const char *pointer, enum field_type type)
{
    static const struct {
        const char *rule, *what;
    } types[] = {
        [FIELD_TEXT] = { "type.text", "text" },
        [FIELD_I64] = { "type.integer", "a whole number" },
        [FIELD_BOOL] = { "type.boolean", "true or false" },
        [FIELD_TEXT_OR_NULL] = { "type.text", "text or null" },
        [FIELD_I64_OR_NULL] = { "type.integer", "a whole number or null" },
        [FIELD_WORD] = { "type.text", "text" },
        [FIELD_IDS] = { "type.ids", "an array of ids" },
        [FIELD_TEXTS] = { "type.texts", "an array of texts" },
        [FIELD_OBJECT] = { "type.object", "an object" },
        [FIELD_REAL] = { "type.number", "a number" },
    };
    problem_error(errors, pointer, types[type].rule, NULL, "%s: must be %s", pointer + 1,
                  types[type].what);
}

void body_unknown_error(struct problem_errors *errors, const char *pointer)
{
    problem_error(errors, pointer, "unknown", NULL, "%s: there is no such member", pointer + 1);
}

void body_missing_error(struct problem_errors *errors, const char *pointer)
{
    problem_error(errors, pointer, "required", NULL, "%s: is missing", pointer + 1);
}

struct member { /* that is being read */
    const json_t *value;
    const struct body_field *field;
    char pointer[BODY_POINTER_SIZE];
    struct problem_errors *errors;
};

static void type_error(const struct member *m)
{
    body_type_error(m->errors, m->pointer, m->field->type);
}

static void range_error(const struct member *m, const char *rule, const char *verb,
                        const char *unit)
{
    const struct problem_limits limits = { m->field->min, m->field->max };
    problem_error(m->errors, m->pointer, rule, &limits, "%s: must %s %lld to %lld%s",
                  m->pointer + 1, verb, (long long)limits.min, (long long)limits.max, unit);
}

static bool in_range(const struct member *m, int64_t n)
{
    return n >= m->field->min && n <= m->field->max;
}

static struct slice text_of(const json_t *v)
{
    return slice_of(json_string_value(v), json_string_length(v));
}

static void read_text(const struct member *m, struct slice *to)
{
    if (!json_is_string(m->value))
        type_error(m);
    else if (!in_range(m, characters(text_of(m->value))))
        range_error(m, "text.length", "have", " characters");
    else
        *to = text_of(m->value);
}

static void read_i64(const struct member *m, int64_t *to)
{
    if (!json_is_integer(m->value))
        type_error(m);
    else if (!in_range(m, json_integer_value(m->value)))
        range_error(m, "number.range", "be from", "");
    else
        *to = json_integer_value(m->value);
}

static void read_bool(const struct member *m, bool *to)
{
    if (json_is_boolean(m->value))
        *to = json_is_true(m->value);
    else
        type_error(m);
}

static void read_word(const struct member *m, struct body_word *to)
{
    struct slice rest = slice_text(to->words), word;
    if (!json_is_string(m->value)) {
        type_error(m);
        return;
    }
    while (slice_cut(&rest, ',', &word))
        if (word.n == text_of(m->value).n && !memcmp(word.p, json_string_value(m->value), word.n)) {
            to->text = text_of(m->value);
            return;
        }
    problem_error(m->errors, m->pointer, "word", NULL, "%s: must be one of %s", m->pointer + 1,
                  to->words);
}

/* ---- arrays ------------------------------------------------------------------------------------
 */

int64_t body_id(const struct body_ids *ids, size_t i)
{
    return json_integer_value(json_array_get(ids->array, i));
}

struct slice body_text(const struct body_texts *texts, size_t i)
{
    return text_of(json_array_get(texts->array, i));
}

static bool is_id(const json_t *v)
{
    return json_is_integer(v) && json_integer_value(v) > 0 && json_integer_value(v) <= ID_MAX;
}

static bool is_item(const json_t *v)
{
    int64_t n = json_is_string(v) ? characters(text_of(v)) : 0;
    return n > 0 && n <= FIELD_TEXT_MAX;
}

static bool twice(const json_t *array)
{
    struct map seen;
    bool found = false;
    map_init(&seen);
    for (size_t i = 0; !found && i < json_array_size(array); i++) {
        uint64_t id = (uint64_t)json_integer_value(json_array_get(array, i));
        found = map_find(&seen, id) != NULL;
        map_set(&seen, id, &seen);
    }
    map_done(&seen);
    return found;
}

/* An array of as many elements as allowed, all of which are good. */
static bool read_array(const struct member *m, bool (*good)(const json_t *v))
{
    const json_t *array = m->value;
    if (!json_is_array(array)) {
        type_error(m);
        return false;
    }
    if (!in_range(m, (int64_t)json_array_size(array))) {
        range_error(m, "array.length", "have", " elements");
        return false;
    }
    size_t bad = 0;
    while (bad < json_array_size(array) && good(json_array_get(array, bad)))
        bad++;
    if (bad == json_array_size(array))
        return true;
    char pointer[BODY_POINTER_SIZE], name[24];
    snprintf(name, sizeof(name), "%zu", bad);
    body_pointer(m->pointer, name, pointer);
    problem_error(m->errors, pointer, good == is_id ? "id" : "text.length", NULL, "%s: must be %s",
                  pointer + 1,
                  good == is_id ? "an id of a row"
                                : "text of 1 to " TEXT_OF(FIELD_TEXT_MAX) " characters");
    return false;
}

static void read_ids(const struct member *m, struct body_ids *to)
{
    if (!read_array(m, is_id))
        return;
    if (twice(m->value))
        problem_error(m->errors, m->pointer, "array.unique", NULL, "%s: an id stands there twice",
                      m->pointer + 1);
    else
        *to = (struct body_ids){ m->value, json_array_size(m->value) };
}

static void read_texts(const struct member *m, struct body_texts *to)
{
    if (read_array(m, is_item))
        *to = (struct body_texts){ m->value, json_array_size(m->value) };
}

static void read_object(const struct member *m, const json_t **to)
{
    if (json_is_object(m->value))
        *to = m->value;
    else
        type_error(m);
}

/* ---- all members --------------------------------------------------------------------------------
 */

static void read_member(const struct member *m, void *to)
{
    switch (m->field->type) {
    case FIELD_TEXT:
    case FIELD_TEXT_OR_NULL:
        read_text(m, to);
        break;
    case FIELD_I64:
    case FIELD_I64_OR_NULL:
        read_i64(m, to);
        break;
    case FIELD_BOOL:
        read_bool(m, to);
        break;
    case FIELD_WORD:
        read_word(m, to);
        break;
    case FIELD_IDS:
        read_ids(m, to);
        break;
    case FIELD_TEXTS:
        read_texts(m, to);
        break;
    case FIELD_OBJECT:
        read_object(m, to);
        break;
    case FIELD_ANY:
        *(const json_t **)to = m->value;
        break;
    case FIELD_REAL: /* no table has one */
        break;
    }
}

static bool nullable(const struct body_field *f)
{
    return f->type == FIELD_TEXT_OR_NULL || f->type == FIELD_I64_OR_NULL;
}

static bool known(const struct body_field *fields, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(fields[i].name, name) == 0)
            return true;
    return false;
}

bool body_has(const struct json_t *object, const char *name)
{
    return json_object_get(object, name) != NULL;
}

bool body_value(const char *pointer, const struct json_t *value, const struct body_field *field,
                void *to, struct problem_errors *errors)
{
    struct member m = { .value = value, .field = field, .errors = errors };
    int before = errors->n;
    text_copy(m.pointer, sizeof(m.pointer), slice_text(pointer));
    read_member(&m, (char *)to + field->at);
    return errors->n == before;
}

void body_fields_at(const char *pointer, const struct json_t *object,
                    const struct body_field *fields, size_t n, void *to,
                    struct problem_errors *errors)
{
    struct member m = { .errors = errors };
    for (m.field = fields; m.field < fields + n; m.field++) {
        m.value = json_object_get(object, m.field->name);
        body_pointer(pointer, m.field->name, m.pointer);
        if (json_is_null(m.value) && nullable(m.field))
            m.value = NULL;
        if (m.value)
            read_member(&m, (char *)to + m.field->at);
        else if (m.field->required)
            body_missing_error(errors, m.pointer);
    }
    for (void *i = json_object_iter((json_t *)object); i;
         i = json_object_iter_next((json_t *)object, i)) {
        const char *name = json_object_iter_key(i);
        if (known(fields, n, name))
            continue;
        body_pointer(pointer, name, m.pointer);
        body_unknown_error(errors, m.pointer);
    }
}

void body_fields(const struct json_t *object, const struct body_field *fields, size_t n, void *to,
                 struct problem_errors *errors)
{
    body_fields_at("", object, fields, n, to, errors);
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
