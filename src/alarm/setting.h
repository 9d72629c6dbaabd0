/* SPDX-License-Identifier: Apache-2.0 */
/* setting.h - settings that several channels have: a secret in a file, a file of certificates. */
#ifndef PEAL_ALARM_SETTING_H
#define PEAL_ALARM_SETTING_H

#include "base/err.h"
#include "base/why.h"

#define SETTING_SECRET_MAX 512

/* The first line of the file without blanks around it, 1 to SETTING_SECRET_MAX bytes; owned by the
 * caller. ERR_IO, ERR_INVALID: why names the key, the file and the rule. */
MUST_CHECK enum err setting_secret(const char *key, const char *path, char **ret, struct why *why);
/* Can the file be read? NULL is fine. ERR_INVALID. */
MUST_CHECK enum err setting_readable(const char *key, const char *path, struct why *why);

#endif
