/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - the groups by id and by app name, and a set of all tokens.
 *
 * The set is asked before a body is read: it holds SHA-256 digests, so that neither its order nor
 * the time that a look takes says anything about a token. The groups' own tokens are compared
 * afterwards, and only those of the group that the request is about: a server with a thousand
 * tokens compares no more than one with two. */
#include "server/keys.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/secret.h"
#include <stdlib.h>
#include <string.h>

#define SURELY_MS 2000  /* later by the clock of another server, in whole seconds */
#define MARKS_MAX 10000 /* addresses of one group that are remembered during a change */

struct mark { /* an address, during a change and, if it is barred, afterwards */
    enum key_used used;
    bool turned; /* the other token is tried, and nothing has been taken since */
    bool came;   /* it registered with the next one last */
    bool barred; /* it gets no token until it registers with one */
};

struct group_keys {
    int64_t id;
    char *app;                /* NULL: not told yet */
    struct list_node of_app;  /* in the list of struct app_keys */
    struct list_node of_keys; /* in keys.own, while it has a token */
    char *token, *next;
    uint32_t change;
    int64_t since_ms;
    struct textmap marks; /* address -> struct mark */
};

struct app_keys {
    struct list groups;
};

struct known { /* a token, or several with the same beginning of their digests */
    unsigned char digest[32];
    int n;
    struct known *other;
};

struct keys {
    char *token;
    struct map groups;   /* id -> struct group_keys */
    struct textmap apps; /* -> struct app_keys */
    struct map known;    /* first 8 bytes of the digest -> struct known */
    struct list own;
    uint32_t change;
};

/* ---- the set of all tokens ------------------------------------------------------------------- */

static uint64_t digest_of(struct slice token, unsigned char ret[32])
{
    uint64_t key;
    sha256(token.p, token.n, ret);
    memcpy(&key, ret, sizeof(key));
    return key;
}

static struct known *known_find(const struct keys *k, uint64_t key, const unsigned char digest[32])
{
    struct known *at = map_find(&k->known, key);
    while (at && memcmp(at->digest, digest, 32) != 0)
        at = at->other;
    return at;
}

static void known_add(struct keys *k, const char *token)
{
    unsigned char digest[32];
    if (!token)
        return;
    uint64_t key = digest_of(slice_text(token), digest);
    struct known *at = known_find(k, key, digest);
    if (!at) {
        at = mem_new(sizeof(*at));
        memcpy(at->digest, digest, sizeof(digest));
        at->other = map_set(&k->known, key, at);
    }
    at->n++;
}

static void known_remove(struct keys *k, const char *token)
{
    unsigned char digest[32];
    if (!token)
        return;
    uint64_t key = digest_of(slice_text(token), digest);
    struct known *at = known_find(k, key, digest), *first = map_take(&k->known, key);
    if (--at->n == 0) {
        struct known **link = &first;
        while (*link != at)
            link = &(*link)->other;
        *link = at->other;
        free(at);
    }
    if (first)
        map_set(&k->known, key, first);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static struct group_keys *group_find(const struct keys *k, int64_t id)
{
    return map_find(&k->groups, (uint64_t)id);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has_own(const struct group_keys *g)
{
    return g->token || g->next;
}

static void marks_drop(struct group_keys *g)
{
    void *value;
    for (size_t i = 0; textmap_next(&g->marks, &i, &value);)
        free(value);
    textmap_done(&g->marks);
    textmap_init(&g->marks);
}

static void token_set(struct keys *k, struct group_keys *g, const char *token, const char *next)
{
    known_remove(k, g->token);
    known_remove(k, g->next);
    free(g->token);
    free(g->next);
    g->token = mem_dup(token);
    g->next = mem_dup(next);
    known_add(k, g->token);
    known_add(k, g->next);
    g->change = ++k->change;
    marks_drop(g);
    list_remove(&g->of_keys);
    if (has_own(g))
        list_push(&k->own, &g->of_keys);
}

static void app_leave(struct keys *k, struct group_keys *g)
{
    if (!g->app)
        return;
    struct app_keys *app = textmap_find(&k->apps, slice_text(g->app));
    list_remove(&g->of_app);
    if (list_empty(&app->groups))
        free(textmap_take(&k->apps, slice_text(g->app)));
    free(g->app);
    g->app = NULL;
}

static void app_join(struct keys *k, struct group_keys *g, const char *name)
{
    struct app_keys *app = textmap_find(&k->apps, slice_text(name));
    if (!app) {
        app = mem_new(sizeof(*app));
        list_init(&app->groups);
        textmap_set(&k->apps, slice_text(name), app);
    }
    g->app = mem_dup(name);
    list_push(&app->groups, &g->of_app);
}

static void group_free(struct keys *k, struct group_keys *g)
{
    app_leave(k, g);
    token_set(k, g, NULL, NULL);
    textmap_done(&g->marks);
    free(g);
}

static struct group_keys *group_get(struct keys *k, int64_t id)
{
    struct group_keys *g = group_find(k, id);
    if (!g) {
        g = mem_new(sizeof(*g));
        g->id = id;
        textmap_init(&g->marks);
        map_set(&k->groups, (uint64_t)id, g);
    }
    return g;
}

struct keys *keys_new(const char *token)
{
    struct keys *k = mem_new(sizeof(*k));
    k->token = mem_dup(token);
    map_init(&k->groups);
    textmap_init(&k->apps);
    map_init(&k->known);
    list_init(&k->own);
    return k;
}

void keys_free(struct keys *k)
{
    if (!k)
        return;
    void *value;
    for (size_t i = 0; (value = map_any(&k->groups, &i));) {
        struct group_keys *g = value;
        map_take(&k->groups, (uint64_t)g->id);
        group_free(k, g);
    }
    map_done(&k->groups);
    textmap_done(&k->apps);
    map_done(&k->known);
    free(k->token);
    free(k);
}

void keys_group(struct keys *k, int64_t group_id, const char *app)
{
    if (!app) {
        struct group_keys *gone = map_take(&k->groups, (uint64_t)group_id);
        if (gone)
            group_free(k, gone);
        return;
    }
    struct group_keys *g = group_get(k, group_id);
    if (g->app && strcmp(g->app, app) == 0)
        return;
    app_leave(k, g);
    app_join(k, g, app);
}

void keys_put(struct keys *k, const struct group_token *t)
{
    struct group_keys *g = group_get(k, t->group_id);
    token_set(k, g, t->token, t->next);
    g->since_ms = t->since_ms;
}

bool keys_same(const struct keys *k, const struct group_token *t)
{
    const struct group_keys *g = group_find(k, t->group_id);
    if (!g)
        return !t->token && !t->next;
    return same_text(g->token, t->token) && same_text(g->next, t->next) &&
           (g->since_ms == t->since_ms || !has_own(g));
}

bool keys_any(const struct keys *k)
{
    return !list_empty(&k->own);
}

/* ---- what executors bring -------------------------------------------------------------------- */

static bool equal(struct slice token, const char *want)
{
    return token.p && want && secret_equal(token, slice_text(want));
}

static bool serves_server(const struct keys *k, struct slice token)
{
    return !k->token[0] || equal(token, k->token);
}

static bool serves(const struct keys *k, const struct group_keys *g, struct slice token)
{
    if (equal(token, g->next))
        return true;
    return g->token ? equal(token, g->token) : serves_server(k, token);
}

bool keys_known(const struct keys *k, struct slice token)
{
    unsigned char digest[32];
    if (serves_server(k, token))
        return true;
    if (!token.p || !keys_any(k))
        return false;
    uint64_t key = digest_of(token, digest);
    return known_find(k, key, digest) != NULL;
}

bool keys_serve_app(const struct keys *k, struct slice app, struct slice token)
{
    const struct app_keys *a = keys_any(k) ? textmap_find(&k->apps, app) : NULL;
    bool own = false;
    if (!a)
        return serves_server(k, token);
    list_each(&a->groups, n, tmp)
    {
        const struct group_keys *g = container_of(n, struct group_keys, of_app);
        own |= has_own(g);
        if (has_own(g) && serves(k, g, token))
            return true;
    }
    return !own && serves_server(k, token);
}

bool keys_serve_group(const struct keys *k, int64_t group_id, struct slice token)
{
    const struct group_keys *g = keys_any(k) ? group_find(k, group_id) : NULL;
    return g && has_own(g) ? serves(k, g, token) : serves_server(k, token);
}

struct claim *keys_claim(const struct keys *k, struct slice token)
{
    bool others = serves_server(k, token);
    int64_t *ids = NULL;
    size_t n = 0, cap = 0;
    list_each(&k->own, node, tmp)
    {
        const struct group_keys *g = container_of(node, struct group_keys, of_keys);
        if (serves(k, g, token) == others)
            continue;
        if (n == cap) {
            cap = cap ? 2 * cap : 8;
            ids = mem_resize(ids, cap * sizeof(*ids));
        }
        ids[n++] = g->id;
    }
    return claim_new(others, ids, n);
}

/* ---- what executors get ---------------------------------------------------------------------- */

static enum key_used used_of(const struct group_keys *g, struct slice address)
{
    const struct mark *m = textmap_find(&g->marks, address);
    return m ? m->used : KEY_UNKNOWN;
}

const char *keys_for(const struct keys *k, int64_t group_id, const char *address,
                     struct key_sent *ret)
{
    const struct group_keys *g = keys_any(k) ? group_find(k, group_id) : NULL;
    *ret = (struct key_sent){ g ? g->change : 0, KEY_OLD };
    if (!g)
        return NULL;
    const struct mark *m = g->marks.len ? textmap_find(&g->marks, slice_text(address)) : NULL;
    if (m && m->barred)
        return "";
    if (!g->next)
        return g->token;
    if (used_of(g, slice_text(address)) == KEY_NEXT)
        ret->used = KEY_NEXT;
    return ret->used == KEY_NEXT ? g->next : g->token;
}

static struct mark *mark_get(struct group_keys *g, struct slice address)
{
    struct mark *m = textmap_find(&g->marks, address);
    if (!m && g->marks.len < MARKS_MAX) {
        m = mem_new(sizeof(*m));
        textmap_set(&g->marks, address, m);
    }
    return m;
}

void keys_heard(struct keys *k, struct slice app, struct slice address, struct slice token,
                void (*moved)(void *ctx, int64_t group_id, int64_t since_ms, struct slice address),
                void *ctx)
{
    const struct app_keys *a = keys_any(k) ? textmap_find(&k->apps, app) : NULL;
    if (!a)
        return;
    list_each(&a->groups, n, tmp)
    {
        struct group_keys *g = container_of(n, struct group_keys, of_app);
        if (!serves(k, g, token))
            continue;
        if (!g->next) {
            free(textmap_take(&g->marks, address));
            continue;
        }
        struct mark *m = mark_get(g, address);
        if (!m)
            continue;
        bool next = equal(token, g->next), first = next && !m->came;
        *m = (struct mark){ next ? KEY_NEXT : KEY_OLD, false, next, false };
        if (first)
            moved(ctx, g->id, g->since_ms, address);
    }
}

void keys_moved(struct keys *k, int64_t group_id, const char *address)
{
    struct group_keys *g = group_find(k, group_id);
    struct mark *m = g && g->next ? mark_get(g, slice_text(address)) : NULL;
    if (m)
        *m = (struct mark){ KEY_NEXT, false, true, false };
}

void keys_bar(struct keys *k, int64_t group_id, const char *address)
{
    struct group_keys *g = group_find(k, group_id);
    struct mark *m = g && has_own(g) ? mark_get(g, slice_text(address)) : NULL;
    if (m)
        *m = (struct mark){ .barred = true };
}

void keys_registered(struct keys *k, struct slice app, struct slice address, int64_t at_ms)
{
    const struct app_keys *a = keys_any(k) ? textmap_find(&k->apps, app) : NULL;
    if (!a)
        return;
    list_each(&a->groups, n, tmp)
    {
        struct group_keys *g = container_of(n, struct group_keys, of_app);
        const struct mark *m = g->marks.len ? textmap_find(&g->marks, address) : NULL;
        if (m && m->barred && at_ms > g->since_ms + SURELY_MS)
            free(textmap_take(&g->marks, address));
    }
}

const char *keys_app(const struct keys *k, int64_t group_id)
{
    const struct group_keys *g = group_find(k, group_id);
    return g ? g->app : NULL;
}

void keys_left(struct keys *k, struct slice app, struct slice address)
{
    const struct app_keys *a = keys_any(k) ? textmap_find(&k->apps, app) : NULL;
    if (!a)
        return;
    list_each(&a->groups, n, tmp)
        free(textmap_take(&container_of(n, struct group_keys, of_app)->marks, address));
}

bool keys_refused(struct keys *k, int64_t group_id, const char *address,
                  const struct key_sent *sent, bool trusted)
{
    struct group_keys *g = keys_any(k) ? group_find(k, group_id) : NULL;
    if (!g)
        return sent->change != 0; /* it had one when the call left */
    if (g->change != sent->change)
        return true;
    struct mark *m = g->next ? mark_get(g, slice_text(address)) : NULL;
    if (!m)
        return false;
    enum key_used now = m->used == KEY_NEXT ? KEY_NEXT : KEY_OLD;
    if (now != sent->used)
        return true;
    if (m->turned)
        return false;
    if (now == KEY_OLD && !m->came && !trusted)
        return false;
    m->used = now == KEY_NEXT ? KEY_OLD : KEY_NEXT;
    m->turned = true;
    return true;
}

void keys_taken(struct keys *k, int64_t group_id, const char *address, const struct key_sent *sent)
{
    struct group_keys *g = keys_any(k) ? group_find(k, group_id) : NULL;
    struct mark *m = g && g->next ? textmap_find(&g->marks, slice_text(address)) : NULL;
    if (m && m->turned && g->change == sent->change && m->used == sent->used)
        m->turned = false;
}

bool keys_finished(const struct keys *k, const struct group_token *t)
{
    const struct group_keys *g = group_find(k, t->group_id);
    return t->token && !t->next && !(g && same_text(g->token, t->token));
}

enum key_used keys_used(const struct keys *k, int64_t group_id, const char *address)
{
    const struct group_keys *g = group_find(k, group_id);
    return g && g->next ? used_of(g, slice_text(address)) : KEY_UNKNOWN;
}
