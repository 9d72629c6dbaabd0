/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of executors, with what the scheduler knows of their addresses now. A group's version is a
 * number made of its definition: XXL-JOB's table has no column for one, and the ledger compares the
 * whole definition when the edit is made. */
#include "api/body.h"
#include "api/edits.h"
#include "api/gate.h"
#include "api/group_rules.h"
#include "api/v1/etag.h"
#include "api/v1/group_page.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include "live/board.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 10000 /* groups that a filter by health looks at */
#define ADDRESSES_MAX 1000

/* ---- version -----------------------------------------------------------------------------------
 */

/* FNV-1a, 64 bits. */
static uint64_t mix_text(uint64_t h, const char *text)
{
    for (const char *p = text ? text : ""; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211U;
    return (h ^ 0x100) * 1099511628211U; /* no text has this "character" */
}

static struct etag tag_of(const struct group_record *g)
{
    uint64_t h = mix_text(14695981039346656037U, g->app);
    h = mix_text(h, g->title);
    h = mix_text(h, g->address_type == 1 ? g->address_list : NULL);
    h = (h ^ (uint64_t)g->address_type) * 1099511628211U;
    return (struct etag){ 'g', g->id, (int64_t)(h & ROUTER_ID_MAX) };
}

/* ---- output ------------------------------------------------------------------------------------
 */

static const char *const members[] = { "id",        "app",       "title",     "addressing",
                                       "addresses", "up",        "total",     "jobs",
                                       "failing",   "updatedAt", "updatedMs", "version" };

static enum err look(struct web_call *call, int64_t id, struct group_live *ret, struct why *why)
{
    enum err err = center_group_live(call->center, id, &ret->addresses, why);
    board_failing_by_group(call->board, &id, 1, &ret->failing);
    return err ? err : call->db->ops->catalog->group_jobs(call->db, id, &ret->jobs, why);
}

static bool wants(uint64_t fields, const char *member)
{
    for (size_t i = 0; i < countof(members); i++)
        if (strcmp(members[i], member) == 0)
            return !fields || fields >> i & 1;
    return false;
}

static void write_addresses(struct jsonw *w, const struct group_record *g)
{
    struct slice rest = slice_text(g->address_type == 1 ? g->address_list : NULL), one;
    jsonw_array(w, "addresses");
    while (slice_item(&rest, &one))
        jsonw_slice(w, NULL, one);
    jsonw_array_end(w);
}

static void write_times(struct jsonw *w, const struct group_record *g, uint64_t fields)
{
    char text[V1_INSTANT_SIZE];
    if (g->updated_ms <= 0)
        return;
    if (wants(fields, "updatedAt"))
        jsonw_text(w, "updatedAt", v1_instant_text(g->updated_ms, text));
    if (wants(fields, "updatedMs"))
        jsonw_i64(w, "updatedMs", g->updated_ms);
}

void group_write(struct jsonw *w, const struct group_record *g, const struct group_live *live,
                 uint64_t fields)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", g->id);
    if (wants(fields, "app"))
        jsonw_text(w, "app", g->app ? g->app : "");
    if (wants(fields, "title"))
        jsonw_text(w, "title", g->title ? g->title : "");
    if (wants(fields, "addressing"))
        jsonw_text(w, "addressing", g->address_type == 1 ? "manual" : "registry");
    if (wants(fields, "addresses"))
        write_addresses(w, g);
    if (wants(fields, "up"))
        jsonw_i64(w, "up", live->addresses.up);
    if (wants(fields, "total"))
        jsonw_i64(w, "total", live->addresses.total);
    if (wants(fields, "jobs"))
        jsonw_i64(w, "jobs", live->jobs);
    if (wants(fields, "failing"))
        jsonw_i64(w, "failing", live->failing);
    write_times(w, g, fields);
    if (wants(fields, "version"))
        jsonw_i64(w, "version", tag_of(g).version);
    jsonw_object_end(w);
}

/* ---- one group ---------------------------------------------------------------------------------
 */

static void refuse(struct web_call *call, int64_t id, enum err err, const struct why *why)
{
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_NOT_FOUND, "group %lld does not exist, or you may not see it",
                (long long)id);
    else
        problem_err(call, err, why);
}

/* The group of the path, if the asker may see it. False: answered. */
static bool find(struct web_call *call, struct group_record *ret)
{
    int64_t id = call->params.items[0].number;
    struct why why = { "" };
    *ret = (struct group_record){ .id = 0 };
    if (!gate_group(call, id, "group", id))
        return false;
    enum err err = call->db->ops->catalog->group_get(call->db, id, ret, &why);
    if (err)
        refuse(call, id, err, &why);
    return !err;
}

static void write_found(struct web_call *call, const struct group_record *g)
{
    struct group_live live;
    struct why why = { "" };
    struct jsonw w = jsonw_on(&call->output);
    enum err err = look(call, g->id, &live, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    group_write(&w, g, &live, 0);
    etag_write(call, tag_of(g));
}

static void write_now(struct web_call *call, int64_t id)
{
    struct group_record g = { .id = 0 };
    struct why why = { "" };
    enum err err = call->db->ops->catalog->group_get(call->db, id, &g, &why);
    if (err)
        refuse(call, id, err, &why);
    else
        write_found(call, &g);
    group_record_done(&g);
}

void v1_group_get(struct web_call *call)
{
    struct group_record g;
    if (!find(call, &g))
        return;
    write_found(call, &g);
    group_record_done(&g);
}

/* ---- input -------------------------------------------------------------------------------------
 */

struct group_body {
    struct slice app, title;
    struct body_word addressing;
    struct body_texts addresses;
};

static const struct body_field new_fields[] = {
    { "app", FIELD_TEXT, offsetof(struct group_body, app), true, 4, 64 },
    { "title", FIELD_TEXT, offsetof(struct group_body, title), true, 1, 64 },
    { "addressing", FIELD_WORD, offsetof(struct group_body, addressing), false, 0, 0 },
    { "addresses", FIELD_TEXTS, offsetof(struct group_body, addresses), false, 0, ADDRESSES_MAX },
};

static const struct body_field patch_fields[] = {
    /* the app name is what executors know */
    { "title", FIELD_TEXT, offsetof(struct group_body, title), false, 1, 64 },
    { "addressing", FIELD_WORD, offsetof(struct group_body, addressing), false, 0, 0 },
    { "addresses", FIELD_TEXTS, offsetof(struct group_body, addresses), false, 0, ADDRESSES_MAX },
};

/* One that there is, said whole, with its app name: of a file. */
static const struct body_field file_fields[] = {
    { "app", FIELD_TEXT, offsetof(struct group_body, app), false, 0, 64 },
    { "title", FIELD_TEXT, offsetof(struct group_body, title), false, 1, 64 },
    { "addressing", FIELD_WORD, offsetof(struct group_body, addressing), false, 0, 0 },
    { "addresses", FIELD_TEXTS, offsetof(struct group_body, addresses), false, 0, ADDRESSES_MAX },
};

static const char *const pointers[GROUP_FIELDS] = { "/app", "/title", "/addressing", "/addresses" };

static bool add_group_fault(void *ctx, const struct group_fault *fault)
{
    const char *pointer = pointers[fault->field];
    bool none = fault->field == GROUP_LIST && strcmp(fault->rule, "list.empty") == 0;
    problem_error(ctx, pointer, fault->rule, NULL, "%s: %s", pointer + 1,
                  none ? "a manual group needs addresses" : fault->text);
    return true;
}

static void set_text(char **to, struct slice s)
{
    s = slice_trim(s);
    free(*to);
    *to = mem_dupn(s.p ? s.p : "", s.n);
}

static void take(const struct group_body *in, struct group_record *g)
{
    if (in->app.p)
        set_text(&g->app, in->app);
    if (in->title.p)
        set_text(&g->title, in->title);
    if (in->addressing.text.p)
        g->address_type = slice_eq(in->addressing.text, "manual");
    if (!in->addresses.array || g->address_type != 1)
        return;
    struct buf list = BUF_INIT(1 << 20);
    for (size_t i = 0; i < in->addresses.n; i++) {
        buf_text(&list, i ? "," : "");
        buf_slice(&list, body_text(&in->addresses, i));
    }
    set_text(&g->address_list, slice_of(list.data, list.len));
    buf_done(&list);
}

static bool told_of(const struct problem_errors *errors, const char *pointer)
{
    char field[sizeof(errors->place) + 40];
    snprintf(field, sizeof(field), "\"field\":\"%s%s", errors->place, pointer);
    return strstr(buf_str((struct buf *)&errors->list), field) != NULL;
}

/* A field whose type is wrong is told once. */
static unsigned told_fields(const struct problem_errors *errors)
{
    unsigned told = 0;
    for (size_t i = 0; i < GROUP_FIELDS; i++)
        if (errors->n && told_of(errors, pointers[i]))
            told |= 1u << i;
    return told;
}

/* The body on top of *g, by all rules; false: errors says which are broken. */
static bool read_group(const struct json_t *body, const struct body_field *fields, size_t n,
                       struct group_record *g, struct problem_errors *errors)
{
    struct group_body in = { .addressing = { .words = "registry,manual" } };
    int before = errors->n;
    body_fields(body, fields, n, &in, errors);
    take(&in, g);
    struct group_in rules = { .g = g, .told = told_fields(errors) };
    if (g->address_type == 0 && in.addresses.n)
        problem_error(errors, pointers[GROUP_LIST], "list.registry", NULL,
                      "addresses: those of a group by registry come from registrations");
    return !group_rules_check(&rules, add_group_fault, errors) && errors->n == before;
}

static bool read_body(struct web_call *call, const struct body_field *fields, size_t n,
                      struct group_record *g)
{
    struct problem_errors errors;
    problem_errors_init(&errors);
    bool good = read_group(call->json, fields, n, g, &errors);
    if (!good)
        problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
    return good;
}

bool group_json_read(const struct json_t *body, bool insert, struct group_record *g,
                     struct problem_errors *errors)
{
    return insert ? read_group(body, new_fields, countof(new_fields), g, errors)
                  : read_group(body, file_fields, countof(file_fields), g, errors);
}

/* ---- edits -------------------------------------------------------------------------------------
 */

static void overtaken(struct web_call *call, int64_t id)
{
    struct group_record g = { .id = 0 };
    struct why why = { "" };
    enum err err = call->db->ops->catalog->group_get(call->db, id, &g, &why);
    if (err)
        refuse(call, id, err, &why);
    else
        etag_changed(call, tag_of(&g), "the group");
    group_record_done(&g);
}

static void make_and_answer(struct web_call *call, struct edit *e, int64_t id)
{
    struct why why = { "" };
    enum err err = edit_make(call, e, NULL, &why);
    if (err == ERR_OVERTAKEN)
        overtaken(call, id);
    else if (err == ERR_INVALID) /* it has jobs, or is the last one */
        problem(call, PROBLEM_CONFLICT, "%s", why.text);
    else if (err)
        refuse(call, id, err, &why);
    else if (call->match.row->answer == ANSWER_EMPTY)
        v1_empty(call);
    else
        write_now(call, id);
}

void v1_group_create(struct web_call *call)
{
    struct why why = { "" };
    bool dry;
    if (!query_dry_run(call, &dry))
        return;
    struct edit *e = edit_new(EDIT_GROUP_INSERT);
    int64_t id = 0;
    bool good = read_body(call, new_fields, countof(new_fields), &e->group);
    if (!good || dry) {
        edit_free(e);
        if (good)
            v1_empty(call);
        return;
    }
    enum err err = edit_make(call, e, &id, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    write_now(call, id);
    if (call->status == 200)
        v1_created(call, "/groups", id);
}

void v1_group_update(struct web_call *call)
{
    bool dry;
    if (!query_dry_run(call, &dry))
        return;
    struct edit *e = edit_new(EDIT_GROUP_UPDATE);
    if (!find(call, &e->group) || !etag_match(call, tag_of(&e->group), "the group")) {
        edit_free(e);
        return;
    }
    e->id = e->group.id;
    group_record_copy(&e->was, &e->group);
    bool good = read_body(call, patch_fields, countof(patch_fields), &e->group);
    if (good && !dry) {
        make_and_answer(call, e, e->id);
        return;
    }
    edit_free(e);
    if (good)
        v1_empty(call);
}

void v1_group_delete(struct web_call *call)
{
    struct edit *e = edit_new(EDIT_GROUP_DELETE);
    if (!find(call, &e->was) || !etag_match(call, tag_of(&e->was), "the group")) {
        edit_free(e);
        return;
    }
    e->id = e->was.id;
    make_and_answer(call, e, e->id);
}

/* ---- list --------------------------------------------------------------------------------------
 */

static const char *const healths[] = { "bad", "ok" };

struct group_search {
    struct web_call *call;
    struct groups_filter f;
    uint64_t fields, health;
    int64_t limit;
    struct group_record *groups; /* found */
    int64_t n, room;
    int64_t matches; /* seen so far, of the health that is wanted */
};

static bool collect(void *ctx, const struct group_record *g)
{
    struct group_search *l = ctx;
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->groups = mem_resize(l->groups, (size_t)l->room * sizeof(*l->groups));
    }
    group_record_copy(&l->groups[l->n++], g);
    return true;
}

static bool read_filter(struct group_search *l, struct cursor *at)
{
    struct query q;
    query_begin(&q, l->call);
    l->limit = query_limit(&q);
    l->f = (struct groups_filter){ .scope = actor_scope(l->call->actor, PERM_READ) };
    l->f.words = query_text(&q, "q", 200);
    l->fields = query_words(&q, "fields", members, countof(members));
    int health = query_word(&q, "health", healths, countof(healths));
    l->health = health < 0 ? 0 : UINT64_C(1) << health;
    if (query_cursor(&q, at))
        l->f.after_id = at->id;
    l->f.limit = l->health ? COUNT_MAX : l->limit + 1;
    return query_end(&q);
}

bool group_is_bad(const struct center_group *g)
{
    return g->up == 0 || g->up < g->total;
}

const struct center_group *group_among(const struct center_group *all, size_t n, int64_t id)
{
    static const struct center_group none;
    for (size_t low = 0, high = n; low < high;) {
        size_t middle = (low + high) / 2;
        if (all[middle].id == id)
            return &all[middle];
        if (all[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return &none;
}

/* Write up to limit groups; *ret is the last of them if another one comes behind. */
static enum err write_groups(struct group_search *l, struct jsonw *w,
                             const struct group_record **ret, struct why *why)
{
    const struct group_record *last = NULL;
    int64_t *ids = mem_new((size_t)(l->n + 1) * sizeof(*ids));
    int64_t *failing = mem_new((size_t)(l->n + 1) * sizeof(*failing));
    struct center_group *all;
    size_t nall;
    enum err err = center_groups_live(l->call->center, &all, &nall, why);
    for (int64_t i = 0; i < l->n; i++)
        ids[i] = l->groups[i].id;
    board_failing_by_group(l->call->board, ids, (size_t)l->n, failing);
    for (int64_t i = 0; !err && i < l->n; i++) {
        struct group_live live = { *group_among(all, nall, ids[i]), 0, failing[i] };
        if (l->health && !(l->health & (group_is_bad(&live.addresses) ? 1 : 2)))
            continue;
        if (l->matches++ == l->limit) {
            *ret = last;
            break;
        }
        last = &l->groups[i];
        err = l->call->db->ops->catalog->group_jobs(l->call->db, ids[i], &live.jobs, why);
        group_write(w, last, &live, l->fields);
    }
    free(all);
    free(failing);
    free(ids);
    return err;
}

static void list(struct group_search *l)
{
    struct web_call *call = l->call;
    struct jsonw w = jsonw_on(&call->output);
    const struct group_record *last = NULL;
    struct why why = { "" };
    int64_t total = 0;
    v1_list_begin(&w);
    enum err err = call->db->ops->pages->groups_page(call->db, &l->f, collect, l, &total, &why);
    if (!err)
        err = write_groups(l, &w, &last, &why);
    struct cursor end = { .id = last ? last->id : 0 };
    if (err)
        problem_err(call, err, &why);
    else /* how many have that health is known page by page */
        v1_list_end(call, &w, last ? &end : NULL, l->health ? l->matches : total, !l->health);
}

void v1_groups_list(struct web_call *call)
{
    struct group_search l = { .call = call };
    struct cursor at;
    if (read_filter(&l, &at))
        list(&l);
    for (int64_t i = 0; i < l.n; i++)
        group_record_done(&l.groups[i]);
    free(l.groups);
}
