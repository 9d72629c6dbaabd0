/* SPDX-License-Identifier: Apache-2.0 */
/* A registration that is taken can be written, read and joined with others by commas. */
#include <string.h>
#include "fuzz.h"
#include "wire/open_api.h"

static bool equal(struct slice a, struct slice b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_registry r, again;
    struct why why = { "" };
    if (wire_registry_parse(slice_of((const char *)data, size), wire_address_check, &r, &why)) {
        CHECK(why.text[0]);
        return 0;
    }
    for (size_t i = 0; i < r.value.n; i++)
        CHECK((unsigned char)r.value.p[i] > ' ' && r.value.p[i] != ',' && r.value.p[i] != '<');
    struct buf b = BUF_INIT(1 << 20);
    wire_registry_body(&b, r.key, r.value);
    CHECK(wire_registry_parse(slice_of(b.data, b.len), wire_address_check, &again, NULL) == OK);
    CHECK(equal(r.key, again.key) && equal(r.value, again.value));
    wire_registry_done(&again);
    wire_registry_done(&r);
    buf_done(&b);
    return 0;
}
