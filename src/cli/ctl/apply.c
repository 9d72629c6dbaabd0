/* SPDX-License-Identifier: Apache-2.0 */
/* peal ctl apply: read, compare, let the center check all of it, ask, do. Jobs get their children
 * when all jobs are there, and are started when they have them. */
#include "cli/bar.h"
#include "cli/ctl/http.h"
#include "cli/ctl/plan.h"
#include "cli/ctl/value.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- do -------------------------------------------------------------------------------------- */

/* What was made can be found by its name from now on. */
static void learn(struct world *w, const struct step *s)
{
    json_t *it = json_pack("{sI}", "id", (json_int_t)s->id);
    if (s->kind == STEP_GROUP_MAKE) {
        json_object_set(w->groups, s->app, it);
    } else if (s->kind == STEP_JOB_MAKE) {
        if (!json_object_get(w->jobs, s->app))
            json_object_set_new(w->jobs, s->app, json_object());
        json_object_set(json_object_get(w->jobs, s->app), s->name, it);
    }
    json_decref(it);
}

static enum ctl_exit publish(struct ctl *c, const struct step *s)
{
    char path[64];
    struct ctl_answer a;
    snprintf(path, sizeof(path), "/jobs/%" PRId64 "/scripts", s->id);
    json_t *body =
        json_pack("{sO ss sO}", "source", json_object_get(s->want, "script"), "remark",
                  "peal ctl apply", "baseVersion", json_object_get(s->have, "scriptVersion"));
    struct ctl_ask ask = { .method = "POST", .path = path, .body = body, .where = s->where };
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    ctl_answer_done(&a);
    json_decref(body);
    return status;
}

static enum ctl_exit set_children(struct ctl *c, const struct step *s, const struct world *w)
{
    char path[64];
    struct ctl_answer a;
    json_t *ids = plan_children(w, s->want);
    if (!ids)
        return ctl_say(c, CTL_CONFLICT, "%s: a child is gone", s->where);
    json_t *body = json_pack("{so}", "children", ids);
    struct ctl_ask ask = {
        .method = "PATCH", .path = path, .body = body, .if_match = "*", .where = s->where
    };
    snprintf(path, sizeof(path), "/jobs/%" PRId64, s->id);
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    ctl_answer_done(&a);
    json_decref(body);
    return status;
}

static enum ctl_exit act(struct ctl *c, const struct step *s)
{
    char path[64];
    struct ctl_answer a;
    json_t *body = strcmp(s->act, "stop") == 0 ? json_object() : NULL;
    struct ctl_ask ask = { .method = "POST", .path = path, .body = body, .where = s->where };
    snprintf(path, sizeof(path), "/jobs/%" PRId64 "/%s", s->id, s->act);
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    ctl_answer_done(&a);
    json_decref(body);
    return status;
}

/* What stops does so at once; what starts waits for its script and its children. */
static enum ctl_exit first_part(struct ctl *c, struct step *s, struct world *w)
{
    enum ctl_exit status = step_ask(c, s, w, false);
    if (status == CTL_DONE && s->act && strcmp(s->act, "stop") == 0)
        status = act(c, s);
    return status;
}

static enum ctl_exit second_part(struct ctl *c, const struct step *s, const struct world *w)
{
    enum ctl_exit status = CTL_DONE;
    if (s->script)
        status = publish(c, s);
    if (status == CTL_DONE && s->children)
        status = set_children(c, s, w);
    if (status == CTL_DONE && s->act && strcmp(s->act, "start") == 0)
        status = act(c, s);
    return status;
}

static enum ctl_exit perform(struct ctl *c, struct plan *p, struct world *w)
{
    enum ctl_exit status = CTL_DONE;
    struct bar bar = bar_new();
    size_t done = 0, all = 2 * p->n;
    for (size_t i = 0; i < p->n && status == CTL_DONE; i++) {
        status = first_part(c, &p->steps[i], w);
        if (status == CTL_DONE)
            learn(w, &p->steps[i]);
        bar_show(&bar, (int64_t)++done, (int64_t)all);
    }
    for (size_t i = 0; i < p->n && status == CTL_DONE; i++) {
        status = second_part(c, &p->steps[i], w);
        bar_show(&bar, (int64_t)++done, (int64_t)all);
    }
    bar_end(&bar, status == CTL_DONE);
    if (status != CTL_DONE)
        return ctl_say(c, status,
                       "it ended before all was done. What is done stays; the same files may be "
                       "applied again, and go on from there");
    return CTL_DONE;
}

/* ---- the verb -------------------------------------------------------------------------------- */

static enum ctl_exit apply(struct ctl *c, const struct desired *d, struct world *w)
{
    struct plan p;
    enum ctl_exit status = plan_make(c, d, w, ctl_flag(c, "--prune"), &p);
    if (status == CTL_DONE)
        status = plan_check(c, &p, w);
    if (status != CTL_DONE) {
        ctl_say(c, status, "nothing was changed");
    } else {
        plan_print(c, &p);
        fflush(stdout);
        if (p.n && !ctl_flag(c, "--dry-run"))
            status = ctl_confirm(c, "Do it?") ? perform(c, &p, w) : CTL_USAGE;
    }
    plan_done(&p);
    return status;
}

enum ctl_exit ctl_apply(struct ctl *c)
{
    struct desired d;
    struct world w;
    const char *path = ctl_option(c, "--file");
    if (!path)
        return ctl_say(c, CTL_USAGE, "--file is missing: a file or a folder");
    enum ctl_exit status = desired_read(c, path, &d);
    if (status == CTL_DONE) {
        status = world_load(c, &w);
        if (status == CTL_DONE)
            status = apply(c, &d, &w);
        world_done(&w);
    }
    desired_done(&d);
    return status;
}
