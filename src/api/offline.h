/* SPDX-License-Identifier: Apache-2.0 */
/* offline.h - an import without HTTP, by this program on a center of its own that is still
 * (center.h). The asker has all rights and is no user; the audit says that it came by the command
 * line. */
#ifndef PEAL_API_OFFLINE_H
#define PEAL_API_OFFLINE_H

#include "api/api.h"

struct offline_answer {
    int status; /* as over HTTP */
    char etag[96];
    struct buf body; /* JSON; the caller's */
};

/* POST /import. query: "dryRun=true&prune=true", encoded; if_match: NULL, or the ETag of a dry run.
 * Any thread but the center's, while the center runs. Not OK: nothing was asked. */
MUST_CHECK enum err offline_import(struct center *c, const struct api_config *config,
                                   const char *query, struct slice body, const char *if_match,
                                   struct offline_answer *ret, struct why *why);

#endif
