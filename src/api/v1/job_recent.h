/* SPDX-License-Identifier: Apache-2.0 */
/* job_recent.h - how a job's last runs are written. Private to src/api. */
#ifndef PEAL_API_V1_JOB_RECENT_H
#define PEAL_API_V1_JOB_RECENT_H

#include "base/jsonw.h"
#include "model/job_stat.h"

/* "recent": its last runs that ended, oldest first. */
void job_recent_write(struct jsonw *w, const struct job_stat *stat);
/* "streak": its failures in a row; null if the last run succeeded, or none ended. */
void job_streak_write(struct jsonw *w, const struct job_stat *stat);

#endif
