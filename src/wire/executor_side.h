/* SPDX-License-Identifier: Apache-2.0 */
/* executor_side.h - the executor's end of /beat, /idleBeat, /run, /kill and /log, for our own
 * executor: reads what centers of any release (and careless tools) send, writes what each of them
 * understands. texts.h has the sentences.
 *
 * Pure; slices borrow from the request text or from the parsed object and are valid while both
 * live. */
#ifndef PEAL_WIRE_EXECUTOR_SIDE_H
#define PEAL_WIRE_EXECUTOR_SIDE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"
#include "wire/arena.h"

struct json_t;

#define WIRE_REQUEST_MAX (5u << 20) /* bytes of a request: the original's limit */

enum wire_action {
    WIRE_REFUSED, /* the reply is written */
    WIRE_BEAT,
    WIRE_IDLE_BEAT,
    WIRE_RUN,
    WIRE_KILL,
    WIRE_LOG,
};

/* The checks that stand before every action, in the original's order: method, empty target, token,
 * target (compared whole, query included). token_ok: the caller's comparison, true if no token is
 * configured. On WIRE_REFUSED the body of the answer (HTTP 200) is appended to reply. */
enum wire_action wire_action_of(struct slice method, struct slice target, bool token_ok,
                                struct buf *reply);

enum wire_block {
    WIRE_BLOCK_SERIAL, /* also for unknown names */
    WIRE_BLOCK_DISCARD,
    WIRE_BLOCK_COVER,
};

struct wire_run_request {
    int64_t job_id, timeout_s, log_id, log_date_ms, glue_update_ms;
    struct slice handler, params, glue_type, glue_source; /* empty if absent */
    enum wire_block block;
    int shard, shard_total;  /* 0 of 1 unless sharded */
    struct json_t *doc;      /* private, owned; NULL after the short cut */
    struct wire_arena arena; /* private */
};

/* On failure *ret is untouched and why names the field and the rule: answer
 * wire_reply_error(500, WIRE_TEXT_REQUEST_ERROR + why). logId, when absent, is 0, as is jobId. */
MUST_CHECK enum err wire_run_request_parse(struct slice body, struct wire_run_request *ret,
                                           struct why *why);
/* The same without the short cut for bodies as centers write them: the reference for tests. */
MUST_CHECK enum err wire_run_request_parse_slowly(struct slice body, struct wire_run_request *ret,
                                                  struct why *why);
void wire_run_request_done(struct wire_run_request *r);

/* Body of /idleBeat and /kill. An object without jobId means job 0. */
MUST_CHECK enum err wire_job_request_parse(struct slice body, int64_t *ret_job_id, struct why *why);

struct wire_log_request {
    int64_t log_id, log_date_ms;
    int from_line; /* as sent */
};
MUST_CHECK enum err wire_log_request_parse(struct slice body, struct wire_log_request *ret,
                                           struct why *why);

/* Success with a sentence, in msg, content and data: each release of the center shows another one.
 */
void wire_reply_note(struct buf *out, struct slice note);
/* A page of a log, in content for centers up to 3.2 and in data for later ones. */
void wire_log_page_reply(struct buf *out, int from_line, int to_line, struct slice content,
                         bool is_end);

#endif
