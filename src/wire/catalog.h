/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.h - what was configured as a file, as `peal ctl export` writes it: names in place of ids,
 * so that it fits another center, too.
 *
 * The file's shape is looked at here: members and their types, names that come twice. What the
 * values mean are the center's rules. Pure. */
#ifndef PEAL_WIRE_CATALOG_H
#define PEAL_WIRE_CATALOG_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

struct json_t;

#define CATALOG_VERSION 1
#define CATALOG_BYTES_MAX (16u << 20)
#define CATALOG_VALUES_MAX 500000 /* some 12,000 jobs with all of their members */

/* An object with "groups", "jobs", "users", "channels", "rules", "silences", each of which may be
 * absent: arrays of objects that have what names them. why: the
 * JSON pointer of what is wrong, and the rule ("/jobs/3/state: must be …"). ERR_INVALID,
 * ERR_TOOBIG, ERR_NOMEM. The caller owns *ret (wire_json_free). */
MUST_CHECK enum err catalog_read(struct slice text, struct json_t **ret, struct why *why);
/* The same of a document that has been read: its shape alone. ERR_INVALID, ERR_NOMEM. */
MUST_CHECK enum err catalog_check(const struct json_t *doc, struct why *why);

#endif
