/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/log/log_writer.h"
#include "executor/log/runlog_file.h"
#include "executor/log/shared.h"
#include "support_logs.h"

static void read_one(struct log_writer *k, struct mailbox *m, int64_t id, struct log_writer_read *r)
{
    struct list messages;
    list_init(&messages);
    *r = (struct log_writer_read){
        .message.kind = 7, .log_id = id, .log_date_ms = DATE, .from_line = 1
    };
    log_writer_read(k, r);
    while (!mailbox_take(m, &messages))
        mailbox_wait(m, -1);
    assert_ptr_equal(container_of(list_pop(&messages), struct log_writer_read, message.node), r);
    assert_int_equal(r->message.kind, 7);
}

static void check(struct log_writer *k, struct mailbox *m, int64_t id, const char *content)
{
    struct log_writer_read r;
    read_one(k, m, id, &r);
    assert_int_equal(r.page.found, content != NULL);
    if (content)
        assert_string_equal(buf_str(&r.page.content), content);
    buf_done(&r.page.content);
}

static void share(struct log_writer *k, int64_t id, const char *text)
{
    log_writer_share(k, shared_make(DATE, id, slice_text(text)));
}

static void what_was_handed_over_is_read_at_once(void **state)
{
    struct mailbox *m = mailbox_new();
    struct log_writer *k = log_writer_new(*state, -1, m);
    assert_non_null(k);
    log_writer_share(k, NULL);
    for (int i = 1; i <= 200; i++) {
        share(k, i, "start\nend\n");
        if (i % 20 == 0)
            check(k, m, i, "start\nend\n");
    }
    check(k, m, 1, "start\nend\n");
    check(k, m, 201, NULL);
    logs_plant(*state, "300.log", "a\n", 2);
    log_writer_note(k, 300, DATE, "finish");
    log_writer_note(k, 301, DATE, "finish");
    struct log_writer_read r;
    read_one(k, m, 300, &r);
    assert_int_equal(r.page.to_line, 2);
    buf_done(&r.page.content);
    log_writer_free(k);
    mailbox_free(m);
}

static void nothing_is_left_behind_at_the_end(void **state)
{
    struct mailbox *m = mailbox_new();
    struct log_writer *k = log_writer_new(*state, -1, m);
    char name[32];
    for (int i = 0; i < 10000; i++) {
        snprintf(name, sizeof(name), "start %d\nend\n", i);
        share(k, 1000 + i, name);
    }
    log_writer_free(k);
    k = log_writer_new(*state, -1, m);
    check(k, m, 1000, "start 0\nend\n");
    check(k, m, 10999, "start 9999\nend\n");
    log_writer_free(k);
    log_writer_free(NULL);
    mailbox_free(m);
}

/* Records of two days, by turns, around midnight. */
static void each_record_goes_to_its_day(void **state)
{
    struct mailbox *m = mailbox_new();
    struct log_writer *k = log_writer_new(*state, -1, m);
    for (int i = 0; i < 20; i++)
        log_writer_share(k,
                         shared_make(DATE + i % 2 * RUNLOG_DAY_MS, 20000 + i, slice_text("x\n")));
    log_writer_free(k);
    char day[RUNLOG_DAY], path[RUNLOG_PATH];
    for (int i = 0; i < 20; i++) {
        struct buf text = BUF_INIT(1000);
        runlog_day(DATE + i % 2 * RUNLOG_DAY_MS, day);
        runlog_day_path(*state, day, SHARED_NAME, path);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(shared_find(fd, 20000 + i, &text));
        assert_false(shared_find(fd, 20000 + (i ^ 1), &text));
        close(fd);
        buf_done(&text);
    }
    mailbox_free(m);
}

static void a_disk_that_refuses_holds_up_nobody(void **state)
{
    (void)state;
    struct mailbox *m = mailbox_new();
    struct log_writer *k = log_writer_new("/proc/nowhere", 30, m);
    share(k, 1, "lost\n");
    check(k, m, 1, NULL);
    log_writer_free(k);
    mailbox_free(m);
}

static void old_days_go_at_start(void **state)
{
    char path[RUNLOG_PATH];
    struct stat st;
    runlog_day_path(*state, "2001-01-01", NULL, path);
    assert_int_equal(mkdir(path, 0755), 0);
    struct mailbox *m = mailbox_new();
    struct log_writer *k = log_writer_new(*state, 30, m);
    struct log_writer_read r;
    while (stat(path, &st) ==
           0) { /* each order is an iteration of the thread, and an iteration a step */
        read_one(k, m, 1, &r);
        buf_done(&r.page.content);
    }
    log_writer_free(k);
    mailbox_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_behind_at_the_end),
        cmocka_unit_test(each_record_goes_to_its_day),
        cmocka_unit_test(a_disk_that_refuses_holds_up_nobody),
        cmocka_unit_test(old_days_go_at_start),
        cmocka_unit_test(what_was_handed_over_is_read_at_once),
    };
    return cmocka_run_group_tests(tests, logs_folder, logs_remove);
}
