/* SPDX-License-Identifier: Apache-2.0 */
/* An entry is a record whose changes are put together in a buffer of JSON: a member stands there
 * only if its value before and after differ as text. */
#include "api/audit.h"
#include "api/idem.h"
#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/secret.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANGES_MAX (64 * 1024)
#define TEXT_MAX 4096 /* bytes of a value; of a longer one length and digest are kept */
#define EXPIRE_MAX 10

struct audit {
    struct audit_record row;
    int64_t keep_ms;
    struct buf changes; /* "{…},{…}" */
};

static const char *via_of(const struct web_call *call)
{
    if (call->by_hand)
        return "cli";
    if (!call->match.table->problems)
        return "form_api";
    return call->token.id ? "token" : "console";
}

struct audit *audit_new_center(const char *action, int64_t keep_ms)
{
    struct audit *a = mem_new(sizeof(*a));
    a->keep_ms = keep_ms;
    a->row.at_ms = clock_wall_ms();
    a->row.action = mem_dup(action);
    a->row.kind = mem_dupn(action, (size_t)(strchr(action, '.') - action));
    a->row.via = mem_dup("center");
    buf_init(&a->changes, CHANGES_MAX);
    return a;
}

struct audit *audit_new(const struct web_call *call, const char *action)
{
    struct audit *a = audit_new_center(action, call->config->audit_keep_ms);
    free(a->row.via);
    a->row.via = mem_dup(via_of(call));
    a->row.user_id = call->user.id;
    a->row.user = mem_dup(call->user.username);
    a->row.address = mem_dup(call->peer);
    if (call->reason.n)
        a->row.reason = mem_dupn(call->reason.p, call->reason.n);
    return a;
}

void audit_free(struct audit *a)
{
    if (!a)
        return;
    audit_record_done(&a->row);
    buf_done(&a->changes);
    free(a);
}

/* ---- the thing and its members -----------------------------------------------------------------
 */

static void audit_thing_named(struct audit *a, const char *id, const char *name)
{
    free(a->row.object);
    free(a->row.name);
    a->row.object = mem_dup(id);
    a->row.name = mem_dup(name);
    buf_reset(&a->changes);
}

void audit_thing(struct audit *a, int64_t id, const char *name)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)id);
    audit_thing_named(a, text, name);
}

struct audit *audit_session(const struct web_call *call, const char *action)
{
    struct audit *a = audit_new(call, action);
    audit_thing(a, call->user.id, call->user.username);
    return a;
}

void audit_json(struct audit *a, const char *field, const char *before, const char *after)
{
    if (strcmp(before ? before : "null", after ? after : "null") == 0)
        return;
    size_t n = a->changes.len;
    if (n)
        buf_char(&a->changes, ',');
    struct jsonw w = jsonw_on(&a->changes);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "field", field);
    jsonw_raw(&w, "before", slice_text(before ? before : "null"));
    jsonw_raw(&w, "after", slice_text(after ? after : "null"));
    jsonw_object_end(&w);
    if (a->changes.failed) { /* the entry tells as much as it has room for */
        a->changes.len = n;
        a->changes.failed = false;
    }
}

/* As a JSON value; a long text by its length and digest. NULL: null. */
static char *quoted(const char *text)
{
    struct buf b = BUF_INIT(TEXT_MAX * 8);
    size_t n = text ? strlen(text) : 0;
    if (!text)
        return NULL;
    if (n > TEXT_MAX) {
        unsigned char digest[32];
        char hex[65];
        sha256(text, n, digest);
        hex_text(digest, sizeof(digest), hex);
        buf_printf(&b, "\"%zu bytes, sha256 %s\"", n, hex);
    } else {
        jsonw_quote(&b, slice_of(text, n));
    }
    return buf_take(&b);
}

void audit_text(struct audit *a, const char *field, const char *before, const char *after)
{
    char *x = quoted(before), *y = quoted(after);
    audit_json(a, field, x, y);
    free(x);
    free(y);
}

void audit_secret(struct audit *a, const char *field)
{
    audit_json(a, field, "\"***\"", "\"*** (another)\"");
}

enum err audit_put(struct audit *a, struct store *s, struct why *why)
{
    struct buf b = BUF_INIT(CHANGES_MAX + 2);
    buf_char(&b, '[');
    buf_slice(&b, slice_of(a->changes.data, a->changes.len));
    buf_char(&b, ']');
    free(a->row.changes);
    a->row.changes = buf_take(&b);
    enum err err = s->ops->users->audit_add(s, &a->row, why);
    if (err || a->keep_ms <= 0)
        return err;
    return s->ops->users->audit_expire(s, a->row.at_ms - a->keep_ms, EXPIRE_MAX, why);
}

/* ---- edits of jobs and groups ------------------------------------------------------------------
 */

/* A script may be long, and is kept with its versions. */
static bool is_script(const struct job_column *c)
{
    return c == &job_columns[JOB_COLUMN_glue_source];
}

static char *job_value(const struct job_record *r, const struct job_column *c)
{
    struct buf b = BUF_INIT(100);
    struct job_record *job = (struct job_record *)r; /* only read */
    if (!r)
        return NULL;
    if (c->type >= JOB_TEXT && is_script(c) && *job_text(job, c)) {
        unsigned char digest[32];
        char hex[65];
        sha256(*job_text(job, c), strlen(*job_text(job, c)), digest);
        hex_text(digest, sizeof(digest), hex);
        buf_printf(&b, "\"%zu bytes, sha256 %s\"", strlen(*job_text(job, c)), hex);
        return buf_take(&b);
    }
    if (c->type >= JOB_TEXT) /* NULL and empty are the same to users */
        return quoted(*job_text(job, c) ? *job_text(job, c) : "");
    if (c->type == JOB_REAL)
        buf_printf(&b, "%.15g", *job_real(job, c));
    else
        buf_printf(&b, "%lld", (long long)job_number(r, c));
    return buf_take(&b);
}

static bool is_said(const struct job_column *c)
{
    return c->use == JOB_ON_INSERT || c->use == JOB_TAKEN;
}

/* Of a new or deleted job the members that are not as in a new record. */
static void job_changes(struct audit *a, const struct job_record *was, const struct job_record *now)
{
    struct job_record blank;
    job_record_init(&blank);
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        char *before = job_value(was, c), *after = job_value(now, c),
             *nothing = job_value(&blank, c);
        const char *told = before ? before : after ? after : "";
        bool plain = (!was || !now) && strcmp(told, nothing ? nothing : "") == 0;
        char field[64];
        snprintf(field, sizeof(field), "%s%s", c->json ? "" : "/", c->json ? c->json : c->form);
        if (is_said(c) && !plain)
            audit_json(a, field, before, after);
        free(before);
        free(after);
        free(nothing);
    }
    job_record_done(&blank);
}

static void group_changes(struct audit *a, const struct group_record *was,
                          const struct group_record *now)
{
    const struct group_record *some = now ? now : was;
    char before[8], after[8];
    snprintf(before, sizeof(before), "%d", was ? was->address_type : 0);
    snprintf(after, sizeof(after), "%d", now ? now->address_type : 0);
    audit_text(a, "/app", was ? was->app : NULL, now ? now->app : NULL);
    audit_text(a, "/title", was ? was->title : NULL, now ? now->title : NULL);
    audit_json(a, "/addressType", was ? before : NULL, now ? after : NULL);
    if (some->address_type == 1) /* else it is the registry's */
        audit_text(a, "/addressList", was ? was->address_list : NULL,
                   now ? now->address_list : NULL);
}

static enum err edit_run(struct store *s, void *arg, const struct edit_rows *rows, struct why *why)
{
    struct audit *a = arg;
    const struct job_record *job = rows->job ? rows->job : rows->job_was;
    const struct group_record *group = rows->group ? rows->group : rows->group_was;
    if (job) {
        audit_thing(a, job->id, job->description);
        job_changes(a, rows->job_was, rows->job);
    } else if (group) {
        audit_thing(a, group->id, group->app);
        group_changes(a, rows->group_was, rows->group);
    }
    return audit_put(a, s, why);
}

static void edit_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    audit_free(arg);
}

static const char *action_of(enum edit_kind kind)
{
    switch (kind) {
    case EDIT_JOB_INSERT:
        return "job.create";
    case EDIT_JOB_UPDATE:
        return "job.update";
    case EDIT_JOB_START:
        return "job.start";
    case EDIT_JOB_STOP:
        return "job.stop";
    case EDIT_JOB_SYNC:
        break; /* that server has it */
    case EDIT_JOB_DELETE:
        return "job.delete";
    case EDIT_GROUP_INSERT:
        return "group.create";
    case EDIT_GROUP_UPDATE:
        return "group.update";
    case EDIT_GROUP_DELETE:
        return "group.delete";
    }
    return "system.edit";
}

void audit_edit(const struct web_call *call, struct edit *e)
{
    static const struct edit_companion companion = { .run = edit_run, .done = edit_done };
    e->companion = &companion;
    e->companion_arg = audit_new(call, action_of(e->kind));
}

/* ---- bulk actions ------------------------------------------------------------------------------
 */

/* Edits of one action are asked for in order, and run in that order each time that a transaction is
 * tried. So the one that wrote the entry first writes it again, and those behind it find it. */
struct audit_many {
    _Atomic int refs;
    struct audit *audit;   /* the writer's thread, once edits are under way */
    uint64_t asked, first; /* numbers of edits; first 0: the entry has not been written */
};

struct many_item { /* of one edit */
    struct audit_many *many;
    uint64_t n;
};

struct audit_many *audit_many_new(const struct web_call *call, const char *action)
{
    struct audit_many *m = mem_new(sizeof(*m));
    atomic_init(&m->refs, 1);
    m->audit = audit_new(call, action);
    m->audit->row.object = mem_dup("");
    m->audit->row.name = mem_dup("");
    return m;
}

void audit_many_free(struct audit_many *m)
{
    if (!m || atomic_fetch_sub(&m->refs, 1) != 1)
        return;
    audit_free(m->audit);
    free(m);
}

void audit_many_json(struct audit_many *m, const char *field, const char *after)
{
    audit_json(m->audit, field, NULL, after);
}

static struct many_item *many_item_new(struct audit_many *m)
{
    struct many_item *item = mem_new(sizeof(*item));
    *item = (struct many_item){ m, ++m->asked };
    atomic_fetch_add(&m->refs, 1);
    return item;
}

static void many_item_free(struct many_item *item)
{
    audit_many_free(item->many);
    free(item);
}

static enum err many_add(struct store *s, const struct many_item *item, int64_t job_id,
                         struct why *why)
{
    struct audit_many *m = item->many;
    char object[24];
    snprintf(object, sizeof(object), "%lld", (long long)job_id);
    if (!m->first)
        m->first = item->n;
    enum err err = m->first == item->n ? audit_put(m->audit, s, why) : OK;
    return err ? err
               : s->ops->users->audit_item_add(s, m->audit->row.id, m->audit->row.kind, object,
                                               why);
}

static enum err many_run(struct store *s, void *arg, const struct edit_rows *rows, struct why *why)
{
    const struct job_record *job = rows->job ? rows->job : rows->job_was;
    return many_add(s, arg, job->id, why);
}

static void many_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    many_item_free(arg);
}

void audit_many_edit(struct audit_many *m, struct edit *e)
{
    static const struct edit_companion companion = { .run = many_run, .done = many_done };
    e->companion = &companion;
    e->companion_arg = many_item_new(m);
}

/* ---- runs by hand ------------------------------------------------------------------------------
 */

struct spawn_note {
    struct audit *audit; /* one of the two */
    struct many_item *item;
    int64_t job_id;
    char *name;
    struct idem *idem; /* NULL: the request has no key */
    int64_t idem_item;
};

static enum err spawn_begin(struct store *s, void *arg, struct why *why)
{
    const struct spawn_note *n = arg;
    return idem_take(n->idem, s, n->idem_item, 0, why);
}

static enum err spawn_made(struct store *s, void *arg, int64_t log_id, struct why *why)
{
    const struct spawn_note *n = arg;
    enum err err = idem_set(n->idem, s, n->idem_item, log_id, why);
    if (err)
        return err;
    if (n->item)
        return many_add(s, n->item, n->job_id, why);
    audit_thing(n->audit, log_id, n->name);
    return audit_put(n->audit, s, why);
}

static void spawn_end(void *arg)
{
    struct spawn_note *n = arg;
    audit_free(n->audit);
    if (n->item)
        many_item_free(n->item);
    idem_unref(n->idem);
    free(n->name);
    free(n);
}

void audit_spawn(const struct web_call *call, struct audit_many *many, const char *name,
                 struct spawn *spawn)
{
    static const struct spawn_companion companion = { spawn_begin, spawn_made, spawn_end };
    struct spawn_note *n = mem_new(sizeof(*n));
    n->job_id = spawn->job_id;
    n->name = mem_dup(name);
    n->idem = idem_ref(call->idem);
    n->idem_item = call->idem_item;
    if (many)
        n->item = many_item_new(many);
    else
        n->audit = audit_new(call, "run.trigger");
    spawn->companion = &companion;
    spawn->companion_arg = n;
}

/* ---- notes -------------------------------------------------------------------------------------
 */

static enum err note_run(struct store *s, void *arg, struct why *why)
{
    return audit_put(arg, s, why);
}

static void note_later(const struct web_call *call, struct audit *a)
{
    static const struct ledger_write write = { note_run, edit_done };
    center_write_later(call->center, &write, a);
}

void audit_note(const struct web_call *call, const char *action, int64_t id, const char *name)
{
    struct audit *a = audit_new(call, action);
    audit_thing(a, id, name);
    note_later(call, a);
}

void audit_note_named(const struct web_call *call, const char *action, const char *id,
                      const char *name)
{
    struct audit *a = audit_new(call, action);
    audit_thing_named(a, id, name);
    note_later(call, a);
}
