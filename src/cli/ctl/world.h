/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - a center's groups and jobs, all of them, by the names that files have for them. */
#ifndef PEAL_CLI_CTL_WORLD_H
#define PEAL_CLI_CTL_WORLD_H

#include "cli/ctl/ctl.h"

enum { WORLD_ITEMS_MAX = 100000 };

struct world {
    json_t *groups; /* app name -> group, or true: several have it */
    json_t *jobs;   /* app name -> name -> job, or true: several have it */
    json_t *by_id;  /* "42" -> job */
};

enum ctl_exit world_load(struct ctl *c, struct world *ret);
void world_done(struct world *w);

/* NULL: there is none; true: several. Borrowed. */
const json_t *world_group(const struct world *w, const char *app);
const json_t *world_job(const struct world *w, const char *app, const char *name);
const json_t *world_job_by_id(const struct world *w, int64_t id);
/* The source of the job's script now, owned; NULL with CTL_DONE: it has none. */
enum ctl_exit world_script(struct ctl *c, const json_t *job, json_t **ret);

#endif
