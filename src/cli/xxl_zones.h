/* SPDX-License-Identifier: Apache-2.0 */
/* xxl_zones.h - the two zones of an XXL-JOB installation: that of cron expressions, which is its
 * admins' own, and that in which they write datetimes (serverTimezone of their JDBC URL). */
#ifndef PEAL_CLI_XXL_ZONES_H
#define PEAL_CLI_XXL_ZONES_H

#include "server/zones.h"
#include "store/url.h"

/* zone NULL: this machine's; log_zone NULL: the URL's, else the former. Both results are counted;
 * they are NULL or right also on failure. */
MUST_CHECK enum err xxl_zones(struct zones *zones, const char *zone, const char *log_zone,
                              const struct db_url *url, struct zone **ret_zone,
                              struct zone **ret_log_zone, struct why *why);
/* Read --from or --db, the password from PEAL_DB_PASSWORD if the URL has none. */
MUST_CHECK enum err xxl_url(const char *text, struct db_url *ret, struct why *why);

#endif
