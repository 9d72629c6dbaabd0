/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - a call to an executor as a plain struct: what the scheduling core asks for, and what a
 * transport (src/transport) says came of it. The address is opaque text: the core compares it, a
 * transport knows what it means. */
#ifndef PEAL_MODEL_CALL_H
#define PEAL_MODEL_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"
#include "model/trace.h"

struct job;

enum call_kind { CALL_RUN, CALL_BEAT, CALL_IDLE, CALL_LOG, CALL_KILL };

struct call {
    enum call_kind kind;
    const char *address; /* of the lane; borrowed, as job and param */
    int64_t log_id;      /* 0 for a lane's own beat */
    uint32_t ticket;     /* to be given back */
    int64_t job_id;
    int64_t group_id;       /* whose call it is; of a beat: one that lists the address; 0: none */
    const char *token;      /* by the driver: access token; NULL: the transport's. Borrowed */
    struct trace_root root; /* the trace that its run belongs to */
    struct trace trace;     /* by the driver: of its run; all 0: it is about none */
    /* for RUN */
    struct job *job;
    const char *param;
    int32_t shard, shard_total, attempt;
    int64_t scheduled_ms, due_ms;
    int64_t log_time_ms; /* logDateTime of RUN and LOG: see run_log_ms */
    uint32_t idle;       /* for LOG: the ticket of the idleBeat whose answer it follows */
};

/* What is proved about delivery. */
enum call_outcome {
    CALL_ANSWERED,
    CALL_NOT_SENT, /* nothing of it can have been delivered, and the address is to blame */
    CALL_IN_DOUBT, /* timed out, or the connection died after its first byte had left. It has been
                    * reset before the core is told: reconciliation counts on that */
    CALL_FOREIGN,  /* the peer speaks another protocol; msg says which is expected */
    CALL_FULL,     /* not even tried: the client has no connection or descriptor left for it now.
                    * Nothing is known about the address */
    CALL_UNFIT,    /* not even tried: this call can be made to no address; msg says why */
    CALL_AGAIN,    /* nothing of it left, and nothing is known about the address: leaving said no,
                    * or a kept connection broke right after the yes. To be decided anew */
};

enum log_state { LOG_CANNOT_TELL, LOG_NONE, LOG_STARTED, LOG_ENDED };

struct call_result {
    /* whose: as in the call */
    enum call_kind kind;
    int64_t log_id;
    uint32_t ticket;
    const char *address;
    /* what a transport says */
    enum call_outcome outcome;
    int code;           /* of the reply's body */
    bool repeat;        /* its message begins with "repeat" */
    struct slice msg;   /* for people */
    int64_t sent_us;    /* epoch: when its first byte left; 0: not known */
    int64_t took_us;    /* from then to the answer; 0: not known */
    enum log_state log; /* for LOG */
};

#endif
