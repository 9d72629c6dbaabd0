/* SPDX-License-Identifier: Apache-2.0 */
/* A write that leaves a row as it is does not count, so there are two. */
#include "store/sql/hold.h"
#include "base/buf.h"
#include <stdio.h>

#define TEXT_BYTES (1 << 17)

static enum err write(struct sql *s, const char *table, const char *column, char sign,
                      const char *rows, struct why *why)
{
    struct buf text = BUF_INIT(TEXT_BYTES);
    buf_printf(&text, "UPDATE %s SET %s = %s %c 1 WHERE %s", table, column, column, sign, rows);
    enum err err = sql_do_once(s, buf_str(&text), why);
    buf_done(&text);
    return err;
}

enum err sql_hold(struct sql *s, const char *table, const char *column, const char *rows,
                  struct why *why)
{
    enum err err = s->certified ? write(s, table, column, '+', rows, why) : OK;
    return err || !s->certified ? err : write(s, table, column, '-', rows, why);
}

enum err sql_hold_one(struct sql *s, const char *table, const char *column, const char *key,
                      int64_t value, struct why *why)
{
    char rows[64];
    snprintf(rows, sizeof(rows), "%s = %lld", key, (long long)value);
    return sql_hold(s, table, column, rows, why);
}

enum err sql_hold_commit(struct sql *s, struct why *why)
{
    struct sql_query *q;
    enum err err = s->certified ? sql_query(s, "COMMIT", &q, why) : OK;
    return err || !s->certified ? err : sql_do(q, why);
}
