/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and jobs as a file: what was configured, by name, in an order that only their names
 * decide. What the center notes by itself (ids, times, results) is not in it. */
#include "base/mem.h"
#include "base/str.h"
#include "cli/ctl/http.h"
#include "cli/ctl/value.h"
#include "cli/ctl/world.h"
#include "wire/catalog.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wanted(const struct ctl *c, const char *app)
{
    const char *list = ctl_option(c, "--group");
    return !list || slice_has_item(slice_text(list), slice_text(app));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of a map in order; owned: free(). */
static const char **sorted(const json_t *map, size_t *ret_n)
{
    const char **names = mem_new((json_object_size(map) + 1) * sizeof(*names));
    size_t n = 0;
    for (void *i = json_object_iter((json_t *)map); i; i = json_object_iter_next((json_t *)map, i))
        names[n++] = json_object_iter_key(i);
    qsort(names, n, sizeof(*names), by_text);
    *ret_n = n;
    return names;
}

static void copy(json_t *to, const json_t *from, const char *const *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_t *v = json_object_get(from, members[i]);
        if (v)
            json_object_set(to, members[i], v);
    }
}

static void add_group(json_t *list, const json_t *group)
{
    static const char *const members[] = { "app", "title", "addressing", "addresses" };
    bool manual = strcmp(ctl_text(group, "addressing"), "manual") == 0;
    json_t *o = json_object();
    copy(o, group, members, manual ? countof(members) : countof(members) - 1);
    json_array_append_new(list, o);
}

/* Ids of children as names; one that has gone, or that the asker may not see, is left out. */
static json_t *children(const struct ctl *c, const struct world *w, const json_t *job)
{
    json_t *list = json_array();
    size_t i;
    const json_t *id;
    json_array_foreach(json_object_get(job, "children"), i, id)
    {
        const json_t *child = world_job_by_id(w, json_integer_value(id));
        if (child)
            json_array_append_new(list, json_pack("{ss ss}", "group", ctl_text(child, "group.app"),
                                                  "name", ctl_text(child, "name")));
        else
            ctl_say(c, CTL_DONE, "job %s: its child %" PRId64 " cannot be seen and is left out",
                    ctl_text(job, "name"), (int64_t)json_integer_value(id));
    }
    return list;
}

static enum ctl_exit add_job(struct ctl *c, const struct world *w, json_t *list, const json_t *job)
{
    static const char *const members[] = { "name", "owner",   "state",    "schedule",
                                           "task", "running", "children", "alarmEmails" };
    json_t *o = json_object(), *script = NULL;
    json_object_set(o, "group", (json_t *)ctl_member(job, "group.app"));
    copy(o, job, members, countof(members));
    json_object_set_new(o, "children", children(c, w, job));
    enum ctl_exit status = world_script(c, job, &script);
    if (script)
        json_object_set_new(o, "script", script);
    json_array_append_new(list, o);
    return status;
}

static enum ctl_exit unclear(const struct ctl *c, const char *what, const char *name,
                             const char *app)
{
    return ctl_say(c, CTL_CONFLICT,
                   "several %ss%s%.64s have the name %.200s: a file tells them apart by it; rename "
                   "all but one, or leave their group out with --group",
                   what, app ? " of group " : "", app ? app : "", name);
}

static enum ctl_exit add_jobs(struct ctl *c, const struct world *w, const char *app, json_t *list)
{
    const json_t *jobs = json_object_get(w->jobs, app);
    size_t n;
    const char **names = sorted(jobs, &n);
    enum ctl_exit status = CTL_DONE;
    for (size_t i = 0; i < n && status == CTL_DONE; i++) {
        const json_t *job = json_object_get(jobs, names[i]);
        status = json_is_object(job) ? add_job(c, w, list, job) : unclear(c, "job", names[i], app);
    }
    free(names);
    return status;
}

static enum ctl_exit add_all(struct ctl *c, const struct world *w, json_t *groups, json_t *jobs)
{
    size_t n;
    const char **apps = sorted(w->groups, &n);
    enum ctl_exit status = CTL_DONE;
    for (size_t i = 0; i < n && status == CTL_DONE; i++) {
        const json_t *group = world_group(w, apps[i]);
        if (!wanted(c, apps[i]))
            continue;
        if (!json_is_object(group)) {
            status = unclear(c, "group", apps[i], NULL);
            break;
        }
        add_group(groups, group);
        status = add_jobs(c, w, apps[i], jobs);
    }
    free(apps);
    return status;
}

enum ctl_exit ctl_export(struct ctl *c)
{
    struct world w;
    json_t *groups = json_array(), *jobs = json_array();
    json_t *doc = json_pack("{si so so}", "peal", CATALOG_VERSION, "groups", groups, "jobs", jobs);
    enum ctl_exit status = world_load(c, &w);
    if (status == CTL_DONE)
        status = add_all(c, &w, groups, jobs);
    if (status == CTL_DONE) {
        json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        putchar('\n');
        fprintf(stderr, "%zu groups, %zu jobs\n", json_array_size(groups), json_array_size(jobs));
    }
    json_decref(doc);
    world_done(&w);
    return status;
}
