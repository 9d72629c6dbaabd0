/* SPDX-License-Identifier: Apache-2.0 */
/* password.h - what passwords are kept as, and how often one may be guessed.
 *
 * Ours: argon2id (RFC 9106) in a PHC string. Legacy: the unsalted hex MD5 (releases to 3.1) or
 * SHA-256 (3.2 and later) of XXL-JOB's user table. Checking takes about the time of one argon2 run
 * whatever the outcome, so that it does not tell which users exist. Any thread. */
#ifndef PEAL_API_PASSWORD_H
#define PEAL_API_PASSWORD_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "store/store.h"

#define PASSWORD_MIN 4 /* characters of a new one, as the original's rule */
#define PASSWORD_MAX 20
#define PASSWORD_BYTES_MAX 256 /* more is not hashed at all; the JSON API takes as many */
#define PASSWORD_HASH_SIZE 128

/* PASSWORD_MIN to max characters, at most PASSWORD_BYTES_MAX bytes, no blank at an end? why names
 * the rule. */
MUST_CHECK enum err password_check(struct slice password, int max, struct why *why);
/* As XXL-JOB keeps it in xxl_job_user.password: hex SHA-256, unsalted; old: MD5, as its
 * releases up to 3.1 do (store.md5_passwords). */
void password_shared(struct slice password, bool old, char ret[65]);
/* PHC string of a new hash with a random salt. */
MUST_CHECK enum err password_hash(struct slice password, char ret[PASSWORD_HASH_SIZE]);
/* user NULL: no such user; takes as long, and says no. *ret_upgrade: it matched a legacy
 * column, and ours should be written. */
bool password_matches(const struct user_record *user, struct slice password, bool *ret_upgrade);
/* A random one of 16 letters and digits. */
void password_random(char ret[17]);

/* Failed logins by (user, address): five are free, then each next one must wait twice as long, to
 * five minutes; forgotten after ten minutes of peace. Bounded: what was touched longest ago goes.
 * Not thread-safe; the caller locks. */
#define THROTTLE_SLOTS 1024

struct throttle {
    struct throttle_slot {
        uint64_t key; /* 0 = free */
        int64_t until_ms, touched_ms;
        int failures;
    } slots[THROTTLE_SLOTS];
};

/* ms until the next try is allowed; 0 = now. */
int64_t throttle_wait(const struct throttle *t, struct slice user, const char *address,
                      int64_t now_ms);
void throttle_failed(struct throttle *t, struct slice user, const char *address, int64_t now_ms);
void throttle_clear(struct throttle *t, struct slice user, const char *address);

#endif
