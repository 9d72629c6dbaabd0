/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are as many lines as they have line feeds, and one for a rest; each line is UTF-8, and
 * at most three times as long as it may have come. */
#include "fuzz.h"
#include "wire/log_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct log_lines l;
    struct slice line, text = slice_of((const char *)data, size);
    size_t n = 0, wanted = size && data[size - 1] != '\n';
    for (size_t i = 0; i < size; i++)
        wanted += data[i] == '\n';
    log_lines_begin(&l, text);
    while (log_lines_next(&l, &line)) {
        n++;
        CHECK(utf8_valid(line.p, line.n));
        CHECK(line.n <= 3 * LOG_LINE_MAX + 64);
    }
    CHECK(n == wanted);
    log_lines_done(&l);
    return 0;
}
