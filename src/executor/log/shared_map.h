/* SPDX-License-Identifier: Apache-2.0 */
/* shared_map.h - which parts of a day's shared file can hold the record of a log id.
 *
 * Centers count their log ids up, so a part of SHARED_BLOCK bytes holds ids of a narrow range. The
 * map remembers the smallest and the largest of each part: 16 bytes in memory, learned by reading
 * the file once, and then what was appended. A search reads only the parts whose range has the id;
 * an id that is in no file costs next to nothing. Ids without any order make it as slow as a search
 * without a map, never wrong. Thread: one at a time. */
#ifndef PEAL_EXECUTOR_LOG_SHARED_MAP_H
#define PEAL_EXECUTOR_LOG_SHARED_MAP_H

#include <sys/types.h>
#include "executor/log/shared.h"

enum { SHARED_BLOCK = 256 << 10, SHARED_MAP_DAYS = 4 };

struct shared_block {
    int64_t min, max; /* of the ids of lines that begin in it; min > max: none */
};

struct shared_map { /* embed it, zeroed */
    struct shared_day {
        dev_t dev;
        ino_t ino;
        char first[64]; /* bytes of the file: its number may be another file's by now */
        size_t nfirst;
        int64_t covered; /* bytes read */
        bool within;     /* covered lies in a line that is too long for a record */
        uint64_t used;   /* number of the last search */
        struct shared_block *blocks;
        size_t n, cap;
    } days[SHARED_MAP_DAYS];
    uint64_t searches;
};

void shared_map_done(struct shared_map *m);
/* As shared_find, by the map. */
bool shared_map_find(struct shared_map *m, int fd, int64_t log_id, struct buf *to);

#endif
