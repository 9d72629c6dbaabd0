/* SPDX-License-Identifier: Apache-2.0 */
/* idem.h - the same request again: Idempotency-Key. Private to src/api.
 *
 * A key belongs to a user for 24 hours. What a request makes is noted under its key in the
 * transaction that makes it, so it is made once, whatever becomes of the server before the answer
 * is out; then the answer is noted, and is given again. A request whose answer was not noted goes
 * through its handler again, is refused what is made already, and answers with that. */
#ifndef PEAL_API_IDEM_H
#define PEAL_API_IDEM_H

#include "api/front.h"

#define IDEM_KEY_MIN 8
#define IDEM_KEY_MAX 128

struct idem; /* one request's key, counted: what is under way holds it, too */

/* Is that a key: 8 to 128 visible characters of ASCII? Pure. */
bool idem_key_ok(struct slice key);

/* For handlers of operations that take a key, before anything else. False: the call is answered: it
 * is no key, another request had it, or that is its first answer. */
MUST_CHECK bool idem_open(struct web_call *call);
/* The group of the one thing that the call makes: its answer is for those who have the row's
 * permission there. */
void idem_group(struct web_call *call, int64_t group_id);
/* Nothing is to be remembered of this call after all. */
void idem_drop(struct web_call *call);

/* What the request has made for that item; ERR_NOTFOUND. */
MUST_CHECK enum err idem_made(struct web_call *call, int64_t item, int64_t *ret, struct why *why);
/* The call was refused with that error: is the reason that another request has the key? Then it is
 * answered. */
bool idem_clashes(struct web_call *call, enum err err);

/* In the transaction that makes item: ERR_EXISTS: it has been made. ERR_INVALID: another request
 * has the key. idem NULL: OK. */
MUST_CHECK enum err idem_take(struct idem *idem, struct store *s, int64_t item, int64_t made,
                              struct why *why);
/* The same transaction, when it is known what was made. */
MUST_CHECK enum err idem_set(struct idem *idem, struct store *s, int64_t item, int64_t made,
                             struct why *why);
struct idem *idem_ref(struct idem *idem); /* NULL is fine */
void idem_unref(struct idem *idem);       /* the same */

/* The handler has answered: remember the answer, if the call has a key. Blocks until it is on disk.
 */
void idem_keep(struct web_call *call);

#endif
