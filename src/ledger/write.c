/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - writes of all kinds within one transaction: each in a savepoint, so that one that is
 * refused leaves no trace and takes nothing else down. */
#include "ledger/write.h"
#include "base/mem.h"
#include <stdlib.h>

struct ledger_entry *ledger_entry_new(const struct ledger_write *write, void *arg)
{
    struct ledger_entry *e = mem_new(sizeof(*e));
    e->write = write;
    e->arg = arg;
    return e;
}

void ledger_entry_end(struct ledger_entry *e, enum err err)
{
    e->write->done(e->arg, err, &e->why);
    free(e);
}

void ledger_entries_end(struct list *entries, enum err err)
{
    for (struct list_node *n; (n = list_pop(entries));)
        ledger_entry_end(container_of(n, struct ledger_entry, node), err);
}

bool ledger_refuses(enum err err)
{
    return err == ERR_NOTFOUND || err == ERR_EXISTS || err == ERR_INVALID || err == ERR_OVERTAKEN;
}

static enum err write_run(struct store *s, struct ledger_entry *e, struct why *why)
{
    why_clear(&e->why);
    enum err err = s->ops->txn->savepoint(s, why);
    if (err)
        return err;
    e->err = e->write->run(s, e->arg, &e->why);
    if (!e->err || e->err == ERR_MORE)
        return s->ops->txn->savepoint_keep(s, why);
    if (ledger_refuses(e->err))
        return s->ops->txn->savepoint_undo(s, why);
    why_set(why, "%s", e->why.text);
    return e->err;
}

enum err ledger_writes_run(struct store *s, struct list *writes, struct why *why)
{
    enum err err = OK;
    list_each(writes, n, tmp)
    {
        err = write_run(s, container_of(n, struct ledger_entry, node), why);
        if (err)
            break;
    }
    return err;
}
