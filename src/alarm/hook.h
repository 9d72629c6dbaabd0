/* SPDX-License-Identifier: Apache-2.0 */
/* hook.h - headers that an administrator chooses. */
#ifndef PEAL_ALARM_HOOK_H
#define PEAL_ALARM_HOOK_H

#include "base/err.h"
#include "base/why.h"

/* Lines "Name: value"; NULL: none. ERR_INVALID: why says the rule. */
MUST_CHECK enum err hook_headers_check(const char *text, struct why *why);

#endif
