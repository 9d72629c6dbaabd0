/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a job as a table, made of job_columns.def, and what goes over all of them: a new
 * column is initialized, copied, freed and compared without another line here. */
#include "base/mem.h"
#include "model/job.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The words of job_columns.def, as parts of an initializer. */
#define NULLABLE .not_null = false
#define NOT_NULL .not_null = true
#define NO_DEFAULT .text = NULL
#define NUMBER(n) .number = (n)
#define STRING(s) .text = (s)
#define ANY .words = NULL
#define RANGE(from, to) .min = (from), .max = (to)
#define LENGTH(n) .max = (n)
#define WORDS(list) .words = (list)
#define HIDDEN .use = JOB_HIDDEN
#define SHOWN(field) .use = JOB_SHOWN, .form = (field)
#define ON_INSERT(field) .use = JOB_ON_INSERT, .form = (field)
#define TAKEN(field) .use = JOB_TAKEN, .form = (field)
#define NO_JSON .json = NULL
#define JSON(pointer) .json = (pointer)
#define KEEPS_PLAN .changes = 0
#define CHANGES_TIMES .changes = JOB_CHANGES_TIMES
#define CHANGES_EXECUTORS .changes = JOB_CHANGES_EXECUTORS
#define CHANGES_RUN .changes = JOB_CHANGES_RUN

const struct job_column job_columns[JOB_COLUMNS] = {
#define JOB_COLUMN(member, kind, where, column, nulls, otherwise, limits, field, pointer, edit,    \
                   on_insert, rule)                                                                \
    [JOB_COLUMN_##member] = { .name = (column),                                                    \
                              .type = JOB_##kind,                                                  \
                              .table = JOB_##where,                                                \
                              .offset = offsetof(struct job_record, member),                       \
                              nulls,                                                               \
                              otherwise,                                                           \
                              limits,                                                              \
                              field,                                                               \
                              pointer,                                                             \
                              edit },
#include "model/job_columns.def"
};

static const void *member(const struct job_record *r, const struct job_column *c)
{
    return (const char *)r + c->offset;
}

char **job_text(struct job_record *r, const struct job_column *c)
{
    return (char **)((char *)r + c->offset);
}

static const char *text_of(const struct job_record *r, const struct job_column *c)
{
    return *(char *const *)member(r, c);
}

const char *job_stored_text(const struct job_record *r, const struct job_column *c)
{
    const char *text = text_of(r, c);
    return text || !c->not_null ? text : c->text;
}

int64_t job_number(const struct job_record *r, const struct job_column *c)
{
    const void *at = member(r, c);
    switch (c->type) {
    case JOB_INT:
        return *(const int *)at;
    case JOB_BOOL:
        return *(const bool *)at;
    default:
        return *(const int64_t *)at;
    }
}

void job_number_set(struct job_record *r, const struct job_column *c, int64_t v)
{
    void *at = (char *)r + c->offset;
    switch (c->type) {
    case JOB_INT:
        *(int *)at = (int)v;
        break;
    case JOB_BOOL:
        *(bool *)at = v == 1;
        break;
    default:
        *(int64_t *)at = v;
    }
}

double *job_real(struct job_record *r, const struct job_column *c)
{
    return (double *)((char *)r + c->offset);
}

void job_record_init(struct job_record *r)
{
    memset(r, 0, sizeof(*r));
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if (c->type == JOB_REAL)
            *job_real(r, c) = (double)c->number;
        else if (c->type < JOB_TEXT)
            job_number_set(r, c, c->number);
    }
}

void job_record_done(struct job_record *r)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->type >= JOB_TEXT)
            free(*job_text(r, c));
    job_record_init(r);
}

void job_record_copy(struct job_record *to, const struct job_record *from)
{
    *to = *from;
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->type >= JOB_TEXT)
            *job_text(to, c) = mem_dup(text_of(from, c));
}

/* A row of another program has no word where it would stand for the default. */
static const char *meant(const struct job_record *r, const struct job_column *c)
{
    const char *text = text_of(r, c);
    if (c->type == JOB_WORD && (!text || !text[0]))
        text = c->text;
    return text ? text : "";
}

static bool same(const struct job_record *a, const struct job_record *b, const struct job_column *c)
{
    if (c->type == JOB_REAL)
        return *(const double *)member(a, c) == *(const double *)member(b, c);
    if (c->type < JOB_TEXT)
        return job_number(a, c) == job_number(b, c);
    return strcmp(meant(a, c), meant(b, c)) == 0;
}

unsigned job_record_changes(const struct job_record *before, const struct job_record *after)
{
    unsigned changes = 0;
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->changes && !same(before, after, c))
            changes |= c->changes;
    return changes;
}

struct due_row job_due(const struct job_record *r)
{
    return (struct due_row){ .job_id = r->id,
                             .next_ms = r->next_ms,
                             .last_ms = r->last_ms,
                             .planned_until_ms = r->planned_until_ms,
                             .version = r->version };
}

void job_due_set(struct job_record *r, const struct due_row *due)
{
    r->next_ms = due->next_ms;
    r->last_ms = due->last_ms;
    r->planned_until_ms = due->planned_until_ms;
    r->version = due->version;
}
