/* SPDX-License-Identifier: Apache-2.0 */
/* What cursor_read takes is exactly what cursor_write writes. The input is the text of a cursor as
 * a client sends it; a second one is made of its bytes, so that some get past the HMAC. */
#include <string.h>
#include "fuzz.h"
#include "api/cursor.h"

static const unsigned char key[CURSOR_KEY_SIZE] = "the fuzzer's";

static void same(struct slice text, const struct cursor *c)
{
    char again[CURSOR_SIZE];
    cursor_write(c, 1, key, again);
    CHECK(slice_eq(text, again));
}

static void as_text(struct slice text)
{
    struct cursor c;
    struct why why = { "" };
    if (cursor_read(text, 1, key, &c, &why))
        CHECK(why.text[0]);
    else
        same(text, &c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor c = { 0 };
    char text[CURSOR_SIZE];
    as_text(slice_of((const char *)data, size));
    memcpy(&c.number, data, size < 8 ? size : 8);
    size_t n = size > 8 ? size - 8 : 0;
    memcpy(c.text, data + size - n, n < CURSOR_TEXT_MAX ? n : CURSOR_TEXT_MAX);
    if (!utf8_valid(c.text, strlen(c.text)))
        return 0;
    cursor_write(&c, 1, key, text);
    CHECK(strlen(text) < sizeof(text));
    as_text(slice_text(text));
    return 0;
}
