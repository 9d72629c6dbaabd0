/* SPDX-License-Identifier: Apache-2.0 */
/* A word of digits is an id. Any other is looked for with the API's own search, and must be the
 * whole name of one thing; what is near it is suggested. */
#include "cli/ctl/names.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/ctl/http.h"
#include "cli/ctl/print.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY_MAX = 150, TOLD = 3, NAME_SIZE = 128, FAR = 1000 };

static bool id_of(const char *word, int64_t *ret)
{
    return parse_i64(slice_text(word), ret) && *ret > 0;
}

enum ctl_exit ctl_run_id(const struct ctl *c, const char *word, int64_t *ret)
{
    if (id_of(word, ret))
        return CTL_DONE;
    return ctl_say(c, CTL_USAGE,
                   "a run is named by its id, not %.60s; peal ctl run list shows them", word);
}

/* ---- what is near ---------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* How many bytes to change, add or leave out, capitals aside. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_SIZE + 1], n = strnlen(b, NAME_SIZE), m = strnlen(a, NAME_SIZE);
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; i <= m; i++) {
        size_t before = row[0];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t same =
                before + !slice_eq_nocase(slice_of(a + i - 1, 1), (char[]){ b[k - 1], 0 });
            before = row[k];
            row[k] = least(row[k] + 1, row[k - 1] + 1, same);
        }
    }
    return row[n];
}

struct near {
    const char *names[TOLD]; /* borrowed of the items */
    size_t distances[TOLD];
};

static void offer(struct near *near, const char *word, const char *name)
{
    size_t d = strcasestr(name, word) ? 1 : distance(word, name);
    if (d > strlen(word) / 3 + 1)
        return;
    for (int i = 0; i < TOLD; i++) {
        if (near->names[i] && near->distances[i] <= d)
            continue;
        memmove(&near->names[i + 1], &near->names[i], (size_t)(TOLD - 1 - i) * sizeof(char *));
        memmove(&near->distances[i + 1], &near->distances[i],
                (size_t)(TOLD - 1 - i) * sizeof(size_t));
        near->names[i] = name;
        near->distances[i] = d;
        return;
    }
}

/* ---- look-up --------------------------------------------------------------------------------- */

struct kind { /* of what is looked for */
    const char *noun, *path, *fields, *name, *list;
    bool whole; /* the API answers all of them at once and searches none */
};

static const struct kind of_jobs = { .noun = "job",
                                     .path = "/jobs",
                                     .fields = "id,name,group",
                                     .name = "name",
                                     .list = "peal ctl job list" };
static const struct kind of_groups = {
    .noun = "group", .path = "/groups", .name = "app", .list = "the console's page of executors"
};
static const struct kind of_channels = { .noun = "channel",
                                         .path = "/alarm-channels",
                                         .name = "name",
                                         .list = "the console's page of alarms",
                                         .whole = true };

static const struct kind of_nodes = { .noun = "server",
                                      .path = "/nodes?limit=500",
                                      .name = "name",
                                      .list = "peal ctl node list",
                                      .whole = true };

static enum ctl_exit fetch(struct ctl *c, const struct kind *kind, const char *words, json_t **ret)
{
    struct buf path = BUF_INIT(8192);
    char cut[QUERY_MAX + 1];
    buf_text(&path, kind->path);
    ctl_query(&path, "limit", kind->whole ? NULL : "500");
    ctl_query(&path, "fields", kind->fields);
    if (words && !kind->whole) {
        text_copy(cut, sizeof(cut), slice_text(words));
        ctl_query(&path, "q", cut);
    }
    enum ctl_exit status = ctl_get(c, buf_str(&path), ret);
    buf_done(&path);
    return status;
}

static enum ctl_exit none(struct ctl *c, const struct kind *kind, const char *word)
{
    struct near near = { { NULL }, { 0 } };
    struct buf text = BUF_INIT(1024);
    json_t *page = NULL;
    size_t i;
    const json_t *item;
    enum ctl_exit status = fetch(c, kind, NULL, &page);
    if (status != CTL_DONE)
        return status;
    json_array_foreach(json_object_get(page, "items"), i, item)
        offer(&near, word, ctl_text(item, kind->name));
    for (int k = 0; k < TOLD && near.names[k]; k++)
        buf_printf(&text, "%s%.200s", k ? ", " : "; did you mean ", near.names[k]);
    status = ctl_say(c, CTL_NOT_FOUND, "there is no %s %.200s%s%s\n%s shows them", kind->noun, word,
                     buf_str(&text), text.len ? "?" : "", kind->list);
    buf_done(&text);
    json_decref(page);
    return status;
}

static enum ctl_exit several(const struct ctl *c, const struct kind *kind, const char *word,
                             const json_t *items)
{
    struct buf text = BUF_INIT(1024);
    size_t i;
    const json_t *item;
    json_array_foreach(items, i, item)
    {
        if (strcmp(ctl_text(item, kind->name), word) == 0)
            buf_printf(&text, "%s%" PRId64 " of %.64s", text.len ? ", " : "", ctl_i64(item, "id"),
                       ctl_text(item, "group.app"));
    }
    enum ctl_exit status = ctl_say(c, CTL_CONFLICT,
                                   "several %ss have the name %.200s: name one by "
                                   "its id: %s",
                                   kind->noun, word, buf_str(&text));
    buf_done(&text);
    return status;
}

static enum ctl_exit look_up(struct ctl *c, const struct kind *kind, const char *word, int64_t *ret)
{
    json_t *page = NULL;
    size_t i;
    const json_t *item;
    int found = 0;
    if (id_of(word, ret))
        return CTL_DONE;
    enum ctl_exit status = fetch(c, kind, word, &page);
    if (status != CTL_DONE)
        return status;
    const json_t *items = json_object_get(page, "items");
    json_array_foreach(items, i, item)
    {
        if (strcmp(ctl_text(item, kind->name), word) == 0 && ++found)
            *ret = ctl_i64(item, "id");
    }
    if (found > 1)
        status = several(c, kind, word, items);
    json_decref(page);
    return found ? status : none(c, kind, word);
}

enum ctl_exit ctl_job_id(struct ctl *c, const char *word, int64_t *ret)
{
    return look_up(c, &of_jobs, word, ret);
}

enum ctl_exit ctl_group_id(struct ctl *c, const char *word, int64_t *ret)
{
    return look_up(c, &of_groups, word, ret);
}

enum ctl_exit ctl_node_id(struct ctl *c, const char *word, int64_t *ret)
{
    return look_up(c, &of_nodes, word, ret);
}

enum ctl_exit ctl_channel_id(struct ctl *c, const char *word, int64_t *ret)
{
    enum ctl_exit status = look_up(c, &of_channels, word, ret);
    if (status == CTL_DONE && !*ret)
        return ctl_say(c, CTL_FAILED,
                       "the channel %.60s is one of the server's settings, without an id: only a "
                       "channel of the console or the API can be tried",
                       word);
    return status;
}
