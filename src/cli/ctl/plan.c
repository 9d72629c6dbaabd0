/* SPDX-License-Identifier: Apache-2.0 */
/* A thing is compared member by member with what its file says; what the file does not say stays.
 * Order: groups before jobs, what is made before what changes, what is deleted at the end. */
#include "cli/ctl/plan.h"
#include "base/mem.h"
#include "cli/ctl/value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct step *add(struct plan *p, enum step_kind kind, const char *app, const char *name)
{
    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 64;
        p->steps = mem_resize(p->steps, p->room * sizeof(*p->steps));
    }
    struct step *s = &p->steps[p->n++];
    *s = (struct step){ .kind = kind, .app = app, .name = name, .where = "" };
    s->changes = json_array();
    return s;
}

static void drop_last(struct plan *p)
{
    struct step *s = &p->steps[--p->n];
    json_decref(s->body);
    json_decref(s->changes);
}

void plan_done(struct plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        json_decref(p->steps[i].body);
        json_decref(p->steps[i].changes);
        json_decref(p->steps[i].firings);
    }
    free(p->steps);
}

/* ---- what differs ---------------------------------------------------------------------------- */

static bool same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static void note(struct step *s, const char *parent, const char *name)
{
    char pointer[160];
    snprintf(pointer, sizeof(pointer), "%s%s/%s", *parent ? "/" : "", parent, name);
    json_array_append_new(s->changes, json_string(pointer));
}

/* Members of want that have has not like that, into the step's body. */
static void differ(struct step *s, const json_t *want, const json_t *have, const char *parent,
                   const char *const *members, size_t n)
{
    json_t *to = *parent ? json_object() : json_incref(s->body);
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)want, name, v)
    {
        bool member = !members;
        for (size_t i = 0; i < n; i++)
            member |= strcmp(members[i], name) == 0;
        if (!member || same(v, json_object_get(have, name)))
            continue;
        json_object_set(to, name, v);
        note(s, parent, name);
    }
    if (*parent && json_object_size(to))
        json_object_set(s->body, parent, to);
    json_decref(to);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static enum ctl_exit unclear(const struct ctl *c, const char *where, const char *what)
{
    return ctl_say(c, CTL_CONFLICT, "%s: the center has several %ss of that name", where, what);
}

static enum ctl_exit plan_group(struct ctl *c, const struct desired_item *d, const struct world *w,
                                struct plan *p)
{
    static const char *const members[] = { "title", "addressing", "addresses" };
    const char *app = ctl_text(d->want, "app");
    const json_t *have = world_group(w, app);
    if (have && !json_is_object(have))
        return unclear(c, d->where, "group");
    struct step *s = add(p, have ? STEP_GROUP_CHANGE : STEP_GROUP_MAKE, app, NULL);
    s->where = d->where;
    s->want = d->want;
    s->have = have;
    s->id = ctl_i64(have, "id");
    if (!have) {
        s->body = json_copy((json_t *)d->want);
        return CTL_DONE;
    }
    s->body = json_object();
    differ(s, d->want, have, "", members, countof(members));
    if (!json_object_size(s->body)) {
        drop_last(p);
        p->same++;
    }
    return CTL_DONE;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool file_has(const struct desired *d, const char *app, const char *name)
{
    struct buf key = BUF_INIT(1 << 20);
    buf_printf(&key, "%s\n%s", app, name);
    bool has = json_object_get(d->names, buf_str(&key)) != NULL;
    buf_done(&key);
    return has;
}

json_t *plan_children(const struct world *w, const json_t *want)
{
    json_t *ids = json_array();
    size_t i;
    const json_t *ref;
    json_array_foreach(json_object_get(want, "children"), i, ref)
    {
        const json_t *job = world_job(w, ctl_text(ref, "group"), ctl_text(ref, "name"));
        if (!json_is_object(job)) {
            json_decref(ids);
            return NULL;
        }
        json_array_append_new(ids, json_integer(ctl_i64(job, "id")));
    }
    return ids;
}

static bool contains(const json_t *list, const json_t *v)
{
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        if (json_equal(one, v))
            return true;
    }
    return false;
}

/* The same ids, in any order. */
static bool same_set(const json_t *a, const json_t *b)
{
    size_t i;
    const json_t *one;
    json_array_foreach(a, i, one)
    {
        if (!contains(b, one))
            return false;
    }
    return json_array_size(a) == json_array_size(b);
}

/* Each child is there, or a file makes it. */
static enum ctl_exit check_children(struct ctl *c, const struct desired *d, const struct world *w,
                                    const struct desired_item *item)
{
    size_t i;
    const json_t *ref;
    json_array_foreach(json_object_get(item->want, "children"), i, ref)
    {
        const char *app = ctl_text(ref, "group"), *name = ctl_text(ref, "name");
        const json_t *job = world_job(w, app, name);
        if (job && !json_is_object(job))
            return unclear(c, item->where, "job");
        if (!job && !file_has(d, app, name))
            return ctl_say(c, CTL_NOT_FOUND,
                           "%s/children/%zu: there is no job %.200s of group %.64s, and no file "
                           "makes it",
                           item->where, i, name, app);
    }
    return CTL_DONE;
}

static enum ctl_exit compare_script(struct ctl *c, struct step *s)
{
    json_t *now = NULL, *want = json_object_get(s->want, "script");
    enum ctl_exit status = CTL_DONE;
    if (!json_is_string(want))
        return CTL_DONE;
    if (strncmp(ctl_text(s->have, "task.kind"), "GLUE_", 5) != 0 || !json_string_length(want))
        return ctl_say(c, CTL_FAILED, "%s/script: %s", s->where,
                       json_string_length(want) ? "the job is of a kind that has no script"
                                                : "must not be empty");
    status = world_script(c, s->have, &now);
    s->script = !json_equal(want, now);
    if (s->script)
        note(s, "", "script");
    json_decref(now);
    return status;
}

static void compare_state(struct step *s)
{
    const char *want = ctl_text(s->want, "state");
    const char *have = s->have ? ctl_text(s->have, "state") : "stopped";
    if (!*want || strcmp(want, have) == 0)
        return;
    s->act = strcmp(want, "scheduled") == 0 ? "start" : "stop";
    note(s, "", "state");
}

static void compare_children(struct step *s, const struct world *w)
{
    const json_t *want = json_object_get(s->want, "children");
    json_t *ids = plan_children(w, s->want);
    if (!want || (!s->have && !json_array_size(want)))
        return json_decref(ids);
    s->children = !ids || !same_set(ids, json_object_get(s->have, "children"));
    if (s->children)
        note(s, "", "children");
    json_decref(ids);
}

/* What a new job is made of; group, children and state come by other ways. */
static json_t *new_body(const json_t *want)
{
    json_t *o = json_copy((json_t *)want);
    json_object_del(o, "group");
    json_object_del(o, "state");
    json_object_del(o, "children");
    return o;
}

static enum ctl_exit compare_job(struct ctl *c, struct step *s)
{
    static const char *const members[] = { "owner", "alarmEmails" };
    static const char *const objects[] = { "schedule", "task", "running" };
    s->body = json_object();
    differ(s, s->want, s->have, "", members, countof(members));
    for (size_t i = 0; i < countof(objects); i++)
        differ(s, json_object_get(s->want, objects[i]), json_object_get(s->have, objects[i]),
               objects[i], NULL, 0);
    return compare_script(c, s);
}

static enum ctl_exit plan_job(struct ctl *c, const struct desired *d, const struct desired_item *i,
                              const struct world *w, struct plan *p)
{
    const char *app = ctl_text(i->want, "group"), *name = ctl_text(i->want, "name");
    const json_t *have = world_job(w, app, name);
    if (have && !json_is_object(have))
        return unclear(c, i->where, "job");
    if (!world_group(w, app) && !file_has(d, app, ""))
        return ctl_say(c, CTL_NOT_FOUND, "%s/group: there is no group %.64s, and no file makes it",
                       i->where, app);
    enum ctl_exit status = check_children(c, d, w, i);
    if (status != CTL_DONE)
        return status;
    struct step *s = add(p, have ? STEP_JOB_CHANGE : STEP_JOB_MAKE, app, name);
    s->where = i->where;
    s->want = i->want;
    s->have = have;
    s->id = ctl_i64(have, "id");
    if (have)
        status = compare_job(c, s);
    else
        s->body = new_body(i->want);
    compare_children(s, w);
    compare_state(s);
    if (have && !json_array_size(s->changes)) {
        drop_last(p);
        p->same++;
    }
    return status;
}

/* ---- what no file names ---------------------------------------------------------------------- */

static void prune_group(const struct desired *d, const struct world *w, const char *app,
                        struct plan *p)
{
    json_t *jobs = json_object_get(w->jobs, app), *job;
    const char *name;
    json_object_foreach(jobs, name, job)
    {
        if (file_has(d, app, name) || !json_is_object(job))
            continue; /* of several with one name nothing says which is meant */
        struct step *s = add(p, STEP_JOB_DELETE, app, name);
        s->have = job;
        s->id = ctl_i64(job, "id");
    }
}

/* The groups that a file has, or of which it has jobs; each once. */
static void prune_all(const struct desired *d, const struct world *w, struct plan *p)
{
    json_t *seen = json_object();
    for (size_t i = 0; i < d->ngroups + d->njobs; i++) {
        const char *app = i < d->ngroups ? ctl_text(d->groups[i].want, "app")
                                         : ctl_text(d->jobs[i - d->ngroups].want, "group");
        if (!json_object_get(seen, app))
            prune_group(d, w, app, p);
        json_object_set_new(seen, app, json_true());
    }
    json_decref(seen);
}

enum ctl_exit plan_make(struct ctl *c, const struct desired *d, const struct world *w, bool prune,
                        struct plan *ret)
{
    enum ctl_exit first = CTL_DONE, status;
    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < d->ngroups; i++) {
        status = plan_group(c, &d->groups[i], w, ret);
        first = first == CTL_DONE ? status : first;
    }
    for (size_t i = 0; i < d->njobs; i++) {
        status = plan_job(c, d, &d->jobs[i], w, ret);
        first = first == CTL_DONE ? status : first;
        if (status == CTL_UNREACHABLE || status == CTL_TIMED_OUT)
            return status;
    }
    if (prune)
        prune_all(d, w, ret);
    return first;
}
