/* SPDX-License-Identifier: Apache-2.0 */
/* open_api.h - what executors say to the center: /api/registry, /api/registryRemove, /api/callback.
 *
 * Both directions: the center reads the requests of every dialect from 2.2 to 3.4 and writes the
 * replies; our own executor writes the requests and reads the replies. docs/protocol.md is the
 * contract in words. Pure; slices borrow from the request text or from the parsed object and are
 * valid while both live. */
#ifndef PEAL_WIRE_OPEN_API_H
#define PEAL_WIRE_OPEN_API_H

#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"
#include "wire/arena.h"

struct json_t;

/* ---- registry ---- */

#define WIRE_REGISTRY_MAX 65536 /* bytes of a request */

struct wire_registry {
    struct slice group, key, value; /* value is kept verbatim: other tables compare it as text */
    struct json_t *doc;             /* private, owned */
};

/* Is this an address that a run can be sent to? name is the field as why shall call it. */
typedef enum err wire_address_fn(struct slice address, const char *name, struct why *why);

/* Check and read a body. On failure *ret is untouched and why names the field and the rule. */
MUST_CHECK enum err wire_registry_parse(struct slice body, wire_address_fn *check,
                                        struct wire_registry *ret, struct why *why);
void wire_registry_done(struct wire_registry *r);

/* A wire_address_fn for HTTP: [http[s]://]host[:port][/path], at most 255 characters, no comma
 * (lists are joined by it), blank, control character, user or query. */
MUST_CHECK enum err wire_address_check(struct slice address, const char *name, struct why *why);

/* ---- callback ---- */

#define WIRE_CALLBACK_MAX (16u << 20)  /* bytes of a request */
#define WIRE_CALLBACK_ITEMS_MAX 100000 /* elements of a request */

struct wire_callback {
    int64_t log_id;
    int64_t log_date_ms; /* as sent; 0 if unreadable; some clients send their own time */
    int code;            /* 200, 500, 502, or the user's own; 0 without has_code */
    bool has_code;
    struct slice msg;  /* any JSON type as text; empty if absent */
    const char *fault; /* NULL, or why this element alone cannot be used */
    bool unread;       /* with a fault: it is no JSON, so it may be a good result */
};

struct wire_callbacks {
    struct wire_callback *items; /* in the order of the request */
    size_t n, nfault, nunread;
    struct wire_arena arena; /* private, owned */
};

/* Read a body: an array of elements. handleCode and handleMsg come first, executeResult fills what
 * they leave open. A malformed element gets its fault and leaves the others alone; fails only if
 * the array itself cannot be followed or a limit is passed (then *ret is untouched). */
MUST_CHECK enum err wire_callbacks_parse(struct slice body, struct wire_callbacks *ret,
                                         struct why *why);
/* The same without the short cut for elements of the common flat shape: the reference that tests
 * and fuzzer hold it against. */
MUST_CHECK enum err wire_callbacks_parse_slowly(struct slice body, struct wire_callbacks *ret,
                                                struct why *why);
void wire_callbacks_done(struct wire_callbacks *c);

/* ---- replies, always with HTTP 200 and Content-Type: application/json ---- */

/* Success in the one form that every known client takes; also our executor's answer. */
#define WIRE_REPLY_OK "{\"code\":200,\"msg\":null,\"content\":null,\"data\":null}"

/* Appends {"code":CODE,"msg":TEXT,"content":null,"data":null}. */
void wire_reply_error(struct buf *out, int code, struct slice text);

/* ---- the executor's half ---- */

/* Elements to put into one request: what the newest admins are used to. */
#define WIRE_CALLBACK_BATCH 50

void wire_registry_body(struct buf *out, struct slice key, struct slice value);
/* An array with both shapes in each element, for admins of 2.2 and of later releases. */
void wire_callback_body(struct buf *out, const struct wire_callback *items, size_t n);
/* Did the admin accept? Only HTTP 200 with code 200 says so; otherwise why has its words. */
bool wire_admin_accepts(int http_status, struct slice body, struct why *why);

#endif
