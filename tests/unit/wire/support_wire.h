/* SPDX-License-Identifier: Apache-2.0 */
/* Test data of the wire: lines of tab-separated fields, recorded from real clients. */
#ifndef TEST_SUPPORT_WIRE_H
#define TEST_SUPPORT_WIRE_H

#include "base/str.h"

#define MAX_FIELDS 10

struct line {
    struct slice field[MAX_FIELDS];
    size_t n;
};

/* Calls each for every line that is not a comment; returns how many there were. */
size_t each_line(const char *file, void (*each)(const struct line *line));

#endif
