/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - under which ids a run stands in a tracing system (W3C Trace Context). Pure.
 *
 * They follow from the log id and a random number of the database, so nothing is stored for them,
 * and a run has the same ones whenever it is asked. Other systems keep them: the same in every
 * release. */
#ifndef PEAL_MODEL_TRACE_H
#define PEAL_MODEL_TRACE_H

#include <stdint.h>

#define TRACE_ID_SIZE 33     /* its text, with the NUL */
#define TRACE_PARENT_SIZE 56 /* of the header's value */

struct trace {
    uint64_t id[2]; /* of the trace: never both 0 */
    uint64_t span;  /* of the run within it: never 0 */
};

struct trace trace_of(int64_t key, int64_t log_id);
/* 32 lower-case digits. */
void trace_id_text(const struct trace *t, char to[TRACE_ID_SIZE]);
/* The value of traceparent: version 00, sampled. */
void trace_parent_text(const struct trace *t, char to[TRACE_PARENT_SIZE]);

#endif
