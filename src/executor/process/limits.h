/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - as whom, with what and how far scripts and commands may go.
 *
 * Looked up once, before they are needed: between the fork and the exec of a child nothing can be.
 * Thread: made on one, then constant and any. */
#ifndef PEAL_EXECUTOR_PROCESS_LIMITS_H
#define PEAL_EXECUTOR_PROCESS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/why.h"

struct limits_config { /* peal.executor.glue.*; texts borrowed, NULL is as "" */
    const char *user;  /* empty: the executor's own */
    const char *env;   /* names of variables that are passed on too, comma separated */
    int64_t time_ms;   /* 0: no limit, here and below */
    int64_t memory;    /* bytes of address space, each process */
    int processes;     /* of the user, wherever they come from: the kernel counts no other way */
    int files;         /* open at a time, each process */
};

struct limits {
    bool change_user; /* to what follows; else uid and gid are the executor's own */
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* owned */
    int ngroups;
    char *home;  /* owned; a different user begins there */
    char **env;  /* owned, "NAME=value", ends in NULL */
    size_t nenv; /* without the NULL */
    int64_t time_ms, memory;
    int processes, files;
    int grace_ms; /* between SIGTERM and SIGKILL */
};

/* ERR_INVALID: no such user, or another user than the executor's and it is not root; ERR_NOMEM. */
MUST_CHECK enum err limits_new(const struct limits_config *c, int grace_ms, struct limits **ret,
                               struct why *why);
void limits_free(struct limits *l);
/* May the user go into this folder, or run this program? False: which says the first on the way
 * that stops it, cut to size. By the mode bits: access lists are not looked at. */
bool limits_may_use(const struct limits *l, const char *path, char *which, size_t size);
/* The value of a variable that children get; NULL: none. */
const char *limits_env(const struct limits *l, const char *name);

#endif
