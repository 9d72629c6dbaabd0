/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a program that is an executor: settings, signals, messages to people.
 *
 * peal_executor_run is one, `peal executor` another. Not to be called where other threads run. */
#ifndef PEAL_EXECUTOR_LIB_PROGRAM_H
#define PEAL_EXECUTOR_LIB_PROGRAM_H

#include "base/config.h"
#include "executor/lib/embed.h"

struct program {
    const char *name; /* "peal executor": before complaints */
    const char *head; /* of --help; the settings follow */
    const char *tail; /* and then this */
    const struct config_table *table;
    /* Add the handlers; the settings are read. ERR_* with why. */
    enum err (*add)(struct peal_executor *e, const struct config *c, const void *arg,
                    struct why *why);
    const void *arg;
    const char *(*hint)(struct slice handler); /* executor.h; may be NULL */
};

enum { PROGRAM_DONE = 0, PROGRAM_USAGE = 2, PROGRAM_FAILED = 3 };

/* Until it is stopped; the exit status. */
int program_run(const struct program *p, int argc, char **argv);

#endif
