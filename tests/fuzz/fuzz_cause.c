/* SPDX-License-Identifier: Apache-2.0 */
/* Any message folds into one short line without digits, blanks at its begin or control characters,
 * and UTF-8 stays UTF-8. */
#include "fuzz.h"
#include "model/cause.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char to[CAUSE_TEXT_MAX + 1];
    struct slice message = slice_of((const char *)data, size);
    cause_fold(message, to, sizeof(to));
    size_t n = strlen(to);
    CHECK(n <= CAUSE_TEXT_MAX && to[0] != ' ');
    for (size_t i = 0; i < n; i++)
        CHECK((unsigned char)to[i] >= ' ' && to[i] != 0x7f && !(to[i] >= '0' && to[i] <= '9'));
    CHECK(!utf8_valid(message.p, message.n) || utf8_valid(to, n));
    return 0;
}
