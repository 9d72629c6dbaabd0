/* SPDX-License-Identifier: Apache-2.0 */
/* properties.h - the grammar of Java's .properties files, as configuration files use it.
 *
 * Lines `key=value`, `key: value` or `key value`; # and ! begin a comment line; a backslash at the
 * end goes on in the next line (whose leading blanks are dropped); \t \n \r \f \uXXXX and \c for
 * any other c. The text is UTF-8. Grammar: java.util.Properties.load. Pure; any thread. */
#ifndef PEAL_BASE_PROPERTIES_H
#define PEAL_BASE_PROPERTIES_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

#define PROPERTIES_MAX (1u << 20) /* bytes of a file */

/* Called for each entry in order; the texts are lent, unescaped and UTF-8 without NUL. line counts
 * from 1. Anything but OK ends the reading with that. */
typedef enum err properties_fn(void *ctx, struct slice key, struct slice value, int line,
                               struct why *why);

/* ERR_TOOBIG, ERR_INVALID (why names the line and the rule), or what fn returned. */
MUST_CHECK enum err properties_read(struct slice text, properties_fn *fn, void *ctx,
                                    struct why *why);

#endif
