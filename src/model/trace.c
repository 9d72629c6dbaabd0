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
    struct trace t = { .unsampled = false };
    t.id[0] = next(&state);
    t.id[1] = next(&state);
    t.span = next(&state);
    t.id[1] |= t.id[0] == 0 && t.id[1] == 0; /* all zeros mean that there is none */
    t.span |= t.span == 0;
    return t;
}

struct trace trace_in(const struct trace_root *root, int64_t key, int64_t log_id)
{
    struct trace t = trace_of(key, log_id);
    if (root->kind == TRACE_OWN)
        return t;
    const struct trace first = root->kind == TRACE_OF_RUN ? trace_of(key, (int64_t)root->id[1])
                                                          : (struct trace){ .span = 0 };
    const uint64_t *id = root->kind == TRACE_OF_RUN ? first.id : root->id;
    t.id[0] = id[0];
    t.id[1] = id[1];
    t.unsampled = root->kind == TRACE_UNSAMPLED;
    return t;
}

struct trace_root trace_from(const struct trace_root *root, int64_t log_id)
{
    if (root->kind != TRACE_OWN)
        return *root;
    return (struct trace_root){ { 0, (uint64_t)log_id }, TRACE_OF_RUN };
}

static uint64_t digit(char c)
{
    return (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

struct trace_root trace_given(const char *parent)
{
    enum { ID = 3, HALF = 16, FLAGS_LOW = 54 };
    struct trace_root r = { { 0, 0 }, TRACE_GIVEN };
    for (int i = 0; i < 2 * HALF; i++)
        r.id[i / HALF] = r.id[i / HALF] << 4 | digit(parent[ID + i]);
    if (!(digit(parent[FLAGS_LOW]) & 1))
        r.kind = TRACE_UNSAMPLED;
    return r;
}

struct trace_root trace_kept(int64_t kind, int64_t high, int64_t low)
{
    bool known = kind >= TRACE_GIVEN && kind <= TRACE_OF_RUN && (high || low);
    if (!known)
        return (struct trace_root){ .kind = TRACE_OWN };
    return (struct trace_root){ { (uint64_t)high, (uint64_t)low }, (enum trace_kind)kind };
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
    *to++ = t->unsampled ? '0' : '1';
    *to = '\0';
}
