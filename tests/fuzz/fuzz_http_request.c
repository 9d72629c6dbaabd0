/* SPDX-License-Identifier: Apache-2.0 */
/* Any cut of the input into reads gives the same requests, and what is accepted is framed as one
 * reader of the whole would frame it. The first byte seeds the cuts. */
#include "fuzz_http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    fuzz_both_ways(HTTP_REQUEST, data[0], (const char *)data + 1, size - 1);
    return 0;
}
