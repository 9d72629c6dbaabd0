/* SPDX-License-Identifier: Apache-2.0 */
/* run_trace.h - which trace a run belongs to, for both APIs. Private to src/api; blocks. */
#ifndef PEAL_API_RUN_TRACE_H
#define PEAL_API_RUN_TRACE_H

#include "api/front.h"
#include "model/trace.h"

/* The trace that the request is part of; its own where it says none, or what cannot be read. */
struct trace_root run_trace_asked(const struct web_call *call);
/* That of the run; its own, if the database does not say. */
struct trace_root run_trace_of(struct web_call *call, int64_t log_id);

struct center_log_of;
struct log_record;
/* Of which run to ask the executor for the log; borrows from r. */
struct center_log_of run_trace_log_of(struct web_call *call, const struct log_record *r);

#endif
