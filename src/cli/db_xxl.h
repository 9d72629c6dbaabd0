/* SPDX-License-Identifier: Apache-2.0 */
/* db_xxl.h - what peal db does with the database of an XXL-JOB installation. */
#ifndef PEAL_CLI_DB_XXL_H
#define PEAL_CLI_DB_XXL_H

#include <stdbool.h>

struct db_args {           /* NULL: not given */
    const char *from, *to; /* URLs */
    const char *zone, *log_zone;
    const char *history; /* days of the log */
    bool stopped, live, dry, indexes, anyway, selftest, json;
};

/* All return the exit status. */
int db_check(const struct db_args *a);
int db_import(const struct db_args *a);
int db_migrate(const struct db_args *a);
/* Of a database server, with or without tables. */
int db_selftest(const struct db_args *a);
/* Between databases of Peal. */
int db_move(const struct db_args *a);

#endif
