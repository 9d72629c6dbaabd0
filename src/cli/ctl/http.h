/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - one center's /api/v1 over libcurl: a request, its answer, and what a refusal means.
 *
 * https verifies the center's certificate, by the system's roots or --ca. No redirects, no proxies
 * of the environment: the token goes to the address that was named and nowhere else. */
#ifndef PEAL_CLI_CTL_HTTP_H
#define PEAL_CLI_CTL_HTTP_H

#include "cli/ctl/ctl.h"

enum {
    CTL_ANSWER_MAX = 32 << 20, /* bytes of a body */
    CTL_REQUEST_S = 30,        /* one request, where --timeout does not bound it */
    CTL_CONNECT_S = 5
};

struct ctl_answer;
struct ctl_ask {
    const char *method, *path; /* behind /api/v1, encoded */
    const json_t *body;        /* NULL: none. PATCH: a merge patch */
    bool packed;               /* by gzip: the center takes larger ones so */
    const char *if_match;      /* or NULL */
    const char *cookie;        /* of a session, instead of the token; or NULL */
    bool again;                /* may be sent twice: a GET, or it carries a key */
    bool quiet;                /* a failure is not told, only returned */
    const char *where;         /* what a refusal is about: "FILE: /jobs/3"; or NULL */
    /* Tells a refusal in place of the usual words; status: what it means. Or NULL. */
    enum ctl_exit (*refused)(const struct ctl *c, const struct ctl_answer *a, enum ctl_exit status,
                             const void *ctx);
    const void *ctx;
};

struct ctl_answer {
    int status;
    json_t *body; /* NULL: none */
    char etag[96];
    char cookie[256]; /* "name=value" of Set-Cookie, without its attributes */
};

/* Is it http://HOST… or https://HOST…, without user, query and fragment? */
bool ctl_url_good(const char *url);
/* NULL without memory. Borrows what c has. */
struct ctl_http *ctl_http_new(void);
void ctl_http_free(struct ctl_http *h);

/* Send and read. CTL_DONE: a status below 300. Else the refusal was told on standard error, and its
 * exit status is returned. *ret always needs ctl_answer_done. */
enum ctl_exit ctl_ask(struct ctl *c, const struct ctl_ask *ask, struct ctl_answer *ret);
void ctl_answer_done(struct ctl_answer *a);
/* A GET whose answer is an object; *ret owned. */
enum ctl_exit ctl_get(struct ctl *c, const char *path, json_t **ret);

/* A stream of text/event-stream: each event with its data. fn false: enough. more: the center said
 * good-bye, the connection broke or max_ms have passed, and the caller may come back. */
typedef bool ctl_event_fn(void *ctx, const char *event, const json_t *data);
enum ctl_exit ctl_stream(struct ctl *c, const char *path, int64_t max_ms, ctl_event_fn *fn,
                         void *ctx, bool *ret_more);

/* "&name=value", encoded; "?" before the first. value NULL: nothing. */
void ctl_query(struct buf *path, const char *name, const char *value);

/* Milliseconds until --timeout, at most max. 0: it has passed. */
int64_t ctl_left_ms(const struct ctl *c, int64_t max_ms);
/* Pause; CTL_TIMED_OUT when --timeout has passed. */
enum ctl_exit ctl_pause(const struct ctl *c, int64_t ms);

#endif
