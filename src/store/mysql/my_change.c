/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of runs on MySQL and MariaDB, many rows a statement.
 *
 * Changes that write the same columns go together: an update says each row's values by CASE, 100
 * rows at a time, and live rows are deleted by lists of ids. The server tells how many rows it has
 * found. Where some are missing, which is rare, the call begins anew behind a savepoint, and asks
 * first which rows there are. */
#include "base/map.h"
#include "base/mem.h"
#include "store/mysql/my_db.h"
#include "store/shared.h"
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM (1024 * 1024)

/* Which columns of the log row a change sets. */
enum log_part {
    PART_ADDRESS = 1,
    PART_TRIGGER = 2,
    PART_TRIGGER_MSG = 4,
    PART_FINISH = 8,
    PART_FINISH_MSG = 16,
    PART_ALARM = 32,
};

enum live_part { LIVE_PHASE = 1, LIVE_ADDRESS = 2, LIVE_VERSION = 4 };

static unsigned log_parts(const struct run_change *c)
{
    unsigned parts = 0;
    if (c->what & CHANGE_ADDRESS)
        parts |= PART_ADDRESS;
    if (c->what & CHANGE_TRIGGER)
        parts |= PART_TRIGGER | (c->trigger_msg ? PART_TRIGGER_MSG : 0);
    if (c->what & CHANGE_FINISH)
        parts |= PART_FINISH | (c->handle_msg ? PART_FINISH_MSG : 0);
    if (c->what & CHANGE_ALARM)
        parts |= PART_ALARM;
    return parts;
}

static unsigned live_parts(const struct run_change *c)
{
    return (c->what & CHANGE_PHASE ? LIVE_PHASE : 0) |
           (c->what & CHANGE_ADDRESS ? LIVE_ADDRESS : 0) |
           (c->what & CHANGE_VERSION ? LIVE_VERSION : 0);
}

static bool ends(const struct run_change *c)
{
    return c->what & (CHANGE_CLOSE | CHANGE_DROP);
}

/* ---- texts ----------------------------------------------------------------------------------- */

struct set { /* a column that an update writes, and how it writes the parameter */
    const char *column, *value;
};

/* UPDATE table SET column = CASE key WHEN ? THEN ? … END, … WHERE key IN (…). Row i has nvalues
 * parameters from i * nvalues + 1 on, the first is the key. */
static char *update_text(const char *table, const char *key, const struct set *sets, int nsets,
                         int n)
{
    struct buf text = BUF_INIT(TEXT_ROOM);
    int each = nsets + 1;
    buf_printf(&text, "UPDATE %s SET ", table);
    for (int k = 0; k < nsets; k++) {
        buf_printf(&text, "%s%s = CASE %s", k ? ", " : "", sets[k].column, key);
        for (int i = 0; i < n; i++) {
            buf_printf(&text, " WHEN ?%d THEN ", i * each + 1);
            buf_printf(&text, sets[k].value, i * each + 2 + k);
        }
        buf_text(&text, " END");
    }
    buf_printf(&text, " WHERE %s IN (", key);
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%s?%d", i ? ", " : "", i * each + 1);
    buf_char(&text, ')');
    return buf_take(&text);
}

static const char *list_text(char **texts, int size, const char *before)
{
    if (!texts[size]) {
        struct buf text = BUF_INIT(TEXT_ROOM);
        buf_text(&text, before);
        for (int i = 0; i < my_sizes[size]; i++)
            buf_printf(&text, "%s?", i ? ", " : "");
        buf_char(&text, ')');
        texts[size] = buf_take(&text);
    }
    return texts[size];
}

static const char *live_text(struct mydb *s, unsigned parts, int size)
{
    static const struct set all[] = { { "phase", "?%d" },
                                      { "doubted", "?%d" },
                                      { "address", "?%d" },
                                      { "version", "?%d" },
                                      { "told", "?%d" } };
    char **text = &s->live_update[parts][size];
    if (!*text) {
        struct set sets[countof(all)];
        int n = 0;
        if (parts & LIVE_PHASE) {
            sets[n++] = all[0];
            sets[n++] = all[1];
        }
        if (parts & LIVE_ADDRESS)
            sets[n++] = all[2];
        if (parts & LIVE_VERSION) {
            sets[n++] = all[3];
            sets[n++] = all[4];
        }
        *text = update_text("peal_run", "log_id", sets, n, my_sizes[size]);
    }
    return *text;
}

/* alarm_status: what is unseen becomes what the change says; what needs none, too, unless the
 * change is quiet. */
static const char *log_text(struct mydb *s, unsigned parts, int size)
{
    static const struct set all[] = {
        { "executor_address", "?%d" },
        { "trigger_code", "?%d" },
        { "trigger_msg", "?%d" },
        { "handle_time", "{time ?%d}" },
        { "handle_code", "?%d" },
        { "handle_msg", "?%d" },
        { "alarm_status",
          "CASE WHEN alarm_status = 0 OR (alarm_status = 1 AND ?%1$d <> 1) THEN ?%1$d ELSE "
          "alarm_status END" }
    };
    static const unsigned bits[] = { PART_ADDRESS, PART_TRIGGER,    PART_TRIGGER_MSG, PART_FINISH,
                                     PART_FINISH,  PART_FINISH_MSG, PART_ALARM };
    char **text = &s->log_update[parts][size];
    if (!*text) {
        struct set sets[countof(all)];
        int n = 0;
        for (size_t i = 0; i < countof(all); i++)
            if (parts & bits[i])
                sets[n++] = all[i];
        /* its texts are what programs say: what a column does not take of them is cut */
        *text = update_text("{cut xxl_job_log}", "id", sets, n, my_sizes[size]);
    }
    return *text;
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct changing {
    struct mydb *s;
    struct run_change **rows; /* of one group */
    int n;
    struct run_change *changes; /* of the call, distinct ids */
    int nchanges;
    bool looked; /* it is known which are missing */
};

/* The rows of the call for which it says yes, and that are there. */
typedef bool choose_fn(const struct run_change *c, unsigned arg);

static void choose(struct changing *g, choose_fn *fn, unsigned arg)
{
    g->n = 0;
    for (int i = 0; i < g->nchanges; i++) {
        struct run_change *c = &g->changes[i];
        if (!(g->looked && c->missing) && fn(c, arg))
            g->rows[g->n++] = c;
    }
}

static bool closes(const struct run_change *c, unsigned arg)
{
    (void)arg;
    return ends(c);
}

static bool drops(const struct run_change *c, unsigned arg)
{
    (void)arg;
    return c->what & CHANGE_DROP;
}

static bool keeps(const struct run_change *c, unsigned parts)
{
    return !ends(c) && live_parts(c) == parts;
}

static bool notes(const struct run_change *c, unsigned parts)
{
    return !(c->what & CHANGE_DROP) && log_parts(c) == parts;
}

/* A statement over lists of ids, for the rows of the group: how many it found. */
static enum err by_ids(struct changing *g, char **texts, const char *before, int64_t *ret_rows,
                       struct why *why)
{
    enum err err = OK;
    *ret_rows = 0;
    for (int done = 0; !err && done < g->n;) {
        int size = my_size_of(g->n - done, MY_SIZES);
        struct sql_query *q;
        int64_t rows = 0;
        err = sql_query(&g->s->sql, list_text(texts, size, before), &q, why);
        for (int i = 0; !err && i < my_sizes[size]; i++)
            sql_bind_i64(q, i + 1, g->rows[done + i]->log_id);
        if (!err)
            err = sql_change(q, &rows, why);
        *ret_rows += rows;
        done += my_sizes[size];
    }
    return err;
}

/* Which of the call's rows are live: missing says which are not. */
static enum err look(struct changing *g, struct why *why)
{
    struct map at;
    map_init(&at);
    for (int i = 0; i < g->nchanges; i++) {
        g->changes[i].missing = true;
        map_set(&at, (uint64_t)g->changes[i].log_id, &g->changes[i]);
    }
    enum err err = OK;
    for (int done = 0; !err && done < g->nchanges;) {
        int size = my_size_of(g->nchanges - done, MY_SIZES);
        struct sql_query *q;
        bool row = true;
        err = sql_query(
            &g->s->sql,
            list_text(g->s->live_find, size, "SELECT log_id FROM peal_run WHERE log_id IN ("), &q,
            why);
        for (int i = 0; !err && i < my_sizes[size]; i++)
            sql_bind_i64(q, i + 1, g->changes[done + i].log_id);
        while (!err && !(err = sql_next(q, &row, why)) && row) {
            struct run_change *c = map_find(&at, (uint64_t)sql_i64(q, 0, 0));
            if (c)
                c->missing = false;
        }
        done += my_sizes[size];
    }
    map_done(&at);
    g->looked = !err;
    return err;
}

/* ---- live rows ------------------------------------------------------------------------------- */

static int live_bind(struct sql_query *q, int at, const struct run_change *c, unsigned parts)
{
    sql_bind_i64(q, at++, c->log_id);
    if (parts & LIVE_PHASE) {
        sql_bind_i64(q, at++, c->phase);
        sql_bind_i64(q, at++, c->doubted);
    }
    if (parts & LIVE_ADDRESS)
        sql_bind_text(q, at++, c->address);
    if (parts & LIVE_VERSION) {
        sql_bind_i64(q, at++, c->version);
        sql_bind_i64(q, at++, c->version); /* told */
    }
    return at;
}

static enum err live_write(struct changing *g, unsigned parts, int64_t *ret_rows, struct why *why)
{
    enum err err = OK;
    *ret_rows = 0;
    for (int done = 0; !err && done < g->n;) {
        int size = my_size_of(g->n - done, MY_CHANGE_SIZES);
        struct sql_query *q;
        int64_t rows = 0;
        err = sql_query(&g->s->sql, live_text(g->s, parts, size), &q, why);
        for (int i = 0, at = 1; !err && i < my_sizes[size]; i++)
            at = live_bind(q, at, g->rows[done + i], parts);
        if (!err)
            err = sql_change(q, &rows, why);
        *ret_rows += rows;
        done += my_sizes[size];
    }
    return err;
}

/* *ret_all: every row was there. */
static enum err live_change(struct changing *g, bool *ret_all, struct why *why)
{
    int64_t rows = 0;
    *ret_all = true;
    choose(g, closes, 0);
    enum err err =
        by_ids(g, g->s->live_delete, "DELETE FROM peal_run WHERE log_id IN (", &rows, why);
    *ret_all = rows == g->n;
    for (unsigned parts = 1; !err && *ret_all && parts < countof(g->s->live_update); parts++) {
        choose(g, keeps, parts);
        err = live_write(g, parts, &rows, why);
        *ret_all = rows == g->n;
    }
    if (err || !*ret_all)
        return err;
    choose(g, keeps, 0);
    if (g->n && !g->looked) /* nothing of the live row changes, but it must be there */
        *ret_all = false;
    return OK;
}

/* ---- log rows -------------------------------------------------------------------------------- */

static int log_bind(struct sql_query *q, int at, const struct run_change *c, unsigned parts,
                    char **said)
{
    sql_bind_i64(q, at++, c->log_id);
    if (parts & PART_ADDRESS)
        sql_bind_text(q, at++, c->address);
    if (parts & PART_TRIGGER)
        sql_bind_i64(q, at++, c->trigger_code);
    if (parts & PART_TRIGGER_MSG) {
        *said = store_trigger_text(c->kind, c->trigger_msg);
        sql_bind_text(q, at++, *said);
    }
    if (parts & PART_FINISH) {
        sql_bind_i64(q, at++, c->handle_ms);
        sql_bind_i64(q, at++, c->handle_code);
    }
    if (parts & PART_FINISH_MSG)
        sql_bind_text(q, at++, c->handle_msg);
    if (parts & PART_ALARM)
        sql_bind_i64(q, at++, c->quiet ? ALARM_NOT_NEEDED : ALARM_CLAIMED);
    return at;
}

static enum err log_write_some(struct changing *g, unsigned parts, int from, int size,
                               struct why *why)
{
    char *said[100] = { NULL };
    struct sql_query *q;
    enum err err = sql_query(&g->s->sql, log_text(g->s, parts, size), &q, why);
    for (int i = 0, at = 1; !err && i < my_sizes[size]; i++)
        at = log_bind(q, at, g->rows[from + i], parts, &said[i]);
    if (!err)
        err = sql_do(q, why);
    for (size_t i = 0; i < countof(said); i++)
        free(said[i]);
    return err;
}

static enum err log_change(struct changing *g, struct why *why)
{
    int64_t rows = 0;
    choose(g, drops, 0);
    enum err err = by_ids(g, g->s->log_delete, "DELETE FROM xxl_job_log WHERE id IN (", &rows, why);
    for (unsigned parts = 1; !err && parts < MY_CHANGE_MASKS; parts++) {
        choose(g, notes, parts);
        for (int done = 0; !err && done < g->n;) {
            int size = my_size_of(g->n - done, MY_CHANGE_SIZES);
            err = log_write_some(g, parts, done, size, why);
            done += my_sizes[size];
        }
    }
    return err;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Changes of distinct runs. */
static enum err change_distinct(struct mydb *s, struct run_change *changes, int n,
                                int64_t *ret_missed, struct why *why)
{
    struct changing g = { .s = s, .changes = changes, .nchanges = n };
    bool all = false;
    g.rows = mem_new((size_t)n * sizeof(struct run_change *));
    for (int i = 0; i < n; i++)
        changes[i].missing = false;
    enum err err = my_exec(s, "SAVEPOINT peal_change", why);
    if (!err)
        err = live_change(&g, &all, why);
    if (!err && !all)
        err = my_exec(s, "ROLLBACK TO SAVEPOINT peal_change", why);
    if (!err && !all)
        err = look(&g, why);
    if (!err && !all)
        err = live_change(&g, &all, why);
    if (!err)
        err = log_change(&g, why);
    if (!err)
        err = sql_runs_task(&s->sql, changes, n, why);
    free(g.rows);
    for (int i = 0; !err && i < n; i++)
        *ret_missed += changes[i].missing;
    return err;
}

/* How many of the first n have distinct ids. */
static int distinct(struct run_change *changes, int n)
{
    struct map seen;
    int k = 0;
    map_init(&seen);
    while (k < n && !map_set(&seen, (uint64_t)changes[k].log_id, &changes[k]))
        k++;
    map_done(&seen);
    return k;
}

enum err my_runs_change(struct store *store, struct run_change *changes, int n, int64_t *ret_missed,
                        struct why *why)
{
    struct mydb *s = my_of(store);
    int64_t missed = 0;
    enum err err = OK;
    for (int done = 0; !err && done < n;) {
        int k = distinct(&changes[done], n - done);
        err = change_distinct(s, &changes[done], k, &missed, why);
        done += k;
    }
    if (!err)
        *ret_missed = missed;
    return err;
}
