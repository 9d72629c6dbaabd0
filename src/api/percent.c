/* SPDX-License-Identifier: Apache-2.0 */
/* The one reader of %XX for paths and forms: two readers that disagree about a byte would let a
 * request pass a rule that the other one enforces. */
#include "api/percent.h"

int percent_byte(struct slice s, size_t i)
{
    if (i + 2 >= s.n || s.p[i] != '%')
        return -1;
    int high = hex_digit(s.p[i + 1]), low = hex_digit(s.p[i + 2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}
