/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to a database server breaks at each packet of a transaction, in each way: it is
 * repeated as the writer does, and the tables are those of "once". Without PEAL_TEST_DB (a URL,
 * scripts/test-db.py) there is nothing to break. With PEAL_TEST_OTHER, the port of another server
 * of the same Galera cluster, it goes on there, while the first one may still hear the COMMIT. */
#include "base/mem.h"
#include "store/sql/sql.h"
#include "store/url.h"
#include "support_cutter.h"
#include "support_store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PACKETS_MAX 200
#define TRIES_MAX 400

struct bench {
    struct engine *engine; /* its store goes through the cutter */
    struct cutter *cutter;
    struct store *looker; /* does not */
    int64_t job_id;
    int64_t last[2];     /* log ids of the transaction before */
    int64_t n;           /* transactions so far */
    int64_t commits;     /* number of the last commit */
    int unheard, undone; /* what came of commits without an answer */
};

/* The URL with another port, and the other server behind it. */
static void through(const char *url, uint16_t port, uint16_t to, char *text, size_t size)
{
    const char *other = getenv("PEAL_TEST_OTHER");
    char from[16];
    snprintf(from, sizeof(from), ":%u/", port);
    const char *at = strstr(url, from);
    assert_non_null(at);
    snprintf(text, size, "%.*s:%u%s%s/%s", (int)(at - url), url, to, other ? ",127.0.0.1:" : "",
             other ? other : "", at + strlen(from));
}

/* Back to the server behind the cutter. */
static void go_back(struct bench *b)
{
    const char *other = getenv("PEAL_TEST_OTHER");
    struct sql *s = (struct sql *)b->engine->s;
    struct why said = { "" };
    struct sql_query *q;
    int64_t port = 0;
    if (!other)
        return;
    EXPECT(sql_query(s, "SELECT @@port", &q, &why), OK);
    EXPECT(sql_one(q, 0, &port, &why), OK);
    if (port != strtoll(other, NULL, 10))
        return;
    EXPECT(sql_query(s, "KILL CONNECTION_ID()", &q, &why), OK);
    assert_int_not_equal(sql_do(q, &said), OK);
}

static int set_up(void **state)
{
    struct bench *b = mem_new(sizeof(*b));
    struct db_url u;
    char url[512];
    const struct store_options reader = { .read_only = true };
    b->engine = engine_new(ENGINE_SQL);
    OP(b->engine->s, txn->begin);
    b->job_id = sample_job_add(b->engine->s, "a", 1000);
    OP(b->engine->s, txn->commit, NULL);
    store_close(b->engine->s);
    EXPECT(db_url_parse(b->engine->url, &u, &why), OK);
    b->cutter = cutter_new(u.hosts[0].port);
    through(b->engine->url, u.hosts[0].port, cutter_port(b->cutter), url, sizeof(url));
    EXPECT(store_open(url, NULL, &b->engine->s, &why), OK);
    EXPECT(store_open(b->engine->url, &reader, &b->looker, &why), OK);
    struct watermark w;
    OP(b->looker, txn->watermark_get, &w);
    b->commits = w.batch;
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    store_close(b->looker);
    engine_free(b->engine);
    cutter_free(b->cutter);
    free(b);
    return 0;
}

/* Two runs in, those of the transaction before end, the job advances; the books with it. */
static enum err body(struct bench *b, struct run_row r[2], struct why *why)
{
    struct store *s = b->engine->s;
    struct run_change ends[2];
    int64_t missed = 0, at_ms = 1000 * (b->n + 1);
    for (int i = 0; i < 2; i++) {
        r[i] = sample_run(b->job_id, at_ms + i);
        ends[i] = (struct run_change){ .log_id = b->last[i],
                                       .what = CHANGE_FINISH | CHANGE_CLOSE,
                                       .handle_code = 200,
                                       .handle_ms = at_ms };
    }
    const struct due_row due = { .job_id = b->job_id, .next_ms = at_ms + 1000, .last_ms = at_ms };
    enum err err = s->ops->runs->runs_change(s, ends, b->n ? 2 : 0, &missed, why);
    if (!err)
        err = s->ops->runs->runs_add(s, r, 2, why);
    return err ? err : s->ops->runs->due_put(s, &due, 1, why);
}

static enum err attempt(struct bench *b, struct run_row r[2], struct why *why)
{
    struct store *s = b->engine->s;
    const struct commit books = {
        .totals = { { [TOTAL_PLANNED] = 2, [TOTAL_FINISHED] = b->n ? 2 : 0 } },
        .watermark = { .until_ms = 1000 * (b->n + 1), .recorder = "cuts", .renewals = b->n },
    };
    enum err err = s->ops->txn->begin(s, why);
    if (!err)
        err = body(b, r, why);
    if (!err)
        err = s->ops->txn->commit(s, &books, why);
    if (err)
        s->ops->txn->rollback(s);
    return err;
}

static void rest(int ms)
{
    struct timespec t = { .tv_nsec = ms * 1000000L };
    nanosleep(&t, NULL);
}

static bool settled(struct bench *b)
{
    struct store *s = b->engine->s;
    b->unheard++;
    for (int i = 0; i < TRIES_MAX; i++) {
        bool done = false;
        struct why why = { "" };
        enum err err = s->ops->txn->outcome(s, &done, &why);
        assert_int_not_equal(err, ERR_FENCED);
        if (!err) {
            b->undone += !done;
            return done;
        }
        rest(10);
    }
    fail_msg("what became of the commit is never told");
    return false;
}

/* As the writer does. */
static void transact(struct bench *b)
{
    struct run_row r[2];
    for (int i = 0; i < TRIES_MAX; i++) {
        struct why why = { "" };
        enum err err = attempt(b, r, &why);
        if (!err || (err == ERR_UNHEARD && settled(b))) {
            b->last[0] = r[0].log_id;
            b->last[1] = r[1].log_id;
            b->n++;
            return;
        }
        if (err == ERR_FENCED || err == ERR_INVALID)
            fail_msg("%s: %s", err_name(err), why.text);
        rest(err == ERR_UNHEARD ? 0 : 10);
    }
    fail_msg("the transaction never goes through");
}

static int64_t number(struct bench *b, const char *sql)
{
    struct engine e = *b->engine;
    e.s = b->looker;
    return engine_sql_number(&e, sql);
}

static void check_once(struct bench *b)
{
    struct totals t;
    struct watermark w;
    int64_t open = 0;
    OP(b->looker, txn->totals_get, &t, &open);
    OP(b->looker, txn->watermark_get, &w);
    assert_int_equal(t.n[TOTAL_PLANNED], 2 * b->n);
    assert_int_equal(t.n[TOTAL_FINISHED], 2 * (b->n - 1));
    assert_int_equal(open, 2);
    assert_int_equal(totals_unaccounted(&t, open), 0);
    /* a commit that was found has one behind it, which says that it is safe */
    assert_int_equal(w.batch, b->commits + b->n + b->unheard - b->undone);
    assert_int_equal(w.until_ms, 1000 * b->n);
    assert_int_equal(w.renewals, b->n - 1);
    assert_int_equal(number(b, "SELECT count(*) FROM xxl_job_log"), 2 * b->n);
    assert_int_equal(number(b, "SELECT count(*) FROM xxl_job_log WHERE handle_code = 200"),
                     2 * (b->n - 1));
    assert_int_equal(number(b, "SELECT count(*) FROM peal_run"), 2);
    assert_int_equal(number(b, "SELECT next_ms FROM peal_due"), 1000 * (b->n + 1));
}

static void a_transaction_is_applied_once_wherever_the_connection_breaks(void **state)
{
    struct bench *b = *state;
    transact(b);
    check_once(b);
    for (int how = 0; how < CUT_COUNT; how++) {
        int n = 1;
        for (bool fired = true; fired; n++) {
            assert_true(n < PACKETS_MAX);
            go_back(b);
            cutter_arm(b->cutter, (enum cut)how, n);
            transact(b);
            fired = cutter_fired(b->cutter);
            check_once(b);
        }
        assert_true(n > 5); /* begin, rows, books, commit: all of them were met */
    }
    assert_true(b->unheard > 0 && b->undone > 0 && b->undone < b->unheard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_transaction_is_applied_once_wherever_the_connection_breaks, set_up, tear_down),
    };
    if (!getenv("PEAL_TEST_DB"))
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
