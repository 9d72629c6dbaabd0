/* SPDX-License-Identifier: Apache-2.0 */
/* log_outcome.h - what a row of the log says has become of its run. Pure. */
#ifndef PEAL_MODEL_LOG_OUTCOME_H
#define PEAL_MODEL_LOG_OUTCOME_H

#include "model/run.h"

enum log_outcome {
    LOG_OPEN, /* there is a live row, and the run has not ended */
    LOG_SUCCEEDED,
    LOG_FAILED,
    LOG_TIMED_OUT,
    LOG_KILLED,
    LOG_LOST,
    LOG_REJECTED, /* never accepted, or taken back before it ran */
    LOG_UNROUTABLE,
    LOG_OUTCOMES
};

#define LOG_OUTCOME_BIT(s) (1u << (s))
/* States that the indexes over failures have. */
#define LOG_OUTCOMES_FAILED                                                                        \
    ((LOG_OUTCOME_BIT(LOG_OUTCOMES) - 1) &                                                         \
     ~(LOG_OUTCOME_BIT(LOG_OPEN) | LOG_OUTCOME_BIT(LOG_SUCCEEDED)))

#define NO_EXECUTOR_TEXT "no executor is registered for the job's group, and none is listed"

const char *log_outcome_text(enum log_outcome s); /* "timed_out" */

/* phase: of the live row, 0 without one. Messages may be NULL; trigger_msg without the kind. */
enum log_outcome log_outcome_of(enum phase phase, int trigger_code, const char *trigger_msg,
                                int handle_code, const char *handle_msg);

#endif
