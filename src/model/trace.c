/* SPDX-License-Identifier: Apache-2.0 */
/* Three numbers of the generator SplitMix64 (Steele, Lea, Flood 2014), which starts at a mix of key
 * and log id. Tracing systems sample and shard by ids, so they have to look random; they need not
 * be hard to guess. */
#include "model/trace.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(*state);
}

struct trace trace_of(int64_t key, int64_t log_id)
{
    uint64_t state = mix((uint64_t)key) ^ (uint64_t)log_id;
    struct trace t;
    t.id[0] = next(&state);
    t.id[1] = next(&state);
    t.span = next(&state);
    t.id[1] |= t.id[0] == 0 && t.id[1] == 0; /* all zeros mean that there is none */
    t.span |= t.span == 0;
    return t;
}

static char *put_hex(char *to, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    for (int shift = 60; shift >= 0; shift -= 4)
        *to++ = digits[v >> shift & 15];
    return to;
}

void trace_id_text(const struct trace *t, char to[TRACE_ID_SIZE])
{
    to = put_hex(to, t->id[0]);
    to = put_hex(to, t->id[1]);
    *to = '\0';
}

void trace_parent_text(const struct trace *t, char to[TRACE_PARENT_SIZE])
{
    *to++ = '0';
    *to++ = '0';
    *to++ = '-';
    to = put_hex(to, t->id[0]);
    to = put_hex(to, t->id[1]);
    *to++ = '-';
    to = put_hex(to, t->span);
    *to++ = '-';
    *to++ = '0';
    *to++ = '1';
    *to = '\0';
}
