/* SPDX-License-Identifier: Apache-2.0 */
/* A token is found by its digest, so that the time of looking tells nothing about it; what it may
 * is cut to what its owner may at this moment. */
#include "api/token.h"
#include "base/clock.h"
#include "base/secret.h"
#include <stdio.h>
#include <string.h>

#define PREFIX "pat_"
#define BYTES 32
#define SHOWN 8 /* characters that people know it by */

static void digest_of(struct slice text, char ret[65])
{
    unsigned char digest[32];
    sha256(text.p, text.n, digest);
    hex_text(digest, sizeof(digest), ret);
}

void token_make(char to[TOKEN_TEXT_SIZE], char ret_digest[65], char ret_prefix[TOKEN_PREFIX_SIZE])
{
    memcpy(to, PREFIX, sizeof(PREFIX));
    secret_token(to + sizeof(PREFIX) - 1, TOKEN_TEXT_SIZE - sizeof(PREFIX) + 1, BYTES);
    digest_of(slice_text(to), ret_digest);
    text_copy(ret_prefix, TOKEN_PREFIX_SIZE, slice_of(to, SHOWN));
}

static bool in_base64url(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_';
}

bool token_digest(struct slice text, char ret_digest[65])
{
    const size_t n = sizeof(PREFIX) - 1;
    if (text.n != TOKEN_TEXT_SIZE - 1 || memcmp(text.p, PREFIX, n) != 0)
        return false;
    for (size_t i = n; i < text.n; i++)
        if (!in_base64url(text.p[i]))
            return false;
    digest_of(text, ret_digest);
    return true;
}

static enum err owner_find(struct web_call *call, struct why *why)
{
    const struct token_record *t = &call->token;
    enum err err = call->db->ops->users->user_get(call->db, t->user_id, &call->user, why);
    if (err)
        return err;
    struct actor *owner = actor_new(t->user_id, &call->user.rights);
    const struct scope scope = token_scope(t);
    call->actor = actor_new_token(owner, t->id, t->permissions, &scope);
    actor_free(owner);
    return OK;
}

enum err token_find_digest(struct web_call *call, const char *digest, struct why *why)
{
    if (!call->db) {
        why_set(why, "the database cannot be read");
        return ERR_STORE;
    }
    enum err err = call->db->ops->users->token_find(call->db, digest, &call->token, why);
    if (err)
        return err;
    int64_t ends_ms = call->token.expires_ms;
    return ends_ms > 0 && ends_ms <= clock_wall_ms() ? ERR_NOTFOUND : owner_find(call, why);
}

enum err token_find(struct web_call *call, struct slice text, struct why *why)
{
    char digest[65];
    return token_digest(text, digest) ? token_find_digest(call, digest, why) : ERR_NOTFOUND;
}
