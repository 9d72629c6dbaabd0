/* SPDX-License-Identifier: Apache-2.0 */
/* A format number, then numbers of variable length; a byte says which times are there. */
#include "model/story.h"
#include "base/mem.h"

#define FORMAT 1
#define RESENT (1u << STORY_TIMES)
#define ATTEMPT_MAX 1000000
#define TIME_MAX (INT64_C(1) << 47) /* ms: some 4,400 years */
#define ID_MAX (INT64_C(1) << 53)

void story_note_ms(struct story *s, enum story_time t, int64_t epoch_ms)
{
    int64_t us = (epoch_ms - s->due_ms) * 1000;
    for (int i = 0; i < (int)t; i++)
        if (s->at_us[i] > us && s->at_us[i] < us + 1000)
            us = s->at_us[i];
    s->at_us[t] = story_us(us);
}

int64_t story_at(const struct story *s, enum story_time t)
{
    return s->at_us[t] == STORY_UNKNOWN ? -1 : s->due_ms * 1000 + s->at_us[t];
}

bool story_late(const struct story *s)
{
    return s->at_us[STORY_SENT] != STORY_UNKNOWN && s->at_us[STORY_SENT] > STORY_LATE_US;
}

/* A retry says which run it retries, and the row does not. */
bool story_kept(const struct story *s, enum phase end, enum kind kind, int64_t log_id)
{
    return end != PHASE_SUCCEEDED || story_late(s) || s->doubts || kind == KIND_MANUAL ||
           kind == KIND_API || kind == KIND_RETRY || kind == KIND_PARENT ||
           log_id % STORY_ONE_IN == 0;
}

static uint64_t within(int64_t v, int64_t max)
{
    return v < 0 ? 0 : (uint64_t)(v < max ? v : max);
}

void story_put(struct buf *to, const struct story *s)
{
    unsigned there = s->resent ? RESENT : 0;
    for (int i = 0; i < STORY_TIMES; i++)
        there |= s->at_us[i] != STORY_UNKNOWN ? 1u << i : 0;
    buf_char(to, FORMAT);
    buf_char(to, (char)there);
    number_put(to, within(s->due_ms, TIME_MAX));
    number_put(to, within(s->due_ms - s->scheduled_ms, TIME_MAX));
    number_put(to, within(s->cause, ID_MAX));
    number_put(to, within(s->attempt, ATTEMPT_MAX));
    number_put(to, s->reroutes);
    number_put(to, s->doubts);
    number_put(to, s->queries);
    for (int i = 0; i < STORY_TIMES; i++)
        if (s->at_us[i] != STORY_UNKNOWN)
            number_put_signed(to, s->at_us[i]);
}

static bool get_within(const uint8_t **p, const uint8_t *end, uint64_t max, uint64_t *ret)
{
    return number_get(p, end, ret) && *ret <= max;
}

static bool get_times(const uint8_t **p, const uint8_t *end, unsigned there, int32_t *at_us)
{
    for (int i = 0; i < STORY_TIMES; i++) {
        int64_t us = STORY_UNKNOWN;
        if (there >> i & 1 &&
            (!number_get_signed(p, end, &us) || us <= INT32_MIN || us > INT32_MAX))
            return false;
        at_us[i] = (int32_t)us;
    }
    return true;
}

bool story_get(struct slice bytes, struct story *ret)
{
    static const uint64_t max[] = { TIME_MAX, TIME_MAX, ID_MAX, ATTEMPT_MAX, 255, 255, 255 };
    const uint8_t *p = (const uint8_t *)bytes.p, *end = bytes.n ? p + bytes.n : p;
    uint64_t v[countof(max)];
    if (bytes.n < 2 || bytes.n > STORY_BYTES_MAX || p[0] != FORMAT)
        return false;
    unsigned there = p[1];
    p += 2;
    for (size_t i = 0; i < countof(max); i++)
        if (!get_within(&p, end, max[i], &v[i]))
            return false;
    *ret = (struct story){ .due_ms = (int64_t)v[0],
                           .scheduled_ms = (int64_t)v[0] - (int64_t)v[1],
                           .cause = (int64_t)v[2],
                           .attempt = (int32_t)v[3],
                           .reroutes = (uint8_t)v[4],
                           .doubts = (uint8_t)v[5],
                           .queries = (uint8_t)v[6],
                           .resent = there & RESENT };
    return there < RESENT * 2 && get_times(&p, end, there, ret->at_us) && p == end;
}
