/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged file: what can be read of it goes on living, the file itself is kept for people.
 *
 * Rows are read through the tree only, never from pages that merely look like ours: a page that
 * was given back still has the rows that stood there, and a run that was reported long ago must not
 * rise again. Where the tree cannot be read, keys further on are tried, at doubling distances, and
 * then backwards to the edge of what is lost.
 *
 * Page 1 (the header, and where the tables are) is the same in every journal of this format; one
 * that is lost is taken from a fresh file. Work is done on a copy, and the new file gets its name
 * when it is whole; so a crash at any point, or a full disk, loses nothing. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "executor/journal/run_journal_db.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

enum {
    GAPS_MAX = 1000, /* places that cannot be read, in each table */
    ROW_MAX = 16 * 1024 * 1024,
    BATCH = 1000, /* rows in a transaction */
};

static const char *const endings[] = { "", "-wal", "-shm", "-journal" };

static void remove_all(const char *path)
{
    for (size_t i = 0; i < countof(endings); i++) {
        char *name = mem_join(path, endings[i]);
        unlink(name);
        free(name);
    }
}

/* ---- what it looks like ---------------------------------------------------------------------- */

static ssize_t read_at(const char *path, void *to, size_t n, off_t at)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t did = fd < 0 ? -1 : pread(fd, to, n, at);
    if (fd >= 0)
        close(fd);
    return did;
}

static bool is_zero(const unsigned char *p, size_t n)
{
    return n && p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* A file of somebody else that was named by mistake is not moved anywhere. Ours has the database's
 * magic, or, where the first page was hit, a log beside it, nothing but zeros there, or the roots
 * of three tables behind it. */
static bool looks_ours(const char *path)
{
    unsigned char *p = mem_new((size_t)PAGE * 4);
    char *log = mem_join(path, "-wal");
    unsigned char magic[4] = { 0 };
    ssize_t n = read_at(path, p, (size_t)PAGE * 4, 0);
    bool ours = n <= 0 || (n >= 16 && memcmp(p, "SQLite format 3", 16) == 0) ||
                is_zero(p, n < PAGE ? (size_t)n : PAGE);
    if (read_at(log, magic, 4, 0) == 4)
        ours = ours || (magic[0] == 0x37 && magic[1] == 0x7f && magic[2] == 6);
    bool roots = n == (ssize_t)PAGE * 4;
    for (size_t i = 1; i < 4 && roots; i++)
        roots = p[i * PAGE] == 13 || p[i * PAGE] == 5; /* leaf or inner page of a table */
    free(log);
    free(p);
    return ours || roots;
}

/* ---- the log --------------------------------------------------------------------------------- */

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t word(const unsigned char *p, bool big)
{
    return big ? be32(p) : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* The checksum of the log's format (sqlite.org/fileformat2.html, 4.2). */
static void add_sum(uint32_t sum[2], const unsigned char *p, size_t n, bool big)
{
    for (size_t i = 0; i < n; i += 8) {
        sum[0] += word(p + i, big) + sum[1];
        sum[1] += word(p + i + 4, big) + sum[0];
    }
}

enum { FRAME = 24 + PAGE };

/* False: it ends before, or (errno) cannot be read. */
static bool read_whole(int fd, unsigned char *to, size_t n, off_t at)
{
    ssize_t did;
    errno = 0;
    while (n && ((did = pread(fd, to, n, at)) > 0 || (did < 0 && errno == EINTR))) {
        did = did < 0 ? 0 : did;
        to += did;
        at += did;
        n -= (size_t)did;
        errno = 0;
    }
    return n == 0;
}

/* Commits of this log that stand behind a frame which cannot be read. One may be the transaction
 * that a power cut interrupted, whose pages reach the disk in any order; each one before it was
 * synced as a whole. */
static bool frames_damaged(int fd, const unsigned char *header, uint32_t sum[2], int64_t pages_max)
{
    unsigned char frame[FRAME];
    bool big = header[3] & 1, good = true;
    int commits = 0;
    for (off_t at = 32; read_whole(fd, frame, sizeof(frame), at); at += FRAME) {
        bool ours = memcmp(frame + 8, header + 16, 8) == 0;
        if (good && ours) {
            add_sum(sum, frame, 8, big);
            add_sum(sum, frame + 24, PAGE, big);
            good = sum[0] == be32(frame + 16) && sum[1] == be32(frame + 20);
            commits += !good && be32(frame + 4);
            if (good && (be32(frame) > pages_max || be32(frame + 4) > pages_max)) {
                errno = 0;
                return true; /* SQLite would want memory for them */
            }
            continue;
        }
        good = false;
        commits += ours && be32(frame + 4);
    }
    return commits > 1;
}

/* With errno if it cannot be read. */
static bool log_damaged(int fd, const char *path)
{
    unsigned char header[32], more;
    uint32_t sum[2] = { 0, 0 };
    if (!read_whole(fd, header, sizeof(header), 0))
        return false;
    add_sum(sum, header, 24, header[3] & 1);
    bool whole = (be32(header) & ~1u) == 0x377f0682 && sum[0] == be32(header + 24) &&
                 sum[1] == be32(header + 28);
    bool dedup = be32(header + 4) == 3007000 && be32(header + 8) == PAGE;
    if (whole && dedup)
        return frames_damaged(fd, header, sum, rdb_pages_max(path));
    /* is there anything that it stood for? */
    return read_whole(fd, &more, 1, sizeof(header) + PAGE) || (whole && !errno);
}

enum err rdb_log_check(const char *path)
{
    char *name = mem_join(path, "-wal");
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(name);
    if (fd < 0)
        return errno == ENOENT ? OK : ERR_IO;
    bool damaged = log_damaged(fd, path);
    int e = errno;
    close(fd);
    errno = e;
    return e ? ERR_IO : damaged ? ERR_CORRUPT : OK;
}

/* ---- the copy -------------------------------------------------------------------------------- */

static bool write_all(int fd, const char *p, size_t n, off_t at)
{
    while (n) {
        ssize_t did = pwrite(fd, p, n, at);
        if (did < 0 && errno == EINTR)
            continue;
        if (did <= 0)
            return false;
        p += did;
        at += did;
        n -= (size_t)did;
    }
    return true;
}

static bool copy_fd(int from, int to)
{
    char page[4 * PAGE];
    struct stat st;
    if (fstat(from, &st))
        return false;
    for (off_t at = 0; at < st.st_size;) {
        ssize_t n = pread(from, page, sizeof(page), at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        if (!write_all(to, page, (size_t)n, at))
            return false;
        at += n;
    }
    return true;
}

static bool copy(const char *from, const char *to, const char *ending)
{
    char *a = mem_join(from, ending), *b = mem_join(to, ending);
    int source = open(a, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok = source >= 0 || errno == ENOENT;
    int target = source < 0 ? -1 : open(b, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (source >= 0)
        ok = target >= 0 && copy_fd(source, target);
    int e = errno;
    if (source >= 0)
        close(source);
    if (target >= 0)
        close(target);
    free(a);
    free(b);
    errno = e;
    return ok;
}

/* ---- reading what can be read ---------------------------------------------------------------- */

struct salvage {
    sqlite3 *from;
    struct rdb *to;
    sqlite3_stmt *put;
    bool doubtful;  /* changes are missing: what is ACCEPTED here may have begun since */
    int64_t budget; /* bytes that there can be; more come from a tree that leads in circles */
    int64_t rows[RDB_TABLES];
    int batch;
    unsigned gaps, odd;
    enum err err; /* of the new file: that ends it */
    struct why *why;
};

struct table {
    int number;
    const char *forward, *backward, *put;
};

#define RUN_COLUMNS                                                                                \
    "seq, state, log_id, log_date_ms, moment_ms, accepted_ms, attempt, ended_ms, code, has_log, "  \
    "request, msg"
#define TOLD_COLUMNS "n, seq, log_id, ended_ms, log_date_ms"
#define PUT_TOLD "INSERT INTO told (" TOLD_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5)"
#define TOLD_COLUMNS_1 "n, seq, log_id, ended_ms, 0"
#define RANGE(columns, table, key, order)                                                          \
    "SELECT " columns " FROM " table " WHERE " key " >= ?1 AND " key " <= ?2 ORDER BY " key        \
    " " order

static const struct table tables[] = {
    { RDB_TOLD, RANGE(TOLD_COLUMNS, "told", "n", "ASC"), RANGE(TOLD_COLUMNS, "told", "n", "DESC"),
      PUT_TOLD },
    { RDB_RUN, RANGE(RUN_COLUMNS, "run", "seq", "ASC"), RANGE(RUN_COLUMNS, "run", "seq", "DESC"),
      "INSERT INTO run (" RUN_COLUMNS
      ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)" },
};

/* Of a journal of format 1. */
static const struct table table_told_1 = { RDB_TOLD, RANGE(TOLD_COLUMNS_1, "told", "n", "ASC"),
                                           RANGE(TOLD_COLUMNS_1, "told", "n", "DESC"), PUT_TOLD };

static void to_exec(struct salvage *g, const char *text)
{
    if (!g->err)
        g->err = rdb_exec(g->to, text, g->why);
}

/* The new file's constraints judge the row. */
static void put_row(struct salvage *g, const struct table *t, sqlite3_stmt *row)
{
    for (int i = 0; i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(g->put, i + 1, sqlite3_column_value(row, i));
    if (t->number == RDB_RUN && g->doubtful && sqlite3_column_int(row, 1) == RUN_JOURNAL_ACCEPTED)
        sqlite3_bind_int(g->put, 2, RUN_JOURNAL_STARTED);
    int rc = sqlite3_step(g->put);
    sqlite3_reset(g->put);
    if (rc == SQLITE_DONE)
        g->rows[t->number]++;
    else if ((rc & 0xff) == SQLITE_CONSTRAINT || (rc & 0xff) == SQLITE_MISMATCH)
        g->odd++;
    else
        g->err = rdb_fail(g->to, rc, g->why);
    if (++g->batch % BATCH == 0)
        to_exec(g, "COMMIT; BEGIN");
}

static int64_t row_bytes(sqlite3_stmt *q)
{
    int64_t bytes = 8;
    for (int i = 0; i < sqlite3_column_count(q); i++)
        bytes += sqlite3_column_bytes(q, i);
    return bytes;
}

/* Rows from first to last, or back. Returns true at their end, false where no more can be read;
 * *ret_key: the last one that could. */
static bool read_range(struct salvage *g, const struct table *t, bool back, int64_t first,
                       int64_t last, int64_t *ret_key)
{
    sqlite3_stmt *q = NULL;
    int64_t before = back ? INT64_MAX : INT64_MIN;
    int rc = sqlite3_prepare_v2(g->from, back ? t->backward : t->forward, -1, &q, NULL);
    if (!rc)
        rc = sqlite3_bind_int64(q, 1, first);
    if (!rc)
        rc = sqlite3_bind_int64(q, 2, last);
    while (!rc && !g->err && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t key = sqlite3_column_int64(q, 0);
        g->budget -= row_bytes(q);
        if (key < first || key > last || (back ? key >= before : key <= before) || g->budget < 0)
            break;
        before = *ret_key = key;
        put_row(g, t, q);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(q);
    return rc == SQLITE_DONE;
}

/* The first readable key at or beyond a doubling distance; its row is left for the reading that
 * follows. */
static bool find_beyond(struct salvage *g, const struct table *t, int64_t from, int64_t *ret_key)
{
    sqlite3_stmt *q = NULL;
    bool found = false, end = false;
    if (sqlite3_prepare_v2(g->from, t->forward, -1, &q, NULL))
        return false;
    for (int64_t step = 1; step < RUN_JOURNAL_SEQ_MAX - from && !found && !end; step *= 2) {
        sqlite3_bind_int64(q, 1, from + step);
        sqlite3_bind_int64(q, 2, RUN_JOURNAL_SEQ_MAX);
        int rc = sqlite3_step(q);
        found = rc == SQLITE_ROW;
        end = rc == SQLITE_DONE;
        if (found)
            *ret_key = sqlite3_column_int64(q, 0);
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    return found && *ret_key > from;
}

static void read_what_can_be(struct salvage *g, const struct table *t)
{
    int64_t at = 0, next, edge; /* everything up to at is read, or lost */
    for (unsigned gaps = 0; !g->err && g->budget >= 0; gaps++) {
        edge = at;
        if (read_range(g, t, false, at + 1, RUN_JOURNAL_SEQ_MAX, &edge))
            return;
        at = edge;
        g->gaps++;
        if (gaps == GAPS_MAX || !find_beyond(g, t, at, &next))
            return;
        if (next > at + 1)
            read_range(g, t, true, at + 1, next - 1, &edge);
        at = next - 1;
    }
}

static void salvage_table(struct salvage *g, const struct table *t)
{
    int rc = sqlite3_prepare_v2(g->to->db, t->put, -1, &g->put, NULL);
    if (rc)
        g->err = rdb_fail(g->to, rc, g->why);
    to_exec(g, "BEGIN");
    if (!g->err)
        read_what_can_be(g, t);
    sqlite3_finalize(g->put);
    to_exec(g, "COMMIT");
}

/* Numbers that were used stay used, whatever could be read. */
static void salvage_mark(struct salvage *g)
{
    sqlite3_stmt *q = NULL;
    int64_t limit = 0;
    char text[256];
    if (sqlite3_prepare_v2(g->from, "SELECT seq_limit FROM mark", -1, &q, NULL) == SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW)
        limit = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    if (limit < 0 || limit > RUN_JOURNAL_SEQ_MAX - RDB_SEQ_BLOCK)
        limit = 0;
    snprintf(text, sizeof(text),
             "UPDATE mark SET seq_limit = min(%lld, %d + max(%lld, "
             "(SELECT coalesce(max(seq), 0) FROM run), (SELECT coalesce(max(seq), 0) FROM told)))",
             (long long)RUN_JOURNAL_SEQ_MAX, RDB_SEQ_BLOCK, (long long)limit);
    to_exec(g, text);
}

/* ---- opening the copy ------------------------------------------------------------------------ */

static bool has_text(sqlite3 *db, const char *text)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND sql = ?1",
                                -1, &q, NULL);
    if (!rc)
        rc = sqlite3_bind_text(q, 1, text, -1, SQLITE_STATIC);
    if (!rc)
        rc = sqlite3_step(q);
    sqlite3_finalize(q);
    return rc == SQLITE_ROW;
}

/* NULL: it cannot be opened, or has not both tables. */
static sqlite3 *open_copy(const char *path)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
        SQLITE_OK) {
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, ROW_MAX);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        /* writable_schema: a file that is shorter than its header says is read all the same */
        sqlite3_exec(db,
                     "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cell_size_check=ON; "
                     "PRAGMA mmap_size=0; PRAGMA writable_schema=ON; PRAGMA query_only=ON",
                     NULL, NULL, NULL);
        if (has_text(db, rdb_schema[RDB_RUN]) &&
            (has_text(db, rdb_schema[RDB_TOLD]) || has_text(db, rdb_told_1)))
            return db;
    }
    sqlite3_close(db);
    return NULL;
}

static void patch_first_page(const char *path, struct rdb *fresh)
{
    sqlite3_int64 size = 0;
    unsigned char *image = sqlite3_serialize(fresh->db, "main", &size, 0);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (image && size >= PAGE && fd >= 0) {
        memset(image + 28, 0, 4); /* as many pages as there are */
        memset(image + 32, 0, 8); /* no free ones */
        if (!write_all(fd, (const char *)image, PAGE, 0))
            log_warn("journal", "%s cannot be written: %s", path, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    sqlite3_free(image);
}

/* As it is; with a first page that is whole; without its log. */
static sqlite3 *open_somehow(const char *path, struct rdb *fresh, bool *doubtful)
{
    /* SQLite deletes the log of an empty file */
    sqlite3 *db = rdb_size(path, "") >= PAGE ? open_copy(path) : NULL;
    if (db)
        return db;
    patch_first_page(path, fresh);
    db = open_copy(path);
    if (db)
        return db;
    char *log = mem_join(path, "-wal");
    *doubtful |= unlink(log) == 0;
    free(log);
    return open_copy(path);
}

/* ---- mending --------------------------------------------------------------------------------- */

static enum err salvage(const char *copy_path, struct rdb *fresh, bool doubtful, struct salvage *g,
                        struct why *why)
{
    *g = (struct salvage){ .to = fresh, .doubtful = doubtful, .why = why };
    g->budget = 2 * (rdb_size(copy_path, "") + rdb_size(copy_path, "-wal")) + PAGE;
    g->from = open_somehow(copy_path, fresh, &g->doubtful);
    if (!g->from) {
        g->gaps = 1;
        return OK;
    }
    to_exec(g, "PRAGMA ignore_check_constraints=OFF");
    for (size_t i = 0; i < countof(tables) && !g->err; i++)
        salvage_table(g, tables[i].number == RDB_TOLD && has_text(g->from, rdb_told_1)
                             ? &table_told_1
                             : &tables[i]);
    salvage_mark(g);
    sqlite3_close(g->from);
    return g->err ? g->err : rdb_checkpoint(fresh, why); /* it must be whole without its log */
}

static void tell(const struct rdb *s, const char *aside, const struct salvage *g)
{
    log_error("journal",
              "%s: the damaged file is kept as %s; %lld runs and %lld remembered ids could be read "
              "of it, %u places could not, %u rows made no sense%s",
              s->path, aside, (long long)g->rows[RDB_RUN], (long long)g->rows[RDB_TOLD], g->gaps,
              g->odd,
              g->doubtful ? "; the last changes are missing, so runs that seem not to have begun "
                            "are taken for begun"
                          : "");
}

static bool keep_as(const char *path, const char *aside, const char *ending)
{
    char *a = mem_join(path, ending), *b = mem_join(aside, ending);
    bool ok = link(a, b) == 0 || errno == ENOENT || rename(a, b) == 0;
    free(a);
    free(b);
    return ok;
}

void rdb_mend_finish(const char *path)
{
    char *mended = mem_join(path, ".mended");
    struct stat st;
    if (stat(mended, &st) == 0) {
        for (size_t i = 1; i < countof(endings); i++) { /* of the damaged file */
            char *name = mem_join(path, endings[i]);
            unlink(name);
            free(name);
        }
        if (rename(mended, path))
            log_error("journal", "%s cannot get its name: %s", mended, strerror(errno));
        rdb_sync_folder(path);
    }
    free(mended);
}

/* The name .mended says: the damaged file stands aside, the new one is whole. */
static enum err put_in_place(struct rdb *s, const char *fresh, const char *aside, struct why *why)
{
    char *mended = mem_join(s->path, ".mended");
    enum err err = OK;
    if (!keep_as(s->path, aside, "-wal") || !keep_as(s->path, aside, "-journal") ||
        !keep_as(s->path, aside, "") || !rdb_sync_folder(s->path) || rename(fresh, mended) ||
        !rdb_sync_folder(s->path))
        err = rdb_fail_errno(s, "keep the damaged file aside", why);
    free(mended);
    if (!err)
        rdb_mend_finish(s->path);
    return err;
}

enum err rdb_mend(struct rdb *s, struct why *why)
{
    if (!looks_ours(s->path)) {
        why_set(why, "%s is no journal of an executor; name another file, or move it away",
                s->path);
        return ERR_INVALID;
    }
    char now[32];
    snprintf(now, sizeof(now), ".damaged-%lld", (long long)clock_wall_ms());
    char *aside = mem_join(s->path, now), *work = mem_join(s->path, ".salvage");
    struct rdb fresh = { .path = mem_join(s->path, ".mending") };
    struct salvage g;
    remove_all(work);
    remove_all(fresh.path);
    enum err err = OK;
    if (!copy(s->path, work, "") || !copy(s->path, work, "-wal"))
        err = rdb_fail_errno(s, "be copied to be mended", why);
    if (!err)
        err = rdb_connect(&fresh, why);
    if (!err)
        err = salvage(work, &fresh, rdb_log_check(s->path) == ERR_CORRUPT, &g, why);
    rdb_disconnect(&fresh);
    if (!err)
        err = put_in_place(s, fresh.path, aside, why);
    if (!err)
        tell(s, aside, &g);
    remove_all(work);
    remove_all(fresh.path);
    free(fresh.path);
    free(aside);
    free(work);
    return err;
}
