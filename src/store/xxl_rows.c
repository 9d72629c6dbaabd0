/* SPDX-License-Identifier: Apache-2.0 */
/* A table is a row below: what is selected there, what is written here. Values come as texts and
 * are made what the target's column is; a text with a NUL, which not every engine can hold, is
 * refused. Where a job stands (peal_due) is made of its columns in xxl_job_info. */
#include "store/xxl_rows.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <stdlib.h>
#include <string.h>

static const struct bulk_column group_columns[] = {
    { "id", BULK_I64 },           { "app_name", BULK_TEXT },     { "title", BULK_TEXT },
    { "address_type", BULK_I64 }, { "address_list", BULK_TEXT }, { "update_time", BULK_TIME },
};
static const struct bulk_column registry_columns[] = {
    { "id", BULK_I64 },
    { "registry_group", BULK_TEXT },
    { "registry_key", BULK_TEXT },
    { "registry_value", BULK_TEXT },
    { "update_time", BULK_TIME },
};
static const struct bulk_column script_columns[] = {
    { "id", BULK_I64 },           { "job_id", BULK_I64 },       { "glue_type", BULK_TEXT },
    { "glue_source", BULK_TEXT }, { "glue_remark", BULK_TEXT }, { "add_time", BULK_TIME },
    { "update_time", BULK_TIME },
};
static const struct bulk_column user_columns[] = {
    { "id", BULK_I64 },   { "username", BULK_TEXT },   { "password", BULK_TEXT },
    { "role", BULK_I64 }, { "permission", BULK_TEXT },
};
static const struct bulk_column due_columns[] = {
    { "job_id", BULK_I64 },
    { "next_ms", BULK_I64 },
    { "last_ms", BULK_I64 },
    { "version", BULK_I64 },
};
static const struct bulk_column log_columns[] = {
    { "id", BULK_I64 },
    { "job_group", BULK_I64 },
    { "job_id", BULK_I64 },
    { "executor_address", BULK_TEXT },
    { "executor_handler", BULK_TEXT },
    { "executor_param", BULK_TEXT },
    { "executor_sharding_param", BULK_TEXT },
    { "executor_fail_retry_count", BULK_I64 },
    { "trigger_time", BULK_TIME },
    { "trigger_code", BULK_I64 },
    { "trigger_msg", BULK_TEXT },
    { "handle_time", BULK_TIME },
    { "handle_code", BULK_I64 },
    { "handle_msg", BULK_TEXT },
    { "alarm_status", BULK_I64 },
};
#define TABLE(name, columns)                                                                       \
    {                                                                                              \
        name, columns, (int)countof(columns), 1                                                    \
    }

const char *const xxl_table_names[XXL_IMPORT_TABLES] = {
    [XXL_LOG] = "log rows",           [XXL_GROUPS] = "groups",   [XXL_JOBS] = "jobs",
    [XXL_DUE] = "next times",         [XXL_SCRIPTS] = "scripts", [XXL_USERS] = "users",
    [XXL_REGISTRY] = "registrations",
};

void xxl_rows_make(struct xxl_rows *p)
{
    int n = 0;
    p->job_columns[n++] = (struct bulk_column){ "id", BULK_I64 };
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if (c->table != JOB_INFO)
            continue;
        if (strcmp(c->name, "trigger_status") == 0)
            p->status = n;
        enum bulk_type type = c->type >= JOB_TEXT   ? BULK_TEXT
                              : c->type == JOB_TIME ? BULK_TIME
                                                    : BULK_I64;
        p->job_columns[n++] = (struct bulk_column){ c->name, type };
    }
    const struct bulk_table tables[XXL_IMPORT_TABLES] = {
        [XXL_LOG] = TABLE("xxl_job_log", log_columns),
        [XXL_GROUPS] = TABLE("xxl_job_group", group_columns),
        [XXL_JOBS] = { "xxl_job_info", p->job_columns, n, 1 },
        [XXL_DUE] = TABLE("peal_due", due_columns),
        [XXL_SCRIPTS] = TABLE("xxl_job_logglue", script_columns),
        [XXL_USERS] = TABLE("xxl_job_user", user_columns),
        [XXL_REGISTRY] = TABLE("xxl_job_registry", registry_columns),
    };
    memcpy(p->tables, tables, sizeof(tables));
}

/* The name of a column in the source. */
static const char *source_name(const struct layout *l, int table, const char *name)
{
    if (table == XXL_GROUPS && strcmp(name, "title") == 0)
        return l->group_name;
    if (table == XXL_JOBS && strcmp(name, "job_desc") == 0)
        return l->job_name;
    return name;
}

void xxl_rows_select(struct buf *sql, const struct xxl_rows *p, const struct layout *l, int table)
{
    const struct bulk_table *t = &p->tables[table];
    if (table == XXL_DUE) {
        buf_text(sql, "SELECT id, IF(trigger_status = 1, GREATEST(trigger_next_time, 1), NULL), "
                      "trigger_last_time, 1 FROM xxl_job_info");
        return;
    }
    if (table == XXL_REGISTRY) { /* before 2.5 a registration may have several rows */
        buf_text(sql, "SELECT MIN(id), registry_group, registry_key, registry_value, "
                      "MAX(update_time) FROM xxl_job_registry GROUP BY registry_group, "
                      "registry_key, registry_value");
        return;
    }
    buf_text(sql, "SELECT ");
    for (int i = 0; i < t->n; i++)
        buf_printf(sql, "%s%s", i ? ", " : "", source_name(l, table, t->columns[i].name));
    buf_printf(sql, " FROM %s", t->name);
}

/* ---- values ---------------------------------------------------------------------------------- */

static enum err bad_value(const struct xxl_rows *p, int table, struct slice id, int column,
                          const char *problem, struct why *why)
{
    why_set(why, "%s, id %.*s: column %s %s", xxl_table_names[table], (int)id.n, id.p ? id.p : "",
            p->tables[table].columns[column].name, problem);
    return ERR_INVALID;
}

enum err xxl_row_take(const struct xxl_rows *p, int table, const struct zone *zone,
                      const struct slice *from, struct xxl_row *ret, struct why *why)
{
    *ret = (struct xxl_row){ .texts = { NULL } };
    for (int i = 0; i < p->tables[table].n; i++) {
        enum bulk_type type = p->tables[table].columns[i].type;
        struct bulk_value *to = &ret->values[i];
        struct slice v = from[i];
        *to = (struct bulk_value){ .null = v.p == NULL };
        if (to->null)
            continue;
        if (type == BULK_I64 && !parse_i64(v, &to->number))
            return bad_value(p, table, from[0], i, "is no whole number", why);
        if (type == BULK_TEXT && memchr(v.p, '\0', v.n))
            return bad_value(p, table, from[0], i, "holds a NUL", why);
        if (type == BULK_TEXT)
            to->text = ret->texts[i] = mem_dupn(v.p, v.n);
        if (type == BULK_TIME) {
            v.n = v.n > 19 ? 19 : v.n;                                   /* without a fraction */
            to->null = walltime_parse(v, zone, &to->number, NULL) != OK; /* 0000-00-00 */
        }
    }
    return OK;
}

void xxl_row_done(struct xxl_row *row)
{
    for (int i = 0; i < BULK_COLUMNS_MAX; i++)
        free(row->texts[i]);
}
