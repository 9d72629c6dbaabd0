/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs follow which, when all of the file has come true. The rules of one job look at what is
 * there; here a chain may lead through jobs that the file changes, makes, or leaves as they are. A
 * walk in depth: who is met again while its own descendants are looked at is its own descendant. */
#include "api/v1/import.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define CHILDREN_MAX 40
#define NODES_MAX 10000
#define MADE (UINT64_C(1) << 62) /* of the key of a job that is made: and its place in the file */

/* ---- what the file says ---------------------------------------------------------------------- */

static bool refuse(struct import *x, const struct import_step *s, size_t i, const char *rule,
                   const char *format, const json_t *ref)
{
    char field[40], text[400];
    const char *app = json_string_value(json_object_get(ref, "group"));
    const char *name = json_string_value(json_object_get(ref, "name"));
    snprintf(field, sizeof(field), "/children/%zu", i);
    snprintf(text, sizeof(text), format, name, app);
    problem_error(import_fault(x, PROBLEM_INVALID, IMPORT_JOBS, s->item), field, rule, NULL, "%s",
                  text);
    return false;
}

static bool listed(const struct import_step *s, const struct import_child *c)
{
    for (int i = 0; i < s->nchildren; i++)
        if (s->children[i].id == c->id && s->children[i].item == c->item)
            return true;
    return false;
}

/* Of a job that there is: may its parent start it? It runs when its parent has succeeded. */
static bool take_child(struct import *x, struct import_step *s, size_t i, const json_t *ref)
{
    const char *app = json_string_value(json_object_get(ref, "group"));
    const char *name = json_string_value(json_object_get(ref, "name"));
    const json_t *item = json_object_get(json_object_get(x->file_jobs, app), name);
    struct import_child c = { .item = -1 };
    int64_t group_id;
    enum import_found found = import_job(x, app, name, &c.id);
    (void)import_group(x, app, &group_id);
    if (found == IMPORT_FAILED)
        return false;
    if (found == IMPORT_SEVERAL)
        return refuse(x, s, i, "name.unclear", "several jobs have the name %.100s in group %.64s",
                      ref);
    if (found == IMPORT_NONE && !item)
        return refuse(x, s, i, "child.exists",
                      "there is no job %.100s of group %.64s, and no file makes it", ref);
    if (found == IMPORT_ONE && x->prune && !item && json_object_get(x->pruned, app))
        return refuse(x, s, i, "child.exists",
                      "job %.100s of group %.64s is to be deleted: no file has it", ref);
    if (!import_may(x, PERM_RUN, group_id))
        return refuse(x, s, i, "child.permission",
                      "you have no permission for job %.100s of group %.64s", ref);
    if (!c.id)
        c.item = (int)json_integer_value(item);
    if (c.id ? c.id == s->id : c.item == s->item)
        return refuse(x, s, i, "child.self", "a job cannot be its own child", ref);
    if (!listed(s, &c))
        s->children[s->nchildren++] = c;
    return true;
}

bool import_children(struct import *x, struct import_step *s, const json_t *want)
{
    const json_t *list = json_object_get(want, "children"), *ref;
    const struct problem_limits limits = { 0, CHILDREN_MAX };
    bool good = true;
    size_t i;
    s->says_children = list != NULL;
    if (json_array_size(list) > CHILDREN_MAX) {
        problem_error(import_fault(x, PROBLEM_INVALID, IMPORT_JOBS, s->item), "/children",
                      "list.length", &limits, "children: at most %d", CHILDREN_MAX);
        return false;
    }
    s->children = mem_new((json_array_size(list) + 1) * sizeof(*s->children));
    json_array_foreach(list, i, ref)
    {
        good &= take_child(x, s, i, ref);
    }
    return good;
}

/* ---- the walk -------------------------------------------------------------------------------- */

struct node {
    uint64_t key;
    struct import_step *step; /* that says its children, or makes it; NULL: neither */
    uint64_t *kids;
    int n, at;
    bool open, done; /* its descendants are looked at; have been */
};

struct walk {
    struct import *x;
    struct map by_key;
    struct node **nodes; /* in the order in which they were met */
    int n;
    struct node **stack;
    int depth;
    int *order, norder;
};

static struct node *node_of(struct walk *w, uint64_t key)
{
    struct node *n = map_find(&w->by_key, key);
    if (n || w->n == NODES_MAX)
        return n;
    n = mem_new(sizeof(*n));
    n->key = key;
    w->nodes[w->n++] = n;
    map_set(&w->by_key, key, n);
    return n;
}

static uint64_t key_of(int64_t id, int item)
{
    return id ? (uint64_t)id : MADE | (uint64_t)item;
}

static void kids_of_file(struct node *n)
{
    const struct import_step *s = n->step;
    n->kids = mem_new(((size_t)s->nchildren + 1) * sizeof(*n->kids));
    for (int i = 0; i < s->nchildren; i++)
        n->kids[n->n++] = key_of(s->children[i].id, s->children[i].item);
}

/* Those that are there; a job that has gone has none. */
static void kids_of_row(struct walk *w, struct node *n)
{
    struct import *x = w->x;
    struct job_record r;
    struct why why = { "" };
    job_record_init(&r);
    enum err err = x->call->db->ops->catalog->job_get(x->call->db, (int64_t)n->key, &r, &why);
    struct slice rest = slice_text(r.children), one;
    size_t room = (r.children ? strlen(r.children) : 0) + 1;
    int64_t id;
    n->kids = mem_new(room * sizeof(*n->kids));
    while (!err && slice_item(&rest, &one))
        if (parse_i64(one, &id) && id > 0)
            n->kids[n->n++] = (uint64_t)id;
    job_record_done(&r);
    if (err && err != ERR_NOTFOUND) {
        x->err = err;
        x->why = why;
    }
}

static void enter(struct walk *w, struct node *n)
{
    n->open = true;
    w->stack[w->depth++] = n;
    if (n->step && n->step->says_children)
        kids_of_file(n);
    else if (!(n->key & MADE))
        kids_of_row(w, n);
}

static void leave(struct walk *w, struct node *n)
{
    n->open = false;
    n->done = true;
    w->depth--;
    if (n->step && !n->step->id)
        w->order[w->norder++] = (int)(n->step - w->x->steps);
}

static void fault(struct walk *w, const struct node *from, const char *rule, const char *text)
{
    problem_error(import_fault(w->x, PROBLEM_INVALID, IMPORT_JOBS, from->step->item), "/children",
                  rule, NULL, "children: %s", text);
}

/* From one job down. False: told. */
static bool walk_from(struct walk *w, struct node *from)
{
    enter(w, from);
    while (w->depth && !w->x->err) {
        struct node *n = w->stack[w->depth - 1];
        if (n->at == n->n) {
            leave(w, n);
            continue;
        }
        struct node *kid = node_of(w, n->kids[n->at++]);
        if (!kid) {
            fault(w, from, "child.count", "the jobs that follow are more than 10,000");
            return false;
        }
        if (kid->open) {
            fault(w, from, "child.cycle", "a job would become its own descendant");
            return false;
        }
        if (!kid->done)
            enter(w, kid);
    }
    return !w->x->err;
}

static void walk_done(struct walk *w)
{
    for (int i = 0; i < w->n; i++) {
        free(w->nodes[i]->kids);
        free(w->nodes[i]);
    }
    map_done(&w->by_key);
    free(w->nodes);
    free(w->stack);
}

int import_order(struct import *x, int *order)
{
    struct walk w = { .x = x };
    bool good = true;
    w.order = order;
    w.nodes = mem_new(NODES_MAX * sizeof(*w.nodes));
    w.stack = mem_new(NODES_MAX * sizeof(*w.stack));
    map_init(&w.by_key);
    for (int i = 0; i < x->n; i++) {
        struct import_step *s = &x->steps[i];
        if (s->of_job && s->action != IMPORT_DELETE)
            node_of(&w, key_of(s->id, s->item))->step = s;
    }
    for (int i = 0, n = w.n; i < n && good; i++)
        if (!w.nodes[i]->done)
            good = walk_from(&w, w.nodes[i]);
    walk_done(&w);
    return w.norder;
}

struct import_step *import_maker(struct import *x, int item)
{
    for (int i = 0; i < x->n; i++)
        if (x->steps[i].of_job && x->steps[i].item == item)
            return &x->steps[i];
    return NULL;
}
