/* SPDX-License-Identifier: Apache-2.0 */
/* backups.h - the thread that backs the database up now and then, far from the fire path.
 *
 * A backup is due when the newest one in the folder is older than `every`, so a restart makes none
 * before its time and a missed one is made up for. */
#ifndef PEAL_SERVER_BACKUPS_H
#define PEAL_SERVER_BACKUPS_H

#include <stdint.h>
#include "server/metrics.h"

struct backups_config {
    const char *folder; /* NULL or "": no backups */
    int64_t every_ms;
    int keep; /* how many stay in the folder */
};

struct backups; /* opaque */

/* NULL if there is no folder. Texts are copied, the metrics are borrowed. */
struct backups *backups_new(const char *url, const struct backups_config *config,
                            struct metrics *metrics);
/* The same with other settings. If they differ the thread ends, a backup under way with it, and
 * another one begins. */
struct backups *backups_again(struct backups *b, const char *url,
                              const struct backups_config *config, struct metrics *metrics);
void backups_free(struct backups *b); /* a backup under way is given up; NULL is fine */

#endif
