/* SPDX-License-Identifier: Apache-2.0 */
/* Commits of one life are numbered in their order, and a life has a range of numbers, so what is
 * new of a server is what lies behind the last that was read, up to the end of the range of its
 * newest life. Bytes go when rows include them, at the earliest after minutes: one who has not read
 * for so long reads all anew. */
#include "server/follow.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "base/thread.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 200
#define STALE_MS 120000 /* not read for so long: bytes may have gone unread */
#define COMMITS 500     /* of one server, at once */
#define NODES 10000
#define WORDS 100 /* failures of one commit whose rows are read */

struct life {
    int64_t node, epoch;
};

struct follow {
    struct store *reader;
    int64_t node;
    struct figures *figures;
    struct life *lives;
    size_t nlives;
    int64_t read_ms;      /* boot: when all was read last */
    bool silent;          /* it was said that nothing can be read */
    bool full;            /* there is more to be read now */
    pthread_mutex_t lock; /* for whom to tell, while it is told */
    follow_fn *fn;
    void *arg;
    struct mailbox *in; /* only the request to stop */
    struct message stop;
    pthread_t thread;
};

/* ---- one commit ------------------------------------------------------------------------------ */

static bool wants_words(const struct run_end *e)
{
    return e->now > OUTCOME_SUCCEEDED && !outcome_never_ran(e->now);
}

static void tell(struct follow *f, int64_t node, int64_t no, const struct follow_end *ends,
                 size_t n)
{
    pthread_mutex_lock(&f->lock);
    if (f->fn && n)
        f->fn(f->arg, node, no, ends, n);
    pthread_mutex_unlock(&f->lock);
}

/* Why runs have failed stands in their rows alone. */
static void tell_ends(struct follow *f, int64_t node, int64_t no, const struct run_end *ends,
                      size_t n, int64_t at_ms)
{
    struct follow_end *told = mem_new((n + 1) * sizeof(*told));
    struct log_record rows[WORDS];
    size_t nrows = 0;
    for (size_t i = 0; i < n; i++) {
        struct log_record *r = &rows[nrows];
        told[i] = (struct follow_end){ .end = ends[i], .ended_ms = at_ms };
        if (!wants_words(&ends[i]) || nrows == WORDS)
            continue;
        *r = (struct log_record){ .id = 0 };
        nrows++;
        if (f->reader->ops->pages->log_get(f->reader, ends[i].log_id, r, NULL))
            continue;
        told[i].failure = (struct failure){ .trigger_code = r->trigger_code,
                                            .handle_code = r->handle_code,
                                            .trigger_msg = r->trigger_msg,
                                            .handle_msg = r->handle_msg,
                                            .address = r->address };
    }
    tell(f, node, no, told, n);
    for (size_t i = 0; i < nrows; i++)
        log_record_done(&rows[i]);
    free(told);
}

struct commits { /* of one server; bytes owned */
    struct {
        int64_t n;
        char *bytes;
        size_t size;
    } items[COMMITS];
    int n;
};

static bool keep(void *ctx, int64_t n, struct slice bytes)
{
    struct commits *c = ctx;
    char *copy = mem_new(bytes.n + 1);
    memcpy(copy, bytes.p, bytes.n);
    c->items[c->n].n = n;
    c->items[c->n].bytes = copy;
    c->items[c->n++].size = bytes.n;
    return c->n < COMMITS;
}

static void take(struct follow *f, int64_t node, const struct commits *c)
{
    for (int i = 0; i < c->n; i++) {
        size_t n;
        int64_t at_ms;
        struct run_end *ends =
            figures_others_take(f->figures, node, c->items[i].n,
                                slice_of(c->items[i].bytes, c->items[i].size), &n, &at_ms);
        tell_ends(f, node, c->items[i].n, ends, n, at_ms);
        free(ends);
        free(c->items[i].bytes);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool add_life(void *ctx, const struct life_record *r)
{
    struct follow *f = ctx;
    if (r->node == f->node)
        return true;
    if ((f->nlives & (f->nlives - 1)) == 0) /* doubles at powers of two */
        f->lives = mem_resize(f->lives, (f->nlives ? f->nlives * 2 : 1) * sizeof(*f->lives));
    f->lives[f->nlives++] = (struct life){ r->node, r->epoch };
    return true;
}

static enum err read_life(struct follow *f, const struct life *l, struct commits *c,
                          struct why *why)
{
    int64_t below = (l->epoch + 1) << EPOCH_COMMITS_BITS;
    c->n = 0;
    enum err err = f->reader->ops->cluster->deltas_of(
        f->reader, l->node, figures_others_read(f->figures, l->node), below, COMMITS, keep, c, why);
    take(f, l->node, c);
    f->full |= c->n == COMMITS;
    return err;
}

static enum err look(struct follow *f, struct why *why)
{
    struct commits *c = mem_new(sizeof(*c));
    int64_t began_ms = clock_boot_ms();
    enum err err = OK;
    if (began_ms - f->read_ms > STALE_MS)
        err = figures_others_load(f->figures, f->reader, why);
    f->nlives = 0;
    f->full = false;
    if (!err)
        err = f->reader->ops->cluster->lives_each(f->reader, NODES, add_life, f, why);
    for (size_t i = 0; !err && i < f->nlives; i++)
        err = read_life(f, &f->lives[i], c, why);
    if (!err)
        f->read_ms = began_ms;
    free(c);
    return err;
}

static void *follow_main(void *arg)
{
    struct follow *f = arg;
    struct list incoming;
    list_init(&incoming);
    while (!mailbox_take(f->in, &incoming)) {
        struct why why = { "" };
        enum err err = look(f, &why);
        if (err && !f->silent)
            log_warn("follow",
                     "what other servers have done cannot be read, will be tried again: %s",
                     why.text);
        f->silent = err != OK;
        if (!f->full || err)
            mailbox_wait(f->in, LOOK_MS);
    }
    return NULL;
}

struct follow *follow_new(struct store *reader, int64_t node, struct figures *figures)
{
    struct follow *f = mem_new(sizeof(*f));
    f->reader = reader;
    f->node = node;
    f->figures = figures;
    f->read_ms = clock_boot_ms(); /* the figures have just read it */
    pthread_mutex_init(&f->lock, NULL);
    f->in = mailbox_new();
    if (thread_start(&f->thread, "peal-follow", 0, follow_main, f))
        abort(); /* no threads at start: nothing can run */
    return f;
}

void follow_on(struct follow *f, follow_fn *fn, void *arg)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->fn = fn;
    f->arg = arg;
    pthread_mutex_unlock(&f->lock);
}

void follow_free(struct follow *f)
{
    if (!f)
        return;
    mailbox_send(f->in, &f->stop);
    pthread_join(f->thread, NULL);
    mailbox_free(f->in);
    store_close(f->reader);
    pthread_mutex_destroy(&f->lock);
    free(f->lives);
    free(f);
}
