/* SPDX-License-Identifier: Apache-2.0 */
/* made.h - a channel that was made through the API, open. */
#ifndef PEAL_ALARM_MADE_H
#define PEAL_ALARM_MADE_H

#include "alarm/channel.h"
#include "model/channel.h"

struct made_rules { /* of the operator, for all of them; lent for good */
    const char *ca; /* file of certificates; NULL: the system's */
    const char *targets;
    struct channel *mail; /* that of the settings; NULL: it is not set up */
};

/* Its ops close it. ERR_INVALID: the row is damaged. */
MUST_CHECK enum err made_open(const struct channel_record *r, const struct made_rules *rules,
                              struct channel **ret, struct why *why);
/* One try of one that is open, within so long. Blocks. */
enum delivery_outcome made_try(struct channel *c, const struct alarm_message *m, int try_ms,
                               const _Atomic bool *stop, struct why *said);

#endif
