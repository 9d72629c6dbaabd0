/* SPDX-License-Identifier: Apache-2.0 */
/* The audit in both engines: rows come back, newest first, through filters, and go by age. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "support_store.h"

static void add(struct store *s, int64_t at_ms, const char *user, const char *action,
                const char *object, const char *name)
{
    struct audit_record r = { .at_ms = at_ms,
                              .user_id = 1,
                              .user = (char *)user,
                              .via = "console",
                              .address = "127.0.0.1",
                              .action = (char *)action,
                              .kind = strncmp(action, "job", 3) == 0 ? "job" : "user",
                              .object = (char *)object,
                              .name = (char *)name,
                              .reason = at_ms == 300 ? "because" : NULL,
                              .changes = "[]" };
    OP(s, users->audit_add, &r);
}

static bool add_id(void *ctx, const struct audit_record *r)
{
    char *text = ctx;
    size_t n = strlen(text);
    snprintf(text + n, 100 - n, "%lld ", (long long)r->id);
    return true;
}

static void entries_are_found_and_go_by_age(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    add(s, 100, "ann", "job.create", "7", "Nightly");
    add(s, 200, "bob", "job.update", "7", "Nightly");
    add(s, 300, "ann", "user.update", "7", "zoe");
    add(s, 400, "ann", "job.update", "8", "Hourly");
    OP(s, txn->commit, NULL);
    const struct {
        struct audit_filter f;
        const char *ids;
        int total;
    } cases[] = {
        { { .from_ms = -1, .to_ms = -1, .limit = 9 }, "4 3 2 1 ", 4 },
        { { .from_ms = -1, .to_ms = -1, .limit = 2 }, "4 3 ", 4 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .before_id = 3 }, "2 1 ", 4 },
        { { .from_ms = 200, .to_ms = 400, .limit = 9 }, "3 2 ", 2 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .user = "ann" }, "4 3 1 ", 3 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .action = "job.update" }, "4 2 ", 2 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .action = "job.*" }, "4 2 1 ", 3 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .action = "jo.*" }, "", 0 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .kind = "job", .object = "7" }, "2 1 ", 2 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .kind = "user", .object = "7" }, "3 ", 1 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .words = "NIGHT" }, "2 1 ", 2 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .words = "bo" }, "2 ", 1 },
        { { .from_ms = -1, .to_ms = -1, .limit = 9, .words = "8" }, "4 ", 1 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        char ids[100] = "";
        int64_t total = -1;
        OP(s, users->audit_page, &cases[i].f, add_id, ids, &total);
        if (strcmp(ids, cases[i].ids) != 0 || total != cases[i].total)
            fail_msg("case %zu: %s of %d", i, ids, (int)total);
    }
    struct audit_record r;
    OP(s, txn->begin);
    OP(s, users->audit_item_add, 3, "job", "7");
    OP(s, users->audit_item_add, 3, "job", "9");
    OP(s, txn->commit, NULL);
    const struct audit_filter of_job = {
        .from_ms = -1, .to_ms = -1, .limit = 9, .kind = "job", .object = "7"
    };
    char ids[100] = "";
    int64_t total = -1;
    OP(s, users->audit_page, &of_job, add_id, ids, &total);
    assert_string_equal(ids, "3 2 1 ");
    OP(s, users->audit_get, 3, &r);
    assert_int_equal(r.items, 2);
    assert_string_equal(r.reason, "because");
    audit_record_done(&r);
    OP(s, users->audit_get, 2, &r);
    assert_true(r.id == 2 && r.at_ms == 200 && r.user_id == 1);
    assert_string_equal(r.user, "bob");
    assert_string_equal(r.name, "Nightly");
    audit_record_done(&r);
    OP(s, txn->begin);
    OP(s, users->audit_expire, 400, 1);
    OP(s, users->audit_expire, 250, 3);
    OP(s, txn->commit, NULL);
    OP_FAILS(ERR_NOTFOUND, s, users->audit_get, 2, &r);
    OP(s, users->audit_get, 3, &r);
    audit_record_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(entries_are_found_and_go_by_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
