/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's journal: a damaged file is kept aside and gives what SQLite can read of it, and
 * nothing is made up. */
#include "support_journal.h"
#include "base/mem.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* The file that was kept aside has these bytes. */
static void assert_kept(const char *ending, const char *want, size_t n)
{
    char name[96] = "";
    size_t m, tail = strlen(ending);
    DIR *d = opendir(journal_dir);
    for (struct dirent *e; (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        bool is_log = len > 4 && strcmp(e->d_name + len - 4, "-wal") == 0;
        if (strstr(e->d_name, ".damaged-") && is_log == (tail > 0))
            text_copy(name, sizeof(name), slice_text(e->d_name + strlen("runs.db")));
    }
    closedir(d);
    assert_true(name[0]);
    char *kept = journal_file(name, &m);
    assert_int_equal(m, n);
    assert_memory_equal(kept, want, n);
    free(kept);
}

static void a_page_that_is_lost_costs_what_stood_there(void **state)
{
    (void)state;
    size_t size;
    some_write(NULL);
    char *whole = journal_file("", &size), *hit = mem_new(size);
    int hurt = 0, worst = SOME;
    for (size_t page = 0; page < size / PAGE; page++) {
        journal_clear();
        memcpy(hit, whole, size);
        memset(hit + page * PAGE, page % 2 ? 0xa5 : 0, PAGE);
        journal_put("", hit, size);
        int n = some_open_damaged();
        assert_int_equal(journal_damaged(false), 1);
        assert_kept("", hit, size);
        bool root = page <= 3;
        worst = n < worst && !root ? n : worst;
        hurt += n < SOME;
    }
    assert_true(hurt > 20);
    assert_true(worst > SOME - 250); /* a page of ids */
    free(whole);
    free(hit);
}

/* Both ends of a table can be read; what lies between the damaged pages is lost. */
static void several_pages_cost_what_lies_between_them(void **state)
{
    (void)state;
    size_t size;
    some_write(NULL);
    char *hit = journal_file("", &size);
    memset(hit + size / PAGE / 2 * PAGE, 0xa5, PAGE);
    memset(hit + size / PAGE * 3 / 4 * PAGE, 0xa5, PAGE);
    journal_put("", hit, size);
    int n = some_open_damaged();
    assert_true(n > SOME_TOLD && n < SOME - 50);
    assert_int_equal(seen.row[0].seq, 1);
    assert_int_equal(seen.row[n - 1].seq, SOME);
    free(hit);
}

static void a_file_that_was_cut_gives_what_is_left(void **state)
{
    (void)state;
    size_t size;
    some_write(NULL);
    char *whole = journal_file("", &size);
    size_t cuts[] = { 5, 50, 99, 1000, PAGE, PAGE + 1, 3 * PAGE, size / 2, size - PAGE, size - 1 };
    for (size_t i = 0; i < countof(cuts); i++) {
        journal_clear();
        journal_put("", whole, cuts[i]);
        struct why why;
        if (cuts[i] < 16) {
            assert_int_equal(journal_refused(&why), ERR_INVALID); /* no trace of being ours */
            continue;
        }
        int n = some_open_damaged();
        assert_true(i < countof(cuts) - 3 || n > SOME_TOLD / 2);
    }
    journal_clear();
    journal_put("", "", 0); /* nothing was ever in it */
    assert_int_equal(some_open_damaged(), 0);
    journal_clear();
    journal_put("", whole, 1); /* SQLite takes one byte for none */
    assert_int_equal(some_open_damaged(), 0);
    assert_int_equal(journal_damaged(false), 0);
    free(whole);
}

static void a_flipped_byte_never_makes_up_a_run(void **state)
{
    (void)state;
    struct journal j;
    size_t size;
    unsigned dice = 4711;
    some_write(NULL);
    char *whole = journal_file("", &size), *hit = mem_new(size);
    for (int round = 0; round < 60; round++) {
        journal_clear();
        memcpy(hit, whole, size);
        for (int i = 0; i < 8; i++) { /* the trees' own bytes, at the pages' beginnings */
            dice = dice * 1103515245 + 12345;
            size_t at = (dice >> 8) % (size / PAGE) * PAGE + (dice >> 20) % 16;
            hit[at] = (char)(hit[at] ^ (1 << (dice >> 28) % 8));
        }
        journal_put("", hit, size);
        struct why why = { "" };
        enum err err = journal_try(&j, 1000000, DAY_MS, &why);
        assert_true(err == OK || err == ERR_INVALID); /* its format's number was hit */
        if (err)
            continue;
        assert_true(seen.n <= SOME);
        journal_close(&j);
    }
    free(whole);
    free(hit);
}

/* SQLite's log has a checksum a frame, and ends for SQLite where one is wrong. What it has before
 * is what was on disk at some commit; no state is made up. */
static void a_log_that_is_damaged_ends_there(void **state)
{
    (void)state;
    enum { PLACES = 12 };
    size_t n, nlog;
    char *file, *log;
    int least = SOME;
    some_crash(&file, &n, &log, &nlog);
    assert_true(nlog > 20 * PAGE);
    for (size_t i = 0; i <= PLACES; i++) {
        struct journal j;
        size_t at = i < PLACES ? 5 + nlog / PLACES * i : 0;
        log[at] ^= i < PLACES; /* the last round: as it is */
        journal_clear();
        journal_put("", file, n);
        journal_put("-wal", log, nlog);
        journal_open(&j);
        assert_true(seen.n <= SOME);
        assert_true(i < PLACES || seen.n == SOME);
        least = seen.n < least ? seen.n : least;
        for (int k = 0; k < seen.n; k++)
            assert_int_equal(seen.row[k].log_id, 1000 + seen.row[k].seq);
        int64_t next = run_journal_first_seq(j.store);
        assert_true(seen.n == 0 || next > seen.row[seen.n - 1].seq);
        journal_send_one(&j, accept_op(next, RUN_JOURNAL_ACCEPTED, "new"));
        journal_close(&j);
        log[at] ^= i < PLACES;
    }
    assert_int_equal(least, 0); /* its header: none of it counts */
    free(file);
    free(log);
}

static void an_end_that_was_being_written_is_no_damage(void **state)
{
    (void)state;
    size_t n, nlog;
    char *file, *log;
    some_crash(&file, &n, &log, &nlog);
    journal_put("", file, n);
    journal_put("-wal", log,
                nlog - PAGE - 24); /* the last transaction, whichever it was, is torn */
    struct journal j;
    journal_open(&j);
    assert_true(seen.n >= SOME_TOLD);
    assert_int_equal(journal_damaged(false), 0);
    journal_close(&j);
    free(file);
    free(log);
}

static void a_log_without_its_file_is_kept(void **state)
{
    (void)state;
    size_t n, nlog;
    char *file, *log;
    some_crash(&file, &n, &log, &nlog);
    journal_put("-wal", log, nlog);
    assert_int_equal(some_open_damaged(), 0);
    assert_kept("-wal", log, nlog);
    free(file);
    free(log);
}

static void a_rescue_that_was_interrupted_is_finished(void **state)
{
    (void)state;
    size_t n;
    some_write(NULL);
    char *whole = journal_file("", &n);
    journal_put(".mended", whole, n);
    journal_put("", "", 0);
    journal_put("-wal", whole, n / 2); /* of the damaged one */
    assert_int_equal(some_open_damaged(), SOME);
    assert_int_equal(journal_damaged(false), 0);
    journal_clear();
    journal_put("", whole, n);
    journal_put(".mending", whole, n / 2); /* and one that had not come so far is begun anew */
    journal_put(".mending-wal", whole, n / 2);
    whole[5 * PAGE] ^= 0x55;
    journal_put("", whole, n);
    assert_true(some_open_damaged() > SOME_TOLD);
    free(whole);
}

static void damage_without_room_changes_nothing(void **state)
{
    (void)state;
    struct why why;
    size_t n, m;
    some_write(NULL);
    char *whole = journal_file("", &n);
    memset(whole + 6 * PAGE, 0xa5, PAGE);
    journal_put("", whole, n);
    for (size_t room = 0; room < n; room += n / 5) {
        journal_room((long)room);
        assert_int_equal(journal_refused(&why), ERR_FULL);
        journal_room(-1);
        char *after = journal_file("", &m);
        assert_int_equal(m, n);
        assert_memory_equal(after, whole, n);
        free(after);
    }
    assert_int_equal(journal_damaged(false), 0);
    assert_true(some_open_damaged() > SOME_TOLD);
    free(whole);
}

static void damage_is_met_while_it_runs(void **state)
{
    (void)state;
    struct rdb *s;
    struct why why = { "" };
    some_write(NULL);
    assert_int_equal(rdb_open(journal_path, &s, &why), OK);
    int fd = open(journal_path, O_WRONLY);
    char zeros[PAGE] = { 0 };
    assert_int_equal(pwrite(fd, zeros, PAGE, 6 * PAGE), PAGE);
    close(fd);
    assert_int_equal(rdb_reopen(s, &why), OK);
    assert_string_equal(why.text, "");
    assert_int_equal(journal_damaged(false), 1);
    memset(&seen, 0, sizeof(seen));
    assert_int_equal(rdb_each(s, journal_see, &seen, &why), OK);
    assert_true(some_check() > SOME_TOLD);
    assert_int_equal(rdb_probe(s, &why), OK);
    rdb_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, journal_setup, journal_teardown)
        T(a_page_that_is_lost_costs_what_stood_there),
        T(several_pages_cost_what_lies_between_them),
        T(a_file_that_was_cut_gives_what_is_left),
        T(a_flipped_byte_never_makes_up_a_run),
        T(a_log_that_is_damaged_ends_there),
        T(an_end_that_was_being_written_is_no_damage),
        T(a_log_without_its_file_is_kept),
        T(a_rescue_that_was_interrupted_is_finished),
        T(damage_without_room_changes_nothing),
        T(damage_is_met_while_it_runs),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
