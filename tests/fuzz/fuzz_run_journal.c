/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's journal on any bytes. Whatever the file and its log are, opening ends, what comes
 * out is within its bounds, and a journal that opened can be written, closed and read again. One
 * that is refused as not ours, or with a log of an unknown format, stays as it was.
 *
 * Input: flags, then either a length and the bytes of the file and of its log, or edits of a good
 * journal that a crash left with a log: which of the two, offset (3 bytes), how many, the bytes.
 * With SEAL the log's checksums are made right again, so that its pages are believed. */
#include "base/log.h"
#include "base/mem.h"
#include "executor/journal/run_journal_db.h"
#include "fuzz.h"
#include <fcntl.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW = 1, SEAL = 2, NO_LOG = 4, PAGE = 4096, FRAME = 24 + PAGE, MAX = 1 << 20 };

struct bytes {
    unsigned char p[MAX];
    size_t n;
};

static char dir[64], path[96];
static struct bytes good, good_log, file, file_log, after;

/* ---- files ---- */

static void clear(void)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));) {
        char name[400];
        snprintf(name, sizeof(name), "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.')
            unlink(name);
    }
    closedir(d);
}

static void clear_at_exit(void)
{
    clear();
    rmdir(dir);
}

static void load(const char *ending, struct bytes *b)
{
    char *name = mem_join(path, ending);
    int fd = open(name, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, b->p, sizeof(b->p));
    b->n = n < 0 ? 0 : (size_t)n;
    if (fd >= 0)
        close(fd);
    free(name);
}

static void save(const char *ending, const struct bytes *b)
{
    char *name = mem_join(path, ending);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, b->p, b->n) == (ssize_t)b->n);
    close(fd);
    free(name);
}

static void say(void *arg, enum log_level level, const char *module, const char *text)
{
    (void)arg, (void)level, (void)module, (void)text;
}

/* ---- a good journal ---- */

static void apply(struct rdb *s, enum run_journal_what what, int64_t seq)
{
    static const char text[] = "0123456789012345678901234567890123456789012345678901234567890123456"
                               "789012345678901234567890123456789012345678901234567890123456789";
    struct why why = { "" };
    struct run_journal_op op = { .what = what,
                                 .row = { .seq = seq,
                                          .state = RUN_JOURNAL_ACCEPTED,
                                          .log_id = seq,
                                          .request = slice_text(text),
                                          .msg = slice_text(text) },
                                 .seqs = &seq,
                                 .nseqs = 1 };
    CHECK(rdb_apply(s, &op, &why) == OK);
}

static void fill(struct rdb *s, int64_t from, int64_t to)
{
    CHECK(rdb_begin(s, NULL) == OK);
    for (int64_t seq = from; seq < to; seq++) {
        apply(s, RUN_JOURNAL_ACCEPT, seq);
        if (seq % 4)
            apply(s, RUN_JOURNAL_RESULT, seq);
        if (seq % 4 > 1)
            apply(s, RUN_JOURNAL_TELL, seq);
    }
    CHECK(rdb_commit(s, NULL) == OK);
}

static void setup(void)
{
    static struct log_sink sink = { say, NULL, PTHREAD_MUTEX_INITIALIZER };
    log_to(&sink);
    snprintf(dir, sizeof(dir), "%s/peal-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    CHECK(mkdtemp(dir));
    atexit(clear_at_exit);
    snprintf(path, sizeof(path), "%s/runs.db", dir);
    struct rdb *s;
    struct why why = { "" };
    CHECK(rdb_open(path, &s, &why) == OK);
    fill(s, 1, 120);
    CHECK(rdb_checkpoint(s, NULL) == OK);
    fill(s, 120, 140);
    fill(s, 140, 150);
    fill(s, 150, 155);
    load("", &good);
    load("-wal", &good_log);
    rdb_close(s);
    CHECK(good.n > 5 * PAGE && good_log.n > 5 * FRAME);
}

/* ---- the input ---- */

static unsigned long take(const uint8_t **p, size_t *n, int bytes)
{
    unsigned long v = 0;
    for (; bytes-- > 0 && *n; (*n)--)
        v = v << 8 | *(*p)++;
    return v;
}

static void take_raw(const uint8_t *p, size_t n)
{
    size_t first = take(&p, &n, 3);
    file.n = first < n ? first : n;
    file_log.n = n - file.n;
    memcpy(file.p, p, file.n);
    memcpy(file_log.p, p + file.n, file_log.n);
}

/* An edit of no bytes cuts there. */
static void take_edits(const uint8_t *p, size_t n)
{
    memcpy(&file, &good, sizeof(good));
    memcpy(&file_log, &good_log, sizeof(good_log));
    while (n > 4) {
        struct bytes *b = take(&p, &n, 1) & 1 ? &file_log : &file;
        size_t at = take(&p, &n, 3), len = take(&p, &n, 1);
        len = len < n ? len : n;
        at = b->n ? at % b->n : 0;
        if (!len)
            b->n = at;
        for (; len && at < b->n; len--, n--)
            b->p[at++] = *p++;
    }
}

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (24 - 8 * i));
}

static void add(uint32_t sum[2], const unsigned char *p, size_t n, bool big)
{
    for (size_t i = 0; i < n; i += 8) {
        uint32_t w[2] = { 0, 0 };
        for (int k = 0; k < 8; k++)
            w[k / 4] |= (uint32_t)p[i + (size_t)k] << 8 * (big ? 3 - k % 4 : k % 4);
        sum[0] += w[0] + sum[1];
        sum[1] += w[1] + sum[0];
    }
}

static void seal(struct bytes *b)
{
    uint32_t sum[2] = { 0, 0 };
    if (b->n < 32)
        return;
    bool big = b->p[3] & 1;
    add(sum, b->p, 24, big);
    put32(b->p + 24, sum[0]);
    put32(b->p + 28, sum[1]);
    for (size_t at = 32; at + FRAME <= b->n; at += FRAME) {
        memcpy(b->p + at + 8, b->p + 16, 8);
        add(sum, b->p + at, 8, big);
        add(sum, b->p + at + 24, PAGE, big);
        put32(b->p + at + 16, sum[0]);
        put32(b->p + at + 20, sum[1]);
    }
}

/* Of a format that SQLite does not know: it refuses to open the file. */
static bool log_is_unknown(void)
{
    static const unsigned char version[4] = { 0x00, 0x2d, 0xe2, 0x18 }; /* 3007000 */
    return file_log.n >= 32 && memcmp(file_log.p + 4, version, sizeof(version)) != 0;
}

/* ---- what comes out ---- */

struct seen {
    int64_t last, n;
};

static void see(void *arg, const struct run_journal_row *row)
{
    struct seen *s = arg;
    s->n++;
    CHECK(row->request.n + row->msg.n <= 2 * (MAX + PAGE));
    if (row->state == RUN_JOURNAL_TOLD)
        return;
    CHECK(row->state >= RUN_JOURNAL_ACCEPTED && row->state <= RUN_JOURNAL_ENDED);
    CHECK(row->seq > s->last && row->seq < RUN_JOURNAL_SEQ_MAX);
    s->last = row->seq;
}

static int64_t read_all(struct rdb *s)
{
    struct seen seen = { 0, 0 };
    struct why why = { "" };
    CHECK(rdb_each(s, see, &seen, &why) == OK);
    CHECK(seen.n <= (int64_t)(file.n + file_log.n) / 4 + 4);
    CHECK(seen.last < s->seq_limit);
    return seen.n;
}

/* What was opened works. Returns how many rows there are then. */
static int64_t use(struct rdb *s)
{
    int64_t n = read_all(s), seq = s->seq_limit;
    int pruned;
    if (seq + 2 >= RUN_JOURNAL_SEQ_MAX || s->told_last + 2 >= RUN_JOURNAL_SEQ_MAX)
        return n;
    CHECK(rdb_begin(s, NULL) == OK);
    apply(s, RUN_JOURNAL_ACCEPT, seq);
    apply(s, RUN_JOURNAL_START, seq);
    apply(s, RUN_JOURNAL_RESULT, seq);
    apply(s, RUN_JOURNAL_ACCEPT, seq + 1);
    apply(s, RUN_JOURNAL_TELL, seq);
    CHECK(rdb_prune(s, 1, INT64_MIN, 1 << 20, &pruned, NULL) == OK);
    CHECK(rdb_commit(s, NULL) == OK);
    return n + 2 - pruned;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct why why = { "" };
    struct rdb *s;
    if (!dir[0])
        setup();
    if (size < 2 || size > MAX / 2)
        return 0;
    unsigned flags = data[0];
    if (flags & RAW)
        take_raw(data + 1, size - 1);
    else
        take_edits(data + 1, size - 1);
    if (flags & SEAL)
        seal(&file_log);
    if (flags & NO_LOG)
        file_log.n = 0;
    clear();
    save("", &file);
    if (file_log.n)
        save("-wal", &file_log);
    enum err err = rdb_open(path, &s, &why);
    bool refused = err == ERR_INVALID || (err == ERR_IO && log_is_unknown());
    if (err && !refused)
        fprintf(stderr, "%s: %s\n", err_text(err), why.text);
    CHECK(err == OK || refused);
    if (err) {
        load("", &after);
        CHECK(after.n == file.n && memcmp(after.p, file.p, file.n) == 0);
        return 0;
    }
    int64_t n = use(s);
    rdb_close(s);
    CHECK(rdb_open(path, &s, &why) == OK);
    CHECK(read_all(s) == n);
    rdb_close(s);
    return 0;
}
