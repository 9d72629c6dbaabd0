/* SPDX-License-Identifier: Apache-2.0 */
/* Line by line: find LF, judge the line with one table of byte classes, note offsets. Nothing is
 * remembered about a line that is not complete, except how far it was searched, so the cut of the
 * reads cannot change the result; limits are windows from fixed places for the same reason. */
#include "net/http.h"
#include <string.h>
#include <strings.h>

enum { TOKEN = 1, VALUE = 2, TARGET = 4 }; /* classes of bytes */

#define T (TOKEN | VALUE | TARGET) /* letters, digits, !$%&'*+-.^_`|~ */
#define V (VALUE | TARGET)         /* the other visible characters */
#define S VALUE                    /* blank, tab, # and what is not ASCII */
static const uint8_t classes[256] = {
    /* clang-format off */
    0, 0, 0, 0, 0, 0, 0, 0, 0, S, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /*   !  "  #  $  %  &  '  (  )  *  +  ,  -  .  /  0  1  2  3  4  5  6  7  8  9  :  ;  <  =  >  ? */
    S, T, S, TOKEN | VALUE, T, T, T, T, V, V, T, T, V, T, T, V,
    T, T, T, T, T, T, T, T, T, T, V, V, S, V, S, V,
    /* @ A-Z [ \ ] ^ _ */
    V, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, V, S, V, T, T,
    /* ` a-z { | } ~ DEL */
    T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, V, T, V, T, 0,
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S,
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S,
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S,
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S,
    /* clang-format on */
};
#undef T
#undef V
#undef S

static bool is(char c, int class)
{
    return classes[(unsigned char)c] & class;
}

/* Length of the run of that class at p. */
static size_t span(const char *p, size_t n, int class)
{
    size_t i = 0;
    while (i < n && is(p[i], class))
        i++;
    return i;
}

static enum http_event bad(struct http_reader *r, int status, const char *why)
{
    r->phase = HTTP_IN_ERROR;
    r->status = status;
    r->why = why;
    r->keep_alive = false;
    return HTTP_BAD;
}

void http_begin(struct http_reader *r, enum http_side side, size_t at, uint64_t body_max)
{
    memset(r, 0, offsetof(struct http_reader, fields));
    r->side = side;
    r->body_max = body_max;
    r->at = r->pos = at;
    r->keep_alive_s = -1;
}

/* --- lines --- */

/* The line at pos without its end; HTTP_DONE if there is one. It must end within "window" bytes. */
static enum http_event take_line(struct http_reader *r, const struct buf *b, size_t window,
                                 int too_long, const char *rule, struct slice *ret)
{
    size_t have = b->len - r->pos;
    size_t end = have < window ? have : window;
    if (r->seen > end)
        r->seen = end;
    const char *line = b->data + r->pos;
    const char *lf = end > r->seen ? memchr(line + r->seen, '\n', end - r->seen) : NULL;
    if (!lf) {
        if (have >= window)
            return bad(r, too_long, rule);
        r->seen = end;
        return HTTP_MORE;
    }
    size_t n = (size_t)(lf - line);
    r->pos += n + 1;
    r->seen = 0;
    if (n && line[n - 1] == '\r')
        n--;
    else if (r->side == HTTP_REQUEST)
        return bad(r, 400, "a line must end in CRLF, not in LF alone");
    *ret = slice_of(line, n);
    return HTTP_DONE;
}

/* --- the first line --- */

/* From an absolute-form target to what follows its authority. */
static bool strip_authority(struct slice *target)
{
    size_t scheme = target->n > 7 && strncasecmp(target->p, "http://", 7) == 0    ? 7
                    : target->n > 8 && strncasecmp(target->p, "https://", 8) == 0 ? 8
                                                                                  : 0;
    size_t i = scheme;
    while (i < target->n && target->p[i] != '/' && target->p[i] != '?' && target->p[i] != '@')
        i++;
    if (scheme == 0 || i == scheme || (i < target->n && target->p[i] != '/'))
        return false;
    *target = slice_of(target->p + i, target->n - i);
    return true;
}

static enum http_event request_line(struct http_reader *r, const struct buf *b, struct slice line)
{
    const char *base = b->data + r->at;
    size_t n = span(line.p, line.n, TOKEN);
    if (n == 0 || n > 32 || n == line.n || line.p[n] != ' ')
        return bad(r, 400, "the request line must be METHOD target HTTP/1.1, one blank between");
    r->method_len = (uint16_t)n;
    struct slice target = slice_of(line.p + n + 1, line.n - n - 1);
    target.n = span(target.p, target.n, TARGET);
    struct slice version = slice_of(target.p + target.n, line.n - n - 1 - target.n);
    if (target.n == 0 || version.n != 9 || memcmp(version.p, " HTTP/", 6) != 0 ||
        version.p[7] != '.')
        return bad(r, 400, "the request line must be METHOD target HTTP/1.1, one blank between");
    if (version.p[6] != '1' || (version.p[8] != '0' && version.p[8] != '1'))
        return bad(r, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    r->minor_0 = version.p[8] == '0';
    if (target.p[0] != '/' && !strip_authority(&target))
        return bad(r, 400, "the request target must begin with / or http://host/");
    r->target = (uint16_t)(target.p - base);
    r->target_len = (uint16_t)target.n;
    return HTTP_DONE;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum http_event status_line(struct http_reader *r, struct slice line)
{
    const char *p = line.p;
    if (line.n < 12 || p[6] != '.' || !digit(p[5]) || !digit(p[7]) || p[8] != ' ')
        return bad(r, 400, "the status line is not HTTP/1.1 and three digits");
    if (p[5] != '1')
        return bad(r, 505, "the answer is not HTTP/1.x");
    if (!digit(p[9]) || p[9] == '0' || !digit(p[10]) || !digit(p[11]) ||
        (line.n > 12 && p[12] != ' ') || span(p + 12, line.n - 12, VALUE) != line.n - 12)
        return bad(r, 400, "the status line is not HTTP/1.1 and three digits");
    r->minor_0 = p[7] == '0';
    r->status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
    return HTTP_DONE;
}

/* What can be told from the very first bytes, before there is a line. */
static enum http_event first_bytes(struct http_reader *r, const struct buf *b)
{
    size_t n = b->len - r->pos;
    const char *p = b->data + r->pos;
    if (r->side == HTTP_RESPONSE) {
        if (memcmp(p, "HTTP/", n < 5 ? n : 5) == 0)
            return HTTP_DONE;
        r->not_http = true;
        return bad(r, 400, "the answer does not begin with HTTP/");
    }
    if (is(p[0], TOKEN) || p[0] == '\r' || p[0] == '\n')
        return HTTP_DONE;
    return bad(r, 400, "this is not HTTP: the first byte cannot begin a method");
}

static enum http_event read_start(struct http_reader *r, struct buf *b)
{
    if (b->len == r->pos)
        return HTTP_MORE;
    enum http_event e = first_bytes(r, b);
    if (e != HTTP_DONE)
        return e;
    struct slice line;
    e = take_line(r, b, r->at + HTTP_HEAD_MAX - r->pos, 431, "the head exceeds 16384 bytes", &line);
    if (e != HTTP_DONE)
        return e;
    if (r->side == HTTP_RESPONSE) {
        e = status_line(r, line);
    } else if (line.n == 0 && !r->skipped_line) {
        r->skipped_line = true; /* old clients end a body with one CRLF too many */
        r->at = r->pos;
        return read_start(r, b);
    } else {
        e = request_line(r, b, line);
    }
    if (e == HTTP_DONE)
        r->phase = HTTP_IN_HEADERS;
    return e;
}

/* --- header lines --- */

static enum http_event content_length(struct http_reader *r, struct slice v)
{
    uint64_t length = 0;
    if (v.n == 0 || v.n > 18)
        return bad(r, 400, "Content-Length must be a decimal number");
    for (size_t i = 0; i < v.n; i++) {
        if (!digit(v.p[i]))
            return bad(r, 400, "Content-Length must be a decimal number");
        length = length * 10 + (uint64_t)(v.p[i] - '0');
    }
    if (r->has_length && length != r->length)
        return bad(r, 400, "Content-Length given twice with different values");
    r->has_length = true;
    r->length = length;
    return HTTP_DONE;
}

static enum http_event transfer_encoding(struct http_reader *r, struct slice v)
{
    if (r->side == HTTP_RESPONSE && slice_eq_nocase(v, "identity"))
        return HTTP_DONE;
    if (r->has_coding)
        return bad(r, 400, "Transfer-Encoding given twice");
    if (!slice_eq_nocase(v, "chunked"))
        return bad(r, 501, "the only Transfer-Encoding understood is chunked");
    r->has_coding = true;
    return HTTP_DONE;
}

static enum http_event host(struct http_reader *r)
{
    if (r->has_host && r->side == HTTP_REQUEST)
        return bad(r, 400, "Host given twice");
    r->has_host = true;
    return HTTP_DONE;
}

static enum http_event expect(struct http_reader *r, struct slice v)
{
    if (r->side == HTTP_RESPONSE || r->minor_0)
        return HTTP_DONE;
    if (!slice_eq_nocase(v, "100-continue"))
        return bad(r, 417, "the only Expect understood is 100-continue");
    r->expect_continue = true;
    return HTTP_DONE;
}

static void connection(struct http_reader *r, struct slice v)
{
    for (struct slice item; slice_item(&v, &item);) {
        r->has_close |= slice_eq_nocase(item, "close");
        r->has_keep_alive |= slice_eq_nocase(item, "keep-alive");
    }
}

static void keep_alive(struct http_reader *r, struct slice v)
{
    for (size_t i = 0; i + 8 < v.n; i++) {
        if (strncasecmp(v.p + i, "timeout=", 8) != 0)
            continue;
        int s = 0;
        for (i += 8; i < v.n && digit(v.p[i]) && s < 100000; i++)
            s = s * 10 + (v.p[i] - '0');
        r->keep_alive_s = s;
        return;
    }
}

static enum http_event known_header(struct http_reader *r, struct slice name, struct slice v)
{
    switch (name.n) {
    case 4:
        return slice_eq_nocase(name, "Host") ? host(r) : HTTP_DONE;
    case 6:
        return slice_eq_nocase(name, "Expect") ? expect(r, v) : HTTP_DONE;
    case 10:
        if (slice_eq_nocase(name, "Connection"))
            connection(r, v);
        else if (slice_eq_nocase(name, "Keep-Alive"))
            keep_alive(r, v);
        return HTTP_DONE;
    case 14:
        return slice_eq_nocase(name, "Content-Length") ? content_length(r, v) : HTTP_DONE;
    case 17:
        return slice_eq_nocase(name, "Transfer-Encoding") ? transfer_encoding(r, v) : HTTP_DONE;
    default:
        return HTTP_DONE;
    }
}

/* Name and value of a header or trailer line. */
static enum http_event split_header(struct http_reader *r, struct slice line, struct slice *name,
                                    struct slice *value)
{
    size_t n = span(line.p, line.n, TOKEN);
    if (n == line.n || line.p[n] != ':' || n == 0) {
        if (n == 0 && (line.p[0] == ' ' || line.p[0] == '\t'))
            return bad(r, 400, "a header may not be folded over lines");
        if (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
            return bad(r, 400, "no blank may stand before a header's colon");
        return bad(r, 400, "a header line must be Name: value");
    }
    *name = slice_of(line.p, n);
    struct slice v = slice_of(line.p + n + 1, line.n - n - 1);
    if (span(v.p, v.n, VALUE) != v.n)
        return bad(r, 400, "a header's value holds NUL, CR or another control character");
    *value = slice_trim(v);
    return HTTP_DONE;
}

static enum http_event header_line(struct http_reader *r, const struct buf *b, struct slice line)
{
    struct slice name, value;
    enum http_event e = split_header(r, line, &name, &value);
    if (e != HTTP_DONE)
        return e;
    if (r->nfields == HTTP_HEADERS_MAX)
        return bad(r, 431, "more than 100 headers");
    const char *base = b->data + r->at;
    r->fields[r->nfields++] = (struct http_field){
        (uint16_t)(name.p - base),
        (uint16_t)name.n,
        (uint16_t)(value.p - base),
        (uint16_t)value.n,
    };
    return known_header(r, name, value);
}

/* --- the end of the head decides how the body is framed --- */

static enum http_event frame_request(struct http_reader *r)
{
    if (r->has_coding && r->has_length)
        return bad(r, 400, "Content-Length and Transfer-Encoding may not stand together");
    if (r->has_coding && r->minor_0)
        return bad(r, 400, "HTTP/1.0 has no Transfer-Encoding");
    if (!r->has_host && !r->minor_0)
        return bad(r, 400, "the Host header is missing");
    r->chunked = r->has_coding;
    return HTTP_DONE;
}

static enum http_event frame_response(struct http_reader *r, const struct buf *b)
{
    if (r->status == 101)
        return bad(r, 400, "the answer switches to another protocol");
    if (r->status < 200) { /* interim: the real answer follows */
        uint16_t interim = (uint16_t)(r->interim + 1);
        if (interim > 16)
            return bad(r, 400, "more than 16 interim answers");
        http_begin(r, HTTP_RESPONSE, r->pos, r->body_max);
        r->interim = interim;
        return read_start(r, (struct buf *)b);
    }
    if (r->status == 204 || r->status == 304) {
        r->length = 0;
    } else if (r->has_coding) {
        r->chunked = true;
        r->keep_alive = r->keep_alive && !r->has_length;
    } else if (!r->has_length) {
        r->to_eof = true;
        r->keep_alive = false;
    }
    return HTTP_DONE;
}

static enum http_event end_of_head(struct http_reader *r, struct buf *b)
{
    r->keep_alive = !r->has_close && (!r->minor_0 || r->has_keep_alive);
    bool interim = r->side == HTTP_RESPONSE && r->status < 200;
    enum http_event e = r->side == HTTP_REQUEST ? frame_request(r) : frame_response(r, b);
    if (e != HTTP_DONE || interim)
        return e;
    if (r->length > r->body_max)
        return bad(r, 413, "the body is larger than allowed");
    r->body_at = r->pos;
    r->phase = HTTP_IN_BODY;
    return HTTP_DONE;
}

static enum http_event read_headers(struct http_reader *r, struct buf *b)
{
    while (r->phase == HTTP_IN_HEADERS) {
        struct slice line;
        enum http_event e = take_line(r, b, r->at + HTTP_HEAD_MAX - r->pos, 431,
                                      "the head exceeds 16384 bytes", &line);
        if (e == HTTP_DONE)
            e = line.n ? header_line(r, b, line) : end_of_head(r, b);
        if (e != HTTP_DONE)
            return e;
    }
    return HTTP_DONE;
}

/* --- bodies --- */

static enum http_event finish(struct http_reader *r)
{
    r->phase = HTTP_IN_END;
    return HTTP_DONE;
}

static enum http_event read_plain(struct http_reader *r, const struct buf *b)
{
    uint64_t n = b->len - r->pos;
    uint64_t left = (r->to_eof ? r->body_max : r->length) - r->body_total;
    if (r->to_eof && n > left)
        return bad(r, 413, "the body is larger than allowed");
    if (n > left)
        n = left;
    r->body_total += n;
    r->body_len += n;
    r->pos += n;
    return !r->to_eof && r->body_total == r->length ? finish(r) : HTTP_MORE;
}

enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_TRAILER };

static enum http_event chunk_size(struct http_reader *r, const struct buf *b)
{
    struct slice line;
    enum http_event e =
        take_line(r, b, HTTP_CHUNK_LINE_MAX, 400, "a chunk's size line is too long", &line);
    if (e != HTTP_DONE)
        return e;
    uint64_t size = 0;
    size_t i = 0;
    for (; i < line.n && i < 16 && hex_digit(line.p[i]) >= 0; i++)
        size = size * 16 + (uint64_t)hex_digit(line.p[i]);
    size_t digits = i;
    while (r->side == HTTP_RESPONSE && i < line.n && line.p[i] == ' ')
        i++; /* some servers pad the size */
    if (digits == 0 || digits == 16 || (i < line.n && line.p[i] != ';') ||
        span(line.p + i, line.n - i, VALUE) != line.n - i)
        return bad(r, 400, "a chunk's size must be a hexadecimal number");
    if (size > r->body_max - r->body_total)
        return bad(r, 413, "the body is larger than allowed");
    r->chunk_left = size;
    r->chunk_step = size ? CHUNK_DATA : CHUNK_TRAILER;
    return HTTP_DONE;
}

/* The bytes of a chunk move down to the end of the body so far. */
static enum http_event chunk_data(struct http_reader *r, struct buf *b)
{
    uint64_t n = b->len - r->pos;
    if (n > r->chunk_left)
        n = r->chunk_left;
    size_t to = r->body_at + r->body_len;
    if (to != r->pos && n)
        memmove(b->data + to, b->data + r->pos, n);
    r->body_len += n;
    r->body_total += n;
    r->pos += n;
    r->chunk_left -= n;
    if (r->chunk_left)
        return HTTP_MORE;
    r->chunk_step = CHUNK_END;
    return HTTP_DONE;
}

static enum http_event chunk_end(struct http_reader *r, const struct buf *b)
{
    static const char rule[] = "a chunk is longer than its size says";
    struct slice line;
    enum http_event e = take_line(r, b, 2, 400, rule, &line);
    if (e != HTTP_DONE)
        return e;
    if (line.n)
        return bad(r, 400, rule);
    r->chunk_step = CHUNK_SIZE;
    return HTTP_DONE;
}

/* Trailers must be well formed, and are dropped. */
static enum http_event chunk_trailer(struct http_reader *r, const struct buf *b)
{
    size_t from = r->pos;
    struct slice line, name, value;
    enum http_event e =
        take_line(r, b, HTTP_HEAD_MAX - r->trailer, 431, "the trailer exceeds 16384 bytes", &line);
    if (e != HTTP_DONE)
        return e;
    r->trailer += r->pos - from;
    return line.n ? split_header(r, line, &name, &value) : finish(r);
}

static enum http_event read_chunks(struct http_reader *r, struct buf *b)
{
    enum http_event e = HTTP_DONE;
    while (e == HTTP_DONE && r->phase == HTTP_IN_BODY) {
        switch (r->chunk_step) {
        case CHUNK_SIZE:
            e = chunk_size(r, b);
            break;
        case CHUNK_DATA:
            e = chunk_data(r, b);
            break;
        case CHUNK_END:
            e = chunk_end(r, b);
            break;
        default:
            e = chunk_trailer(r, b);
        }
    }
    size_t end = r->body_at + r->body_len;
    if (e == HTTP_MORE && end != r->pos) { /* close the gap that sizes and line ends left */
        memmove(b->data + end, b->data + r->pos, b->len - r->pos);
        b->len -= r->pos - end;
        b->data[b->len] = '\0';
        r->pos = end;
    }
    return e;
}

/* --- the outside --- */

enum http_event http_read(struct http_reader *r, struct buf *b)
{
    enum http_event e = HTTP_DONE;
    if (r->phase == HTTP_IN_START)
        e = read_start(r, b);
    if (e == HTTP_DONE && r->phase == HTTP_IN_HEADERS)
        e = read_headers(r, b);
    if (e == HTTP_DONE && r->phase == HTTP_IN_BODY)
        e = r->chunked ? read_chunks(r, b) : read_plain(r, b);
    return r->phase == HTTP_IN_ERROR ? HTTP_BAD : e;
}

bool http_limit_body(struct http_reader *r, uint64_t max)
{
    if (max < r->body_total + r->chunk_left || (!r->chunked && max < r->length))
        return false;
    if (max < r->body_max)
        r->body_max = max;
    return true;
}

enum http_event http_eof(struct http_reader *r)
{
    if (r->phase == HTTP_IN_END)
        return HTTP_DONE;
    if (r->phase == HTTP_IN_ERROR)
        return HTTP_BAD;
    if (r->phase == HTTP_IN_BODY && r->to_eof)
        return finish(r);
    return bad(r, 400,
               r->phase == HTTP_IN_BODY ? "the connection ended inside the body"
                                        : "the connection ended inside the head");
}

void http_drop_body(struct http_reader *r, struct buf *b)
{
    if (r->phase < HTTP_IN_BODY || r->body_len == 0)
        return;
    memmove(b->data + r->body_at, b->data + r->pos, b->len - r->pos);
    b->len -= r->pos - r->body_at;
    b->data[b->len] = '\0';
    r->pos = r->body_at;
    r->body_len = 0;
}

struct slice http_method(const struct http_reader *r, const struct buf *b)
{
    return slice_of(b->data + r->at, r->method_len);
}

struct slice http_target(const struct http_reader *r, const struct buf *b)
{
    if (r->target_len == 0)
        return slice_text("/");
    return slice_of(b->data + r->at + r->target, r->target_len);
}

struct slice http_header(const struct http_reader *r, const struct buf *b, const char *name)
{
    size_t n = strlen(name);
    const char *base = b->data + r->at;
    for (int i = 0; i < r->nfields; i++) {
        const struct http_field *f = &r->fields[i];
        if (f->name_len == n && strncasecmp(base + f->name, name, n) == 0)
            return slice_of(base + f->value, f->value_len);
    }
    return slice_of(NULL, 0);
}

struct slice http_header_back(const struct http_reader *r, const struct buf *b, const char *name,
                              int nth)
{
    size_t n = strlen(name);
    const char *base = b->data + r->at;
    for (int i = r->nfields - 1; i >= 0; i--) {
        const struct http_field *f = &r->fields[i];
        if (f->name_len == n && strncasecmp(base + f->name, name, n) == 0 && nth-- == 0)
            return slice_of(base + f->value, f->value_len);
    }
    return slice_of(NULL, 0);
}

struct slice http_body(const struct http_reader *r, const struct buf *b)
{
    return slice_of(r->body_len ? b->data + r->body_at : "", r->body_len);
}

size_t http_rest(const struct http_reader *r)
{
    return r->pos;
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 303, "See Other" },
        { 304, "Not Modified" },
        { 307, "Temporary Redirect" },
        { 308, "Permanent Redirect" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 412, "Precondition Failed" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 422, "Unprocessable Content" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "Unknown";
}
