/* SPDX-License-Identifier: Apache-2.0 */
/* router.h - tables of paths, and the row that a request is for. Private to src/api.
 *
 * A row says everything that stands before its handler: methods, path, permission, what the body
 * is, what the answer is, in which queue the request waits. The form API (xxl/routes.c), the JSON
 * API (v1/routes.def) and what executors call (xxl/executor_api.c) are tables of the same struct.
 *
 * A path is literal segments and parameters in braces: "/jobs/{id}/log". Literals are compared byte
 * by byte, so there is one way to write each; a parameter is one segment that is not empty,
 * percent- decoded once. Where several rows fit a path, the one whose literal comes first wins,
 * whatever the method: "/jobs/batch" is never a job. Pure; any thread. */
#ifndef PEAL_API_ROUTER_H
#define PEAL_API_ROUTER_H

#include "api/problem.h"
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "model/permission.h"

struct center;
struct httpd_request;
struct web_call;

enum method {
    METHOD_GET = 1, /* HEAD is a GET whose answer has no body */
    METHOD_POST = 2,
    METHOD_PUT = 4,
    METHOD_PATCH = 8,
    METHOD_DELETE = 16,
};

enum { /* what a row may demand in place of a permission */
       PERM_PUBLIC = PERMISSIONS,
       PERM_LOGIN,    /* a session or a token, whatever they may do */
       PERM_SESSION,  /* a session, no token */
       PERM_EXECUTOR, /* the access token of executors */
       PERM_ACTION,   /* that of the action in the body, which the handler asks for (gate_has) */
};

enum body_kind {
    BODY_NONE,  /* one that is sent is refused */
    BODY_FORM,  /* application/x-www-form-urlencoded, or without a type */
    BODY_JSON,  /* application/json, checked and parsed before the handler runs (body.h) */
    BODY_MERGE, /* application/merge-patch+json (RFC 7396), the same */
    BODY_FILE,  /* as BODY_JSON, and may come packed (Content-Encoding: gzip): larger inside */
};

enum answer_kind {
    ANSWER_ENVELOPE, /* XXL-JOB's: {"code":…,"msg":…,"content":…,"data":…} */
    ANSWER_TEXT,     /* a page or plain text */
    ANSWER_JSON,
    ANSWER_EMPTY,  /* status 204 */
    ANSWER_EVENTS, /* a stream of server-sent events */
};

enum web_class { /* the queue, see front.h */
                 WEB_PAGE,
                 WEB_EXECUTOR,
                 WEB_PASSWORD,
                 WEB_CLASSES,
                 WEB_AT_ONCE, /* none: answered on the scheduler's loop */
};

enum web_flag {
    WEB_COMPAT_GET = 1, /* the setting compat.get-changes lets GET in */
    WEB_NEW = 2,        /* known to releases from 3.2 on only: answers without login as they do */
};

struct web_route {
    unsigned methods; /* enum method; without METHOD_GET it changes something */
    const char *path; /* behind the table's prefix */
    /* enum permission, or one of the above. Of a permission of groups the gate makes sure that it
     * is held for some group, and the handler, which knows the thing, for which (gate_group). */
    int permission;
    enum body_kind body;
    enum answer_kind answer;
    enum web_class class;
    unsigned flags; /* enum web_flag */
    /* One of the two. A handler that runs has what its row demands. */
    void (*run)(struct web_call *call);                         /* on a worker */
    void (*at_once)(struct center *c, struct httpd_request *q); /* WEB_AT_ONCE */
};

struct router_table {
    const char *prefix; /* "" or "/x" */
    const struct web_route *rows;
    size_t n;
    bool problems; /* refusals are problems (RFC 9457) */
    /* Answer a call that does not come to its handler. */
    void (*refuse)(struct web_call *call, enum problem_kind kind, const char *text);
};

struct router_match {
    const struct router_table *table;
    const struct web_route *row;  /* NULL: no such path, or not with this method */
    const struct web_route *near; /* row, or a row of the same path for another method, or NULL */
    unsigned methods;             /* that the path takes */
};

/* 0 for a method that no row has. HEAD counts as GET. */
unsigned router_method(struct slice method);
/* Does the path lie under the table's prefix? */
bool router_under(const struct router_table *table, struct slice path);
struct router_match router_find(const struct router_table *table, struct slice method,
                                struct slice path);
/* "GET, HEAD, POST" of the methods; size >= 48. */
void router_allow(unsigned methods, char *to, size_t size);

/* The parameters of a path. {id} is a number of a row, 1 to 2^53 - 1; others are text in UTF-8
 * without NUL of at most ROUTER_PARAM_BYTES together. "%2F" in them stays as it is. */
#define ROUTER_PARAMS 2
#define ROUTER_PARAM_BYTES 512
#define ROUTER_ID_MAX 9007199254740991

struct router_params {
    int n;
    struct router_param {
        struct slice name; /* of the row's path */
        const char *text;  /* terminated, in bytes below */
        int64_t number;    /* of {id} */
    } items[ROUTER_PARAMS];
    struct slice bad_name; /* on failure: which one, and its rule */
    const char *bad_rule;
    char bytes[ROUTER_PARAM_BYTES + ROUTER_PARAMS];
};

/* path fits the row. ERR_INVALID: why says which parameter breaks which rule. */
MUST_CHECK enum err router_params(const struct router_table *table, const struct web_route *row,
                                  struct slice path, struct router_params *ret, struct why *why);

#endif
