/* SPDX-License-Identifier: Apache-2.0 */
/* The access token of a group: for administrators, whose answers alone hold it. During a change
 * they see which executors have not come with the new one. */
#include "api/group_tokens.h"
#include "api/body.h"
#include "api/v1/etag.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <stdlib.h>

static struct etag tag_of(const struct group_token *t)
{
    return (struct etag){ 't', t->group_id, t->since_ms };
}

static void refuse(struct web_call *call, enum err err, const struct why *why)
{
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_NOT_FOUND, "group %lld does not exist",
                (long long)call->params.items[0].number);
    else if (err == ERR_EXISTS || err == ERR_INVALID)
        problem(call, PROBLEM_CONFLICT, "%s", why->text);
    else
        problem_err(call, err, why);
}

/* The token of the path's group; without one, an empty record of the group. */
static enum err look(struct web_call *call, struct group_token *ret, struct why *why)
{
    const struct store_catalog *catalog = call->db->ops->catalog;
    struct group_record g = { .id = 0 };
    enum err err = catalog->group_get(call->db, call->params.items[0].number, &g, why);
    if (err)
        return err;
    *ret = (struct group_token){ .group_id = g.id };
    group_record_done(&g);
    err = catalog->group_token_get(call->db, ret->group_id, ret, why);
    return err == ERR_NOTFOUND ? OK : err;
}

static bool find(struct web_call *call, struct group_token *ret)
{
    struct why why = { "" };
    *ret = (struct group_token){ .group_id = 0 };
    enum err err = look(call, ret, &why);
    if (err)
        refuse(call, err, &why);
    return !err;
}

static void write_text_or_null(struct jsonw *w, const char *key, const char *text)
{
    if (text)
        jsonw_text(w, key, text);
    else
        jsonw_null(w, key);
}

static void write_waiting(struct jsonw *w, const struct center_keys *k)
{
    jsonw_i64(w, "moved", k->moved);
    jsonw_i64(w, "left", k->left);
    jsonw_array(w, "waiting");
    for (int i = 0; i < k->n; i++) {
        jsonw_object(w, NULL);
        jsonw_text(w, "address", k->waiting[i].address);
        jsonw_bool(w, "registered", k->waiting[i].told);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static void answer(struct web_call *call, const struct group_token *t)
{
    struct center_keys keys = { .moved = 0 };
    struct why why = { "" };
    struct jsonw w = jsonw_on(&call->output);
    enum err err = t->next ? center_group_keys(call->center, t->group_id, &keys, &why) : OK;
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "groupId", t->group_id);
    write_text_or_null(&w, "token", t->token);
    write_text_or_null(&w, "next", t->next);
    v1_instant_or_null(&w, "since", t->since_ms);
    write_waiting(&w, &keys);
    jsonw_object_end(&w);
    etag_write(call, tag_of(t));
    center_keys_done(&keys);
}

void v1_group_token_get(struct web_call *call)
{
    struct group_token t;
    if (find(call, &t))
        answer(call, &t);
    group_token_done(&t);
}

static void overtaken(struct web_call *call)
{
    struct group_token t;
    if (find(call, &t))
        etag_changed(call, tag_of(&t), "the token of the group");
    group_token_done(&t);
}

/* From t as it was read; *ret as it is now. False: answered. */
static bool change(struct web_call *call, enum group_token_act act, const char *next,
                   const struct group_token *t, struct group_token *ret)
{
    const struct group_token_change it = { act, t->group_id, t->since_ms, next };
    struct why why = { "" };
    enum err err = group_token_write(call->center, &it, audit_new(call, "group.token"), ret, &why);
    if (err == ERR_OVERTAKEN)
        overtaken(call);
    else if (err)
        refuse(call, err, &why);
    return !err;
}

static void change_and_answer(struct web_call *call, enum group_token_act act, const char *next)
{
    struct group_token t, now = { .group_id = 0 };
    if (find(call, &t) && etag_match(call, tag_of(&t), "the token of the group") &&
        change(call, act, next, &t, &now))
        answer(call, &now);
    group_token_done(&t);
    group_token_done(&now);
}

struct token_in {
    struct slice token;
};

static const struct body_field begin_fields[] = {
    { "token", FIELD_TEXT, offsetof(struct token_in, token), false, 0, FIELD_TEXT_MAX + 1 },
};

void v1_group_token_begin(struct web_call *call)
{
    struct token_in in = { .token = { NULL, 0 } };
    const char *detail = "";
    if (!body_read(call, begin_fields, countof(begin_fields), &in))
        return;
    const char *rule =
        in.token.p ? group_token_rule(in.token.p, center_token(call->center), &detail) : NULL;
    struct buf text = BUF_INIT(256);
    buf_printf(&text, "token: %s", detail);
    if (rule)
        v1_refuse_field(call, "/token", rule, buf_str(&text));
    else
        change_and_answer(call, GROUP_TOKEN_BEGIN, in.token.p);
    buf_done(&text);
}

void v1_group_token_finish(struct web_call *call)
{
    change_and_answer(call, GROUP_TOKEN_FINISH, NULL);
}

void v1_group_token_withdraw(struct web_call *call)
{
    change_and_answer(call, GROUP_TOKEN_WITHDRAW, NULL);
}

void v1_group_token_remove(struct web_call *call)
{
    struct group_token t, now = { .group_id = 0 };
    if (find(call, &t) && etag_match(call, tag_of(&t), "the token of the group") &&
        change(call, GROUP_TOKEN_REMOVE, NULL, &t, &now))
        v1_empty(call);
    group_token_done(&t);
    group_token_done(&now);
}
