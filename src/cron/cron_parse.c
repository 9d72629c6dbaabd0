/* SPDX-License-Identifier: Apache-2.0 */
/* The language of XXL-JOB 3.4, written from its observed behaviour (docs/cron.md). It is loose:
 * text after a complete item is ignored, and so are empty list elements, because schedules in
 * production rely on both. One pass, no allocation; every loop runs over a bitmap or the text. */
#include "cron/cron_internal.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct field {
    const char *name;
    int min, max;
    int step_max; /* of `*` and of a single value; steps of ranges are free */
};

static const struct field field_table[CRON_FIELDS] = {
    [FIELD_SECOND] = { "second", 0, 59, 59 },
    [FIELD_MINUTE] = { "minute", 0, 59, 59 },
    [FIELD_HOUR] = { "hour", 0, 23, 23 },
    [FIELD_DAY] = { "day-of-month", 1, 31, 31 },
    [FIELD_MONTH] = { "month", 1, 12, 12 },
    [FIELD_WEEKDAY] = { "day-of-week", 1, 7, 7 },
    [FIELD_YEAR] = { "year", CRON_YEAR_MIN, CRON_YEAR_MAX, INT_MAX },
};

struct parser {
    const char *text; /* the whole expression, for columns */
    struct why *why;
    struct cron *c;
    enum cron_field field;
    const char *p, *end; /* the element being read, from p on */
    uint64_t bits;       /* values of the field, except years */
    bool none;           /* the field has a `?` */
    bool last_week;      /* day-of-week nL */
    int nth;             /* day-of-week n#k */
};

static enum err fail(const struct parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum err fail(const struct parser *p, const char *at, const char *format, ...)
{
    if (!p->why)
        return ERR_INVALID;
    char rule[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(rule, sizeof(rule), format, ap);
    va_end(ap);
    why_set(p->why, "cron: %s, column %d: %s", field_table[p->field].name, (int)(at - p->text) + 1,
            rule);
    return ERR_INVALID;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* The character i places ahead, upper case; NUL behind the element. */
static char peek(const struct parser *p, size_t i)
{
    return i < (size_t)(p->end - p->p) ? upper(p->p[i]) : '\0';
}

static bool at_end(const struct parser *p)
{
    return p->p == p->end;
}

/* Digits at the cursor, at least one. */
static enum err read_number(struct parser *p, int *ret)
{
    const char *from = p->p;
    int64_t v = 0;
    for (; p->p != p->end && is_digit(*p->p); p->p++) {
        v = v * 10 + (*p->p - '0');
        if (v > INT_MAX)
            return fail(p, from, "the number is too large");
    }
    if (p->p == from)
        return fail(p, from, at_end(p) ? "a number is missing here" : "a number is wanted here");
    *ret = (int)v;
    return OK;
}

/* A number with an optional sign that takes the whole rest: after `*` `/`, and after `#`. */
static enum err read_rest_number(struct parser *p, int *ret)
{
    const char *from = p->p;
    int sign = peek(p, 0) == '-' ? -1 : 1;
    if (peek(p, 0) == '-' || peek(p, 0) == '+')
        p->p++;
    enum err err = read_number(p, ret);
    if (err)
        return err;
    if (!at_end(p))
        return fail(p, from, "nothing but a number may stand here");
    *ret *= sign;
    return OK;
}

static void year_set(struct cron *c, int year)
{
    int bit = year - CRON_YEAR_MIN;
    c->years[bit / 64] |= (uint64_t)1 << (bit % 64);
}

/* Years a to b in steps; no wrapping. */
static enum err add_years(struct parser *p, const char *at, int a, int b, int step)
{
    if (b < a)
        return fail(p, at, "a range of years must not run backwards (%d is after %d)", a, b);
    for (int64_t y = a; y <= b; y += step)
        year_set(p->c, (int)y);
    return OK;
}

static uint64_t bits_between(int a, int b) /* 0 <= a <= b < 63 */
{
    return (((uint64_t)1 << (b - a + 1)) - 1) << a;
}

static void add_bits(struct parser *p, int a, int b, int step)
{
    const struct field *f = &field_table[p->field];
    int count = f->max - f->min + 1;
    if (step == 1) {
        p->bits |= a <= b ? bits_between(a, b) : bits_between(a, f->max) | bits_between(f->min, b);
        return;
    }
    if (b < a)
        b += count; /* runs on through the end: 22-2 */
    for (int64_t v = a; v <= b; v += step)
        p->bits |= (uint64_t)1 << (v > f->max ? v - count : v);
}

static enum err add_all(struct parser *p, int step)
{
    const struct field *f = &field_table[p->field];
    if (p->field != FIELD_YEAR) {
        add_bits(p, f->min, f->max, step);
        return OK;
    }
    if (step == 1) {
        memset(p->c->years, 0xff, sizeof(p->c->years)); /* bits beyond the last year do no harm */
        return OK;
    }
    return add_years(p, p->p, f->min, f->max, step);
}

static enum err check_value(const struct parser *p, const char *at, int v)
{
    const struct field *f = &field_table[p->field];
    if (v < f->min || v > f->max)
        return fail(p, at, "%d is not within %d-%d", v, f->min, f->max);
    return OK;
}

/* `a`, or `a/n` to the end of the field. A step of 0 means none. */
static enum err add_from(struct parser *p, const char *at, int a, int step)
{
    enum err err = check_value(p, at, a);
    if (err)
        return err;
    int last = field_table[p->field].max;
    if (p->field == FIELD_YEAR) {
        if (step && a > p->c->last_year)
            return fail(p, at, "%d starts after the last year, %d", a, p->c->last_year);
        return add_years(p, at, a, step ? p->c->last_year : a, step ? step : 1);
    }
    add_bits(p, a, step ? last : a, step ? step : 1);
    return OK;
}

/* `a-b`, `a-b/n`. A step of 0 leaves a alone; an end of 0 means the field's last value, as 3.4. */
static enum err add_range(struct parser *p, const char *at, int a, int b, int step)
{
    enum err err = check_value(p, at, a);
    if (err)
        return err;
    const struct field *f = &field_table[p->field];
    if (b == 0 && f->min == 1)
        b = f->max;
    err = check_value(p, at, b);
    if (err)
        return err;
    if (step == 0)
        b = a;
    if (p->field == FIELD_YEAR)
        return add_years(p, at, a, b, step ? step : 1);
    add_bits(p, a, b, step ? step : 1);
    return OK;
}

static enum err check_step(const struct parser *p, const char *at, int step)
{
    const struct field *f = &field_table[p->field];
    if (step > f->step_max)
        return fail(p, at, "a step must not exceed %d here", f->step_max);
    return OK;
}

/* --- names --------------------------------------------------------------------------------- */

static const char month_names[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
static const char weekday_names[] = "SUNMONTUEWEDTHUFRISAT";

/* The name of three letters at the cursor, as its number. */
static enum err read_name(struct parser *p, int *ret)
{
    bool month = p->field == FIELD_MONTH;
    const char *names = month ? month_names : weekday_names;
    for (int i = 0; names[i]; i += 3) {
        if (peek(p, 0) == names[i] && peek(p, 1) == names[i + 1] && peek(p, 2) == names[i + 2]) {
            p->p += 3;
            *ret = i / 3 + 1;
            return OK;
        }
    }
    return fail(p, p->p,
                month ? "a name of a month is wanted: JAN to DEC"
                      : "a name of a weekday is wanted: SUN to SAT");
}

static enum err read_nth(struct parser *p, int *ret)
{
    const char *from = p->p;
    enum err err = read_rest_number(p, ret);
    if (err)
        return err;
    if (*ret < 1 || *ret > 5)
        return fail(p, from, "after # stands which one of the month, 1-5");
    return OK;
}

/* NAME, NAME-NAME, and for weekdays NAME#k and NAMEL. What follows is ignored. */
static enum err read_names(struct parser *p)
{
    if (p->field != FIELD_MONTH && p->field != FIELD_WEEKDAY)
        return fail(p, p->p, "letters are not allowed here");
    const char *from = p->p;
    int a, b;
    enum err err = read_name(p, &a);
    if (err)
        return err;
    bool weekday = p->field == FIELD_WEEKDAY;
    if (peek(p, 0) == '-') {
        p->p++;
        err = read_name(p, &b);
        return err ? err : add_range(p, from, a, b, 1);
    }
    if (weekday && peek(p, 0) == '#') {
        p->p++;
        err = read_nth(p, &p->nth);
    } else if (weekday && peek(p, 0) == 'L') {
        p->last_week = true;
    }
    return err ? err : add_from(p, from, a, 0);
}

/* --- elements ------------------------------------------------------------------------------ */

/* `*`, `*` followed by anything but `/` (ignored), `*` `/n`, `/n`. */
static enum err read_star(struct parser *p)
{
    if (*p->p == '*')
        p->p++;
    if (peek(p, 0) != '/')
        return add_all(p, 1);
    p->p++;
    const char *from = p->p;
    int step;
    enum err err = read_rest_number(p, &step);
    if (!err)
        err = check_step(p, from, step);
    return err ? err : add_all(p, step > 0 ? step : 1);
}

static enum err read_question(struct parser *p)
{
    if (p->field != FIELD_DAY && p->field != FIELD_WEEKDAY)
        return fail(p, p->p, "? may stand for day-of-month or day-of-week only");
    if (p->end - p->p > 2)
        return fail(p, p->p + 1, "nothing may follow ?");
    p->none = true;
    return OK;
}

/* Is the element L, LW, L-n or L-nW (n may be empty before W)? Then it is no name. */
static bool is_last(const struct parser *p)
{
    if (peek(p, 0) != 'L')
        return false;
    size_t n = (size_t)(p->end - p->p), i = 1;
    if (n == 1 || (n == 2 && peek(p, 1) == 'W'))
        return true;
    if (peek(p, i++) != '-')
        return false;
    while (is_digit(peek(p, i)))
        i++;
    if (peek(p, i) == 'W')
        i++;
    return i == n;
}

static enum err read_last(struct parser *p)
{
    const char *from = p->p;
    if (p->field == FIELD_WEEKDAY) { /* L-n and LW mean L here */
        p->bits |= (uint64_t)1 << 7;
        return OK;
    }
    if (p->field != FIELD_DAY)
        return fail(p, from, "L is allowed in day-of-month and day-of-week only");
    p->p++;
    int before = 0;
    if (peek(p, 0) == '-') {
        p->p++;
        if (peek(p, 0) != 'W') {
            enum err err = read_number(p, &before);
            if (err)
                return err;
        }
    }
    if (before > 30)
        return fail(p, from, "L-n goes back at most 30 days");
    if (peek(p, 0) == 'W')
        p->c->near_last |= (uint32_t)1 << before;
    else
        p->c->last_minus |= (uint32_t)1 << before;
    return OK;
}

/* `a-b`, `a-b/n`; what follows is ignored. The cursor is on the `-`. */
static enum err read_range(struct parser *p, const char *from, int a)
{
    int b = 0, step = 1;
    p->p++;
    enum err err = read_number(p, &b);
    if (!err && peek(p, 0) == '/') {
        p->p++;
        err = read_number(p, &step);
    }
    return err ? err : add_range(p, from, a, b, step);
}

/* `a/n`. Behind one digit nothing may follow, behind more anything may: so does 3.4. */
static enum err read_step(struct parser *p, const char *from, int a)
{
    p->p++;
    const char *digits = p->p;
    int step = 0;
    enum err err = read_number(p, &step);
    if (err)
        return err;
    if (p->p - digits == 1 && !at_end(p))
        return fail(p, p->p, "nothing may follow the step");
    err = check_step(p, digits, step);
    return err ? err : add_from(p, from, a, step);
}

/* An element that begins with a digit. Unknown text behind the number is ignored. */
static enum err read_numbers(struct parser *p)
{
    const char *from = p->p;
    int a = 0;
    enum err err = read_number(p, &a);
    if (err)
        return err;
    switch (peek(p, 0)) {
    case '-':
        return read_range(p, from, a);
    case '/':
        return read_step(p, from, a);
    case 'L':
        if (p->field != FIELD_WEEKDAY)
            return fail(p, p->p, "L after a number is allowed in day-of-week only");
        p->last_week = true;
        break;
    case '#':
        if (p->field != FIELD_WEEKDAY)
            return fail(p, p->p, "# is allowed in day-of-week only");
        p->p++;
        err = read_nth(p, &p->nth);
        if (err)
            return err;
        break;
    case 'W':
        if (p->field != FIELD_DAY)
            return fail(p, p->p, "W is allowed in day-of-month only");
        err = check_value(p, from, a);
        if (!err)
            p->c->near |= (uint32_t)1 << a;
        return err;
    default:
        break;
    }
    return add_from(p, from, a, 0);
}

static enum err read_element(struct parser *p)
{
    char c = peek(p, 0);
    if (is_digit(c))
        return read_numbers(p);
    if (c == '*' || c == '/')
        return read_star(p);
    if (c == '?')
        return read_question(p);
    if (is_last(p))
        return read_last(p);
    if (c >= 'A' && c <= 'Z')
        return read_names(p);
    if (c > ' ' && c < 0x7f)
        return fail(p, p->p, "unexpected character %c", c);
    return fail(p, p->p, "unexpected character of code %d", c);
}

/* --- fields -------------------------------------------------------------------------------- */

static enum err check_weekday_list(const struct parser *p, struct slice s)
{
    bool list = memchr(s.p, ',', s.n) != NULL;
    int hashes = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (list && upper(s.p[i]) == 'L')
            return fail(p, s.p + i, "L must stand alone, not in a list");
        if (s.p[i] == '#' && ++hashes == 2)
            return fail(p, s.p + i, "only one # is allowed");
    }
    return OK;
}

static struct slice trim_controls(struct slice s)
{
    while (s.n && (unsigned char)s.p[0] <= ' ') {
        s.p++;
        s.n--;
    }
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    return s;
}

static void store_weekdays(struct parser *p)
{
    struct cron *c = p->c;
    if (p->none)
        return;
    c->weekdays = (uint8_t)(p->bits >> 1);
    c->kind = CRON_DAYS_OF_WEEK;
    if (p->last_week || p->nth) { /* the smallest day counts, with either mark */
        c->weekday = (uint8_t)__builtin_ctz(c->weekdays);
        c->kind = p->last_week ? CRON_DAYS_LAST_WEEK : CRON_DAYS_NTH_WEEK;
        c->nth = p->last_week ? 0 : (uint8_t)p->nth;
    }
}

static void store_field(struct parser *p)
{
    struct cron *c = p->c;
    switch (p->field) {
    case FIELD_SECOND:
        c->seconds = p->bits;
        break;
    case FIELD_MINUTE:
        c->minutes = p->bits;
        break;
    case FIELD_HOUR:
        c->hours = (uint32_t)p->bits;
        break;
    case FIELD_DAY:
        c->days = (uint32_t)p->bits;
        if (p->none)
            c->days = c->last_minus = c->near = c->near_last = 0;
        break;
    case FIELD_MONTH:
        c->months = (uint16_t)p->bits;
        break;
    case FIELD_WEEKDAY:
        store_weekdays(p);
        break;
    default:
        break; /* years went straight into their bitmap */
    }
}

static enum err read_field(struct parser *p, enum cron_field field, struct slice s)
{
    p->field = field;
    p->bits = 0;
    p->none = false;
    enum err err = field == FIELD_WEEKDAY ? check_weekday_list(p, s) : OK;
    struct slice rest = trim_controls(s);
    const char *end = rest.p + rest.n;
    bool any = false;
    for (p->p = rest.p; !err && p->p < end; p->p = p->end + 1) {
        const char *comma = memchr(p->p, ',', (size_t)(end - p->p));
        p->end = comma ? comma : end;
        if (at_end(p))
            continue; /* an empty element is ignored */
        any = true;
        err = read_element(p);
    }
    if (!err && !any)
        err = fail(p, s.p, "the field names no value");
    if (!err)
        store_field(p);
    return err;
}

size_t cron_split(struct slice text, struct slice fields[CRON_FIELDS])
{
    size_t n = 0;
    for (size_t i = 0; i < text.n;) {
        size_t from = i;
        while (i < text.n && text.p[i] != ' ' && text.p[i] != '\t')
            i++;
        if (i > from) {
            if (n < CRON_FIELDS)
                fields[n] = slice_of(text.p + from, i - from);
            n++;
        }
        while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'))
            i++;
    }
    return n;
}

static enum err check_text(struct slice text, struct why *why)
{
    if (text.n > CRON_TEXT_MAX) {
        why_set(why, "cron: the expression is longer than %d bytes", CRON_TEXT_MAX);
        return ERR_TOOBIG;
    }
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] >= 0x80) {
            why_set(why, "cron: column %zu: only ASCII characters are allowed", i + 1);
            return ERR_INVALID;
        }
    }
    return OK;
}

enum err cron_parse_plain(struct slice text, int last_year, struct cron *ret, struct why *why)
{
    enum err err = check_text(text, why);
    if (err)
        return err;
    struct slice fields[CRON_FIELDS];
    size_t n = cron_split(text, fields);
    if (n != 6 && n != 7) {
        why_set(why,
                "cron: %zu field%s, but 6 or 7 are wanted: second minute hour day-of-month month "
                "day-of-week [year]",
                n, n == 1 ? "" : "s");
        return ERR_INVALID;
    }
    struct cron c = { 0 };
    c.last_year = (int16_t)(last_year > CRON_YEAR_MAX   ? CRON_YEAR_MAX
                            : last_year < CRON_YEAR_MIN ? CRON_YEAR_MIN - 1
                                                        : last_year);
    struct parser p = { .text = text.p, .why = why, .c = &c };
    bool none[CRON_FIELDS] = { false };
    for (size_t i = 0; !err && i < n; i++) {
        err = read_field(&p, (enum cron_field)i, fields[i]);
        none[i] = p.none;
    }
    if (err)
        return err;
    if (none[FIELD_DAY] == none[FIELD_WEEKDAY]) {
        why_set(why,
                "cron: day-of-month (column %d) and day-of-week (column %d): exactly one of them "
                "must be ?, the other chooses the day (* = every day)",
                (int)(fields[FIELD_DAY].p - text.p) + 1,
                (int)(fields[FIELD_WEEKDAY].p - text.p) + 1);
        return ERR_INVALID;
    }
    if (n == 6)
        memset(c.years, 0xff, sizeof(c.years)); /* bits beyond the last year do no harm */
    *ret = c;
    return OK;
}
