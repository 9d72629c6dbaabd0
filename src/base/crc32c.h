/* SPDX-License-Identifier: Apache-2.0 */
/* crc32c.h - the checksum of Castagnoli (RFC 3720, appendix B.4), for files that a crash may tear.
 * Finds accidents, not forgers. Pure; any thread. */
#ifndef PEAL_BASE_CRC32C_H
#define PEAL_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Go on from crc, which is 0 at the beginning or the result for the bytes before. */
uint32_t crc32c(uint32_t crc, const void *p, size_t n);
/* The same without the processor's help: what the test holds the other against. */
uint32_t crc32c_by_table(uint32_t crc, const void *p, size_t n);

#endif
