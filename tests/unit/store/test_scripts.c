/* SPDX-License-Identifier: Apache-2.0 */
/* What store.h promises of versions of scripts, against every engine. */
#include "support_store.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

struct seen {
    int n;
    int64_t id[40], bytes[40];
};

static bool see(void *ctx, const struct script_record *r)
{
    struct seen *s = ctx;
    assert_null(r->source); /* lists do without */
    s->bytes[s->n] = r->bytes;
    s->id[s->n++] = r->id;
    return s->n < 40;
}

static int64_t add(struct store *s, int64_t job, const char *source, int keep)
{
    struct script_record r = { .job_id = job,
                               .glue_type = "GLUE_SHELL",
                               .source = (char *)source,
                               .remark = "a remark",
                               .added_ms = 1700000000000 };
    OP(s, catalog->script_add, &r, keep);
    assert_true(r.id > 0);
    return r.id;
}

static void the_newest_are_kept_and_listed_first(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct seen seen = { 0 };
    int64_t id[5];
    OP(s, txn->begin);
    int64_t other = add(s, 8, "other", 3);
    for (int i = 0; i < 5; i++)
        id[i] = add(s, 7, "\xe4\xb8\xad", 3);
    OP(s, txn->commit, NULL);
    OP(s, catalog->scripts_each, 7, 0, 40, see, &seen);
    assert_int_equal(seen.n, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(seen.id[i], id[4 - i]);
        assert_int_equal(seen.bytes[i], 3);
    }
    seen.n = 0;
    OP(s, catalog->scripts_each, 7, id[4], 1, see, &seen);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.id[0], id[3]);
    seen.n = 0;
    OP(s, catalog->scripts_each, 8, 0, 40, see, &seen);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.id[0], other);
}

static void a_version_is_its_jobs(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct script_record r;
    OP(s, txn->begin);
    int64_t id = add(s, 7, "echo", 30);
    OP(s, txn->commit, NULL);
    OP(s, catalog->script_get, 7, id, &r);
    assert_string_equal(r.source, "echo");
    assert_string_equal(r.remark, "a remark");
    assert_string_equal(r.glue_type, "GLUE_SHELL");
    assert_int_equal(r.added_ms, 1700000000000);
    assert_int_equal(r.bytes, 4);
    script_record_done(&r);
    assert_int_equal(s->ops->catalog->script_get(s, 8, id, &r, NULL), ERR_NOTFOUND);
    assert_int_equal(s->ops->catalog->script_get(s, 7, id + 1, &r, NULL), ERR_NOTFOUND);
}

static void they_go_with_their_job(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct seen seen = { 0 };
    OP(s, txn->begin);
    int64_t job = sample_job_add(s, "j", 1000);
    add(s, job, "echo", 30);
    OP(s, catalog->job_delete, job);
    OP(s, txn->commit, NULL);
    OP(s, catalog->scripts_each, job, 0, 40, see, &seen);
    assert_int_equal(seen.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(the_newest_are_kept_and_listed_first),
        BOTH(a_version_is_its_jobs),
        BOTH(they_go_with_their_job),
    };
    return cmocka_run_group_tests_name("store.scripts", tests, NULL, NULL);
}
