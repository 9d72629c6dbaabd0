/* SPDX-License-Identifier: Apache-2.0 */
/* The same random history on memory and on SQLite: whatever the one answers, the other answers,
 * every table is equal after each commit and rollback, and the books balance: counted from the
 * tables, no planned firing is unaccounted for. The seed of a failure is printed. */
#include "support_store.h"
#include "base/dice.h"
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t missed; /* by the last runs_change */

enum { LIVE_MAX = 256 };

struct history {
    struct engine *a, *b;
    struct dice dice;
    int64_t job[64], live[LIVE_MAX], closed[LIVE_MAX];
    int njob, nlive, nclosed, ngroup;
    bool lost[LIVE_MAX]; /* of live: in phase LOST */
    int64_t clock_ms;
    struct commit commit; /* of the step that is under way */
};

static const char *const words[] = { NULL, "", "a", "b b", "\xc3\xa9t\xc3\xa9", "x'y\"z", "1,2" };

static char *word(struct history *h)
{
    return (char *)words[dice_below(&h->dice, countof(words))];
}

static int64_t pick(struct history *h, const int64_t *from, int n)
{
    return n ? from[dice_below(&h->dice, (uint32_t)n)] : 4242;
}

/* Call on both; the results must agree. Arguments are evaluated twice. */
#define SAME(h, op, ...)                                                                           \
    do {                                                                                           \
        struct why w1 = { "" }, w2 = { "" };                                                       \
        enum err e1 = (h)->a->s->ops->op((h)->a->s, ##__VA_ARGS__, &w1);                           \
        enum err e2 = (h)->b->s->ops->op((h)->b->s, ##__VA_ARGS__, &w2);                           \
        if (e1 != e2)                                                                              \
            fail_msg(#op ": %s (%s) and %s (%s)", e1 ? err_name(e1) : "OK", w1.text,               \
                     e2 ? err_name(e2) : "OK", w2.text);                                           \
        assert_string_equal(w1.text, w2.text);                                                     \
    } while (0)

static struct job_record random_job(struct history *h)
{
    static char *const types[] = { "CRON", "FIX_RATE", "FIX_DELAY", "ONCE", "NONE", NULL };
    struct job_record r = sample_job(word(h), h->clock_ms + dice_below(&h->dice, 10000));
    r.group_id = 1 + dice_below(&h->dice, 3);
    r.author = word(h);
    r.handler = word(h);
    r.param = word(h);
    r.zone = word(h);
    r.glue_type = word(h);
    r.misfire = word(h);
    r.stop_reason = word(h);
    r.schedule_type = types[dice_below(&h->dice, countof(types))];
    r.enabled = dice_below(&h->dice, 2);
    r.version = dice_below(&h->dice, 5);
    if (!dice_below(&h->dice, 4))
        r.next_ms = NEVER_MS;
    return r;
}

static void do_job(struct history *h)
{
    struct job_record r = random_job(h), copy = r;
    uint32_t what = dice_below(&h->dice, 5);
    if (what == 0 && h->njob < 64) {
        OP(h->a->s, catalog->job_insert, &r);
        OP(h->b->s, catalog->job_insert, &copy);
        assert_int_equal(r.id, copy.id);
        h->job[h->njob++] = r.id;
        return;
    }
    int64_t id = pick(h, h->job, h->njob);
    bool more_a = false, more_b = false;
    switch (what) {
    case 1:
        r.id = id;
        SAME(h, catalog->job_update, &r);
        break;
    case 2:
        SAME(h, catalog->jobs_stop, (&(struct job_stop){ id, "because" }), 1, h->clock_ms);
        break;
    case 3:
        if (!dice_below(&h->dice, 6))
            SAME(h, catalog->job_delete, id);
        break;
    default:
        OP(h->a->s, runs->purge, 3, &more_a);
        OP(h->b->s, runs->purge, 3, &more_b);
        assert_int_equal(more_a, more_b);
    }
}

static void do_plan(struct history *h)
{
    struct due_row a[4], b[4];
    int na, nb;
    int64_t next_a, next_b;
    memset(a, 0, sizeof(a));
    memset(b, 0, sizeof(b));
    OP(h->a->s, runs->due_take, INT64_MIN, h->clock_ms, 4, a, &na, &next_a);
    OP(h->b->s, runs->due_take, INT64_MIN, h->clock_ms, 4, b, &nb, &next_b);
    assert_int_equal(na, nb);
    assert_true(next_a == next_b);
    assert_memory_equal(a, b, sizeof(a));
    for (int i = 0; i < na; i++) {
        a[i].planned_until_ms = a[i].last_ms = a[i].next_ms;
        a[i].next_ms = dice_below(&h->dice, 8) ? a[i].next_ms + 1000 : NEVER_MS;
    }
    SAME(h, runs->due_put, a, na);
    bool rate = dice_below(&h->dice, 2);
    int64_t after = dice_below(&h->dice, 40);
    OP(h->a->s, runs->due_each, rate, after, 4, a, &na);
    OP(h->b->s, runs->due_each, rate, after, 4, b, &nb);
    assert_int_equal(na, nb);
    if (na)
        assert_memory_equal(a, b, (size_t)na * sizeof(*a));
}

static void do_add(struct history *h)
{
    struct run_row a[3], b[3];
    struct totals t = { { 0 } };
    int n = h->b->server ? 1 : 1 + (int)dice_below(&h->dice, 3);
    for (int i = 0; i < n; i++) {
        a[i] = sample_run(pick(h, h->job, h->njob), h->clock_ms + 1000 * dice_below(&h->dice, 3));
        a[i].kind = (enum kind)dice_below(&h->dice, KIND_COUNT);
        a[i].attempt = (int32_t)dice_below(&h->dice, 2);
        a[i].broadcast = dice_below(&h->dice, 2);
        a[i].shard_total = 3;
        a[i].shard = (int32_t)dice_below(&h->dice, 3);
        a[i].param = word(h);
        a[i].address = word(h);
        a[i].choices = word(h);
        b[i] = a[i];
    }
    SAME(h, txn->begin);
    OP(h->a->s, runs->runs_add, a, n);
    OP(h->b->s, runs->runs_add, b, n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(a[i].log_id, b[i].log_id);
        if (a[i].log_id < 0)
            continue;
        t.n[TOTAL_PLANNED]++;
        if (h->nlive < LIVE_MAX) {
            h->lost[h->nlive] = false;
            h->live[h->nlive++] = a[i].log_id;
        } else {
            t.n[TOTAL_WITHDRAWN]++;
            struct run_change c = { .log_id = a[i].log_id, .what = CHANGE_DROP };
            SAME(h, runs->runs_change, &c, 1, &missed);
        }
    }
    h->commit.totals = t;
}

/* Close live run i the way that dice say; returns what it adds to the totals. */
static enum total random_end(struct history *h, int i, struct run_change *c)
{
    static char *const messages[] = { "lost: gone", "withdrawn: x", "skipped: y", "done", NULL };
    static const enum total ends[] = { TOTAL_FINISHED, TOTAL_REJECTED, TOTAL_SKIPPED,
                                       TOTAL_WITHDRAWN, TOTAL_LOST };
    c->what = CHANGE_PHASE | CHANGE_FINISH | CHANGE_TRIGGER | CHANGE_CLOSE;
    if (dice_below(&h->dice, 4) == 0)
        c->what |= CHANGE_ALARM;
    c->phase = PHASE_FAILED;
    c->trigger_code = dice_below(&h->dice, 2) ? 200 : 500;
    c->trigger_msg = word(h);
    c->handle_code = dice_below(&h->dice, 2) ? 200 : 502;
    c->handle_ms = h->clock_ms;
    c->handle_msg = messages[dice_below(&h->dice, countof(messages))];
    enum total end = ends[dice_below(&h->dice, countof(ends))];
    if (!h->lost[i] && (end == TOTAL_SKIPPED || end == TOTAL_WITHDRAWN) && dice_below(&h->dice, 2))
        c->what = CHANGE_DROP;
    return end;
}

static void do_change(struct history *h)
{
    struct totals t = { { 0 } };
    if (!h->nlive)
        return;
    int i = (int)dice_below(&h->dice, (uint32_t)h->nlive);
    struct run_change c = { .log_id = h->live[i] };
    SAME(h, txn->begin);
    if (dice_below(&h->dice, 2)) {
        c.what = CHANGE_PHASE | (dice_below(&h->dice, 2) ? CHANGE_ADDRESS : 0u) |
                 (dice_below(&h->dice, 4) ? 0u : CHANGE_TASK);
        c.handler = word(h);
        c.param = word(h);
        c.doubted = dice_below(&h->dice, 2);
        c.address = word(h);
        c.phase = (enum phase)(PHASE_PLANNED + dice_below(&h->dice, 5));
        t.n[TOTAL_LOST] = c.phase == PHASE_LOST;
        t.n[TOTAL_FOUND] = h->lost[i];
        h->lost[i] = c.phase == PHASE_LOST;
        SAME(h, runs->runs_change, &c, 1, &missed);
    } else {
        enum total end = random_end(h, i, &c);
        t.n[TOTAL_FOUND] = h->lost[i];
        t.n[end]++;
        SAME(h, runs->runs_change, &c, 1, &missed);
        SAME(h, runs->runs_change, &c, 1, &missed); /* a second time changes nothing */
        h->closed[h->nclosed++ % LIVE_MAX] = h->live[i];
        h->nlive--;
        h->live[i] = h->live[h->nlive];
        h->lost[i] = h->lost[h->nlive];
    }
    h->commit.totals = t;
}

static void do_side(struct history *h)
{
    struct skip_row k = { pick(h, h->job, h->njob),
                          h->clock_ms,
                          h->clock_ms + 5,
                          3,
                          (enum misfire)dice_below(&h->dice, 3),
                          dice_below(&h->dice, 2) };
    struct late_result late = { .log_id = pick(h, h->closed,
                                               h->nclosed < LIVE_MAX ? h->nclosed : LIVE_MAX),
                                .at_ms = h->clock_ms,
                                .code = 200,
                                .msg = word(h) };
    struct registry_record reg = { "EXECUTOR", word(h), word(h), h->clock_ms };
    int noted_a, noted_b;
    int64_t seq_a, seq_b;
    SAME(h, runs->skips_add, &k, 1);
    OP(h->a->s, runs->late_add, &late, 1, &noted_a);
    OP(h->b->s, runs->late_add, &late, 1, &noted_b);
    assert_int_equal(noted_a, noted_b);
    if (dice_below(&h->dice, 3))
        SAME(h, catalog->registry_put, &reg, 1);
    else
        SAME(h, catalog->registry_delete, &reg, 1);
    struct watermark watermark = { .until_ms = h->clock_ms - 500 + dice_below(&h->dice, 1000),
                                   .renewals = dice_below(&h->dice, 100) };
    if (dice_below(&h->dice, 2))
        memset(watermark.recorder, 'a' + (int)dice_below(&h->dice, 6), RECORDER_ID_SIZE - 1);
    h->commit.watermark = watermark;
    h->commit.clean = !dice_below(&h->dice, 3);
    int n = 1 + (int)dice_below(&h->dice, 3);
    OP(h->a->s, txn->seq_next, "request", n, &seq_a);
    OP(h->b->s, txn->seq_next, "request", n, &seq_b);
    assert_int_equal(seq_a, seq_b);
}

static void do_groups_and_users(struct history *h)
{
    struct group_record g = { .app = word(h), .title = word(h), .address_list = word(h) }, g2 = g;
    struct user_record u = { .username = word(h), .password = word(h), .argon2 = word(h) }, u2 = u;
    if (dice_below(&h->dice, 2)) {
        OP(h->a->s, catalog->group_insert, &g);
        OP(h->b->s, catalog->group_insert, &g2);
        assert_int_equal(g.id, g2.id);
        h->ngroup = (int)g.id;
    } else {
        g.id = g2.id = 1 + dice_below(&h->dice, (uint32_t)h->ngroup + 1);
        if (dice_below(&h->dice, 2))
            SAME(h, catalog->group_update, &g);
        else
            SAME(h, catalog->group_delete, g.id);
    }
    struct group_token t = { .group_id = 1 + dice_below(&h->dice, (uint32_t)h->ngroup + 1),
                             .token = dice_below(&h->dice, 2) ? word(h) : NULL,
                             .next = dice_below(&h->dice, 2) ? word(h) : NULL,
                             .since_ms = h->clock_ms };
    if (dice_below(&h->dice, 3))
        SAME(h, catalog->group_moved_put, t.group_id, t.token ? t.token : "http://a");
    else
        SAME(h, catalog->group_token_put, &t);
    assert_int_equal(h->a->s->ops->users->user_insert(h->a->s, &u, NULL),
                     h->b->s->ops->users->user_insert(h->b->s, &u2, NULL));
    assert_int_equal(u.id, u2.id);
    int64_t user = 1 + dice_below(&h->dice, 6);
    const char *argon2 = word(h);
    SAME(h, users->user_upgrade, user, argon2);
}

static void books_balance(struct store *s)
{
    struct totals t;
    int64_t open;
    OP(s, txn->totals_get, &t, &open);
    assert_int_equal(totals_unaccounted(&t, open), 0);
}

/* A server gives no id again that was rolled back, or that a run had which was there already. */
static void ids_align(struct history *h)
{
    static const struct {
        const char *name;
        enum mem_table table;
    } tables[] = { { "xxl_job_log", T_LOG },
                   { "xxl_job_info", T_JOB },
                   { "xxl_job_group", T_GROUP },
                   { "xxl_job_user", T_USER },
                   { "peal_skip", T_SKIP } };
    for (size_t i = 0; i < countof(tables); i++)
        engine_next_id(h->b, tables[i].name, memory_of(h->a->s)->now.last_id[tables[i].table] + 1);
}

/* False: it was rolled back. */
static bool step(struct history *h)
{
    struct history before = *h;
    uint32_t what = dice_below(&h->dice, 8);
    h->commit = (struct commit){ 0 };
    h->clock_ms += dice_below(&h->dice, 700);
    if (what < 2) {
        do_add(h);
    } else if (what < 5 && h->nlive) {
        do_change(h);
    } else {
        SAME(h, txn->begin);
        if (what == 5)
            do_plan(h);
        else if (what == 6)
            do_side(h);
        else if (dice_below(&h->dice, 4))
            do_job(h);
        else
            do_groups_and_users(h);
    }
    if (dice_below(&h->dice, 6)) {
        SAME(h, txn->commit, &h->commit);
    } else {
        struct dice dice = h->dice;
        h->a->s->ops->txn->rollback(h->a->s);
        h->b->s->ops->txn->rollback(h->b->s);
        *h = before;
        h->dice = dice;
        return false;
    }
    return true;
}

static void memory_and_sqlite_answer_alike(void **state)
{
    (void)state;
    bool mysql = false;
    for (uint64_t seed = 1; seed <= (mysql ? 2 : getenv("PEAL_TEST_DB") ? 4 : 12); seed++) {
        print_message("seed %d\n", (int)seed);
        struct history h = { .clock_ms = 1700000000000 };
        h.a = engine_new(ENGINE_MEMORY);
        h.b = engine_new(ENGINE_SQL);
        h.dice.state = seed;
        mysql = strcmp(h.b->s->ops->name, "mysql") == 0;
        for (int i = 0; i < 400; i++) {
            if (!step(&h) || !mysql)
                ids_align(
                    &h); /* MySQL's handle counts log ids itself, and an ALTER TABLE is slow */
            if (i % 10)
                continue;
            char *a = engine_dump(h.a), *b = engine_dump(h.b);
            assert_string_equal(a, b);
            free(a);
            free(b);
            books_balance(h.b->s);
            if (i % 100 == 0)
                engine_reopen(h.b);
        }
        engine_free(h.a);
        engine_free(h.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_and_sqlite_answer_alike) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
