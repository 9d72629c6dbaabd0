/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what every fuzzer needs: the entry that libFuzzer calls, and a check that holds in each
 * build. */
#ifndef PEAL_TESTS_FUZZ_H
#define PEAL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
