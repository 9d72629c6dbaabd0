/* SPDX-License-Identifier: Apache-2.0 */
/* argv.h - a command line to an argument vector, without a shell.
 *
 * Words are parted by blanks, tabs and line ends. 'single quotes' hold anything but themselves; in
 * "double quotes" and outside a backslash takes the next character as it is. Nothing is expanded.
 * Pure. */
#ifndef PEAL_EXECUTOR_PROCESS_ARGV_H
#define PEAL_EXECUTOR_PROCESS_ARGV_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

#define ARGV_MAX 1000

/* *ret: ARGV_MAX words at most, then NULL; one allocation, release it with free(). ERR_INVALID
 * for a NUL, an open quote, no word at all; ERR_TOOBIG; ERR_NOMEM. */
MUST_CHECK enum err argv_split(struct slice line, char ***ret, struct why *why);

#endif
