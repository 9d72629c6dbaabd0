/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - from files to a list of steps: what a center lacks of what they say. */
#ifndef PEAL_CLI_CTL_PLAN_H
#define PEAL_CLI_CTL_PLAN_H

#include "cli/ctl/world.h"

/* ---- files (desired.c) ----------------------------------------------------------------------- */

enum { DESIRED_FILES_MAX = 1000 };

struct desired_item {
    const json_t *want; /* the group or job, of a document */
    char *where;        /* owned: "FILE: /jobs/3" */
};

struct desired {
    json_t *documents;
    json_t *names; /* private */
    struct desired_item *groups, *jobs;
    size_t ngroups, njobs;
};

/* A file, or the files of a folder that end in .json, by name. CTL_USAGE behind a complaint. */
enum ctl_exit desired_read(const struct ctl *c, const char *path, struct desired *ret);
void desired_done(struct desired *d);

/* ---- steps (plan.c) -------------------------------------------------------------------------- */

enum step_kind {
    STEP_GROUP_MAKE,
    STEP_GROUP_CHANGE,
    STEP_JOB_MAKE,
    STEP_JOB_CHANGE,
    STEP_JOB_DELETE
};

struct step {
    enum step_kind kind;
    const char *where; /* of its item; "": of none */
    const char *app, *name;
    const json_t *want, *have; /* borrowed; NULL: none */
    json_t *body;              /* what is sent; NULL: the thing itself stays */
    json_t *changes;           /* pointers of the members that change */
    json_t *firings;           /* of the next 24 h: what vanishes, appears, moves; NULL: none do */
    bool children, script;     /* these change, too */
    const char *act;           /* "start", "stop" or NULL */
    int64_t id;                /* of the job or group; set when it is made */
};

struct plan {
    struct step *steps;
    size_t n, room, same;
};

/* The steps in the order in which they are done. */
enum ctl_exit plan_make(struct ctl *c, const struct desired *d, const struct world *w, bool prune,
                        struct plan *ret);
void plan_done(struct plan *p);
/* Ids of a job's children; NULL: one of them is not there (yet). Owned. */
json_t *plan_children(const struct world *w, const json_t *want);

/* ---- looked at (plan_check.c) ---------------------------------------------------------------- */

/* Let the center look at each step by all rules, and count firings. Each fault is told; the status
 * of the first. */
enum ctl_exit plan_check(struct ctl *c, struct plan *p, const struct world *w);
/* Tell what would be done. */
void plan_print(const struct ctl *c, const struct plan *p);
/* Ask for one step's thing. dry: change nothing. *ret_id: of what was made. */
enum ctl_exit step_ask(struct ctl *c, struct step *s, const struct world *w, bool dry);

#endif
