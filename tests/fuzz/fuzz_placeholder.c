/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a value with placeholders: nothing outside its bytes is read, what comes of it keeps
 * its bound, and a text without "${" stays as it is. */
#include <string.h>
#include "base/placeholder.h"
#include "fuzz.h"

static const char *value(void *ctx, const char *name)
{
    CHECK(name[0] && strlen(name) <= PLACEHOLDER_NAME_MAX);
    return name[0] == 'A' ? ctx : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf b = BUF_INIT(1000);
    struct why why = { "" };
    struct slice text = slice_of((const char *)data, n);
    enum err err = placeholder_fill(text, value, "${A}", &b, &why);
    CHECK((err == OK) == !why.text[0]);
    CHECK(b.len <= 1000);
    if (n <= 1000 && (n < 2 || !memmem(data, n, "${", 2)))
        CHECK(err == OK && b.len == n && (n == 0 || memcmp(b.data, data, n) == 0));
    buf_done(&b);
    return 0;
}
