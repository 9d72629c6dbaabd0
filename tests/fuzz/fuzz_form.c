/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever form_parse takes is text: written again and read again it is the same. The first line of
 * the input is the query, the rest the body. */
#include <string.h>
#include "fuzz.h"
#include "api/form.h"
#include "base/buf.h"

static void encode(struct buf *out, const char *text)
{
    for (; *text; text++)
        buf_printf(out, "%%%02X", (unsigned char)*text);
}

static void same(const struct form *f)
{
    struct buf b = BUF_INIT(8 << 20);
    struct form again;
    for (size_t i = 0; i < f->n; i++) {
        buf_char(&b, '&');
        encode(&b, f->items[i].name);
        buf_char(&b, '=');
        encode(&b, f->items[i].value);
    }
    CHECK(form_parse(slice_text(""), slice_of(b.data, b.len), &again, NULL) == OK);
    CHECK(again.n == f->n);
    for (size_t i = 0; i < f->n; i++) {
        CHECK(strcmp(again.items[i].name, f->items[i].name) == 0);
        CHECK(strcmp(again.items[i].value, f->items[i].value) == 0);
    }
    form_done(&again);
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data;
    const char *end = size ? memchr(p, '\n', size) : NULL;
    size_t n = end ? (size_t)(end - p) : size;
    struct slice body = end ? slice_of(end + 1, size - n - 1) : slice_of(NULL, 0);
    struct form f;
    struct why why = { "" };
    if (form_parse(slice_of(p, n), body, &f, &why)) {
        CHECK(why.text[0] && f.n == 0 && !f.text);
        return 0;
    }
    CHECK(f.n <= FORM_ITEMS_MAX);
    for (size_t i = 0; i < f.n; i++) {
        CHECK(utf8_valid(f.items[i].value, strlen(f.items[i].value)));
        CHECK(strlen(f.items[i].name) <= FORM_NAME_MAX);
        CHECK(form_get(&f, f.items[i].name) != NULL);
    }
    same(&f);
    form_done(&f);
    return 0;
}
