/* SPDX-License-Identifier: Apache-2.0 */
/* Three looks into information_schema: columns, indexes, engines. Each row of them either is kept
 * by name or sets a sign; at the end the signs say the release. A database that was upgraded by
 * hand may lack a sign of its release (an index above all), so each sign stands for itself, and the
 * release is only what people are told. */
#include "store/mysql/layout.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 140 /* of "table.column" */

static const char columns_sql[] =
    "SELECT table_name, column_name, character_maximum_length, is_nullable, collation_name "
    "FROM information_schema.columns WHERE table_schema = DATABASE() "
    "AND (table_name LIKE 'xxl_job_%' OR table_name LIKE 'peal_%')";
static const char indexes_sql[] =
    "SELECT table_name, index_name, non_unique, seq_in_index, column_name "
    "FROM information_schema.statistics WHERE table_schema = DATABASE() "
    "AND table_name IN ('xxl_job_registry', 'xxl_job_info', 'xxl_job_log') "
    "ORDER BY table_name, index_name, seq_in_index";
static const char engines_sql[] = "SELECT table_name, engine FROM information_schema.tables "
                                  "WHERE table_schema = DATABASE() AND table_name LIKE 'xxl_job_%'";
static const char lock_sql[] =
    "SELECT COUNT(*) FROM xxl_job_lock WHERE lock_name = 'schedule_lock'";
static const char galera_sql[] = "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'";

/* What each release from 2.3 on has and statements name. */
static const char *const needed[] = {
    "xxl_job_group.app_name",
    "xxl_job_group.address_type",
    "xxl_job_group.address_list",
    "xxl_job_info.job_group",
    "xxl_job_info.schedule_conf",
    "xxl_job_info.misfire_strategy",
    "xxl_job_info.executor_route_strategy",
    "xxl_job_info.executor_fail_retry_count",
    "xxl_job_info.trigger_status",
    "xxl_job_info.trigger_last_time",
    "xxl_job_info.trigger_next_time",
    "xxl_job_info.update_time",
    "xxl_job_lock.lock_name",
    "xxl_job_log.job_id",
    "xxl_job_log.executor_address",
    "xxl_job_log.executor_sharding_param",
    "xxl_job_log.executor_fail_retry_count",
    "xxl_job_log.trigger_time",
    "xxl_job_log.trigger_code",
    "xxl_job_log.trigger_msg",
    "xxl_job_log.handle_code",
    "xxl_job_log.alarm_status",
    "xxl_job_registry.registry_value",
    "xxl_job_registry.update_time",
    "xxl_job_user.username",
    "xxl_job_user.password",
};

/* An index's columns, as far as they have come. */
struct index_seen {
    struct layout *layout;
    char table[64], name[64], columns[256];
    bool unique;
};

/* ---- columns ----------------------------------------------------------------------------------
 */

static void on_column(void *ctx, const struct slice *v)
{
    struct layout *l = ctx;
    char name[NAME_MAX_BYTES];
    int n = snprintf(name, sizeof(name), "%.*s.%.*s", (int)v[0].n, v[0].p, (int)v[1].n, v[1].p);
    if (n < 0 || (size_t)n >= sizeof(name))
        return;
    if (strncmp(name, "peal_", 5) == 0)
        l->ours = true;
    struct layout_column *c = mem_new(sizeof(*c));
    if (!v[2].p || !parse_i64(v[2], &c->chars))
        c->chars = -1;
    c->nullable = slice_eq_nocase(v[3], "YES");
    if (v[4].p)
        text_copy(c->collation, sizeof(c->collation), v[4]);
    free(textmap_set(&l->columns, slice_of(name, (size_t)n), c));
}

const struct layout_column *layout_column(const struct layout *l, const char *table,
                                          const char *column)
{
    char name[NAME_MAX_BYTES];
    int n = snprintf(name, sizeof(name), "%s.%s", table, column);
    return n > 0 && (size_t)n < sizeof(name) ? textmap_find(&l->columns, slice_of(name, (size_t)n))
                                             : NULL;
}

static bool has(const struct layout *l, const char *table, const char *column)
{
    return layout_column(l, table, column) != NULL;
}

static enum err known(const struct layout *l, struct why *why)
{
    if (!has(l, "xxl_job_info", "id")) {
        why_set(why, "the database has no table xxl_job_info: it is none of XXL-JOB (or this user "
                     "may not read it: GRANT SELECT)");
        return ERR_INVALID;
    }
    if (!has(l, "xxl_job_info", "schedule_type")) {
        why_set(why, "its tables are of XXL-JOB 2.2 or older (xxl_job_info has no column "
                     "schedule_type): upgrade XXL-JOB to 2.3 or later first");
        return ERR_INVALID;
    }
    for (size_t i = 0; i < countof(needed); i++)
        if (!textmap_find(&l->columns, slice_text(needed[i]))) {
            why_set(why, "column %s is missing, which each release of XXL-JOB since 2.3 has",
                    needed[i]);
            return ERR_INVALID;
        }
    if (!has(l, "xxl_job_info", l->job_name) || !has(l, "xxl_job_group", l->group_name)) {
        why_set(why, "xxl_job_info has neither job_desc nor name, or xxl_job_group neither title "
                     "nor name: XXL-JOB has one of each");
        return ERR_INVALID;
    }
    return OK;
}

/* ---- indexes, engines, rows -------------------------------------------------------------------
 */

static bool same(struct slice a, const char *b)
{
    return slice_eq_nocase(a, b);
}

static void index_end(struct index_seen *x)
{
    struct layout *l = x->layout;
    if (strcmp(x->table, "xxl_job_registry") == 0)
        l->registry_unique |=
            x->unique && strcmp(x->columns, "registry_group,registry_key,registry_value") == 0;
    else if (strcmp(x->table, "xxl_job_info") == 0)
        l->due_index |= strncmp(x->columns, "trigger_status,trigger_next_time", 32) == 0;
    else if (strcmp(x->table, "xxl_job_log") == 0)
        l->log_index |= strncmp(x->columns, "job_id", 6) == 0;
    x->columns[0] = '\0';
}

static void on_index(void *ctx, const struct slice *v)
{
    struct index_seen *x = ctx;
    if (!slice_eq(v[0], x->table) || !slice_eq(v[1], x->name)) {
        index_end(x);
        text_copy(x->table, sizeof(x->table), v[0]);
        text_copy(x->name, sizeof(x->name), v[1]);
        x->unique = slice_eq(v[2], "0");
    }
    size_t n = strlen(x->columns);
    snprintf(x->columns + n, sizeof(x->columns) - n, "%s%.*s", n ? "," : "",
             v[4].p ? (int)v[4].n : 0, v[4].p ? v[4].p : "");
}

static void on_engine(void *ctx, const struct slice *v)
{
    struct layout *l = ctx;
    if (v[1].p && (same(v[1], "MyISAM") || same(v[1], "Aria") || same(v[1], "MEMORY")))
        l->transactions = false;
}

static void on_lock(void *ctx, const struct slice *v)
{
    ((struct layout *)ctx)->lock_row = v[0].p && !slice_eq(v[0], "0");
}

static void on_galera(void *ctx, const struct slice *v)
{
    ((struct layout *)ctx)->galera = v[1].p && (same(v[1], "ON") || slice_eq(v[1], "1"));
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void settle(struct layout *l)
{
    l->user_token = has(l, "xxl_job_user", "token");
    const struct layout_column *param = layout_column(l, "xxl_job_info", "executor_param"),
                               *address = layout_column(l, "xxl_job_log", "executor_address"),
                               *value = layout_column(l, "xxl_job_registry", "registry_value");
    l->same_collation = address && value && strcmp(address->collation, value->collation) == 0;
    if (!has(l, "xxl_job_info", "job_desc"))
        l->release = LAYOUT_3_5;
    else if (param && param->chars > 512)
        l->release = LAYOUT_3_4;
    else if (l->user_token)
        l->release = LAYOUT_3_2;
    else
        l->release = l->registry_unique ? LAYOUT_2_5 : LAYOUT_2_3;
}

enum err layout_read(layout_query_fn *query, void *connection, struct layout *ret, struct why *why)
{
    memset(ret, 0, sizeof(*ret));
    textmap_init(&ret->columns);
    ret->transactions = true;
    enum err err = query(connection, columns_sql, on_column, ret, why);
    if (err)
        return err;
    ret->job_name = has(ret, "xxl_job_info", "job_desc") ? "job_desc" : "name";
    ret->group_name = has(ret, "xxl_job_group", "title") ? "title" : "name";
    err = known(ret, why);
    struct index_seen seen = { .layout = ret };
    if (!err)
        err = query(connection, indexes_sql, on_index, &seen, why);
    index_end(&seen);
    if (!err)
        err = query(connection, engines_sql, on_engine, ret, why);
    if (!err)
        err = query(connection, lock_sql, on_lock, ret, why);
    if (!err)
        err = query(connection, galera_sql, on_galera, ret, why);
    settle(ret);
    return err;
}

void layout_done(struct layout *l)
{
    void *value;
    for (size_t i = 0; textmap_next(&l->columns, &i, &value);)
        free(value);
    textmap_done(&l->columns);
}

const char *layout_text(const struct layout *l)
{
    static const char *const texts[] = { [LAYOUT_2_3] = "2.3 or 2.4",
                                         [LAYOUT_2_5] = "2.5 to 3.1",
                                         [LAYOUT_3_2] = "3.2 or 3.3",
                                         [LAYOUT_3_4] = "3.4",
                                         [LAYOUT_3_5] = "3.5" };
    return texts[l->release];
}

enum err layout_usable(const struct layout *l, struct why *why)
{
    if (!l->transactions) {
        why_set(why, "a table of XXL-JOB has an engine without transactions: ALTER TABLE ... "
                     "ENGINE=InnoDB");
        return ERR_INVALID;
    }
    if (!l->lock_row) {
        why_set(why,
                "table xxl_job_lock has no row schedule_lock, so nothing keeps the admins from "
                "firing a job twice: INSERT INTO xxl_job_lock (lock_name) VALUES "
                "('schedule_lock')");
        return ERR_INVALID;
    }
    return OK;
}

void layout_warnings(const struct layout *l, void (*fn)(void *ctx, const char *text), void *ctx)
{
    if (!l->lock_row)
        fn(ctx,
           "table xxl_job_lock has no row schedule_lock, so nothing keeps two Java admins from "
           "firing a job twice; INSERT INTO xxl_job_lock (lock_name) VALUES ('schedule_lock')");
    if (!l->transactions)
        fn(ctx, "a table of XXL-JOB has an engine without transactions, so its lock row locks "
                "nothing; ALTER TABLE ... ENGINE=InnoDB");
    if (!l->same_collation)
        fn(ctx, "xxl_job_log.executor_address and xxl_job_registry.registry_value have different "
                "collations: the Java admin's search for lost runs fails");
    if (l->release == LAYOUT_2_3)
        fn(ctx,
           "Java admins up to 2.4.2 write trigger_status blindly: a job that is stopped during "
           "their scan may run on; stop it again then");
    if (!l->registry_unique && l->release > LAYOUT_2_3)
        fn(ctx,
           "index i_g_k_v of xxl_job_registry is not unique, which XXL-JOB's upsert needs since "
           "2.5: registrations pile up");
    if (l->galera)
        fn(ctx,
           "this is a Galera cluster: row locks hold within one server only, so all Java admins "
           "and all centers must use the same one");
}
