/* SPDX-License-Identifier: Apache-2.0 */
/* executor_api.h - what the center says to executors: /run, /idleBeat, /beat, /kill, /log.
 *
 * Bodies are written in the one form that every known executor takes: members in the original's
 * order, every number a bare integer >= 0, every text present. Replies are read in every dialect.
 * Pure; slices of replies borrow from the reply text or from the parsed object and are valid while
 * both live. The other end of these calls is executor_side.h; the
 * verdict about a log that recovery needs is log_scan.h. */
#ifndef PEAL_WIRE_EXECUTOR_API_H
#define PEAL_WIRE_EXECUTOR_API_H

#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

struct json_t;

/* ---- bodies ---- */

struct wire_job { /* what is the same in all runs of a job; borrowed during wire_run_form_init only
                   */
    int64_t job_id;
    struct slice handler, params, block; /* block: SERIAL_EXECUTION, … */
    int64_t timeout_s;                   /* 0 = none */
    struct slice glue_type, glue_source; /* glue_type: BEAN, GLUE_SHELL, … */
    int64_t glue_update_ms;
};

struct wire_run { /* what differs */
    int64_t log_id;
    int64_t log_date_ms; /* whole seconds: the executor's log file is found by it */
    int shard, shard_total;
    const struct slice *params; /* NULL = the job's own */
};

/* The prepared text of a job's runs. Owned by its initialiser. */
struct wire_run_form {
    char *text; /* owned; four pieces one after another */
    uint32_t head, params, middle, tail;
};

/* ERR_NOMEM, or ERR_TOOBIG if the texts exceed max bytes together. */
MUST_CHECK enum err wire_run_form_init(struct wire_run_form *form, const struct wire_job *job,
                                       size_t max);
void wire_run_form_done(struct wire_run_form *form);
/* Append the body of one run; out->failed tells whether it fitted. */
void wire_run_body(struct buf *out, const struct wire_run_form *form, const struct wire_run *run);

#define WIRE_BEAT_BODY "{}" /* an empty text or body is refused by some clients */
void wire_job_body(struct buf *out, int64_t job_id); /* of /idleBeat and /kill */
void wire_log_body(struct buf *out, int64_t log_id, int64_t log_date_ms, int from_line);

/* ---- replies ---- */

#define WIRE_REPLY_MAX (1u << 20) /* bytes of a reply other than /log's */

struct wire_reply {
    int code;           /* 200 = yes; never 0: an answer without code is a 500 */
    struct slice msg;   /* may be empty */
    struct slice note;  /* text found in content or data (kill's explanation), may be empty */
    bool clear;         /* an answer of an executor, not a proxy's page, a torn or a foreign text */
    bool array;         /* the Go executor's form of a refusal; body is worth showing as it came */
    bool repeat;        /* refused because the log id is known there */
    char text[160];     /* private: words of ours for msg */
    struct json_t *doc; /* private, owned */
};

/* Never fails: what cannot be understood is code 500 with clear = false and our words in msg.
 * An HTTP status other than 2xx never counts as a yes. Do not copy *ret: msg may point into it. */
void wire_reply_parse(int http_status, struct slice body, struct wire_reply *ret);
void wire_reply_done(struct wire_reply *r);

struct wire_log_page {
    struct wire_reply reply; /* look at reply.code first */
    bool present;            /* content (else data) held a page */
    int from_line, to_line;
    struct slice content;
    bool is_end; /* false if absent */
};

/* max bounds the reply's bytes; a larger one is an unclear reply. Release with wire_log_page_done.
 */
void wire_log_page_parse(int http_status, struct slice body, size_t max, struct wire_log_page *ret);
void wire_log_page_done(struct wire_log_page *p);

#endif
