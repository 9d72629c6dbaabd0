/* SPDX-License-Identifier: Apache-2.0 */
/* Which session kept a transaction of ours waiting for its lock: the answer that an operator needs,
 * and that is gone when he looks. */
#include "base/clock.h"
#include "base/log.h"
#include "store/postgres/pg.h"
#include <libpq-fe.h>

/* The wait is over when this is asked, so it is no row of pg_blocking_pids any more: of the
 * sessions that hold a lock which writers wait for, the one whose transaction is oldest. Times and
 * the address of other users' sessions are hidden without pg_read_all_stats. No text of a
 * statement: it may have a password in it. */
static const char question[] =
    "SELECT a.pid, coalesce(a.usename, '?'), coalesce(a.application_name, ''), "
    "coalesce(host(a.client_addr), 'a socket'), coalesce(a.state, '?'), "
    "coalesce(extract(epoch FROM clock_timestamp() - a.xact_start)::bigint::text, '?') "
    "FROM pg_stat_activity a WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() "
    "AND a.pid IN (SELECT pid FROM pg_locks WHERE granted AND (locktype = 'transactionid' OR "
    "(locktype = 'relation' AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', "
    "'AccessExclusiveLock')))) ORDER BY a.xact_start NULLS LAST LIMIT 1";

static void tell(const PGresult *r)
{
    log_warn("store",
             "a lock was not to be had: session %s of user %s (%s, from %s) has had its "
             "transaction open for %s s and is %s; pg_terminate_backend(%s) ends it",
             PQgetvalue(r, 0, 0), PQgetvalue(r, 0, 1), PQgetvalue(r, 0, 2), PQgetvalue(r, 0, 3),
             PQgetvalue(r, 0, 5), PQgetvalue(r, 0, 4), PQgetvalue(r, 0, 0));
}

void pg_blocker_tell(struct pg *s)
{
    int64_t now_ms = clock_boot_ms();
    if (!s->db || (s->blocker_ms && now_ms - s->blocker_ms < PG_BLOCKER_EVERY_MS))
        return;
    if (!PQsendQuery(s->db, question))
        return;
    for (;;) {
        struct why why = { "" };
        PGresult *r;
        if (pg_next(s, &r, &why) || !r)
            return;
        if (PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) > 0) {
            tell(r);
            s->blocker_ms = now_ms;
        }
        PQclear(r);
    }
}
