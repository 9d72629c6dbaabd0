/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: listed, read, ended; and their logs. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/ctl/follow.h"
#include "cli/ctl/http.h"
#include "cli/ctl/names.h"
#include "cli/ctl/print.h"
#include "cli/ctl/since.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct ctl_column run_columns[] = {
    { "ID", "id", 0 },
    { "JOB", "job.name", 40 },
    { "GROUP", "group.app", 24 },
    { "OUTCOME", "outcome", 0 },
    { "SCHEDULED", "scheduledAt", 0 },
    { "TOOK-MS", "tookMs", 0 },
    { "EXECUTOR", "address", 32 },
    { "CAUSE", "cause.text", 60 },
};

enum ctl_exit ctl_run_list(struct ctl *c)
{
    const char *job = ctl_option(c, "--job");
    struct buf path = BUF_INIT(65536);
    struct ctl_list list = {
        .fields = "id,job,group,outcome,scheduledAt,tookMs,address,cause",
        .columns = run_columns,
        .ncolumns = (int)countof(run_columns),
        .name = "id",
        .empty = "no run",
    };
    enum ctl_exit status = CTL_DONE;
    buf_text(&path, "/runs");
    if (job) {
        char id[24];
        int64_t number = 0;
        status = ctl_job_id(c, job, &number);
        snprintf(id, sizeof(id), "%" PRId64, number);
        ctl_query(&path, "job", id);
    }
    ctl_query(&path, "group", ctl_option(c, "--group"));
    ctl_query(&path, "outcome", ctl_option(c, "--outcome"));
    ctl_since(c, &path);
    list.path = buf_str(&path);
    if (status == CTL_DONE)
        status = ctl_print_list(c, &list);
    buf_done(&path);
    return status;
}

/* The steps that it went through. */
static void print_story(const json_t *story)
{
    size_t i;
    const json_t *step;
    json_array_foreach(story, i, step)
    {
        char text[256];
        snprintf(text, sizeof(text), "%s %.40s  %.100s%s", i ? "     " : "story",
                 ctl_text(step, "at"), ctl_text(step, "step"),
                 json_is_false(json_object_get(step, "ok")) ? "  (failed)" : "");
        ctl_put(stdout, text);
    }
}

enum ctl_exit ctl_run_get(struct ctl *c)
{
    char path[64];
    int64_t id;
    json_t *page = NULL;
    enum ctl_exit status = ctl_run_id(c, c->args[0], &id);
    if (status != CTL_DONE)
        return status;
    snprintf(path, sizeof(path), "/runs/%" PRId64, id);
    status = ctl_get(c, path, &page);
    if (status == CTL_DONE && c->output == CTL_TABLE) {
        ctl_print_object(c, json_object_get(page, "run"), "id");
        print_story(json_object_get(page, "story"));
    } else if (status == CTL_DONE) {
        ctl_print_object(c, page, "run.id");
    }
    json_decref(page);
    return status;
}

static enum ctl_exit kill_one(struct ctl *c, int64_t id)
{
    char path[64], text[512];
    struct ctl_answer a;
    struct ctl_ask ask = { .method = "POST", .path = path };
    snprintf(path, sizeof(path), "/runs/%" PRId64 "/kill", id);
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE && c->output == CTL_JSON) {
        ctl_print_object(c, a.body, "outcome");
    } else if (status == CTL_DONE) {
        snprintf(text, sizeof(text), "%" PRId64 " %.40s: %.300s", id, ctl_text(a.body, "outcome"),
                 ctl_text(a.body, "said"));
        ctl_put(stdout, text);
    }
    ctl_answer_done(&a);
    return status;
}

enum ctl_exit ctl_run_kill(struct ctl *c)
{
    enum ctl_exit first = CTL_DONE;
    int64_t id;
    for (int i = 0; i < c->nargs; i++)
        if (ctl_run_id(c, c->args[i], &id) != CTL_DONE)
            return CTL_USAGE;
    if (!ctl_confirm(c, "End %d run%s?", c->nargs, c->nargs == 1 ? "" : "s"))
        return CTL_USAGE;
    for (int i = 0; i < c->nargs; i++) {
        (void)ctl_run_id(c, c->args[i], &id);
        enum ctl_exit status = kill_one(c, id);
        first = first == CTL_DONE ? status : first;
    }
    return first;
}

/* ---- logs ------------------------------------------------------------------------------------ */

enum ctl_exit ctl_logs(struct ctl *c)
{
    int64_t id, from = 1;
    enum ctl_exit status = ctl_run_id(c, c->args[0], &id);
    if (status == CTL_DONE && !ctl_number(c, "--from-line", 1, INT32_MAX, &from))
        status = CTL_USAGE;
    if (status == CTL_DONE && ctl_flag(c, "--follow"))
        return ctl_follow(c, id, from);
    return status == CTL_DONE ? ctl_log_pages(c, id, from) : status;
}
