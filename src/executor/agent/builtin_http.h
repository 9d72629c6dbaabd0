/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_http.h - the pure parts of httpJobHandler: its parameter, and the hosts that it may call.
 *
 * A user who can edit jobs must not thereby reach whatever this machine can reach: hosts are those
 * of a list, and a name on the list may not lead to an address that is not public. Pure. */
#ifndef PEAL_EXECUTOR_AGENT_BUILTIN_HTTP_H
#define PEAL_EXECUTOR_AGENT_BUILTIN_HTTP_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

struct sockaddr;
struct peal_run;

enum {
    HTTP_URL_MAX = 8192,
    HTTP_HEADERS_MAX = 100,
    HTTP_TIMEOUT_MS = 30000,
    HTTP_TIMEOUT_MOST_MS = 86400000,
};

struct http_param {
    char *url;          /* owned */
    const char *method; /* static: "GET" ... */
    int64_t timeout_ms;
    char *headers[HTTP_HEADERS_MAX + 3]; /* owned: "Name: value"; ends in NULL */
    int nheaders;
    struct buf data; /* the body; empty: none */
    struct why note; /* what was not understood, for the log; empty: all was */
};

/* Two forms, by the first character: a JSON object with url, method, contentType, headers, cookies,
 * timeout (milliseconds), data, form, auth, as XXL-JOB's samples have since 2.4; or lines "url: ",
 * "method: ", "data: ", as they had before. On failure *ret needs nothing, why names the field. */
MUST_CHECK enum err http_param_parse(struct slice text, struct http_param *ret, struct why *why);
void http_param_done(struct http_param *p);

/* Is host on the list? Entries, comma separated: name, *.name (what is below it), any of them with
 * :port, and "*". Without a port every port will do. */
bool http_host_allowed(const char *list, const char *host, int port);

/* The handler; its arg is a struct builtin_config. */
int builtin_http(struct peal_run *run);

#endif
