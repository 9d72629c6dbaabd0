/* SPDX-License-Identifier: Apache-2.0 */
/* Whole tables in slices: every row once, by its key, with every type of column. */
#include "support_store.h"
#include "base/mem.h"
#include "store/bulk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bulk_column span_columns[] = {
    { "slot", BULK_I64 },
    { "first_id", BULK_I64 },
    { "last_id", BULK_I64 },
};
static const struct bulk_table spans = { "peal_log_span", span_columns, 3, 0 };

static const struct bulk_column item_columns[] = {
    { "audit_id", BULK_I64 },
    { "kind", BULK_TEXT },
    { "object", BULK_TEXT },
};
static const struct bulk_table items = { "peal_audit_item", item_columns, 3, 3 };

static const struct bulk_column story_columns[] = {
    { "log_id", BULK_I64 },
    { "cause", BULK_I64 },
    { "steps", BULK_BLOB },
};
static const struct bulk_table stories = { "peal_story", story_columns, 3, 1 };

static const struct bulk_column job_columns_[] = {
    { "job_id", BULK_I64 },
    { "retry_backoff", BULK_REAL },
    { "zone", BULK_TEXT },
};
static const struct bulk_table jobs = { "peal_job", job_columns_, 3, 1 };

static struct bulk_sum put_rows(struct store *s, const struct bulk_table *t,
                                void (*row)(int i, struct bulk_value *values), int n)
{
    struct bulk_put *put;
    struct bulk_sum sum = { 0 };
    OP(s, txn->begin);
    EXPECT(bulk_begin(s, t, &put, &why), OK);
    for (int i = 0; i < n; i++) {
        struct bulk_value values[BULK_COLUMNS_MAX] = { { .null = false } };
        row(i, values);
        EXPECT(bulk_row(put, values, &why), OK);
        bulk_sum_add(&sum, t, values);
    }
    bulk_end(put);
    OP(s, txn->commit, NULL);
    return sum;
}

struct seen {
    const struct bulk_table *table;
    struct bulk_sum sum;
    int64_t last;
    int fail_at; /* 0: never */
};

static enum err see(void *ctx, const struct bulk_value *values, struct why *why)
{
    struct seen *s = ctx;
    if (s->fail_at && s->sum.rows + 1 == s->fail_at) {
        why_set(why, "as the test wants it");
        return ERR_STOPPING;
    }
    bulk_sum_add(&s->sum, s->table, values);
    s->last = values[0].number;
    return OK;
}

static void same(const struct bulk_sum *a, const struct bulk_sum *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_true(a->hash == b->hash);
}

static void span_row(int i, struct bulk_value *v)
{
    v[0].number = (i - 1200) * INT64_C(7);
    v[1].number = i;
    v[2].number = INT64_MAX - i;
}

static enum err in_order(void *ctx, const struct bulk_value *values, struct why *why)
{
    struct seen *s = ctx;
    assert_true(s->sum.rows == 0 || values[0].number > s->last);
    return see(ctx, values, why);
}

/* Slices of several sizes, of which some end with the table's last row. */
static void a_table_is_read_in_slices(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    static const int sizes[] = { 1, 7, 500, 2500, 2501 };
    struct bulk_sum sum = put_rows(s, &spans, span_row, 2500);
    for (size_t i = 0; i < countof(sizes); i++) {
        struct seen seen = { .table = &spans };
        struct bulk_place at = { 0 };
        int n = sizes[i], slices = 0;
        for (; n == sizes[i]; slices++) {
            EXPECT(bulk_slice(s, &spans, &at, sizes[i], in_order, &seen, &n, &why), OK);
            assert_true(n <= sizes[i]);
            assert_int_equal(at.key[0].number, seen.last);
        }
        same(&seen.sum, &sum);
        assert_int_equal(slices, 2500 / sizes[i] + 1);
        bulk_place_done(&at);
    }
    struct seen all = { .table = &spans };
    EXPECT(bulk_each(s, &spans, in_order, &all, &why), OK);
    same(&all.sum, &sum);
}

static void a_slice_goes_on_behind_the_row_that_was_taken_last(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct bulk_sum sum = put_rows(s, &spans, span_row, 50);
    struct seen seen = { .table = &spans, .fail_at = 20 };
    struct bulk_place at = { 0 };
    int n;
    EXPECT(bulk_slice(s, &spans, &at, 100, in_order, &seen, &n, &why), ERR_STOPPING);
    assert_int_equal(seen.sum.rows, 19);
    seen.fail_at = 0;
    EXPECT(bulk_slice(s, &spans, &at, 100, in_order, &seen, &n, &why), OK);
    assert_int_equal(n, 31);
    same(&seen.sum, &sum);
    bulk_place_done(&at);
}

static void item_row(int i, struct bulk_value *v)
{
    static char texts[64][24];
    v[0].number = i / 20;
    v[1].text = i / 5 % 4 == 0   ? ""
                : i / 5 % 4 == 1 ? "job"
                : i / 5 % 4 == 2 ? "user"
                                 : "\xe7\xbb\x84";
    snprintf(texts[i], sizeof(texts[i]), "%d", i % 5);
    v[2].text = texts[i];
}

static void a_key_of_several_columns_is_walked(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct bulk_sum sum = put_rows(s, &items, item_row, 60);
    for (int size = 1; size <= 61; size += 3) {
        struct seen seen = { .table = &items };
        struct bulk_place at = { 0 };
        for (int n = size; n == size;)
            EXPECT(bulk_slice(s, &items, &at, size, see, &seen, &n, &why), OK);
        same(&seen.sum, &sum);
        bulk_place_done(&at);
    }
}

static void story_row(int i, struct bulk_value *v)
{
    static const char bytes[] = "\0\xff'\\x\0\n";
    v[0].number = i + 1;
    v[2].bytes = slice_of(bytes, (size_t)i); /* the first is empty */
}

static void job_row(int i, struct bulk_value *v)
{
    static const double reals[] = { 0.1, -1e300, 5e-324, 1.0 / 3, 0 };
    v[0].number = i + 1;
    v[1].null = i == 4;
    v[1].real = reals[i];
    v[2].null = i % 2 == 0;
    v[2].text = "Asia/Shanghai";
}

static void bytes_and_reals_read_as_they_were_written(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct bulk_sum sum = put_rows(s, &stories, story_row, 8);
    struct seen seen = { .table = &stories };
    EXPECT(bulk_each(s, &stories, see, &seen, &why), OK);
    same(&seen.sum, &sum);
    sum = put_rows(s, &jobs, job_row, 5);
    seen = (struct seen){ .table = &jobs };
    EXPECT(bulk_each(s, &jobs, see, &seen, &why), OK);
    same(&seen.sum, &sum);
}

/* Another program may have put one there: what stands behind it must not get lost without a word.
 */
static void a_nul_is_refused(void **state)
{
    (void)state;
    struct engine *e = engine_new(ENGINE_SQLITE);
    struct seen seen = { .table = &jobs };
    struct why why = { "" };
    put_rows(e->s, &jobs, job_row, 2);
    engine_sql(e, "UPDATE peal_job SET zone = 'a' || char(0) || 'b' WHERE job_id = 2");
    assert_int_equal(bulk_each(e->s, &jobs, see, &seen, &why), ERR_INVALID);
    assert_string_equal(why.text, "peal_job, job_id 2: column zone holds a NUL");
    engine_free(e);
}

static void memory_is_refused(void **state)
{
    struct seen seen = { .table = &jobs };
    struct why why = { "" };
    assert_int_equal(bulk_each(((struct engine *)*state)->s, &jobs, see, &seen, &why), ERR_INVALID);
}

#define SQL(f)                                                                                     \
    {                                                                                              \
#f, f, setup_sql, teardown_engine, NULL                                                    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQL(a_table_is_read_in_slices),
        SQL(a_slice_goes_on_behind_the_row_that_was_taken_last),
        SQL(a_key_of_several_columns_is_walked),
        SQL(bytes_and_reals_read_as_they_were_written),
        cmocka_unit_test(a_nul_is_refused),
        { "memory_is_refused", memory_is_refused, setup_memory, teardown_engine, NULL },
    };
    return cmocka_run_group_tests_name("store.bulk", tests, NULL, NULL);
}
