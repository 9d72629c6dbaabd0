/* SPDX-License-Identifier: Apache-2.0 */
/* When the inbox is read, and from where on: ids are not committed in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "server/inbox.h"
#include <stdlib.h>

#define BEGIN_MS 50000
#define FULL 4000 /* rows of one read */

static struct table {
    int64_t after_id, from, to; /* asked for; what there is */
    int reads;
    enum err err;
} table;

static enum err inbox_each(struct store *s, int64_t after_id, int max, inbox_row_fn *fn, void *ctx,
                           struct why *why)
{
    (void)s;
    (void)why;
    table.after_id = after_id;
    table.reads++;
    int64_t id = after_id < table.from ? table.from : after_id + 1;
    for (int n = 0; id <= table.to && n < max && !table.err; id++, n++) {
        struct inbox_row r = { .id = id, .log_id = 7, .code = 200, .msg = (char *)"done" };
        assert_true(fn(ctx, &r));
    }
    return table.err;
}

static const struct store_cluster cluster = { .inbox_each = inbox_each };
static const struct store_ops ops = { .cluster = &cluster };
static struct store store = { .ops = &ops };

/* How many rows came. */
static int read_at(struct inbox *in, int64_t ms, enum err wanted)
{
    struct inbox_rows rows = { NULL, 0 };
    struct why why = { "" };
    assert_int_equal(inbox_read(in, &store, BEGIN_MS + ms, &rows, &why), wanted);
    int n = rows.n;
    for (int i = 0; i < n; i++)
        assert_string_equal(rows.items[i].msg, "done");
    inbox_rows_done(&rows);
    return n;
}

static void put(int64_t from, int64_t to)
{
    table = (struct table){ .from = from, .to = to };
}

static void what_was_committed_out_of_order_is_read(void **state)
{
    (void)state;
    struct inbox in = { 0 };
    put(1, 5);
    assert_int_equal(read_at(&in, 0, OK), 5); /* all that is there */
    assert_int_equal(table.after_id, 0);
    put(9, 9);
    assert_int_equal(read_at(&in, 200, OK), 1);
    put(8, 8); /* it was slower */
    assert_int_equal(read_at(&in, 400, OK), 1);
    assert_true(table.after_id < 8);
    put(10, 10);
    assert_int_equal(read_at(&in, 1000, OK), 1);
    put(7, 7);
    assert_int_equal(read_at(&in, 1200, OK), 1); /* up to a second, */
    put(6, 6);
    (void)read_at(&in, 2300, OK);
    assert_int_equal(read_at(&in, 3400, OK), 0); /* and not for ever: */
    assert_int_equal(table.after_id, 10);
    assert_int_equal(read_at(&in, 10000, OK), 1); /* each 10 s all is looked at, */
    assert_int_equal(table.after_id, 0);
    assert_int_equal(read_at(&in, 10200, OK), 0);
    inbox_from_start(&in); /* and when runs were taken over */
    assert_int_equal(read_at(&in, 10400, OK), 1);
}

static void much_is_read_piece_by_piece(void **state)
{
    (void)state;
    struct inbox in = { 0 };
    put(1, FULL + 10);
    assert_int_equal(read_at(&in, 0, OK), FULL);
    assert_int_equal(inbox_next(&in), BEGIN_MS); /* at once */
    assert_int_equal(read_at(&in, 1, OK), 10);
    assert_int_equal(table.after_id, FULL);
}

static void an_error_is_read_again(void **state)
{
    (void)state;
    struct inbox in = { 0 };
    put(1, 3);
    table.err = ERR_STORE;
    assert_int_equal(read_at(&in, 0, ERR_STORE), 0);
    assert_int_equal(inbox_next(&in), BEGIN_MS + 200);
    table.err = OK;
    assert_int_equal(read_at(&in, 200, OK), 3);
    assert_int_equal(table.after_id, 0);
}

static void where_results_come_it_is_read_more_often(void **state)
{
    (void)state;
    static const struct {
        int64_t at_ms, to, next_ms;
    } looks[] = {
        { 0, 0, 200 },     { 200, 0, 400 },   { 400, 1, 420 }, /* one has come */
        { 420, 1, 440 },   { 2380, 2, 2400 },                  /* another one, */
        { 4300, 2, 4320 }, { 4500, 2, 4700 },                  /* and none for 2 s */
    };
    struct inbox in = { 0 };
    put(1, 0);
    assert_true(inbox_next(&in) <= BEGIN_MS);
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        table.to = looks[i].to;
        (void)read_at(&in, looks[i].at_ms, OK);
        assert_int_equal(inbox_next(&in), BEGIN_MS + looks[i].next_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_committed_out_of_order_is_read),
        cmocka_unit_test(much_is_read_piece_by_piece),
        cmocka_unit_test(an_error_is_read_again),
        cmocka_unit_test(where_results_come_it_is_read_more_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
