/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - a WHERE clause that is composed of a filter, and a page of the rows that match it.
 * Private to src/store. */
#ifndef PEAL_STORE_SQL_PAGE_H
#define PEAL_STORE_SQL_PAGE_H

#include "base/buf.h"
#include "store/sql/sql.h"

#define SQL_COUNT_MAX 1000000 /* rows are counted up to here where nothing else is said */

enum { SQL_PARAMS_MAX = 40 };

struct sql_where {
    const struct sql_driver *driver;
    struct buf where; /* " WHERE …" or empty */
    int n;
    struct param {
        const char *text; /* NULL: the number counts */
        int64_t number;
    } params[SQL_PARAMS_MAX];
    char *scope;    /* ids of the asker's groups as a JSON array; NULL: no such condition */
    struct buf key; /* " AND …": where the page begins; its parameters come last */
    int nkey;
    char *texts[JOBS_WORDS_MAX]; /* that parameters point to */
    int ntexts;
};

void where_init(struct sql_where *p, const struct sql *s);
void where_add(struct sql_where *p, const char *condition);
/* A condition with one parameter: before, its number. */
void where_number(struct sql_where *p, const char *before, int64_t v);
/* The column contains part, ASCII letters in either case; NULL or "": no condition. Lent. */
void where_has(struct sql_where *p, const char *column, const char *part);
/* Only rows of groups that the asker may see. group_id > 0: the filter names the group anyhow. */
void where_scope(struct sql_where *p, const char *column, const struct scope *scope,
                 int64_t group_id);
/* Each word, at most JOBS_WORDS_MAX, is in one of the columns, or is the id. NULL: no condition. */
void where_all_words(struct sql_where *p, const char *const *columns, int n, const char *id_column,
                     const char *words);
/* The next parameter, for a condition that the caller writes. Text is lent. Returns its number. */
int where_param(struct sql_where *p, const char *text, int64_t number);
/* The statement: before, the clause, after; release with sql_query_end. */
MUST_CHECK enum err where_query(const struct sql_where *p, struct sql *s, const char *before,
                                const char *after, struct sql_query **ret, struct why *why);
void where_done(struct sql_where *p);

struct sql_page {
    const char *select, *order; /* up to the WHERE clause, and behind it */
    const char *rest;           /* behind LIMIT, or NULL */
    const char *count;          /* "SELECT … AS id FROM …" up to the WHERE clause */
    const char *count_order;    /* NULL: as the rows; which rows are counted says nothing then */
    const char *count_all; /* counts all rows where there is no filter; NULL: as those of count */
    int64_t count_max;
    int64_t low, high; /* what matches has ids from low to high; high 0: no such bound */
    int64_t offset, limit;
    sql_lend_fn *lend;
    void *fn, *ctx; /* fn: the address of the caller's function pointer */
};

/* Hands out the rows of the page and says how many match. p is done with afterwards. */
MUST_CHECK enum err sql_page_run(struct sql *s, const struct sql_page *page, struct sql_where *p,
                                 int64_t *ret_total, struct why *why);

#endif
