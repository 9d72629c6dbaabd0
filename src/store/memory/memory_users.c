/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: users, sessions and tokens. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include "store/shared.h"
#include <stdlib.h>
#include <string.h>

/* ---- users ----------------------------------------------------------------------------------- */

static const struct mem_user *user_named(const struct memory *m, const char *name)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_USER], &i, &row);)
        if (strcmp(((struct mem_user *)row)->row.username, name ? name : "") == 0)
            return row;
    return NULL;
}

static int64_t sessions_count(const struct memory *m, int64_t user_id)
{
    int64_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_SESSION], &i, &row);)
        n += ((struct mem_session *)row)->row.user_id == user_id;
    return n;
}

static void user_lend(const struct memory *m, const struct mem_user *u, struct user_record *ret)
{
    user_record_copy(ret, &u->row);
    ret->sessions = sessions_count(m, u->row.id);
    if (!store_argon2_counts(u->row.password, u->legacy)) {
        free(ret->argon2);
        ret->argon2 = NULL;
    }
}

enum err memory_user_find(struct store *s, const char *username, struct user_record *ret,
                          struct why *why)
{
    const struct memory *m = memory_of(s);
    const struct mem_user *u = user_named(m, username);
    if (!u) {
        why_set(why, "no user of that name");
        return ERR_NOTFOUND;
    }
    user_lend(m, u, ret);
    return OK;
}

static enum err missing(const char *what, int64_t id, struct why *why)
{
    why_set(why, "%s %lld does not exist", what, (long long)id);
    return ERR_NOTFOUND;
}

enum err memory_user_get(struct store *s, int64_t id, struct user_record *ret, struct why *why)
{
    const struct memory *m = memory_of(s);
    const struct mem_user *u = mem_find(m, T_USER, id);
    if (!u)
        return missing("user", id, why);
    user_lend(m, u, ret);
    return OK;
}

enum err memory_user_count(struct store *s, bool admins, int64_t *ret, struct why *why)
{
    (void)why;
    int64_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&memory_of(s)->tables[T_USER], &i, &row);)
        n += !admins || ((struct mem_user *)row)->row.role == 1;
    *ret = n;
    return OK;
}

static int by_name(const void *a, const void *b)
{
    const struct mem_user *x = *(struct mem_user *const *)a, *y = *(struct mem_user *const *)b;
    return strcmp(x->row.username, y->row.username);
}

static bool has(const char *name, const char *part)
{
    return !part || strcasestr(name, part) != NULL;
}

/* The users of the filter, by id or by name. */
static const struct mem_user **users_found(const struct memory *m, const struct users_filter *f,
                                           int64_t *ret_n)
{
    size_t n;
    int64_t *keys = mem_keys(m, T_USER, &n), found = 0;
    const struct mem_user **users = mem_new((n + 1) * sizeof(const struct mem_user *));
    for (size_t i = 0; i < n; i++) {
        const struct mem_user *u = mem_find(m, T_USER, keys[i]);
        if (has(u->row.username, f->name) && (f->role < 0 || u->row.role == f->role))
            users[found++] = u;
    }
    free(keys);
    if (f->by_name)
        qsort(users, (size_t)found, sizeof(const struct mem_user *), by_name);
    *ret_n = found;
    return users;
}

enum err memory_users_page(struct store *s, const struct users_filter *f, user_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    const struct mem_user **users = users_found(m, f, ret_total);
    int64_t at = f->by_name && f->offset > 0 ? f->offset : 0, left = f->limit;
    for (bool more = true; more && at < *ret_total && left > 0; at++) {
        if (!f->by_name && users[at]->row.id <= f->after_id)
            continue;
        struct user_record lent;
        user_lend(m, users[at], &lent);
        more = fn(ctx, &lent);
        user_record_done(&lent);
        left--;
    }
    free((void *)users);
    return OK;
}

/* argon2 is that of the password as it stands. */
static void user_put(struct memory *m, const struct user_record *r, int64_t login_ms)
{
    struct mem_user *u = mem_new(sizeof(*u));
    user_record_copy(&u->row, r);
    if (!u->row.username)
        u->row.username = mem_dup("");
    if (!u->row.password)
        u->row.password = mem_dup("");
    u->row.sessions = 0;
    u->row.login_ms = login_ms;
    if (u->row.created_ms <= 0)
        u->row.created_ms = -1;
    u->legacy = mem_dup(u->row.password);
    mem_put(m, T_USER, r->id, u);
}

enum err memory_user_insert(struct store *s, struct user_record *r, struct why *why)
{
    struct memory *m = memory_of(s);
    if (user_named(m, r->username)) {
        why_set(why, "a user of that name exists already");
        return ERR_EXISTS;
    }
    r->id = mem_next_id(m, T_USER);
    user_put(m, r, -1);
    return OK;
}

enum err memory_user_update(struct store *s, const struct user_record *r, struct why *why)
{
    struct memory *m = memory_of(s);
    const struct mem_user *old = mem_find(m, T_USER, r->id);
    if (!old)
        return missing("user", r->id, why);
    struct user_record changed = *r;
    changed.username = old->row.username; /* names stay */
    user_put(m, &changed, old->row.login_ms);
    return OK;
}

enum err memory_user_upgrade(struct store *s, int64_t id, const char *argon2, struct why *why)
{
    struct memory *m = memory_of(s);
    const struct mem_user *old = mem_find(m, T_USER, id);
    if (!old)
        return missing("user", id, why);
    struct user_record changed = old->row;
    changed.argon2 = (char *)argon2;
    user_put(m, &changed, old->row.login_ms);
    return OK;
}

enum err memory_user_seen(struct store *s, int64_t id, int64_t login_ms, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct mem_user *old = mem_find(m, T_USER, id);
    if (!old)
        return OK;
    struct mem_user *u = mem_new(sizeof(*u));
    user_record_copy(&u->row, &old->row);
    u->row.login_ms = login_ms;
    u->legacy = mem_dup(old->legacy);
    mem_put(m, T_USER, id, u);
    return OK;
}

static void tokens_drop(struct memory *m, int64_t user_id)
{
    size_t n;
    int64_t *keys = mem_keys(m, T_TOKEN, &n);
    for (size_t i = 0; i < n; i++)
        if (((struct token_record *)mem_find(m, T_TOKEN, keys[i]))->user_id == user_id)
            mem_put(m, T_TOKEN, keys[i], NULL);
    free(keys);
}

enum err memory_user_delete(struct store *s, int64_t id, struct why *why)
{
    struct memory *m = memory_of(s);
    if (!mem_find(m, T_USER, id))
        return missing("user", id, why);
    mem_put(m, T_USER, id, NULL);
    tokens_drop(m, id);
    return memory_sessions_end(s, id, NULL, why);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static const struct mem_session *session_of(const struct memory *m, const char *digest)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_SESSION], &i, &row);)
        if (strcmp(((struct mem_session *)row)->row.digest, digest) == 0)
            return row;
    return NULL;
}

enum err memory_session_put(struct store *s, const struct session_record *r, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct mem_session *old = session_of(m, r->digest);
    struct mem_session *row = mem_new(sizeof(*row));
    row->id = old ? old->id : mem_next_id(m, T_SESSION);
    row->row = *r;
    mem_put(m, T_SESSION, row->id, row);
    return OK;
}

enum err memory_session_find(struct store *s, const char *digest, struct session_record *ret,
                             struct why *why)
{
    const struct mem_session *row = session_of(memory_of(s), digest);
    if (!row) {
        why_set(why, "no such session");
        return ERR_NOTFOUND;
    }
    *ret = row->row;
    return OK;
}

static int newest_first(const void *a, const void *b)
{
    const struct session_record *x = a, *y = b;
    if (x->created_ms != y->created_ms)
        return x->created_ms > y->created_ms ? -1 : 1;
    return strcmp(x->digest, y->digest);
}

enum err memory_sessions_of(struct store *s, int64_t user_id, session_row_fn *fn, void *ctx,
                            struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    struct session_record *rows = mem_new((m->tables[T_SESSION].len + 1) * sizeof(*rows));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_SESSION], &i, &row);)
        if (((struct mem_session *)row)->row.user_id == user_id)
            rows[n++] = ((struct mem_session *)row)->row;
    qsort(rows, n, sizeof(*rows), newest_first);
    for (size_t i = 0; i < n && fn(ctx, &rows[i]); i++)
        ;
    free(rows);
    return OK;
}

enum err memory_session_used(struct store *s, const char *digest, int64_t used_ms, struct why *why)
{
    const struct mem_session *old = session_of(memory_of(s), digest);
    if (!old)
        return OK;
    struct session_record r = old->row;
    r.used_ms = used_ms;
    return memory_session_put(s, &r, why);
}

enum err memory_session_delete(struct store *s, const char *digest, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct mem_session *row = session_of(m, digest);
    if (row)
        mem_put(m, T_SESSION, row->id, NULL);
    return OK;
}

enum err memory_sessions_end(struct store *s, int64_t user_id, const char *but, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_SESSION, &n);
    for (size_t i = 0; i < n; i++) {
        const struct session_record *r =
            &((struct mem_session *)mem_find(m, T_SESSION, keys[i]))->row;
        if (r->user_id == user_id && strcmp(r->digest, but ? but : "") != 0)
            mem_put(m, T_SESSION, keys[i], NULL);
    }
    free(keys);
    return OK;
}

enum err memory_sessions_expire(struct store *s, int64_t now_ms, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_SESSION, &n);
    for (size_t i = 0; i < n; i++)
        if (((struct mem_session *)mem_find(m, T_SESSION, keys[i]))->row.expires_ms <= now_ms)
            mem_put(m, T_SESSION, keys[i], NULL);
    free(keys);
    return OK;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void token_put(struct memory *m, const struct token_record *r)
{
    struct token_record *t = mem_new(sizeof(*t));
    token_record_copy(t, r);
    mem_put(m, T_TOKEN, r->id, t);
}

enum err memory_token_insert(struct store *s, struct token_record *r, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    r->id = mem_next_id(m, T_TOKEN);
    struct token_record row = *r;
    row.used_ms = -1;
    token_put(m, &row);
    return OK;
}

enum err memory_token_get(struct store *s, int64_t id, struct token_record *ret, struct why *why)
{
    const struct token_record *t = mem_find(memory_of(s), T_TOKEN, id);
    if (!t)
        return missing("token", id, why);
    token_record_copy(ret, t);
    return OK;
}

enum err memory_token_find(struct store *s, const char *digest, struct token_record *ret,
                           struct why *why)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(s)->tables[T_TOKEN], &i, &row);)
        if (strcmp(((struct token_record *)row)->digest, digest) == 0) {
            token_record_copy(ret, row);
            return OK;
        }
    why_set(why, "no such token");
    return ERR_NOTFOUND;
}

enum err memory_tokens_of(struct store *s, int64_t user_id, int64_t after_id, int64_t limit,
                          token_row_fn *fn, void *ctx, int64_t *ret_total, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_TOKEN, &n), total = 0;
    bool more = true;
    for (size_t i = 0; i < n; i++) {
        const struct token_record *t = mem_find(m, T_TOKEN, keys[i]);
        if (t->user_id != user_id)
            continue;
        total++;
        if (more && t->id > after_id && limit-- > 0)
            more = fn(ctx, t);
    }
    free(keys);
    *ret_total = total;
    return OK;
}

enum err memory_token_used(struct store *s, int64_t id, int64_t used_ms, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct token_record *t = mem_find(m, T_TOKEN, id);
    if (!t)
        return OK;
    struct token_record r = *t;
    r.used_ms = used_ms;
    token_put(m, &r);
    return OK;
}

enum err memory_token_delete(struct store *s, int64_t id, struct why *why)
{
    struct memory *m = memory_of(s);
    if (!mem_find(m, T_TOKEN, id))
        return missing("token", id, why);
    mem_put(m, T_TOKEN, id, NULL);
    return OK;
}
