/* SPDX-License-Identifier: Apache-2.0 */
/* cause.h - why a run has failed, in a form in which equal causes compare equal.
 *
 * A message of an executor names what differs from run to run: ids, times, addresses, amounts.
 * These are folded into marks, so that "order 17 not found" and "order 23 not found" are one cause.
 * Pages group failures by it, and alarms say many failures of one cause at once. Pure. */
#ifndef PEAL_MODEL_CAUSE_H
#define PEAL_MODEL_CAUSE_H

#include <stdint.h>
#include "base/str.h"

/* So a trigger's message begins that did not reach its executor; its address follows, and ": ". */
#define CAUSE_UNREACHED "cannot connect to "

#define CAUSE_TEXT_MAX 200 /* bytes of a folded message */

struct failure { /* the columns of a log row that has failed; texts are borrowed, NULL is "" */
    int trigger_code, handle_code;
    const char *trigger_msg; /* without the kind before it */
    const char *handle_msg;
    const char *address;
};

struct cause {
    int code;                      /* handle_code; trigger_code where the run was never accepted */
    char text[CAUSE_TEXT_MAX + 1]; /* folded; "" where the message is empty */
    /* Of code and text. It is stored: the same in every release. The address is not in it: a dead
     * executor and one job that fails everywhere are both seen by comparing the two apart. */
    uint64_t fingerprint;
    const char *address; /* of the executor, borrowed from the failure; "" */
};

void cause_of(const struct failure *f, struct cause *ret);
/* The address that a trigger's message says it did not reach; empty for others. */
struct slice cause_unreached(struct slice trigger_msg);

/* The message's first line that is not blank, at most 2,000 bytes of it, folded: numbers, ids and
 * hexadecimal digits become '#', URLs and IP addresses '@', blanks one blank. size: of to, which is
 * terminated and cut on a character's boundary. */
void cause_fold(struct slice message, char *to, size_t size);

#endif
