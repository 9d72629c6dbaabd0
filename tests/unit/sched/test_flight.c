/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder: what is believed, when a word comes and goes, and what a killed center then
 * knows of its runs. */
#include "support_core.h"
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "sched/flight.h"

#define BOOT "2ed1de58-de96-422b-82db-0a756cbe3297"
#define ID "00112233445566778899aabbccddeeff"
#define SLOTS 4

/* ---- a file ---------------------------------------------------------------------------------- */

static struct flight_head *file_new(void)
{
    struct flight_head *h = aligned_alloc(FLIGHT_HEAD, FLIGHT_HEAD * 2);
    memset(h, 0, FLIGHT_HEAD * 2);
    flight_make(h, SLOTS, BOOT, ID);
    return h;
}

static uint64_t word(int64_t id, unsigned state)
{
    return (uint64_t)id << 8 | state;
}

static struct watermark mark_of(const char *id, int64_t renewals, int64_t last_id)
{
    struct watermark m = { .renewals = renewals, .last_id = last_id };
    text_copy(m.recorder, sizeof(m.recorder), slice_text(id));
    return m;
}

/* ---- what is believed ------------------------------------------------------------------------ */

static void wrong_magic(struct flight_head *h)
{
    h->magic ^= 1;
}

static void torn(struct flight_head *h)
{
    memset(h, 0, 64);
}

static void other_version(struct flight_head *h)
{
    h->version++;
}

static void no_slots(struct flight_head *h)
{
    h->slots = 0;
}

static void more_slots(struct flight_head *h)
{
    h->slots = UINT32_MAX;
}

static void other_boot(struct flight_head *h)
{
    h->boot[0] ^= 1;
}

static void unended_boot(struct flight_head *h)
{
    memset(h->boot, 'x', sizeof(h->boot));
}

static void other_id(struct flight_head *h)
{
    h->id[31] ^= 1;
}

static void longer_id(struct flight_head *h)
{
    h->id[32] = 'a';
}

static void heard_more(struct flight_head *h)
{
    h->renewals = 8;
}

static void heard_as_much(struct flight_head *h)
{
    h->renewals = 7;
}

static void was_full(struct flight_head *h)
{
    h->without_word = 1;
}

static void unknown_state(struct flight_head *h)
{
    flight_words(h)[3] = word(9, 3);
}

static void state_without_id(struct flight_head *h)
{
    flight_words(h)[0] = word(0, FLIGHT_LEAVING);
}

static void id_without_state(struct flight_head *h)
{
    flight_words(h)[0] = word(9, 0);
}

static void huge_id(struct flight_head *h)
{
    flight_words(h)[0] = UINT64_MAX << 8 | FLIGHT_LEAVING;
}

static void id_twice(struct flight_head *h)
{
    flight_words(h)[0] = word(9, FLIGHT_LEAVING);
    flight_words(h)[2] = word(9, FLIGHT_ACCEPTED);
}

static void id_not_given(struct flight_head *h)
{
    flight_words(h)[1] = word(101, FLIGHT_LEAVING);
}

static void last_id(struct flight_head *h)
{
    flight_words(h)[1] = word(100, FLIGHT_LEAVING);
}

static void all_is_believed_or_nothing(void **state)
{
    (void)state;
    const struct {
        void (*change)(struct flight_head *h);
        const char *id;   /* that the database names */
        const char *boot; /* of this kernel */
        int64_t renewals; /* that the database has */
        size_t bytes;     /* of the file, 0: as it should be */
        const char *why;  /* NULL: believed */
    } rows[] = {
        { NULL, ID, BOOT, 7, 0, NULL },
        { heard_as_much, ID, BOOT, 7, 0, NULL },
        { last_id, ID, BOOT, 7, 0, NULL },
        { NULL, "", BOOT, 7, 0, "the last process had none" },
        { NULL, "ff112233445566778899aabbccddeeff", BOOT, 7, 0, "the database names another one" },
        { NULL, "0011", BOOT, 7, 0, "the database names another one" },
        { other_id, ID, BOOT, 7, 0, "the database names another one" },
        { longer_id, ID, BOOT, 7, 0, "the database names another one" },
        { other_boot, ID, BOOT, 7, 0, "the machine was started since" },
        { unended_boot, ID, BOOT, 7, 0, "the machine was started since" },
        { NULL, ID, "", 7, 0, "the machine was started since" },
        { heard_more, ID, BOOT, 7, 0, "the database is older than it" },
        { heard_as_much, ID, BOOT, -1, 0, "the database is older than it" },
        { was_full, ID, BOOT, 7, 0, "it was full, and runs were sent that it does not know" },
        { wrong_magic, ID, BOOT, 7, 0, "it is not one, or was never finished" },
        { torn, ID, BOOT, 7, 0, "it is not one, or was never finished" },
        { NULL, ID, BOOT, 7, 1, "it is not one, or was never finished" },
        { NULL, ID, BOOT, 7, FLIGHT_HEAD + SLOTS * 8 - 1, "its size is wrong" },
        { NULL, ID, BOOT, 7, FLIGHT_HEAD + SLOTS * 8 + 8, "its size is wrong" },
        { NULL, ID, BOOT, 7, FLIGHT_HEAD, "its size is wrong" },
        { no_slots, ID, BOOT, 7, FLIGHT_HEAD, "its size is wrong" },
        { more_slots, ID, BOOT, 7, 0, "its size is wrong" },
        { other_version, ID, BOOT, 7, 0, "another release wrote it" },
        { unknown_state, ID, BOOT, 7, 0, "word 3 cannot be understood" },
        { state_without_id, ID, BOOT, 7, 0, "word 0 cannot be understood" },
        { id_without_state, ID, BOOT, 7, 0, "word 0 cannot be understood" },
        { huge_id, ID, BOOT, 7, 0, "word 0 cannot be understood" },
        { id_twice, ID, BOOT, 7, 0, "log id 9 stands in it twice" },
        { id_not_given, ID, BOOT, 7, 0,
          "it knows log id 101, which the database has not given yet" },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct flight_head *h = file_new();
        if (rows[i].change)
            rows[i].change(h);
        struct watermark watermark = mark_of(rows[i].id, rows[i].renewals, 100);
        struct flight_said said;
        struct why why = { "" };
        bool believed = flight_read(h, rows[i].bytes ? rows[i].bytes : flight_bytes(SLOTS),
                                    &watermark, rows[i].boot, &said, &why);
        if (believed != !rows[i].why || strcmp(why.text, rows[i].why ? rows[i].why : "") != 0)
            fail_msg("row %zu: %s: %s", i, believed ? "believed" : "not believed", why.text);
        assert_int_equal(flight_known(&said, 50),
                         believed ? FLIGHT_KNOWS_UNSENT : FLIGHT_KNOWS_NOTHING);
        flight_said_done(&said);
        free(h);
    }
}

static void without_a_file_nothing_is_known(void **state)
{
    (void)state;
    struct watermark watermark = mark_of(ID, 7, 100);
    struct flight_said said;
    struct why why = { "" };
    assert_false(flight_read(NULL, 0, &watermark, BOOT, &said, &why));
    assert_string_equal(why.text, "there is no file with its id");
    assert_int_equal(flight_known(&said, 1), FLIGHT_KNOWS_NOTHING);
    flight_said_done(&said);
}

static enum flight_known known(const struct flight_head *h, int64_t id)
{
    struct watermark watermark = mark_of(ID, 100, 1000);
    struct flight_said said;
    struct why why = { "" };
    flight_read(h, flight_bytes(SLOTS), &watermark, BOOT, &said, &why);
    enum flight_known k = flight_known(&said, id);
    flight_said_done(&said);
    return k;
}

/* ---- when a word comes and goes -------------------------------------------------------------- */

static void a_word_goes_when_the_disk_says_as_much(void **state)
{
    (void)state;
    const struct {
        const char *what;
        const char *steps; /* Send, Answer 200, Never left, Told by batch n, Renewal */
        enum flight_known then;
    } rows[] = {
        { "never sent", "", FLIGHT_KNOWS_UNSENT },
        { "sent", "S1", FLIGHT_KNOWS_LEFT },
        { "answered", "S1 A", FLIGHT_KNOWS_ACCEPTED },
        { "a renewal alone", "S1 A R", FLIGHT_KNOWS_ACCEPTED },
        { "told, no renewal yet", "S1 A T1", FLIGHT_KNOWS_ACCEPTED },
        { "told", "S1 A T1 R", FLIGHT_KNOWS_UNSENT },
        { "told by an older batch", "S2 T1 R", FLIGHT_KNOWS_LEFT },
        { "told by a younger one", "S2 T9 R", FLIGHT_KNOWS_UNSENT },
        { "sent again before the renewal", "S1 T1 S2 R", FLIGHT_KNOWS_LEFT },
        { "the second send told as well", "S1 T1 S2 T2 R", FLIGHT_KNOWS_UNSENT },
        { "only the first of two told", "S1 S2 A T1 R", FLIGHT_KNOWS_ACCEPTED },
        { "sent again after the renewal", "S1 T1 R S3", FLIGHT_KNOWS_LEFT },
        { "never left", "S1 N", FLIGHT_KNOWS_UNSENT },
        { "never left, sent again", "S1 N S1", FLIGHT_KNOWS_LEFT },
        { "told, given back, told again", "S1 T1 N S2 T2 R S3", FLIGHT_KNOWS_LEFT },
        { "answered without a word", "A N T5 R", FLIGHT_KNOWS_UNSENT },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct flight_head *h = file_new();
        struct flight f;
        flight_init(&f, h);
        flight_place place = 0;
        uint64_t renewals = 0;
        for (const char *step = rows[i].steps; *step; step++) {
            uint64_t seq = (uint64_t)(step[1] - '0'); /* one digit, if any */
            if (*step == 'S')
                flight_leaving(&f, &place, 9, seq);
            else if (*step == 'A')
                flight_accepted(&f, place, 9);
            else if (*step == 'N')
                flight_unsent(&f, place, 9);
            else if (*step == 'T')
                flight_told(&f, place, 9, seq);
            else if (*step == 'R')
                flight_renewed(&f, ++renewals);
        }
        if (known(h, 9) != rows[i].then)
            fail_msg("%s: %d", rows[i].what, (int)known(h, 9));
        assert_int_equal(h->renewals, renewals);
        flight_done(&f);
        free(h);
    }
}

static void a_place_that_another_run_has_is_left_alone(void **state)
{
    (void)state;
    struct flight_head *h = file_new();
    struct flight f;
    flight_init(&f, h);
    flight_place first = 0, second = 0;
    flight_leaving(&f, &first, 1, 1);
    flight_told(&f, first, 1, 1);
    flight_renewed(&f, 1);
    flight_leaving(&f, &second, 2, 2);
    assert_int_equal(first, second);
    flight_accepted(&f, first, 1);
    flight_unsent(&f, first, 1);
    flight_told(&f, first, 1, 9);
    flight_renewed(&f, 2);
    assert_int_equal(known(h, 2), FLIGHT_KNOWS_LEFT);
    flight_leaving(&f, &first, 1, 3);
    assert_int_not_equal(first, second);
    assert_int_equal(f.in_use, 2);
    flight_done(&f);
    free(h);
}

/* Full: the file says so until every run that found no place is told of, not just until there is
 * room again. */
static void a_full_file_proves_nothing(void **state)
{
    (void)state;
    struct flight_head *h = file_new();
    struct flight f;
    flight_init(&f, h);
    flight_place place[SLOTS + 3] = { 0 };
    for (int i = 0; i < SLOTS; i++)
        flight_leaving(&f, &place[i], i + 1, 1);
    assert_int_equal(h->without_word, 0);
    assert_int_equal(known(h, SLOTS), FLIGHT_KNOWS_LEFT);
    for (int i = SLOTS; i < SLOTS + 3; i++)
        flight_leaving(&f, &place[i], i + 1, 1);
    assert_int_equal(h->without_word, 1);
    assert_int_equal(f.without_word, 3);
    assert_int_equal(known(h, 1), FLIGHT_KNOWS_NOTHING);
    for (int i = 0; i < SLOTS; i++)
        flight_told(&f, place[i], i + 1, 1);
    flight_renewed(&f, 1); /* it is empty now, and runs are out that it does not know */
    assert_int_equal(f.in_use, 0);
    assert_int_equal(h->without_word, 1);
    flight_unsent(&f, place[SLOTS], SLOTS + 1);
    flight_told(&f, place[SLOTS + 1], SLOTS + 2, 1);
    flight_leaving(&f, &place[SLOTS + 2], SLOTS + 3, 2); /* sent again: there would be room */
    flight_told(&f, place[SLOTS + 2], SLOTS + 3, 1);
    flight_renewed(&f, 2);
    assert_int_equal(f.without_word, 1);
    assert_int_equal(h->without_word, 1);
    flight_told(&f, place[SLOTS + 2], SLOTS + 3, 2);
    assert_int_equal(h->without_word, 1); /* not before the renewal */
    flight_renewed(&f, 3);
    assert_int_equal(h->without_word, 0);
    assert_int_equal(known(h, 1), FLIGHT_KNOWS_UNSENT);
    flight_done(&f);
    free(h);
}

static void an_id_too_large_for_a_word_counts_as_out(void **state)
{
    (void)state;
    struct flight_head *h = file_new();
    struct flight f;
    flight_init(&f, h);
    flight_place place = 0;
    int64_t id = (int64_t)1 << FLIGHT_ID_BITS;
    flight_leaving(&f, &place, id, 1);
    assert_int_equal(h->without_word, 1);
    assert_int_equal(f.in_use, 0);
    flight_told(&f, place, id, 1);
    flight_renewed(&f, 1);
    assert_int_equal(h->without_word, 0);
    flight_done(&f);
    free(h);
}

static void without_a_recorder_nothing_happens(void **state)
{
    (void)state;
    struct flight f;
    flight_init(&f, NULL);
    flight_place place = 0;
    flight_leaving(&f, &place, 1, 1);
    flight_accepted(&f, place, 1);
    flight_unsent(&f, place, 1);
    flight_told(&f, place, 1, 1);
    flight_renewed(&f, 1);
    assert_int_equal(place, 0);
    flight_done(&f);
}

/* ---- a center that is killed ------------------------------------------------------------------
 */

#define ADDRESS "http://10.0.0.1:9999/"

/* A per-second job's rows lie ahead; the run of second 2 has just left. */
static int64_t one_leaves(struct core *c, uint32_t slots)
{
    core_crash(c);
    c->slots = slots;
    core_start(c);
    core_settle(c);
    core_register(c, "app", ADDRESS);
    int64_t job = core_simple_job(c, "CRON", "* * * * * ?");
    core_run(c, 2000);
    for (int i = 0; i < c->nsent; i++) /* those before are done with */
        if (c->sent[i].scheduled_ms < CORE_NOW_MS + 2000)
            core_result(c, c->sent[i].log_id, 200);
    assert_int_equal(core_times_sent(c, job, CORE_NOW_MS + 2000), 1);
    return c->sent[c->nsent - 1].log_id;
}

static enum phase phase_of(struct core *c, int64_t log_id)
{
    const struct run_row *r = core_row(c, log_id);
    return r ? r->phase : 0;
}

/* The log ids of the calls of a kind, all of which must be the one. */
static bool asked_only(const struct core *c, int64_t log_id)
{
    int queries = 0;
    for (int i = 0; i < c->ncalls; i++) {
        if (c->calls[i].kind != CALL_IDLE)
            continue;
        queries++;
        if (c->calls[i].log_id != log_id)
            return false;
    }
    return queries == 1;
}

static void only_what_was_leaving_is_in_doubt(void **state)
{
    struct core *c = *state;
    int64_t id = one_leaves(c, 64);
    core_crash(c);
    core_start(c);
    core_settle(c);
    assert_int_equal(phase_of(c, id), PHASE_UNKNOWN);
    assert_true(core_row(c, id)->doubted);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_int_equal(st.in_doubt, 1);
    core_run(c, 10);
    assert_true(asked_only(c, id));
    c->executor = core_accepts;
    int before = c->nsent;
    core_run(c,
             1000); /* the next scheduled time fires, although the old watermark had covered it */
    assert_int_equal(c->nsent, before + 1);
    assert_int_equal(c->sent[before].scheduled_ms, CORE_NOW_MS + 3000);
    assert_int_equal(c->sent[before].sent_wall_ms, CORE_NOW_MS + 3000);
}

static void what_was_accepted_is_accepted(void **state)
{
    struct core *c = *state;
    int64_t id = one_leaves(c, 64);
    core_answer(c, core_call_of(c, CALL_RUN, id), 200, LOG_NONE);
    assert_int_equal(phase_of(c, id), PHASE_PLANNED); /* as far as the disk knows */
    core_crash(c);
    core_start(c);
    core_settle(c);
    assert_int_equal(phase_of(c, id), PHASE_ACCEPTED);
    assert_false(core_row(c, id)->doubted);
    struct log_record l;
    assert_true(core_log(c, id, &l));
    assert_int_equal(l.trigger_code, 200);
    log_record_done(&l);
    core_result(c, id, 200);
    assert_null(core_row(c, id));
}

static void what_never_left_is_planned(void **state)
{
    struct core *c = *state;
    int64_t id = one_leaves(c, 64);
    core_register(c, "app", "http://10.0.0.2:9999/");
    core_fails(c, core_call_of(c, CALL_RUN, id), CALL_NOT_SENT);
    core_crash(c);
    core_start(c);
    core_pump(c);
    assert_int_equal(phase_of(c, id), PHASE_PLANNED);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_int_equal(st.in_doubt, 0);
}

/* NOT_SENT of a second copy says nothing of the first. */
static void what_was_in_doubt_stays_in_doubt(void **state)
{
    struct core *c = *state;
    int64_t id = one_leaves(c, 64);
    core_fails(c, core_call_of(c, CALL_RUN, id), CALL_IN_DOUBT);
    c->now.wall_ms += 10;
    c->now.boot_ms += 10;
    assert_true(core_take(c)); /* and the disk does not take it */
    assert_int_equal(phase_of(c, id), PHASE_PLANNED);
    while (core_call_of(c, CALL_RUN, id) == NULL) { /* busy, and no log: the same id once more */
        struct core_call *reconcile;
        while ((reconcile = core_call_of(c, CALL_IDLE, id)))
            core_answer(c, reconcile, 500, LOG_NONE);
        while ((reconcile = core_call_of(c, CALL_LOG, id)))
            core_answer(c, reconcile, 200, LOG_NONE);
        c->now.wall_ms += 500;
        c->now.boot_ms += 500;
        sched_tick(c->s, c->now);
        core_pump(c);
        assert_true(c->now.wall_ms < CORE_NOW_MS + 60000);
    }
    core_fails(c, core_call_of(c, CALL_RUN, id), CALL_NOT_SENT);
    core_crash(c);
    core_start(c);
    core_settle(c);
    assert_int_equal(phase_of(c, id), PHASE_UNKNOWN);
}

static void a_power_cut_goes_by_the_watermark(void **state)
{
    struct core *c = *state;
    int64_t id = one_leaves(c, 64);
    core_power_cut(c);
    core_start(c);
    core_settle(c);
    assert_int_equal(phase_of(c, id), PHASE_UNKNOWN);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_true(st.in_doubt > 1);
}

/* Killed before its first commit, a life has changed nothing; killed after it, the rows say all. */
static void a_second_kill_finds_the_same(void **state)
{
    struct core *c = *state;
    for (int when = 0; when < 3; when++) {
        int64_t id = when ? 0 : one_leaves(c, 64);
        if (when == 0)
            core_answer(c, core_call_of(c, CALL_RUN, id), 200, LOG_NONE);
        id = c->sent[c->nsent - 1].log_id;
        core_crash(c);
        core_start(c);
        if (when >= 1)
            assert_true(core_take(c));
        if (when == 2)
            core_write(c); /* on disk, and the core has not heard of it */
    }
    int64_t id = c->sent[c->nsent - 1].log_id;
    core_crash(c);
    core_start(c);
    core_settle(c);
    assert_int_equal(phase_of(c, id), PHASE_ACCEPTED);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_int_equal(st.in_doubt, 0);
}

/* Otherwise the next one would believe words that know nothing of its sends. */
static void a_life_without_a_recorder_says_so(void **state)
{
    struct core *c = *state;
    one_leaves(c, 64);
    core_crash(c);
    c->slots = 0;
    core_start(c);
    core_settle(c);
    struct watermark watermark;
    struct why why = { "" };
    assert_int_equal(c->store->ops->txn->watermark_get(c->store, &watermark, &why), OK);
    assert_string_equal(watermark.recorder, "");
    core_run(c, 1000);
    core_crash(c);
    core_start(c);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_true(st.in_doubt > 1);
}

static void nothing_leaves_before_the_first_commit(void **state)
{
    struct core *c = *state;
    one_leaves(c, 64);
    core_crash(c);
    core_start(c);
    int before = c->nsent;
    assert_true(core_take(c));
    assert_int_equal(c->batch->plan_until_ms, 0); /* it is waited for */
    c->now.wall_ms += 3000;
    c->now.boot_ms += 3000;
    sched_tick(c->s, c->now);
    core_pump(c);
    core_write(c);
    assert_int_equal(c->nsent, before);
    core_done(c);
    assert_true(c->nsent > before);
}

/* A row that the file called unsent has a result: the file was wrong, the executor is right. */
static void an_executor_knows_better(void **state)
{
    struct core *c = *state;
    int64_t id = one_leaves(c, 64);
    core_crash(c);
    struct flight_head *h = c->recorder[c->own];
    for (uint32_t i = 0; i < h->slots; i++)
        flight_words(h)[i] = 0;
    core_start(c);
    assert_int_equal(phase_of(c, id), PHASE_PLANNED);
    sched_result(c->s, c->now, id, 200, slice_text("done"));
    core_settle(c);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_int_equal(st.contradicted, 1);
    assert_null(core_row(c, id));
    assert_int_equal(core_unaccounted(c), 0);
}

/* In the database's words: nothing stays in the file that the rows say as well. */
static void words_are_given_back(void **state)
{
    struct core *c = *state;
    one_leaves(c, 64);
    c->executor = core_accepts;
    struct sched_stats st;
    for (int i = 0; i < 5; i++) {
        core_run(c, 1000);
        sched_stats(c->s, &st);
        assert_true(st.words <= 3);
    }
    core_switch(c, 1, EDIT_JOB_DELETE); /* takes the runs that are out along */
    core_run(c, 2500);
    sched_stats(c->s, &st);
    assert_int_equal(st.words, 0);
    assert_int_equal(st.live, 0);
}

/* Full, and it says so: the next life goes by the watermark. */
static void more_runs_than_places(void **state)
{
    struct core *c = *state;
    int64_t id = one_leaves(c, 1);
    core_run(c, 1000);
    struct sched_stats st;
    sched_stats(c->s, &st);
    assert_true(st.words <= 1);
    assert_true(st.without_word >= 1);
    core_crash(c);
    core_start(c);
    core_settle(c);
    assert_int_equal(phase_of(c, id), PHASE_UNKNOWN);
    sched_stats(c->s, &st);
    assert_true(st.in_doubt > 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_believed_or_nothing),
        cmocka_unit_test(without_a_file_nothing_is_known),
        cmocka_unit_test(a_word_goes_when_the_disk_says_as_much),
        cmocka_unit_test(a_place_that_another_run_has_is_left_alone),
        cmocka_unit_test(a_full_file_proves_nothing),
        cmocka_unit_test(an_id_too_large_for_a_word_counts_as_out),
        cmocka_unit_test(without_a_recorder_nothing_happens),
        T(only_what_was_leaving_is_in_doubt),
        T(what_was_accepted_is_accepted),
        T(what_never_left_is_planned),
        T(what_was_in_doubt_stays_in_doubt),
        T(a_power_cut_goes_by_the_watermark),
        T(a_second_kill_finds_the_same),
        T(a_life_without_a_recorder_says_so),
        T(nothing_leaves_before_the_first_commit),
        T(an_executor_knows_better),
        T(words_are_given_back),
        T(more_runs_than_places),
    };
    return cmocka_run_group_tests_name("sched.flight", tests, NULL, NULL);
}
