/* SPDX-License-Identifier: Apache-2.0 */
/* What only the engine on PostgreSQL has: hosts in turn, texts that the server would refuse, a
 * connection that goes. Without PEAL_TEST_DB, or with another engine's, nothing is tried. */
#include "support_store.h"
#include "base/mem.h"
#include "store/url.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *url_or_skip(void)
{
    struct db_url u;
    const char *url = getenv("PEAL_TEST_DB");
    if (!url || db_url_parse(url, &u, NULL) || u.kind != DB_POSTGRES)
        skip();
    return url;
}

/* The URL with something before the hosts and with another database; NULL: its own. */
static void url_with(char *to, size_t size, const char *hosts, const char *database)
{
    const char *url = url_or_skip(), *at = strrchr(url, '@'), *slash = strrchr(url, '/');
    snprintf(to, size, "%.*s%s%.*s/%s", (int)(at + 1 - url), url, hosts, (int)(slash - at - 1),
             at + 1, database ? database : slash + 1);
}

static void a_host_that_does_not_answer_is_passed_over(void **state)
{
    (void)state;
    char url[700];
    struct store *s = NULL;
    url_with(url, sizeof(url), "127.0.0.1:1,", NULL);
    EXPECT(store_open(url, NULL, &s, &why), OK);
    int64_t users = -1;
    OP(s, users->user_count, false, &users);
    assert_int_equal(users, 0);
    store_close(s);
}

static void what_cannot_be_opened_says_why_and_not_the_password(void **state)
{
    (void)state;
    char url[700];
    struct store *s = NULL;
    struct why reason = { "" };
    url_with(url, sizeof(url), "", "no_such_database");
    assert_int_equal(store_open(url, NULL, &s, &reason), ERR_INVALID);
    assert_non_null(strstr(reason.text, "no_such_database"));
    assert_null(strstr(reason.text, "secret"));
}

static void text_that_is_not_utf8_is_kept_as_far_as_it_can_be(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r = sample_run(1, 1000);
    struct log_record l;
    url_or_skip();
    r.param = "a\xff"
              "b\xc3\xa9";
    r.handler = "\xe4\xb8";
    OP(s, txn->begin);
    OP(s, runs->runs_add, &r, 1);
    OP(s, txn->commit, NULL);
    OP(s, pages->log_get, r.log_id, &l);
    assert_string_equal(l.param, "a?b\xc3\xa9");
    assert_string_equal(l.handler, "??");
    log_record_done(&l);
}

/* The server ends the session: what was under way is lost, and the next transaction goes on. */
static void a_session_that_was_ended_costs_its_transaction_alone(void **state)
{
    struct engine *e = *state;
    struct store *s = e->s, *other = NULL;
    struct run_row r = sample_run(1, 1000);
    const struct store_options reader = { .read_only = true };
    EXPECT(store_open(url_or_skip(), &reader, &other, &why), OK);
    struct engine side = { .kind = ENGINE_SQL, .s = other, .server = true };
    OP(s, txn->begin);
    OP(s, runs->runs_add, &r, 1);
    engine_sql(&side, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                      "datname = current_database() AND pid <> pg_backend_pid()");
    struct why reason = { "" };
    assert_int_not_equal(s->ops->txn->commit(s, NULL, &reason), OK);
    s->ops->txn->rollback(s);
    OP(s, txn->begin);
    OP(s, runs->runs_add, &r, 1);
    OP(s, txn->commit, NULL);
    assert_int_equal(engine_sql_number(e, "SELECT count(*) FROM peal_run"), 1);
    store_close(other);
}

/* A read of many rows goes on while other statements run on the same connection. */
static bool count_and_ask(void *ctx, const struct run_row *r)
{
    void **args = ctx;
    struct log_record l;
    struct store *s = args[0];
    OP(s, pages->log_get, r->log_id, &l);
    assert_int_equal(l.id, r->log_id);
    log_record_done(&l);
    ++*(int *)args[1];
    return true;
}

static void rows_that_come_are_kept_while_another_statement_runs(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r[300];
    int n = 0;
    void *args[] = { s, &n };
    for (int i = 0; i < 300; i++)
        r[i] = sample_run(1, 1000 * i);
    OP(s, txn->begin);
    OP(s, runs->runs_add, r, 300);
    OP(s, txn->commit, NULL);
    OP(s, runs->runs_each, count_and_ask, args);
    assert_int_equal(n, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_does_not_answer_is_passed_over),
        cmocka_unit_test(what_cannot_be_opened_says_why_and_not_the_password),
        cmocka_unit_test_setup_teardown(text_that_is_not_utf8_is_kept_as_far_as_it_can_be,
                                        setup_sql, teardown_engine),
        cmocka_unit_test_setup_teardown(a_session_that_was_ended_costs_its_transaction_alone,
                                        setup_sql, teardown_engine),
        cmocka_unit_test_setup_teardown(rows_that_come_are_kept_while_another_statement_runs,
                                        setup_sql, teardown_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
