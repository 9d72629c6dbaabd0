/* SPDX-License-Identifier: Apache-2.0 */
/* A table says of each member of each kind of thing what it is. */
#include "wire/catalog.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "wire/json.h"

#define DEPTH 16
#define POINTER_SIZE 128
#define NAME_SHOWN 60

enum member_type { TEXT, WORD, OBJECT, TEXTS, OBJECTS, FLAG, NUMBER };

struct member {
    const char *name;
    enum member_type type;
    bool needed;                /* not empty, either */
    bool null;                  /* may be null as well */
    const struct member *inner; /* of OBJECT and OBJECTS; NULL: any */
    size_t ninner;
};

#define OF(members) .inner = (members), .ninner = countof(members)

static const struct member of_name[] = {
    { "group", TEXT, .needed = true },
    { "name", TEXT, .needed = true },
};

static const struct member of_grant[] = {
    { "role", TEXT, .needed = true },
    { "groups", TEXTS, .null = true },
};

static const struct member of_group[] = {
    { "app", TEXT, .needed = true },
    { "title", TEXT, .needed = true },
    { "addressing", TEXT, .needed = false },
    { "addresses", TEXTS, .needed = false },
};

static const struct member of_job[] = {
    { "group", TEXT, .needed = true },         { "name", TEXT, .needed = true },
    { "owner", TEXT, .needed = false },        { "state", WORD, .needed = false },
    { "schedule", OBJECT, .needed = false },   { "task", OBJECT, .needed = false },
    { "running", OBJECT, .needed = false },    { "children", OBJECTS, OF(of_name) },
    { "alarmEmails", TEXTS, .needed = false }, { "script", TEXT, .null = true },
};

static const struct member of_user[] = {
    { "name", TEXT, .needed = true },
    { "center", TEXT, .needed = false },
    { "grants", OBJECTS, OF(of_grant) },
    { "password", TEXT, .needed = false },
};

static const struct member of_channel[] = {
    { "name", TEXT, .needed = true },      { "kind", TEXT, .needed = true },
    { "enabled", FLAG, .needed = false },  { "settings", OBJECT, .needed = false },
    { "secrets", TEXTS, .needed = false }, { "perMinute", NUMBER, .null = true },
};

static const struct member of_rule[] = {
    { "name", TEXT, .needed = true },
    { "kind", TEXT, .needed = true },
    { "level", TEXT, .needed = false },
    { "group", TEXT, .null = true },
    { "job", OBJECT, .null = true, OF(of_name) },
    { "inARow", NUMBER, .null = true },
    { "longerMs", NUMBER, .null = true },
    { "channels", TEXTS, .needed = true },
    { "quiet", OBJECT, .null = true },
    { "repeatMs", NUMBER, .null = true },
    { "enabled", FLAG, .needed = false },
};

static const struct member of_silence[] = {
    { "group", TEXT, .null = true },       { "job", OBJECT, .null = true, OF(of_name) },
    { "rule", TEXT, .null = true },        { "fromMs", NUMBER, .needed = false },
    { "untilMs", NUMBER, .needed = true }, { "reason", TEXT, .needed = true },
};

struct list {
    const char *name;
    const struct member *members;
    size_t n;
    /* what tells its items apart; second NULL: first alone; first NULL: nothing */
    const char *first, *second;
};

static const struct list lists[] = {
    { "groups", of_group, countof(of_group), "app", NULL },
    { "jobs", of_job, countof(of_job), "group", "name" },
    { "users", of_user, countof(of_user), "name", NULL },
    { "channels", of_channel, countof(of_channel), "name", NULL },
    { "rules", of_rule, countof(of_rule), NULL, NULL },
    { "silences", of_silence, countof(of_silence), NULL, NULL },
};

static enum err invalid(struct why *why, const char *pointer, const char *member, const char *rule)
{
    why_set(why, "%s%s%.*s: %s", pointer, member[0] ? "/" : "",
            (int)utf8_cut(member, strlen(member), NAME_SHOWN), member, rule);
    return ERR_INVALID;
}

static enum err check_object(const json_t *o, const char *pointer, const struct member *members,
                             size_t n, struct why *why);

static enum err check_texts(const json_t *v, const char *pointer, const char *name, struct why *why)
{
    size_t i;
    const json_t *one;
    json_array_foreach(v, i, one)
    {
        if (!json_is_string(one))
            return invalid(why, pointer, name, "must be an array of texts");
    }
    return json_is_array(v) ? OK : invalid(why, pointer, name, "must be an array of texts");
}

static enum err check_objects(const json_t *v, const char *pointer, const struct member *m,
                              struct why *why)
{
    size_t i;
    const json_t *one;
    enum err err = json_is_array(v) ? OK : invalid(why, pointer, m->name, "must be an array");
    json_array_foreach(v, i, one)
    {
        char inner[POINTER_SIZE];
        snprintf(inner, sizeof(inner), "%s/%s/%zu", pointer, m->name, i);
        if (!err)
            err = check_object(one, inner, m->inner, m->ninner, why);
    }
    return err;
}

static enum err check_inner(const json_t *v, const char *pointer, const struct member *m,
                            struct why *why)
{
    char inner[POINTER_SIZE];
    if (!json_is_object(v))
        return invalid(why, pointer, m->name, "must be an object");
    snprintf(inner, sizeof(inner), "%s/%s", pointer, m->name);
    return m->inner ? check_object(v, inner, m->inner, m->ninner, why) : OK;
}

static enum err check_text(const json_t *v, const char *pointer, const struct member *m,
                           struct why *why)
{
    if (!json_is_string(v))
        return invalid(why, pointer, m->name, "must be text");
    if (m->needed && json_string_length(v) == 0)
        return invalid(why, pointer, m->name, "must not be empty");
    return OK;
}

static enum err check_state(const json_t *v, const char *pointer, const char *name, struct why *why)
{
    const char *text = json_string_value(v);
    if (text && (strcmp(text, "scheduled") == 0 || strcmp(text, "stopped") == 0))
        return OK;
    return invalid(why, pointer, name, "must be scheduled or stopped");
}

static enum err check_member(const json_t *v, const char *pointer, const struct member *m,
                             struct why *why)
{
    if (json_is_null(v) && m->null)
        return OK;
    switch (m->type) {
    case TEXT:
        return check_text(v, pointer, m, why);
    case WORD:
        return check_state(v, pointer, m->name, why);
    case OBJECT:
        return check_inner(v, pointer, m, why);
    case TEXTS:
        return check_texts(v, pointer, m->name, why);
    case OBJECTS:
        return check_objects(v, pointer, m, why);
    case FLAG:
        return json_is_boolean(v) ? OK : invalid(why, pointer, m->name, "must be true or false");
    case NUMBER:
        return json_is_integer(v) ? OK : invalid(why, pointer, m->name, "must be a whole number");
    }
    return ERR_INVALID;
}

static const struct member *find(const struct member *members, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    return NULL;
}

static enum err check_object(const json_t *o, const char *pointer, const struct member *members,
                             size_t n, struct why *why)
{
    if (!json_is_object(o))
        return invalid(why, pointer, "", "must be an object");
    for (void *i = json_object_iter((json_t *)o); i; i = json_object_iter_next((json_t *)o, i)) {
        const struct member *m = find(members, n, json_object_iter_key(i));
        if (!m)
            return invalid(why, pointer, json_object_iter_key(i), "there is no such member");
        enum err err = check_member(json_object_iter_value(i), pointer, m, why);
        if (err)
            return err;
    }
    for (size_t i = 0; i < n; i++)
        if (members[i].needed && !json_object_get(o, members[i].name))
            return invalid(why, pointer, members[i].name, "is missing");
    return OK;
}

/* Put the item's name into the set; ERR_EXISTS: it was there. */
static enum err add_name(json_t *names, const json_t *o, const struct list *l)
{
    const char *first = json_string_value(json_object_get(o, l->first));
    const char *second = l->second ? json_string_value(json_object_get(o, l->second)) : NULL;
    json_t *inner = json_object_get(names, first);
    if (inner && (!second || json_object_get(inner, second)))
        return ERR_EXISTS;
    if (!inner) {
        inner = json_object();
        if (json_object_set_new(names, first, inner))
            return ERR_NOMEM;
    }
    return second && json_object_set_new(inner, second, json_true()) ? ERR_NOMEM : OK;
}

static enum err check_list(const json_t *doc, const struct list *l, struct why *why)
{
    const json_t *items = json_object_get(doc, l->name), *one;
    json_t *names = json_object();
    size_t i;
    enum err err =
        items && !json_is_array(items) ? invalid(why, "", l->name, "must be an array") : OK;
    json_array_foreach(items, i, one)
    {
        char pointer[POINTER_SIZE];
        snprintf(pointer, sizeof(pointer), "/%s/%zu", l->name, i);
        err = check_object(one, pointer, l->members, l->n, why);
        if (!err && l->first)
            err = add_name(names, one, l);
        if (err == ERR_EXISTS)
            err = invalid(why, pointer, l->second ? l->second : l->first,
                          "stands in this file twice");
        if (err)
            break;
    }
    json_decref(names);
    return err;
}

static const struct list *list_of(const char *name)
{
    for (size_t i = 0; i < countof(lists); i++)
        if (strcmp(lists[i].name, name) == 0)
            return &lists[i];
    return NULL;
}

enum err catalog_check(const struct json_t *doc, struct why *why)
{
    const json_t *version = json_object_get(doc, "peal");
    if (!json_is_object(doc))
        return invalid(why, "/", "", "must be an object");
    if (!json_is_integer(version) || json_integer_value(version) != CATALOG_VERSION)
        return invalid(why, "", "peal",
                       "must be " TEXT_OF(CATALOG_VERSION) ", the format's number");
    for (void *i = json_object_iter((json_t *)doc); i;
         i = json_object_iter_next((json_t *)doc, i)) {
        const char *name = json_object_iter_key(i);
        if (strcmp(name, "peal") != 0 && !list_of(name))
            return invalid(why, "", name, "there is no such member");
    }
    enum err err = OK;
    for (size_t i = 0; i < countof(lists) && !err; i++)
        err = check_list(doc, &lists[i], why);
    return err;
}

enum err catalog_read(struct slice text, struct json_t **ret, struct why *why)
{
    static const struct wire_json_rules rules = {
        .max = CATALOG_BYTES_MAX, .depth = DEPTH, .strict = true, .values = CATALOG_VALUES_MAX
    };
    json_t *doc;
    enum err err = wire_json_read(text, &rules, "the file", &doc, why);
    if (err)
        return err;
    err = catalog_check(doc, why);
    if (err)
        wire_json_free(doc);
    else
        *ret = doc;
    return err;
}
