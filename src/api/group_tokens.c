/* SPDX-License-Identifier: Apache-2.0 */
/* The writer makes the change from the row that is there; the scheduler's thread hears of the
 * commit before the asker does, so what the answer says is in force. */
#include "api/group_tokens.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM_BYTES 32

/* ---- rules ------------------------------------------------------------------------------------
 */

bool group_token_famous(const char *token)
{
    return strcmp(token, "default_token") == 0;
}

const char *group_token_rule(const char *token, const char *server, const char **ret_detail)
{
    size_t n = strlen(token);
    *ret_detail = "everybody knows it from XXL-JOB's documentation";
    if (group_token_famous(token))
        return "token.known";
    *ret_detail = "must have 16 to 256 characters";
    if (n < GROUP_TOKEN_MIN || n > GROUP_TOKEN_MAX)
        return "text.length";
    *ret_detail = "must be printable ASCII without blanks (it is sent in a header)";
    for (size_t i = 0; i < n; i++)
        if (token[i] <= ' ' || token[i] >= 0x7f)
            return "text.visible";
    *ret_detail = "is the center's, which groups without one of their own have";
    return strcmp(token, server) == 0 ? "token.center" : NULL;
}

/* ---- the write --------------------------------------------------------------------------------
 */

struct token_job { /* owned by the write, counted because the asker reads it after it */
    _Atomic int refs;
    struct group_token_change change;
    char next[GROUP_TOKEN_MAX + 1];
    struct group_token made;
    struct audit *audit;
};

static void token_job_unref(struct token_job *j)
{
    if (atomic_fetch_sub(&j->refs, 1) != 1)
        return;
    group_token_done(&j->made);
    audit_free(j->audit);
    free(j);
}

static void on_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    token_job_unref(arg);
}

static void take(char **to, const char *text)
{
    free(*to);
    *to = mem_dup(text);
}

static enum err no_change(struct why *why)
{
    why_set(why, "no change of the token is under way");
    return ERR_INVALID;
}

/* t as it shall be. */
static enum err apply(const struct token_job *j, struct group_token *t, struct why *why)
{
    switch (j->change.act) {
    case GROUP_TOKEN_BEGIN:
        if (t->next) {
            why_set(why, "a change of the token is under way: finish it, or withdraw it");
            return ERR_EXISTS;
        }
        if (t->token && strcmp(t->token, j->next) == 0) {
            why_set(why, "the group has this token already");
            return ERR_EXISTS;
        }
        take(&t->next, j->next);
        return OK;
    case GROUP_TOKEN_FINISH:
        if (!t->next)
            return no_change(why);
        take(&t->token, t->next);
        take(&t->next, NULL);
        return OK;
    case GROUP_TOKEN_WITHDRAW:
        if (!t->next)
            return no_change(why);
        take(&t->next, NULL);
        return OK;
    case GROUP_TOKEN_REMOVE:
        take(&t->token, NULL);
        take(&t->next, NULL);
        return OK;
    }
    return ERR_INVALID;
}

/* That something was, or is, there, and whether it is another. */
static void audit_member(struct audit *a, const char *field, const char *was, const char *now)
{
    if (was && now && strcmp(was, now) != 0)
        audit_secret(a, field);
    else
        audit_json(a, field, was ? "\"***\"" : NULL, now ? "\"***\"" : NULL);
}

static enum err change(struct store *s, struct token_job *j, const struct group_record *g,
                       const struct group_token *was, struct why *why)
{
    group_token_done(&j->made);
    group_token_copy(&j->made, was);
    j->made.group_id = g->id;
    if (was->since_ms != j->change.since_ms) {
        why_set(why, "the token of the group has changed since");
        return ERR_OVERTAKEN;
    }
    enum err err = apply(j, &j->made, why);
    if (err)
        return err;
    int64_t now_ms = clock_wall_ms();
    bool own = j->made.token || j->made.next;
    j->made.since_ms = !own ? 0 : now_ms > was->since_ms ? now_ms : was->since_ms + 1;
    err = s->ops->catalog->group_token_put(s, &j->made, why);
    if (err)
        return err;
    audit_thing(j->audit, g->id, g->app);
    audit_member(j->audit, "/token", was->token, j->made.token);
    audit_member(j->audit, "/next", was->next, j->made.next);
    return audit_put(j->audit, s, why);
}

static enum err run(struct store *s, void *arg, struct why *why)
{
    struct token_job *j = arg;
    struct group_record g = { .id = 0 };
    struct group_token was = { .group_id = 0 };
    enum err err = store_record_hold(s, STORE_GROUP, j->change.group_id, why);
    if (!err)
        err = s->ops->catalog->group_get(s, j->change.group_id, &g, why);
    if (!err) {
        err = s->ops->catalog->group_token_get(s, g.id, &was, why);
        if (!err || err == ERR_NOTFOUND)
            err = change(s, j, &g, &was, why);
    }
    group_token_done(&was);
    group_record_done(&g);
    return err;
}

static void heard(struct center *c, void *arg)
{
    center_token_put(c, &((struct token_job *)arg)->made);
}

static const struct ledger_write token_write = { run, on_done };

enum err group_token_write(struct center *c, const struct group_token_change *change,
                           struct audit *audit, struct group_token *ret, struct why *why)
{
    struct token_job *j = mem_new(sizeof(*j));
    atomic_init(&j->refs, 2);
    j->change = *change;
    j->audit = audit;
    if (change->next)
        text_copy(j->next, sizeof(j->next), slice_text(change->next));
    else
        secret_token(j->next, sizeof(j->next), RANDOM_BYTES);
    j->change.next = NULL;
    enum err err = center_write_heard(c, &token_write, heard, j, why);
    if (!err)
        group_token_copy(ret, &j->made);
    token_job_unref(j);
    return err;
}
