/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - a connection to MySQL or MariaDB that can only read.
 *
 * Its session is READ ONLY from the first statement on: the server itself refuses a write. Each
 * statement is a transaction of its own and takes no lock. For looks into databases that belong to
 * somebody else (peal shadow, peal db check). One thread. */
#ifndef PEAL_STORE_MYSQL_READER_H
#define PEAL_STORE_MYSQL_READER_H

#include "store/mysql/layout.h"
#include "store/url.h"

struct reader; /* opaque */

/* To the first host that answers. ERR_INVALID: name, password, database or rights, or a URL of
 * another kind of server; ERR_NET: nobody answers. Texts never have the
 * password. */
MUST_CHECK enum err reader_open(const struct db_url *url, struct reader **ret, struct why *why);
void reader_free(struct reader *r); /* NULL is fine */

/* What is read from now on is as it is now, however long it takes. */
MUST_CHECK enum err reader_snapshot(struct reader *r, struct why *why);

/* A layout_query_fn, connection is the struct reader. ERR_NET: the connection is gone, and each
 * further call says so; ERR_STORE: the server refused. */
MUST_CHECK enum err reader_query(void *connection, const char *sql, layout_row_fn *fn, void *ctx,
                                 struct why *why);

#endif
