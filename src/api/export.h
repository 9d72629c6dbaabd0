/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - what was configured, as a file: names in place of ids, in an order that only names
 * decide, and no secret. wire/catalog.h reads it. Blocks on the store; any thread with a handle of
 * its own. */
#ifndef PEAL_API_EXPORT_H
#define PEAL_API_EXPORT_H

#include "base/buf.h"
#include "model/scope.h"
#include "store/store.h"

enum export_list {
    EXPORT_GROUPS,
    EXPORT_JOBS,
    EXPORT_USERS,
    EXPORT_CHANNELS,
    EXPORT_RULES,
    EXPORT_SILENCES,
    EXPORT_LISTS
};
extern const char *const export_lists[EXPORT_LISTS]; /* "groups" */

#define EXPORT_DEFAULT (1u << EXPORT_GROUPS | 1u << EXPORT_JOBS)
#define EXPORT_JOBS_MAX 100000

struct export_what {
    unsigned lists;            /* bits of enum export_list */
    const struct scope *scope; /* groups that the asker may read; NULL: all */
    const char *apps;          /* of groups, jobs, and what is about them: only of these groups, by
                                * app name, comma separated; NULL: all */
    int64_t now_ms;            /* silences that are over by then are left out */
};

/* ERR_EXISTS: groups or jobs have one name, why says which. ERR_TOOBIG: more than the buffer
 * takes, or more jobs than EXPORT_JOBS_MAX. */
MUST_CHECK enum err export_write(struct store *db, const struct export_what *what, struct buf *to,
                                 struct why *why);

#endif
