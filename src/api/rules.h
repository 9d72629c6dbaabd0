/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - what is written about rules of alarms and about what they have found. Private to
 * src/api.
 *
 * Each call is a write of its own (ledger/write.h), as in accounts.h: it blocks until the commit
 * was heard, and the entry of the audit (NULL: none) is taken. */
#ifndef PEAL_API_RULES_H
#define PEAL_API_RULES_H

#include "api/audit.h"

/* A rule as a part of another transaction: it is made (id 0), or changed as by rule_change. The
 * record is copied, audit is taken. The owner frees it when nothing runs it any more. */
struct rule_edit;
struct rule_edit *rule_edit_new(struct center *c, const struct rule_record *rule,
                                struct audit *audit);
void rule_edit_free(struct rule_edit *e);
/* Before it is run: what the rule is about, when that was made in the same transaction. */
void rule_edit_place(struct rule_edit *e, int64_t group_id, int64_t job_id);
/* The writer's thread; as run of ledger/write.h. */
MUST_CHECK enum err rule_edit_run(struct store *s, struct rule_edit *e, struct why *why);

/* The record is copied; *ret_id is its new id. ERR_EXISTS: there are RULES_MAX; ERR_INVALID: its
 * group or job is not there. */
MUST_CHECK enum err rule_add(struct center *c, const struct rule_record *rule, struct audit *audit,
                             int64_t *ret_id, struct why *why);
/* The whole record; its version is that which the edit was made from. A rule that is about
 * something else from now on, or is not enabled, loses its open alarms. ERR_NOTFOUND;
 * ERR_OVERTAKEN: the version is another; ERR_INVALID as above. */
MUST_CHECK enum err rule_change(struct center *c, const struct rule_record *rule,
                                struct audit *audit, struct why *why);
/* With its open alarms. ERR_NOTFOUND; ERR_OVERTAKEN. */
MUST_CHECK enum err rule_remove(struct center *c, int64_t id, int64_t version, struct audit *audit,
                                struct why *why);

/* ERR_NOTFOUND; ERR_EXISTS: the alarm is closed. Who acknowledges it a second time changes nothing.
 */
MUST_CHECK enum err alarm_acknowledge(struct center *c, int64_t id, const char *by,
                                      struct audit *audit, struct why *why);
MUST_CHECK enum err alarm_close(struct center *c, int64_t id, const char *by, struct audit *audit,
                                struct why *why);

/* The record is copied; *ret_id is its new id. Those that are long over go. ERR_EXISTS: there are
 * SILENCES_MAX. */
MUST_CHECK enum err silence_add(struct center *c, const struct silence_record *silence,
                                struct audit *audit, int64_t *ret_id, struct why *why);
/* ERR_NOTFOUND. */
MUST_CHECK enum err silence_end(struct center *c, int64_t id, struct audit *audit, struct why *why);

/* A message that is closed is sent once more: alarms_resent says so to who sends. ERR_NOTFOUND;
 * ERR_EXISTS: it is open. */
MUST_CHECK enum err delivery_resend(struct center *c, int64_t id, struct audit *audit,
                                    struct why *why);

#endif
