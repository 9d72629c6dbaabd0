/* SPDX-License-Identifier: Apache-2.0 */
/* Both APIs come through here, so that what goes along with every edit has one place. */
#include "api/edits.h"
#include "api/audit.h"
#include "base/mem.h"
#include <stdlib.h>

struct pair { /* what the caller writes along with the edit, and the audit */
    const struct edit_companion *own, *audit;
    void *own_arg, *audit_arg;
};

static enum err pair_run(struct store *s, void *arg, const struct edit_rows *rows, struct why *why)
{
    const struct pair *p = arg;
    enum err err = p->own->run(s, p->own_arg, rows, why);
    return err ? err : p->audit->run(s, p->audit_arg, rows, why);
}

static void pair_done(void *arg, enum err err, const struct why *why)
{
    struct pair *p = arg;
    p->own->done(p->own_arg, err, why);
    p->audit->done(p->audit_arg, err, why);
    free(p);
}

static void both(struct edit *e, const struct edit_companion *own, void *own_arg)
{
    static const struct edit_companion companion = { pair_run, pair_done };
    struct pair *p = mem_new(sizeof(*p));
    *p = (struct pair){ own, e->companion, own_arg, e->companion_arg };
    e->companion = &companion;
    e->companion_arg = p;
}

struct request *edit_ask(struct web_call *call, struct edit *e, struct audit_many *audit)
{
    const struct edit_companion *own = e->companion;
    void *own_arg = e->companion_arg;
    if (audit)
        audit_many_edit(audit, e);
    else
        audit_edit(call, e);
    if (own)
        both(e, own, own_arg);
    return center_edit_ask(call->center, e);
}

enum err edit_answer(struct web_call *call, struct request *asked, int64_t *ret_id, struct why *why)
{
    struct edit *done;
    enum err err = center_edit_answer(call->center, asked, &done, why);
    if (err)
        return err;
    if (ret_id)
        *ret_id = done->id;
    edit_free(done);
    return OK;
}

enum err edit_make(struct web_call *call, struct edit *e, int64_t *ret_id, struct why *why)
{
    return edit_answer(call, edit_ask(call, e, NULL), ret_id, why);
}

/* A child runs when its parent has succeeded. */
static bool may_be_child(const void *ctx, int64_t group_id)
{
    const struct web_call *call = ctx;
    return actor_may(call->actor, PERM_RUN, group_id);
}

struct job_rules edit_rules(const struct web_call *call)
{
    return (struct job_rules){
        .db = call->db,
        .zones = center_zones(call->center),
        .zone = center_zone_name(call->center),
        .last_year = center_last_year(call->center),
        .user = call->user.username,
        .start_deadline_ms = center_start_deadline_ms(call->center),
        .may = may_be_child,
        .may_ctx = call,
    };
}
