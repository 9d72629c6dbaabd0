/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: listed, read, started, stopped, triggered. */
#include "base/mem.h"
#include "cli/ctl/follow.h"
#include "cli/ctl/http.h"
#include "cli/ctl/names.h"
#include "cli/ctl/print.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAM_MAX = 1 << 20, PATH_MAX_BYTES = 65536 };

static const struct ctl_column job_columns[] = {
    { "ID", "id", 0 },       { "NAME", "name", 40 },          { "GROUP", "group.app", 24 },
    { "STATE", "state", 0 }, { "TYPE", "schedule.type", 0 },  { "SCHEDULE", "schedule.conf", 28 },
    { "NEXT", "nextAt", 0 }, { "LAST", "streak.outcome", 0 },
};

enum ctl_exit ctl_job_list(struct ctl *c)
{
    static const char *const names[] = { "group", "state", "result", "type", "owner", "sort" };
    struct buf path = BUF_INIT(PATH_MAX_BYTES);
    struct ctl_list list = {
        .fields = "id,name,group,state,schedule,nextAt,streak",
        .columns = job_columns,
        .ncolumns = (int)countof(job_columns),
        .name = "name",
        .empty = "no job",
    };
    buf_text(&path, "/jobs");
    for (size_t i = 0; i < countof(names); i++) {
        char option[32];
        snprintf(option, sizeof(option), "--%s", names[i]);
        ctl_query(&path, names[i], ctl_option(c, option));
    }
    ctl_query(&path, "q", ctl_option(c, "--match"));
    list.path = buf_str(&path);
    enum ctl_exit status = ctl_print_list(c, &list);
    buf_done(&path);
    return status;
}

/* A job's path, "/jobs/42" and the end of it. */
static enum ctl_exit path_of(struct ctl *c, const char *word, const char *end, char to[64])
{
    int64_t id;
    enum ctl_exit status = ctl_job_id(c, word, &id);
    if (status == CTL_DONE)
        snprintf(to, 64, "/jobs/%" PRId64 "%s", id, end);
    return status;
}

enum ctl_exit ctl_job_get(struct ctl *c)
{
    char path[64];
    json_t *job = NULL;
    enum ctl_exit status = path_of(c, c->args[0], "", path);
    if (status == CTL_DONE)
        status = ctl_get(c, path, &job);
    if (status == CTL_DONE)
        ctl_print_object(c, job, "name");
    json_decref(job);
    return status;
}

/* ---- start, stop ----------------------------------------------------------------------------- */

static void tell_job(const struct ctl *c, const json_t *job)
{
    char text[512];
    const char *next = ctl_text(job, "nextAt");
    if (c->output != CTL_TABLE) {
        ctl_print_object(c, job, "name");
        return;
    }
    snprintf(text, sizeof(text), "%" PRId64 " %.300s: %.20s%s%.40s", ctl_i64(job, "id"),
             ctl_text(job, "name"), ctl_text(job, "state"), *next ? ", next " : "", next);
    ctl_put(stdout, text);
}

static enum ctl_exit act(struct ctl *c, const char *word, const char *action, const json_t *body)
{
    char path[64];
    struct ctl_answer a = { 0 };
    enum ctl_exit status = path_of(c, word, action, path);
    struct ctl_ask ask = { .method = "POST", .path = path, .body = body };
    if (status == CTL_DONE)
        status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE)
        tell_job(c, a.body);
    ctl_answer_done(&a);
    return status;
}

/* Each of them, whatever became of the others; the first failure is the command's. */
static enum ctl_exit each(struct ctl *c, const char *action, const json_t *body)
{
    enum ctl_exit first = CTL_DONE;
    for (int i = 0; i < c->nargs; i++) {
        enum ctl_exit status = act(c, c->args[i], action, body);
        first = first == CTL_DONE ? status : first;
        if (status == CTL_UNREACHABLE || status == CTL_TIMED_OUT)
            break;
    }
    return first;
}

enum ctl_exit ctl_job_start(struct ctl *c)
{
    return each(c, "/start", NULL);
}

enum ctl_exit ctl_job_stop(struct ctl *c)
{
    const char *reason = ctl_option(c, "--reason");
    json_t *body = reason ? json_pack("{ss}", "reason", reason) : json_object();
    if (!body)
        return ctl_say(c, CTL_USAGE, "--reason must be UTF-8");
    enum ctl_exit status = each(c, "/stop", body);
    json_decref(body);
    return status;
}

/* ---- trigger --------------------------------------------------------------------------------- */

static bool add_param(const struct ctl *c, json_t *body)
{
    const char *text = ctl_option(c, "--param");
    struct buf file;
    json_t *v;
    if (!text)
        return true;
    if (text[0] == '@' || strcmp(text, "-") == 0) {
        if (!ctl_read(c, "--param", text[0] == '@' ? text + 1 : text, PARAM_MAX, &file))
            return false;
        v = json_stringn(buf_str(&file), file.len);
        buf_done(&file);
    } else {
        v = json_string(text);
    }
    if (!v)
        ctl_say(c, CTL_USAGE, "--param must be UTF-8");
    return v && json_object_set_new(body, "param", v) == 0;
}

static bool add_addresses(const struct ctl *c, json_t *body)
{
    const struct ctl_values *v = ctl_options(c, "--address");
    json_t *list = json_array();
    for (int i = 0; i < v->n; i++)
        json_array_append_new(list, json_string(v->items[i]));
    bool good = (int)json_array_size(list) == v->n;
    if (!good)
        ctl_say(c, CTL_USAGE, "--address must be UTF-8");
    if (good && v->n)
        json_object_set(body, "addresses", list);
    json_decref(list);
    return good;
}

static enum ctl_exit trigger(struct ctl *c, int64_t *ret_run)
{
    char path[64];
    struct ctl_answer a = { 0 };
    json_t *body = json_object();
    enum ctl_exit status = CTL_USAGE;
    if (add_param(c, body) && add_addresses(c, body))
        status = path_of(c, c->args[0], "/trigger", path);
    struct ctl_ask ask = { .method = "POST", .path = path, .body = body, .again = true };
    if (status == CTL_DONE)
        status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE)
        *ret_run = ctl_i64(a.body, "runId");
    ctl_answer_done(&a);
    json_decref(body);
    return status;
}

/* The run has ended: its outcome is the command's. */
static enum ctl_exit outcome(const struct ctl *c, const json_t *run)
{
    const char *text = ctl_text(run, "outcome"), *cause = ctl_text(run, "cause.text");
    if (c->output == CTL_JSON)
        ctl_print_object(c, run, "id");
    if (strcmp(text, "succeeded") == 0)
        return CTL_DONE;
    return ctl_say(c, CTL_FAILED, "run %" PRId64 " %.20s%s%.300s", ctl_i64(run, "id"), text,
                   *cause ? ": " : "", cause);
}

enum ctl_exit ctl_job_trigger(struct ctl *c)
{
    int64_t run = 0;
    json_t *end = NULL;
    bool logs = ctl_flag(c, "--logs"), wait = logs || ctl_flag(c, "--wait");
    enum ctl_exit status = trigger(c, &run);
    if (status != CTL_DONE)
        return status;
    if (c->output == CTL_JSON && !wait)
        printf("{\"runId\": %" PRId64 "}\n", run);
    else if (c->output != CTL_JSON && logs)
        fprintf(stderr, "run %" PRId64 "\n", run); /* standard output is the log's */
    else if (c->output != CTL_JSON)
        printf("%" PRId64 "\n", run);
    fflush(stdout);
    if (logs)
        status = ctl_follow(c, run, 1);
    if (wait && status == CTL_DONE)
        status = ctl_wait(c, run, &end);
    if (end)
        status = outcome(c, end);
    json_decref(end);
    return status;
}
