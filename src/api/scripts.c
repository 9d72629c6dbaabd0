/* SPDX-License-Identifier: Apache-2.0 */
/* A version is written along with the edit of its job, as a companion: both are there or neither
 * is. Which version is the newest is looked at in that transaction, so of two people who edit one
 * script, one is told. */
#include "api/scripts.h"
#include "api/edits.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define TRIES 50

struct publishing { /* belongs to the edit; the asker may have given up */
    int64_t base;
    int64_t version;      /* result */
    int64_t *ret_version; /* the asker's; used while it waits only */
};

bool script_has(const struct job_record *job)
{
    return job->glue_type && strncmp(job->glue_type, "GLUE_", 5) == 0;
}

static bool take_id(void *ctx, const struct script_record *r)
{
    *(int64_t *)ctx = r->id;
    return false;
}

enum err script_newest(struct store *db, int64_t job_id, int64_t *ret, struct why *why)
{
    *ret = 0;
    return db->ops->catalog->scripts_each(db, job_id, 0, 1, take_id, ret, why);
}

/* ---- in the transaction ------------------------------------------------------------------------
 */

static enum err publish_run(struct store *s, void *arg, const struct edit_rows *rows,
                            struct why *why)
{
    struct publishing *p = arg;
    const struct job_record *job = rows->job;
    int64_t newest;
    enum err err = script_newest(s, job->id, &newest, why);
    if (err)
        return err;
    if (p->base != SCRIPT_ANY_BASE && p->base != newest) {
        why_set(why, "the newest version is %lld, the edit was made on %lld", (long long)newest,
                (long long)p->base);
        return ERR_OVERTAKEN;
    }
    struct script_record r = { .job_id = job->id,
                               .glue_type = job->glue_type,
                               .source = job->glue_source,
                               .remark = job->glue_remark,
                               .added_ms = job->glue_updated_ms };
    err = s->ops->catalog->script_add(s, &r, SCRIPTS_KEPT, why);
    p->version = r.id;
    return err;
}

static void publish_done(void *arg, enum err err, const struct why *why)
{
    (void)why;
    struct publishing *p = arg;
    if (!err && p->ret_version)
        *p->ret_version = p->version;
    free(p);
}

static const struct edit_companion publish = { .run = publish_run, .done = publish_done };

static void attach(struct edit *e, int64_t base, int64_t *ret_version)
{
    struct publishing *p = mem_new(sizeof(*p));
    p->base = base;
    p->ret_version = ret_version;
    e->companion = &publish;
    e->companion_arg = p;
}

/* ---- edits -------------------------------------------------------------------------------------
 */

void script_first(struct edit *insert)
{
    struct job_record *r = &insert->job;
    if (!r->glue_remark)
        r->glue_remark = mem_dup("first version");
    attach(insert, SCRIPT_ANY_BASE, NULL);
}

static void set_text(char **to, const char *text)
{
    free(*to);
    *to = mem_dup(text);
}

static void drop_returns(char *text)
{
    char *to = text;
    for (; *text; text++)
        if (*text != '\r')
            *to++ = *text;
    *to = '\0';
}

/* The edit's record gets that source, which becomes a version with it. */
static void set_source(struct edit *e, const char *source, const char *remark)
{
    set_text(&e->job.glue_source, source);
    set_text(&e->job.glue_remark, remark);
    if (strcmp(e->job.glue_type, "GLUE_SHELL") == 0)
        drop_returns(e->job.glue_source);
    e->job.glue_updated_ms = clock_wall_ms();
}

void script_next(struct edit *e, const char *source, const char *remark)
{
    set_source(e, source, remark);
    attach(e, SCRIPT_ANY_BASE, NULL);
}

static enum err try_once(struct web_call *call, int64_t job_id, const struct script_new *script,
                         int64_t *ret_version, struct why *why)
{
    struct edit *e = edit_new(EDIT_JOB_UPDATE);
    enum err err = call->db->ops->catalog->job_get(call->db, job_id, &e->job, why);
    if (!err && !script_has(&e->job)) {
        why_set(why, "job %lld has no script: it is of kind BEAN", (long long)job_id);
        err = ERR_INVALID;
    }
    if (err) {
        edit_free(e);
        return err;
    }
    e->id = job_id;
    e->version = e->job.version;
    set_source(e, script->source, script->remark);
    attach(e, script->base, ret_version);
    return edit_make(call, e, NULL, why);
}

/* Another edit of the job may overtake this one, which does not matter to the script: then it is
 * made again on top of that. */
enum err script_publish(struct web_call *call, int64_t job_id, const struct script_new *script,
                        int64_t *ret_version, struct why *why)
{
    int64_t newest;
    enum err err = ERR_OVERTAKEN;
    for (int i = 0; err == ERR_OVERTAKEN && i < TRIES; i++) {
        why_clear(why);
        err = script_newest(call->db, job_id, &newest, why);
        if (!err && script->base != SCRIPT_ANY_BASE && script->base != newest) {
            why_set(why, "the newest version is %lld, the edit was made on %lld", (long long)newest,
                    (long long)script->base);
            return ERR_OVERTAKEN;
        }
        if (!err)
            err = try_once(call, job_id, script, ret_version, why);
    }
    return err;
}
