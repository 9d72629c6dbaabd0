/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - which access token serves for which group, in memory: what executors may say with the
 * token that they bring, and the token that a call to them carries.
 *
 * A group without a token of its own uses the server's. During a change of its token the old and
 * the new one serve alike, and an executor is called with the one that it registered with last.
 * Tokens are secret: they leave by keys_for alone. No clock, no I/O; the scheduler's thread. */
#ifndef PEAL_SERVER_KEYS_H
#define PEAL_SERVER_KEYS_H

#include "base/str.h"
#include "model/claim.h"
#include "model/group.h"

struct keys;

struct keys *keys_new(const char *token); /* the server's, "" for none; copied */
void keys_free(struct keys *k);           /* NULL is fine */

/* A group has that app name; NULL: it is gone, with its token. */
void keys_group(struct keys *k, int64_t group_id, const char *app);
/* A group has that token from now on, or none (neither token nor next). Copied. */
void keys_put(struct keys *k, const struct group_token *t);
/* Has the group exactly that one? */
bool keys_same(const struct keys *k, const struct group_token *t);
bool keys_any(const struct keys *k); /* does any group have one of its own? */

/* ---- what executors bring ------------------------------------------------------------------ */
/* token.p NULL: none came. All compare in time that does not depend on what is equal. */

bool keys_known(const struct keys *k, struct slice token); /* it serves for some group */
/* For the groups of that app name: of those with a token of their own, one at least; where none has
 * one, the server's. */
bool keys_serve_app(const struct keys *k, struct slice app, struct slice token);
bool keys_serve_group(const struct keys *k, int64_t group_id, struct slice token);
/* The same for groups that are not known yet; the caller's (claim_unref). */
struct claim *keys_claim(const struct keys *k, struct slice token);

/* ---- what executors get -------------------------------------------------------------------- */

enum key_used { KEY_UNKNOWN, KEY_OLD, KEY_NEXT };

struct key_sent {    /* which token a call carried; to be given back */
    uint32_t change; /* of the group's token: how many there had been */
    enum key_used used;
};

/* The token of a call for the group to that address; NULL: the server's. Valid until the group's
 * token changes. */
const char *keys_for(const struct keys *k, int64_t group_id, const char *address,
                     struct key_sent *ret);
/* The address registered for the app with that token, which serves; or unregistered. moved is told
 * of each group in whose change it came with the next one for the first time; since_ms: of the
 * change. */
void keys_heard(struct keys *k, struct slice app, struct slice address, struct slice token,
                void (*moved)(void *ctx, int64_t group_id, int64_t since_ms, struct slice address),
                void *ctx);
/* So it was before the server was started anew. */
void keys_moved(struct keys *k, int64_t group_id, const char *address);
/* The address did not come with the token that alone serves now: calls to it carry none until it
 * does, or the token changes again. */
void keys_bar(struct keys *k, int64_t group_id, const char *address);
/* Another server took its registration at that time, so it came with a token that served. One that
 * was barred before gets a token again. */
void keys_registered(struct keys *k, struct slice app, struct slice address, int64_t at_ms);
const char *keys_app(const struct keys *k, int64_t group_id); /* NULL: not known */
void keys_left(struct keys *k, struct slice app, struct slice address);
/* The executor said that the token of a call was wrong. True: another one serves, and has not been
 * tried since it last took one; keys_for gives it. The next one is given only to addresses that
 * came with it, and to trusted ones, which an administrator has listed: else whoever knows the old
 * one could register, refuse it, and be told the new one. */
bool keys_refused(struct keys *k, int64_t group_id, const char *address,
                  const struct key_sent *sent, bool trusted);
/* It took the call. */
void keys_taken(struct keys *k, int64_t group_id, const char *address, const struct key_sent *sent);
/* Does keys_put with this end a change of the group's token? */
bool keys_finished(const struct keys *k, const struct group_token *t);
/* The one that an address of the group is called with, as far as it has told. */
enum key_used keys_used(const struct keys *k, int64_t group_id, const char *address);

#endif
