/* SPDX-License-Identifier: Apache-2.0 */
/* Servers: their list, and to let one leave its jobs to the others, or take them again. A server
 * drains with its next look at the others, so what became of it is read from its row. */
#include "base/mem.h"
#include "cli/bar.h"
#include "cli/ctl/follow.h"
#include "cli/ctl/http.h"
#include "cli/ctl/names.h"
#include "cli/ctl/print.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { POLL_MS = 500 };

static const struct ctl_column node_columns[] = {
    { "NAME", "name", 40 },        { "STATE", "state", 0 },           { "SELF", "self", 0 },
    { "ADDRESS", "address", 48 },  { "EPOCH", "epoch", 0 },           { "RUNS", "runs", 0 },
    { "JOBS", "jobs", 0 },         { "BEAT-AGE-MS", "beatAgeMs", 0 }, { "LEASED", "leased", 0 },
    { "SKEW-MS", "skewMs", 0 },    { "STARTED", "startedAt", 0 },     { "VERSION", "version", 0 },
    { "PROTOCOL", "protocol", 0 },
};

enum ctl_exit ctl_node_list(struct ctl *c)
{
    struct ctl_list list = {
        .path = "/nodes",
        .columns = node_columns,
        .ncolumns = (int)countof(node_columns),
        .name = "name",
        .empty = "no server",
    };
    return ctl_print_list(c, &list);
}

/* ---- drain ----------------------------------------------------------------------------------- */

static enum ctl_exit tell(struct ctl *c, int64_t id, const char *what, json_t **ret)
{
    char path[64];
    struct ctl_answer a;
    struct ctl_ask ask = { .method = "POST", .path = path };
    snprintf(path, sizeof(path), "/nodes/%" PRId64 "/%s", id, what);
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    *ret = status == CTL_DONE ? json_incref(a.body) : NULL;
    ctl_answer_done(&a);
    return status;
}

/* The server's row in the list. */
static enum ctl_exit look(struct ctl *c, int64_t id, json_t **ret)
{
    json_t *page = NULL, *item;
    size_t i;
    *ret = NULL;
    enum ctl_exit status = ctl_get(c, "/nodes?limit=500", &page);
    json_array_foreach(json_object_get(page, "items"), i, item)
    {
        if (ctl_i64(item, "id") == id && !*ret)
            *ret = json_incref(item);
    }
    json_decref(page);
    if (status == CTL_DONE && !*ret)
        return ctl_say(c, CTL_NOT_FOUND, "the server is not in the list any more");
    return status;
}

/* Until it has no run. One that has stopped has handed over what it had. */
static enum ctl_exit drained(struct ctl *c, int64_t id, json_t **node)
{
    struct bar bar = bar_new();
    int64_t most = 0;
    enum ctl_exit status = CTL_DONE;
    while (status == CTL_DONE) {
        const char *state = ctl_text(*node, "state");
        int64_t runs = ctl_i64(*node, "runs");
        most = runs > most ? runs : most;
        if (strcmp(state, "up") && (strcmp(state, "draining") || !runs))
            break;
        bar_show(&bar, most - runs, most);
        status = ctl_pause(c, POLL_MS);
        json_decref(*node);
        *node = NULL;
        if (status == CTL_DONE)
            status = look(c, id, node);
    }
    bar_end(&bar, status == CTL_DONE);
    return status;
}

static void print(const struct ctl *c, const json_t *node)
{
    char text[256];
    if (c->output != CTL_TABLE) {
        ctl_print_object(c, node, "name");
        return;
    }
    bool asked = json_is_true(json_object_get(node, "drainAsked"));
    snprintf(text, sizeof(text), "%.128s %s, %" PRId64 " runs", ctl_text(node, "name"),
             asked ? "leaves its jobs to the others" : "plans again", ctl_i64(node, "runs"));
    ctl_put(stdout, text);
}

enum ctl_exit ctl_node_drain(struct ctl *c)
{
    int64_t id = 0;
    json_t *node = NULL;
    enum ctl_exit status = ctl_node_id(c, c->args[0], &id);
    if (status == CTL_DONE)
        status = tell(c, id, "drain", &node);
    if (status == CTL_DONE && ctl_flag(c, "--wait"))
        status = drained(c, id, &node);
    if (status == CTL_DONE)
        print(c, node);
    json_decref(node);
    return status;
}

enum ctl_exit ctl_node_undrain(struct ctl *c)
{
    int64_t id = 0;
    json_t *node = NULL;
    enum ctl_exit status = ctl_node_id(c, c->args[0], &id);
    if (status == CTL_DONE)
        status = tell(c, id, "undrain", &node);
    if (status == CTL_DONE)
        print(c, node);
    json_decref(node);
    return status;
}
