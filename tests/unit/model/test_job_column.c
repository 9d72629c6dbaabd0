/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a job's columns: what goes over all of them, and that it agrees with the enums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "model/job.h"

/* Something else than what stands there. */
static void change(struct job_record *r, const struct job_column *c)
{
    if (c->type == JOB_REAL) {
        *job_real(r, c) += 0.5;
    } else if (c->type < JOB_TEXT) {
        job_number_set(r, c, c->type == JOB_BOOL ? !job_number(r, c) : job_number(r, c) - 1);
    } else {
        free(*job_text(r, c));
        *job_text(r, c) = mem_dup(c->name);
    }
}

static void a_new_record_has_the_defaults(void **state)
{
    (void)state;
    struct job_record r;
    memset(&r, 0x55, sizeof(r));
    job_record_init(&r);
    assert_int_equal(r.id, 0);
    assert_null(r.description);
    assert_null(r.dst);
    assert_int_equal(r.timeout_s, 0);
    assert_false(r.enabled);
    assert_int_equal(r.misfire_max, 100);
    assert_int_equal(r.retry_delay_ms, 5000);
    assert_int_equal(r.start_deadline_ms, 60000);
    assert_true(r.retry_backoff == 1);
    assert_true(r.next_ms == NEVER_MS);
}

static void a_copy_owns_its_text(void **state)
{
    (void)state;
    struct job_record r, copy;
    job_record_init(&r);
    r.id = 7;
    for (int i = 0; i < JOB_COLUMNS; i++)
        change(&r, &job_columns[i]);
    job_record_copy(&copy, &r);
    assert_int_equal(copy.id, 7);
    for (int i = 0; i < JOB_COLUMNS; i++) {
        const struct job_column *c = &job_columns[i];
        if (c->type >= JOB_TEXT) {
            assert_string_equal(*job_text(&copy, c), c->name);
            assert_ptr_not_equal(*job_text(&copy, c), *job_text(&r, c));
        } else if (c->type == JOB_REAL) {
            assert_true(*job_real(&copy, c) == *job_real(&r, c));
        } else {
            assert_true(job_number(&copy, c) == job_number(&r, c));
        }
    }
    job_record_done(&r);
    job_record_done(&copy);
    assert_null(copy.param);
}

/* What is not named here changes nothing that is planned. */
static unsigned expected(const char *column)
{
    static const struct {
        const char *name;
        unsigned changes;
    } rows[] = {
        { "schedule_type", JOB_CHANGES_TIMES },
        { "schedule_conf", JOB_CHANGES_TIMES },
        { "zone", JOB_CHANGES_TIMES },
        { "dst", JOB_CHANGES_TIMES },
        { "job_group", JOB_CHANGES_EXECUTORS },
        { "executor_route_strategy", JOB_CHANGES_EXECUTORS },
        { "executor_handler", JOB_CHANGES_RUN },
        { "executor_param", JOB_CHANGES_RUN },
        { "executor_fail_retry_count", JOB_CHANGES_RUN },
    };
    for (size_t i = 0; i < countof(rows); i++)
        if (strcmp(rows[i].name, column) == 0)
            return rows[i].changes;
    return 0;
}

static void a_change_says_what_it_does_to_planned_rows(void **state)
{
    (void)state;
    struct job_record a, b;
    job_record_init(&a);
    for (int i = 0; i < JOB_COLUMNS; i++) {
        job_record_copy(&b, &a);
        assert_int_equal(job_record_changes(&a, &b), 0);
        change(&b, &job_columns[i]);
        assert_int_equal(job_record_changes(&a, &b), expected(job_columns[i].name));
        job_record_done(&b);
    }
    job_record_copy(&b, &a);
    b.zone = mem_dup(""); /* no text and no characters are the same, and no word is the default */
    b.dst = mem_dup("xxl");
    assert_int_equal(job_record_changes(&a, &b), 0);
    job_record_done(&b);
    job_record_done(&a);
}

/* Both are lists of the same words in the same order. */
#define SAME_WORDS(member, text, count)                                                            \
    do {                                                                                           \
        struct slice rest = slice_text(job_columns[JOB_COLUMN_##member].words), word;              \
        int n = 0;                                                                                 \
        for (; slice_cut(&rest, ',', &word); n++)                                                  \
            assert_true(slice_eq(word, text(n)));                                                  \
        assert_int_equal(n, count);                                                                \
    } while (0)

static void the_words_of_a_column_are_those_of_its_enum(void **state)
{
    (void)state;
    SAME_WORDS(route, route_text, ROUTE_COUNT);
    SAME_WORDS(block, block_text, BLOCK_COUNT);
    SAME_WORDS(misfire, misfire_text, MISFIRE_COUNT);
    struct slice rest = slice_text(job_columns[JOB_COLUMN_schedule_type].words), word;
    int n = 0;
    for (enum schedule_type type; slice_cut(&rest, ',', &word); n++)
        assert_true(schedule_type_find(word, &type) && (int)type == n);
    enum dst_policy dst;
    for (rest = slice_text(job_columns[JOB_COLUMN_dst].words); slice_cut(&rest, ',', &word);)
        assert_true(dst_policy_find(word, &dst));
}

static enum err no_zone(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    (void)name;
    (void)ret;
    why_set(why, "no zone");
    return ERR_INVALID;
}

static void spoiled_numbers_are_parsed_as_the_defaults(void **state)
{
    (void)state;
    struct job_record r;
    job_record_init(&r);
    r.timeout_s = r.retries = r.misfire_max = -1;
    r.retry_delay_ms = r.start_deadline_ms = r.glue_updated_ms = -1;
    r.retry_backoff = 0.5;
    struct job *j = job_new(&r, no_zone, NULL, 2125);
    assert_non_null(j->fault);
    assert_int_equal(j->timeout_s, 0);
    assert_int_equal(j->retries, 0);
    assert_int_equal(j->misfire_max, 100);
    assert_int_equal(j->retry_delay_ms, 5000);
    assert_int_equal(j->start_deadline_ms, 60000);
    assert_int_equal(j->glue_updated_ms, 0);
    assert_true(j->retry_backoff == 1);
    job_unref(j);
    r.start_deadline_ms = 5; /* less than a form takes */
    r.retry_backoff = NAN;
    r.retries = 20000;
    r.enabled = true;
    j = job_new(&r, no_zone, NULL, 2125);
    assert_int_equal(j->start_deadline_ms, 5);
    assert_true(j->retry_backoff == 1);
    assert_int_equal(j->retries, 20000);
    assert_true(j->enabled);
    job_unref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_record_has_the_defaults),
        cmocka_unit_test(a_copy_owns_its_text),
        cmocka_unit_test(a_change_says_what_it_does_to_planned_rows),
        cmocka_unit_test(the_words_of_a_column_are_those_of_its_enum),
        cmocka_unit_test(spoiled_numbers_are_parsed_as_the_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
