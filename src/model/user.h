/* SPDX-License-Identifier: Apache-2.0 */
/* user.h - the rows of users: the user with its rights, sessions, tokens, and the audit. Times are
 * epoch milliseconds, -1 = none. Texts of a user, a token and an audit row are owned. */
#ifndef PEAL_MODEL_USER_H
#define PEAL_MODEL_USER_H

#include "model/rights.h"

struct user_record {
    int64_t id;
    char *username;
    char *password;   /* the column that XXL-JOB reads; "" when only ours is set */
    char *argon2;     /* peal_user: PHC string; NULL if there is none, or if password has changed
                       * since it was made */
    char *permission; /* comma separated group ids, NULL = none */
    int role;         /* 0 normal, 1 admin */
    struct rights rights; /* in force: ours, or those of role and permission if another program has
                           * changed these */
    char *preferences;    /* JSON object; NULL = none */
    bool must_change;     /* the password was generated: the console asks for another */
    int64_t version;      /* of what others may change: counts up with each change */
    int64_t created_ms, login_ms;
    int64_t sessions; /* on reading only: how many are open */
};

void user_record_done(struct user_record *r);
void user_record_copy(struct user_record *to, const struct user_record *from);
/* Set the rights (copied) and the columns of XXL-JOB that belong to them. */
void user_record_grant(struct user_record *r, const struct rights *rights);
/* The other way round, as an edit in XXL-JOB's words does: rights follow the columns, unless these
 * stay as they are. */
void user_record_grant_xxl(struct user_record *r, int role, const char *permission);

struct session_record {
    char digest[65]; /* lower-case hex SHA-256 of the token */
    int64_t user_id, created_ms, expires_ms;
    int64_t used_ms; /* last request, to the minute */
    char address[64];
};

#define TOKEN_PREFIX_SIZE 13

struct token_record { /* a personal access token */
    int64_t id, user_id;
    char *name;
    char digest[65];                /* as of a session */
    char prefix[TOKEN_PREFIX_SIZE]; /* how the secret begins, for people */
    unsigned permissions;
    bool all_groups;
    int64_t *groups; /* owned; ascending */
    size_t n;
    int64_t created_ms, expires_ms; /* -1: never */
    int64_t used_ms;                /* to the minute; -1: never */
};

void token_record_done(struct token_record *r);
void token_record_copy(struct token_record *to, const struct token_record *from);
/* "1,4", NULL for all groups. Owned by the caller. */
char *token_groups_write(const struct token_record *r);
/* What is no id is left out. */
void token_groups_read(struct token_record *r, const char *text);
struct scope token_scope(const struct token_record *r); /* borrowed from it */

#endif
