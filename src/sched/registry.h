/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - what has registered: apps and their addresses. */
#ifndef PEAL_SCHED_REGISTRY_H
#define PEAL_SCHED_REGISTRY_H

#include "sched/sched.h"

struct lane;

#define ADDRESSES_MAX 10000 /* of one app, or listed by hand for one group */
/* What executors may add; what stands in the database counts, and is read whatever it comes to. */
#define REGISTERED_MAX 100000 /* addresses in all */
#define NAMES_MAX 1000        /* apps of which no group knows */

struct registered {    /* one address of an app */
    struct lane *lane; /* counted */
    int64_t beat_ms;   /* boot */
    int64_t stored_ms; /* boot: when update_time was last written */
    uint64_t noted;    /* the last batch in which this center writes it; 0: none */
    uint64_t look;     /* the last of registry_heard that had it */
};

struct app {
    char *name;
    struct registered *addresses; /* sorted as Java sorts text: by bytes */
    int n;
    uint8_t list_no;    /* goes up with each change of them */
    struct list groups; /* by their node of_app */
};

struct app *app_get(struct sched *s, struct slice name);
void app_forget(struct sched *s, struct app *app); /* unless it has addresses or groups */
/* Where the address stands or would stand in the sorted list. */
int app_place(const struct app *app, struct slice address, bool *ret_there);
void registry_free(struct sched *s);

/* As sched.h has them. */
bool registry_add(struct sched *s, struct now now, struct slice app_name, struct slice address,
                  bool ours);
void registry_remove(struct sched *s, struct now now, struct slice app_name, struct slice address);
bool registry_forget(struct sched *s, struct now now, struct slice address);
void registry_load(struct sched *s, struct now now, const struct registry_record *r);
bool registry_heard(struct sched *s, struct now now, const struct registry_record *rows, int n,
                    uint64_t seq);
void registry_sweep(struct sched *s, struct now now);
/* The process stood still: no beat can have come in that time. */
void registry_paused(struct sched *s, struct now now, int64_t ms);

#endif
