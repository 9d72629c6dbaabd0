/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - a run's log as it is written, and its end. */
#ifndef PEAL_CLI_CTL_FOLLOW_H
#define PEAL_CLI_CTL_FOLLOW_H

#include "cli/ctl/ctl.h"

/* Print the lines from that one on until the log has ended. */
enum ctl_exit ctl_follow(struct ctl *c, int64_t run, int64_t from_line);
/* Wait until the run has ended; *ret owned: the run. */
enum ctl_exit ctl_wait(struct ctl *c, int64_t run, json_t **ret);
/* Print the lines that are there, from that one on. */
enum ctl_exit ctl_log_pages(struct ctl *c, int64_t run, int64_t from_line);

#endif
