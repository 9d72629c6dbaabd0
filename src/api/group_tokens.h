/* SPDX-License-Identifier: Apache-2.0 */
/* group_tokens.h - changes of a group's access token, as writes with their entry in the audit.
 * Private to src/api.
 *
 * A change has two steps: it begins with a new token that serves beside the one so far, so that
 * executors can be given it one after the other, and ends when the new one alone serves. */
#ifndef PEAL_API_GROUP_TOKENS_H
#define PEAL_API_GROUP_TOKENS_H

#include "api/audit.h"

#define GROUP_TOKEN_MIN 16
#define GROUP_TOKEN_MAX 256

/* Is it a token that everybody knows from XXL-JOB's documentation? Pure. */
bool group_token_famous(const char *token);
/* The rule that the token breaks (a stable name), and what is wrong with it; NULL: none. server:
 * the center's. Pure; the text does not hold the token. */
const char *group_token_rule(const char *token, const char *server, const char **ret_detail);

enum group_token_act {
    GROUP_TOKEN_BEGIN,    /* next serves from now on, too */
    GROUP_TOKEN_FINISH,   /* and from now on alone */
    GROUP_TOKEN_WITHDRAW, /* or does not serve any more */
    GROUP_TOKEN_REMOVE,   /* the center's serves again, alone */
};

struct group_token_change {
    enum group_token_act act;
    int64_t group_id;
    int64_t since_ms; /* of what the change was made from; 0: there was none */
    const char *next; /* BEGIN; NULL: a new random one */
};

/* Blocks until it is committed and counts, as account_change. *ret: as it is then
 * (group_token_done). ERR_NOTFOUND: no such group; ERR_OVERTAKEN: it has changed since; ERR_EXISTS,
 * ERR_INVALID: there is a change, there is none. */
MUST_CHECK enum err group_token_write(struct center *c, const struct group_token_change *change,
                                      struct audit *audit, struct group_token *ret,
                                      struct why *why);

#endif
