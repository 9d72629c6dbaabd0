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

#endif
