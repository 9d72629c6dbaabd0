/* SPDX-License-Identifier: Apache-2.0 */
/* What users do with their own account: look at their sessions and end them, keep preferences,
 * change the password. Only by a session: a token that leaks must not lock its owner out. */
#include "api/accounts.h"
#include "api/body.h"
#include "api/password.h"
#include "api/session.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_ID_CHARS 16 /* of the digest: names a session, logs nobody in */

/* ---- sessions -----------------------------------------------------------------------------------
 */

struct listing {
    struct web_call *call;
    struct jsonw w;
    const struct cursor *after; /* NULL: from the beginning */
    int64_t limit, now_ms, total, shown;
    struct cursor last;
    bool more;
};

static bool behind(const struct cursor *after, const struct session_record *r)
{
    return !after || r->created_ms < after->number ||
           (r->created_ms == after->number && strcmp(r->digest, after->text) > 0);
}

static void write_session(struct jsonw *w, const struct session_record *r, bool current)
{
    jsonw_object(w, NULL);
    jsonw_slice(w, "id", slice_of(r->digest, SESSION_ID_CHARS));
    jsonw_bool(w, "current", current);
    jsonw_text(w, "address", r->address);
    v1_instant(w, "created", r->created_ms);
    v1_instant(w, "expires", r->expires_ms);
    jsonw_object_end(w);
}

static bool add_session(void *ctx, const struct session_record *r)
{
    struct listing *l = ctx;
    if (!session_lives(l->call, r, l->now_ms))
        return true;
    l->total++;
    if (!behind(l->after, r))
        return true;
    if (l->shown == l->limit) {
        l->more = true;
        return true;
    }
    l->shown++;
    write_session(&l->w, r, strcmp(r->digest, l->call->session.digest) == 0);
    l->last.number = r->created_ms;
    text_copy(l->last.text, sizeof(l->last.text), slice_text(r->digest));
    return true;
}

void v1_sessions_list(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct cursor after;
    struct listing l = { .call = call, .w = jsonw_on(&call->output), .now_ms = clock_wall_ms() };
    query_begin(&q, call);
    l.limit = query_limit(&q);
    l.after = query_cursor(&q, &after) ? &after : NULL;
    if (!query_end(&q))
        return;
    v1_list_begin(&l.w);
    enum err err =
        call->db->ops->users->sessions_of(call->db, call->user.id, add_session, &l, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    v1_list_end(call, &l.w, l.more ? &l.last : NULL, l.total, true);
}

struct search {
    const char *id;
    char digest[65]; /* "": not found */
};

static bool is_wanted(void *ctx, const struct session_record *r)
{
    struct search *s = ctx;
    if (strlen(s->id) != SESSION_ID_CHARS || strncmp(r->digest, s->id, SESSION_ID_CHARS) != 0)
        return true;
    memcpy(s->digest, r->digest, sizeof(s->digest));
    return false;
}

void v1_session_end(struct web_call *call)
{
    struct why why = { "" };
    struct search s = { .id = call->params.items[0].text };
    enum err err = call->db->ops->users->sessions_of(call->db, call->user.id, is_wanted, &s, &why);
    if (!err && !s.digest[0]) {
        problem(call, PROBLEM_NOT_FOUND, "you have no such session");
        return;
    }
    if (!err)
        err = account_log_out(call->center, s.digest, audit_session(call, "session.end"), &why);
    if (err)
        problem_err(call, err, &why);
    else
        v1_empty(call);
}

/* ---- preferences --------------------------------------------------------------------------------
 */

#define PREFERENCES_MAX 1000

struct preferences {
    struct body_word language, theme, density;
    struct slice zone;
    bool shortcuts;
};

static const struct body_field preference_fields[] = {
    { "language", FIELD_WORD, offsetof(struct preferences, language), false, 0, 0 },
    { "zone", FIELD_TEXT, offsetof(struct preferences, zone), false, 1, 64 },
    { "theme", FIELD_WORD, offsetof(struct preferences, theme), false, 0, 0 },
    { "shortcuts", FIELD_BOOL, offsetof(struct preferences, shortcuts), false, 0, 0 },
    { "density", FIELD_WORD, offsetof(struct preferences, density), false, 0, 0 },
};

static bool is_preference(const char *name)
{
    for (size_t i = 0; i < countof(preference_fields); i++)
        if (strcmp(preference_fields[i].name, name) == 0)
            return true;
    return false;
}

/* Known members that are null are taken out, and need no other rule. */
static json_t *without_nulls(const json_t *object)
{
    json_t *copy = json_object(), *value;
    const char *name;
    json_object_foreach((json_t *)object, name, value)
    {
        if (!json_is_null(value) || !is_preference(name))
            json_object_set(copy, name, value);
    }
    return copy;
}

static bool preferences_ok(struct web_call *call, const json_t *object)
{
    struct preferences in = { .language = { .words = "en,zh-CN,zh-TW" },
                              .theme = { .words = "light,dark,system" },
                              .density = { .words = "comfortable,compact" } };
    struct problem_errors errors;
    problem_errors_init(&errors);
    body_fields(object, preference_fields, countof(preference_fields), &in, &errors);
    bool good = errors.n == 0;
    if (!good)
        problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
    return good;
}

/* The patch (RFC 7396) on what is there. What is no object any more counts as nothing. */
static char *merged(const char *old, const json_t *patch)
{
    json_t *now = old ? json_loads(old, 0, NULL) : NULL, *value;
    const char *name;
    if (!json_is_object(now)) {
        json_decref(now);
        now = json_object();
    }
    json_object_foreach((json_t *)patch, name, value)
    {
        if (json_is_null(value))
            json_object_del(now, name);
        else
            json_object_set(now, name, value);
    }
    char *text = json_dumps(now, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(now);
    return text;
}

void v1_preferences_set(struct web_call *call)
{
    struct why why = { "" };
    json_t *given = without_nulls(call->json);
    bool good = preferences_ok(call, given);
    json_decref(given);
    if (!good)
        return;
    char *text = merged(call->user.preferences, call->json);
    struct account_change change = { .user_id = call->user.id, .version = -1, .preferences = text };
    enum err err = !text || strlen(text) > PREFERENCES_MAX
                       ? ERR_TOOBIG
                       : account_change(call->center, &change, NULL, &why);
    if (err)
        problem_err(call, err, &why);
    else
        buf_text(&call->output, text);
    free(text);
}

/* ---- the password -------------------------------------------------------------------------------
 */

struct passwords {
    struct slice old, new;
};

static const struct body_field password_fields[] = {
    { "old", FIELD_TEXT, offsetof(struct passwords, old), true, 0, PASSWORD_BYTES_MAX },
    { "new", FIELD_TEXT, offsetof(struct passwords, new), true, PASSWORD_MIN, PASSWORD_BYTES_MAX },
};

/* What a lower layer says of a field, without its name. */
static const char *without_name(const struct why *why)
{
    const char *mark = strstr(why->text, ": ");
    return mark ? mark + 2 : why->text;
}

void v1_password_set(struct web_call *call)
{
    struct passwords in = { .old = { "", 0 } };
    struct why why = { "" };
    int64_t wait_ms;
    if (!body_read(call, password_fields, countof(password_fields), &in))
        return;
    if (password_check(in.new, PASSWORD_BYTES_MAX, &why)) {
        v1_refuse_field(call, "/new", "password", without_name(&why));
        return;
    }
    enum err err = session_set_password(call, in.old, in.new, &wait_ms, &why);
    if (err == ERR_BUSY)
        problem_wait(call, PROBLEM_TOO_MANY, wait_ms, why.text);
    else if (err == ERR_INVALID)
        v1_refuse_field(call, "/old", "password.wrong", why.text);
    else if (err)
        problem_err(call, err, &why);
    else
        v1_empty(call);
}
