/* SPDX-License-Identifier: Apache-2.0 */
/* apart.c - a batch that the database has refused for a value runs again, and each write of it in a
 * savepoint of its own: what is refused again is left out, and the rest is committed.
 *
 * No value may stop a server. What its columns take is another program's business: tables of an
 * older release of XXL-JOB, or of a character set that lacks an emoji. The ordinary transaction has
 * no savepoint for it. What nobody can leave out (a firing that the schedule has planned, the end
 * of a run) keeps the batch from being committed, as any other trouble does. */
#include "base/log.h"
#include "base/mem.h"
#include "ledger/internal.h"
#include "ledger/write.h"
#include <stdio.h>
#include <stdlib.h>

#define NOTE "(this text is left out: the database does not take it)"

enum err apart_begin(struct txn *t)
{
    return t->apart ? t->ops->txn->savepoint(t->store, &t->b->why) : OK;
}

enum err apart_end(struct txn *t, enum err err, const char *what, bool *ret_refused)
{
    *ret_refused = t->apart && ledger_refuses(err);
    if (!t->apart)
        return err;
    if (!err)
        return t->ops->txn->savepoint_keep(t->store, &t->b->why);
    if (!*ret_refused)
        return err;
    log_warn("writer", "%s is left out: %s", what, t->b->why.text);
    why_clear(&t->b->why);
    t->b->refused++;
    return t->ops->txn->savepoint_undo(t->store, &t->b->why);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void note_in_place(char **text)
{
    if (!*text)
        return;
    free(*text);
    *text = mem_dup(NOTE);
}

static enum err change(struct txn *t, struct run_change *c, int64_t *ret_missed, bool *ret_refused)
{
    char what[64];
    snprintf(what, sizeof(what), "a text of run %lld", (long long)c->log_id);
    enum err err = apart_begin(t);
    if (!err)
        err = apart_end(t, alarms_change(t, c, 1, ret_missed), what, ret_refused);
    return err;
}

/* The end of a run counts, whatever is said of it. */
static enum err change_or_note(struct txn *t, struct run_change *c, int64_t *ret_missed)
{
    bool refused = false;
    enum err err = change(t, c, ret_missed, &refused);
    if (err || !refused)
        return err;
    note_in_place(&c->trigger_msg);
    note_in_place(&c->handle_msg);
    err = change(t, c, ret_missed, &refused);
    return !err && refused ? ERR_VALUE : err;
}

enum err apart_changes(struct txn *t, int64_t *ret_missed)
{
    enum err err = OK;
    *ret_missed = 0;
    for (int i = 0; !err && i < t->b->nchanges; i++) {
        int64_t missed = 0;
        err = change_or_note(t, &t->b->changes[i], &missed);
        *ret_missed += missed;
    }
    return err;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum err row(struct txn *t, int i)
{
    char what[64];
    bool refused = false;
    struct run_row *r = &t->rows.rows[i];
    struct spawn *s = (struct spawn *)t->spawns[i];
    snprintf(what, sizeof(what), "a run of job %lld", (long long)r->job_id);
    enum err err = apart_begin(t);
    if (!err)
        err = apart_end(t, t->ops->runs->runs_add(t->store, r, 1, &t->b->why), what, &refused);
    if (err || !refused)
        return err;
    if (s) /* with what is written along with it: the transaction is made again without */
        s->refused = true;
    return ERR_VALUE;
}

enum err apart_rows(struct txn *t)
{
    enum err err = OK;
    for (int i = 0; !err && i < t->rows.n; i++)
        err = row(t, i);
    return err;
}
