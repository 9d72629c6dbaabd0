/* SPDX-License-Identifier: Apache-2.0 */
/* Where the processor has an instruction for it, eight bytes at a time; else bits are taken four at
 * a time from a table of 16 words: about 200 MB/s, more than the disks whose files it guards, and
 * the table needs neither a program to make it nor a first call. */
#include "base/crc32c.h"
#include <string.h>

static uint32_t by_table(uint32_t crc, const unsigned char *at, size_t n)
{
    /* table[i]: i through four steps of the reflected polynomial 0x82f63b78 */
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    while (n--) {
        crc ^= *at++;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t by_machine(uint32_t crc, const unsigned char *at,
                                                             size_t n)
{
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t eight;
        memcpy(&eight, at, sizeof(eight));
        crc = (uint32_t)__builtin_ia32_crc32di(crc, eight);
    }
    while (n--)
        crc = __builtin_ia32_crc32qi(crc, *at++);
    return crc;
}

static int machine_has_it(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#else
#define by_machine by_table
static int machine_has_it(void)
{
    return 0;
}
#endif

uint32_t crc32c(uint32_t crc, const void *p, size_t n)
{
    return ~(machine_has_it() ? by_machine(~crc, p, n) : by_table(~crc, p, n));
}

uint32_t crc32c_by_table(uint32_t crc, const void *p, size_t n)
{
    return ~by_table(~crc, p, n);
}
