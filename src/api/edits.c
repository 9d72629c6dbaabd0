/* SPDX-License-Identifier: Apache-2.0 */
/* Both APIs come through here, so that what goes along with every edit has one place. */
#include "api/edits.h"
#include "api/audit.h"
#include "api/edit_told.h"
#include "api/idem.h"
#include "base/mem.h"
#include <stdlib.h>

struct link {
    const struct edit_companion *companion;
    void *arg;
};

struct chain { /* what is written along with an edit, in order */
    struct link links[4];
    int n;
};

static enum err chain_before(void *arg, struct edit *e, struct why *why)
{
    const struct chain *c = arg;
    enum err err = OK;
    for (int i = 0; i < c->n && !err; i++)
        if (c->links[i].companion->before)
            err = c->links[i].companion->before(c->links[i].arg, e, why);
    return err;
}

static enum err chain_run(struct store *s, void *arg, const struct edit_rows *rows, struct why *why)
{
    const struct chain *c = arg;
    enum err err = OK;
    for (int i = 0; i < c->n && !err; i++)
        if (c->links[i].companion->run)
            err = c->links[i].companion->run(s, c->links[i].arg, rows, why);
    return err;
}

static void chain_done(void *arg, enum err err, const struct why *why)
{
    struct chain *c = arg;
    for (int i = 0; i < c->n; i++)
        c->links[i].companion->done(c->links[i].arg, err, why);
    free(c);
}

/* Take the edit's companion to the end of the chain. */
static void take(struct chain *c, struct edit *e)
{
    if (e->companion)
        c->links[c->n++] = (struct link){ e->companion, e->companion_arg };
    e->companion = NULL;
}

/* ---- the same request again --------------------------------------------------------------------
 */

struct note { /* of an Idempotency-Key: the edit is what its request makes of the item */
    struct idem *idem;
    int64_t item;
};

static enum err note_run(struct store *s, void *arg, const struct edit_rows *rows, struct why *why)
{
    const struct note *n = arg;
    const struct job_record *job = rows->job ? rows->job : rows->job_was;
    return idem_take(n->idem, s, n->item, job ? job->id : 0, why);
}

static void note_done(void *arg, enum err err, const struct why *why)
{
    struct note *n = arg;
    (void)err;
    (void)why;
    idem_unref(n->idem);
    free(n);
}

static void note_edit(const struct web_call *call, struct edit *e)
{
    static const struct edit_companion companion = { .run = note_run, .done = note_done };
    struct note *n = mem_new(sizeof(*n));
    if (!call->idem) {
        free(n);
        return;
    }
    *n = (struct note){ idem_ref(call->idem), call->idem_item };
    e->companion = &companion;
    e->companion_arg = n;
}

/* ---- asking ------------------------------------------------------------------------------------
 */

/* What goes along with the edit: first (may be NULL), the note of its key, what it has already, its
 * entry in the audit. */
static void dress(struct web_call *call, struct edit *e, struct audit_many *audit,
                  const struct edit_companion *first, void *first_arg)
{
    static const struct edit_companion companion = { chain_before, chain_run, chain_done };
    struct chain *c = mem_new(sizeof(*c));
    struct edit own = { .companion = e->companion, .companion_arg = e->companion_arg };
    if (first)
        c->links[c->n++] = (struct link){ first, first_arg };
    e->companion = NULL;
    note_edit(call, e);
    take(c, e);
    take(c, &own);
    if (audit)
        audit_many_edit(audit, e);
    else
        audit_edit(call, e);
    take(c, e);
    e->companion = &companion;
    e->companion_arg = c;
}

struct request *edit_ask(struct web_call *call, struct edit *e, struct audit_many *audit)
{
    dress(call, e, audit, NULL, NULL);
    return center_edit_ask(call->center, e);
}

void edit_along(struct web_call *call, struct edit *e, const struct edit_companion *first,
                void *first_arg)
{
    dress(call, e, NULL, first, first_arg);
}

enum err edit_answer(struct web_call *call, struct request *asked, int64_t *ret_id, struct why *why)
{
    struct edit *done;
    enum err err = center_edit_answer(call->center, asked, &done, why);
    if (err)
        return err;
    if (ret_id)
        *ret_id = done->id;
    err = edit_told(call, done, why);
    edit_free(done);
    return err;
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
