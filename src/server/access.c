/* SPDX-License-Identifier: Apache-2.0 */
/* access.c - access tokens at work: what registers with which, and what a change of one leaves.
 *
 * That an address came with the next token of its group is written down, because a center that is
 * started anew during the change must go on calling it with that one. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/state.h"
#include <stdlib.h>
#include <string.h>

/* ---- who has moved --------------------------------------------------------------------------- */

struct moved { /* a write */
    int64_t group_id, since_ms;
    char address[];
};

/* Nothing if the change is over. */
static enum err moved_run(struct store *s, void *arg, struct why *why)
{
    const struct moved *m = arg;
    struct group_token t = { .group_id = 0 };
    enum err err = s->ops->catalog->group_token_get(s, m->group_id, &t, why);
    if (err)
        return err == ERR_NOTFOUND ? OK : err;
    bool same = t.next && t.since_ms == m->since_ms;
    group_token_done(&t);
    return same ? s->ops->catalog->group_moved_put(s, m->group_id, m->address, why) : OK;
}

static void moved_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    free(arg);
}

static const struct ledger_write moved_write = { moved_run, moved_done };

static void on_moved(void *ctx, int64_t group_id, int64_t since_ms, struct slice address)
{
    struct moved *m = mem_new(sizeof(*m) + address.n + 1);
    m->group_id = group_id;
    m->since_ms = since_ms;
    memcpy(m->address, address.p, address.n);
    center_write_later(ctx, &moved_write, m);
}

/* ---- a change ends --------------------------------------------------------------------------- */

struct stayed { /* addresses that did not come with the token that alone serves now */
    struct center *c;
    int64_t group_id;
    char **addresses;
    size_t n, cap;
};

static void add_stayed(void *ctx, const char *address, bool dead)
{
    struct stayed *to = ctx;
    (void)dead;
    if (keys_used(to->c->keys, to->group_id, address) == KEY_NEXT)
        return;
    if (to->n == to->cap) {
        to->cap = to->cap ? 2 * to->cap : 16;
        to->addresses = mem_resize(to->addresses, to->cap * sizeof(*to->addresses));
    }
    to->addresses[to->n++] = mem_dup(address);
}

/* Who knows the old token alone must not be told the new one: the address is forgotten until it
 * registers with that, and calls about runs that it still has carry none. here: the change has
 * ended at this server, whose registry the others follow. */
static void forget_stayed(struct center *c, const struct stayed *stayed, bool here)
{
    const char *app = keys_app(c->keys, stayed->group_id);
    for (size_t i = 0; i < stayed->n; i++) {
        struct slice address = slice_text(stayed->addresses[i]);
        if (sched_address_listed(c->sched, stayed->group_id, address))
            continue;
        keys_bar(c->keys, stayed->group_id, stayed->addresses[i]);
        if (app && here)
            sched_unregister(c->sched, center_now(), slice_text(app), address);
    }
}

static void stayed_done(struct stayed *stayed)
{
    for (size_t i = 0; i < stayed->n; i++)
        free(stayed->addresses[i]);
    free(stayed->addresses);
}

/* ---- for the executor API -------------------------------------------------------------------- */

bool center_token_known(const struct center *c, struct slice token)
{
    return keys_known(c->keys, token);
}

bool center_token_serves(const struct center *c, struct slice app, struct slice token)
{
    return keys_serve_app(c->keys, app, token);
}

static void token_put(struct center *c, const struct group_token *t, bool here)
{
    struct stayed stayed = { .c = c, .group_id = t->group_id };
    if (keys_finished(c->keys, t))
        sched_addresses(c->sched, t->group_id, add_stayed, &stayed);
    keys_put(c->keys, t);
    forget_stayed(c, &stayed, here);
    stayed_done(&stayed);
}

void center_token_put(struct center *c, const struct group_token *t)
{
    token_put(c, t, true);
    c->groups_seq = sched_committed(c->sched);
    heard_again(c->heard, t->group_id);
}

/* The beginning of a change that has ended may not have been heard, so it is put first. */
void access_heard(struct center *c, const struct group_token *t, char *const *moved, size_t n)
{
    const struct group_token begun = { t->group_id, NULL, t->token, t->since_ms };
    bool finished = keys_finished(c->keys, t);
    if (finished)
        keys_put(c->keys, &begun);
    else if (!keys_same(c->keys, t))
        token_put(c, t, false);
    for (size_t i = 0; i < n; i++)
        keys_moved(c->keys, t->group_id, moved[i]);
    if (finished)
        token_put(c, t, false);
}

bool center_register(struct center *c, struct slice app, struct slice address, bool ours,
                     struct slice token)
{
    bool taken = sched_register(c->sched, center_now(), app, address, ours);
    if (taken)
        keys_heard(c->keys, app, address, token, on_moved, c);
    else if (clock_boot_ms() >= c->full_ms) { /* a minute after it was said last */
        log_warn("center",
                 "the registration of %.*s for %.*s is refused: there are 10,000 addresses of that "
                 "app, 100,000 in all, or 1,000 apps without a group",
                 (int)utf8_cut(address.p, address.n, 255), address.p,
                 (int)utf8_cut(app.p, app.n, 255), app.p);
        c->full_ms = clock_boot_ms() + 60000;
    }
    return taken;
}

void center_unregister(struct center *c, struct slice app, struct slice address)
{
    keys_left(c->keys, app, address);
    sched_unregister(c->sched, center_now(), app, address);
}
