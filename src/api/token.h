/* SPDX-License-Identifier: Apache-2.0 */
/* token.h - personal access tokens: "pat_" and 32 random bytes in base64url. Private to src/api. */
#ifndef PEAL_API_TOKEN_H
#define PEAL_API_TOKEN_H

#include "api/front.h"

#define TOKEN_TEXT_SIZE 48 /* terminated */

/* A new one, and what the database holds of it. */
void token_make(char to[TOKEN_TEXT_SIZE], char ret_digest[65], char ret_prefix[TOKEN_PREFIX_SIZE]);
/* False: it has not the shape of a token. */
bool token_digest(struct slice text, char ret_digest[65]);
/* The token of that text into call->token, its owner into call->user, and the actor that is cut to
 * both. ERR_NOTFOUND: no such token, or it has ended. A worker's thread. */
MUST_CHECK enum err token_find(struct web_call *call, struct slice text, struct why *why);
/* The same by its digest. */
MUST_CHECK enum err token_find_digest(struct web_call *call, const char *digest, struct why *why);

#endif
