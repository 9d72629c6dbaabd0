/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of two lists, put into maps. */
#include "cli/ctl/world.h"
#include "cli/ctl/http.h"
#include "cli/ctl/value.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum ctl_exit load_page(struct ctl *c, const char *list, json_t *items, char cursor[1024])
{
    struct buf path = BUF_INIT(8192);
    json_t *page = NULL;
    buf_text(&path, list);
    ctl_query(&path, "limit", "500");
    ctl_query(&path, "cursor", cursor[0] ? cursor : NULL);
    enum ctl_exit status = ctl_get(c, buf_str(&path), &page);
    json_t *more = json_object_get(page, "items");
    if (status == CTL_DONE && !json_is_array(more))
        status =
            ctl_say(c, CTL_FAILED, "the answer is not a list: is %.200s a center of Peal?", c->url);
    if (status == CTL_DONE)
        json_array_extend(items, more);
    snprintf(cursor, 1024, "%s", json_array_size(more) ? ctl_text(page, "page.next") : "");
    if (status == CTL_DONE && json_array_size(items) > WORLD_ITEMS_MAX)
        status = ctl_say(c, CTL_FAILED, "the center has more than %d items", WORLD_ITEMS_MAX);
    json_decref(page);
    buf_done(&path);
    return status;
}

static enum ctl_exit load(struct ctl *c, const char *list, json_t **ret)
{
    char cursor[1024] = "";
    enum ctl_exit status;
    *ret = json_array();
    do
        status = load_page(c, list, *ret, cursor);
    while (status == CTL_DONE && cursor[0]);
    return status;
}

/* One more of that name; the second makes the name unclear. */
static void put(json_t *map, const char *name, json_t *v)
{
    if (json_object_get(map, name))
        json_object_set_new(map, name, json_true());
    else
        json_object_set(map, name, v);
}

static void index_jobs(struct world *w, const json_t *jobs)
{
    size_t i;
    json_t *job;
    json_array_foreach(jobs, i, job)
    {
        char id[24];
        const char *app = ctl_text(job, "group.app");
        if (!json_object_get(w->jobs, app))
            json_object_set_new(w->jobs, app, json_object());
        put(json_object_get(w->jobs, app), ctl_text(job, "name"), job);
        snprintf(id, sizeof(id), "%" PRId64, ctl_i64(job, "id"));
        json_object_set(w->by_id, id, job);
    }
}

enum ctl_exit world_load(struct ctl *c, struct world *ret)
{
    json_t *groups = NULL, *jobs = NULL, *group;
    size_t i;
    *ret = (struct world){ json_object(), json_object(), json_object() };
    enum ctl_exit status = load(c, "/groups", &groups);
    if (status == CTL_DONE)
        status = load(c, "/jobs", &jobs);
    json_array_foreach(groups, i, group)
    {
        put(ret->groups, ctl_text(group, "app"), group);
    }
    index_jobs(ret, jobs);
    json_decref(groups);
    json_decref(jobs);
    return status;
}

void world_done(struct world *w)
{
    json_decref(w->groups);
    json_decref(w->jobs);
    json_decref(w->by_id);
}

const json_t *world_group(const struct world *w, const char *app)
{
    return json_object_get(w->groups, app);
}

const json_t *world_job(const struct world *w, const char *app, const char *name)
{
    return json_object_get(json_object_get(w->jobs, app), name);
}

const json_t *world_job_by_id(const struct world *w, int64_t id)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, id);
    return json_object_get(w->by_id, text);
}

enum ctl_exit world_script(struct ctl *c, const json_t *job, json_t **ret)
{
    char path[96];
    json_t *script = NULL;
    if (strncmp(ctl_text(job, "task.kind"), "GLUE_", 5) != 0 ||
        !json_is_integer(ctl_member(job, "scriptVersion")))
        return CTL_DONE;
    snprintf(path, sizeof(path), "/jobs/%" PRId64 "/scripts/%" PRId64, ctl_i64(job, "id"),
             ctl_i64(job, "scriptVersion"));
    enum ctl_exit status = ctl_get(c, path, &script);
    if (status == CTL_DONE && json_is_string(ctl_member(script, "source")))
        *ret = json_incref(json_object_get(script, "source"));
    json_decref(script);
    return status;
}
