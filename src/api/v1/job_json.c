/* SPDX-License-Identifier: Apache-2.0 */
/* The body is walked member by member: a pointer that is a column's is read by the column's type,
 * one that columns lie below is an object, any other is unknown. Limits are the rules' business,
 * types are told here. */
#include "api/v1/job_json.h"
#include "api/body.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define EMAILS_MAX 20
#define CHILDREN_MAX 40
#define SCRIPT_MAX 1048576 /* characters */

struct reading {
    struct job_in in;
    const struct job_rules *rules;
    struct problem_errors *errors;
    struct why *why;
};

/* ---- which member it is ------------------------------------------------------------------------
 */

static const struct job_column *column_of(const char *pointer)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->json && strcmp(c->json, pointer) == 0)
            return c;
    return NULL;
}

/* A client that gives back the whole task names its kind, which stays. */
static bool known(const struct reading *x, const struct job_column *c)
{
    return c && (job_takes(&x->in, c) || c == JOB_COLUMN_OF(glue_type));
}

static bool is_below(const struct job_column *c, const char *pointer, size_t n)
{
    return c->json && strncmp(c->json, pointer, n) == 0 && c->json[n] == '/';
}

static bool holds_columns(const struct reading *x, const char *pointer)
{
    size_t n = strlen(pointer);
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (known(x, c) && is_below(c, pointer, n))
            return true;
    return false;
}

/* ---- faults -------------------------------------------------------------------------------------
 */

static void type_fault(struct reading *x, const struct job_column *c, enum field_type type)
{
    x->in.told |= job_bit(c);
    body_type_error(x->errors, c->json, type);
}

static bool add_fault(void *ctx, const struct job_fault *fault)
{
    const struct problem_limits limits = { fault->min, fault->max };
    problem_error(ctx, fault->column->json, fault->rule, fault->limits ? &limits : NULL, "%s: %s",
                  fault->column->json + 1, fault->text);
    return true;
}

/* ---- values ------------------------------------------------------------------------------------
 */

static void set_text(struct reading *x, const struct job_column *c, char *text)
{
    char **to = job_text(x->in.r, c);
    free(*to);
    *to = text;
}

static char *trimmed(const json_t *v)
{
    struct slice s = slice_trim(slice_of(json_string_value(v), json_string_length(v)));
    return mem_dupn(s.p, s.n);
}

static void script_length(struct reading *x, const struct job_column *c)
{
    const struct problem_limits limits = { 0, SCRIPT_MAX };
    const char *text = *job_text(x->in.r, c);
    if (utf8_units(text, strlen(text)) <= SCRIPT_MAX)
        return;
    x->in.told |= job_bit(c);
    problem_error(x->errors, c->json, "text.length", &limits, "%s: at most %d characters",
                  c->json + 1, SCRIPT_MAX);
}

static void read_text(struct reading *x, const struct job_column *c, const json_t *v)
{
    if (!json_is_string(v)) {
        type_fault(x, c, FIELD_TEXT);
        return;
    }
    set_text(x, c, c->type == JOB_TEXT ? trimmed(v) : mem_dup(json_string_value(v)));
    if (c == JOB_COLUMN_OF(glue_source))
        script_length(x, c);
}

/* The kind of a job stays what it is: its script and its versions are of that kind. */
static void read_word(struct reading *x, const struct job_column *c, const json_t *v)
{
    const char *now = *job_text(x->in.r, c);
    if (!json_is_string(v)) {
        type_fault(x, c, FIELD_WORD);
    } else if (job_takes(&x->in, c)) {
        set_text(x, c, mem_dup(json_string_value(v)));
    } else if (strcmp(json_string_value(v), now ? now : "") != 0) {
        x->in.told |= job_bit(c);
        problem_error(x->errors, c->json, "fixed", NULL, "%s: cannot be changed", c->json + 1);
    }
}

static void read_integer(struct reading *x, const struct job_column *c, const json_t *v)
{
    if (json_is_integer(v))
        x->in.numbers[c - job_columns] = json_integer_value(v);
    else
        type_fault(x, c, FIELD_I64);
}

static void read_flag(struct reading *x, const struct job_column *c, const json_t *v)
{
    if (json_is_boolean(v))
        x->in.numbers[c - job_columns] = json_is_true(v);
    else
        type_fault(x, c, FIELD_BOOL);
}

static void read_real(struct reading *x, const struct job_column *c, const json_t *v)
{
    if (json_is_number(v))
        x->in.reals[c - job_columns] = json_number_value(v);
    else
        type_fault(x, c, FIELD_REAL);
}

/* ---- lists: arrays here, text with commas in the row -------------------------------------------
 */

static const struct body_field children_field = {
    "children", FIELD_IDS, 0, false, 0, CHILDREN_MAX
};
static const struct body_field emails_field = {
    "alarmEmails", FIELD_TEXTS, 0, false, 0, EMAILS_MAX
};

static bool read_list(struct reading *x, const struct job_column *c, const struct body_field *field,
                      const json_t *v, void *ret)
{
    bool good = body_value(c->json, v, field, ret, x->errors);
    if (!good)
        x->in.told |= job_bit(c);
    return good;
}

static void read_children(struct reading *x, const struct job_column *c, const json_t *v)
{
    struct body_ids ids = { NULL, 0 };
    struct buf list = BUF_INIT(1024);
    if (!read_list(x, c, &children_field, v, &ids))
        return;
    for (size_t i = 0; i < ids.n; i++)
        buf_printf(&list, "%s%lld", i ? "," : "", (long long)body_id(&ids, i));
    set_text(x, c, mem_dup(buf_str(&list)));
    buf_done(&list);
}

static void read_emails(struct reading *x, const struct job_column *c, const json_t *v)
{
    struct body_texts texts = { NULL, 0 };
    struct buf list = BUF_INIT(65536);
    bool commas = false, controls = false;
    if (!read_list(x, c, &emails_field, v, &texts))
        return;
    for (size_t i = 0; i < texts.n; i++) {
        struct slice one = body_text(&texts, i);
        commas |= memchr(one.p, ',', one.n) != NULL;
        for (size_t k = 0; k < one.n; k++)
            controls |= (unsigned char)one.p[k] < 0x20 || one.p[k] == 0x7F;
        buf_text(&list, i ? "," : "");
        buf_slice(&list, one);
    }
    set_text(x, c, mem_dup(buf_str(&list)));
    buf_done(&list);
    if (!commas && !controls)
        return;
    x->in.told |= job_bit(c);
    problem_error(x->errors, c->json, commas ? "text.comma" : "text.control", NULL,
                  "%s: an address must not have a %s", c->json + 1,
                  commas ? "comma" : "control character");
}

/* ---- null --------------------------------------------------------------------------------------
 */

static const char *default_text(const struct reading *x, const struct job_column *c)
{
    if (c == JOB_COLUMN_OF(route))
        return "FIRST";
    if (c == JOB_COLUMN_OF(block))
        return "SERIAL_EXECUTION";
    if (c == JOB_COLUMN_OF(author))
        return x->rules->user;
    return c->text;
}

static void set_default(struct reading *x, const struct job_column *c)
{
    size_t i = (size_t)(c - job_columns);
    if (c->type >= JOB_TEXT)
        set_text(x, c, mem_dup(default_text(x, c)));
    else if (c->type == JOB_REAL)
        x->in.reals[i] = (double)c->number;
    else
        x->in.numbers[i] =
            c == JOB_COLUMN_OF(start_deadline_ms) ? x->rules->start_deadline_ms : c->number;
}

/* What a job cannot be without has no default. */
static bool needed(const struct job_column *c)
{
    return c == JOB_COLUMN_OF(group_id) || c == JOB_COLUMN_OF(description) ||
           c == JOB_COLUMN_OF(schedule_type) || c == JOB_COLUMN_OF(glue_type);
}

/* A new job says what it has; a change says what goes back to the default. */
static bool may_be_null(const struct reading *x, const struct job_column *c)
{
    if (x->in.insert)
        return c == JOB_COLUMN_OF(zone) || c == JOB_COLUMN_OF(glue_source);
    return !needed(c);
}

/* ---- members -----------------------------------------------------------------------------------
 */

static void read_column(struct reading *x, const struct job_column *c, const json_t *v)
{
    x->in.said |= job_bit(c);
    if (json_is_null(v) && may_be_null(x, c)) {
        set_default(x, c);
        return;
    }
    switch (c->type) {
    case JOB_ID:
    case JOB_I64:
    case JOB_INT:
        read_integer(x, c, v);
        break;
    case JOB_BOOL:
        read_flag(x, c, v);
        break;
    case JOB_REAL:
        read_real(x, c, v);
        break;
    case JOB_TEXT:
        if (c == JOB_COLUMN_OF(alarm_email))
            read_emails(x, c, v);
        else
            read_text(x, c, v);
        break;
    case JOB_BYTES:
        read_text(x, c, v);
        break;
    case JOB_WORD:
        read_word(x, c, v);
        break;
    case JOB_IDS:
        read_children(x, c, v);
        break;
    case JOB_TIME:
    case JOB_NEXT: /* no request sets one */
        break;
    }
}

/* The object that holds further columns, if the member is one; else it is done with. */
static const json_t *read_member(struct reading *x, const char *pointer, const json_t *v)
{
    const struct job_column *c = column_of(pointer);
    if (known(x, c))
        read_column(x, c, v);
    else if (!holds_columns(x, pointer))
        body_unknown_error(x->errors, pointer);
    else if (json_is_object(v))
        return v;
    else
        body_type_error(x->errors, pointer, FIELD_OBJECT);
    return NULL;
}

#define json_each(object, i)                                                                       \
    for (void *i = json_object_iter((json_t *)(object)); i;                                        \
         (i) = json_object_iter_next((json_t *)(object), i))

/* The members of "/schedule", "/task", "/running"; no column lies deeper. */
static void read_inner(struct reading *x, const json_t *object, const char *parent)
{
    char pointer[BODY_POINTER_SIZE];
    json_each(object, i)
    {
        body_pointer(parent, json_object_iter_key(i), pointer);
        (void)read_member(x, pointer, json_object_iter_value(i));
    }
}

static void read_members(struct reading *x, const json_t *body)
{
    char pointer[BODY_POINTER_SIZE];
    json_each(body, i)
    {
        body_pointer("", json_object_iter_key(i), pointer);
        const json_t *inner = read_member(x, pointer, json_object_iter_value(i));
        if (inner)
            read_inner(x, inner, pointer);
    }
}

static void want(struct reading *x, const struct job_column *c)
{
    if (x->in.said & job_bit(c))
        return;
    x->in.told |= job_bit(c);
    body_missing_error(x->errors, c->json);
}

/* What a new job may leave out, and has a default that is not the column's. */
static void fill_in(struct reading *x)
{
    static const int members[] = { JOB_COLUMN_route, JOB_COLUMN_block, JOB_COLUMN_author };
    for (size_t i = 0; i < countof(members); i++)
        if (!(x->in.said & job_bit(&job_columns[members[i]])))
            set_default(x, &job_columns[members[i]]);
}

static enum err check(struct reading *x)
{
    if (!x->in.r->misfire)
        set_text(x, JOB_COLUMN_OF(misfire), mem_dup(job_misfire_default(x->in.r)));
    enum err err = job_rules_check(&x->in, x->rules, add_fault, x->errors, x->why);
    if (err && err != ERR_INVALID && err != ERR_TOOBIG)
        return err;
    return x->errors->n ? ERR_INVALID : OK;
}

enum err job_json_insert(const struct json_t *body, const struct job_rules *rules,
                         struct job_record *r, struct problem_errors *errors, struct why *why)
{
    struct reading x = {
        .in = { .r = r, .insert = true }, .rules = rules, .errors = errors, .why = why
    };
    r->start_deadline_ms = rules->start_deadline_ms;
    read_members(&x, body);
    if (rules->group_later && !(x.in.said & job_bit(JOB_COLUMN_OF(group_id))))
        x.in.told |= job_bit(JOB_COLUMN_OF(group_id));
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (needed(c) && !(x.in.told & job_bit(c)))
            want(&x, c);
    fill_in(&x);
    return check(&x);
}

/* null for the strategy is the default, which the type decides. */
static void misfire_of_null(struct reading *x, const json_t *body)
{
    const json_t *schedule = json_object_get(body, "schedule");
    if (json_is_null(json_object_get(schedule, "misfire")))
        set_text(x, JOB_COLUMN_OF(misfire), NULL);
}

enum err job_json_update(const struct json_t *body, const struct job_rules *rules,
                         struct job_record *r, uint64_t *ret_said, struct problem_errors *errors,
                         struct why *why)
{
    struct reading x = {
        .in = { .r = r, .whole = true }, .rules = rules, .errors = errors, .why = why
    };
    read_members(&x, body);
    misfire_of_null(&x, body);
    *ret_said = x.in.said;
    return check(&x);
}

struct schedule_faults {
    struct problem_errors *errors, *refused;
};

static bool add_schedule_fault(void *ctx, const struct job_fault *fault)
{
    struct schedule_faults *to = ctx;
    bool refused = strcmp(fault->rule, "schedule.conf") == 0 || strcmp(fault->rule, "zone") == 0;
    return add_fault(refused ? to->refused : to->errors, fault);
}

enum err job_json_schedule(const struct json_t *object, const struct job_rules *rules,
                           struct job_record *r, struct problem_errors *errors,
                           struct problem_errors *refused, struct why *why)
{
    struct reading x = { .in = { .r = r, .insert = true }, .rules = rules, .errors = errors };
    struct schedule_faults faults = { errors, refused };
    read_inner(&x, object, "/schedule");
    want(&x, JOB_COLUMN_OF(schedule_type));
    if (!r->misfire)
        set_text(&x, JOB_COLUMN_OF(misfire), mem_dup(job_misfire_default(r)));
    enum err err = job_rules_check_schedule(&x.in, rules, add_schedule_fault, &faults, why);
    return err == ERR_INVALID || err == ERR_TOOBIG ? OK : err;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void write_column(struct jsonw *w, struct job_record *r, const struct job_column *c,
                         const char *key)
{
    switch (c->type) {
    case JOB_REAL:
        jsonw_real(w, key, *job_real(r, c));
        break;
    case JOB_BOOL:
        jsonw_bool(w, key, job_number(r, c) != 0);
        break;
    case JOB_TEXT:
    case JOB_BYTES:
    case JOB_WORD:
    case JOB_IDS:
        jsonw_text(w, key, *job_text(r, c));
        break;
    default:
        jsonw_i64(w, key, job_number(r, c));
    }
}

/* A text that the row of another program has as NULL is empty here; only the zone may be null. */
static void no_nulls(struct job_record *r, const struct job_column *c)
{
    char **text = c->type >= JOB_TEXT ? job_text(r, c) : NULL;
    if (!text)
        return;
    if (c == JOB_COLUMN_OF(zone) && slice_trim(slice_text(*text)).n == 0)
        *text = NULL;
    else if (!*text && c != JOB_COLUMN_OF(zone))
        *text = (char *)(c->text ? c->text : "");
}

/* A word that no release knows: the contract has no place for it, and the job runs as if by the
 * default. */
static bool writable(const struct job_record *r, const struct job_column *c)
{
    const char *text = c->type == JOB_WORD ? job_stored_text(r, c) : NULL;
    struct slice rest = slice_text(c->words), word;
    if (c->type != JOB_WORD)
        return true;
    while (slice_cut(&rest, ',', &word))
        if (text && slice_eq(word, text))
            return true;
    return false;
}

void job_json_object(struct jsonw *w, const char *name, struct job_record *record)
{
    struct job_record r = *record; /* its texts are lent */
    char pointer[32] = "/";
    text_copy(pointer + 1, sizeof(pointer) - 1, slice_text(name));
    size_t n = strlen(pointer);
    jsonw_object(w, name);
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if (!is_below(c, pointer, n))
            continue;
        no_nulls(&r, c);
        if (writable(&r, c))
            write_column(w, &r, c, c->json + n + 1);
    }
    jsonw_object_end(w);
}

void job_json_children(struct jsonw *w, const struct job_record *r)
{
    struct slice rest = slice_text(r->children), one;
    int64_t id;
    jsonw_array(w, "children");
    while (slice_item(&rest, &one))
        if (parse_i64(one, &id) && id > 0)
            jsonw_i64(w, NULL, id);
    jsonw_array_end(w);
}

void job_json_emails(struct jsonw *w, const struct job_record *r)
{
    struct slice rest = slice_text(r->alarm_email), one;
    jsonw_array(w, "alarmEmails");
    while (slice_item(&rest, &one))
        jsonw_slice(w, NULL, one);
    jsonw_array_end(w);
}
