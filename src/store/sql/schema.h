/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - which tables and columns the texts of an engine's migrations make.
 *
 * What is read of a text is how ours are written: CREATE TABLE and its name begin a line, each
 * column has a line of its own and a name in small letters, and a line that begins with a
 * parenthesis ends the table. ALTER TABLE, its name and its ADD COLUMNs stand in one line. Private
 * to src/store. */
#ifndef PEAL_STORE_SQL_SCHEMA_H
#define PEAL_STORE_SQL_SCHEMA_H

#include "store/sql/migration.h"

/* column: empty where the text does something else with the table. made: the statement makes the
 * table, which is not there before it. Names are lent. */
typedef void sql_schema_fn(void *ctx, struct slice table, struct slice column, bool made);
/* What one text does, in its order. */
void sql_schema_walk(const char *text, sql_schema_fn *fn, void *ctx);

/* After all migrations are applied: are all tables and columns there that their texts make?
 * columns: a statement that gives the names of table and column of each column of the database.
 * theirs: tables xxl_job_ are as XXL-JOB made them, and only have to be there. ERR_INVALID names
 * what is not. */
MUST_CHECK enum err sql_schema_whole(struct sql *s, const struct sql_migrations *m,
                                     const char *columns, bool theirs, struct why *why);

#endif
