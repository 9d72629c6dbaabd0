/* SPDX-License-Identifier: Apache-2.0 */
/* Requests with an Idempotency-Key in both engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "support_store.h"

static int64_t insert(struct store *s, int64_t user_id, const char *key, int64_t at_ms)
{
    struct idem_record r = {
        .user_id = user_id, .key = (char *)key, .digest = "abc", .at_ms = at_ms, .group_id = 7
    };
    OP(s, users->idem_insert, &r);
    assert_true(r.id > 0);
    return r.id;
}

static bool there(struct store *s, int64_t user_id, const char *key)
{
    struct idem_record r;
    struct why why = { "" };
    enum err err = s->ops->users->idem_find(s, user_id, key, &r, &why);
    if (!err)
        idem_record_done(&r);
    return !err;
}

static void requests_are_kept_by_user_and_key(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t made = 0;
    OP(s, txn->begin);
    int64_t one = insert(s, 1, "the-key-1", 100), two = insert(s, 2, "the-key-1", 200);
    insert(s, 1, "the-key-2", 300);
    OP(s, users->idem_made_put, one, 0, 0);
    OP(s, users->idem_made_put, one, 0, 41);
    OP(s, users->idem_made_put, one, 5, 42);
    OP(s, users->idem_made_put, two, 0, 43);
    const struct idem_record answer = {
        .id = one, .status = 201, .headers = "Location: x\r\n", .answer = "{}"
    };
    OP(s, users->idem_answer, &answer);
    OP(s, txn->commit, NULL);

    struct idem_record r;
    OP(s, users->idem_find, 1, "the-key-1", &r);
    assert_true(r.id == one && r.status == 201 && r.at_ms == 100 && r.group_id == 7);
    assert_string_equal(r.digest, "abc");
    assert_string_equal(r.headers, "Location: x\r\n");
    assert_string_equal(r.answer, "{}");
    idem_record_done(&r);
    OP(s, users->idem_find, 2, "the-key-1", &r);
    assert_true(r.id == two && !r.answer);
    idem_record_done(&r);
    assert_false(there(s, 3, "the-key-1"));
    OP(s, users->idem_made_get, one, 0, &made);
    assert_int_equal(made, 41);
    OP(s, users->idem_made_get, one, 5, &made);
    assert_int_equal(made, 42);
    OP_FAILS(ERR_NOTFOUND, s, users->idem_made_get, two, 5, &made);

    OP(s, txn->begin);
    OP(s, users->idem_expire, 300, 1);
    OP(s, txn->commit, NULL);
    assert_false(there(s, 1, "the-key-1"));
    assert_true(there(s, 2, "the-key-1"));
    OP_FAILS(ERR_NOTFOUND, s, users->idem_made_get, one, 0, &made);
    OP(s, txn->begin);
    OP(s, users->idem_expire, 300, 9);
    OP(s, users->idem_delete, two);
    OP(s, txn->commit, NULL);
    assert_false(there(s, 2, "the-key-1"));
    assert_true(there(s, 1, "the-key-2"));
    OP_FAILS(ERR_NOTFOUND, s, users->idem_made_get, two, 0, &made);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(requests_are_kept_by_user_and_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
