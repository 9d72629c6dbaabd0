/* SPDX-License-Identifier: Apache-2.0 */
/* mime.c - both bodies are base64, which has no line that could be taken for a boundary, a dot or a
 * header, whatever stands in the texts; the subject is encoded words unless it is plain and short.
 * The HTML has no colours that a dark theme would break, and loads nothing. */
#include "alarm/mime.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"

#define BOUNDARY "=_peal_alarm" /* '_' is no character of base64 */
#define WORD_BYTES 45           /* of an encoded word: 60 characters, 75 with what is around them */
#define LINE_BYTES 57           /* of a line of base64: 76 characters */
#define PLAIN_MAX 60            /* characters of a subject that is left as it is */
#define MESSAGE_SHOWN 20000     /* bytes of a message in the mail */

/* ---- addresses ------------------------------------------------------------------------------- */

static bool label_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

static bool domain_ok(struct slice s)
{
    char before = '.';
    for (size_t i = 0; i < s.n; i++) {
        if (!label_char(s.p[i]) && (s.p[i] != '.' || before == '.'))
            return false;
        before = s.p[i];
    }
    return s.n && before != '.';
}

/* A dot-atom (RFC 5322 section 3.2.3). */
static bool local_ok(struct slice s)
{
    char before = '.';
    for (size_t i = 0; i < s.n; i++) {
        bool atext = label_char(s.p[i]) || (s.p[i] && strchr("!#$%&'*+/=?^_`{|}~", s.p[i]));
        if (!atext && (s.p[i] != '.' || before == '.'))
            return false;
        before = s.p[i];
    }
    return s.n && s.n <= 64 && before != '.';
}

enum err mime_address(struct slice text, struct why *why)
{
    const char *at = text.n ? memchr(text.p, '@', text.n) : NULL;
    size_t n = at ? (size_t)(at - text.p) : 0;
    if (at && text.n <= MIME_ADDRESS_MAX && local_ok(slice_of(text.p, n)) &&
        domain_ok(slice_of(at + 1, text.n - n - 1)))
        return OK;
    why_set(why, "a mail address is name@domain in ASCII, at most %d characters", MIME_ADDRESS_MAX);
    return ERR_INVALID;
}

/* ---- base64 ---------------------------------------------------------------------------------- */

void mime_base64(struct buf *out, const char *p, size_t n)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < n ? (unsigned char)p[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_char(out, i + k > n ? '=' : letters[v >> (18 - 6 * k) & 63]);
    }
}

/* Lines of a text end with CRLF before they are encoded (RFC 2045 section 6.8). */
static void crlf(struct buf *out, const struct buf *text)
{
    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] == '\n')
            buf_char(out, '\r');
        buf_char(out, text->data[i]);
    }
}

static void base64_lines(struct buf *out, const struct buf *body)
{
    for (size_t i = 0; i < body->len; i += LINE_BYTES) {
        size_t left = body->len - i;
        mime_base64(out, body->data + i, left < LINE_BYTES ? left : LINE_BYTES);
        buf_text(out, "\r\n");
    }
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool plain(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < ' ' || s.p[i] > '~')
            return false;
    return s.n <= PLAIN_MAX && !(s.n > 1 && memmem(s.p, s.n, "=?", 2));
}

void mime_words(struct buf *out, struct slice text)
{
    if (plain(text)) {
        buf_slice(out, text);
        return;
    }
    const char *before = "";
    while (text.n) {
        size_t n = utf8_cut(text.p, text.n, WORD_BYTES);
        if (!n) /* no UTF-8 */
            n = text.n < WORD_BYTES ? text.n : WORD_BYTES;
        buf_printf(out, "%s=?UTF-8?B?", before);
        mime_base64(out, text.p, n);
        buf_text(out, "?=");
        text = slice_of(text.p + n, text.n - n);
        before = "\r\n ";
    }
}

static void date(struct buf *out, int64_t now_ms)
{
    char text[64] = "";
    time_t seconds = (time_t)(now_ms / 1000);
    struct tm tm;
    if (gmtime_r(&seconds, &tm)) /* in the C locale, which this program never leaves */
        strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", &tm);
    buf_printf(out, "Date: %s\r\n", text);
}

enum word { W_TITLE, W_GROUP, W_JOB, W_NAME, W_KIND, W_WHEN, W_WHERE, W_CODE, W_LOG, W_HELD };

static const char *const words[2][10] = {
    { "Alarm of the scheduling center", "Executor group", "Job id", "Job", "Alarm", "Scheduled for",
      "Executor", "Code", "Content", "Alarms held back before this" },
    { "调度中心监控报警", "执行器", "任务ID", "任务描述", "告警类型", "调度时间", "执行器地址",
      "结果码", "告警内容", "此前被限流的告警数" },
};

static const char *word(const struct alarm_message *m, enum word w)
{
    return words[m->lang == WIRE_LANG_ZH_CN][w];
}

static void subject(struct buf *out, const struct alarm_message *m)
{
    struct buf text = BUF_INIT(1024);
    buf_text(&text, m->title);
    buf_text(out, "Subject: ");
    mime_words(out, slice_of(text.data, text.len));
    buf_text(out, "\r\n");
    buf_done(&text);
}

/* The id's right side is the sender's domain, as most servers write it. */
static void headers(struct buf *out, const struct alarm_message *m, const char *from,
                    int64_t now_ms)
{
    const char *domain = strchr(from, '@');
    date(out, now_ms);
    buf_printf(out, "From: Peal <%s>\r\nTo: <%s>\r\n", from, m->target);
    subject(out, m);
    buf_printf(out,
               "Message-ID: <%s%s>\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
               "Content-Type: multipart/alternative; boundary=\"" BOUNDARY "\"\r\n\r\n",
               m->id, domain ? domain : "");
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static struct slice shown(const char *text)
{
    return slice_of(text, utf8_cut(text, strlen(text), MESSAGE_SHOWN));
}

/* A message of XXL-JOB is HTML in places: its line breaks become ours. */
static void message_text(struct buf *out, const char *text)
{
    struct slice s = shown(text);
    while (s.n) {
        const char *br = memmem(s.p, s.n, "<br>", 4);
        size_t n = br ? (size_t)(br - s.p) : s.n;
        buf_add(out, s.p, n);
        if (br)
            buf_char(out, '\n');
        n += br ? 4 : 0;
        s = slice_of(s.p + n, s.n - n);
    }
}

static bool is_run(const struct alarm_message *m)
{
    return strcmp(m->event, ALARM_RUN_FAILED) == 0;
}

struct fact {
    enum word label;
    const char *text;
};

enum { FACTS = 7 };

/* numbers: room for the texts of two of them. */
static void facts(const struct alarm_message *m, char numbers[2][24], struct fact ret[FACTS])
{
    numbers[0][0] = numbers[1][0] = '\0';
    if (is_run(m)) {
        snprintf(numbers[0], 24, "%lld", (long long)m->job_id);
        snprintf(numbers[1], 24, "%d", m->code);
    }
    const struct fact all[FACTS] = {
        { W_GROUP, m->group },  { W_JOB, numbers[0] }, { W_NAME, m->job },
        { W_KIND, m->outcome }, { W_WHEN, m->when },   { W_WHERE, m->address },
        { W_CODE, numbers[1] },
    };
    memcpy(ret, all, sizeof(all));
}

static void item(struct buf *out, const struct alarm_item *i)
{
    buf_printf(out, "%s (%lld)", i->job, (long long)i->job_id);
    if (i->log_id)
        buf_printf(out, ", logId=%lld", (long long)i->log_id);
    if (i->failures)
        buf_printf(out, ", %lldx", (long long)i->failures);
    if (i->took_ms)
        buf_printf(out, ", %lld ms", (long long)i->took_ms);
    buf_printf(out, "%s%s\n", i->cause[0] ? ": " : "", i->cause);
}

/* What a rule has found: its jobs, and how many others there are. */
static void content_of_alarm(struct buf *out, const struct alarm_message *m)
{
    buf_printf(out, "%s\n", m->title);
    for (int i = 0; i < m->nitems; i++)
        item(out, &m->items[i]);
    if (m->jobs > m->nitems)
        buf_printf(out, "+%lld\n", (long long)(m->jobs - m->nitems));
    if (m->held)
        buf_printf(out, "(%s: %lld)\n", word(m, W_HELD), (long long)m->held);
}

/* log id, then what the center and the executor said. */
static void content(struct buf *out, const struct alarm_message *m)
{
    if (!is_run(m)) {
        content_of_alarm(out, m);
        return;
    }
    buf_printf(out, "logId=%lld\n", (long long)m->log_id);
    if (m->trigger_msg[0]) {
        buf_text(out, "trigger: ");
        message_text(out, m->trigger_msg);
        buf_char(out, '\n');
    }
    if (m->handle_msg[0]) {
        buf_text(out, "handle: ");
        message_text(out, m->handle_msg);
        buf_char(out, '\n');
    }
}

static void body_text(struct buf *out, const struct alarm_message *m)
{
    char numbers[2][24];
    struct fact all[FACTS];
    facts(m, numbers, all);
    buf_printf(out, "%s\n\n", word(m, W_TITLE));
    for (int i = 0; i < FACTS; i++)
        if (is_run(m) || all[i].text[0])
            buf_printf(out, "%s: %s\n", word(m, all[i].label), all[i].text);
    buf_printf(out, "\n%s:\n", word(m, W_LOG));
    content(out, m);
}

static void cell(struct buf *out, const char *tag, const char *style, struct slice text)
{
    buf_printf(out, "<%s style=\"border:1px solid #999;padding:4px 8px;text-align:left;%s\">", tag,
               style);
    wire_html(out, text);
    buf_printf(out, "</%s>", tag);
}

static void body_html(struct buf *out, const struct alarm_message *m)
{
    char numbers[2][24];
    struct fact all[FACTS];
    struct buf said = BUF_INIT(1 << 18);
    facts(m, numbers, all);
    content(&said, m);
    buf_text(out, "<!DOCTYPE html>\n<html><body>\n<h3>");
    wire_html(out, slice_text(word(m, W_TITLE)));
    buf_text(out, "</h3>\n<table style=\"border-collapse:collapse\">\n");
    for (int i = 0; i < FACTS; i++) {
        if (!is_run(m) && !all[i].text[0])
            continue;
        buf_text(out, "<tr>");
        cell(out, "th", "", slice_text(word(m, all[i].label)));
        cell(out, "td", "", slice_text(all[i].text));
        buf_text(out, "</tr>\n");
    }
    buf_text(out, "<tr>");
    cell(out, "th", "", slice_text(word(m, W_LOG)));
    cell(out, "td", "font-family:monospace", slice_of(said.data, said.len));
    buf_text(out, "</tr>\n</table>\n</body></html>\n");
    buf_done(&said);
}

static void part(struct buf *out, const char *type, const struct alarm_message *m,
                 void (*body)(struct buf *, const struct alarm_message *))
{
    struct buf text = BUF_INIT(1 << 20), b = BUF_INIT(2 << 20);
    body(&text, m);
    crlf(&b, &text);
    buf_printf(out,
               "--" BOUNDARY "\r\nContent-Type: %s; charset=UTF-8\r\n"
               "Content-Transfer-Encoding: base64\r\n\r\n",
               type);
    base64_lines(out, &b);
    buf_done(&text);
    buf_done(&b);
}

void mime_mail(struct buf *out, const struct alarm_message *m, const char *from, int64_t now_ms)
{
    headers(out, m, from, now_ms);
    part(out, "text/plain", m, body_text);
    part(out, "text/html", m, body_html);
    buf_text(out, "--" BOUNDARY "--\r\n");
}
