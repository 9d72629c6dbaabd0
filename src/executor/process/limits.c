/* SPDX-License-Identifier: Apache-2.0 */
/* User, groups, environment and limits of children, looked up once at the start: between fork and
 * exec there may be neither memory nor locks for it. Whether a path can be used is judged by mode
 * bits for the user that the child will be, before the child is made, so the reason can be said. */
#include "executor/process/limits.h"
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

enum { ENTRY_MAX = 16384, ENTRY_MOST = 1 << 20, GROUPS_MOST = 65536 };

/* --- the user --- */

struct entry {         /* of the user database */
    struct passwd *is; /* NULL: there is none */
    struct passwd space;
    char *texts; /* owned */
};

/* name NULL: the executor's own. */
static enum err look_up(const char *name, struct entry *e)
{
    *e = (struct entry){ .is = NULL };
    for (size_t size = ENTRY_MAX; size <= ENTRY_MOST; size *= 2) {
        free(e->texts);
        e->texts = try_alloc(size);
        if (!e->texts)
            return ERR_NOMEM;
        int failed = name ? getpwnam_r(name, &e->space, e->texts, size, &e->is)
                          : getpwuid_r(geteuid(), &e->space, e->texts, size, &e->is);
        if (failed != ERANGE)
            return OK;
    }
    return OK;
}

static enum err take_groups(struct limits *l, const char *name)
{
    int n = 64;
    for (;;) {
        free(l->groups);
        l->groups = try_alloc((size_t)n * sizeof(*l->groups));
        if (!l->groups)
            return ERR_NOMEM;
        l->ngroups = n;
        if (getgrouplist(name, l->gid, l->groups, &l->ngroups) >= 0)
            return OK;
        if (l->ngroups <= n || l->ngroups > GROUPS_MOST)
            return ERR_INVALID;
        n = l->ngroups;
    }
}

static enum err take_user(struct limits *l, const char *name, const struct entry *e,
                          struct why *why)
{
    if (!e->is) {
        why_set(why, "peal.executor.glue.user: there is no user %.100s", name);
        return ERR_INVALID;
    }
    if (e->is->pw_uid == geteuid())
        return OK;
    if (geteuid() != 0) {
        why_set(why,
                "peal.executor.glue.user: only an executor that root starts can run scripts as "
                "%.100s; leave it out to run them as the executor's own user",
                name);
        return ERR_INVALID;
    }
    l->change_user = true;
    l->uid = e->is->pw_uid;
    l->gid = e->is->pw_gid;
    enum err err = take_groups(l, name);
    if (err)
        why_set(why, "peal.executor.glue.user: the groups of %.100s cannot be read", name);
    return err;
}

/* --- the environment --- */

static void add_env(struct limits *l, const char *name, const char *value)
{
    if (!value || limits_env(l, name))
        return;
    size_t size = strlen(name) + strlen(value) + 2;
    char *text = mem_new(size);
    snprintf(text, size, "%s=%s", name, value);
    l->env = mem_resize(l->env, (l->nenv + 2) * sizeof(*l->env));
    l->env[l->nenv++] = text;
    l->env[l->nenv] = NULL;
}

const char *limits_env(const struct limits *l, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < l->nenv; i++)
        if (strncmp(l->env[i], name, n) == 0 && l->env[i][n] == '=')
            return l->env[i] + n + 1;
    return NULL;
}

static void make_env(struct limits *l, const char *more, const struct entry *e)
{
    const char *path = getenv("PATH");
    const char *user = e->is ? e->is->pw_name : getenv("USER");
    const char *home = l->change_user ? e->is->pw_dir : getenv("HOME");
    add_env(l, "PATH", path && path[0] ? path : DEFAULT_PATH);
    add_env(l, "HOME", home ? home : e->is ? e->is->pw_dir : NULL);
    add_env(l, "USER", user);
    add_env(l, "LANG", getenv("LANG"));
    add_env(l, "TZ", getenv("TZ"));
    struct slice rest = slice_text(more);
    for (struct slice item; slice_item(&rest, &item);) {
        char *name = mem_dupn(item.p, item.n);
        add_env(l, name, getenv(name));
        free(name);
    }
}

static enum err check_names(const char *list, struct why *why)
{
    struct slice rest = slice_text(list);
    for (struct slice name; slice_item(&rest, &name);)
        if (memchr(name.p, '=', name.n)) {
            why_set(why, "peal.executor.glue.env: %.*s: names of variables, without values",
                    (int)utf8_cut(name.p, name.n, 100), name.p);
            return ERR_INVALID;
        }
    return OK;
}

/* --- all of it --- */

enum err limits_new(const struct limits_config *c, int grace_ms, struct limits **ret,
                    struct why *why)
{
    const char *user = c->user && c->user[0] ? c->user : NULL;
    struct entry e;
    struct limits *l = mem_new(sizeof(*l));
    *l = (struct limits){ .uid = geteuid(),
                          .gid = getegid(),
                          .time_ms = c->time_ms,
                          .memory = c->memory,
                          .processes = c->processes,
                          .files = c->files,
                          .grace_ms = grace_ms };
    enum err err = check_names(c->env, why);
    if (!err) {
        err = look_up(user, &e);
        if (!err && user)
            err = take_user(l, user, &e, why);
        if (!err)
            make_env(l, c->env, &e);
        if (!err && l->change_user)
            l->home = mem_dup(e.is->pw_dir);
        free(e.texts);
    }
    if (err)
        limits_free(l);
    else
        *ret = l;
    return err;
}

void limits_free(struct limits *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->nenv; i++)
        free(l->env[i]);
    free(l->env);
    free(l->groups);
    free(l->home);
    free(l);
}

/* --- files --- */

static bool in_group(const struct limits *l, gid_t gid)
{
    for (int i = 0; i < l->ngroups; i++)
        if (l->groups[i] == gid)
            return true;
    return gid == l->gid;
}

/* As the kernel decides it for a user without privileges. */
static bool may_pass(const struct limits *l, const struct stat *s)
{
    if (l->uid == 0)
        return true;
    if (s->st_uid == l->uid)
        return s->st_mode & S_IXUSR;
    return s->st_mode & (in_group(l, s->st_gid) ? S_IXGRP : S_IXOTH);
}

bool limits_may_use(const struct limits *l, const char *path, char *which, size_t size)
{
    char real[PATH_MAX];
    struct stat s;
    if (!realpath(path, real)) {
        text_copy(which, size, slice_text(path));
        return false;
    }
    for (char *p = real; p; p = strchr(p + 1, '/')) {
        struct slice at = slice_of(real, p == real ? 1 : (size_t)(p - real));
        text_copy(which, size, at);
        char c = real[at.n];
        real[at.n] = '\0';
        bool may = stat(real, &s) == 0 && may_pass(l, &s);
        real[at.n] = c;
        if (!may)
            return false;
    }
    text_copy(which, size, slice_text(real));
    return stat(real, &s) == 0 && may_pass(l, &s);
}
