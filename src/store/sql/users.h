/* SPDX-License-Identifier: Apache-2.0 */
/* users.h - how users come in: the parts of store_users that sessions.c and tokens.c have. store.h
 * says what each does. Private to src/store. */
#ifndef PEAL_STORE_SQL_USERS_H
#define PEAL_STORE_SQL_USERS_H

#include "store/sql/sql.h"

MUST_CHECK enum err sql_session_delete(struct store *store, const char *digest, struct why *why);
MUST_CHECK enum err sql_session_put(struct store *store, const struct session_record *r,
                                    struct why *why);
MUST_CHECK enum err sql_session_find(struct store *store, const char *digest,
                                     struct session_record *ret, struct why *why);
MUST_CHECK enum err sql_sessions_of(struct store *store, int64_t user_id, session_row_fn *fn,
                                    void *ctx, struct why *why);
MUST_CHECK enum err sql_session_used(struct store *store, const char *digest, int64_t used_ms,
                                     struct why *why);
MUST_CHECK enum err sql_sessions_end(struct store *store, int64_t user_id, const char *but,
                                     struct why *why);
MUST_CHECK enum err sql_sessions_expire(struct store *store, int64_t now_ms, struct why *why);
MUST_CHECK enum err sql_token_insert(struct store *store, struct token_record *r, struct why *why);
MUST_CHECK enum err sql_token_get(struct store *store, int64_t id, struct token_record *ret,
                                  struct why *why);
MUST_CHECK enum err sql_token_find(struct store *store, const char *digest,
                                   struct token_record *ret, struct why *why);
MUST_CHECK enum err sql_tokens_of(struct store *store, int64_t user_id, int64_t after_id,
                                  int64_t limit, token_row_fn *fn, void *ctx, int64_t *ret_total,
                                  struct why *why);
MUST_CHECK enum err sql_token_used(struct store *store, int64_t id, int64_t used_ms,
                                   struct why *why);
MUST_CHECK enum err sql_token_delete(struct store *store, int64_t id, struct why *why);

#endif
