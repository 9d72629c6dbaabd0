/* SPDX-License-Identifier: Apache-2.0 */
/* Before anything changes the center looks at each step, by the rules that the edit itself will
 * keep, and says which firings of the next 24 hours vanish, appear or move. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/bar.h"
#include "cli/ctl/http.h"
#include "cli/ctl/plan.h"
#include "cli/ctl/value.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DAY_MS ((int64_t)86400000)
enum { FIRES = 100 /* as many as a preview tells */ };

/* ---- one step's edit ------------------------------------------------------------------------- */

/* The version that the step was planned on. */
static enum ctl_exit etag_of(struct ctl *c, const char *path, const struct step *s, char to[96])
{
    struct ctl_answer a;
    struct ctl_ask ask = { .method = "GET", .path = path, .again = true, .where = s->where };
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE && ctl_i64(a.body, "version") != ctl_i64(s->have, "version"))
        status = ctl_say(c, CTL_CONFLICT, "%s %s was changed meanwhile: apply again", s->app,
                         s->name ? s->name : "");
    snprintf(to, 96, "%s", a.etag);
    ctl_answer_done(&a);
    return status;
}

static enum ctl_exit make(struct ctl *c, struct step *s, const struct world *w, bool dry)
{
    char path[64];
    struct ctl_answer a;
    struct ctl_ask ask = {
        .method = "POST", .path = path, .body = s->body, .again = true, .where = s->where
    };
    snprintf(path, sizeof(path), "%s%s", s->kind == STEP_GROUP_MAKE ? "/groups" : "/jobs",
             dry ? "?dryRun=true" : "");
    const json_t *group = world_group(w, s->app);
    if (s->kind == STEP_JOB_MAKE && group) /* else it is made before, and this is a dry run */
        json_object_set_new(s->body, "groupId", json_integer(ctl_i64(group, "id")));
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE && !dry)
        s->id = ctl_i64(a.body, "id");
    ctl_answer_done(&a);
    return status;
}

static enum ctl_exit change(struct ctl *c, struct step *s, bool dry)
{
    char path[80], etag[96];
    struct ctl_answer a;
    struct ctl_ask ask = { .method = s->kind == STEP_JOB_DELETE ? "DELETE" : "PATCH",
                           .path = path,
                           .body = s->kind == STEP_JOB_DELETE ? NULL : s->body,
                           .if_match = etag,
                           .where = s->where };
    snprintf(path, sizeof(path), "/%s/%" PRId64, s->kind == STEP_GROUP_CHANGE ? "groups" : "jobs",
             s->id);
    enum ctl_exit status = etag_of(c, path, s, etag);
    if (status != CTL_DONE || (dry && s->kind == STEP_JOB_DELETE))
        return status;
    if (dry)
        snprintf(path + strlen(path), sizeof(path) - strlen(path), "?dryRun=true");
    status = ctl_ask(c, &ask, &a);
    ctl_answer_done(&a);
    return status;
}

enum ctl_exit step_ask(struct ctl *c, struct step *s, const struct world *w, bool dry)
{
    if (s->kind == STEP_GROUP_MAKE || s->kind == STEP_JOB_MAKE)
        return make(c, s, w, dry);
    if (s->kind != STEP_JOB_DELETE && !json_object_size(s->body))
        return CTL_DONE;
    return change(c, s, dry);
}

/* ---- firings --------------------------------------------------------------------------------- */

/* The schedule as it will be: what is there, and over it what changes. */
static json_t *schedule_of(const struct step *s)
{
    json_t *o = s->have ? json_copy(json_object_get(s->have, "schedule")) : json_object();
    json_object_update(o, json_object_get(s->body, "schedule"));
    return o;
}

static enum ctl_exit appearing(struct ctl *c, struct step *s)
{
    json_t *body = json_pack("{so si}", "schedule", schedule_of(s), "count", FIRES);
    struct ctl_ask ask = {
        .method = "POST", .path = "/schedules/preview", .body = body, .where = s->where
    };
    struct ctl_answer a;
    int64_t until = clock_wall_ms() + DAY_MS, n = 0;
    size_t i;
    const json_t *fire;
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    json_array_foreach(json_object_get(a.body, "fires"), i, fire)
    {
        n += ctl_i64(fire, "ms") < until;
    }
    if (n)
        s->firings = json_pack("{si sI si sb}", "vanish", 0, "appear", (json_int_t)n, "move", 0,
                               "more", n == FIRES);
    ctl_answer_done(&a);
    json_decref(body);
    return status;
}

static enum ctl_exit compared(struct ctl *c, struct step *s, const char *action)
{
    static const char *const members[] = { "type", "conf", "zone", "dst" };
    struct buf path = BUF_INIT(8192);
    json_t *found = NULL, *schedule = schedule_of(s);
    buf_printf(&path, "/jobs/%" PRId64 "/consequences?action=%s", s->id, action);
    if (strcmp(action, "update") == 0)
        for (size_t i = 0; i < countof(members); i++)
            if (json_object_get(schedule, members[i]))
                ctl_query(&path, members[i], ctl_text(schedule, members[i]));
    enum ctl_exit status = ctl_get(c, buf_str(&path), &found);
    const json_t *changes = json_object_get(found, "changes");
    if (ctl_i64(changes, "vanish") || ctl_i64(changes, "appear") || ctl_i64(changes, "move"))
        s->firings = json_pack("{sI sI sI sO}", "vanish", (json_int_t)ctl_i64(changes, "vanish"),
                               "appear", (json_int_t)ctl_i64(changes, "appear"), "move",
                               (json_int_t)ctl_i64(changes, "move"), "items",
                               json_object_get(changes, "items"));
    json_decref(found);
    json_decref(schedule);
    buf_done(&path);
    return status;
}

static enum ctl_exit count_firings(struct ctl *c, struct step *s)
{
    bool runs = s->have && strcmp(ctl_text(s->have, "state"), "scheduled") == 0;
    if (s->act && strcmp(s->act, "start") == 0)
        return appearing(c, s);
    if (runs && s->kind == STEP_JOB_DELETE)
        return compared(c, s, "delete");
    if (runs && s->act)
        return compared(c, s, "stop");
    if (runs && json_object_get(s->body, "schedule"))
        return compared(c, s, "update");
    return CTL_DONE;
}

enum ctl_exit plan_check(struct ctl *c, struct plan *p, const struct world *w)
{
    enum ctl_exit first = CTL_DONE;
    struct bar bar = bar_new();
    for (size_t i = 0; i < p->n; i++) {
        enum ctl_exit status = step_ask(c, &p->steps[i], w, true);
        if (status == CTL_DONE)
            status = count_firings(c, &p->steps[i]);
        first = first == CTL_DONE ? status : first;
        if (status == CTL_UNREACHABLE || status == CTL_TIMED_OUT)
            break;
        bar_show(&bar, (int64_t)i + 1, (int64_t)p->n);
    }
    bar_end(&bar, first == CTL_DONE);
    return first;
}

/* ---- told ------------------------------------------------------------------------------------ */

static const char *const kinds[] = { "group", "group", "job", "job", "job" };
static const char *const verbs[] = { "make", "change", "make", "change", "delete" };

static void print_json(const struct plan *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n; i++) {
        const struct step *s = &p->steps[i];
        json_array_append_new(list,
                              json_pack("{ss ss ss ss? sO sO?}", "kind", kinds[s->kind], "action",
                                        verbs[s->kind], "group", s->app, "name", s->name, "changes",
                                        s->changes, "firings", s->firings));
    }
    json_t *doc = json_pack("{so sI}", "steps", list, "same", (json_int_t)p->same);
    json_dumpf(doc, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(doc);
}

static void add_changes(struct buf *text, const struct step *s)
{
    size_t i;
    const json_t *one;
    json_array_foreach(s->changes, i, one)
    {
        buf_printf(text, "%s%s", i ? ", " : ": ", json_string_value(one) + 1);
    }
}

static void print_firings(const json_t *f)
{
    size_t i;
    const json_t *one;
    if (!f)
        return;
    printf("    firings of the next 24 h: %" PRId64 " vanish, %s%" PRId64 " appear, %" PRId64
           " move\n",
           ctl_i64(f, "vanish"), json_is_true(json_object_get(f, "more")) ? "at least " : "",
           ctl_i64(f, "appear"), ctl_i64(f, "move"));
    json_array_foreach(json_object_get(f, "items"), i, one)
    {
        char from[40], to[40];
        if (i == 5)
            break;
        printf("      %.10s %s%s%s\n", ctl_text(one, "what"), ctl_instant(ctl_i64(one, "ms"), from),
               ctl_i64(one, "toMs") ? " to " : "",
               ctl_i64(one, "toMs") ? ctl_instant(ctl_i64(one, "toMs"), to) : "");
    }
}

void plan_print(const struct ctl *c, const struct plan *p)
{
    if (c->output == CTL_JSON) {
        print_json(p);
        return;
    }
    for (size_t i = 0; i < p->n; i++) {
        const struct step *s = &p->steps[i];
        struct buf text = BUF_INIT(1 << 20);
        buf_printf(&text, "%s %s %s%s%s", verbs[s->kind], kinds[s->kind], s->app,
                   s->name ? " " : "", s->name ? s->name : "");
        if (s->kind == STEP_JOB_CHANGE || s->kind == STEP_GROUP_CHANGE)
            add_changes(&text, s);
        else if (s->act)
            buf_text(&text, ", and start it");
        ctl_put(stdout, buf_str(&text));
        buf_done(&text);
        print_firings(s->firings);
    }
    printf("%zu to do, %zu as they are to be\n", p->n, p->same);
}
