/* SPDX-License-Identifier: Apache-2.0 */
/* db_source.h - the database of an XXL-JOB, opened read-only, with its layout and zones. One
 * thread.
 */
#ifndef PEAL_CLI_DB_SOURCE_H
#define PEAL_CLI_DB_SOURCE_H

#include "cli/db_xxl.h"
#include "cron/zone.h"
#include "server/zones.h"
#include "store/mysql/reader.h"

struct xxl_source {
    struct db_url url;
    struct zones *zones;
    struct zone *zone, *log_zone; /* of cron expressions, of datetimes */
    struct reader *reader;
    struct layout layout;
    bool known; /* the layout */
};

/* url as it was given; a: zones. *s always needs xxl_source_done. ERR_INVALID: no such database, or
 * none of XXL-JOB 2.3 to 3.5; else the reader's errors. */
MUST_CHECK enum err xxl_source_open(struct xxl_source *s, const char *url, const struct db_args *a,
                                    struct why *why);
void xxl_source_done(struct xxl_source *s);
/* Says what has failed; the exit status for it. */
int xxl_complain(const struct why *why, enum err err);

#endif
