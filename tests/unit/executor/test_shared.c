/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/log/runlog_file.h"
#include "executor/log/runlog_read.h"
#include "executor/log/shared_map.h"
#include "support_logs.h"

static void share(const char *folder, int64_t id, const char *text)
{
    char day[RUNLOG_DAY];
    struct shared_record *r = shared_make(DATE, id, slice_text(text));
    assert_non_null(r);
    runlog_day(DATE, day);
    assert_int_equal(shared_append(folder, day, slice_of(r->text, r->n)), OK);
    free(r);
}

static void a_record_looks_as_if_the_run_had_a_file(void **state)
{
    logs_plant(*state, "runs", "", 0);
    share(*state, 1, "start\nend\n");
    share(*state, 2, "start, of two\nlines\nend\n");
    share(*state, -3, "start\n\n\nend \\ \\n\r\n");
    logs_check(*state, 1, 1, false, 2, "start\nend\n");
    logs_check(*state, 2, 1, true, 3, "start, of two\nlines\nend\n");
    logs_check(*state, 2, 3, false, 3, "end\n");
    logs_check(*state, 2, 4, false, 0, "");
    logs_check(*state, 2, -1, false, 3, "start, of two\nlines\nend\n");
    logs_check(*state, -3, 1, false, 4, "start\n\n\nend \\ \\n\r\n");
    assert_false(logs_found(*state, 3));
    assert_false(logs_found(*state, 12));
    char *all = logs_file(*state, "runs", NULL);
    assert_int_equal(strncmp(all, "1 start\\nend ", 13), 0); /* what grep sees */
    free(all);
}

static void each_byte_comes_back(void **state)
{
    (void)state;
    char bytes[512];
    struct buf text = BUF_INIT(1000);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    bytes[511] = '\n';
    struct shared_record *r = shared_make(DATE, INT64_MIN, slice_of(bytes, sizeof(bytes)));
    assert_non_null(r);
    assert_ptr_equal(memchr(r->text, '\n', r->n), r->text + r->n - 1);
    assert_true(shared_content(slice_of(r->text, r->n), INT64_MIN, &text));
    assert_int_equal(text.len, sizeof(bytes));
    assert_memory_equal(text.data, bytes, sizeof(bytes));
    free(r);
    buf_done(&text);
}

static void a_text_cannot_forge_the_record_of_another_run(void **state)
{
    struct shared_record *forged = shared_make(DATE, 77, slice_text("forged\n"));
    char text[1000];
    snprintf(text, sizeof(text), "start\n%s\\n%s\n77 forged\nend\n", forged->text, forged->text);
    logs_plant(*state, "runs", "", 0);
    share(*state, 4, text);
    assert_false(logs_found(*state, 77));
    share(*state, 77, "honest\n");
    share(*state, 5, text);
    logs_check(*state, 77, 1, false, 1, "honest\n");
    logs_check(*state, 4, 1, false, 6, text);
    free(forged);
}

static void the_youngest_record_of_an_id_counts(void **state)
{
    logs_plant(*state, "runs", "", 0);
    share(*state, 6, "old\n");
    share(*state, 7, "other\n");
    share(*state, 6, "young\n");
    logs_check(*state, 6, 1, false, 1, "young\n");
}

static void a_torn_record_is_passed_over_and_spoils_no_other(void **state)
{
    logs_plant(*state, "runs", "", 0);
    share(*state, 8, "whole\n");
    size_t before, n;
    free(logs_file(*state, "runs", &before));
    share(*state, 8, "torn, but long enough\n");
    char *all = logs_file(*state, "runs", &n);
    for (size_t cut = before; cut + 1 < n; cut++) {
        logs_plant(*state, "runs", all, cut);
        logs_check(*state, 8, 1, false, 1, "whole\n");
        share(*state, 9, "next\n");
        logs_check(*state, 8, 1, false, 1, "whole\n");
        logs_check(*state, 9, 1, false, 1, "next\n");
    }
    free(all);
}

static void a_damaged_record_is_not_shown(void **state)
{
    logs_plant(*state, "runs", "", 0);
    share(*state, 10, "old\n");
    size_t before, n;
    free(logs_file(*state, "runs", &before));
    share(*state, 10, "a\\b\nc\n");
    char *all = logs_file(*state, "runs", &n);
    for (size_t i = before; i < n; i++) {
        all[i] ^= 0x04;
        logs_plant(*state, "runs", all, n);
        logs_check(*state, 10, 1, false, 1, "old\n");
        all[i] ^= 0x04;
    }
    free(all);
}

/* Heads of records at each place relative to the pieces that a search reads. */
static void records_are_found_wherever_pieces_end(void **state)
{
    enum { N = 1200 };
    char text[1000];
    memset(text, 'x', sizeof(text));
    logs_plant(*state, "runs", "", 0);
    struct buf all = BUF_INIT(2 * SHARED_CHUNK * 4);
    for (int i = 0; i < N; i++) {
        struct shared_record *r =
            shared_make(DATE, 1000 + i, slice_of(text, (size_t)(900 + i % 97)));
        buf_add(&all, r->text, r->n);
        free(r);
    }
    assert_true(all.len > 4 * SHARED_CHUNK);
    for (size_t shift = 0; shift < 40; shift += 3) { /* the file's end moves, and the pieces */
        buf_add(&all, "0\n0\n", 3 - shift % 2);
        logs_plant(*state, "runs", all.data, all.len);
        for (int i = 0; i < N; i += shift ? 131 : 1) {
            struct runlog_page p;
            runlog_read(*state, DATE, 1000 + i, 1, false, NULL, &p);
            assert_true(p.found);
            assert_int_equal(p.content.len, 901 + i % 97);
            buf_done(&p.content);
        }
        assert_false(logs_found(*state, 100));
    }
    buf_done(&all);
}

static void large_records_are_refused_and_long_lines_survived(void **state)
{
    size_t n = 3 * SHARED_CHUNK;
    char *text = mem_new(n + 1);
    memset(text, 'x', n);
    assert_null(shared_make(DATE, 11, slice_of(text, SHARED_RECORD)));
    assert_null(shared_make(DATE, 11, slice_of(text, SHARED_RECORD - 12)));
    struct shared_record *r = shared_make(DATE, 11, slice_of(text, SHARED_RECORD - 13));
    assert_non_null(r);
    assert_int_equal(r->n, SHARED_RECORD);
    memcpy(text, "11 ", 3); /* no record: without an end */
    logs_plant(*state, "runs", text, n);
    assert_false(logs_found(*state, 11));
    char day[RUNLOG_DAY];
    runlog_day(DATE, day);
    assert_int_equal(shared_append(*state, day, slice_of(r->text, r->n)), OK);
    assert_true(logs_found(*state, 11));
    free(r);
    free(text);
}

static void a_file_of_its_own_counts_more_and_neighbours_are_looked_at(void **state)
{
    logs_plant(*state, "runs", "", 0);
    share(*state, 12, "shared\n");
    share(*state, 13, "shared\n");
    logs_plant(*state, "12.log", "own\n", 4);
    logs_check(*state, 12, 1, false, 1, "own\n");
    struct runlog_page p;
    for (int64_t shift = -2; shift <= 2; shift++) {
        runlog_read(*state, DATE + shift * RUNLOG_DAY_MS, 13, 1, true, NULL, &p);
        assert_int_equal(p.found, shift >= -1 && shift <= 1);
        buf_done(&p.content);
    }
}

static struct shared_map map;

static int open_runs(const char *folder)
{
    char day[RUNLOG_DAY], path[RUNLOG_PATH];
    runlog_day(DATE, day);
    runlog_day_path(folder, day, SHARED_NAME, path);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool mapped(const char *folder, int64_t id)
{
    struct buf text = BUF_INIT(SHARED_RECORD);
    int fd = open_runs(folder);
    bool found = shared_map_find(&map, fd, id, &text);
    close(fd);
    buf_done(&text);
    return found;
}

static void a_map_learns_what_is_appended(void **state)
{
    enum { N = 3000 };
    char text[500];
    memset(text, 'x', sizeof(text));
    logs_plant(*state, "runs", "", 0);
    assert_false(mapped(*state, 1));
    for (int turn = 0; turn < 4; turn++) {
        struct buf b = BUF_INIT(4 << 20);
        char day[RUNLOG_DAY];
        for (int i = 0; i < N; i++) {
            struct shared_record *r =
                shared_make(DATE, turn * N + i, slice_of(text, (size_t)(i % 500)));
            buf_add(&b, r->text, r->n);
            free(r);
        }
        runlog_day(DATE, day);
        assert_int_equal(shared_append(*state, day, slice_of(b.data, b.len)), OK);
        buf_done(&b);
        for (int i = 0; i < (turn + 1) * N; i += 97)
            assert_true(mapped(*state, i));
        assert_true(mapped(*state, (turn + 1) * N - 1));
        assert_false(mapped(*state, (turn + 1) * N));
        assert_false(mapped(*state, -1));
    }
    struct shared_day *d = &map.days[0];
    assert_true(d->n > 5);
    for (size_t i = 1; i < d->n; i++)
        assert_true(d->blocks[i - 1].max < d->blocks[i].min);
    shared_map_done(&map);
}

/* The system gives a removed file's number to the next one. */
static void a_map_knows_its_file_again_and_no_other(void **state)
{
    logs_plant(*state, "runs", "", 0);
    share(*state, 20, "one file, of an id\n");
    assert_true(mapped(*state, 20));
    logs_plant(*state, "runs", "", 0); /* the same number, other bytes */
    share(*state, 21, "another file, of another id\n");
    share(*state, 22, "and a record more than the first\n");
    assert_true(mapped(*state, 21));
    assert_true(mapped(*state, 22));
    assert_false(mapped(*state, 20));
    shared_map_done(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_looks_as_if_the_run_had_a_file),
        cmocka_unit_test(each_byte_comes_back),
        cmocka_unit_test(a_text_cannot_forge_the_record_of_another_run),
        cmocka_unit_test(the_youngest_record_of_an_id_counts),
        cmocka_unit_test(a_torn_record_is_passed_over_and_spoils_no_other),
        cmocka_unit_test(a_damaged_record_is_not_shown),
        cmocka_unit_test(records_are_found_wherever_pieces_end),
        cmocka_unit_test(large_records_are_refused_and_long_lines_survived),
        cmocka_unit_test(a_map_learns_what_is_appended),
        cmocka_unit_test(a_map_knows_its_file_again_and_no_other),
        cmocka_unit_test(a_file_of_its_own_counts_more_and_neighbours_are_looked_at),
    };
    return cmocka_run_group_tests(tests, logs_folder, logs_remove);
}
