/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of what is in store/mysql where Peal was built without libmariadb. */
#include "store/mysql/mysql.h"
#include "store/mysql/reader.h"

static enum err absent(struct why *why)
{
    why_set(why,
            "this peal was built without libmariadb (PEAL_MYSQL), which MySQL and MariaDB need");
    return ERR_INVALID;
}

enum err reader_open(const struct db_url *url, struct reader **ret, struct why *why)
{
    (void)url;
    (void)ret;
    return absent(why);
}

void reader_free(struct reader *r)
{
    (void)r;
}

enum err reader_snapshot(struct reader *r, struct why *why)
{
    (void)r;
    return absent(why);
}

enum err reader_query(void *connection, const char *sql, layout_row_fn *fn, void *ctx,
                      struct why *why)
{
    (void)connection;
    (void)sql;
    (void)fn;
    (void)ctx;
    return absent(why);
}

enum err mysql_adopt(const struct db_url *u, const struct mysql_zone *zone, bool index,
                     struct why *why)
{
    (void)u;
    (void)zone;
    (void)index;
    return absent(why);
}
