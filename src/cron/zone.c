/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a TZif file are checked completely before a span is made of them. The footer's rule
 * is unrolled into the same table, and a small index by time makes a lookup one step. */
#include "cron/zone.h"
#include "base/mem.h"
#include "base/str.h"
#include "cron/civil.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Instants from 1970 to the end of the table find their step through an index of equal buckets
 * (194 days each): one load and at most a few comparisons, instead of a binary search. */
enum {
    NAME_MAX_BYTES = 127,
    TRANSITIONS_MAX = 4096,
    RULE_FIRST_YEAR = 1901,
    RULE_LAST_YEAR = 2301,
    OFFSET_MIN = -(25 * 3600 + 59 * 60 + 59),
    OFFSET_MAX = 25 * 3600 + 59 * 60 + 59,
    SLACK_S = 26 * 3600, /* local and UTC readings are never further apart */
    BUCKET_SHIFT = 24,
    BUCKETS = 626, /* 10.5e9 s: to 2302 */
};

struct step { /* from begin_s on, the offset holds */
    int64_t begin_s;
    int32_t offset;
};

struct zone {
    atomic_uint refs;
    uint32_t n;               /* steps; the first begins at INT64_MIN */
    const struct step *steps; /* owned, in the same allocation */
    uint16_t bucket[BUCKETS]; /* the step in force when the bucket begins */
    char name[NAME_MAX_BYTES + 1];
};

static const struct step utc_step = { INT64_MIN, 0 };
static struct zone utc = { .refs = 1, .n = 1, .steps = &utc_step, .name = "UTC" };

struct zone *zone_utc(void)
{
    return &utc;
}

struct zone *zone_ref(struct zone *z)
{
    if (z && z != &utc)
        atomic_fetch_add_explicit(&z->refs, 1, memory_order_relaxed);
    return z;
}

void zone_unref(struct zone *z)
{
    if (z && z != &utc && atomic_fetch_sub_explicit(&z->refs, 1, memory_order_acq_rel) == 1)
        free(z);
}

const char *zone_name(const struct zone *z)
{
    return z->name;
}

/* --- lookups ----------------------------------------------------------------------------- */

static uint32_t step_by_search(const struct zone *z, int64_t s)
{
    uint32_t low = 0, high = z->n; /* steps[low].begin_s <= s < steps[high].begin_s */
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (z->steps[mid].begin_s <= s)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static uint32_t step_at(const struct zone *z, int64_t s)
{
    if (s < 0 || s >> BUCKET_SHIFT >= BUCKETS)
        return step_by_search(z, s);
    uint32_t i = z->bucket[s >> BUCKET_SHIFT];
    while (i + 1 < z->n && z->steps[i + 1].begin_s <= s)
        i++;
    return i;
}

static int64_t step_end(const struct zone *z, uint32_t i)
{
    return i + 1 < z->n ? z->steps[i + 1].begin_s : INT64_MAX;
}

int zone_offset_at(const struct zone *z, int64_t utc_s)
{
    return z->steps[step_at(z, utc_s)].offset;
}

struct zone_span zone_span_at(const struct zone *z, int64_t utc_s)
{
    uint32_t i = step_at(z, utc_s);
    return (struct zone_span){ z->steps[i].begin_s, step_end(z, i), z->steps[i].offset };
}

static int64_t add_cut(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* The wall reading at which the gap or the overlap around local_s ends, and in a gap the instant.
 * Looks at the changes around: those whose two readings of the same instant enclose local_s. */
static void local_edge(const struct zone *z, uint32_t from, uint32_t to, int64_t local_s,
                       struct zone_local *ret)
{
    for (uint32_t i = from; i < to; i++) {
        int64_t at = z->steps[i + 1].begin_s;
        int64_t before = at + z->steps[i].offset, after = at + z->steps[i + 1].offset;
        int64_t low = before < after ? before : after, high = before < after ? after : before;
        if (local_s < low || local_s >= high)
            continue;
        if (ret->count == 0 && before < after) { /* there is one, or the wall could not get past */
            ret->first_s = ret->last_s = at;
            ret->until_s = high;
            return;
        }
        if (ret->count && before > after && (ret->until_s == local_s + 1 || high < ret->until_s))
            ret->until_s = high;
    }
}

struct zone_local zone_from_local(const struct zone *z, int64_t local_s)
{
    uint32_t from = step_at(z, add_cut(local_s, -SLACK_S));
    uint32_t to = step_at(z, add_cut(local_s, SLACK_S));
    struct zone_local r = { 0, 0, 0, add_cut(local_s, 1) };
    for (uint32_t i = from; i <= to; i++) {
        int64_t s = add_cut(local_s, -z->steps[i].offset);
        if (s < z->steps[i].begin_s || s >= step_end(z, i))
            continue;
        if (r.count++ == 0)
            r.first_s = s;
        r.last_s = s;
    }
    if (r.count != 1)
        local_edge(z, from, to, local_s, &r);
    return r;
}

/* --- the footer: a POSIX TZ rule (RFC 9636 section 3.3.1) ---------------------------------- */

struct posix_date {
    enum { DATE_JULIAN, DATE_DAY, DATE_WEEK } form;
    int day;         /* Jn: 1-365 without leap days; n: 0-365; Mm.w.d: d, 0 = Sunday */
    int month, week; /* Mm.w.d */
    int time_s;      /* after local midnight, -167 to 167 hours */
};

struct posix_rule {
    bool has_dst;
    int std_offset, dst_offset; /* seconds east */
    struct posix_date start, end;
};

struct text {
    const char *p, *end;
};

static bool text_char(struct text *t, char c)
{
    if (t->p == t->end || *t->p != c)
        return false;
    t->p++;
    return true;
}

static bool text_number(struct text *t, int max, int *ret)
{
    int v = 0;
    const char *from = t->p;
    for (; t->p != t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
        v = v * 10 + (*t->p - '0');
        if (v > max)
            return false;
    }
    *ret = v;
    return t->p != from;
}

static bool is_message(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool text_designation(struct text *t)
{
    bool quoted = text_char(t, '<');
    const char *from = t->p;
    while (t->p != t->end && (is_message(*t->p) || (quoted && ((*t->p >= '0' && *t->p <= '9') ||
                                                               *t->p == '+' || *t->p == '-'))))
        t->p++;
    return t->p - from >= 3 && (!quoted || text_char(t, '>'));
}

/* [+-]hh[:mm[:ss]] */
static bool text_time(struct text *t, int hours_max, int *ret_s)
{
    int sign = text_char(t, '-') ? -1 : 1, hours, minutes = 0, seconds = 0;
    if (sign == 1)
        text_char(t, '+');
    if (!text_number(t, hours_max, &hours))
        return false;
    if (text_char(t, ':')) {
        if (!text_number(t, 59, &minutes))
            return false;
        if (text_char(t, ':') && !text_number(t, 59, &seconds))
            return false;
    }
    *ret_s = sign * (hours * 3600 + minutes * 60 + seconds);
    return true;
}

static bool text_date(struct text *t, struct posix_date *ret)
{
    *ret = (struct posix_date){ .form = DATE_DAY, .time_s = 2 * 3600 };
    if (text_char(t, 'J')) {
        ret->form = DATE_JULIAN;
        if (!text_number(t, 365, &ret->day) || ret->day < 1)
            return false;
    } else if (text_char(t, 'M')) {
        ret->form = DATE_WEEK;
        if (!text_number(t, 12, &ret->month) || ret->month < 1 || !text_char(t, '.') ||
            !text_number(t, 5, &ret->week) || ret->week < 1 || !text_char(t, '.') ||
            !text_number(t, 6, &ret->day))
            return false;
    } else if (!text_number(t, 365, &ret->day)) {
        return false;
    }
    return !text_char(t, '/') || text_time(t, 167, &ret->time_s);
}

static bool posix_parse(const char *p, size_t n, struct posix_rule *ret)
{
    struct text t = { p, p + n };
    *ret = (struct posix_rule){ .has_dst = false };
    if (!text_designation(&t) || !text_time(&t, 24, &ret->std_offset))
        return false;
    ret->std_offset = -ret->std_offset; /* POSIX counts westwards */
    if (t.p == t.end)
        return true;
    ret->has_dst = true;
    ret->dst_offset = ret->std_offset + 3600;
    if (!text_designation(&t))
        return false;
    if (t.p != t.end && *t.p != ',') {
        if (!text_time(&t, 24, &ret->dst_offset))
            return false;
        ret->dst_offset = -ret->dst_offset;
    }
    return text_char(&t, ',') && text_date(&t, &ret->start) && text_char(&t, ',') &&
           text_date(&t, &ret->end) && t.p == t.end;
}

/* Wall seconds of a rule's date in a year, read with the offset before the change. */
static int64_t posix_date_at(const struct posix_date *d, int year)
{
    int64_t day;
    if (d->form == DATE_WEEK) {
        int64_t first = civil_to_days(year, d->month, 1);
        int in_month = (d->day - civil_weekday(first) + 7) % 7 + 7 * (d->week - 1);
        if (in_month >= civil_month_days(year, d->month))
            in_month -= 7;
        day = first + in_month;
    } else {
        day = civil_to_days(year, 1, 1) + d->day;
        if (d->form == DATE_JULIAN) {
            bool leap = civil_month_days(year, 2) == 29;
            day += leap && d->day >= 60 ? 0 : -1;
        }
    }
    return day * 86400 + d->time_s;
}

/* --- building ------------------------------------------------------------------------------ */

struct builder {
    struct step *steps;
    uint32_t n, cap;
};

/* Steps come in ascending order; one that changes nothing is left out, and a later one at the same
 * instant wins. */
static void builder_add(struct builder *b, int64_t begin_s, int offset)
{
    if (b->n && b->steps[b->n - 1].begin_s == begin_s)
        b->n--;
    if (b->n && b->steps[b->n - 1].offset == offset)
        return;
    if (b->n < b->cap)
        b->steps[b->n++] = (struct step){ begin_s, offset };
}

/* Unroll the rule after last_s, the table's last transition. Saving time is an interval from each
 * year's start to the next end; intervals that touch (all-year saving) are one. */
static void builder_add_rule(struct builder *b, const struct posix_rule *r, int64_t last_s)
{
    if (!r->has_dst) {
        if (last_s == INT64_MIN)
            builder_add(b, last_s, r->std_offset);
        return;
    }
    int year = RULE_FIRST_YEAR;
    if (last_s > -2000000000) /* 1906; earlier ones need no date */
        year = civil_from_days(last_s / 86400).year - 1;
    int64_t open_until = INT64_MIN; /* end of the interval not yet closed in the table */
    for (; year <= RULE_LAST_YEAR; year++) {
        int64_t start = posix_date_at(&r->start, year) - r->std_offset;
        int64_t end = posix_date_at(&r->end, year) - r->dst_offset;
        if (end <= start)
            end = posix_date_at(&r->end, year + 1) - r->dst_offset;
        if (end <= start)
            continue;
        if (start > open_until && open_until > last_s)
            builder_add(b, open_until, r->std_offset);
        if (start > last_s)
            builder_add(b, start, r->dst_offset); /* changes nothing inside an open interval */
        if (end > open_until)
            open_until = end;
    }
    if (open_until > last_s)
        builder_add(b, open_until, r->std_offset);
}

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be64(const unsigned char *p)
{
    return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

struct block { /* a data block's counts and parts */
    uint32_t isut, isstd, leap, time, type, chars;
    const unsigned char *times, *indexes, *types;
    size_t size; /* of the parts, without the header */
};

enum { HEADER_SIZE = 44 };

static bool block_read(const unsigned char *p, size_t n, int time_size, struct block *ret)
{
    if (n < HEADER_SIZE || memcmp(p, "TZif", 4) != 0)
        return false;
    *ret = (struct block){ be32(p + 20), be32(p + 24), be32(p + 28), be32(p + 32), be32(p + 36),
                           be32(p + 40), NULL,         NULL,         NULL,         0 };
    /* every count is bounded by the file before anything is multiplied */
    uint32_t counts[] = { ret->isut, ret->isstd, ret->leap, ret->time, ret->type, ret->chars };
    for (size_t i = 0; i < countof(counts); i++)
        if (counts[i] > n)
            return false;
    ret->times = p + HEADER_SIZE;
    ret->indexes = ret->times + (size_t)ret->time * (size_t)time_size;
    ret->types = ret->indexes + ret->time;
    ret->size = (size_t)ret->time * (size_t)(time_size + 1) + (size_t)ret->type * 6 + ret->chars +
                (size_t)ret->leap * (size_t)(time_size + 4) + ret->isstd + ret->isut;
    return ret->size <= n - HEADER_SIZE;
}

static const char *block_check(const struct block *b)
{
    if (b->leap)
        return "leap seconds are not supported (a \"right/\" zone)";
    if (b->type == 0 || b->type > 256 || b->chars == 0)
        return "it has no local time types";
    if ((b->isut && b->isut != b->type) || (b->isstd && b->isstd != b->type))
        return "its indicator counts are wrong";
    if (b->time > TRANSITIONS_MAX)
        return "it has more than 4096 transitions";
    for (uint32_t i = 0; i < b->type; i++) {
        int32_t offset = (int32_t)be32(b->types + i * 6);
        if (offset < OFFSET_MIN || offset > OFFSET_MAX)
            return "an offset is beyond 25:59:59";
        if (b->types[i * 6 + 4] > 1 || b->types[i * 6 + 5] >= b->chars)
            return "a local time type is out of range";
    }
    for (uint32_t i = 0; i < b->time; i++) {
        if (b->indexes[i] >= b->type)
            return "a transition names no local time type";
        if (i && be64(b->times + i * 8) <= be64(b->times + (i - 1) * 8))
            return "its transitions are out of order";
    }
    /* beyond these, seconds and milliseconds would overflow; real files start at the Big Bang */
    if (b->time &&
        (be64(b->times) < -((int64_t)1 << 59) ||
         be64(b->times + (size_t)(b->time - 1) * 8) > civil_to_days(RULE_LAST_YEAR, 1, 1) * 86400))
        return "a transition lies beyond the year 2300";
    return NULL;
}

/* Find the 64-bit block and the footer of a version 2+ file. */
static const char *tzif_open(const unsigned char *p, size_t n, struct block *ret_block,
                             struct posix_rule *ret_rule, bool *ret_has_rule)
{
    struct block old;
    if (n > ZONE_FILE_MAX)
        return "it is larger than 256 KiB";
    if (!block_read(p, n, 4, &old))
        return "it is no TZif file, or cut short";
    if (p[4] < '2')
        return "it has version 1 (32-bit) data only";
    p += HEADER_SIZE + old.size;
    n -= HEADER_SIZE + old.size;
    if (!block_read(p, n, 8, ret_block))
        return "its 64-bit data is cut short";
    const char *bad = block_check(ret_block);
    if (bad)
        return bad;
    p += HEADER_SIZE + ret_block->size;
    n -= HEADER_SIZE + ret_block->size;
    const unsigned char *end = n > 1 ? memchr(p + 1, '\n', n - 1) : NULL;
    if (!end || *p != '\n')
        return "its footer is cut short";
    *ret_has_rule = end > p + 1;
    if (*ret_has_rule && !posix_parse((const char *)p + 1, (size_t)(end - p - 1), ret_rule))
        return "its footer is no POSIX time zone rule";
    return NULL;
}

static void zone_index(struct zone *z)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        z->bucket[i] = (uint16_t)step_by_search(z, (int64_t)i << BUCKET_SHIFT);
}

enum err zone_parse(const void *tzif, size_t n, const char *name, struct zone **ret,
                    struct why *why)
{
    struct block block;
    struct posix_rule rule;
    bool has_rule = false;
    const char *bad = tzif_open(tzif, n, &block, &rule, &has_rule);
    if (bad) {
        why_set(why, "time zone %.64s: its file cannot be used: %s", name, bad);
        return ERR_INVALID;
    }
    uint32_t cap = 1 + block.time + 2 * (RULE_LAST_YEAR - RULE_FIRST_YEAR + 3);
    struct zone *z = try_alloc(sizeof(*z) + cap * sizeof(struct step));
    if (!z)
        return ERR_NOMEM;
    struct builder b = { (struct step *)(z + 1), 0, cap };
    int64_t last_s = INT64_MIN;
    builder_add(&b, last_s, (int32_t)be32(block.types));
    for (uint32_t i = 0; i < block.time; i++) {
        last_s = be64(block.times + (size_t)i * 8);
        builder_add(&b, last_s, (int32_t)be32(block.types + block.indexes[i] * 6));
    }
    if (has_rule)
        builder_add_rule(&b, &rule, last_s);
    struct zone *fit = realloc(z, sizeof(*z) + b.n * sizeof(struct step)); /* only shrinks */
    if (fit)
        z = fit;
    atomic_init(&z->refs, 1);
    z->steps = (struct step *)(z + 1);
    z->n = b.n;
    text_copy(z->name, sizeof(z->name), slice_text(name));
    zone_index(z);
    *ret = z;
    return OK;
}
