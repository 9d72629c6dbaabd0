/* SPDX-License-Identifier: Apache-2.0 */
/* XXL-JOB's lock row, waited for without a transaction that waits.
 *
 * A Java admin has the row for as long as it scans, which may be seconds. It cannot be tried for
 * without a wait: admins whose scans follow each other would never leave it free at that moment. So
 * a connection of its own has its place in the row's queue, while transactions that plan nothing go
 * on by the other one. Once it is had, the next transaction that plans runs on the connection that
 * has it: the lock ends with that transaction, whatever becomes of either. */
#include "base/clock.h"
#include "base/log.h"
#include "store/mysql/my_db.h"
#include <mysql.h>
#include <poll.h>

enum {
    TELL_EVERY_MS = 60000,   /* that it is not to be had */
    LOCK_WAIT_TIMEOUT = 1205 /* of the server: asked for again */
};

enum err my_schedule_lock_lost(struct mydb *s, struct why *why)
{
    why_set(why,
            "database %s: table xxl_job_lock has lost its row, without which Java admins fire "
            "twice: INSERT INTO xxl_job_lock (lock_name) VALUES ('schedule_lock')",
            s->name);
    return ERR_INVALID;
}

static void swap(struct mydb *s)
{
    struct my_side now = { s->db, s->generation, s->used_ms };
    s->db = s->lock.other.db;
    s->generation = s->lock.other.generation;
    s->used_ms = s->lock.other.used_ms;
    s->lock.other = now;
    s->lock.in_use = !s->lock.in_use;
}

static enum err ask(struct mydb *s, struct why *why)
{
    static const char text[] = MY_SCHEDULE_LOCK;
    enum err err = my_exec(s, "START TRANSACTION", why);
    if (err)
        return err;
    if (mysql_send_query(s->db, text, sizeof(text) - 1))
        return my_fail(s, mysql_errno(s->db), mysql_error(s->db), why);
    s->lock.asked = true;
    return OK;
}

static bool answered(struct mydb *s, int wait_ms)
{
    struct pollfd fd = { .fd = mysql_get_socket(s->db), .events = POLLIN };
    return poll(&fd, 1, wait_ms) > 0;
}

/* A wait that the server has ended is begun anew by the next call. */
static enum err take(struct mydb *s, struct why *why)
{
    s->lock.asked = false;
    if (mysql_read_query_result(s->db)) {
        unsigned code = mysql_errno(s->db);
        return code == LOCK_WAIT_TIMEOUT ? my_exec(s, "ROLLBACK", why)
                                         : my_fail(s, code, mysql_error(s->db), why);
    }
    MYSQL_RES *rows = mysql_store_result(s->db);
    s->lock.held = rows && mysql_num_rows(rows) == 1;
    mysql_free_result(rows);
    return s->lock.held ? OK : my_schedule_lock_lost(s, why);
}

static void failed(struct mydb *s, const struct why *why)
{
    int64_t now_ms = clock_boot_ms();
    my_disconnect(s);
    s->lock.asked = s->lock.held = false;
    if (s->lock.told_ms && now_ms - s->lock.told_ms < TELL_EVERY_MS)
        return;
    s->lock.told_ms = now_ms;
    log_warn("store", "nothing is planned without XXL-JOB's lock: %s", why->text);
}

/* What goes wrong here is of the lock's connection alone: the transaction that follows plans
 * nothing, and tells by itself whether the database is there. */
enum err my_plan_lock(struct store *store, int wait_ms, bool *ret_have, struct why *why)
{
    struct mydb *s = my_of(store);
    struct why here = { "" };
    (void)why;
    *ret_have = !s->adopted.beside;
    if (*ret_have)
        return OK;
    s->lock.wanted = true;
    swap(s);
    enum err err = s->lock.asked ? OK : ask(s, &here);
    if (!err && answered(s, wait_ms))
        err = take(s, &here);
    if (err)
        failed(s, &here);
    if (!s->lock.held)
        swap(s);
    *ret_have = s->lock.held;
    return OK;
}

/* A place in the queue that nothing waits in would keep Java admins from scanning once it is had.
 */
bool my_lock_begun(struct mydb *s)
{
    if (s->lock.asked && !s->lock.wanted)
        my_lock_drop(s);
    s->lock.wanted = false;
    return s->lock.held;
}

void my_lock_over(struct mydb *s)
{
    if (!s->lock.held)
        return;
    s->lock.held = false;
    swap(s);
}

void my_lock_drop(struct mydb *s)
{
    if (s->lock.in_use)
        return;
    swap(s);
    my_disconnect(s);
    swap(s);
    s->lock.asked = false;
}
