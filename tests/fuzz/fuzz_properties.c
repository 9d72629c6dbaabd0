/* SPDX-License-Identifier: Apache-2.0 */
/* What the properties grammar reads, written with every character escaped, reads as the same. */
#include <string.h>
#include "fuzz.h"
#include "base/buf.h"
#include "base/properties.h"

struct entries {
    struct buf file;  /* the entries as a file again */
    struct buf plain; /* their keys and values, each with its length */
};

/* A control character by its number, anything else behind a backslash if it is ASCII. */
static void escape(struct buf *out, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < ' ')
            buf_printf(out, "\\u%04x", c);
        else if (c < 0x80 && !strchr("tnrfu", c))
            buf_printf(out, "\\%c", c);
        else
            buf_char(out, (char)c);
    }
}

static enum err entry(void *ctx, struct slice key, struct slice value, int line, struct why *why)
{
    struct entries *e = ctx;
    (void)why;
    CHECK(line > 0);
    CHECK(utf8_valid(key.p, key.n) && utf8_valid(value.p, value.n));
    CHECK(!memchr(key.p, '\0', key.n) && !memchr(value.p, '\0', value.n));
    escape(&e->file, key);
    buf_char(&e->file, '=');
    escape(&e->file, value);
    buf_char(&e->file, '\n');
    buf_printf(&e->plain, "%zu %zu ", key.n, value.n);
    buf_slice(&e->plain, key);
    buf_slice(&e->plain, value);
    return OK;
}

static void init(struct entries *e)
{
    buf_init(&e->file, 16 << 20);
    buf_init(&e->plain, 16 << 20);
}

static void done(struct entries *e)
{
    buf_done(&e->file);
    buf_done(&e->plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct entries a, b;
    struct why why = { "" };
    init(&a);
    init(&b);
    if (properties_read(slice_of((const char *)data, size), entry, &a, &why)) {
        CHECK(why.text[0]);
    } else if (a.file.len <= PROPERTIES_MAX) {
        CHECK(properties_read(slice_of(a.file.data, a.file.len), entry, &b, NULL) == OK);
        CHECK(a.plain.len == b.plain.len);
        CHECK(a.plain.len == 0 || memcmp(a.plain.data, b.plain.data, a.plain.len) == 0);
    }
    done(&a);
    done(&b);
    return 0;
}
