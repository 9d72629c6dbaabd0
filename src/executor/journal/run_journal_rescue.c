/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged file goes into quarantine: it is kept aside for people, and a new one takes its place
 * with the rows that SQLite itself can read of the old one, its log included.
 *
 * Each table is read from its beginning until an error, then from its end back to there: one
 * damaged page costs its own rows, several cost all between the outermost two. Nothing else is
 * tried: pages that only look like ours may hold rows of runs that are over, and such a run must
 * not begin again.
 *
 * The damaged file is only read, and the new one gets its name when it is whole; so a crash at any
 * instruction, or a full disk, loses nothing. What the disk cannot read at present is not damage:
 * then the file stays where it is. */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "executor/journal/run_journal_db.h"
#include "sql/sqlerr.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

enum {
    ROW_MAX = 16 * 1024 * 1024,
    BATCH = 1000, /* rows in a transaction */
};

static const char *const endings[] = { "", "-wal", "-shm", "-journal" };

static void remove_all(const char *path, size_t first)
{
    for (size_t i = first; i < countof(endings); i++) {
        char *name = mem_join(path, endings[i]);
        unlink(name);
        free(name);
    }
}

/* ---- is it ours ------------------------------------------------------------------------------ */

static size_t read_first(const char *path, void *to, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t did = fd < 0 ? 0 : file_read(fd, 0, to, n);
    if (fd >= 0)
        close(fd);
    return did;
}

static bool is_zero(const unsigned char *p, size_t n)
{
    return n && p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* A file of another program that was named by mistake is not moved anywhere. Ours has the
 * database's magic, or, where the first page was hit, a log beside it, nothing but zeros there, or
 * the roots of three tables behind it. */
static bool looks_ours(const char *path)
{
    unsigned char *p = mem_new((size_t)PAGE * 4);
    size_t n = read_first(path, p, (size_t)PAGE * 4);
    bool ours = n == 0 || (n >= 16 && memcmp(p, "SQLite format 3", 16) == 0) ||
                is_zero(p, n < PAGE ? n : PAGE) || rdb_size(path, "-wal") > 0;
    bool roots = n == (size_t)PAGE * 4;
    for (size_t i = 1; i < 4 && roots; i++)
        roots = p[i * PAGE] == 13 || p[i * PAGE] == 5; /* leaf or inner page of a table */
    free(p);
    return ours || roots;
}

/* ---- reading what SQLite can read ------------------------------------------------------------ */

struct rescue {
    struct rdb from; /* the damaged file */
    struct rdb *to;
    sqlite3_stmt *put;
    int64_t budget; /* bytes that there can be; more come from a tree that leads in circles */
    int64_t rows[RDB_TABLES];
    int batch;
    bool all;     /* no place that could not be read */
    unsigned odd; /* rows that the constraints refuse */
    enum err err; /* ends it: the new file cannot be written, or the old one not be read now */
    struct why *why;
};

struct table {
    int number;
    const char *forward, *backward; /* ?1: backward, down to the first key above it */
    const char *put;
};

#define RUN_COLUMNS                                                                                \
    "seq, state, log_id, log_date_ms, moment_ms, accepted_ms, attempt, ended_ms, code, has_log, "  \
    "request, msg"
#define TOLD_COLUMNS "n, seq, log_id, ended_ms, log_date_ms"
#define TOLD_COLUMNS_1 "n, seq, log_id, ended_ms, 0"
#define PUT_TOLD "INSERT INTO told (" TOLD_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5)"
#define ROWS(columns, table, key, order)                                                           \
    "SELECT " columns " FROM " table " WHERE " key " > ?1 ORDER BY " key " " order

static const struct table tables[] = {
    { RDB_TOLD, ROWS(TOLD_COLUMNS, "told", "n", "ASC"), ROWS(TOLD_COLUMNS, "told", "n", "DESC"),
      PUT_TOLD },
    { RDB_RUN, ROWS(RUN_COLUMNS, "run", "seq", "ASC"), ROWS(RUN_COLUMNS, "run", "seq", "DESC"),
      "INSERT INTO run (" RUN_COLUMNS
      ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)" },
};

/* Of a journal of format 1. */
static const struct table table_told_1 = { RDB_TOLD, ROWS(TOLD_COLUMNS_1, "told", "n", "ASC"),
                                           ROWS(TOLD_COLUMNS_1, "told", "n", "DESC"), PUT_TOLD };

static void to_exec(struct rescue *g, const char *text)
{
    if (!g->err)
        g->err = rdb_exec(g->to, text, g->why);
}

/* The new file's constraints judge the row. */
static void put_row(struct rescue *g, const struct table *t, sqlite3_stmt *row)
{
    for (int i = 0; i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(g->put, i + 1, sqlite3_column_value(row, i));
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

/* What could not be read: is it lost, or can it only not be had now? */
static void judge(struct rescue *g, int rc)
{
    g->all = false;
    if (sqlerr_unreadable(g->from.db) || (rc & 0xff) == SQLITE_BUSY)
        g->err = rdb_fail(&g->from, rc, g->why);
}

/* Rows with keys above `above`, in the order of text. True at their end, false where no more can be
 * read; *ret_key: the last one that could. Keys that turn back are a tree that leads in circles. */
static bool read_rows(struct rescue *g, const struct table *t, const char *text, int64_t above,
                      int64_t *ret_key)
{
    bool back = text == t->backward;
    sqlite3_stmt *q = NULL;
    int64_t before = back ? INT64_MAX : above;
    int rc = sqlite3_prepare_v2(g->from.db, text, -1, &q, NULL);
    if (!rc)
        rc = sqlite3_bind_int64(q, 1, above);
    while (!rc && !g->err && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t key = sqlite3_column_int64(q, 0);
        g->budget -= row_bytes(q);
        rc = SQLITE_CORRUPT;
        if (key <= above || (back ? key >= before : key <= before) || g->budget < 0)
            break;
        before = *ret_key = key;
        put_row(g, t, q);
        rc = SQLITE_OK;
    }
    if (rc != SQLITE_DONE && !g->err)
        judge(g, rc);
    sqlite3_finalize(q);
    return rc == SQLITE_DONE;
}

static void rescue_table(struct rescue *g, const struct table *t)
{
    int64_t at = 0, edge;
    int rc = sqlite3_prepare_v2(g->to->db, t->put, -1, &g->put, NULL);
    if (rc)
        g->err = rdb_fail(g->to, rc, g->why);
    to_exec(g, "BEGIN");
    if (!g->err && !read_rows(g, t, t->forward, 0, &at) && !g->err)
        read_rows(g, t, t->backward, at, &edge);
    sqlite3_finalize(g->put);
    to_exec(g, "COMMIT");
}

/* Numbers that were used stay used, whatever could be read. */
static void rescue_mark(struct rescue *g)
{
    sqlite3_stmt *q = NULL;
    int64_t limit = 0;
    char text[256];
    if (sqlite3_prepare_v2(g->from.db, "SELECT seq_limit FROM mark", -1, &q, NULL) == SQLITE_OK &&
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

/* False: nothing of it can be read. An empty file is not opened: SQLite would delete its log.
 * writable_schema lets a file be read that is shorter than its header says; query_only and
 * NO_CKPT_ON_CLOSE leave file and log as they are. */
static bool open_damaged(struct rescue *g)
{
    sqlite3 **db = &g->from.db;
    if (rdb_is_empty(g->from.path))
        return false;
    int rc = sqlite3_open_v2(g->from.path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc) {
        judge(g, rc);
        return false;
    }
    sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, ROW_MAX);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_exec(*db,
                 "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; "
                 "PRAGMA writable_schema=ON; PRAGMA query_only=ON",
                 NULL, NULL, NULL);
    bool ours = has_text(*db, rdb_schema[RDB_RUN]) &&
                (has_text(*db, rdb_schema[RDB_TOLD]) || has_text(*db, rdb_told_1));
    if (!ours)
        judge(g, sqlite3_extended_errcode(*db));
    return ours;
}

static void rescue_rows(struct rescue *g)
{
    to_exec(g, "PRAGMA ignore_check_constraints=OFF");
    for (size_t i = 0; i < countof(tables) && !g->err; i++)
        rescue_table(g, tables[i].number == RDB_TOLD && has_text(g->from.db, rdb_told_1)
                            ? &table_told_1
                            : &tables[i]);
    rescue_mark(g);
}

/* ---- the new file in the old one's place ----------------------------------------------------- */

static void report(const struct rescue *g, const char *aside)
{
    log_error("journal",
              "%s: the damaged file is kept as %s; %lld runs and %lld remembered ids could be read "
              "of it%s, %u rows made no sense; `sqlite3 %s .recover` may show more",
              g->from.path, aside, (long long)g->rows[RDB_RUN], (long long)g->rows[RDB_TOLD],
              g->all ? "" : ", others could not", g->odd, aside);
}

static bool keep_as(const char *path, const char *aside, const char *ending)
{
    char *a = mem_join(path, ending), *b = mem_join(aside, ending);
    bool ok = link(a, b) == 0 || errno == ENOENT || rename(a, b) == 0;
    free(a);
    free(b);
    return ok;
}

void rdb_rescue_finish(const char *path)
{
    char *mended = mem_join(path, ".mended");
    struct stat st;
    if (stat(mended, &st) == 0) {
        remove_all(path, 1); /* the damaged file's log and the like */
        if (rename(mended, path))
            log_error("journal", "%s cannot get its name: %s", mended, strerror(errno));
        (void)!file_sync_folder(path); /* the next start finds either name */
    }
    free(mended);
}

/* The name .mended says: the damaged file stands aside, the new one is whole. */
static enum err put_in_place(struct rdb *s, const char *fresh, const char *aside, struct why *why)
{
    char *mended = mem_join(s->path, ".mended");
    enum err err = OK;
    if (!keep_as(s->path, aside, "-wal") || !keep_as(s->path, aside, "-journal") ||
        !keep_as(s->path, aside, "") || !file_sync_folder(s->path) || rename(fresh, mended) ||
        !file_sync_folder(s->path))
        err = rdb_fail_errno(s, "keep the damaged file aside", why);
    free(mended);
    if (!err)
        rdb_rescue_finish(s->path);
    return err;
}

/* A new file at to->path, whole without its log. */
static enum err write_fresh(struct rescue *g)
{
    enum err err = rdb_connect(g->to, g->why);
    if (err)
        return err;
    if (open_damaged(g))
        rescue_rows(g);
    sqlite3_close(g->from.db);
    if (!g->err)
        g->err = rdb_checkpoint(g->to, g->why);
    rdb_disconnect(g->to);
    return g->err;
}

enum err rdb_rescue(struct rdb *s, struct why *why)
{
    if (!looks_ours(s->path)) {
        why_set(why, "%s is no journal of an executor; name another file, or move it away",
                s->path);
        return ERR_INVALID;
    }
    char now[32];
    snprintf(now, sizeof(now), ".damaged-%lld", (long long)clock_wall_ms());
    char *aside = mem_join(s->path, now);
    struct rdb fresh = { .path = mem_join(s->path, ".mending") };
    struct rescue g = { .from = { .path = s->path }, .to = &fresh, .all = true, .why = why };
    g.budget = 2 * (rdb_size(s->path, "") + rdb_size(s->path, "-wal")) + PAGE;
    remove_all(fresh.path, 0);
    enum err err = write_fresh(&g);
    if (!err)
        err = put_in_place(s, fresh.path, aside, why);
    if (!err)
        report(&g, aside);
    remove_all(fresh.path, 0);
    free(fresh.path);
    free(aside);
    return err;
}
