/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - the user behind a request: sessions and passwords, for both APIs. Private to src/api.
 *
 * A session is 32 random bytes; the cookie holds them in base64url, the database their SHA-256, so
 * that a stolen database is no login. It ends at a fixed time, when it was not used for long, or at
 * logout. Each API sets a
 * cookie of its own name and takes them all. A worker's thread. */
#ifndef PEAL_API_SESSION_H
#define PEAL_API_SESSION_H

#include "api/front.h"

#define SESSION_TOKEN_SIZE 44 /* terminated */

struct logins; /* failed logins; any worker */

struct logins *logins_new(void);
/* How many failures the address has left. Any thread. */
struct rate_state logins_state(struct logins *l, uint64_t source, int quota);
void logins_free(struct logins *l);

/* The request's session into call->session and its user into call->user. ERR_NOTFOUND: not logged
 * in. */
MUST_CHECK enum err session_find(struct web_call *call, struct why *why);

/* Is it neither at its end nor idle for too long? */
bool session_lives(const struct web_call *call, const struct session_record *r, int64_t now_ms);

/* Is that the user's password? Into call->user if so. Takes 40 ms, and counts failures.
 * ERR_NOTFOUND: no such user, or not the password. ERR_BUSY: too many failures, *ret_wait_ms to
 * go. */
MUST_CHECK enum err session_login(struct web_call *call, struct slice name, struct slice password,
                                  int64_t *ret_wait_ms, struct why *why);
/* Change the password of call->user, who must know the old one: that is guessing, too. Ends the
 * user's other sessions. ERR_INVALID: the old one is wrong. ERR_BUSY: as session_login. The new one
 * has been checked (password_check). */
MUST_CHECK enum err session_set_password(struct web_call *call, struct slice old, struct slice new,
                                         int64_t *ret_wait_ms, struct why *why);
/* A new session of call->user into call->session: 30 days if it is to be kept, else 7. Sets the
 * cookie, which ends with the browser unless it is to be kept. */
MUST_CHECK enum err session_open(struct web_call *call, bool keep, const char *cookie, bool secure,
                                 struct why *why);
/* End every session whose cookie came with the request. */
MUST_CHECK enum err session_end(struct web_call *call, struct why *why);

#endif
