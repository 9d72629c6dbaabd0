/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - under which ids a run stands in a tracing system (W3C Trace Context). Pure.
 *
 * They follow from the log id and a random number of the database, so nothing is stored for most
 * runs, and a run has the same ones whenever it is asked. Other systems keep them: the same in
 * every release. What is kept of a run (struct trace_root) is only that it belongs to another
 * trace: that of the request that asked for it, or of the run that it retries or is a child of. */
#ifndef PEAL_MODEL_TRACE_H
#define PEAL_MODEL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_ID_SIZE 33     /* its text, with the NUL */
#define TRACE_PARENT_SIZE 56 /* of the header's value */

struct trace {
    uint64_t id[2]; /* of the trace: never both 0 */
    uint64_t span;  /* of the run within it: never 0 */
    bool unsampled; /* that the request asked for it: nothing of this trace is recorded */
};

enum trace_kind { /* the numbers stand in peal_trace.kind */
                  TRACE_OWN = 0,
                  TRACE_GIVEN = 1,     /* id: of a request */
                  TRACE_UNSAMPLED = 2, /* the same, and it is not recorded */
                  TRACE_OF_RUN = 3     /* that of the run whose log id is id[1] */
};

struct trace_root { /* which trace a run belongs to; all 0: its own */
    uint64_t id[2];
    enum trace_kind kind;
};

struct trace trace_of(int64_t key, int64_t log_id); /* of a run with a trace of its own */
/* The ids of a run that belongs to that trace; its span is its own in any case. */
struct trace trace_in(const struct trace_root *root, int64_t key, int64_t log_id);
/* Of what a run causes: its own root, or the run itself. */
struct trace_root trace_from(const struct trace_root *root, int64_t log_id);
/* Of a value of traceparent that was checked (wire/trace_parent.h). */
struct trace_root trace_given(const char *parent);
/* As it was kept: a kind that no release knows is TRACE_OWN. */
struct trace_root trace_kept(int64_t kind, int64_t high, int64_t low);
/* 32 lower-case digits. */
void trace_id_text(const struct trace *t, char to[TRACE_ID_SIZE]);
/* The value of traceparent: version 00, sampled unless it is not. */
void trace_parent_text(const struct trace *t, char to[TRACE_PARENT_SIZE]);

#endif
