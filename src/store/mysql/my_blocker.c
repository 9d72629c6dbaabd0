/* SPDX-License-Identifier: Apache-2.0 */
/* Which session kept a transaction of ours waiting for its lock: the answer that an operator needs,
 * and that is gone when he looks. */
#include "base/clock.h"
#include "base/log.h"
#include "store/mysql/my_db.h"
#include <mysql.h>

#define DENIED 1227 /* the right PROCESS is needed */

/* The wait is over when this is asked, so innodb_lock_waits has no row of it any more: of the
 * transactions that hold locks, the oldest. No text of a statement: it may have a password in
 * it. */
static const char question[] =
    "SELECT p.id, p.user, p.host, timestampdiff(SECOND, t.trx_started, now()), p.command "
    "FROM information_schema.innodb_trx t JOIN information_schema.processlist p "
    "ON p.id = t.trx_mysql_thread_id WHERE p.id <> connection_id() AND "
    "t.trx_lock_structs > 0 ORDER BY t.trx_started LIMIT 1";

static const char *text_of(const char *field)
{
    return field ? field : "?";
}

static void tell(MYSQL_ROW row)
{
    log_warn("store",
             "a lock was not to be had: session %s of user %s (from %s) has had its transaction "
             "open for %s s and is in %s; KILL %s ends it",
             text_of(row[0]), text_of(row[1]), text_of(row[2]), text_of(row[3]), text_of(row[4]),
             text_of(row[0]));
}

/* The right to see others' transactions is not among those that the server needs. */
static void tell_denied(const struct mydb *s)
{
    log_warn("store",
             "a lock was not to be had, and this user may not see which session has it: "
             "GRANT PROCESS ON *.* TO %s lets the log name it",
             s->url.user);
}

void my_blocker_tell(struct mydb *s)
{
    int64_t now_ms = clock_boot_ms();
    if (!s->db || (s->blocker_ms && now_ms - s->blocker_ms < MY_BLOCKER_EVERY_MS))
        return;
    if (mysql_real_query(s->db, question, sizeof(question) - 1)) {
        unsigned code = mysql_errno(s->db);
        if (code == DENIED) {
            tell_denied(s);
            s->blocker_ms = now_ms;
        } else if (my_gone(code)) {
            my_disconnect(s);
        }
        return;
    }
    MYSQL_RES *result = mysql_store_result(s->db);
    MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;
    if (row) {
        tell(row);
        s->blocker_ms = now_ms;
    }
    mysql_free_result(result);
}
