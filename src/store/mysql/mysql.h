/* SPDX-License-Identifier: Apache-2.0 */
/* mysql.h - a database of MySQL or MariaDB. */
#ifndef PEAL_STORE_MYSQL_MYSQL_H
#define PEAL_STORE_MYSQL_MYSQL_H

#include "store/store.h"
#include "store/url.h"

/* Opens the database that u names, whose password is in it. A writing handle creates what is
 * missing in it. The caller wipes u. */
MUST_CHECK enum err mysql_open(const struct db_url *u, const struct store_options *options,
                               struct store **ret, struct why *why);

/* What a migration says of an XXL-JOB database: the zone of its datetimes, and who schedules. */
struct mysql_zone {
    bool beside; /* Java admins go on scheduling while a server of Peal works on it */
    const char *name;
    bool has_offset; /* it has had one offset for long, and keeps it */
    int64_t offset_s;
};

/* Puts Peal's tables beside those of XXL-JOB in the database that u names. What an earlier call has
 * done stays; one that was cut off is gone on with. index: missing indexes as well. A server may
 * open the database from then on, and XXL-JOB goes on without it. */
MUST_CHECK enum err mysql_adopt(const struct db_url *u, const struct mysql_zone *zone, bool index,
                                struct why *why);

#endif
