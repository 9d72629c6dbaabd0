/* SPDX-License-Identifier: Apache-2.0 */
/* problem.h - what went wrong, as application/problem+json (RFC 9457). Private to src/api.
 *
 * {"type","title","status","code","detail","errors":[{"field","rule","detail","params"}],
 * "requestId"}: code is for programs and stays, texts are English in every language. A field is a
 * JSON pointer (RFC 6901) into the body, or the name of a parameter. */
#ifndef PEAL_API_PROBLEM_H
#define PEAL_API_PROBLEM_H

#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

struct web_call;

enum problem_kind {
    PROBLEM_MALFORMED,       /* 400: it cannot be read */
    PROBLEM_UNAUTHENTICATED, /* 401 */
    PROBLEM_FORBIDDEN,       /* 403: the user may not */
    PROBLEM_FOREIGN,         /* 403: another site's page asked for it */
    PROBLEM_NOT_FOUND,       /* 404 */
    PROBLEM_METHOD,          /* 405 */
    PROBLEM_NOT_ACCEPTABLE,  /* 406 */
    PROBLEM_CONFLICT,        /* 409: it does not fit the state of the thing */
    PROBLEM_CHANGED,         /* 412: the thing is not what If-Match says */
    PROBLEM_TOO_LARGE,       /* 413 */
    PROBLEM_MEDIA_TYPE,      /* 415 */
    PROBLEM_INVALID,         /* 422: it can be read, and breaks a rule */
    PROBLEM_KEY_REUSED,      /* 422: the Idempotency-Key came with another request before */
    PROBLEM_NO_IF_MATCH,     /* 428 */
    PROBLEM_TOO_MANY,        /* 429 */
    PROBLEM_INTERNAL,        /* 500 */
    PROBLEM_UNAVAILABLE,     /* 503 */
    PROBLEM_TIMEOUT,         /* 504: an executor did not answer */
    PROBLEM_KINDS,
};

int problem_status(enum problem_kind kind);

/* Fields that break a rule: all of a request at once, up to a bound. */
#define PROBLEM_ERRORS_MAX 20

struct problem_errors {
    int n;           /* found; those above the bound are counted only */
    struct buf list; /* private: JSON objects separated by commas */
    char first[256]; /* detail of the first */
    char place[40];  /* stands before each field: of one thing of several; "" as it begins */
};

struct problem_limits { /* parameters of a rule, for translation */
    int64_t min, max;
};

void problem_errors_init(struct problem_errors *e);
void problem_errors_done(struct problem_errors *e);
/* rule: a stable name, [a-z0-9_.]; limits may be NULL; format: the detail. */
void problem_error(struct problem_errors *e, const char *field, const char *rule,
                   const struct problem_limits *limits, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The document alone. request_id, errors may be NULL; retry_ms < 0: not said. */
void problem_write(struct buf *out, enum problem_kind kind, const char *request_id,
                   const char *detail, const struct problem_errors *errors, int64_t retry_ms);

/* Answer the call with a problem; what it had for an answer so far goes, its headers stay. */
void problem(struct web_call *call, enum problem_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* With the fields; the first one's detail is the problem's. */
void problem_fields(struct web_call *call, enum problem_kind kind, const struct problem_errors *e);
/* It may be tried again after so long. */
void problem_wait(struct web_call *call, enum problem_kind kind, int64_t wait_ms,
                  const char *detail);
/* What a lower layer said. */
void problem_err(struct web_call *call, enum err err, const struct why *why);

#define REQUEST_ID_SIZE 14
/* 8 random bytes in base32 (RFC 4648 without padding). */
void request_id_new(char to[REQUEST_ID_SIZE]);

#endif
