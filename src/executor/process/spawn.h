/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.h - a program as a child of the fork server, under limits.
 *
 * posix_spawn can set neither a user nor limits, and a helper program between would cost a second
 * exec; so this is vfork with a child that does nothing but system calls. The child leads a process
 * group; it reads from /dev/null, and all descriptors but its output end with the exec; it dumps no
 * core, gains no privileges, and is killed when the fork server ends. spawn is the server's, the
 * others are for any thread of the executor (isolate.h has the way between the two). */
#ifndef PEAL_EXECUTOR_PROCESS_SPAWN_H
#define PEAL_EXECUTOR_PROCESS_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct limits;

struct spawn {
    const char *path;  /* spawn_find */
    char *const *argv; /* ends in NULL */
    char *const *envp; /* ends in NULL */
    const struct limits *limits;
};

enum spawn_stage {
    SPAWN_PROCESS,
    SPAWN_FILES,
    SPAWN_LIMITS,
    SPAWN_USER,
    SPAWN_TIES,
    SPAWN_EXEC,
    SPAWN_STAGES
};

/* Where a program is: as it stands if it has a slash, else the first in the limits' PATH that their
 * user can execute. False: nowhere. */
bool spawn_find(const struct limits *l, const char *program, char *to, size_t size);
/* In the fork server. output becomes standard output and error; born(arg, pid) is called in the
 * child before the program begins, and may only make system calls. 0 with the child's number, or
 * the errno of what failed, with *stage. */
int spawn(const struct spawn *s, int output, void (*born)(void *arg, pid_t pid), void *arg,
          pid_t *ret, enum spawn_stage *stage);
/* What failed, in words; a borrowed text, path if it was the program itself. */
const char *spawn_stage_text(enum spawn_stage stage, const char *path);

/* All of s in a file without a name, for another process: its descriptor, or -1 with errno. */
int spawn_pack(const struct spawn *s);
/* The same on the other side; fd stays the caller's. NULL with errno. One allocation: free(). */
struct spawn *spawn_unpack(int fd);

#endif
