/* SPDX-License-Identifier: Apache-2.0 */
/* channels.h - changes of alarm channels. Private to src/api; any thread but the scheduler's. Each
 * waits for its commit; the entry of the audit is taken, and has no values of settings in it. */
#ifndef PEAL_API_CHANNELS_H
#define PEAL_API_CHANNELS_H

#include "api/audit.h"

/* A channel as a part of another transaction, as a rule is (rules.h). */
struct channel_edit;
struct channel_edit *channel_edit_new(const struct channel_record *channel, struct audit *audit);
void channel_edit_free(struct channel_edit *e);
MUST_CHECK enum err channel_edit_run(struct store *s, struct channel_edit *e, struct why *why);

/* The record is copied; *ret_id is its new id. ERR_EXISTS: another has the name, or there are
 * CHANNELS_MAX. */
MUST_CHECK enum err channel_add(struct center *c, const struct channel_record *channel,
                                struct audit *audit, int64_t *ret_id, struct why *why);
/* The whole record; its version is that which the edit was made from. ERR_NOTFOUND; ERR_OVERTAKEN:
 * the version is another; ERR_EXISTS as above, or a rule tells it under another name. */
MUST_CHECK enum err channel_change(struct center *c, const struct channel_record *channel,
                                   struct audit *audit, struct why *why);
/* ERR_NOTFOUND; ERR_OVERTAKEN; ERR_EXISTS: a rule tells it. */
MUST_CHECK enum err channel_remove(struct center *c, int64_t id, int64_t version,
                                   struct audit *audit, struct why *why);

#endif
