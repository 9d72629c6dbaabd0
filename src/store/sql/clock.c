/* SPDX-License-Identifier: Apache-2.0 */
/* A question to the server takes a while, and its clock was read at some moment within: what lies
 * within is no difference. */
#include "store/sql/clock.h"
#include "base/clock.h"
#include <inttypes.h>

enum err sql_clock_apart(struct sql *s, int64_t *ret_ms, struct why *why)
{
    struct sql_query *q;
    int64_t before_ms = clock_machine_ms(), theirs_ms = before_ms;
    enum err err = sql_query_once(s, s->driver->clock, &q, why);
    if (err)
        return err;
    err = sql_one(q, before_ms, &theirs_ms, why);
    sql_query_end(q);
    int64_t after_ms = clock_machine_ms();
    *ret_ms = theirs_ms < before_ms  ? theirs_ms - before_ms
              : theirs_ms > after_ms ? theirs_ms - after_ms
                                     : 0;
    return err;
}

enum err sql_clock_check(struct sql *s, int64_t max_ms, struct why *why)
{
    int64_t apart_ms = 0;
    enum err err = max_ms ? sql_clock_apart(s, &apart_ms, why) : OK;
    int64_t ms = apart_ms < 0 ? -apart_ms : apart_ms;
    if (err || ms <= max_ms)
        return err;
    why_set(why,
            "the database's clock is %" PRId64
            ".%03d s %s this machine's, and servers that share a "
            "database go by their own clocks: set both by NTP, then start again; if only the "
            "database's clock is wrong and must stay so, start with --db.clock-skew 0",
            ms / 1000, (int)(ms % 1000), apart_ms < 0 ? "behind" : "ahead of");
    return ERR_INVALID;
}
