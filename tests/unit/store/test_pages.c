/* SPDX-License-Identifier: Apache-2.0 */
/* What store.h promises of pages, against every engine. */
#include "support_store.h"
#include "base/mem.h"
#include <stdio.h>

static int64_t missed; /* by the last runs_change */

struct ids {
    int n;
    int64_t id[64], next_ms[64], last_ms[64], key_ms[64];
};

static bool job_id(void *ctx, const struct job_record *r)
{
    struct ids *ids = ctx;
    ids->next_ms[ids->n] = r->next_ms;
    ids->last_ms[ids->n] = r->last_ms;
    ids->key_ms[ids->n] = r->key_ms;
    ids->id[ids->n++] = r->id;
    return ids->n < 64;
}

static bool log_id(void *ctx, const struct log_record *r)
{
    struct ids *ids = ctx;
    ids->id[ids->n++] = r->id;
    return ids->n < 64;
}

static bool group_id(void *ctx, const struct group_record *r)
{
    struct ids *ids = ctx;
    ids->id[ids->n++] = r->id;
    return false; /* one is enough */
}

/* Page by page behind the last row's key: each job once, in the order; the total is of all. */
static void walk_by_key(struct store *s, enum jobs_order order, const char *const *names,
                        const int64_t *wanted, int n)
{
    struct jobs_key last;
    struct jobs_filter f = { .status = -1, .limit = 2, .order = order, .count_max = 5 };
    for (int at = 0; at < n; at += 2) {
        struct ids got = { 0 };
        int64_t total;
        OP(s, pages->jobs_page, &f, job_id, &got, &total);
        assert_int_equal(total, 5); /* counting stops there */
        assert_int_equal(got.n, n - at < 2 ? n - at : 2);
        for (int i = 0; i < got.n; i++)
            assert_int_equal(got.id[i], wanted[at + i]);
        int end = got.n - 1;
        last = (struct jobs_key){ got.id[end], got.key_ms[end], names[at + end] };
        f.after = &last;
    }
    struct ids none = { 0 };
    int64_t total;
    OP(s, pages->jobs_page, &f, job_id, &none, &total);
    assert_int_equal(none.n, 0);
    assert_int_equal(total, 5);
}

static void jobs_are_listed_by_key_in_each_order(void **state)
{
    enum { N = 7 };
    static const char *const names[N] = { "b", "a", "\xe4\xb8\xad", "a", "c", "B", "" };
    static const int64_t next[N] = { 50, NEVER_MS, 20, 50, 40, NEVER_MS, 10 };
    static const int64_t last[N] = { 7, 0, 9, 7, 0, 3, 8 };
    static const int by_name[N] = { 6, 5, 1, 3, 0, 4, 2 }, by_next[N] = { 6, 2, 4, 0, 3, 1, 5 };
    static const int by_last[N] = { 5, 0, 3, 6, 2, 1, 4 }, by_fired[N] = { 2, 6, 3, 0, 5, 4, 1 };
    struct store *s = ((struct engine *)*state)->s;
    int64_t id[N], wanted[N];
    const char *ordered[N];
    OP(s, txn->begin);
    for (int i = 0; i < N; i++) {
        struct job_record r = sample_job(names[i], next[i]);
        r.last_ms = last[i];
        OP(s, catalog->job_insert, &r);
        id[i] = r.id;
    }
    OP(s, txn->commit, NULL);
    for (int order = JOBS_NEWEST; order <= JOBS_FIRED; order++) {
        for (int i = 0; i < N; i++) {
            int at = order == JOBS_NEWEST  ? N - 1 - i
                     : order == JOBS_NAME  ? by_name[i]
                     : order == JOBS_NEXT  ? by_next[i]
                     : order == JOBS_LAST  ? by_last[i]
                     : order == JOBS_FIRED ? by_fired[i]
                                           : i;
            wanted[i] = id[at];
            ordered[i] = names[at];
        }
        walk_by_key(s, (enum jobs_order)order, ordered, wanted, N);
    }
}

/* A tenth of the jobs never fires, a third is planned ahead, some with times that have come; the
 * jobs of one group are found another way than all jobs, and both ways must give the same pages. */
static void jobs_by_next_scheduled_time_begin_with_those_planned(void **state)
{
    enum { N = 60, NOW = 5000, PAGE = 7 };
    struct store *s = ((struct engine *)*state)->s;
    int64_t id[N], next[N];
    OP(s, txn->begin);
    for (int i = 0; i < N; i++) {
        next[i] = i % 10 == 3 ? NEVER_MS : 10000 + i * 37 % 50;
        id[i] = sample_job_add(s, "j", next[i]);
        if (i % 3)
            continue;
        struct run_row r[] = { sample_run(id[i], 4000 + i), sample_run(id[i], 7000 + i * 7 % 11),
                               sample_run(id[i], 8000 + i) };
        OP(s, runs->runs_add, r, 3);
        next[i] = r[1].scheduled_ms;
    }
    OP(s, txn->commit, NULL);
    for (int group = 0; group <= 1; group++) {
        struct jobs_key last = { 0 };
        struct jobs_filter f = {
            .status = -1, .limit = PAGE, .order = JOBS_NEXT, .group_id = group, .now_ms = NOW
        };
        for (int at = 0, rows = 1; rows > 0; at += rows) {
            struct ids got = { 0 };
            int64_t total;
            OP(s, pages->jobs_page, &f, job_id, &got, &total);
            rows = got.n;
            assert_int_equal(rows, N - at < PAGE ? N - at : PAGE);
            for (int i = 0; i < rows; i++) {
                int64_t n = got.id[i] - id[0];
                assert_int_equal(got.next_ms[i], next[n]);
                assert_true(got.next_ms[i] > last.key_ms ||
                            (got.next_ms[i] == last.key_ms && got.id[i] > last.id));
                last = (struct jobs_key){ got.id[i], got.key_ms[i], NULL };
            }
            f.after = &last;
        }
    }
}

/* A job whose next firing is planned stands by the one before, in both ways in which jobs are
 * found. */
static void jobs_by_last_scheduled_time_stand_by_what_has_come(void **state)
{
    enum { N = 60, NOW = 5000, PAGE = 7 };
    struct store *s = ((struct engine *)*state)->s;
    int64_t id[N], last[N];
    OP(s, txn->begin);
    for (int i = 0; i < N; i++) {
        last[i] = i % 10 == 3 ? 0 : 1000 + i * 37 % 50;
        struct job_record r = sample_job("j", NEVER_MS);
        r.last_ms = last[i];
        OP(s, catalog->job_insert, &r);
        id[i] = r.id;
        struct due_row d = { id[i], NEVER_MS, NOW + i, NOW + i, 1, 0 };
        if (i % 3 || !i) /* planned ahead */
            continue;
        OP(s, runs->due_put, &d, 1);
        struct run_row row = sample_run(id[i], last[i]);
        if (last[i])
            OP(s, runs->runs_add, &row, 1);
    }
    OP(s, txn->commit, NULL);
    for (int way = 0; way < 4; way++) {
        struct jobs_key end = { 0 };
        struct jobs_filter f = { .status = -1,
                                 .limit = PAGE,
                                 .order = way & 1 ? JOBS_FIRED : JOBS_LAST,
                                 .group_id = way / 2,
                                 .now_ms = NOW };
        for (int at = 0, rows = 1; rows > 0; at += rows) {
            struct ids got = { 0 };
            int64_t total;
            OP(s, pages->jobs_page, &f, job_id, &got, &total);
            rows = got.n;
            assert_int_equal(rows, N - at < PAGE ? N - at : PAGE);
            for (int i = 0; i < rows; i++) {
                int64_t key = last[got.id[i] - id[0]];
                assert_int_equal(got.last_ms[i], key);
                if (way & 1)
                    assert_true(!f.after || key < end.key_ms ||
                                (key == end.key_ms && got.id[i] < end.id));
                else if (key == 0)
                    key = NEVER_MS;
                assert_int_equal(got.key_ms[i], key);
                if (!(way & 1))
                    assert_true(key > end.key_ms || (key == end.key_ms && got.id[i] > end.id));
                end = (struct jobs_key){ got.id[i], key, NULL };
                f.after = &end;
            }
        }
    }
}

static void jobs_are_found_by_the_job_that_they_start(void **state)
{
    static const char *const lists[] = { NULL, "", "7", "17,7", "7,8", "1, 7, 2", "77,70" };
    enum { N = countof(lists) };
    struct store *s = ((struct engine *)*state)->s;
    struct jobs_filter f = { .status = -1, .limit = N, .order = JOBS_OLDEST, .child = 7 };
    struct ids got = { 0 };
    int64_t total, first = 0;
    OP(s, txn->begin);
    for (int i = 0; i < N; i++) {
        struct job_record r = sample_job("j", NEVER_MS);
        r.children = (char *)lists[i];
        OP(s, catalog->job_insert, &r);
        first = i ? first : r.id;
    }
    OP(s, txn->commit, NULL);
    OP(s, pages->jobs_page, &f, job_id, &got, &total);
    assert_int_equal(total, 4);
    assert_int_equal(got.n, 4);
    for (int i = 0; i < got.n; i++)
        assert_int_equal(got.id[i], first + 2 + i);
}

static void jobs_are_found_by_words(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    static const struct {
        const char *words;
        int n;
    } cases[] = {
        { "alpha", 1 },    { "HANDLER", 2 }, { " alpha  zoe ", 1 }, { "beta zoe", 0 },
        { "#1000000", 0 }, { "", 2 },        { "ann' --", 0 },      { "a l p h a q", 1 }
    };
    OP(s, txn->begin);
    for (int i = 0; i < 2; i++) {
        struct job_record r = sample_job(i ? "beta" : "Alpha", 1000);
        r.handler = "theHandler";
        r.author = i ? "ann" : "zoe";
        OP(s, catalog->job_insert, &r);
    }
    OP(s, txn->commit, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct ids got = { 0 };
        int64_t total;
        const struct jobs_filter f = { .status = -1, .limit = 9, .words = cases[i].words };
        OP(s, pages->jobs_page, &f, job_id, &got, &total);
        if (got.n != cases[i].n || total != got.n)
            fail_msg("\"%s\" finds %d", cases[i].words, got.n);
    }
    struct ids all = { 0 }, one = { 0 };
    int64_t total;
    struct jobs_filter f = { .status = -1, .limit = 9, .type = "CRON", .owner = "zoe" };
    OP(s, pages->jobs_page, &f, job_id, &all, &total);
    assert_int_equal(all.n, 1);
    f = (struct jobs_filter){ .status = -1, .limit = 9, .id = all.id[0] };
    OP(s, pages->jobs_page, &f, job_id, &one, &total);
    assert_int_equal(one.n, 1);
    assert_int_equal(one.id[0], all.id[0]);
}

static void jobs_are_listed_newest_first_through_filters(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t id[10];
    OP(s, txn->begin);
    for (int i = 0; i < 10; i++) {
        char name[32];
        snprintf(name, sizeof(name), "Report %d%%", i);
        struct job_record r = sample_job(name, 1000);
        r.group_id = 1 + i % 2;
        r.enabled = i < 3;
        r.handler = i == 4 ? NULL : "theHandler";
        r.author = i == 5 ? "Zoe" : "ann";
        OP(s, catalog->job_insert, &r);
        id[i] = r.id;
    }
    OP(s, txn->commit, NULL);
    struct ids got = { 0 };
    int64_t total;
    struct jobs_filter f = { .status = -1, .offset = 2, .limit = 3 };
    OP(s, pages->jobs_page, &f, job_id, &got, &total);
    assert_int_equal(total, 10);
    assert_int_equal(got.n, 3);
    assert_int_equal(got.id[0], id[7]);
    assert_int_equal(got.id[2], id[5]);
    const struct {
        struct jobs_filter f;
        int total;
    } cases[] = {
        { { .group_id = 2, .status = -1 }, 5 },
        { { .status = 1 }, 3 },
        { { .status = 0 }, 7 },
        { { .status = 2 }, 0 },
        { { .status = -1, .description = "rEPORT" }, 10 },
        { { .status = -1, .description = "7%" }, 1 },
        { { .status = -1, .description = "_" }, 0 },
        { { .status = -1, .handler = "HANDLER" }, 9 },
        { { .status = -1, .author = "oe" }, 1 },
        { { .status = 0, .author = "zoe", .group_id = 1 }, 0 },
        { { .status = -1, .description = "', 'x" }, 0 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        OP(s, pages->jobs_page, &cases[i].f, job_id, &got, &total);
        if (total != cases[i].total)
            fail_msg("case %zu: %d rows, expected %d", i, (int)total, cases[i].total);
    }
}

static void the_next_scheduled_time_shown_is_the_one_that_will_fire(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t a = sample_job_add(s, "a", 9000), b = sample_job_add(s, "b", NEVER_MS);
    struct run_row r[] = { sample_run(a, 4000), sample_run(a, 5000), sample_run(a, 6000),
                           sample_run(a, 100), sample_run(b, 7000) };
    r[3].kind = KIND_MANUAL; /* not of the schedule */
    OP(s, runs->runs_add, r, 5);
    struct run_change sent = { .log_id = r[0].log_id, .what = CHANGE_PHASE, .phase = PHASE_SENT };
    OP(s, runs->runs_change, &sent, 1, &missed);
    OP(s, txn->commit, NULL);
    struct ids got = { 0 };
    int64_t total;
    const struct jobs_filter f = { .status = -1, .limit = 10 };
    OP(s, pages->jobs_page, &f, job_id, &got, &total);
    assert_int_equal(got.id[1], a);
    assert_int_equal(got.next_ms[1], 5000);
    assert_int_equal(got.next_ms[0], 7000);
    struct job_record j;
    OP(s, catalog->job_get, a, &j);
    assert_int_equal(j.next_ms, 9000); /* planning needs its own */
    job_record_done(&j);
}

static void next_and_last_scheduled_time_shown_lie_on_either_side_of_now(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t id = sample_job_add(s, "a", 9000);
    struct run_row r[] = { sample_run(id, 3000), sample_run(id, 4000), sample_run(id, 5000),
                           sample_run(id, 6000), sample_run(id, 4500) };
    r[4].kind = KIND_MANUAL;
    OP(s, runs->runs_add, r, 5);
    struct due_row due = { id, 9000, 6000, 6000, 1, 0 };
    OP(s, runs->due_put, &due, 1);
    struct run_change over = { .log_id = r[0].log_id,
                               .what = CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_CLOSE,
                               .trigger_code = 200,
                               .handle_code = 200,
                               .handle_ms = 3100 };
    OP(s, runs->runs_change, &over, 1, &missed);
    OP(s, txn->commit, NULL);
    static const struct {
        int64_t now_ms, next_ms, last_ms;
    } cases[] = { { 0, 4000, 6000 },    { 2500, 4000, 0 },    { 3999, 4000, 3000 },
                  { 4000, 5000, 4000 }, { 4700, 5000, 4000 }, { 5999, 6000, 5000 },
                  { 6000, 9000, 6000 }, { 8000, 9000, 6000 } };
    for (size_t i = 0; i < countof(cases); i++) {
        struct ids got = { 0 };
        int64_t total;
        const struct jobs_filter f = { .status = -1, .limit = 10, .now_ms = cases[i].now_ms };
        OP(s, pages->jobs_page, &f, job_id, &got, &total);
        assert_int_equal(got.next_ms[0], cases[i].next_ms);
        assert_int_equal(got.last_ms[0], cases[i].last_ms);
    }
}

static void rows_ahead_of_their_time_are_left_out(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r[4];
    OP(s, txn->begin);
    for (int i = 0; i < 4; i++) {
        r[i] = sample_run(1 + i % 2, 1000 + i * 1000);
        r[i].due_ms =
            r[i].scheduled_ms + (i == 0 ? 10000 : 0); /* the first waits to be tried again */
    }
    OP(s, runs->runs_add, r, 4);
    struct run_change sent = { .log_id = r[3].log_id, .what = CHANGE_PHASE, .phase = PHASE_SENT };
    OP(s, runs->runs_change, &sent, 1, &missed);
    OP(s, txn->commit, NULL);
    static const struct {
        int64_t job_id, now_ms;
        int count; /* of those that are shown */
    } cases[] = { { 0, 0, 4 },     { 0, 1999, 1 }, { 0, 2000, 2 }, { 0, 3000, 3 },
                  { 0, 11000, 4 }, { 1, 2999, 0 }, { 1, 3000, 1 }, { 2, 2000, 2 } };
    for (size_t i = 0; i < countof(cases); i++) {
        struct ids got = { 0 };
        int64_t total;
        const struct logs_filter f = { .job_id = cases[i].job_id,
                                       .from_ms = -1,
                                       .to_ms = -1,
                                       .limit = 10,
                                       .now_ms = cases[i].now_ms };
        OP(s, pages->logs_page, &f, log_id, &got, &total);
        assert_int_equal(got.n, cases[i].count);
        assert_int_equal(total, cases[i].count);
    }
    struct log_record l;
    OP(s, pages->log_get, r[0].log_id, &l); /* the id is enough */
    log_record_done(&l);
}

static void logs_are_listed_newest_first_through_filters(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct run_row r[12];
    OP(s, txn->begin);
    for (int i = 0; i < 12; i++) {
        r[i] = sample_run(1 + i % 3, 1700000000000 + i * 400000);
        r[i].group_id = 1 + i % 2;
    }
    r[11].scheduled_ms = 1700000000000; /* a retry keeps its first run's scheduled time */
    r[11].attempt = 1;
    r[11].job_id = 1;
    OP(s, runs->runs_add, r, 12);
    for (int i = 0; i < 6; i++) {
        /* 0..2 succeeded, 3 rejected, 4 failed, 5 running */
        struct run_change c = {
            .log_id = r[i].log_id,
            .what = CHANGE_TRIGGER | (i == 5 ? 0 : CHANGE_CLOSE) |
                    (i == 3 || i == 5 ? 0 : CHANGE_FINISH),
            .trigger_code = i == 3 ? 500 : 200,
            .handle_code = i == 4 ? 500 : 200,
        };
        OP(s, runs->runs_change, &c, 1, &missed);
    }
    OP(s, txn->commit, NULL);
    struct ids got = { 0 };
    int64_t total;
    struct logs_filter f = { .from_ms = -1, .to_ms = -1, .offset = 1, .limit = 2 };
    OP(s, pages->logs_page, &f, log_id, &got, &total);
    assert_int_equal(total, 12);
    assert_int_equal(got.n, 2);
    assert_int_equal(got.id[0], r[10].log_id);
    const struct {
        struct logs_filter f;
        int total;
    } cases[] = {
        { { .from_ms = -1, .to_ms = -1, .job_id = 1 }, 5 },
        { { .from_ms = -1, .to_ms = -1, .group_id = 2, .job_id = 1 }, 3 },
        { { .from_ms = -1, .to_ms = -1, .status = 1 }, 3 },
        { { .from_ms = -1, .to_ms = -1, .status = 2 }, 2 },
        { { .from_ms = -1, .to_ms = -1, .status = 3 }, 1 },
        { { .from_ms = -1, .to_ms = -1, .status = 9 }, 12 },
        { { .from_ms = 1700000000000, .to_ms = 1700000000000 }, 2 },
        { { .from_ms = 1700000000001, .to_ms = 1700000800000 }, 2 },
        { { .from_ms = 1700000800000, .to_ms = -1 }, 9 },
        { { .from_ms = -1, .to_ms = 1699999999999 }, 0 },
        { { .from_ms = 1700000800000, .to_ms = -1, .status = 2 }, 2 },
        { { .from_ms = 1800000000000, .to_ms = -1 }, 0 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        OP(s, pages->logs_page, &cases[i].f, log_id, &got, &total);
        if (total != cases[i].total)
            fail_msg("case %zu: %d rows, expected %d", i, (int)total, cases[i].total);
    }
}

static void facts_of_the_database(void **state)
{
    struct engine *e = *state;
    struct store *s = e->s;
    struct store_facts f;
    OP(s, pages->facts, &f);
    assert_int_equal(f.oldest_ms, -1);
    OP(s, txn->begin);
    struct run_row r[] = { sample_run(sample_job_add(s, "a", 9000), 8000), sample_run(1, 5000) };
    OP(s, runs->runs_add, r, 2);
    OP(s, txn->commit, NULL);
    OP(s, pages->facts, &f);
    assert_int_equal(f.oldest_ms, 8000); /* by id */
    assert_int_equal(f.bytes > 0, s->ops != &store_memory_ops);
}

static void a_page_stops_when_its_reader_has_enough(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    struct group_record g = { .app = "AppName", .title = "x" };
    for (int i = 0; i < 3; i++)
        OP(s, catalog->group_insert, &g);
    struct ids got = { 0 };
    int64_t total;
    const struct groups_filter f = { .app = "appn", .limit = 10 };
    OP(s, pages->groups_page, &f, group_id, &got, &total);
    assert_int_equal(got.n, 1);
    assert_int_equal(total, 3);
    OP(s, catalog->groups_each, group_id, &got);
    assert_int_equal(got.n, 2);
    OP(s, txn->commit, NULL);
}

/* Two jobs, a log row each, and the groups 1 and 2; who may see a part of it. */
static void readers_see_their_groups_only(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    struct group_record g = { .app = "AppName", .title = "x" };
    for (int i = 1; i <= 2; i++) {
        OP(s, catalog->group_insert, &g);
        struct job_record r = sample_job("j", 1000);
        r.group_id = g.id;
        OP(s, catalog->job_insert, &r);
        struct run_row run = sample_run(r.id, 1000);
        run.group_id = g.id;
        OP(s, runs->runs_add, &run, 1);
    }
    OP(s, txn->commit, NULL);
    const int64_t first = g.id - 1, second = g.id, both[] = { first, second, second + 1 };
    const struct {
        struct scope scope;
        int64_t asked;
        int total, groups;
    } cases[] = {
        { { .all = true }, 0, 2, 2 },
        { { .n = 3, .ids = both }, 0, 2, 2 },
        { { .n = 1, .ids = both }, 0, 1, 1 },
        { { .n = 1, .ids = both }, first, 1, 1 },
        { { .n = 1, .ids = both }, second, 0, 1 },
        { { .n = 2, .ids = both + 1 }, second, 1, 1 },
        { { .n = 1, .ids = both + 2 }, 0, 0, 0 },
        { { .n = 0 }, 0, 0, 0 },
        { { .n = 0 }, first, 0, 0 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct ids got = { 0 };
        int64_t jobs, logs, groups;
        const struct scope *scope = &cases[i].scope;
        const struct jobs_filter jf = {
            .scope = scope, .group_id = cases[i].asked, .status = -1, .limit = 10
        };
        const struct logs_filter lf = {
            .scope = scope, .group_id = cases[i].asked, .from_ms = -1, .to_ms = -1, .limit = 10
        };
        const struct groups_filter gf = { .scope = scope, .limit = 10 };
        OP(s, pages->jobs_page, &jf, job_id, &got, &jobs);
        OP(s, pages->logs_page, &lf, log_id, &got, &logs);
        OP(s, pages->groups_page, &gf, group_id, &got, &groups);
        if (jobs != cases[i].total || logs != cases[i].total || groups != cases[i].groups)
            fail_msg("case %zu: %d jobs, %d logs, %d groups", i, (int)jobs, (int)logs, (int)groups);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(jobs_are_listed_newest_first_through_filters),
        BOTH(jobs_are_listed_by_key_in_each_order),
        BOTH(jobs_by_next_scheduled_time_begin_with_those_planned),
        BOTH(jobs_by_last_scheduled_time_stand_by_what_has_come),
        BOTH(jobs_are_found_by_the_job_that_they_start),
        BOTH(jobs_are_found_by_words),
        BOTH(the_next_scheduled_time_shown_is_the_one_that_will_fire),
        BOTH(next_and_last_scheduled_time_shown_lie_on_either_side_of_now),
        BOTH(rows_ahead_of_their_time_are_left_out),
        BOTH(logs_are_listed_newest_first_through_filters),
        BOTH(facts_of_the_database),
        BOTH(a_page_stops_when_its_reader_has_enough),
        BOTH(readers_see_their_groups_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
