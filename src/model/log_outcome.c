/* SPDX-License-Identifier: Apache-2.0 */
/* The columns are XXL-JOB's, and tell success from failure; what kind of failure it was stands in
 * the beginning of the message, which the center wrote itself. */
#include "model/log_outcome.h"
#include <string.h>

const char *log_outcome_text(enum log_outcome s)
{
    static const char *const texts[LOG_OUTCOMES] = {
        "open", "succeeded", "failed", "timed_out", "killed", "lost", "rejected", "unroutable"
    };
    return texts[s];
}

static bool begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

enum log_outcome log_outcome_of(enum phase phase, int trigger_code, const char *trigger_msg,
                                int handle_code, const char *handle_msg)
{
    if (phase_open(phase))
        return LOG_OPEN;
    if (phase == PHASE_LOST || begins(handle_msg, "lost: "))
        return handle_code == 200 ? LOG_SUCCEEDED : LOG_LOST;
    if (handle_code == 200)
        return LOG_SUCCEEDED;
    if (begins(handle_msg, "killed by a user") || begins(handle_msg, "withdrawn: killed by a user"))
        return LOG_KILLED;
    if (begins(handle_msg, "withdrawn: ") || begins(handle_msg, "skipped: "))
        return LOG_REJECTED;
    if (handle_code)
        return handle_code == 502 ? LOG_TIMED_OUT : LOG_FAILED;
    if (trigger_code == 0 || trigger_code == 200)
        return LOG_LOST; /* another program has removed the live row */
    return begins(trigger_msg, NO_EXECUTOR_TEXT) ? LOG_UNROUTABLE : LOG_REJECTED;
}
