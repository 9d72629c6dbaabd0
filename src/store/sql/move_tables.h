/* SPDX-License-Identifier: Apache-2.0 */
/* move_tables.h - the tables whose rows a move copies. Private to src/store. */
#ifndef PEAL_STORE_SQL_MOVE_TABLES_H
#define PEAL_STORE_SQL_MOVE_TABLES_H

#include "store/bulk.h"

struct move_table {
    struct bulk_table bulk; /* the names are owned */
    struct bulk_column columns[BULK_COLUMNS_MAX];
    int node, epoch; /* places of the columns of that name, -1: none */
    bool counted;    /* its key is "id", which the database gives */
    bool lined;      /* its key is one number */
};

struct move_tables {
    struct move_table *items;
    int n;
};

/* All tables of this release but those of migrations, epochs, counters and locks. Release with
 * move_tables_done, also on an error. */
MUST_CHECK enum err move_tables_read(struct move_tables *ret, struct why *why);
void move_tables_done(struct move_tables *t);

#endif
