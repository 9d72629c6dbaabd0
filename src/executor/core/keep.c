/* SPDX-License-Identifier: Apache-2.0 */
/* init is called by the worker of the first run that needs the state, not when the job appears: a
 * handler whose init fails fails that run, and the next run tries again. destroy follows only an
 * init that succeeded. */
#include "executor/core/keep.h"
#include <stdlib.h>
#include "base/mem.h"

struct keep *keep_new(const struct peal_handler *h)
{
    struct keep *k = mem_new(sizeof(*k));
    k->handler = h;
    return k;
}

int keep_begin(struct keep *k)
{
    int status = 0;
    if (k->ready)
        return 0;
    k->state = NULL;
    if (k->handler->init)
        status = k->handler->init(k->handler->arg, &k->state);
    k->ready = status == 0;
    return status;
}

void keep_end(struct keep *k)
{
    if (k && k->ready && k->handler->destroy)
        k->handler->destroy(k->handler->arg, k->state);
    free(k);
}

static void end(struct pool_task *t, const struct pool_worker *w)
{
    struct keep *k = container_of(t, struct keep, task);
    struct mailbox *loop = k->loop;
    struct message *ended = k->ended;
    (void)w;
    keep_end(k);
    mailbox_send(loop, ended);
}

void keep_end_later(struct keep *k, struct pool *p, struct mailbox *loop, struct message *ended)
{
    k->task.work = end;
    k->loop = loop;
    k->ended = ended;
    pool_give(p, &k->task);
}
