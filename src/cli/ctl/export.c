/* SPDX-License-Identifier: Apache-2.0 */
/* The center writes the file; here it gets its lines. */
#include "cli/ctl/http.h"
#include <stdio.h>
#include <string.h>

static const char *const lists[] = { "groups", "jobs", "users", "channels", "rules", "silences" };
enum { LISTS = sizeof(lists) / sizeof(*lists) };

static void tell(const json_t *doc)
{
    const char *between = "";
    for (int i = 0; i < LISTS; i++) {
        const json_t *list = json_object_get(doc, lists[i]);
        if (list)
            fprintf(stderr, "%s%zu %s", between, json_array_size(list), lists[i]);
        between = list ? ", " : between;
    }
    fputc('\n', stderr);
}

enum ctl_exit ctl_export(struct ctl *c)
{
    struct buf path = BUF_INIT(1 << 16);
    const char *include = ctl_option(c, "--include");
    bool all = include && strcmp(include, "all") == 0;
    json_t *doc = NULL;
    buf_text(&path, "/export");
    ctl_query(&path, "include", all ? "groups,jobs,users,channels,rules,silences" : include);
    ctl_query(&path, "apps", ctl_option(c, "--group"));
    enum ctl_exit status = ctl_get(c, buf_str(&path), &doc);
    buf_done(&path);
    if (status == CTL_DONE && !json_object_get(doc, "peal"))
        status =
            ctl_say(c, CTL_FAILED, "the answer is not a file: is %.200s a center of Peal?", c->url);
    if (status == CTL_DONE) {
        json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        putchar('\n');
        tell(doc);
    }
    json_decref(doc);
    return status;
}
