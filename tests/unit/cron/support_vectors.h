/* SPDX-License-Identifier: Apache-2.0 */
/* support_vectors.h - reads the tab-separated files of tests/vectors (see their README). */
#ifndef PEAL_TESTS_SUPPORT_VECTORS_H
#define PEAL_TESTS_SUPPORT_VECTORS_H

#include "base/str.h"
#include "cron/cron.h"
#include "cron/zone.h"

enum { VECTOR_COLUMNS = 8 };

struct vector {
    int line;
    size_t n;
    struct slice column[VECTOR_COLUMNS];
    char text[2048]; /* column 0, its escapes resolved */
    size_t text_len;
};

/* Call each for every line of tests/vectors/<file>; the test fails if there are not `lines`. */
void vectors_each(const char *file, int lines, void (*each)(struct vector *v));

/* A zone of /usr/share/zoneinfo (or TZDIR), read once and kept. Fails the test if absent. */
struct zone *vector_zone(struct slice name);
int64_t vector_ms(struct slice rfc3339);

/* Up to `count` scheduled times after from_ms as the vectors write them: "1,2,3", "-" for none. */
void times_text(const struct cron *c, const struct zone *z, enum dst_policy dst, int64_t from_ms,
                int count, char *to, size_t size);

#endif
