/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: rules of alarms, what they have found, and what was told of it. */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "store/memory/memory.h"

static enum err none(const char *what, int64_t id, struct why *why)
{
    why_set(why, "%s %lld does not exist", what, (long long)id);
    return ERR_NOTFOUND;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static struct rule_record *rule_new(const struct rule_record *from)
{
    struct rule_record *r = mem_new(sizeof(*r));
    rule_record_copy(r, from);
    return r;
}

static enum err memory_rules_each(struct store *s, rule_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    size_t n;
    int64_t *keys = mem_keys(memory_of(s), T_RULE, &n);
    bool more = true;
    for (size_t i = 0; more && i < n; i++)
        more = fn(ctx, mem_find(memory_of(s), T_RULE, keys[i]));
    free(keys);
    return OK;
}

static enum err memory_rule_get(struct store *s, int64_t id, struct rule_record *ret,
                                struct why *why)
{
    const struct rule_record *r = mem_find(memory_of(s), T_RULE, id);
    if (!r)
        return none("rule", id, why);
    rule_record_copy(ret, r);
    return OK;
}

static enum err memory_rule_insert(struct store *s, struct rule_record *r, struct why *why)
{
    (void)why;
    r->id = mem_next_id(memory_of(s), T_RULE);
    mem_put(memory_of(s), T_RULE, r->id, rule_new(r));
    return OK;
}

static enum err memory_rule_update(struct store *s, const struct rule_record *r, struct why *why)
{
    if (!mem_find(memory_of(s), T_RULE, r->id))
        return none("rule", r->id, why);
    mem_put(memory_of(s), T_RULE, r->id, rule_new(r));
    return OK;
}

static enum err memory_rule_delete(struct store *s, int64_t id, struct why *why)
{
    if (!mem_find(memory_of(s), T_RULE, id))
        return none("rule", id, why);
    mem_put(memory_of(s), T_RULE, id, NULL);
    return OK;
}

static enum err memory_rule_lock(struct store *s, int64_t id, struct why *why)
{
    (void)s;
    (void)id;
    (void)why;
    return OK;
}

/* ---- alarms ---------------------------------------------------------------------------------- */

static struct incident_record *incident_new(const struct incident_record *from)
{
    struct incident_record *r = mem_new(sizeof(*r));
    incident_record_copy(r, from);
    return r;
}

static enum err memory_incident_get(struct store *s, int64_t id, struct incident_record *ret,
                                    struct why *why)
{
    const struct incident_record *r = mem_find(memory_of(s), T_INCIDENT, id);
    if (!r)
        return none("alarm", id, why);
    incident_record_copy(ret, r);
    return OK;
}

static enum err memory_incident_find(struct store *s, int64_t rule_id, int64_t group_id,
                                     enum incident_cause cause, const char *address,
                                     struct incident_record *ret, struct why *why)
{
    (void)why;
    const struct incident_record *found = NULL, *r;
    void *row;
    for (size_t i = 0; map_next(&memory_of(s)->tables[T_INCIDENT], &i, &row);) {
        r = row;
        if (r->closed_ms < 0 && r->rule_id == rule_id && r->group_id == group_id &&
            r->cause == cause && strcmp(r->address, address) == 0 && (!found || r->id > found->id))
            found = r;
    }
    if (!found)
        return ERR_NOTFOUND;
    incident_record_copy(ret, found);
    return OK;
}

static enum err memory_incident_insert(struct store *s, struct incident_record *r, struct why *why)
{
    (void)why;
    r->id = mem_next_id(memory_of(s), T_INCIDENT);
    struct incident_record *row = incident_new(r);
    if (!row->address)
        row->address = mem_dup("");
    if (!row->text)
        row->text = mem_dup("");
    mem_put(memory_of(s), T_INCIDENT, r->id, row);
    return OK;
}

static enum err memory_incident_update(struct store *s, const struct incident_record *r,
                                       struct why *why)
{
    const struct incident_record *old = mem_find(memory_of(s), T_INCIDENT, r->id);
    if (!old)
        return none("alarm", r->id, why);
    struct incident_record now = *r;
    now.rule_id = old->rule_id;
    now.group_id = old->group_id;
    now.kind = old->kind;
    now.level = old->level;
    now.cause = old->cause;
    now.address = old->address;
    now.since_ms = old->since_ms;
    now.log_id = old->log_id;
    now.text = old->text;
    mem_put(memory_of(s), T_INCIDENT, r->id, incident_new(&now));
    return OK;
}

static enum err memory_incidents_unsettled(struct store *s, int64_t after_id, int max,
                                           incident_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    size_t n;
    int64_t *keys = mem_keys(memory_of(s), T_INCIDENT, &n);
    for (size_t i = 0; max > 0 && i < n; i++) {
        const struct incident_record *r = mem_find(memory_of(s), T_INCIDENT, keys[i]);
        if (r->id <= after_id || r->settled)
            continue;
        max = fn(ctx, r) ? max - 1 : 0;
    }
    free(keys);
    return OK;
}

static bool filter_has(const struct incidents_filter *f, const struct incident_record *r)
{
    return (f->rule_id <= 0 || r->rule_id == f->rule_id) &&
           (f->open < 0 || (f->open > 0) == (r->closed_ms < 0)) &&
           (scope_is_all(f->scope) || scope_has(f->scope, r->group_id));
}

static enum err memory_incidents_page(struct store *s, const struct incidents_filter *f,
                                      incident_row_fn *fn, void *ctx, int64_t *ret_total,
                                      struct why *why)
{
    (void)why;
    size_t n;
    int64_t *keys = mem_keys(memory_of(s), T_INCIDENT, &n), left = f->limit;
    *ret_total = 0;
    for (size_t i = n; i-- > 0;) {
        const struct incident_record *r = mem_find(memory_of(s), T_INCIDENT, keys[i]);
        if (!filter_has(f, r))
            continue;
        ++*ret_total;
        if (left > 0 && r->id < f->below_id)
            left = fn(ctx, r) ? left - 1 : 0;
    }
    free(keys);
    return OK;
}

/* ---- their jobs ------------------------------------------------------------------------------ */

static struct mem_incident_job *job_find(const struct memory *m, int64_t incident_id,
                                         int64_t job_id)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_INCIDENT_JOB], &i, &row);) {
        struct mem_incident_job *j = row;
        if (j->row.incident_id == incident_id && j->row.job_id == job_id)
            return j;
    }
    return NULL;
}

static enum err memory_incident_job_put(struct store *s, const struct incident_job *j,
                                        struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct mem_incident_job *old = job_find(m, j->incident_id, j->job_id);
    struct mem_incident_job *row = mem_new(sizeof(*row));
    row->id = old ? old->id : mem_next_id(m, T_INCIDENT_JOB);
    incident_job_copy(&row->row, j);
    if (!row->row.text)
        row->row.text = mem_dup("");
    mem_put(m, T_INCIDENT_JOB, row->id, row);
    return OK;
}

static enum err memory_incident_job_get(struct store *s, int64_t incident_id, int64_t job_id,
                                        struct incident_job *ret, struct why *why)
{
    (void)why;
    const struct mem_incident_job *row = job_find(memory_of(s), incident_id, job_id);
    if (!row)
        return ERR_NOTFOUND;
    incident_job_copy(ret, &row->row);
    return OK;
}

static int order(const struct incident_job *a, const struct incident_job *b)
{
    bool x = a->closed_ms >= 0, y = b->closed_ms >= 0;
    if (x != y)
        return x ? 1 : -1;
    if (a->job_id != b->job_id)
        return a->job_id < b->job_id ? -1 : 1;
    return a->incident_id < b->incident_id ? -1 : a->incident_id > b->incident_id;
}

static int by_state(const void *a, const void *b)
{
    return order(&(*(const struct mem_incident_job *const *)a)->row,
                 &(*(const struct mem_incident_job *const *)b)->row);
}

/* Those of an incident (any state), or open ones of a job. */
static void jobs_each(const struct memory *m, int64_t incident_id, int64_t job_id, int max,
                      incident_job_row_fn *fn, void *ctx)
{
    const struct map *t = &m->tables[T_INCIDENT_JOB];
    const struct mem_incident_job **found = mem_new((t->len + 1) * sizeof(void *));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(t, &i, &row);) {
        const struct incident_job *j = &((struct mem_incident_job *)row)->row;
        if (incident_id ? j->incident_id == incident_id : j->job_id == job_id && j->closed_ms < 0)
            found[n++] = row;
    }
    qsort(found, n, sizeof(*found), by_state);
    for (size_t i = 0; i < n && max-- > 0 && fn(ctx, &found[i]->row); i++)
        ;
    free(found);
}

static enum err memory_incident_jobs_each(struct store *s, int64_t incident_id, int max,
                                          incident_job_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    jobs_each(memory_of(s), incident_id, 0, max, fn, ctx);
    return OK;
}

static enum err memory_incident_jobs_open(struct store *s, int64_t job_id, incident_job_row_fn *fn,
                                          void *ctx, struct why *why)
{
    (void)why;
    jobs_each(memory_of(s), 0, job_id, INT32_MAX, fn, ctx);
    return OK;
}

static enum err memory_incident_jobs_unsettled(struct store *s, job_id_fn *fn, void *ctx,
                                               struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    struct map jobs;
    void *row;
    map_init(&jobs);
    bool more = true;
    for (size_t k = 0; more && map_next(&m->tables[T_INCIDENT_JOB], &k, &row);) {
        const struct incident_job *j = &((const struct mem_incident_job *)row)->row;
        const struct incident_record *i = mem_find(m, T_INCIDENT, j->incident_id);
        if (j->closed_ms >= 0 || !i || i->settled || map_find(&jobs, (uint64_t)j->job_id))
            continue;
        map_set(&jobs, (uint64_t)j->job_id, row);
        more = fn(ctx, j->job_id);
    }
    map_done(&jobs);
    return OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

static enum err memory_tell_insert(struct store *s, struct tell_record *r, struct why *why)
{
    (void)why;
    struct tell_record *row = mem_new(sizeof(*row));
    r->id = mem_next_id(memory_of(s), T_TELL);
    *row = *r;
    mem_put(memory_of(s), T_TELL, r->id, row);
    return OK;
}

static enum err memory_tell_get(struct store *s, int64_t id, struct tell_record *ret,
                                struct why *why)
{
    const struct tell_record *r = mem_find(memory_of(s), T_TELL, id);
    if (!r)
        return none("message", id, why);
    *ret = *r;
    return OK;
}

/* ---- states that rules look for -------------------------------------------------------------- */

struct late {
    int64_t job_id, at_ms;
};

static int by_job(const void *a, const void *b)
{
    const struct late *x = a, *y = b;
    if (x->job_id != y->job_id)
        return x->job_id < y->job_id ? -1 : 1;
    return x->at_ms < y->at_ms ? -1 : x->at_ms > y->at_ms;
}

static enum err memory_jobs_late(struct store *s, int64_t until_ms, int max, job_late_fn *fn,
                                 void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    struct late *found =
        mem_new((m->tables[T_RUN].len + m->tables[T_DUE].len + 1) * sizeof(*found));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_RUN], &i, &row);) {
        const struct run_row *r = &((const struct mem_run *)row)->row;
        if (r->phase == PHASE_PLANNED && r->kind <= KIND_MISFIRE && r->scheduled_ms <= until_ms)
            found[n++] = (struct late){ r->job_id, r->scheduled_ms };
    }
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        if (d->next_ms <= until_ms)
            found[n++] = (struct late){ d->job_id, d->next_ms };
    }
    qsort(found, n, sizeof(*found), by_job);
    bool more = true;
    for (size_t i = 0; more && i < n && max > 0; i++) {
        if (i && found[i].job_id == found[i - 1].job_id)
            continue;
        more = fn(ctx, found[i].job_id, found[i].at_ms);
        max--;
    }
    free(found);
    return OK;
}

static int by_age(const void *a, const void *b)
{
    const struct mem_skip *x = *(const struct mem_skip *const *)a;
    const struct mem_skip *y = *(const struct mem_skip *const *)b;
    if (x->row.to_ms != y->row.to_ms)
        return x->row.to_ms < y->row.to_ms ? 1 : -1;
    return x->id < y->id ? 1 : -1;
}

static enum err memory_skips_newest(struct store *s, int max, skip_row_fn *fn, void *ctx,
                                    struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    const struct mem_skip **rows = mem_new((m->tables[T_SKIP].len + 1) * sizeof(*rows));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_SKIP], &i, &row);)
        rows[n++] = row;
    qsort(rows, n, sizeof(*rows), by_age);
    for (size_t i = 0; i < n && (int)i < max; i++)
        if (!fn(ctx, rows[i]->id, &rows[i]->row))
            break;
    free(rows);
    return OK;
}

static enum err memory_group_enabled(struct store *s, int64_t group_id, bool *ret, struct why *why)
{
    (void)why;
    void *row;
    *ret = false;
    for (size_t i = 0; !*ret && map_next(&memory_of(s)->tables[T_JOB], &i, &row);) {
        const struct job_record *j = row;
        *ret = j->group_id == group_id && j->enabled;
    }
    return OK;
}

/* ---- silences -------------------------------------------------------------------------------- */

static enum err memory_silences_each(struct store *s, silence_row_fn *fn, void *ctx,
                                     struct why *why)
{
    (void)why;
    size_t n;
    int64_t *keys = mem_keys(memory_of(s), T_SILENCE, &n);
    bool more = true;
    for (size_t i = 0; more && i < n; i++)
        more = fn(ctx, mem_find(memory_of(s), T_SILENCE, keys[i]));
    free(keys);
    return OK;
}

static enum err memory_silence_insert(struct store *s, struct silence_record *r, struct why *why)
{
    (void)why;
    struct silence_record *row = mem_new(sizeof(*row));
    r->id = mem_next_id(memory_of(s), T_SILENCE);
    silence_record_copy(row, r);
    mem_put(memory_of(s), T_SILENCE, r->id, row);
    return OK;
}

static enum err memory_silence_delete(struct store *s, int64_t id, struct why *why)
{
    if (!mem_find(memory_of(s), T_SILENCE, id))
        return none("silence", id, why);
    mem_put(memory_of(s), T_SILENCE, id, NULL);
    return OK;
}

static enum err memory_silences_expire(struct store *s, int64_t before_ms, struct why *why)
{
    (void)why;
    size_t n;
    int64_t *keys = mem_keys(memory_of(s), T_SILENCE, &n);
    for (size_t i = 0; i < n; i++) {
        const struct silence_record *r = mem_find(memory_of(s), T_SILENCE, keys[i]);
        if (r->until_ms < before_ms)
            mem_put(memory_of(s), T_SILENCE, keys[i], NULL);
    }
    free(keys);
    return OK;
}

/* ---- what goes ------------------------------------------------------------------------------- */

static void forget_of(struct memory *m, enum mem_table t, int64_t incident_id)
{
    size_t n;
    int64_t *keys = mem_keys(m, t, &n);
    for (size_t i = 0; i < n; i++) {
        const void *row = mem_find(m, t, keys[i]);
        int64_t of = t == T_TELL ? ((const struct tell_record *)row)->incident_id
                                 : ((const struct mem_incident_job *)row)->row.incident_id;
        if (of == incident_id)
            mem_put(m, t, keys[i], NULL);
    }
    free(keys);
}

static enum err memory_incidents_purge(struct store *s, int64_t before_ms, int max, bool *ret_more,
                                       struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    int gone = 0;
    int64_t *keys = mem_keys(m, T_INCIDENT, &n);
    for (size_t i = 0; gone < max && i < n; i++) {
        const struct incident_record *r = mem_find(m, T_INCIDENT, keys[i]);
        if (!r->settled || r->closed_ms < 0 || r->closed_ms >= before_ms)
            continue;
        forget_of(m, T_INCIDENT_JOB, keys[i]);
        forget_of(m, T_TELL, keys[i]);
        mem_put(m, T_INCIDENT, keys[i], NULL);
        gone++;
    }
    free(keys);
    *ret_more = gone >= max;
    return OK;
}

const struct store_rules memory_rules = {
    .rules_each = memory_rules_each,
    .rule_get = memory_rule_get,
    .rule_insert = memory_rule_insert,
    .rule_update = memory_rule_update,
    .rule_delete = memory_rule_delete,
    .rule_lock = memory_rule_lock,
    .incident_get = memory_incident_get,
    .incident_find = memory_incident_find,
    .incident_insert = memory_incident_insert,
    .incident_update = memory_incident_update,
    .incidents_unsettled = memory_incidents_unsettled,
    .incidents_page = memory_incidents_page,
    .incidents_purge = memory_incidents_purge,
    .incident_job_put = memory_incident_job_put,
    .incident_job_get = memory_incident_job_get,
    .incident_jobs_each = memory_incident_jobs_each,
    .incident_jobs_open = memory_incident_jobs_open,
    .incident_jobs_unsettled = memory_incident_jobs_unsettled,
    .tell_insert = memory_tell_insert,
    .tell_get = memory_tell_get,
    .jobs_late = memory_jobs_late,
    .skips_newest = memory_skips_newest,
    .group_enabled = memory_group_enabled,
    .silences_each = memory_silences_each,
    .silence_insert = memory_silence_insert,
    .silence_delete = memory_silence_delete,
    .silences_expire = memory_silences_expire,
};
