/* SPDX-License-Identifier: Apache-2.0 */
/* postgres.h - the engine on PostgreSQL 15 and newer. */
#ifndef PEAL_STORE_POSTGRES_POSTGRES_H
#define PEAL_STORE_POSTGRES_POSTGRES_H

#include "store/store.h"
#include "store/url.h"

/* A handle on the database that the URL names, which is copied. A writing one brings the schema up
 * to date first, and begins a new epoch. ERR_INVALID: the database is another program's or another
 * release's, or lets this user not in; ERR_READONLY: all servers are standbys; ERR_STORE: none
 * answers. */
MUST_CHECK enum err postgres_open(const struct db_url *url, const struct store_options *options,
                                  struct store **ret, struct why *why);

#endif
