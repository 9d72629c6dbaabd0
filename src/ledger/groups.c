/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - the rules of groups: edits by users, and the lists that the registry keeps. */
#include "base/mem.h"
#include "ledger/internal.h"
#include <stdlib.h>

/* The API checked this already, against an older snapshot. */
enum err groups_there(struct txn *t, int64_t id, struct why *why)
{
    struct group_record g = { 0 };
    enum err err = t->ops->catalog->group_get(t->store, id, &g, why);
    group_record_done(&g);
    if (err != ERR_NOTFOUND)
        return err;
    why_clear(why);
    why_set(why, "jobGroup: there is no group %lld", (long long)id);
    return ERR_INVALID;
}

static bool same_group(const struct group_record *a, const struct group_record *b)
{
    return same_text(a->app, b->app) && same_text(a->title, b->title) &&
           a->address_type == b->address_type &&
           (a->address_type == 0 || same_text(a->address_list, b->address_list));
}

/* The list of a group by registry is the registry's: it changes while a user looks at a form. */
static enum err group_update(struct txn *t, struct edit *e)
{
    struct group_record old = { 0 };
    struct group_record *g = &e->group;
    enum err err = t->ops->catalog->group_get(t->store, e->id, &old, &e->why);
    if (!err && e->was.app && !same_group(&old, &e->was))
        err = overtaken(e, "group");
    if (!err && g->address_type == 0) {
        free(g->address_list);
        g->address_list = mem_dup(old.address_list);
    }
    group_record_done(&old);
    g->updated_ms = t->b->now_ms;
    return err ? err : t->ops->catalog->group_update(t->store, g, &e->why);
}

static bool count_group(void *ctx, const struct group_record *g)
{
    (void)g;
    ++*(int *)ctx;
    return true;
}

/* A group with jobs stays, and so does the last one, as the original has it. */
static enum err group_delete(struct txn *t, struct edit *e)
{
    int64_t jobs = 0, total = 0;
    int n = 0;
    struct groups_filter all = { .limit = 2 };
    enum err err = t->ops->catalog->group_jobs(t->store, e->id, &jobs, &e->why);
    if (!err)
        err = t->ops->pages->groups_page(t->store, &all, count_group, &n, &total, &e->why);
    if (err)
        return err;
    if (jobs > 0) {
        why_set(&e->why, "group %lld has %lld jobs: delete them first", (long long)e->id,
                (long long)jobs);
        return ERR_INVALID;
    }
    struct group_record g = { 0 };
    err = t->ops->catalog->group_get(t->store, e->id, &g, &e->why);
    if (!err && e->was.app && !same_group(&g, &e->was))
        err = overtaken(e, "group");
    group_record_done(&g);
    if (!err && n < 2) {
        why_set(&e->why, "group %lld is the last one: it stays", (long long)e->id);
        err = ERR_INVALID;
    }
    return err ? err : t->ops->catalog->group_delete(t->store, e->id, &e->why);
}

static enum err group_insert(struct txn *t, struct edit *e)
{
    e->group.updated_ms = t->b->now_ms;
    enum err err = t->ops->catalog->group_insert(t->store, &e->group, &e->why);
    e->id = e->group.id;
    return err;
}

enum err groups_edit(struct txn *t, struct edit *e)
{
    switch (e->kind) {
    case EDIT_GROUP_INSERT:
        return group_insert(t, e);
    case EDIT_GROUP_UPDATE:
        return group_update(t, e);
    case EDIT_GROUP_DELETE:
        return group_delete(t, e);
    default:
        return ERR_INVALID;
    }
}

struct lists { /* the groups by registry of those that the batch has lists of */
    struct group_record *groups;
    int n;
};

static bool list_group(void *ctx, const struct group_record *g)
{
    struct lists *to = ctx;
    if (g->address_type == 0)
        group_record_copy(&to->groups[to->n++], g);
    return true;
}

static enum err lists_read(struct txn *t, struct lists *ret)
{
    const struct batch *b = t->b;
    int64_t *ids = mem_new((size_t)b->nlists * sizeof(*ids));
    *ret = (struct lists){ mem_new((size_t)b->nlists * sizeof(*ret->groups)), 0 };
    for (int i = 0; i < b->nlists; i++)
        ids[i] = b->lists[i].group_id;
    enum err err =
        t->ops->catalog->groups_get(t->store, ids, b->nlists, list_group, ret, &t->b->why);
    free(ids);
    return err;
}

static const struct group_list *list_of(const struct batch *b, int64_t group_id)
{
    const struct group_list *found = NULL;
    for (int i = 0; i < b->nlists; i++)
        if (b->lists[i].group_id == group_id)
            found = &b->lists[i]; /* the last one counts */
    return found;
}

enum err groups_put_lists(struct txn *t)
{
    struct lists lists;
    if (!t->b->nlists)
        return OK;
    enum err err = lists_read(t, &lists);
    for (int i = 0; i < lists.n; i++) {
        struct group_record *g = &lists.groups[i];
        if (!err) {
            free(g->address_list);
            g->address_list = mem_dup(list_of(t->b, g->id)->addresses);
            g->updated_ms = t->b->now_ms;
            err = t->ops->catalog->group_update(t->store, g, &t->b->why);
        }
        group_record_done(g);
    }
    free(lists.groups);
    return err;
}
