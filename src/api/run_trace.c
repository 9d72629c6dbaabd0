/* SPDX-License-Identifier: Apache-2.0 */
/* A traceparent that cannot be read is ignored, as W3C Trace Context wants it: a request is never
 * refused for it. */
#include "api/run_trace.h"
#include "wire/trace_parent.h"

struct trace_root run_trace_asked(const struct web_call *call)
{
    char parent[WIRE_TRACE_PARENT_SIZE];
    if (!wire_trace_parent(call->traceparent, parent))
        return (struct trace_root){ .kind = TRACE_OWN };
    return trace_given(parent);
}

struct trace_root run_trace_of(struct web_call *call, int64_t log_id)
{
    struct trace_root root;
    struct why why = { "" };
    if (call->db->ops->pages->trace_get(call->db, log_id, &root, &why))
        root = (struct trace_root){ .kind = TRACE_OWN };
    return root;
}

struct center_log_of run_trace_log_of(struct web_call *call, const struct log_record *r)
{
    return (struct center_log_of){ .group_id = r->group_id,
                                   .log_id = r->id,
                                   .trigger_ms = r->trigger_ms,
                                   .address = r->address,
                                   .trace = run_trace_of(call, r->id) };
}
