/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is answered with HTTP 200 and a JSON object whose code is a number: some clients end
 * their process, and some stop registering for ever, on any other answer. */
#include "api/xxl/executor_api.h"
#include "api/client.h"
#include "api/context.h"
#include "api/front.h"
#include "base/log.h"
#include "base/mem.h"
#include "transport/transport.h"
#include "wire/open_api.h"
#include "wire/texts.h"
#include <stdlib.h>
#include <string.h>

static void answer(struct httpd_request *q, struct slice body)
{
    httpd_reply(q, 200, "application/json", slice_of(NULL, 0), body);
}

static void refuse(struct httpd_request *q, const char *text)
{
    struct buf b = BUF_INIT(2048);
    wire_reply_error(&b, 500, slice_text(text));
    answer(q, slice_of(b.data, b.len));
    buf_done(&b);
}

/* An executor with the wrong token goes on trying for ever, and often says nothing of it itself. */
static void refuse_token(struct httpd_request *q)
{
    struct client client;
    client_of(q, &client);
    log_warn("api", "refused %.*s from %s: wrong access token",
             (int)(q->path.n < 80 ? q->path.n : 80), q->path.p, client.address);
    refuse(q, WIRE_TEXT_TOKEN);
}

static void refuse_path(struct httpd_request *q)
{
    struct buf b = BUF_INIT(512);
    buf_printf(&b, WIRE_TEXT_TARGET, (int)utf8_cut(q->path.p, q->path.n, 200), q->path.p);
    refuse(q, buf_str(&b));
    buf_done(&b);
}

static bool under(struct slice path, const char *folder)
{
    size_t n = strlen(folder);
    return path.n >= n && memcmp(path.p, folder, n) == 0;
}

bool executor_api_path(struct slice path)
{
    path = context_cut(path);
    return under(path, "/api/") && !under(path, "/api/v1/");
}

/* The header of today's executors, or that of 2.1. */
static struct slice token_of(const struct httpd_request *q)
{
    struct slice got = httpd_header(q, WIRE_HEADER_TOKEN);
    return got.p ? got : httpd_header(q, WIRE_HEADER_TOKEN_OLD);
}

/* Of some group: of which one is looked at when the body says what it is about. */
static bool token_ok(struct center *c, struct httpd_request *q)
{
    struct slice got = token_of(q);
    bool ok = center_token_known(c, got);
    if (ok && center_token(c)[0]) /* else whoever comes is known */
        httpd_proved(q);
    return ok;
}

static void registry(struct center *c, struct httpd_request *q, bool add)
{
    struct wire_registry r;
    struct why why = { "" };
    if (wire_registry_parse(q->body, transport_address_check, &r, &why)) {
        refuse(q, why.text);
        return;
    }
    bool serves = center_token_serves(c, r.key, token_of(q)), taken = true;
    if (serves && add)
        taken = center_register(c, r.key, r.value,
                                slice_eq(httpd_header(q, WIRE_HEADER_EXECUTOR), "1"), token_of(q));
    else if (serves)
        center_unregister(c, r.key, r.value);
    wire_registry_done(&r);
    if (!serves)
        refuse_token(q);
    else if (taken)
        answer(q, slice_text(WIRE_REPLY_OK));
    else
        refuse(q, "registryValue: more addresses or apps than this center takes (10,000 of one "
                  "app, 100,000 in all, 1,000 apps without a group)");
}

static void callback(struct center *c, struct httpd_request *q)
{
    struct wire_callbacks items;
    struct why why = { "" };
    if (wire_callbacks_parse(q->body, &items, &why)) {
        refuse(q, why.text);
        return;
    }
    struct center_result few[16];
    struct center_result *results = few;
    if (items.n > countof(few))
        results = try_alloc(items.n * sizeof(*results));
    if (!results) {
        wire_callbacks_done(&items);
        refuse(q, "out of memory: send fewer results in one request");
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < items.n; i++) {
        const struct wire_callback *item = &items.items[i];
        if (item->fault)
            log_warn("api", "callback: element %zu is left out: %s", i, item->fault);
        else
            results[n++] =
                (struct center_result){ item->log_id, item->log_date_ms, item->code, item->msg };
    }
    if (!center_results(c, results, n, items.nunread, token_of(q), q))
        refuse_token(q);
    if (results != few)
        free(results);
    wire_callbacks_done(&items);
}

static void registry_add(struct center *c, struct httpd_request *q)
{
    registry(c, q, true);
}

static void registry_remove(struct center *c, struct httpd_request *q)
{
    registry(c, q, false);
}

#define EXECUTOR PERM_EXECUTOR, BODY_JSON, ANSWER_ENVELOPE, WEB_AT_ONCE, 0, NULL

static const struct web_route rows[] = {
    { METHOD_POST, "/registry", EXECUTOR, registry_add },
    { METHOD_POST, "/registryRemove", EXECUTOR, registry_remove },
    { METHOD_POST, "/callback", EXECUTOR, callback },
};

/* Refusals are written here: the requests of this table make no call. */
static const struct router_table table = { "/api", rows, countof(rows), false, NULL };

/* It has the token, perhaps, and no certificate: nothing of it counts. */
static void refuse_uncertified(struct httpd_request *q)
{
    struct client client;
    client_of(q, &client);
    log_warn("api", "refused %.*s from %s: no client certificate (tls.client-ca)",
             (int)(q->path.n < 80 ? q->path.n : 80), q->path.p, client.address);
    refuse(q, "this center asks executors for a client certificate (tls.client-ca), and none came");
}

/* What the head asks for; NULL: it may not, or there is no such thing, and q is refused. */
static const struct web_route *row_wanted(struct center *c, struct httpd_request *q)
{
    if (!slice_eq(q->method, "POST")) {
        refuse(q, WIRE_TEXT_METHOD);
        return NULL;
    }
    struct router_match m = router_find(&table, q->method, context_cut(q->path));
    if (!m.row) {
        refuse_path(q);
    } else if (center_wants_certificate(c) && !httpd_certified(q)) {
        refuse_uncertified(q);
        return NULL;
    }
    return m.row;
}

size_t executor_api_head(struct center *c, struct httpd_request *q)
{
    if (!row_wanted(c, q))
        return 0;
    if (token_ok(c, q))
        return CENTER_BODY_MAX;
    refuse_token(q);
    return 0;
}

void executor_api_serve(struct center *c, struct httpd_request *q)
{
    const struct web_route *row = row_wanted(c, q);
    if (!row)
        return;
    if (slice_trim(q->body).n == 0)
        refuse(q, WIRE_TEXT_BODY_EMPTY);
    else if (!token_ok(c, q))
        refuse_token(q);
    else
        row->at_once(c, q);
}
