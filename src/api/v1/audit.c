/* SPDX-License-Identifier: Apache-2.0 */
/* The audit as a list, newest first, that of one job, and one entry. */
#include "api/gate.h"
#include "api/v1/job_page.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

#define TOTAL_MAX 10000 /* counted exactly up to here */

static const char *const members[] = { "id",      "actor", "via",    "address", "action", "object",
                                       "changes", "items", "reason", "at",      "ms" };
enum { ACTOR = 1, VIA, ADDRESS, ACTION, OBJECT, CHANGES, ITEMS, REASON, AT, MS };
#define ALL_MEMBERS ((UINT64_C(1) << countof(members)) - 1)
#define HAS(set, member) ((set) >> (member)&1)

static void write_actor(struct jsonw *w, const struct audit_record *r)
{
    if (!r->user_id) {
        jsonw_null(w, "actor");
        return;
    }
    jsonw_object(w, "actor");
    jsonw_i64(w, "id", r->user_id);
    jsonw_text(w, "name", r->user);
    jsonw_object_end(w);
}

static void write_object(struct jsonw *w, const struct audit_record *r)
{
    jsonw_object(w, "object");
    jsonw_text(w, "kind", r->kind);
    jsonw_text(w, "id", r->object);
    jsonw_text(w, "name", r->name);
    jsonw_object_end(w);
}

static void write_entry(struct jsonw *w, const struct audit_record *r, uint64_t set)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->id);
    if (HAS(set, ACTOR))
        write_actor(w, r);
    if (HAS(set, VIA))
        jsonw_text(w, "via", r->via);
    if (HAS(set, ADDRESS))
        jsonw_text(w, "address", r->address);
    if (HAS(set, ACTION))
        jsonw_text(w, "action", r->action);
    if (HAS(set, OBJECT))
        write_object(w, r);
    if (HAS(set, CHANGES))
        jsonw_raw(w, "changes", slice_text(r->changes && r->changes[0] ? r->changes : "[]"));
    if (HAS(set, ITEMS))
        jsonw_i64(w, "items", r->items);
    if (HAS(set, REASON))
        jsonw_text(w, "reason", r->reason);
    if (HAS(set, AT))
        v1_time(w, "at", r->at_ms);
    if (HAS(set, MS))
        jsonw_i64(w, "ms", r->at_ms);
    jsonw_object_end(w);
}

void v1_audit_write(struct jsonw *w, const struct audit_record *r)
{
    write_entry(w, r, ALL_MEMBERS);
}

static bool add_entry(void *ctx, const struct audit_record *r)
{
    struct v1_listing *l = ctx;
    if (!v1_listing_takes(l, r->id))
        return false;
    write_entry(&l->w, r, l->members);
    return true;
}

/* "job:42" into kind and id. */
static void read_object(struct query *q, char kind[81], struct audit_filter *f)
{
    const char *text = query_text(q, "object", 80);
    const char *mark = text ? strchr(text, ':') : NULL;
    if (!text)
        return;
    if (!mark || !mark[1] || mark == text) {
        query_bad(q, "object", "audit.object", "must be a kind and an id, such as job:42");
        return;
    }
    text_copy(kind, 81, slice_of(text, (size_t)(mark - text)));
    f->kind = kind;
    f->object = mark + 1;
}

/* The rest of a query, and its page. */
static void answer(struct web_call *call, struct query *q, struct audit_filter *f, uint64_t wanted)
{
    struct why why = { "" };
    struct cursor before = { .id = 0 };
    struct v1_listing l = { .w = jsonw_on(&call->output),
                            .members = wanted ? wanted : ALL_MEMBERS };
    int64_t total = 0;
    l.limit = query_limit(q);
    if (query_cursor(q, &before))
        f->before_id = before.id;
    if (!query_end(q))
        return;
    f->limit = l.limit + 1;
    v1_list_begin(&l.w);
    enum err err = call->db->ops->users->audit_page(call->db, f, add_entry, &l, &total, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    bool exact = total <= TOTAL_MAX;
    v1_list_end(call, &l.w, l.more ? &l.last : NULL, exact ? total : TOTAL_MAX, exact);
}

void v1_audit_list(struct web_call *call)
{
    struct query q;
    struct audit_filter f = { .from_ms = -1 };
    char kind[81];
    query_begin(&q, call);
    uint64_t wanted = query_words(&q, "fields", members, countof(members));
    f.words = query_text(&q, "q", 200);
    f.from_ms = query_instant(&q, "from", -1);
    f.to_ms = query_instant(&q, "to", -1);
    f.user = query_text(&q, "actor", 64);
    f.action = query_text(&q, "action", 64);
    read_object(&q, kind, &f);
    answer(call, &q, &f, wanted);
}

/* Who may read the job may read what was done to it; who from is not hidden either. */
void v1_job_changes(struct web_call *call)
{
    int64_t id = call->params.items[0].number;
    struct why why = { "" };
    struct job_record r;
    char object[24];
    enum err err = job_read(call, id, &r, &why);
    int64_t group_id = r.group_id;
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_NOT_FOUND, "job %lld does not exist, or you may not see it",
                (long long)id);
    else if (err)
        problem_err(call, err, &why);
    job_record_done(&r);
    if (err || !gate_group(call, group_id, "job", id))
        return;
    snprintf(object, sizeof(object), "%lld", (long long)id);
    struct query q;
    struct audit_filter f = { .kind = "job", .object = object, .from_ms = -1, .to_ms = -1 };
    query_begin(&q, call);
    answer(call, &q, &f, ALL_MEMBERS);
}

void v1_audit_get(struct web_call *call)
{
    struct why why = { "" };
    struct audit_record r;
    struct jsonw w = jsonw_on(&call->output);
    enum err err =
        call->db->ops->users->audit_get(call->db, call->params.items[0].number, &r, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    write_entry(&w, &r, ALL_MEMBERS);
    audit_record_done(&r);
}
