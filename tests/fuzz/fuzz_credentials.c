/* SPDX-License-Identifier: Apache-2.0 */
/* What clients send to say who they are and what they repeat: a personal access token (first byte
 * 't'), an Idempotency-Key ('i'); and texts of rights: XXL-JOB's list of groups ('x'), a token's
 * permissions ('p'). What is taken is written as it was meant. */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "api/idem.h"
#include "api/token.h"
#include "base/mem.h"
#include "model/rights.h"

static void token(struct slice text)
{
    char digest[65] = "";
    bool good = token_digest(text, digest);
    CHECK(good == (strlen(digest) == 64));
    if (!good)
        return;
    CHECK(text.n == TOKEN_TEXT_SIZE - 1 && memcmp(text.p, "pat_", 4) == 0);
    for (size_t i = 0; i < text.n; i++)
        CHECK(text.p[i] > ' ' && text.p[i] < 0x7f);
}

static void key(struct slice text)
{
    bool visible = true;
    for (size_t i = 0; i < text.n; i++)
        visible = visible && text.p[i] > ' ' && text.p[i] < 0x7f;
    CHECK(idem_key_ok(text) == (visible && text.n >= IDEM_KEY_MIN && text.n <= IDEM_KEY_MAX));
}

/* What XXL-JOB's column says, and what it says after we have written it, give the same groups. */
static void groups(const char *text)
{
    struct rights first, again;
    char *written;
    int role;
    rights_of_xxl(0, text, &first);
    CHECK(first.n >= 0 && first.n <= GRANTS_MAX);
    for (int i = 0; i < first.n; i++) {
        CHECK(first.grants[i].group_id > 0 && first.grants[i].role == ROLE_DEVELOPER);
        CHECK(i == 0 || first.grants[i - 1].group_id < first.grants[i].group_id);
    }
    rights_to_xxl(&first, &role, &written);
    CHECK(role == 0);
    rights_of_xxl(role, written, &again);
    CHECK(again.n <= first.n); /* the column has room for so many */
    for (int i = 0; i < again.n; i++)
        CHECK(again.grants[i].group_id == first.grants[i].group_id);
    rights_done(&first);
    rights_done(&again);
    free(written);
    free(rights_xxl_text(0, text));
}

static void permissions(struct slice text)
{
    struct buf out = BUF_INIT(1000);
    struct why why = { "" };
    unsigned set, again;
    if (permissions_read(text, &set, &why)) {
        CHECK(why.text[0]);
    } else {
        permissions_write(set, &out);
        CHECK(permissions_read(slice_of(out.data, out.len), &again, &why) == OK && again == set);
    }
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct slice text = slice_of((const char *)data + 1, size - 1);
    char *copy = mem_dupn(text.p, text.n);
    if (data[0] == 't')
        token(text);
    else if (data[0] == 'i')
        key(text);
    else if (data[0] == 'x')
        groups(copy);
    else
        permissions(text);
    free(copy);
    return 0;
}
