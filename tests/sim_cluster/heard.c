/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations that other centers have taken, read as src/server/heard.c does: when the sum of
 * changes has moved, and each 10 s. A look notes what was committed when it began. */
#include "world.h"
#include <stdio.h>

#define ALL_EVERY_MS 10000
#define AGAIN_MS 3000
#define ROWS 16

struct heard_news {
    struct registry_record rows[ROWS];
    char texts[ROWS][3][40];
    int n;
    uint64_t seq, others;
};

static bool take(void *ctx, const struct registry_record *r)
{
    struct heard_news *h = ctx;
    char(*t)[40] = h->texts[h->n];
    snprintf(t[0], sizeof(t[0]), "%s", r->group);
    snprintf(t[1], sizeof(t[1]), "%s", r->key);
    snprintf(t[2], sizeof(t[2]), "%s", r->value);
    h->rows[h->n++] = (struct registry_record){ t[0], t[1], t[2], r->updated_ms };
    return h->n < ROWS;
}

static void on_heard_again(struct world *w, struct event *e)
{
    heard_step(w, e->node);
}

static void again_in(struct world *w, struct cnode *n, int64_t ms)
{
    n->hearing = false;
    after(w, ms, n, on_heard_again, NULL);
}

static void on_read(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    struct heard_news *h = e->p;
    n->others_seen = h->others;
    n->heard_ms = now_of(n).boot_ms + ALL_EVERY_MS;
    bool taken = sched_heard_registry(n->sched, now_of(n), h->rows, h->n, h->seq);
    again_in(w, n, taken ? ALL_EVERY_MS : 1);
    if (!taken)
        n->heard_ms = 0;
    loop_pump(w, n);
}

static void on_look(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    struct heard_news *h = e->p;
    struct why why = { "" };
    if (db_away(w, n)) {
        n->heard_ms = now_of(n).boot_ms + AGAIN_MS;
        again_in(w, n, AGAIN_MS);
        return;
    }
    must(w, w->db->ops->catalog->registry_each(w->db, take, h, &why), &why);
    after(w, db_ms(w), n, on_read, h);
    e->p = NULL;
}

void heard_step(struct world *w, struct cnode *n)
{
    if (n->hearing)
        return;
    if (n->others == n->others_seen && now_of(n).boot_ms < n->heard_ms)
        return;
    struct heard_news *h = mem_new(sizeof(*h));
    n->hearing = true;
    h->seq = n->committed;
    h->others = n->others;
    after(w, db_ms(w), n, on_look, h);
}
