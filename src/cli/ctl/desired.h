/* SPDX-License-Identifier: Apache-2.0 */
/* desired.h - groups, jobs, channels, rules and users of files, as a center shall have them. */
#ifndef PEAL_CLI_CTL_DESIRED_H
#define PEAL_CLI_CTL_DESIRED_H

#include "cli/ctl/ctl.h"

enum { DESIRED_FILES_MAX = 1000 };

enum {
    DESIRED_GROUPS,
    DESIRED_JOBS,
    DESIRED_CHANNELS,
    DESIRED_RULES,
    DESIRED_USERS,
    DESIRED_LISTS
};
extern const char *const desired_lists[DESIRED_LISTS]; /* "groups" */

struct desired_item {
    const json_t *want; /* the group, say, of a document */
    char *where;        /* owned: "FILE: /jobs/3" */
};

struct desired {
    json_t *documents;
    json_t *names; /* private */
    struct desired_item *items[DESIRED_LISTS];
    size_t n[DESIRED_LISTS];
};

/* A file, or the files of a folder that end in .json, by name. CTL_USAGE behind a complaint. */
enum ctl_exit desired_read(const struct ctl *c, const char *path, struct desired *ret);
void desired_done(struct desired *d);

#endif
