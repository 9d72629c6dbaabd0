/* SPDX-License-Identifier: Apache-2.0 */
/* zones.h - time zones by name, read from the system's tzdata and kept.
 *
 * A zone is read once and looked at again (inode, size, mtime of its file) when it is asked for and
 * the last look is more than a few seconds old; a file that changed gives a new zone, while whoever
 * holds the old one keeps it. The whole table takes one lock, held over file reads of a few KiB:
 * ask at configuration time, not on the fire path. Any thread. */
#ifndef PEAL_SERVER_ZONES_H
#define PEAL_SERVER_ZONES_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "cron/zone.h"
#include <stdbool.h>

struct zones; /* opaque */

enum { ZONES_NAME_MAX = 64 }; /* bytes of a zone's name */

/* dir NULL: the environment's TZDIR, else /usr/share/zoneinfo. Reads nothing yet. */
struct zones *zones_new(const char *dir);
void zones_free(struct zones *z); /* NULL is fine */

/* The zone of that name; the caller owns one count of *ret. "" means the machine's own zone: TZ
 * (refused when it is no name of a zone), else what /etc/localtime links to, else /etc/timezone,
 * else UTC. "UTC" works without tzdata.
 * ERR_INVALID: no name of a zone (absolute, "..", odd characters); ERR_NOTFOUND: no such file;
 * ERR_CORRUPT, ERR_IO: there is one but it cannot be used. */
MUST_CHECK enum err zones_get(struct zones *z, const char *name, struct zone **ret,
                              struct why *why);
/* Each zone that there is, by name, with its offset at that instant (seconds east of UTC); "UTC"
 * too. Reads the files of tzdata, some milliseconds, unless it did so less than a minute ago. */
typedef void zones_fn(void *ctx, const char *name, int east_s);
void zones_each(struct zones *z, int64_t now_s, zones_fn *fn, void *ctx);
/* Look at all files now. Returns how many zones changed: their jobs need a new next scheduled time.
 * A file that went away or broke keeps its old zone. */
int zones_refresh(struct zones *z);
/* Name of the machine's own zone, found as zones_get("") does; "UTC" if there is none. */
void zones_local_name(char name[ZONES_NAME_MAX + 1]);

#endif
