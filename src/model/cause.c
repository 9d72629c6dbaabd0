/* SPDX-License-Identifier: Apache-2.0 */
/* cause.c - folding goes over the line once, from word to word. A word is what stands between
 * blanks and marks of punctuation; the first rule that fits a place decides: a URL, an IP address,
 * a UUID, then letters and digits. What is folded depends on the text alone, never on where it was
 * cut, so the line is cut before and after, not between. */
#include "model/cause.h"
#include <ctype.h>
#include <string.h>
#include "base/map.h"

#define LINE_MAX_BYTES 2000
#define HEX_MIN 8 /* shorter words of a-f and digits may be words of a language */

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool hex(char c)
{
    return isxdigit((unsigned char)c);
}

static bool alnum(char c)
{
    return isalnum((unsigned char)c);
}

/* Control characters count as blanks: what is folded may be shown on one line. */
static bool blank(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

/* ---- the line -------------------------------------------------------------------------------- */

/* XXL-JOB's messages are fragments of HTML. */
static bool line_ends(struct slice s, size_t i)
{
    return s.p[i] == '\n' || s.p[i] == '\r' || (s.n - i >= 3 && memcmp(s.p + i, "<br", 3) == 0);
}

/* Beyond the end of the line that ends at i. */
static size_t line_next(struct slice s, size_t i)
{
    if (s.p[i] != '<')
        return i + 1;
    const char *end = memchr(s.p + i, '>', s.n - i);
    return end ? (size_t)(end - s.p) + 1 : s.n;
}

static struct slice first_line(struct slice s)
{
    while (s.n) {
        size_t n = 0;
        while (n < s.n && !line_ends(s, n))
            n++;
        struct slice line = slice_trim(slice_of(s.p, n));
        if (line.n)
            return slice_of(line.p, utf8_cut(line.p, line.n, LINE_MAX_BYTES));
        size_t next = n < s.n ? line_next(s, n) : s.n;
        s = slice_of(s.p + next, s.n - next);
    }
    return s;
}

/* ---- what is folded: each says how many bytes it is from here, 0: it is not -------------------
 */

/* scheme://…, up to what cannot be in it; a mark at its end belongs to the sentence. */
static size_t url(struct slice s)
{
    size_t n = 0;
    while (n < s.n && (alnum(s.p[n]) || s.p[n] == '+'))
        n++;
    if (!n || s.n - n < 3 || memcmp(s.p + n, "://", 3) != 0)
        return 0;
    for (n += 3; n < s.n && !blank(s.p[n]) && !strchr("\"'<>,;(){}|", s.p[n]);)
        n++;
    while (strchr(".:!?", s.p[n - 1]))
        n--;
    return n;
}

static size_t run_of_digits(struct slice s)
{
    size_t n = 0;
    while (n < s.n && digit(s.p[n]))
        n++;
    return n;
}

/* ":9999" behind an address. */
static size_t port(struct slice s)
{
    size_t n = s.n > 1 && s.p[0] == ':' ? run_of_digits(slice_of(s.p + 1, s.n - 1)) : 0;
    return n ? n + 1 : 0;
}

static size_t ipv4(struct slice s)
{
    size_t n = 0;
    for (int part = 0; part < 4; part++) {
        if (part && (n == s.n || s.p[n++] != '.'))
            return 0;
        size_t digits = run_of_digits(slice_of(s.p + n, s.n - n));
        if (!digits || digits > 3)
            return 0;
        n += digits;
    }
    return n + port(slice_of(s.p + n, s.n - n));
}

/* "::1" or at least three colons: a time of day has two. */
static size_t ipv6(struct slice s)
{
    size_t n = 0, colons = 0;
    bool pair = false;
    for (; n < s.n && (hex(s.p[n]) || s.p[n] == ':'); n++) {
        colons += s.p[n] == ':';
        pair |= n && s.p[n] == ':' && s.p[n - 1] == ':';
    }
    if (n < s.n && alnum(s.p[n]))
        return 0;
    if (n && s.p[n - 1] == ':' && !(n > 1 && s.p[n - 2] == ':'))
        n--, colons--; /* it is the sentence's */
    return (pair && n > 2) || colons > 2 ? n : 0;
}

static size_t uuid(struct slice s)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    size_t n = sizeof(shape) - 1;
    for (size_t i = 0; i < n; i++)
        if (i == s.n || (shape[i] == 'x' ? !hex(s.p[i]) : s.p[i] != '-'))
            return 0;
    return n < s.n && alnum(s.p[n]) ? 0 : n;
}

/* Letters and digits that are an id as a whole: long and hexadecimal, 0x…, or digits more than
 * once. */
static size_t id(struct slice s)
{
    size_t n = 0, digits = 0, runs = 0;
    bool all_hex = true;
    for (; n < s.n && alnum(s.p[n]); n++) {
        all_hex &= hex(s.p[n]);
        runs += digit(s.p[n]) && !(n && digit(s.p[n - 1]));
        digits += digit(s.p[n]);
    }
    bool prefixed = n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X');
    bool is = prefixed || runs > 1 || (all_hex && n >= HEX_MIN && digits);
    return is && digits < n ? n : 0;
}

/* 17, 1.5, 1,000,000 */
static size_t number(struct slice s)
{
    size_t n = run_of_digits(s);
    while (n && s.n - n > 1 && (s.p[n] == '.' || s.p[n] == ',') && digit(s.p[n + 1]))
        n += 1 + run_of_digits(slice_of(s.p + n + 1, s.n - n - 1));
    return n;
}

/* How much of s, where a word begins, becomes one mark. */
static size_t folded(struct slice s, char *ret_mark)
{
    static size_t (*const addresses[])(struct slice) = { url, ipv4, ipv6 };
    static size_t (*const ids[])(struct slice) = { uuid, id };
    *ret_mark = '@';
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        size_t n = addresses[i](s);
        if (n)
            return n;
    }
    *ret_mark = '#';
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        size_t n = ids[i](s);
        if (n)
            return n;
    }
    return 0;
}

/* ---- the text -------------------------------------------------------------------------------- */

struct out {
    char text[LINE_MAX_BYTES];
    size_t n;
};

/* A fold is at most as long as what was folded, so it always fits. */
static void put(struct out *o, char c)
{
    if (o->n < sizeof(o->text))
        o->text[o->n++] = c;
}

void cause_fold(struct slice message, char *to, size_t size)
{
    struct out o = { .n = 0 };
    struct slice s = first_line(message);
    for (size_t i = 0; i < s.n;) {
        struct slice rest = slice_of(s.p + i, s.n - i);
        char mark = '#';
        bool begins = !i || !alnum(s.p[i - 1]);
        size_t n = begins ? folded(rest, &mark) : 0;
        if (!n)
            n = number(rest);
        if (n)
            put(&o, mark);
        else if (!blank(s.p[i]))
            put(&o, s.p[i]);
        else if (o.n && o.text[o.n - 1] != ' ')
            put(&o, ' ');
        i += n ? n : 1;
    }
    text_copy(to, size, slice_of(o.text, o.n));
}

struct slice cause_unreached(struct slice trigger_msg)
{
    size_t n = sizeof(CAUSE_UNREACHED) - 1;
    if (trigger_msg.n < n || memcmp(trigger_msg.p, CAUSE_UNREACHED, n) != 0)
        return slice_of("", 0);
    struct slice rest = slice_of(trigger_msg.p + n, trigger_msg.n - n);
    const char *end = memmem(rest.p, rest.n, ": ", 2);
    return end ? slice_of(rest.p, (size_t)(end - rest.p)) : slice_of("", 0);
}

void cause_of(const struct failure *f, struct cause *ret)
{
    bool refused = f->handle_code == 0 && f->trigger_code != 0 && f->trigger_code != 200;
    ret->code = refused ? f->trigger_code : f->handle_code;
    cause_fold(slice_text(refused ? f->trigger_msg : f->handle_msg), ret->text, sizeof(ret->text));
    ret->fingerprint =
        hash_u64(hash_text(slice_text(ret->text)) ^ hash_u64((uint64_t)(int64_t)ret->code));
    ret->address = f->address ? f->address : "";
}
