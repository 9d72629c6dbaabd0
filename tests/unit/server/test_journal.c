/* SPDX-License-Identifier: Apache-2.0 */
/* The journal: what was acknowledged is read again, whatever a crash or a disk did to the rest. */
#include "base/crc32c.h"
#include "base/mem.h"
#include "server/journal/journal.h"
#include "server/journal/journal_format.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#define ROOM (64u << 10)
#define RESULTS 5

static char dir[64], path[96], aside[110];
static struct journal_owner owner; /* of what is opened next; a test that sets it sets it back */
static bool cannot_sync;

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    if (cannot_sync) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

static void clear(void)
{
    static const char *const ends[] = { "", ".damaged", ".new", ".of-0000000000000002" };
    for (size_t i = 0; i < countof(ends); i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", path, ends[i]);
        unlink(name);
    }
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/peal-journal-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/callbacks.journal", dir);
    snprintf(aside, sizeof(aside), "%s.damaged", path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    clear();
    return rmdir(dir);
}

/* ---- what comes out ---- */

struct seen {
    int n;
    int64_t ids[4096];
    bool exact; /* every result is the one that was written for its id */
};

/* The result written for an id: everything follows from it. */
static struct journal_result result_of(int64_t id, char *text)
{
    int n = sprintf(text, "the end of run %lld", (long long)id);
    for (int i = 0; i < (int)(id % 60); i++)
        text[n++] = (char)('a' + i % 26);
    return (struct journal_result){ id, 1700000000000 + id, id % 2 ? 200 : 500,
                                    slice_of(text, (size_t)n) };
}

static void see(void *ctx, const struct journal_result *r)
{
    struct seen *s = ctx;
    char text[200];
    struct journal_result want = result_of(r->log_id % 1000, text);
    if (s->n == 0)
        s->exact = true;
    if (r->at_ms != want.at_ms || r->code != want.code || r->msg.n != want.msg.n ||
        memcmp(r->msg.p, want.msg.p, want.msg.n) != 0)
        s->exact = false;
    if (s->n < (int)countof(s->ids))
        s->ids[s->n] = r->log_id;
    s->n++;
}

static void assert_ids(const struct seen *s, int64_t first, int n)
{
    assert_int_equal(s->n, n);
    assert_true(n == 0 || s->exact);
    for (int i = 0; i < n; i++)
        assert_int_equal(s->ids[i], first + i);
}

static struct journal_file *open_it(struct seen *s)
{
    struct journal_file *f = NULL;
    struct why why = { "" };
    memset(s, 0, sizeof(*s));
    enum err err = journal_file_open(path, ROOM, &owner, see, s, &f, &why);
    assert_string_equal(why.text, "");
    assert_int_equal(err, OK);
    return f;
}

static enum err put(struct journal_file *f, int64_t id)
{
    struct buf b = BUF_INIT(ROOM);
    char text[200];
    struct journal_result r = result_of(id, text);
    journal_record(&b, &r);
    enum err err = journal_file_put(f, b.data, b.len, 1, NULL);
    buf_done(&b);
    return err;
}

/* A journal with the results first to first + n - 1, synced; closed unless ret. */
static void write_some(int64_t first, int n, struct journal_file **ret)
{
    struct seen s;
    struct journal_file *f = open_it(&s);
    for (int i = 0; i < n; i++)
        assert_int_equal(put(f, first + i), OK);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    if (ret)
        *ret = f;
    else
        journal_file_close(f);
}

/* ---- the file as bytes ---- */

static unsigned char *load(void)
{
    static unsigned char bytes[ROOM];
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, bytes, ROOM), ROOM);
    close(fd);
    return bytes;
}

static void store(const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static size_t end_of(const unsigned char *bytes)
{
    struct journal_scan s;
    journal_scan(bytes, ROOM, NULL, NULL, &s);
    return s.end;
}

/* ---- tests ---- */

static void results_come_back_in_their_order(void **state)
{
    (void)state;
    struct seen s;
    clear();
    write_some(1, RESULTS, NULL);
    write_some(1 + RESULTS, RESULTS, NULL); /* a second process goes on behind them */
    struct journal_file *f = open_it(&s);
    assert_ids(&s, 1, 2 * RESULTS);
    assert_int_equal(journal_file_records(f), 2 * RESULTS);
    journal_file_close(f);
}

static void a_new_file_is_whole_and_private(void **state)
{
    (void)state;
    struct seen s;
    struct stat st;
    clear();
    journal_file_close(open_it(&s));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, ROOM);
    assert_true((size_t)st.st_blocks * 512 >= ROOM);
    chmod(path, 0644);
    journal_file_close(open_it(&s));
    stat(path, &st);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void a_file_torn_at_any_byte_gives_what_is_whole(void **state)
{
    (void)state;
    static unsigned char torn[ROOM];
    clear();
    write_some(1, RESULTS, NULL);
    unsigned char *bytes = load();
    size_t end = end_of(bytes), ends[RESULTS + 1] = { JOURNAL_HEAD };
    for (int i = 1; i <= RESULTS; i++) { /* where each record ends, padding left out */
        char text[200];
        size_t msg = result_of(i, text).msg.n;
        ends[i] = ends[i - 1] + (JOURNAL_RECORD + msg + 7) / 8 * 8;
    }
    assert_int_equal(ends[RESULTS], end);
    for (size_t at = JOURNAL_HEAD; at <= end; at++) {
        struct seen s = { 0 };
        struct journal_scan scan;
        memset(torn, 0, sizeof(torn));
        memcpy(torn, bytes, at);
        journal_scan(torn, ROOM, see, &s, &scan);
        int whole = 0;
        char text[200];
        while (whole < RESULTS &&
               ends[whole] + JOURNAL_RECORD + result_of(whole + 1, text).msg.n <= at)
            whole++;
        assert_ids(&s, 1, whole);
        assert_int_equal(scan.gaps, 0);
        assert_int_equal(scan.end, ends[whole]);
        struct seen cut = { 0 }; /* and when the file itself ends there */
        journal_scan(bytes, at, see, &cut, &scan);
        assert_true(cut.n <= whole && (cut.n == 0 || cut.exact));
    }
}

static void a_torn_end_is_cut_off_and_written_over(void **state)
{
    (void)state;
    struct seen s;
    clear();
    write_some(1, RESULTS, NULL);
    unsigned char *bytes = load();
    size_t end = end_of(bytes);
    memset(bytes + end - 30, 0, 30);
    store(bytes, ROOM);
    struct journal_file *f = open_it(&s);
    assert_ids(&s, 1, RESULTS - 1);
    assert_int_equal(access(aside, F_OK), -1);
    assert_int_equal(put(f, RESULTS), OK);
    assert_int_equal(put(f, RESULTS + 1), OK);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    journal_file_close(f);
    journal_file_close(open_it(&s));
    assert_ids(&s, 1, RESULTS + 1);
}

/* Any bit, the headers included: no result is invented or changed, at most one is missing, and a
 * missing one in the middle is damage that is told. */
static void a_flipped_bit_costs_one_result_at_most(void **state)
{
    (void)state;
    clear();
    write_some(1, RESULTS, NULL);
    unsigned char *bytes = load();
    size_t end = end_of(bytes);
    for (size_t bit = 0; bit < end * 8; bit++) {
        if (bit / 8 % JOURNAL_SLOT >= JOURNAL_HEADER && bit / 8 < JOURNAL_HEAD)
            continue; /* the empty part of a slot */
        struct seen s = { 0 };
        struct journal_scan scan;
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        journal_scan(bytes, ROOM, see, &s, &scan);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(scan.header);
        assert_true(s.n >= RESULTS - (bit / 8 < JOURNAL_HEAD ? 0 : 1) && s.exact);
        assert_int_equal(scan.odd, bit / 8 < JOURNAL_HEAD);
        if (s.n == RESULTS - 1) {
            bool last = s.ids[s.n - 1] != RESULTS;
            assert_int_equal(scan.gaps, last ? 0 : 1);
            assert_true(last || scan.lost > 0);
        }
    }
}

static void a_damaged_file_is_kept_aside_and_used_on(void **state)
{
    (void)state;
    struct seen s;
    struct stat st;
    clear();
    write_some(1, RESULTS, NULL);
    unsigned char *bytes = load();
    bytes[JOURNAL_HEAD + 50] ^= 1; /* the first record's message */
    store(bytes, ROOM);
    struct journal_file *f = open_it(&s);
    assert_ids(&s, 2, RESULTS - 1);
    assert_int_equal(stat(aside, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, ROOM);
    assert_int_equal(put(f, RESULTS + 1), OK);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    journal_file_close(f);
    f = open_it(&s);
    assert_ids(&s, 2, RESULTS);
    assert_int_equal(journal_file_reset(f, NULL), OK);
    journal_file_close(f);
    unlink(aside);
    journal_file_close(open_it(&s)); /* a reset file is sound again */
    assert_int_equal(s.n, 0);
    assert_int_equal(access(aside, F_OK), -1);
}

static void without_headers_it_begins_anew(void **state)
{
    (void)state;
    struct seen s;
    clear();
    write_some(1, RESULTS, NULL);
    unsigned char *bytes = load();
    memset(bytes, 0x55, JOURNAL_HEAD);
    store(bytes, ROOM);
    journal_file_close(open_it(&s));
    assert_int_equal(s.n, 0);
    assert_int_equal(access(aside, F_OK), 0);
    unlink(aside);
    write_some(7, 2, NULL);
    journal_file_close(open_it(&s));
    assert_ids(&s, 7, 2);
    assert_int_equal(access(aside, F_OK), -1);
}

static void a_reset_forgets_all_of_it(void **state)
{
    (void)state;
    struct seen s;
    struct journal_file *f;
    clear();
    write_some(1, RESULTS, &f);
    size_t room = journal_file_room(f);
    assert_int_equal(journal_file_reset(f, NULL), OK);
    assert_int_equal(journal_file_records(f), 0);
    assert_true(journal_file_room(f) > room);
    journal_file_close(f);
    f = open_it(&s);
    assert_int_equal(s.n, 0);
    assert_int_equal(put(f, 9), OK); /* shorter than what stands there: the rest stays unread */
    assert_int_equal(journal_file_sync(f, NULL), OK);
    journal_file_close(f);
    journal_file_close(open_it(&s));
    assert_ids(&s, 9, 1);
    assert_int_equal(access(aside, F_OK), -1);
}

/* The new header is written in any part only: then the old results stand, or none. */
static void a_reset_torn_at_any_byte_is_one_or_the_other(void **state)
{
    (void)state;
    static unsigned char before[ROOM];
    struct journal_file *f;
    clear();
    write_some(1, RESULTS, &f);
    memcpy(before, load(), ROOM);
    assert_int_equal(journal_file_reset(f, NULL), OK);
    journal_file_close(f);
    unsigned char *after = load();
    size_t slot = memcmp(before, after, JOURNAL_SLOT) ? 0 : JOURNAL_SLOT;
    for (size_t n = 0; n <= JOURNAL_HEADER; n++) {
        struct seen s = { 0 };
        struct journal_scan scan;
        memcpy(before + slot, after + slot, n);
        journal_scan(before, ROOM, see, &s, &scan);
        if (scan.generation == 1)
            assert_ids(&s, 1, RESULTS);
        else
            assert_int_equal(s.n, 0);
    }
}

static void a_full_one_refuses_until_it_is_reset(void **state)
{
    (void)state;
    struct seen s;
    clear();
    struct journal_file *f = open_it(&s);
    struct buf b = BUF_INIT(ROOM * 2);
    int n = 0;
    enum err err;
    while (!(err = put(f, n + 1)))
        n++;
    assert_int_equal(err, ERR_FULL);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    for (int i = 0; i < 1000; i++) { /* a request larger than the file: none of it is taken */
        char text[200];
        struct journal_result r = result_of(i, text);
        journal_record(&b, &r);
    }
    assert_int_equal(journal_file_put(f, b.data, b.len, 1000, NULL), ERR_FULL);
    buf_done(&b);
    journal_file_close(f);
    f = open_it(&s);
    assert_ids(&s, 1, n);
    assert_int_equal(put(f, 59), ERR_FULL);
    assert_int_equal(journal_file_reset(f, NULL), OK);
    assert_int_equal(put(f, 59), OK);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    journal_file_close(f);
    struct stat st;
    stat(path, &st);
    assert_int_equal(st.st_size, ROOM);
}

static void a_record_inside_a_message_is_a_message(void **state)
{
    (void)state;
    struct seen s;
    struct buf inner = BUF_INIT(ROOM), outer = BUF_INIT(ROOM);
    clear();
    char text[200];
    struct journal_result r = result_of(2, text);
    journal_record(&inner, &r);
    journal_seal(inner.data, inner.len, 0, 0); /* its writer cannot know the salt */
    r = (struct journal_result){ 1, 1, 200, slice_of(inner.data, inner.len) };
    journal_record(&outer, &r);
    struct journal_file *f = open_it(&s);
    assert_int_equal(journal_file_put(f, outer.data, outer.len, 1, NULL), OK);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    journal_file_close(f);
    unsigned char *bytes = load();
    bytes[JOURNAL_HEAD] ^= 1; /* the outer one is damaged: the inner one does not come up */
    struct journal_scan scan;
    memset(&s, 0, sizeof(s));
    journal_scan(bytes, ROOM, see, &s, &scan);
    assert_int_equal(s.n, 0);
    assert_true(scan.torn);
    buf_done(&inner);
    buf_done(&outer);
}

static void keep_msg(void *ctx, const struct journal_result *r)
{
    *(size_t *)ctx = r->msg.n;
}

static void a_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    static char text[JOURNAL_MSG_MAX * 2];
    size_t n = 0;
    clear();
    for (size_t i = 0; i + 3 <= sizeof(text); i += 3)
        memcpy(text + i, "\xe9\x92\x9f", 3);
    struct journal_result r = { 1, 1, 200, slice_of(text, sizeof(text)) };
    struct buf b = BUF_INIT(ROOM);
    journal_record(&b, &r);
    struct seen s;
    struct journal_file *f = open_it(&s);
    assert_int_equal(journal_file_put(f, b.data, b.len, 1, NULL), OK);
    journal_file_close(f);
    assert_int_equal(journal_file_open(path, ROOM, &owner, keep_msg, &n, &f, NULL), OK);
    journal_file_close(f);
    assert_int_equal(n, JOURNAL_MSG_MAX / 3 * 3);
    buf_done(&b);
}

static void a_newer_version_is_left_alone(void **state)
{
    (void)state;
    struct seen s = { 0 };
    struct why why = { "" };
    struct journal_file *f;
    clear();
    write_some(1, RESULTS, NULL);
    unsigned char *bytes = load();
    journal_header(bytes, 9, 9, &owner);
    bytes[12] = JOURNAL_VERSION + 1;
    uint32_t crc = crc32c(0, bytes + 12, JOURNAL_HEADER - 12);
    for (int i = 0; i < 4; i++)
        bytes[8 + i] = (unsigned char)(crc >> 8 * i);
    store(bytes, ROOM);
    assert_int_equal(journal_file_open(path, ROOM, &owner, see, &s, &f, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "another version"));
    assert_int_equal(s.n, 0);
    assert_memory_equal(load() + JOURNAL_SLOT, bytes + JOURNAL_SLOT, ROOM - JOURNAL_SLOT);
}

/* ---- whose the results are ---- */

static void open_as(uint64_t life, uint64_t before, struct seen *s)
{
    owner = (struct journal_owner){ life, before };
    journal_file_close(open_it(s));
}

static bool is_aside(void)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.of-0000000000000002", path);
    return access(name, F_OK) == 0;
}

/* Results of life 2, which began when the database named life 1. */
static void write_as_life_2(void)
{
    clear();
    owner = (struct journal_owner){ 2, 1 };
    write_some(1, RESULTS, NULL);
}

static void results_of_another_state_are_set_aside(void **state)
{
    (void)state;
    static const struct {
        struct journal_owner opener;
        bool taken;
    } cases[] = {
        { { 3, 2 }, true },  /* the next life */
        { { 3, 1 }, true },  /* life 2 never committed; or a backup of life 1 was put back */
        { { 3, 7 }, false }, /* an older backup, or another database */
        { { 3, 0 }, false }, /* a new one */
        { { 0, 7 }, true },  /* a life that has no recorder cannot tell */
    };
    struct seen s;
    for (size_t i = 0; i < countof(cases); i++) {
        write_as_life_2();
        open_as(cases[i].opener.life, cases[i].opener.before, &s);
        assert_ids(&s, 1, cases[i].taken ? RESULTS : 0);
        assert_int_equal(is_aside(), !cases[i].taken);
    }
    write_as_life_2();
    open_as(3, 7, &s);
    write_some(50, 1, NULL); /* the new one takes results */
    char name[128];
    snprintf(name, sizeof(name), "%s.of-0000000000000002", path);
    assert_int_equal(rename(name, path), 0);
    open_as(4, 2, &s); /* what was set aside is whole: with its own database it is taken again */
    assert_ids(&s, 1, RESULTS);
    owner = (struct journal_owner){ 0 };
}

static void results_go_with_the_database_from_life_to_life(void **state)
{
    (void)state;
    struct seen s;
    write_as_life_2();
    open_as(3, 2, &s); /* and it dies before the journal could be emptied */
    open_as(4, 3, &s);
    assert_ids(&s, 1, RESULTS);
    open_as(5, 3, &s); /* life 4 never committed */
    assert_ids(&s, 1, RESULTS);
    owner = (struct journal_owner){ 0 };
}

static void an_empty_file_is_nobodys(void **state)
{
    (void)state;
    struct seen s;
    clear();
    open_as(2, 1, &s);
    open_as(9, 8, &s);
    assert_false(is_aside());
    write_some(1, 1, NULL); /* and belongs to the first that writes */
    open_as(10, 9, &s);
    assert_ids(&s, 1, 1);
    owner = (struct journal_owner){ 0 };
}

/* An older release leaves that part of a header zero, and mends the slot that is behind. */
static void results_of_an_older_release_are_taken(void **state)
{
    (void)state;
    struct seen s;
    clear();
    owner = (struct journal_owner){ 0 };
    write_some(1, RESULTS, NULL);
    open_as(2, 1, &s);
    assert_ids(&s, 1, RESULTS);
    for (unsigned slot = 0; slot < 2; slot++) {
        write_as_life_2();
        unsigned char *bytes = load();
        memset(bytes + slot * JOURNAL_SLOT + 32, 0, 16);
        uint32_t crc = crc32c(0, bytes + slot * JOURNAL_SLOT + 12, JOURNAL_HEADER - 12);
        for (int i = 0; i < 4; i++)
            bytes[slot * JOURNAL_SLOT + 8 + (unsigned)i] = (unsigned char)(crc >> 8 * i);
        store(bytes, ROOM);
        open_as(9, 8, &s);
        assert_ids(&s, 1, RESULTS);
    }
    owner = (struct journal_owner){ 0 };
}

/* The headers change one after the other: at no byte is the file another's. */
static void a_change_of_hands_torn_at_any_byte_loses_nothing(void **state)
{
    (void)state;
    static unsigned char before[ROOM], torn[ROOM];
    struct seen s;
    write_as_life_2();
    memcpy(before, load(), ROOM);
    open_as(3, 2, &s);
    unsigned char *after = load();
    for (unsigned slot = 0; slot < 2; slot++)
        for (size_t at = 0; at <= JOURNAL_HEADER; at++)
            for (uint64_t named = 2; named <= 3; named++) {
                memcpy(torn, slot ? after : before, JOURNAL_SLOT);
                memcpy(torn + JOURNAL_SLOT, before + JOURNAL_SLOT, ROOM - JOURNAL_SLOT);
                memcpy(torn + slot * JOURNAL_SLOT, after + slot * JOURNAL_SLOT, at);
                if (named == 3 && (!slot || at < JOURNAL_HEADER))
                    continue; /* it commits when both stand */
                store(torn, ROOM);
                open_as(4, named, &s);
                assert_ids(&s, 1, RESULTS);
            }
    owner = (struct journal_owner){ 0 };
}

static void a_file_that_was_cut_gets_its_size_back(void **state)
{
    (void)state;
    struct seen s;
    struct stat st;
    clear();
    write_some(1, RESULTS, NULL);
    assert_int_equal(truncate(path, (off_t)end_of(load())), 0);
    struct journal_file *f = open_it(&s);
    assert_ids(&s, 1, RESULTS);
    assert_int_equal(put(f, RESULTS + 1), OK);
    journal_file_close(f);
    stat(path, &st);
    assert_int_equal(st.st_size, ROOM);
    assert_int_equal(truncate(path, 0), 0); /* nothing left: begun anew */
    journal_file_close(open_it(&s));
    assert_int_equal(s.n, 0);
}

static void what_cannot_be_opened_says_why(void **state)
{
    (void)state;
    struct seen s;
    struct why why = { "" };
    struct journal_file *f, *other;
    clear();
    f = open_it(&s);
    assert_int_equal(journal_file_open(path, ROOM, &owner, see, &s, &other, &why), ERR_BUSY);
    assert_non_null(strstr(why.text, "another process"));
    journal_file_close(f);
    clear();
    why_clear(&why);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(journal_file_open(path, ROOM, &owner, see, &s, &f, &why), ERR_IO);
    assert_true(why.text[0]);
    clear();
    why_clear(&why);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(journal_file_open(path, ROOM, &owner, see, &s, &f, &why), ERR_IO);
    assert_non_null(strstr(why.text, "is not a file"));
}

static void limit(rlim_t bytes)
{
    struct rlimit l;
    getrlimit(RLIMIT_FSIZE, &l);
    l.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void a_write_that_fails_takes_nothing_along(void **state)
{
    (void)state;
    struct seen s;
    struct journal_file *f;
    clear();
    signal(SIGXFSZ, SIG_IGN);
    write_some(1, 2, &f);
    limit(end_of(load()) + 44); /* in the middle of the third */
    assert_int_equal(put(f, 3), ERR_FULL);
    assert_int_equal(journal_file_records(f), 2);
    limit(RLIM_INFINITY);
    memset(&s, 0, sizeof(s));
    struct journal_scan scan; /* as a crash would leave it now */
    journal_scan(load(), ROOM, see, &s, &scan);
    assert_ids(&s, 1, 2);
    assert_true(scan.torn);
    assert_int_equal(put(f, 3), OK);
    assert_int_equal(put(f, 4), OK);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    journal_file_close(f);
    journal_file_close(open_it(&s));
    assert_ids(&s, 1, 4);
}

/* Which generation the disk has is not known then: a record under the old one could be forgotten.
 */
/* Nobody was told that they are kept: however often the disk fails, they take no room. */
static void what_was_not_synced_is_written_over(void **state)
{
    (void)state;
    struct seen s;
    struct journal_file *f;
    clear();
    write_some(1, 2, &f);
    size_t room = journal_file_room(f);
    for (int i = 0; i < 5; i++) {
        cannot_sync = true;
        for (int id = 10; id < 14; id++)
            assert_int_equal(put(f, id), OK);
        assert_int_equal(journal_file_sync(f, NULL), ERR_IO);
        cannot_sync = false;
        assert_int_equal(journal_file_room(f), room);
        assert_int_equal(journal_file_records(f), 2);
    }
    assert_int_equal(put(f, 3), OK);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    journal_file_close(f);
    journal_file_close(open_it(&s));
    assert_true(s.n >= 3 && s.exact); /* what was not kept may come behind: it happened */
    for (int i = 0; i < 3; i++)
        assert_int_equal(s.ids[i], i + 1);
}

static void nothing_is_kept_behind_a_failed_reset(void **state)
{
    (void)state;
    struct seen s;
    struct journal_file *f;
    clear();
    signal(SIGXFSZ, SIG_IGN);
    write_some(1, RESULTS, &f);
    limit(0);
    assert_int_equal(journal_file_reset(f, NULL), ERR_FULL);
    assert_int_equal(put(f, 8), ERR_FULL);
    limit(RLIM_INFINITY);
    assert_int_equal(put(f, 9), OK);
    assert_int_equal(journal_file_sync(f, NULL), OK);
    journal_file_close(f);
    journal_file_close(open_it(&s));
    assert_ids(&s, 9, 1);
}

static void without_room_none_is_made(void **state)
{
    (void)state;
    struct seen s;
    struct why why = { "" };
    struct journal_file *f;
    clear();
    signal(SIGXFSZ, SIG_IGN);
    limit(ROOM / 2);
    assert_int_equal(journal_file_open(path, ROOM, &owner, see, &s, &f, &why), ERR_FULL);
    limit(RLIM_INFINITY);
    assert_true(why.text[0]);
    assert_int_equal(access(path, F_OK), -1);
    char temporary[128];
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    assert_int_equal(access(temporary, F_OK), -1);
}

/* ---- the thread ---- */

static struct journal_message *incoming(int64_t id)
{
    struct journal_message *m = journal_message_new();
    char text[200];
    struct journal_result r = result_of(id, text);
    journal_record(&m->records, &r);
    m->n = 1;
    return m;
}

static void the_thread_keeps_and_tells_in_order(void **state)
{
    (void)state;
    static struct metrics metrics;
    struct seen s;
    struct list back;
    clear();
    list_init(&back);
    struct mailbox *box = mailbox_new();
    struct journal *j =
        journal_new((struct journal_file *[]){ open_it(&s), NULL }, box, 7, &metrics);
    for (int i = 1; i <= 20; i++) {
        journal_give(j, incoming(i));
        if (i == 10)
            journal_reset(j, 0); /* 1 to 10 are in the database */
    }
    int64_t n = 0;
    while (n < 20) {
        mailbox_wait(box, -1);
        mailbox_take(box, &back);
        for (struct list_node *node; (node = list_pop(&back)); n++) {
            struct journal_message *m = container_of(node, struct journal_message, message.node);
            assert_int_equal(m->message.kind, 7);
            assert_int_equal(m->err, OK);
            journal_message_free(m);
        }
    }
    assert_int_equal(metrics.journal_records, 10);
    journal_free(j);
    mailbox_free(box);
    journal_file_close(open_it(&s));
    assert_ids(&s, 11, 10);
}

static int take_back(struct mailbox *box, int n)
{
    struct list back;
    list_init(&back);
    int good = 0;
    for (int seen = 0; seen < n;) {
        mailbox_wait(box, -1);
        mailbox_take(box, &back);
        for (struct list_node *node; (node = list_pop(&back)); seen++) {
            struct journal_message *m = container_of(node, struct journal_message, message.node);
            good += m->err == OK;
            journal_message_free(m);
        }
    }
    return good;
}

static void the_thread_empties_one_file_and_leaves_the_other(void **state)
{
    (void)state;
    static struct metrics metrics;
    struct seen s;
    struct why why = { "" };
    char second[128];
    snprintf(second, sizeof(second), "%s.2", path);
    unlink(second);
    clear();
    struct journal_file *files[JOURNAL_FILES] = { open_it(&s), NULL };
    memset(&s, 0, sizeof(s));
    assert_int_equal(journal_file_open(second, ROOM, &owner, see, &s, &files[1], &why), OK);
    struct mailbox *box = mailbox_new();
    struct journal *j = journal_new(files, box, 7, &metrics);
    for (int i = 1; i <= 8; i++) { /* in one group or in several: each file is synced */
        struct journal_message *m = incoming(i);
        m->file = i > 4;
        journal_give(j, m);
    }
    journal_reset(j, 0);
    struct journal_message *last = incoming(9);
    last->file = 1;
    journal_give(j, last);
    assert_int_equal(take_back(box, 9), 9);
    assert_int_equal(metrics.journal_records, 5);
    journal_free(j);
    mailbox_free(box);
    journal_file_close(open_it(&s));
    assert_ids(&s, 1, 0);
    struct journal_file *f;
    memset(&s, 0, sizeof(s));
    assert_int_equal(journal_file_open(second, ROOM, &owner, see, &s, &f, &why), OK);
    journal_file_close(f);
    unlink(second);
    assert_ids(&s, 5, 5);
}

static void the_thread_refuses_when_full_and_goes_on_after_a_reset(void **state)
{
    (void)state;
    static struct metrics metrics;
    struct seen s;
    struct list back;
    clear();
    list_init(&back);
    struct mailbox *box = mailbox_new();
    struct journal *j =
        journal_new((struct journal_file *[]){ open_it(&s), NULL }, box, 7, &metrics);
    enum { MANY = 900 };
    for (int i = 0; i < MANY; i++)
        journal_give(j, incoming(i + 1));
    journal_reset(j, 0);
    journal_give(j, incoming(MANY + 1));
    journal_free(j); /* all of it is written first */
    int kept = 0, refused = 0;
    while (mailbox_take(box, &back))
        ;
    for (struct list_node *n; (n = list_pop(&back));) {
        struct journal_message *m = container_of(n, struct journal_message, message.node);
        kept += m->err == OK;
        refused += m->err == ERR_FULL;
        journal_message_free(m);
    }
    mailbox_free(box);
    assert_int_equal(kept + refused, MANY + 1);
    assert_true(refused > 0 && kept > 1);
    assert_int_equal(metrics.journal_full, refused);
    assert_int_equal(metrics.journal_errors, 0);
    journal_file_close(open_it(&s));
    assert_ids(&s, MANY + 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_back_in_their_order),
        cmocka_unit_test(a_new_file_is_whole_and_private),
        cmocka_unit_test(a_file_torn_at_any_byte_gives_what_is_whole),
        cmocka_unit_test(a_torn_end_is_cut_off_and_written_over),
        cmocka_unit_test(a_flipped_bit_costs_one_result_at_most),
        cmocka_unit_test(a_damaged_file_is_kept_aside_and_used_on),
        cmocka_unit_test(without_headers_it_begins_anew),
        cmocka_unit_test(a_reset_forgets_all_of_it),
        cmocka_unit_test(a_reset_torn_at_any_byte_is_one_or_the_other),
        cmocka_unit_test(a_full_one_refuses_until_it_is_reset),
        cmocka_unit_test(a_record_inside_a_message_is_a_message),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
        cmocka_unit_test(a_newer_version_is_left_alone),
        cmocka_unit_test(results_of_another_state_are_set_aside),
        cmocka_unit_test(results_go_with_the_database_from_life_to_life),
        cmocka_unit_test(an_empty_file_is_nobodys),
        cmocka_unit_test(results_of_an_older_release_are_taken),
        cmocka_unit_test(a_change_of_hands_torn_at_any_byte_loses_nothing),
        cmocka_unit_test(a_file_that_was_cut_gets_its_size_back),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(a_write_that_fails_takes_nothing_along),
        cmocka_unit_test(what_was_not_synced_is_written_over),
        cmocka_unit_test(nothing_is_kept_behind_a_failed_reset),
        cmocka_unit_test(without_room_none_is_made),
        cmocka_unit_test(the_thread_keeps_and_tells_in_order),
        cmocka_unit_test(the_thread_empties_one_file_and_leaves_the_other),
        cmocka_unit_test(the_thread_refuses_when_full_and_goes_on_after_a_reset),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
