/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - the thread that looks for states that last, for rules that ask for them: jobs that were
 * not sent in time, groups without executors, executors that are gone, the center itself. It looks
 * at what the center knows every few seconds, so it also finds what does not happen. */
#ifndef PEAL_ALARM_WATCH_H
#define PEAL_ALARM_WATCH_H

#include "server/center.h"

struct watch;

struct watch_config {
    struct center *center;
    struct store *reader; /* taken */
    const char *data;     /* folder, borrowed */
};

/* Of a file system with so many bytes free for the center, of so many: too little? Pure. */
bool watch_disk_low(uint64_t free, uint64_t all);

struct watch *watch_new(const struct watch_config *config);
/* Stops and joins. The center answers no more (center_run has returned). NULL is fine. */
void watch_free(struct watch *w);

#endif
