/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of JSON by the byte:
 *
 *   VALUE --"--> TEXT <--> ESCAPE, HEX          FIRST: right after { or [
 *     |  --x--> WORD                            NAME:  a member's name must come
 *     |  --{[--> FIRST                          AFTER: a value is complete
 *   NAME --"--> TEXT --> COLON --> VALUE        DONE, BAD: the end
 *
 * It checks the structure, not every detail of RFC 8259: numbers are loosely read, and what it
 * lets pass does not change a verdict. Of repeated members the last counts, as everywhere here. */
#include "wire/log_scan.h"
#include "wire/json.h"
#include "wire/texts.h"
#include <limits.h>
#include <string.h>

enum state { VALUE, FIRST, NAME, COLON, TEXT, ESCAPE, HEX, WORD, AFTER, DONE, BAD };
enum text { T_NAME, T_VALUE, T_LOG, T_OTHER };
enum member { M_OTHER, M_CODE, M_CONTENT, M_DATA, M_TO_LINE, M_IS_END, M_LOG };
enum mark { START, END };

#define DEAD 255 /* a text that must be all there is: it is not */

static const char *const marks[] = { WIRE_START_MARK, WIRE_END_MARK };

/* What executors say in place of a log that they never began, word for word. A text is listed only
 * if its executor has a log for each run from the moment it starts: others prove nothing (Go's
 * answers the same to everything, npm's looks into the file of one day). */
static const struct {
    const char *text;
    bool unended; /* proves it only beside isEnd: false */
} nones[] = {
    { WIRE_TEXT_NO_LOG, false },
    { WIRE_TEXT_NO_LOG_PYXXL,
      true }, /* isEnd: true comes from its Redis log, also when that fails */
};

_Static_assert(sizeof(marks) / sizeof(*marks) == WIRE_LOG_SCAN_MARKS, "one counter a mark");
_Static_assert(sizeof(nones) / sizeof(*nones) == WIRE_LOG_SCAN_NONES, "one counter a text");

void wire_log_scan_init(struct wire_log_scan *s)
{
    memset(s, 0, sizeof(*s));
    s->state = VALUE;
}

/* The page that the value being read belongs to, NULL if none. */
static struct wire_log_page_seen *page(struct wire_log_scan *s)
{
    if (s->member[1] != M_CONTENT && s->member[1] != M_DATA)
        return NULL;
    return &s->page[s->member[1] == M_DATA];
}

/* The member whose value stands directly at this depth, if it is one of interest. */
static enum member here(const struct wire_log_scan *s)
{
    return s->depth == 1 || s->depth == 2 ? s->member[s->depth] : M_OTHER;
}

/* ---- words and marks ---- */

static void word_char(struct wire_log_scan *s, unsigned char c)
{
    if (s->word_len < WIRE_LOG_SCAN_WORD)
        s->word[s->word_len] = (char)c;
    if (s->word_len <= WIRE_LOG_SCAN_WORD)
        s->word_len++;
}

static struct slice word(const struct wire_log_scan *s)
{
    return slice_of(s->word, s->word_len <= WIRE_LOG_SCAN_WORD ? s->word_len : 0);
}

/* Both marks of a line begin with the only j in them, so a mismatch needs no second look back. */
static void mark_char(struct wire_log_scan *s, unsigned char c)
{
    struct wire_log_page_seen *seen = page(s);
    for (int i = START; i <= END; i++) {
        bool more = (unsigned char)marks[i][s->match[i]] == c;
        s->match[i] = more ? s->match[i] + 1 : c == 'j';
        if (marks[i][s->match[i]])
            continue;
        s->match[i] = 0;
        *(i == START ? &seen->started : &seen->ended) = true;
    }
    for (int i = 0; i < WIRE_LOG_SCAN_NONES; i++) {
        uint8_t *m = &s->none[i];
        if (*m != DEAD)
            *m = c && (unsigned char)nones[i].text[*m] == c ? *m + 1 : DEAD;
    }
}

static bool maybe_none(const struct wire_log_scan *s)
{
    for (int i = 0; i < WIRE_LOG_SCAN_NONES; i++)
        if (s->none[i] != DEAD)
            return true;
    return false;
}

static void text_char(struct wire_log_scan *s, unsigned char c)
{
    if (s->text == T_LOG)
        mark_char(s, c);
    else if (s->text != T_OTHER)
        word_char(s, c);
}

/* ---- values ---- */

/* A value begins: what an earlier member of the same name said no longer counts. */
static void forget(struct wire_log_scan *s)
{
    struct wire_log_page_seen *seen = page(s);
    switch (here(s)) {
    case M_CODE:
        s->has_code = false;
        break;
    case M_CONTENT:
    case M_DATA:
        *seen = (struct wire_log_page_seen){ .object = false };
        break;
    case M_TO_LINE:
        seen->has_to_line = false;
        break;
    case M_IS_END:
        seen->is_end = false;
        break;
    case M_LOG:
        seen->started = seen->ended = false;
        seen->none = 0;
        break;
    case M_OTHER:
        break;
    }
}

static bool small(struct slice text, int64_t *ret)
{
    return wire_lenient_i64(text, ret) && *ret >= INT_MIN && *ret <= INT_MAX;
}

/* A number, a literal or a text that stands for one is complete. */
static void learn(struct wire_log_scan *s)
{
    int64_t v;
    struct slice text = word(s);
    struct wire_log_page_seen *seen = page(s);
    switch (here(s)) {
    case M_CODE:
        s->has_code = small(text, &v);
        s->code = s->has_code ? (int)v : 0;
        break;
    case M_TO_LINE:
        seen->has_to_line = small(text, &v);
        seen->to_line = seen->has_to_line ? v : 0;
        break;
    case M_IS_END:
        seen->is_end = slice_eq_nocase(text, "true");
        break;
    default:
        break;
    }
}

static void value_done(struct wire_log_scan *s)
{
    s->state = s->depth ? AFTER : DONE;
}

static void open_container(struct wire_log_scan *s, bool array)
{
    if (s->depth == WIRE_JSON_DEPTH || (s->depth == 0 && array)) {
        s->state = BAD;
        return;
    }
    if (s->depth == 1 && page(s))
        page(s)->object = !array;
    s->depth++;
    s->arrays &= ~(1ull << s->depth);
    s->arrays |= (uint64_t)array << s->depth;
    if (s->depth <= 2)
        s->member[s->depth] = M_OTHER;
    s->state = FIRST;
}

static bool in_array(const struct wire_log_scan *s)
{
    return s->arrays >> s->depth & 1;
}

static void close_container(struct wire_log_scan *s, char c)
{
    if ((c == ']') != in_array(s)) {
        s->state = BAD;
        return;
    }
    s->depth--;
    value_done(s);
}

static void begin_text(struct wire_log_scan *s, enum text text)
{
    s->text = (uint8_t)text;
    s->word_len = 0;
    memset(s->match, 0, sizeof(s->match));
    memset(s->none, 0, sizeof(s->none));
    s->state = TEXT;
}

static void value_char(struct wire_log_scan *s, char c)
{
    forget(s);
    if (c == '{' || c == '[') {
        open_container(s, c == '[');
    } else if (s->depth == 0) {
        s->state = BAD; /* an answer is an object */
    } else if (c == '"') {
        enum member m = here(s);
        begin_text(s, m == M_LOG ? T_LOG : m == M_OTHER ? T_OTHER : T_VALUE);
    } else {
        s->word_len = 0;
        word_char(s, (unsigned char)c);
        s->state = strchr("-0123456789tfn", c) ? WORD : BAD;
    }
}

/* ---- names and texts ---- */

static void name_done(struct wire_log_scan *s)
{
    static const struct {
        const char *name;
        uint8_t depth, member;
    } known[] = {
        { "code", 1, M_CODE },         { "content", 1, M_CONTENT }, { "data", 1, M_DATA },
        { "toLineNum", 2, M_TO_LINE }, { "isEnd", 2, M_IS_END },    { "logContent", 2, M_LOG },
    };
    s->state = COLON;
    if (s->depth > 2)
        return;
    s->member[s->depth] = M_OTHER;
    if (s->depth == 2 && !page(s))
        return;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].depth == s->depth && slice_eq(word(s), known[i].name))
            s->member[s->depth] = known[i].member;
}

static void log_done(struct wire_log_scan *s)
{
    for (int i = 0; i < WIRE_LOG_SCAN_NONES; i++)
        if (s->none[i] != DEAD && !nones[i].text[s->none[i]])
            page(s)->none = (uint8_t)(i + 1);
}

static void text_done(struct wire_log_scan *s)
{
    if (s->text == T_NAME) {
        name_done(s);
        return;
    }
    if (s->text == T_LOG)
        log_done(s);
    else if (s->text == T_VALUE)
        learn(s);
    value_done(s);
}

static void escape_char(struct wire_log_scan *s, char c)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *known = c ? strchr(from, c) : NULL;
    s->state = TEXT;
    if (known) {
        text_char(s, (unsigned char)into[known - from]);
    } else if (c == 'u') {
        s->hex = 0;
        s->unit = 0;
        s->state = HEX;
    } else {
        s->state = BAD;
    }
}

static void hex_char(struct wire_log_scan *s, char c)
{
    int digit = hex_digit(c);
    if (digit < 0) {
        s->state = BAD;
        return;
    }
    s->unit = (uint16_t)(s->unit << 4 | digit);
    if (++s->hex < 4)
        return;
    s->state = TEXT;
    /* no word of interest has a character beyond ASCII: any byte above it stands for them */
    text_char(s, s->unit < 0x80 ? (unsigned char)s->unit : 0xFF);
}

static void string_char(struct wire_log_scan *s, char c)
{
    if (c == '"')
        text_done(s);
    else if (c == '\\')
        s->state = ESCAPE;
    else if ((unsigned char)c < 0x20)
        s->state = BAD;
    else
        text_char(s, (unsigned char)c);
}

/* The part of a text in which nothing can happen: the bulk of a long log. */
static const char *skip_dull(const struct wire_log_scan *s, const char *p, const char *end)
{
    bool log = s->text == T_LOG;
    if (!log && s->text != T_OTHER)
        return p;
    if (log && (s->match[START] || s->match[END] || maybe_none(s)))
        return p;
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20 && !(log && *p == 'j'))
        p++;
    return p;
}

/* ---- structure ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static void after_char(struct wire_log_scan *s, char c)
{
    if (c == ',')
        s->state = in_array(s) ? VALUE : NAME;
    else if (c == '}' || c == ']')
        close_container(s, c);
    else
        s->state = BAD;
}

static void word_end(struct wire_log_scan *s)
{
    struct slice text = word(s);
    char c = s->word[0];
    bool literal = slice_eq(text, "true") || slice_eq(text, "false") || slice_eq(text, "null");
    if (!literal && c >= 'a') {
        s->state = BAD;
        return;
    }
    learn(s);
    value_done(s);
}

/* False: c was not consumed, look again in the new state. */
static bool step(struct wire_log_scan *s, char c)
{
    switch ((enum state)s->state) {
    case TEXT:
        string_char(s, c);
        return true;
    case ESCAPE:
        escape_char(s, c);
        return true;
    case HEX:
        hex_char(s, c);
        return true;
    case WORD:
        if (blank(c) || c == ',' || c == '}' || c == ']') {
            word_end(s);
            return false;
        }
        word_char(s, (unsigned char)c);
        return true;
    case BAD:
        return true;
    default:
        break;
    }
    if (blank(c))
        return true;
    switch ((enum state)s->state) {
    case FIRST:
        if (c == (in_array(s) ? ']' : '}')) {
            close_container(s, c);
            return true;
        }
        s->state = in_array(s) ? VALUE : NAME;
        return false;
    case NAME:
        if (c == '"')
            begin_text(s, T_NAME);
        else
            s->state = BAD;
        return true;
    case COLON:
        s->state = c == ':' ? VALUE : BAD;
        return true;
    case VALUE:
        value_char(s, c);
        return true;
    case AFTER:
        after_char(s, c);
        return true;
    default: /* DONE: text after the answer */
        s->state = BAD;
        return true;
    }
}

void wire_log_scan_feed(struct wire_log_scan *s, struct slice piece)
{
    s->fed += piece.n;
    if (s->fed > WIRE_LOG_SCAN_MAX)
        s->state = BAD;
    const char *p = piece.p, *end = piece.p + piece.n;
    while (p < end && s->state != BAD) {
        if (s->state == TEXT)
            p = skip_dull(s, p, end);
        if (p < end && step(s, *p))
            p++;
    }
}

enum wire_log_verdict wire_log_scan_end(const struct wire_log_scan *s, int http_status,
                                        bool complete)
{
    const struct wire_log_page_seen *seen = &s->page[s->page[0].object ? 0 : 1];
    bool answer = complete && s->state == DONE && http_status >= 200 && http_status < 300;
    if (!answer || !s->has_code || s->code != 200 || !seen->object)
        return WIRE_LOG_CANNOT_TELL;
    if (seen->ended)
        return WIRE_LOG_ENDED;
    if (seen->started)
        return WIRE_LOG_STARTED;
    bool nothing = seen->has_to_line && seen->to_line == 0 && seen->is_end;
    bool said = seen->none && !(nones[seen->none - 1].unended && seen->is_end);
    return nothing || said ? WIRE_LOG_NONE : WIRE_LOG_CANNOT_TELL;
}
