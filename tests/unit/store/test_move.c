/* SPDX-License-Identifier: Apache-2.0 */
/* A database that is moved: from SQLite into SQLite or into the server that PEAL_TEST_DB names, cut
 * off after any slice and called again. */
#include "support_store.h"
#include "base/mem.h"
#include "store/move.h"
#include "store/sql/move_tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS = 4, RUNS = 2500, CUT = 77 };

/* A database whose server has worked and was stopped cleanly. */
static struct engine *source_new(void)
{
    struct engine *e = engine_new(ENGINE_SQLITE);
    struct store *s = e->s;
    struct commit c = { .clean = true, .watermark = { .until_ms = 1700000000000 } };
    int64_t job[JOBS];
    OP(s, txn->begin);
    for (int i = 0; i < JOBS; i++) {
        char name[24];
        snprintf(name, sizeof(name), "job %d \xe4\xb8\xad", i);
        job[i] = sample_job_add(s, name, 1700000000000 + i * 1000);
    }
    for (int i = 0; i < RUNS; i++) {
        struct run_row r = sample_run(job[i % JOBS], 1700000000000 + i * INT64_C(60123));
        OP(s, runs->runs_add, &r, 1);
    }
    OP(s, catalog->job_delete, job[JOBS - 1]); /* its id must not come again */
    c.totals.n[TOTAL_PLANNED] = RUNS;
    snprintf(c.watermark.recorder, sizeof(c.watermark.recorder), "%032d", 7);
    OP(s, txn->commit, &c);
    engine_sql(e, "INSERT INTO peal_audit_item (audit_id, kind, object) VALUES (1, 'job', '4'), "
                  "(1, 'job', '5'), (2, '', '')");
    return e;
}

/* Closed, so that a move may open it. */
static void rest(struct engine *e)
{
    store_close(e->s);
    e->s = NULL;
}

static struct engine *target_new(void)
{
    struct engine *e = engine_new(ENGINE_SQL);
    if (e->server)
        engine_sql(e, "DELETE FROM peal_node; DELETE FROM peal_epoch");
    rest(e);
    if (!e->server)
        remove(e->path);
    return e;
}

static void open_again(struct engine *e)
{
    const struct store_options options = { .node = 1, .epoch = 1 };
    EXPECT(store_open(e->url, &options, &e->s, &why), OK);
}

static void both_free(struct engine *from, struct engine *to)
{
    if (!to->s)
        open_again(to);
    if (!from->s)
        open_again(from);
    engine_free(to);
    engine_free(from);
}

/* A part of a move refuses to be opened, and a server's database is emptied through its handle. */
static void both_free_of_a_part(struct engine *from, struct engine *to)
{
    const struct store_options bulk = { .bulk = STORE_BULK_WRITE };
    EXPECT(store_open(to->url, &bulk, &to->s, &why), OK);
    both_free(from, to);
}

static char *dump_of(struct engine *e)
{
    open_again(e);
    char *text = engine_dump(e), *marks = strstr(text, "\njobs ");
    assert_non_null(marks);
    *marks = '\0'; /* the recorder's id and the number of commits are another's */
    rest(e);
    return text;
}

static struct store_move of(const struct engine *from, const struct engine *to)
{
    return (struct store_move){ .from = from->url, .to = to->url };
}

static void all_is_there_and_ids_go_on_behind_it(void **state)
{
    (void)state;
    struct engine *from = source_new(), *to = target_new();
    struct store_move m = of(from, to);
    struct store_moved got;
    struct watermark before, after;
    OP(from->s, txn->watermark_get, &before);
    rest(from);
    EXPECT(store_move(&m, &got, &why), OK);
    assert_true(got.tables >= 36 && !got.resumed);
    assert_true(got.rows == got.copied && got.rows > RUNS * 2);
    open_again(to);
    open_again(from);
    OP(to->s, txn->watermark_get, &after);
    assert_int_equal(after.until_ms, before.until_ms);
    assert_int_equal(after.trace_key, before.trace_key);
    assert_true(after.batch >= before.batch && after.clean);
    assert_string_not_equal(after.recorder, before.recorder);
    OP(to->s, txn->begin);
    int64_t job = sample_job_add(to->s, "one more", 1700000000000);
    assert_int_equal(job, JOBS + 1);
    struct run_row r = sample_run(job, 1800000000000);
    OP(to->s, runs->runs_add, &r, 1);
    assert_int_equal(r.log_id, got.next_log_id);
    assert_true(r.log_id > before.last_id + (1 << 24));
    to->s->ops->txn->rollback(to->s);
    both_free(from, to);
}

static void what_a_server_reads_is_the_same(void **state)
{
    (void)state;
    struct engine *from = source_new(), *to = target_new();
    struct store_move m = of(from, to);
    struct store_moved got;
    rest(from);
    EXPECT(store_move(&m, &got, &why), OK);
    char *a = dump_of(from), *b = dump_of(to);
    assert_string_equal(a, b);
    free(a);
    free(b);
    both_free(from, to);
}

/* On a server: from it into a file. */
static void what_was_moved_is_moved_back(void **state)
{
    (void)state;
    struct engine *from = source_new(), *to = target_new(), *third = engine_new(ENGINE_SQLITE);
    struct store_move m = of(from, to);
    struct store_moved got, back;
    rest(from);
    rest(third);
    remove(third->path);
    EXPECT(store_move(&m, &got, &why), OK);
    m = of(to, third);
    EXPECT(store_move(&m, &back, &why), OK);
    assert_int_equal(back.rows, got.rows);
    assert_true(back.next_log_id > got.next_log_id);
    char *a = dump_of(from), *b = dump_of(third);
    assert_string_equal(a, b);
    free(a);
    free(b);
    open_again(third);
    engine_free(third);
    both_free(from, to);
}

/* The list of what is moved is read from SQLite's schema: a server has no column beside it, but for
 * those that say what other servers know, and which of them plans a job: after a move there are
 * none. */
static void every_column_is_moved(void **state)
{
    (void)state;
    struct engine *e = engine_new(ENGINE_SQL);
    struct move_tables tables;
    EXPECT(move_tables_read(&tables, &why), OK);
    for (int i = 0; i < tables.n; i++) {
        char text[256];
        const struct bulk_table *t = &tables.items[i].bulk;
        if (e->server)
            snprintf(text, sizeof(text),
                     "SELECT count(*) FROM information_schema.columns WHERE table_name = '%s' AND "
                     "table_schema = %s AND NOT (table_name = 'peal_run' AND column_name = 'told') "
                     "AND NOT (table_name = 'peal_due' AND column_name = 'home')",
                     t->name,
                     strcmp(e->s->ops->name, "mysql") == 0 ? "database()" : "current_schema()");
        else
            snprintf(text, sizeof(text), "SELECT count(*) FROM pragma_table_info('%s')", t->name);
        if (engine_sql_number(e, text) != t->n)
            fail_msg("%s has another number of columns than %d", t->name, t->n);
        for (int k = 0; k < t->nkeys; k++)
            assert_true(t->columns[k].type == BULK_I64 || t->columns[k].type == BULK_TEXT);
        assert_in_range(t->nkeys, 1, BULK_KEYS_MAX);
    }
    move_tables_done(&tables);
    engine_free(e);
}

static void cut(void *ctx, enum move_step step, const char *table, int64_t rows)
{
    int *left = ctx;
    (void)step;
    (void)table;
    (void)rows;
    if ((*left)-- == 0)
        _exit(CUT);
}

/* In a process of its own, which ends behind so many slices. True: it came to the end. */
static bool move_cut(const struct engine *from, const struct engine *to, int slices)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store_move m = of(from, to);
        struct store_moved got;
        struct why why = { "" };
        m.progress = cut;
        m.ctx = &slices;
        enum err err = store_move(&m, &got, &why);
        if (err)
            print_error("%s: %s\n", err_name(err), why.text);
        _exit(err ? 1 : 0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CUT);
    return WEXITSTATUS(status) == 0;
}

static void one_that_is_cut_off_goes_on(void **state)
{
    (void)state;
    struct engine *from = source_new(), *to = target_new();
    rest(from);
    int rounds = 0;
    /* a large table has three slices in a row: one of the first two is the last of a round */
    for (int slices = 0; !move_cut(from, to, slices); slices += slices < 60 ? 2 : 40, rounds++) {
        struct store *s;
        struct why why = { "" };
        assert_int_equal(store_open(to->url, NULL, &s, &why), ERR_INVALID);
        assert_non_null(strstr(why.text, "a move into this database has begun"));
    }
    assert_true(rounds > 3);
    char *a = dump_of(from), *b = dump_of(to);
    assert_string_equal(a, b);
    free(a);
    free(b);
    both_free(from, to);
}

static void refused(struct engine *from, struct engine *to, enum err wanted, const char *text)
{
    struct store_move m = of(from, to);
    struct store_moved got;
    struct why why = { "" };
    assert_int_equal(store_move(&m, &got, &why), wanted);
    if (!strstr(why.text, text))
        fail_msg("%s", why.text);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct engine *from = source_new(), *to = target_new();
    refused(from, to, ERR_BUSY, "in use");
    engine_sql(from, "UPDATE peal_epoch SET clean = 0");
    rest(from);
    refused(from, to, ERR_INVALID, "not stopped cleanly");
    open_again(from);
    engine_sql(from, "UPDATE peal_epoch SET clean = 1");
    rest(from);
    (void)!move_cut(from, to, 3);
    open_again(from);
    OP(from->s, txn->begin);
    OP(from->s, txn->commit, &(struct commit){ .clean = true });
    rest(from);
    refused(from, to, ERR_INVALID, "the source has been used since");
    refused(to, from, ERR_INVALID, "a move into this database has begun");
    refused(from, from, ERR_BUSY, "in use");
    both_free_of_a_part(from, to);
}

static void a_target_with_rows_is_refused(void **state)
{
    (void)state;
    struct engine *from = source_new(), *to = source_new();
    rest(from);
    rest(to);
    refused(from, to, ERR_EXISTS, "the target is not empty");
    both_free(from, to);
}

static void a_dry_run_writes_no_row(void **state)
{
    (void)state;
    struct engine *from = source_new(), *to = target_new();
    struct store_move m = of(from, to);
    struct store_moved tried, got;
    rest(from);
    m.dry = true;
    EXPECT(store_move(&m, &tried, &why), OK);
    m.dry = false;
    EXPECT(store_move(&m, &got, &why), OK);
    assert_int_equal(tried.rows, got.rows);
    both_free(from, to);
}

static void a_value_that_no_server_takes_is_named(void **state)
{
    (void)state;
    struct engine *from = source_new(), *to = target_new();
    engine_sql(from, "UPDATE xxl_job_info SET author = CAST(x'ff61' AS TEXT) WHERE id = 2");
    rest(from);
    if (to->server) {
        refused(from, to, ERR_INVALID, "xxl_job_info, id 2: column author is not UTF-8");
        both_free_of_a_part(from, to);
    } else {
        struct store_move m = of(from, to); /* SQLite takes it */
        struct store_moved got;
        EXPECT(store_move(&m, &got, &why), OK);
        both_free(from, to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_there_and_ids_go_on_behind_it),
        cmocka_unit_test(what_a_server_reads_is_the_same),
        cmocka_unit_test(what_was_moved_is_moved_back),
        cmocka_unit_test(every_column_is_moved),
        cmocka_unit_test(one_that_is_cut_off_goes_on),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_target_with_rows_is_refused),
        cmocka_unit_test(a_dry_run_writes_no_row),
        cmocka_unit_test(a_value_that_no_server_takes_is_named),
    };
    return cmocka_run_group_tests_name("store.move", tests, NULL, NULL);
}
