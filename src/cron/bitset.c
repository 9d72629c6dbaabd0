/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over at most 64 values: words are made when somebody reads them, not on the fire path. */
#include "cron/bitset.h"
#include <stdio.h>

struct bitset bitset_of(uint64_t bits, int min, int max)
{
    return (struct bitset){ bits, min, max };
}

bool bitset_has(const struct bitset *s, int bit)
{
    return bit >= s->min && bit <= s->max && (s->bits >> bit & 1);
}

int bitset_count(const struct bitset *s)
{
    int n = 0;
    for (int i = s->min; i <= s->max; i++)
        n += bitset_has(s, i);
    return n;
}

bool bitset_full(const struct bitset *s)
{
    return bitset_count(s) == s->max - s->min + 1;
}

bool bitset_one(const struct bitset *s)
{
    return bitset_count(s) == 1;
}

int bitset_first(const struct bitset *s)
{
    int i = s->min;
    while (i < s->max && !bitset_has(s, i))
        i++;
    return i;
}

int bitset_last(const struct bitset *s)
{
    int i = s->max;
    while (i > s->min && !bitset_has(s, i))
        i--;
    return i;
}

int bitset_step(const struct bitset *s)
{
    int step = 0, before = -1;
    for (int i = s->min; i <= s->max; i++) {
        if (!bitset_has(s, i))
            continue;
        if (before >= 0 && step && i - before != step)
            return 0;
        if (before >= 0)
            step = i - before;
        before = i;
    }
    return step;
}

int bitset_runs(const struct bitset *s)
{
    int n = 0;
    for (int i = s->min; i <= s->max; i++)
        n += bitset_has(s, i) && !bitset_has(s, i + 1);
    return n;
}

int bitset_run_end(const struct bitset *s, int member)
{
    while (bitset_has(s, member + 1))
        member++;
    return member;
}

static void put_run(int first, int last, enum language lang, struct buf *out)
{
    char from[16], to[16];
    snprintf(from, sizeof(from), "%d", first);
    snprintf(to, sizeof(to), "%d", last);
    if (first == last)
        buf_text(out, from);
    else
        phrase_put(out, lang, P_TO, (struct parts){ .a = from, .b = to });
}

void bitset_list(const struct bitset *s, enum language lang, struct buf *out)
{
    bool begun = false;
    for (int i = s->min; i <= s->max; i++) {
        if (!bitset_has(s, i))
            continue;
        int end = bitset_run_end(s, i);
        if (end == i + 1)
            end = i;
        bool more = end < bitset_last(s);
        if (begun)
            phrase_put(out, lang, more ? P_COMMA : P_AND_NUMBER, (struct parts){ 0 });
        begun = true;
        put_run(i, end, lang, out);
        i = end;
    }
}
