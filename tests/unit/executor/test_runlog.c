/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/log/runlog.h"
#include "executor/log/runlog_file.h"
#include "executor/log/runlog_read.h"
#include "executor/log/shared.h"
#include "support_logs.h"

static void begin(struct runlog *l, const char *folder, int64_t id)
{
    runlog_init(l, folder, DATE, id, false);
    runlog_start(l, "worker-1", slice_text("start"));
}

static void end(struct runlog *l)
{
    runlog_end(l, "worker-1", slice_text("end"));
    free(runlog_take(l));
    runlog_done(l);
}

/* --- reading --- */

static void lines_are_read_by_number(void **state)
{
    logs_plant(*state, "1.log", "a\nb\n\nd\n", 7);
    logs_check(*state, 1, 1, true, 4, "a\nb\n\nd\n");
    logs_check(*state, 1, 3, true, 4, "\nd\n");
    logs_check(*state, 1, 4, true, 4, "d\n");
    logs_check(*state, 1, 5, true, 0, "");
    logs_check(*state, 1, -7, true, 4, "a\nb\n\nd\n");
    logs_check(*state, 1, 2147483647, true, 0, "");
}

static void a_half_line_is_shown_only_when_nobody_writes_to_it(void **state)
{
    logs_plant(*state, "2.log", "a\nhalf", 6);
    logs_check(*state, 2, 1, true, 1, "a\n");
    logs_check(*state, 2, 2, true, 0, "");
    logs_check(*state, 2, 1, false, 2, "a\nhalf\n");
    logs_check(*state, 2, 2, false, 2, "half\n");
    logs_plant(*state, "3.log", "", 0);
    logs_check(*state, 3, 1, false, 0, "");
}

static void pages_are_bounded_and_continue_at_the_next_line(void **state)
{
    enum { LINE = 1000, LINES = 20000 };
    char *text = mem_new((size_t)LINE * LINES);
    memset(text, 'x', (size_t)LINE * LINES);
    for (size_t i = 1; i <= LINES; i++)
        text[i * LINE - 1] = '\n';
    logs_plant(*state, "5.log", text, (size_t)LINE * LINES);
    free(text);
    int at = 1, pages = 0;
    size_t bytes = 0;
    for (struct runlog_page p; pages < 10; pages++) {
        runlog_read(*state, DATE, 5, at, true, NULL, &p);
        bytes += p.content.len;
        assert_true(p.content.len <= RUNLOG_PAGE);
        assert_int_equal(p.content.len % LINE, 0);
        buf_done(&p.content);
        if (p.to_line < at)
            break;
        at = p.to_line + 1;
    }
    assert_int_equal(at, LINES + 1);
    assert_int_equal(bytes, (size_t)LINE * LINES);
    assert_int_equal(pages, 3);
}

static void a_line_longer_than_a_page_is_cut_and_passed(void **state)
{
    size_t n = RUNLOG_PAGE + 100000;
    char *text = mem_new(n + 3);
    memset(text, 'x', n);
    memcpy(text + n, "\nb\n", 3);
    logs_plant(*state, "6.log", text, n + 3);
    free(text);
    struct runlog_page p;
    runlog_read(*state, DATE, 6, 1, true, NULL, &p);
    assert_int_equal(p.to_line, 1);
    assert_true(p.content.len > RUNLOG_PAGE / 2);
    buf_done(&p.content);
    logs_check(*state, 6, 2, true, 2, "b\n");
}

static void neighbouring_days_are_looked_at_and_no_others(void **state)
{
    struct runlog_page p;
    logs_plant(*state, "8.log", "x\n", 2);
    for (int64_t shift = -2; shift <= 2; shift++) {
        runlog_read(*state, DATE + shift * RUNLOG_DAY_MS, 8, 1, true, NULL, &p);
        assert_int_equal(p.found, shift >= -1 && shift <= 1);
        buf_done(&p.content);
    }
    runlog_read(*state, INT64_MAX, 8, 1, true, NULL, &p);
    assert_false(p.found);
    runlog_read(*state, INT64_MIN, 8, 1, true, NULL, &p);
    assert_false(p.found);
}

static void a_pipe_in_the_place_of_a_log_holds_up_nobody(void **state)
{
    char day[RUNLOG_DAY], path[RUNLOG_PATH];
    logs_plant(*state, "any.log", "", 0);
    runlog_day(DATE, day);
    runlog_path(*state, day, 9, ".log", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(logs_found(*state, 9));
    struct runlog l;
    begin(&l, *state, 9);
    runlog_raw(&l, "lost\n", 5);
    runlog_note(*state, DATE, 9, "finish");
    end(&l);
}

/* --- the file is made when it is needed --- */

static void a_run_that_logs_nothing_makes_no_file(void **state)
{
    struct runlog l;
    begin(&l, *state, 20);
    runlog_raw(&l, "", 0);
    runlog_end(&l, "worker-1", slice_text("end"));
    assert_false(runlog_has_file(&l));
    struct shared_record *r = runlog_take(&l);
    assert_non_null(r);
    assert_int_equal(r->log_id, 20);
    struct buf text = BUF_INIT(1000);
    assert_true(shared_content(slice_of(r->text, r->n), 20, &text));
    assert_non_null(strstr(buf_str(&text), " [executor#run]-[0]-[worker-1] start\n"));
    assert_non_null(strstr(buf_str(&text), " [executor#run]-[0]-[worker-1] end\n"));
    buf_done(&text);
    free(r);
    assert_null(runlog_take(&l));
    runlog_done(&l);
    assert_null(logs_file(*state, "20.log", NULL));
}

static void the_first_line_makes_the_file_with_the_start_line_in_it(void **state)
{
    struct runlog l;
    begin(&l, *state, 21);
    assert_null(logs_file(*state, "21.log", NULL));
    runlog_line(&l, "where", "function", 12, "worker-1", slice_text("text"));
    struct runlog_page p;
    runlog_read(*state, DATE, 21, 1, true, NULL, &p);
    assert_int_equal(p.to_line, 2);
    assert_non_null(strstr(buf_str(&p.content), "] start\n"));
    assert_non_null(strstr(buf_str(&p.content), " [where#function]-[12]-[worker-1] text\n"));
    buf_done(&p.content);
    runlog_end(&l, "worker-1", slice_text("end"));
    assert_true(runlog_has_file(&l));
    assert_null(runlog_take(&l));
    runlog_done(&l);
    runlog_read(*state, DATE, 21, 3, true, NULL, &p);
    assert_int_equal(p.to_line, 3);
    buf_done(&p.content);
}

static void what_is_in_memory_can_be_seen_from_outside(void **state)
{
    struct runlog l;
    struct buf text = BUF_INIT(10000);
    runlog_init(&l, *state, DATE, 22, false);
    assert_false(runlog_peek(&l, &text));
    runlog_start(&l, "worker-1", slice_text("start"));
    assert_true(runlog_peek(&l, &text));
    assert_non_null(strstr(buf_str(&text), "] start\n"));
    assert_null(strstr(buf_str(&text), "] end\n"));
    runlog_end(&l, "worker-1", slice_text("end"));
    buf_reset(&text);
    assert_true(runlog_peek(&l, &text));
    assert_non_null(strstr(buf_str(&text), "] start\n"));
    assert_non_null(strstr(buf_str(&text), "] end\n"));
    free(runlog_take(&l));
    runlog_done(&l);
    begin(&l, *state, 23);
    runlog_raw(&l, "x", 1);
    assert_false(runlog_peek(&l, &text));
    end(&l);
    buf_done(&text);
}

static void a_record_that_would_be_too_large_becomes_a_file(void **state)
{
    size_t n = SHARED_RECORD;
    char *text = mem_new(n);
    memset(text, 'x', n);
    struct runlog l;
    runlog_init(&l, *state, DATE, 24, false);
    runlog_start(&l, "worker-1", slice_of(text, n));
    runlog_end(&l, "worker-1", slice_text("end"));
    assert_true(runlog_has_file(&l));
    assert_null(runlog_take(&l));
    runlog_done(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 24, 2, false, NULL, &p);
    assert_int_equal(p.to_line, 2);
    assert_non_null(strstr(buf_str(&p.content), "] end\n"));
    buf_done(&p.content);
    free(text);
}

static void a_second_execution_goes_on_in_the_file_of_the_first(void **state)
{
    struct runlog l;
    logs_plant(*state, "25.log", "first\nhalf a li", 15);
    runlog_init(&l, *state, DATE, 25, true);
    runlog_start(&l, "worker-1", slice_text("start"));
    runlog_end(&l, "worker-1", slice_text("end"));
    assert_true(runlog_has_file(&l));
    runlog_done(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 25, 1, false, NULL, &p);
    assert_int_equal(p.to_line, 4);
    assert_int_equal(strncmp(buf_str(&p.content), "first\nhalf a li\n20", 18), 0);
    buf_done(&p.content);
}

static void a_second_execution_of_a_silent_run_makes_no_file(void **state)
{
    struct runlog l;
    runlog_init(&l, *state, DATE, 29, true);
    runlog_start(&l, "worker-1", slice_text("start"));
    runlog_end(&l, "worker-1", slice_text("end"));
    assert_false(runlog_has_file(&l));
    free(runlog_take(&l));
    runlog_done(&l);
}

static void own_lines_begin_on_a_line_of_their_own(void **state)
{
    struct runlog l;
    begin(&l, *state, 4);
    runlog_raw(&l, "no end", 6);
    runlog_line(&l, "where", "function", 12, "worker-1", slice_text("text"));
    runlog_raw(&l, "no end", 6);
    end(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 4, 2, true, NULL, &p);
    assert_int_equal(p.to_line, 5);
    assert_int_equal(strncmp(buf_str(&p.content), "no end\n20", 9), 0);
    assert_non_null(strstr(buf_str(&p.content), "] text\nno end\n20"));
    buf_done(&p.content);
}

static void *write_lines(void *arg)
{
    for (int i = 0; i < 500; i++)
        runlog_line(arg, "w", "f", i, "t", slice_text("a text of some length"));
    return NULL;
}

/* Lines of several threads do not mix, and a reader of what is in memory may come at any time. */
static void threads_of_a_handler_take_turns(void **state)
{
    struct runlog l;
    pthread_t threads[4];
    struct buf seen = BUF_INIT(10000);
    begin(&l, *state, 26);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &l), 0);
    while (runlog_peek(&l, &seen)) {
        assert_non_null(strstr(buf_str(&seen), "] start\n"));
        buf_reset(&seen);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    end(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 26, 1, false, NULL, &p);
    assert_int_equal(p.to_line, 2002);
    buf_done(&p.content);
    buf_done(&seen);
}

static void a_note_goes_only_into_a_file_that_is_there(void **state)
{
    logs_plant(*state, "27.log", "x\n", 2);
    runlog_note(*state, DATE, 27, "finish");
    runlog_note(*state, DATE, 28, "finish");
    struct runlog_page p;
    runlog_read(*state, DATE, 27, 2, false, NULL, &p);
    assert_int_equal(p.to_line, 2);
    assert_non_null(strstr(buf_str(&p.content), "callback finish."));
    buf_done(&p.content);
    assert_false(logs_found(*state, 28));
}

/* --- disks that refuse --- */

static void a_log_ends_at_its_limit_but_the_executors_last_lines_fit(void **state)
{
    struct runlog l;
    begin(&l, *state, 7);
    runlog_raw(&l, "a\n", 2);
    l.size = RUNLOG_MAX - 1; /* as if so much had been written */
    runlog_raw(&l, "too much", 8);
    runlog_raw(&l, "x", 1);
    runlog_line(&l, "w", "f", 1, "t", slice_text("handler"));
    end(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 7, 1, true, NULL, &p);
    assert_null(strstr(buf_str(&p.content), "too much"));
    assert_null(strstr(buf_str(&p.content), "handler"));
    assert_non_null(strstr(buf_str(&p.content), "the log ends here"));
    assert_non_null(strstr(buf_str(&p.content), "] end\n"));
    buf_done(&p.content);
}

/* Swaps the file below the log: what a full disk looks like from there. */
static int swap(struct runlog *l, int fd)
{
    int before = l->fd;
    l->fd = fd;
    return before;
}

static void what_a_full_disk_took_is_counted_where_it_is_missing(void **state)
{
    struct runlog l;
    begin(&l, *state, 30);
    runlog_raw(&l, "a\n", 2);
    int file = swap(&l, open("/dev/full", O_RDWR | O_CLOEXEC));
    runlog_raw(&l, "12345\n", 6);
    runlog_raw(&l, "678\n", 4);
    assert_int_equal(l.lost, 10);
    close(swap(&l, file));
    runlog_raw(&l, "b\n", 2);
    end(&l);
    struct runlog_page p;
    runlog_read(*state, DATE, 30, 2, false, NULL, &p);
    assert_int_equal(p.to_line, 5);
    assert_int_equal(strncmp(buf_str(&p.content),
                             "a\n[10 bytes are missing here: No space left on device]\nb\n", 57),
                     0);
    buf_done(&p.content);
}

static void a_day_that_is_a_file_costs_lines_and_the_record_says_so(void **state)
{
    char day[RUNLOG_DAY], path[RUNLOG_PATH];
    struct runlog l;
    runlog_day(DATE + 40 * RUNLOG_DAY_MS, day);
    runlog_day_path(*state, day, NULL, path);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    runlog_init(&l, *state, DATE + 40 * RUNLOG_DAY_MS, 31, false);
    runlog_start(&l, "t", slice_text("start"));
    runlog_raw(&l, "12345\n", 6);
    runlog_end(&l, "t", slice_text("end"));
    assert_false(runlog_has_file(&l));
    struct shared_record *r = runlog_take(&l);
    assert_non_null(r);
    assert_non_null(strstr(r->text, "[6 bytes are missing here: Not a directory]"));
    assert_int_equal(shared_append(*state, day, slice_of(r->text, r->n)), ERR_IO);
    assert_int_equal(errno, ENOTDIR);
    free(r);
    runlog_done(&l);
}

static void a_folder_that_cannot_be_made_costs_lines_and_the_record_says_so(void **state)
{
    (void)state;
    struct runlog l;
    begin(&l, "/proc/nowhere", 32);
    runlog_raw(&l, "12345", 5);
    assert_int_equal(l.lost, 5);
    runlog_line(&l, "w", "f", 1, "t", slice_text("678"));
    assert_true(l.lost > 5 + 3);
    runlog_end(&l, "t", slice_text("the end"));
    assert_false(runlog_has_file(&l));
    struct shared_record *r = runlog_take(&l);
    assert_non_null(r);
    assert_non_null(strstr(r->text, "bytes are missing here: No such file or directory]"));
    assert_non_null(strstr(r->text, "the end"));
    assert_int_equal(shared_append("/proc/nowhere", "2023-11-14", slice_of(r->text, r->n)), ERR_IO);
    free(r);
    runlog_done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_by_number),
        cmocka_unit_test(a_half_line_is_shown_only_when_nobody_writes_to_it),
        cmocka_unit_test(pages_are_bounded_and_continue_at_the_next_line),
        cmocka_unit_test(a_line_longer_than_a_page_is_cut_and_passed),
        cmocka_unit_test(neighbouring_days_are_looked_at_and_no_others),
        cmocka_unit_test(a_pipe_in_the_place_of_a_log_holds_up_nobody),
        cmocka_unit_test(a_run_that_logs_nothing_makes_no_file),
        cmocka_unit_test(the_first_line_makes_the_file_with_the_start_line_in_it),
        cmocka_unit_test(what_is_in_memory_can_be_seen_from_outside),
        cmocka_unit_test(a_record_that_would_be_too_large_becomes_a_file),
        cmocka_unit_test(a_second_execution_goes_on_in_the_file_of_the_first),
        cmocka_unit_test(a_second_execution_of_a_silent_run_makes_no_file),
        cmocka_unit_test(own_lines_begin_on_a_line_of_their_own),
        cmocka_unit_test(threads_of_a_handler_take_turns),
        cmocka_unit_test(a_note_goes_only_into_a_file_that_is_there),
        cmocka_unit_test(a_log_ends_at_its_limit_but_the_executors_last_lines_fit),
        cmocka_unit_test(what_a_full_disk_took_is_counted_where_it_is_missing),
        cmocka_unit_test(a_day_that_is_a_file_costs_lines_and_the_record_says_so),
        cmocka_unit_test(a_folder_that_cannot_be_made_costs_lines_and_the_record_says_so),
    };
    return cmocka_run_group_tests(tests, logs_folder, logs_remove);
}
