/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.h - what is written about users, their sessions and tokens. Private to src/api.
 *
 * Each call is a write of its own (ledger/write.h): it blocks until the commit was heard. On OK it
 * stands in the database; ERR_TIMEOUT: it may still. Any thread but the scheduler's. The entry of
 * the audit (NULL: none) is taken, and written in the same transaction. */
#ifndef PEAL_API_ACCOUNTS_H
#define PEAL_API_ACCOUNTS_H

#include "api/audit.h"

/* The record is copied; *ret_id is its new id. ERR_EXISTS: a user of that name is there. */
MUST_CHECK enum err account_add(struct center *c, const struct user_record *user,
                                struct audit *audit, int64_t *ret_id, struct why *why);
/* See api_first_user. */
MUST_CHECK enum err account_first(struct center *c, const char *wanted, char *ret_password,
                                  size_t size, struct why *why);

struct account_change { /* what is NULL stays */
    int64_t user_id;
    int64_t version;             /* that the change was made from; < 0: any */
    const char *argon2;          /* of a new password, which was chosen by a person */
    const char *column;          /* for XXL-JOB's column, along with it */
    const struct rights *rights; /* or: */
    bool xxl;                    /* as XXL-JOB's columns say (user_record_grant_xxl) */
    int role;
    const char *permission;
    const char *preferences;
    const char
        *session; /* digest of the one session that outlives a change of password or rights */
};

/* Everything is copied. A new password, and other rights, end the user's sessions. ERR_NOTFOUND;
 * ERR_OVERTAKEN: the version is another; ERR_EXISTS: the last admin stays admin. */
MUST_CHECK enum err account_change(struct center *c, const struct account_change *change,
                                   struct audit *audit, struct why *why);
/* As account_change. */
MUST_CHECK enum err account_delete(struct center *c, int64_t user_id, int64_t version,
                                   struct audit *audit, struct why *why);
/* Keep argon2 beside the password as it stands (store.h, user_upgrade). ERR_NOTFOUND. */
MUST_CHECK enum err account_upgrade(struct center *c, int64_t user_id, const char *argon2,
                                    struct why *why);

/* Making a user, or changing rights, as a part of a larger transaction. The record or the rights
 * are copied, the audit is taken. */
struct account;
struct account *account_add_new(const struct user_record *user, struct audit *audit);
struct account *account_rights_new(int64_t user_id, int64_t version, const struct rights *rights,
                                   struct audit *audit);
/* Other rights in place of those that it was made with: groups got their ids in the transaction. */
void account_place(struct account *a, const struct rights *rights);
/* The writer's thread; may be run again. Errors as account_add's and account_change's. */
MUST_CHECK enum err account_run(struct store *s, struct account *a, struct why *why);
void account_free(struct account *a); /* NULL is fine */

/* The refusal of rights that the asker does not have (actor_covers): neither given, nor taken from
 * somebody who has them, nor reached by setting that person's password. */
#define ACCOUNT_NOT_COVERED                                                                        \
    "a user of more rights than this token has is neither made, changed nor deleted with it"

#define ACCOUNT_NAME_MIN 4 /* characters, as the original's rule */
#define ACCOUNT_NAME_MAX 20
/* Letters a-z; digits, '.', '_' and '-' behind the first one. */
bool account_name_ok(struct slice name);

MUST_CHECK enum err account_log_in(struct center *c, const struct session_record *session,
                                   struct audit *audit, struct why *why);
/* End the session of that digest; OK also when there is none. */
MUST_CHECK enum err account_log_out(struct center *c, const char *digest, struct audit *audit,
                                    struct why *why);

/* The record is copied; *ret_id is its new id. ERR_EXISTS: the user has 100 already. */
MUST_CHECK enum err account_token_add(struct center *c, const struct token_record *token,
                                      struct audit *audit, int64_t *ret_id, struct why *why);
/* ERR_NOTFOUND: the user has no such token. */
MUST_CHECK enum err account_token_delete(struct center *c, int64_t user_id, int64_t id,
                                         struct audit *audit, struct why *why);

/* Was used just now. Does not wait. */
void account_session_used(struct center *c, const char *digest, int64_t now_ms);
void account_token_used(struct center *c, int64_t id, int64_t now_ms);

#endif
