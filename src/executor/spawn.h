/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.h - a program as a child of the calling thread, under limits.
 *
 * posix_spawn can set neither a user nor limits, and a helper program between would cost a second
 * exec; so this is vfork with a child that does nothing but system calls. The child leads a process
 * group; it reads from /dev/null, and all descriptors but its output end with the exec; it dumps no
 * core, gains no privileges, and is killed when the calling thread ends. Any thread. */
#ifndef PEAL_EXECUTOR_SPAWN_H
#define PEAL_EXECUTOR_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct limits;

struct spawn {
    const char *path;  /* spawn_find */
    char *const *argv; /* ends in NULL */
    char *const *envp; /* ends in NULL */
    int output;        /* becomes standard output and error; -1: /dev/null */
    const struct limits *limits;
};

/* Where a program is: as it stands if it has a slash, else the first in the limits' PATH that their
 * user can execute. False: nowhere. */
bool spawn_find(const struct limits *l, const char *program, char *to, size_t size);
/* 0 with the child's number, or the errno of what failed; *stage then names it in words. */
int spawn(const struct spawn *s, pid_t *ret, const char **stage);

#endif
