/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - a request, what it holds, and the waiting for its answer. */
#include "server/request.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS 10000
#define TROUBLE_MS 2000 /* the same while commits fail */
#define LOOK_MS 200

/* ---- what a request holds -------------------------------------------------------------------- */

void center_keys_done(struct center_keys *k)
{
    for (int i = 0; i < k->n; i++)
        free(k->waiting[i].address);
    free(k->waiting);
}

static struct scope scope_copy(const struct scope *from, int64_t *ids)
{
    struct scope to = { scope_is_all(from), ids, scope_is_all(from) ? 0 : from->n };
    if (to.n)
        memcpy(ids, from->ids, to.n * sizeof(*ids));
    return to;
}

struct asked_executors *asked_executors_new(const struct executors_filter *f)
{
    struct asked_executors *a = mem_new(sizeof(*a));
    size_t n = scope_is_all(f->scope) ? 0 : f->scope->n, more = f->groups ? f->groups->n : 0;
    a->ids = mem_new((n + more + 1) * sizeof(*a->ids));
    a->scope = scope_copy(f->scope, a->ids);
    a->groups = scope_copy(f->groups, a->ids + n);
    a->after = mem_dup(f->after);
    a->only = mem_dup(f->only);
    a->f = *f;
    a->f.scope = &a->scope;
    a->f.groups = f->groups ? &a->groups : NULL;
    a->f.after = a->after;
    a->f.only = a->only;
    return a;
}

void center_executors_done(struct center_executors *e)
{
    for (int i = 0; i < e->n; i++)
        executor_view_done(&e->items[i]);
    free(e->items);
    *e = (struct center_executors){ NULL, 0, 0 };
}

static void asked_executors_free(struct asked_executors *a)
{
    if (!a)
        return;
    free(a->ids);
    free(a->after);
    free(a->only);
    center_executors_done(&a->found);
    free(a);
}

struct request *request_new(enum request_kind kind)
{
    struct request *a = mem_new(sizeof(*a));
    a->message.kind = MESSAGE_REQUEST;
    a->kind = kind;
    a->refs = 2;
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->ready, &attr);
    pthread_condattr_destroy(&attr);
    return a;
}

void request_put(struct request *a)
{
    pthread_mutex_lock(&a->lock);
    bool last = --a->refs == 0;
    pthread_mutex_unlock(&a->lock);
    if (!last)
        return;
    edit_free(a->edit);
    for (int i = 0; i < a->nedits; i++)
        edit_free(a->edits[i]);
    free(a->edits);
    if (a->entry) /* its asker has given up */
        ledger_entry_end(a->entry, ERR_TIMEOUT);
    spawn_done(&a->spawn);
    free(a->address);
    free(a->log.content);
    asked_executors_free(a->executors);
    center_keys_done(&a->keys);
    free(a->groups);
    pthread_cond_destroy(&a->ready);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* A center that stops meanwhile does not say so to messages that it never opened: look from time to
 * time. */
enum err request_wait_posted(struct center *c, struct request *a)
{
    pthread_mutex_lock(&a->lock);
    bool late = false;
    while (!a->done && !late && !c->closed) {
        int64_t patience_ms = writer_in_trouble(c->writer) ? TROUBLE_MS : PATIENCE_MS;
        late = clock_boot_ms() - a->begun_ms >= patience_ms;
        struct timespec look = clock_after_ms(LOOK_MS);
        if (!late)
            pthread_cond_timedwait(&a->ready, &a->lock, &look);
    }
    enum err err = a->done ? a->err : late ? ERR_TIMEOUT : ERR_STOPPING;
    pthread_mutex_unlock(&a->lock);
    return err;
}

void request_post(struct center *c, struct request *a)
{
    a->begun_ms = clock_boot_ms();
    mailbox_send(c->mailbox, &a->message);
}

enum err request_wait(struct center *c, struct request *a)
{
    request_post(c, a);
    return request_wait_posted(c, a);
}

void request_answer(struct request *a, enum err err)
{
    list_remove(&a->node);
    pthread_mutex_lock(&a->lock);
    a->err = err;
    a->done = true;
    pthread_cond_signal(&a->ready);
    pthread_mutex_unlock(&a->lock);
    request_put(a);
}

enum err request_end(struct request *a, enum err err, struct why *why)
{
    if (err == ERR_TIMEOUT)
        why_set(why, "not confirmed in time: the database may be unavailable (see /readyz); "
                     "the request may still take effect");
    else if (err)
        why_set(why, "%s", a->why.text[0] ? a->why.text : err_text(err));
    request_put(a);
    return err;
}

bool request_answered(struct request *a)
{
    pthread_mutex_lock(&a->lock);
    bool yes = a->done;
    pthread_mutex_unlock(&a->lock);
    return yes;
}
