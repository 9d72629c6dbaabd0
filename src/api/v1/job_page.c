/* SPDX-License-Identifier: Apache-2.0 */
/* A page of jobs meets few groups: each is read once. */
#include "api/v1/job_page.h"
#include "api/scripts.h"
#include "api/v1/job_json.h"
#include "api/v1/job_recent.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "ledger/figures.h"
#include <stdlib.h>
#include <string.h>

const char *const job_members[JOB_MEMBERS] = {
    "id",        "name",    "group",   "owner",     "state",         "stopReason",
    "schedule",  "task",    "running", "children",  "alarmEmails",   "nextAt",
    "nextMs",    "lastAt",  "lastMs",  "createdAt", "createdMs",     "updatedAt",
    "updatedMs", "version", "recent",  "streak",    "scriptVersion",
};

void job_writer_init(struct job_writer *x, struct web_call *call, struct jsonw *w, uint64_t members)
{
    *x = (struct job_writer){ .call = call, .w = w, .members = members };
}

void job_writer_done(struct job_writer *x)
{
    for (size_t i = 0; i < x->ngroups; i++)
        group_record_done(&x->groups[i]);
    free(x->groups);
}

static bool wants(const struct job_writer *x, const char *member)
{
    if (!x->members)
        return true;
    for (size_t i = 0; i < JOB_MEMBERS; i++)
        if (strcmp(job_members[i], member) == 0)
            return x->members >> i & 1;
    return false;
}

/* ---- the group ---------------------------------------------------------------------------------
 */

static enum err find_group(struct job_writer *x, int64_t id, const struct group_record **ret,
                           struct why *why)
{
    struct store *db = x->call->db;
    for (size_t i = 0; i < x->ngroups; i++)
        if (x->groups[i].id == id) {
            *ret = &x->groups[i];
            return OK;
        }
    x->groups = mem_resize(x->groups, (x->ngroups + 1) * sizeof(*x->groups));
    struct group_record *g = &x->groups[x->ngroups];
    *g = (struct group_record){ .id = id };
    enum err err = db->ops->catalog->group_get(db, id, g, why);
    if (err == ERR_NOTFOUND) { /* another program has deleted it */
        why_clear(why);
        err = OK;
    }
    if (err)
        return err;
    g->id = id;
    x->ngroups++;
    *ret = g;
    return OK;
}

static void write_group(struct jsonw *w, const struct group_record *g)
{
    jsonw_object(w, "group");
    jsonw_i64(w, "id", g->id);
    jsonw_text(w, "app", g->app ? g->app : "");
    jsonw_text(w, "title", g->title ? g->title : "");
    jsonw_object_end(w);
}

/* ---- members -----------------------------------------------------------------------------------
 */

static void write_texts(struct job_writer *x, struct job_record *r)
{
    if (wants(x, "name"))
        jsonw_text(x->w, "name", r->description ? r->description : "");
    if (wants(x, "owner"))
        jsonw_text(x->w, "owner", r->author ? r->author : "");
    if (wants(x, "state"))
        jsonw_text(x->w, "state", r->enabled ? "scheduled" : "stopped");
    if (wants(x, "stopReason"))
        jsonw_text(x->w, "stopReason", r->stop_reason);
}

static void write_objects(struct job_writer *x, struct job_record *r)
{
    if (wants(x, "schedule"))
        job_json_object(x->w, "schedule", r);
    if (wants(x, "task"))
        job_json_object(x->w, "task", r);
    if (wants(x, "running"))
        job_json_object(x->w, "running", r);
    if (wants(x, "children"))
        job_json_children(x->w, r);
    if (wants(x, "alarmEmails"))
        job_json_emails(x->w, r);
}

/* An instant in both forms; ms <= 0: there is none, which is null, or left out. */
static void write_instant(struct job_writer *x, const char *at, const char *as_ms, int64_t ms,
                          bool null)
{
    char text[V1_INSTANT_SIZE];
    bool none = ms <= 0 || ms == NEVER_MS;
    if (none && !null)
        return;
    if (wants(x, at))
        jsonw_text(x->w, at, none ? NULL : v1_instant_text(ms, text));
    if (wants(x, as_ms) && none)
        jsonw_null(x->w, as_ms);
    else if (wants(x, as_ms))
        jsonw_i64(x->w, as_ms, ms);
}

static void write_times(struct job_writer *x, const struct job_record *r)
{
    write_instant(x, "nextAt", "nextMs", r->next_ms, true);
    write_instant(x, "lastAt", "lastMs", r->last_ms, true);
    write_instant(x, "createdAt", "createdMs", r->added_ms, false);
    write_instant(x, "updatedAt", "updatedMs", r->updated_ms, false);
}

static void write_runs(struct job_writer *x, const struct job_record *r)
{
    struct job_stat stat = { .nlast = 0 };
    if (!wants(x, "recent") && !wants(x, "streak"))
        return;
    (void)!figures_job(center_figures(x->call->center), r->id, &stat);
    if (wants(x, "recent"))
        job_recent_write(x->w, &stat);
    if (wants(x, "streak"))
        job_streak_write(x->w, &stat);
}

/* Null of a job that has no script; 0: there is none but that of its own row. */
static enum err write_script(struct job_writer *x, const struct job_record *r, struct why *why)
{
    int64_t newest = 0;
    if (!wants(x, "scriptVersion"))
        return OK;
    if (!script_has(r)) {
        jsonw_null(x->w, "scriptVersion");
        return OK;
    }
    enum err err = script_newest(x->call->db, r->id, &newest, why);
    jsonw_i64(x->w, "scriptVersion", newest);
    return err;
}

enum err job_write(struct job_writer *x, const struct job_record *record, struct why *why)
{
    struct job_record r = *record; /* its texts are lent */
    const struct group_record *g;
    enum err err = find_group(x, r.group_id, &g, why);
    if (err)
        return err;
    jsonw_object(x->w, NULL);
    jsonw_i64(x->w, "id", r.id);
    if (wants(x, "group"))
        write_group(x->w, g);
    write_texts(x, &r);
    write_objects(x, &r);
    write_times(x, &r);
    write_runs(x, &r);
    err = write_script(x, &r, why);
    if (wants(x, "version"))
        jsonw_i64(x->w, "version", r.version);
    jsonw_object_end(x->w);
    return err;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static bool keep(void *ctx, const struct job_record *r)
{
    struct job_record *to = ctx;
    job_record_done(to);
    job_record_copy(to, r);
    return true;
}

enum err job_read(struct web_call *call, int64_t id, struct job_record *ret, struct why *why)
{
    const struct jobs_filter f = { .scope = actor_scope(call->actor, PERM_READ),
                                   .id = id,
                                   .status = -1,
                                   .limit = 1,
                                   .now_ms = clock_wall_ms() };
    int64_t total;
    job_record_init(ret);
    enum err err = call->db->ops->pages->jobs_page(call->db, &f, keep, ret, &total, why);
    return err ? err : ret->id ? OK : ERR_NOTFOUND;
}
