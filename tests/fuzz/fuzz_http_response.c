/* SPDX-License-Identifier: Apache-2.0 */
/* As fuzz_http_request, for answers: the end of the stream is part of the input. */
#include "fuzz_http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    fuzz_both_ways(HTTP_RESPONSE, data[0], (const char *)data + 1, size - 1);
    return 0;
}
