/* SPDX-License-Identifier: Apache-2.0 */
/* A request's rights are read once, and a stream is a request that lasts for hours: so they are
 * read again with each heartbeat, by a worker, as the gate would read them. A stream whose asker
 * may read other groups than at its begin ends; its client comes back and gets what it may see now.
 */
#include "api/watch.h"
#include "api/session.h"
#include "api/token.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* ---- a new one ---------------------------------------------------------------------------------
 */

void watch_who(struct web_call *call)
{
    struct viewer_who *who = call->who = mem_new(sizeof(*who));
    const struct token_record *t = &call->token;
    who->user_id = call->user.id;
    who->token = t->id > 0;
    memcpy(who->digest, who->token ? t->digest : call->session.digest, sizeof(who->digest));
    who->ends_ms = !who->token         ? call->session.expires_ms
                   : t->expires_ms > 0 ? t->expires_ms
                                       : INT64_MAX;
    viewer_who_scope(who, actor_scope(call->actor, PERM_READ));
}

bool watch_room(struct web_call *call, const struct web_live *live)
{
    if (!httpd_stream_room(call->request->front)) {
        problem_wait(call, PROBLEM_UNAVAILABLE, 5000,
                     "as many streams are open as this server takes (streams.max)");
        return false;
    }
    if (!viewers_room(live->viewers, call->who->user_id)) {
        problem_wait(call, PROBLEM_UNAVAILABLE, 5000,
                     "this user has " TEXT_OF(VIEWERS_OF_USER) " streams open: close one");
        return false;
    }
    return true;
}

/* ---- those that are there ----------------------------------------------------------------------
 */

struct seen {
    uint64_t id;
    struct viewer_who who;
    bool over;
};

struct check {
    size_t n, max;
    struct seen items[];
};

static void collect(void *ctx, const struct viewer *v)
{
    struct check *c = ctx;
    if (c->n == c->max)
        return;
    struct seen *s = &c->items[c->n++];
    s->id = v->id;
    viewer_who_copy(&s->who, &v->who);
}

/* What the session or token may do now into call->actor. ERR_NOTFOUND: it has ended. */
static enum err look_up(struct web_call *call, const struct viewer_who *who, struct why *why)
{
    const struct store_users *users = call->db->ops->users;
    if (who->token)
        return token_find_digest(call, who->digest, why);
    enum err err = users->session_find(call->db, who->digest, &call->session, why);
    if (!err && !session_lives(call, &call->session, clock_wall_ms()))
        return ERR_NOTFOUND;
    if (!err)
        err = users->user_get(call->db, call->session.user_id, &call->user, why);
    if (!err)
        call->actor = actor_new(call->user.id, &call->user.rights);
    return err;
}

static bool is_over(struct web_call *call, const struct viewer_who *who)
{
    struct why why = { "" };
    enum err err = look_up(call, who, &why);
    bool over = err == ERR_NOTFOUND;
    if (!err)
        over = !actor_has(call->actor, PERM_READ) ||
               !scope_same(actor_scope(call->actor, PERM_READ), &who->scope);
    actor_free(call->actor);
    call->actor = NULL;
    user_record_done(&call->user);
    token_record_done(&call->token);
    return over;
}

static void look(struct web_call *call)
{
    struct check *c = call->wish;
    for (size_t i = 0; call->db && i < c->n; i++)
        c->items[i].over = is_over(call, &c->items[i].who);
}

static void check_free(void *wish)
{
    struct check *c = wish;
    for (size_t i = 0; i < c->n; i++)
        viewer_who_done(&c->items[i].who);
    free(c);
}

static void end_them(struct web_call *call, const struct web_live *live)
{
    struct check *c = call->wish;
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].over)
            viewers_end(live->viewers, c->items[i].id);
}

void watch_collect(struct web_call *call, const struct viewers *viewers)
{
    size_t max = (size_t)viewers_count(viewers);
    struct check *c = mem_new(sizeof(*c) + max * sizeof(*c->items));
    c->max = max;
    viewers_each(viewers, collect, c);
    call->wish = c;
    call->wish_free = check_free;
    call->task = look;
    call->done = end_them;
}
