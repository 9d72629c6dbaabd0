/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - what people call a job, a group, a server or a channel, as an id. */
#ifndef PEAL_CLI_CTL_NAMES_H
#define PEAL_CLI_CTL_NAMES_H

#include "cli/ctl/ctl.h"

/* A job by its id, or by its whole name. CTL_NOT_FOUND: the nearest names have been told;
 * CTL_CONFLICT: several jobs have the name, and their ids have been told. */
enum ctl_exit ctl_job_id(struct ctl *c, const char *word, int64_t *ret);
/* A group by its id or app name. */
enum ctl_exit ctl_group_id(struct ctl *c, const char *word, int64_t *ret);
/* A channel of alarms by its id or name. CTL_FAILED: it is one of the server's settings, told. */
enum ctl_exit ctl_channel_id(struct ctl *c, const char *word, int64_t *ret);
/* A server by its id or name. */
enum ctl_exit ctl_node_id(struct ctl *c, const char *word, int64_t *ret);
/* A run's id. CTL_USAGE behind a complaint. */
enum ctl_exit ctl_run_id(const struct ctl *c, const char *word, int64_t *ret);

#endif
