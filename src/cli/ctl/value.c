/* SPDX-License-Identifier: Apache-2.0 */
/* What a center answered, read member by member, and made fit for a terminal. */
#include "cli/ctl/value.h"
#include "base/str.h"
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 4 << 20 };

const json_t *ctl_member(const json_t *o, const char *path)
{
    while (o && path) {
        char name[64];
        const char *dot = strchr(path, '.');
        size_t n = dot ? (size_t)(dot - path) : strlen(path);
        text_copy(name, sizeof(name), slice_of(path, n));
        o = json_object_get(o, name);
        path = dot ? dot + 1 : NULL;
    }
    return o;
}

const char *ctl_text(const json_t *o, const char *path)
{
    const char *text = json_string_value(ctl_member(o, path));
    return text ? text : "";
}

int64_t ctl_i64(const json_t *o, const char *path)
{
    return json_integer_value(ctl_member(o, path));
}

const char *ctl_instant(int64_t ms, char to[40])
{
    struct tm tm;
    time_t s = (time_t)(ms / 1000);
    if (!gmtime_r(&s, &tm) || !strftime(to, 40, "%Y-%m-%dT%H:%M:%SZ", &tm))
        to[0] = '\0';
    return to;
}

/* ---- text of a terminal ---------------------------------------------------------------------- */

/* Bytes of a sequence that only colours, ESC [ digits ; m; 0: it is another. */
static size_t sgr_at(const char *p, size_t n)
{
    if (n < 3 || p[0] != '\033' || p[1] != '[')
        return 0;
    for (size_t i = 2; i < n && i < 32; i++) {
        if (p[i] == 'm')
            return i + 1;
        if ((p[i] < '0' || p[i] > '9') && p[i] != ';')
            return 0;
    }
    return 0;
}

/* C0, DEL, and C1, which are U+0080 to U+009F. */
static bool control(const char *p, size_t n)
{
    unsigned char a = (unsigned char)p[0], b = n > 1 ? (unsigned char)p[1] : 0;
    return a < ' ' || a == 0x7f || (n == 2 && a == 0xc2 && b < 0xa0);
}

void ctl_clean(struct buf *to, const char *p, size_t n, bool sgr)
{
    for (size_t i = 0; i < n;) {
        size_t colour = sgr ? sgr_at(p + i, n - i) : 0, size = utf8_char(p + i, n - i);
        if (colour) {
            buf_add(to, p + i, colour);
            i += colour;
            continue;
        }
        if (!size)
            buf_text(to, "\xef\xbf\xbd"); /* U+FFFD */
        else if (sgr && (p[i] == '\t' || p[i] == '\n'))
            buf_char(to, p[i]);
        else if (control(p + i, size))
            buf_char(to, ' ');
        else
            buf_add(to, p + i, size);
        i += size ? size : 1;
    }
}

void ctl_put(FILE *to, const char *text)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    ctl_clean(&b, text, strlen(text), false);
    fprintf(to, "%s\n", buf_str(&b));
    buf_done(&b);
}
