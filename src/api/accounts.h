/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.h - what is written about users and their sessions. Private to src/api.
 *
 * Each call is a write of its own (ledger/write.h): it blocks until the commit was heard. On OK it
 * stands in the database; ERR_TIMEOUT: it may still. Any thread but the scheduler's. */
#ifndef PEAL_API_ACCOUNTS_H
#define PEAL_API_ACCOUNTS_H

#include "server/center.h"

/* The record is copied; its id does not count. ERR_EXISTS: a user of that name is there. */
MUST_CHECK enum err account_add(struct center *c, const struct user_record *user, struct why *why);
/* See api_first_user. */
MUST_CHECK enum err account_first(struct center *c, const char *wanted, char *ret_password,
                                  size_t size, struct why *why);
/* Keep argon2 beside the password as it stands (store.h, user_upgrade). ERR_NOTFOUND. */
MUST_CHECK enum err account_upgrade(struct center *c, int64_t user_id, const char *argon2,
                                    struct why *why);
MUST_CHECK enum err account_log_in(struct center *c, const struct session_record *session,
                                   struct why *why);
/* End the session of that digest; OK also when there is none. */
MUST_CHECK enum err account_log_out(struct center *c, const char *digest, struct why *why);

#endif
