/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of fixed width with dashes between: W3C Trace Context, 3.2.2. */
#include "wire/trace_parent.h"
#include <string.h>

enum { LENGTH = WIRE_TRACE_PARENT_SIZE - 1 };

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* *ret_zero: all of its digits are 0. */
static bool field(const char *p, size_t n, bool *ret_zero)
{
    *ret_zero = true;
    for (size_t i = 0; i < n; i++) {
        if (!is_hex(p[i]))
            return false;
        *ret_zero &= p[i] == '0';
    }
    return true;
}

static bool is_valid(struct slice s)
{
    bool first, trace, parent, flags;
    if (s.n < LENGTH || s.p[2] != '-' || s.p[35] != '-' || s.p[52] != '-')
        return false;
    if (!field(s.p, 2, &first) || !field(s.p + 3, 32, &trace) || !field(s.p + 36, 16, &parent) ||
        !field(s.p + 53, 2, &flags) || trace || parent)
        return false;
    if (memcmp(s.p, "ff", 2) == 0)
        return false;
    return s.n == LENGTH || (!first && s.p[LENGTH] == '-');
}

bool wire_trace_parent(struct slice value, char to[WIRE_TRACE_PARENT_SIZE])
{
    struct slice s = slice_trim(value);
    bool valid = is_valid(s);
    if (valid)
        memcpy(to, s.p, LENGTH);
    to[valid ? LENGTH : 0] = '\0';
    return valid;
}
