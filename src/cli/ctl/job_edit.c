/* SPDX-License-Identifier: Apache-2.0 */
/* job add and job edit: a file's object, and over it what the options say, is what the API takes.
 * The API knows the rules; this only puts values in their places. */
#include "base/mem.h"
#include "base/str.h"
#include "cli/ctl/http.h"
#include "cli/ctl/names.h"
#include "cli/ctl/print.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 4, PARAM_MAX = 1 << 20 };

/* Put a value at "a.b", and make the objects on the way. Takes v. */
static bool put(json_t *o, const char *path, json_t *v)
{
    for (int depth = 0; depth < DEPTH; depth++) {
        char name[64];
        const char *dot = strchr(path, '.');
        size_t n = dot ? (size_t)(dot - path) : strlen(path);
        if (!v || !n || n >= sizeof(name))
            break;
        text_copy(name, sizeof(name), slice_of(path, n));
        if (!dot)
            return json_object_set_new(o, name, v) == 0;
        if (!json_is_object(json_object_get(o, name)))
            json_object_set_new(o, name, json_object());
        o = json_object_get(o, name);
        path = dot + 1;
    }
    json_decref(v);
    return false;
}

/* PATH=VALUE: a value that is JSON is that; any other is text. */
static enum ctl_exit set_one(const struct ctl *c, json_t *o, const char *text)
{
    char path[128];
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : 0;
    if (!n || n >= sizeof(path))
        return ctl_say(c, CTL_USAGE, "--set is PATH=VALUE, such as running.timeoutS=60, not %.100s",
                       text);
    text_copy(path, sizeof(path), slice_of(text, n));
    json_t *v = json_loads(equals + 1, JSON_DECODE_ANY, NULL);
    if (put(o, path, v ? v : json_string(equals + 1)))
        return CTL_DONE;
    return ctl_say(c, CTL_USAGE, "--set: %.100s is no path of a member, or its value is not UTF-8",
                   path);
}

static json_t *param(const struct ctl *c, const char *text)
{
    struct buf file;
    if (text[0] != '@')
        return json_string(text);
    if (!ctl_read(c, "--param", text + 1, PARAM_MAX, &file))
        return NULL;
    json_t *v = json_stringn(buf_str(&file), file.len);
    buf_done(&file);
    return v;
}

static enum ctl_exit put_text(const struct ctl *c, json_t *o, const char *option, const char *path)
{
    const char *text = ctl_option(c, option);
    if (!text)
        return CTL_DONE;
    if (put(o, path, strcmp(option, "--param") == 0 ? param(c, text) : json_string(text)))
        return CTL_DONE;
    return ctl_say(c, CTL_USAGE, "%s must be UTF-8 text", option);
}

static enum ctl_exit put_group(struct ctl *c, json_t *o)
{
    const char *word = ctl_option(c, "--group");
    int64_t id;
    if (!word)
        return CTL_DONE;
    enum ctl_exit status = ctl_group_id(c, word, &id);
    if (status == CTL_DONE)
        put(o, "groupId", json_integer(id));
    return status;
}

static enum ctl_exit put_schedule(const struct ctl *c, json_t *o)
{
    bool cron = ctl_option(c, "--cron"), every = ctl_option(c, "--every");
    if (cron && every)
        return ctl_say(c, CTL_USAGE, "--cron and --every: a job has one schedule");
    if (cron || every)
        put(o, "schedule.type", json_string(cron ? "CRON" : "FIX_RATE"));
    return CTL_DONE;
}

static enum ctl_exit put_options(struct ctl *c, json_t *o)
{
    static const struct {
        const char *option, *path;
    } texts[] = {
        { "--name", "name" },          { "--owner", "owner" },
        { "--cron", "schedule.conf" }, { "--every", "schedule.conf" },
        { "--zone", "schedule.zone" }, { "--handler", "task.handler" },
        { "--param", "task.param" },
    };
    const struct ctl_values *set = ctl_options(c, "--set");
    enum ctl_exit status = put_group(c, o);
    if (status == CTL_DONE)
        status = put_schedule(c, o);
    for (size_t i = 0; i < countof(texts) && status == CTL_DONE; i++)
        status = put_text(c, o, texts[i].option, texts[i].path);
    for (int i = 0; i < set->n && status == CTL_DONE; i++)
        status = set_one(c, o, set->items[i]);
    return status;
}

/* The object that the command line describes; *ret owned. */
static enum ctl_exit describe(struct ctl *c, json_t **ret)
{
    const char *file = ctl_option(c, "--file");
    json_t *o = file ? ctl_read_object(c, file) : json_object();
    if (!o)
        return CTL_USAGE;
    enum ctl_exit status = put_options(c, o);
    if (status == CTL_DONE && json_object_size(o) == 0)
        status = ctl_say(c, CTL_USAGE, "nothing is said of the job; peal ctl %s --help explains",
                         c->verb->words);
    if (status == CTL_DONE)
        *ret = o;
    else
        json_decref(o);
    return status;
}

/* What a new job cannot be without, said at once. */
static enum ctl_exit check_new(const struct ctl *c, json_t *o)
{
    if (!json_object_get(o, "name"))
        return ctl_say(c, CTL_USAGE, "--name is missing");
    if (!json_object_get(o, "groupId"))
        return ctl_say(c, CTL_USAGE, "--group is missing: the executors that run it");
    if (!json_object_get(o, "schedule"))
        put(o, "schedule.type", json_string("NONE"));
    if (!ctl_member(o, "task.kind"))
        put(o, "task.kind", json_string("BEAN"));
    return CTL_DONE;
}

enum ctl_exit ctl_job_add(struct ctl *c)
{
    struct ctl_answer a = { 0 };
    json_t *o = NULL;
    enum ctl_exit status = describe(c, &o);
    if (status == CTL_DONE)
        status = check_new(c, o);
    if (status == CTL_DONE && ctl_flag(c, "--start"))
        json_object_set_new(o, "start", json_true());
    struct ctl_ask ask = { .method = "POST", .path = "/jobs", .body = o, .again = true };
    if (status == CTL_DONE)
        status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE && c->output == CTL_TABLE)
        printf("%" PRId64 "\n", ctl_i64(a.body, "id"));
    else if (status == CTL_DONE)
        ctl_print_object(c, a.body, "name");
    ctl_answer_done(&a);
    json_decref(o);
    return status;
}

static enum ctl_exit patch(struct ctl *c, const char *path, const json_t *o, const char *etag)
{
    struct ctl_answer a;
    struct ctl_ask ask = { .method = "PATCH", .path = path, .body = o, .if_match = etag };
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE)
        ctl_print_object(c, a.body, "name");
    ctl_answer_done(&a);
    return status;
}

enum ctl_exit ctl_job_edit(struct ctl *c)
{
    struct ctl_answer a = { 0 };
    char path[64];
    int64_t id;
    json_t *o = NULL;
    enum ctl_exit status = describe(c, &o);
    if (status == CTL_DONE)
        status = ctl_job_id(c, c->args[0], &id);
    if (status == CTL_DONE) {
        snprintf(path, sizeof(path), "/jobs/%" PRId64, id);
        struct ctl_ask ask = { .method = "GET", .path = path, .again = true };
        status = ctl_ask(c, &ask, &a);
    }
    if (status == CTL_DONE)
        status = patch(c, path, o, a.etag);
    ctl_answer_done(&a);
    json_decref(o);
    return status;
}
