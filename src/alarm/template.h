/* SPDX-License-Identifier: Apache-2.0 */
/* template.h - a body with fields in it, and no logic: {{json title}} is the field as a JSON string
 * with its quotes, {{url title}} percent-encoded, {{text title}} as it is; {{run_id}} alone is for
 * fields that need no escaping. Pure. */
#ifndef PEAL_ALARM_TEMPLATE_H
#define PEAL_ALARM_TEMPLATE_H

#include "alarm/message.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

#define TEMPLATE_MAX 16384 /* bytes */

/* ERR_INVALID: why names the field and the rule. */
MUST_CHECK enum err template_check(struct slice text, struct why *why);
/* One that has passed the check. */
void template_write(struct buf *out, struct slice text, const struct alarm_message *m);

#endif
