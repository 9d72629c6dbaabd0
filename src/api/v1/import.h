/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - a file of groups, jobs, channels, rules and users as one change: what there is lacks
 * of it, as steps. Private to src/api; a worker's thread, blocks on the store.
 *
 * import_world.c knows what there is, by names; import_plan.c makes the steps; import_tree.c knows
 * which jobs follow which; import_alarms.c and import_users.c have the steps of what the scheduler
 * does not know, import_write.c writes these; import.c is the operation. */
#ifndef PEAL_API_V1_IMPORT_H
#define PEAL_API_V1_IMPORT_H

#include "api/front.h"
#include "api/job_rules.h"
#include "base/jsonw.h"
#include "base/map.h"
#include "model/channel.h"
#include "model/rule.h"
#include <jansson.h>

#define IMPORT_STEPS_MAX 10000 /* of one import */
#define IMPORT_JOBS_MAX 100000 /* names of jobs that it looks at */

enum import_list { IMPORT_GROUPS, IMPORT_JOBS, IMPORT_CHANNELS, IMPORT_RULES, IMPORT_USERS };
extern const char *const import_lists[]; /* "groups" */

enum import_action { IMPORT_MAKE, IMPORT_CHANGE, IMPORT_DELETE };

struct import_child { /* of a job as it shall be */
    int64_t id;       /* 0: it is made: */
    int item;         /* of the file's jobs */
};

struct import_step {
    bool of_job;
    enum import_action action;
    int item;         /* in its list of the file; -1: no file names the thing */
    int64_t id;       /* 0: it is made */
    char *app, *name; /* owned; name NULL: of a group */
    json_t *changes;  /* pointers of members; owned */
    struct edit *edit;
    struct job_record was, now;    /* of a job; was without id: it is made */
    int group_step;                /* that makes its group; -1: it is there */
    struct import_child *children; /* as they shall be, if the file says; owned */
    int nchildren;
    bool says_children;
};

struct import_alarm { /* the step of a channel or a rule */
    bool of_rule;
    int item;                      /* in its list of the file */
    json_t *changes;               /* pointers of members; owned */
    struct channel_record channel; /* as it shall be; id 0: it is made */
    struct rule_record rule;       /* as it shall be; id 0: it is made */
    const char *app;               /* of the file; NULL: the rule is of all */
    int group_step; /* that makes the rule's group; -1: it is there, or there is none */
    int job_item;   /* of the file's jobs, that makes the rule's job; else -1 */
};

struct import_user {
    int item;        /* in its list of the file */
    json_t *changes; /* pointers of members; owned */
    int64_t id;      /* 0: it is made */
    int64_t version;
    const char *name;      /* of the file */
    struct slice password; /* of the file, of one that is made; p NULL: it has none */
    struct rights rights;  /* as they shall be; a group that is made is import_later of its step */
};

struct import {
    struct web_call *call;
    const json_t *doc;
    const char *remark;
    struct job_rules rules;
    struct problem_errors errors;
    enum problem_kind kind; /* of the first error */
    enum err err;           /* what the store said, in why */
    struct why why;
    json_t *groups;      /* app -> {"id", "jobs": {name: id, or true: several}}, or true: several */
    json_t *file_jobs;   /* app -> {name: its place in the file's jobs} */
    json_t *file_groups; /* app -> number of the step that makes it, or -1 */
    bool prune;
    json_t *pruned; /* apps whose jobs go if the file does not have them */
    int64_t njobs;
    struct import_step *steps;
    int n, room;
    struct import_alarm *alarms;
    int nalarms;
    struct import_user *users;
    int nusers;
    struct channel_record *channels; /* that there are; nchannels */
    struct rule_record *found_rules; /* nrules */
    int nchannels, nrules;
    int64_t same; /* things that are as the file has them */
};

/* ---- import_world.c -------------------------------------------------------------------------- */

enum import_found { IMPORT_NONE, IMPORT_ONE, IMPORT_SEVERAL, IMPORT_FAILED /* err says why */ };

/* All groups that the asker may read. */
MUST_CHECK enum err import_world(struct import *x);
enum import_found import_group(const struct import *x, const char *app, int64_t *ret_id);
enum import_found import_job(struct import *x, const char *app, const char *name, int64_t *ret_id);
/* Names of a group's jobs, with their ids or true; borrowed. NULL: failed, or there is no such
 * group. */
const json_t *import_jobs(struct import *x, const char *app);

/* An error of the thing at /jobs/3, say: place it, then problem_error on x->errors. */
struct problem_errors *import_fault(struct import *x, enum problem_kind kind, enum import_list list,
                                    int item);
/* Has the asker that permission on the group? id 0: one that the import makes. */
bool import_may(const struct import *x, enum permission p, int64_t group_id);

/* Members of want that have does not have like that, as a new object; each stands in changes, with
 * parent ("" or a member) before it. members: only these n; 0: all. */
json_t *import_differ(json_t *changes, const json_t *want, const json_t *have, const char *parent,
                      const char *const *members, size_t n);
void import_note(json_t *changes, const char *parent, const char *name);
bool import_allowed(struct import *x, enum permission p, int64_t group_id, enum import_list list,
                    int item);
/* Has the file at most max of them? */
bool import_fits(struct import *x, enum import_list list, size_t n, size_t max);

/* ---- import_plan.c --------------------------------------------------------------------------- */

/* Compare all of the file; x->errors, x->err tell what is wrong. */
void import_plan(struct import *x);
void import_done(struct import *x);

/* ---- import_alarms.c ------------------------------------------------------------------------- */

/* The steps of channels and rules, behind import_plan's. */
void import_alarms_plan(struct import *x);
void import_alarms_done(struct import *x);

/* ---- import_users.c -------------------------------------------------------------------------- */

/* In place of the id of a group that this step makes, and back; < 0. */
static inline int64_t import_later(int step)
{
    return -1 - (int64_t)step;
}
static inline int import_step_of(int64_t later)
{
    return (int)(-1 - later);
}

/* The steps of users, behind import_plan's. */
void import_users_plan(struct import *x);
void import_users_done(struct import *x);

/* ---- import_write.c -------------------------------------------------------------------------- */

/* The steps of channels, rules and users as one write; counted. ERR_INVALID, ERR_NOMEM: a password
 * could not be hashed. */
struct import_write;
MUST_CHECK enum err import_write_new(struct import *x, struct import_write **ret);
void import_write_unref(struct import_write *w);
struct import_write *import_write_ref(struct import_write *w);
/* The writer's thread: behind all edits that make what these are about. */
MUST_CHECK enum err import_write_run(struct store *s, struct import_write *w, struct why *why);
/* The step that was refused, x->alarms before x->users; -1: none. */
int import_write_failed(const struct import_write *w);
/* Make it by itself: there are no edits. w is unreferenced once. */
MUST_CHECK enum err import_write_do(struct center *c, struct import_write *w, struct why *why);

/* ---- import_tree.c --------------------------------------------------------------------------- */

/* The children that the file says of its job; faults are told. False: there is one. */
bool import_children(struct import *x, struct import_step *s, const json_t *want);
/* The steps that make jobs, so that each comes behind its children; how many. A job that would
 * become its own descendant is told. order: room for x->n. */
int import_order(struct import *x, int *order);
/* The step that makes the job jobs[item] of the file. */
struct import_step *import_maker(struct import *x, int item);

#endif
