/* SPDX-License-Identifier: Apache-2.0 */
/* A call as the gate would have let it pass: read, and of an actor that may all. */
#include "api/offline.h"
#include "api/body.h"
#include "api/form.h"
#include "api/front.h"
#include "api/gate.h"
#include "api/v1/v1.h"
#include "wire/json.h"
#include <stdio.h>
#include <string.h>

/* The value of the header among complete lines. */
static void header_of(const struct buf *headers, const char *name, char *to, size_t size)
{
    struct slice rest = slice_of(headers->data, headers->len), line;
    size_t n = strlen(name);
    to[0] = '\0';
    while (slice_cut(&rest, '\n', &line))
        if (line.n > n && memcmp(line.p, name, n) == 0 && line.p[n] == ':')
            text_copy(to, size, slice_trim(slice_of(line.p + n + 1, line.n - n - 1)));
}

static enum err read_call(struct web_call *call, struct why *why)
{
    enum err err = form_parse(call->query, slice_of("", 0), &call->form, why);
    if (!err)
        err = body_parse_file(call->body, &call->json, why);
    return err ? err : center_reader(call->center, &call->db, why);
}

enum err offline_import(struct center *c, const struct api_config *config, const char *query,
                        struct slice body, const char *if_match, struct offline_answer *ret,
                        struct why *why)
{
    const struct rights all = { .center = CENTER_ADMIN };
    char name[] = "peal import";
    struct web_call call = { .config = config,
                             .center = c,
                             .method = slice_text("POST"),
                             .path = slice_text("/api/v1/import"),
                             .query = slice_text(query),
                             .body = body,
                             .user = { .username = name },
                             .by_hand = true,
                             .status = 200 };
    if (if_match)
        call.if_match = slice_text(if_match);
    call.match = router_find(&v1_routes, call.method, call.path);
    buf_init(&call.headers, 8192);
    buf_init(&call.output, WEB_REPLY_MAX);
    call.actor = actor_new(0, &all);
    enum err err = read_call(&call, why);
    if (!err)
        v1_import(&call);
    header_of(&call.headers, "ETag", ret->etag, sizeof(ret->etag));
    ret->status = call.status;
    ret->body = call.output;
    store_close(call.db);
    actor_free(call.actor);
    wire_json_free(call.json);
    form_done(&call.form);
    buf_done(&call.headers);
    return err;
}
