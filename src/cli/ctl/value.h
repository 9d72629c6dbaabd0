/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - members of an answer, and text that came from outside. */
#ifndef PEAL_CLI_CTL_VALUE_H
#define PEAL_CLI_CTL_VALUE_H

#include <stdio.h>
#include "cli/ctl/ctl.h"

/* The member at "a.b"; NULL: there is none. Borrowed. */
const json_t *ctl_member(const json_t *o, const char *path);
const char *ctl_text(const json_t *o, const char *path); /* "" if it is no text */
int64_t ctl_i64(const json_t *o, const char *path);      /* 0 if it is no number */

/* "2026-11-21T14:32:08Z" of epoch milliseconds; to has 40 bytes. */
const char *ctl_instant(int64_t ms, char to[40]);

/* Text that came from outside, for a terminal: control characters become blanks. sgr: as in a
 * log, where tabs, ends of lines and sequences that only colour stay. */
void ctl_clean(struct buf *to, const char *p, size_t n, bool sgr);
/* A line of text to the file, cleaned. */
void ctl_put(FILE *to, const char *text);

#endif
