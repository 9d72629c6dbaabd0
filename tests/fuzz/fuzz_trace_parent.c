/* SPDX-License-Identifier: Apache-2.0 */
/* Any value of traceparent is refused, or leaves one that is taken again as it is. */
#include <string.h>
#include "fuzz.h"
#include "wire/trace_parent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char one[WIRE_TRACE_PARENT_SIZE], two[WIRE_TRACE_PARENT_SIZE];
    bool taken = wire_trace_parent(slice_of((const char *)data, size), one);
    CHECK(strlen(one) == (taken ? WIRE_TRACE_PARENT_SIZE - 1 : 0));
    if (taken && memcmp(one, "00", 2) == 0) {
        CHECK(wire_trace_parent(slice_text(one), two) && strcmp(one, two) == 0);
    }
    return 0;
}
