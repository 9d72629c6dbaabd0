/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: transactions, planning and the ledger. Every scan is linear, which suits
 * the few hundred jobs of a simulated cluster; orders are those of the SQL engines, so that a
 * difference between the two shows in the common suite and not in a user's list. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include "store/shared.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- transactions ---------------------------------------------------------------------------- */

static enum err memory_begin(struct store *s, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(!m->in_transaction);
    m->in_transaction = true;
    m->saving = false;
    m->before = m->now;
    return OK;
}

static void memory_watermark_put(struct memory *m, const struct watermark *watermark)
{
    int64_t until_ms = m->now.watermark.until_ms, batch = m->now.watermark.batch;
    m->now.watermark = *watermark;
    m->now.watermark.batch = batch;
    if (until_ms > watermark->until_ms)
        m->now.watermark.until_ms = until_ms;
    m->now.watermark.clean = false;
}

static enum err memory_commit(struct store *s, const struct commit *c, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(m->in_transaction);
    for (int i = 0; c && i < TOTAL_COUNT; i++)
        m->now.totals.n[i] += c->totals.n[i];
    if (c && c->watermark.until_ms)
        memory_watermark_put(m, &c->watermark);
    if (c && c->clean)
        m->now.watermark.clean = true;
    m->now.watermark.batch++;
    m->nkept = m->nundo;
    if (!m->keeping)
        mem_forget(m);
    m->in_transaction = false;
    return OK;
}

static void memory_rollback(struct store *s)
{
    struct memory *m = memory_of(s);
    if (!m->in_transaction)
        return;
    mem_undo(m, m->nkept);
    m->now = m->before;
    m->in_transaction = false;
}

static enum err memory_savepoint(struct store *s, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(m->in_transaction && !m->saving);
    m->saving = true;
    m->nsaved = m->nundo;
    m->saved = m->now;
    return OK;
}

static enum err memory_savepoint_keep(struct store *s, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(m->saving);
    m->saving = false;
    return OK;
}

static enum err memory_savepoint_undo(struct store *s, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(m->saving);
    m->saving = false;
    mem_undo(m, m->nsaved);
    m->now = m->saved;
    return OK;
}

void store_memory_backup(struct store *s, bool on)
{
    struct memory *m = memory_of(s);
    assert(!m->in_transaction);
    mem_forget(m);
    m->keeping = on;
    m->backup = m->now;
}

void store_memory_restore(struct store *s)
{
    struct memory *m = memory_of(s);
    assert(!m->in_transaction && m->keeping);
    mem_undo(m, 0);
    m->nkept = 0;
    m->now = m->backup;
    m->keeping = false;
}

static void memory_close(struct store *s)
{
    struct memory *m = memory_of(s);
    memory_rollback(s);
    mem_forget(m);
    for (int t = 0; t < T_COUNT; t++) {
        void *row;
        for (size_t i = 0; map_next(&m->tables[t], &i, &row);)
            mem_row_free((enum mem_table)t, row);
        map_done(&m->tables[t]);
    }
    textmap_done(&m->unique);
    free(m->undo);
    free(m);
}

/* ---- planning -------------------------------------------------------------------------------- */

static int compare_due(const void *a, const void *b)
{
    const struct due_row *x = a, *y = b;
    if (x->next_ms != y->next_ms)
        return x->next_ms < y->next_ms ? -1 : 1;
    return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

/* The due rows that are set and not later, in order; freed by the caller. */
static struct due_row *due_until(const struct memory *m, int64_t from_ms, int64_t to_ms,
                                 size_t *ret_n)
{
    struct due_row *found = mem_new((m->tables[T_DUE].len + 1) * sizeof(*found));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        if (d->next_ms != NEVER_MS && d->next_ms >= from_ms && d->next_ms <= to_ms)
            found[n++] = *d;
    }
    qsort(found, n, sizeof(*found), compare_due);
    *ret_n = n;
    return found;
}

static enum err memory_due_take(struct store *s, int64_t from_ms, int64_t until_ms, int max,
                                struct due_row *rows, int *ret_n, int64_t *ret_next_ms,
                                struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    struct due_row *found = due_until(m, from_ms, until_ms, &n);
    int taken = n < (size_t)max ? (int)n : max;
    memcpy(rows, found, (size_t)taken * sizeof(*rows));
    int64_t next_ms = NEVER_MS;
    if ((size_t)taken < n) {
        next_ms = found[taken].next_ms;
    } else {
        void *row;
        for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
            const struct due_row *d = row;
            if (d->next_ms > until_ms && d->next_ms < next_ms)
                next_ms = d->next_ms;
        }
    }
    free(found);
    *ret_n = taken;
    *ret_next_ms = next_ms;
    return OK;
}

static enum err memory_due_put(struct store *s, const struct due_row *rows, int n, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        const struct due_row *old = mem_find(m, T_DUE, rows[i].job_id);
        if (!old)
            continue;
        struct due_row *d = mem_new(sizeof(*d));
        *d = rows[i];
        d->version = old->version;
        mem_put(m, T_DUE, d->job_id, d);
    }
    return OK;
}

static int compare_id(const void *a, const void *b)
{
    const struct due_row *x = a, *y = b;
    return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

static bool of_type(const struct memory *m, int64_t job_id, bool rate)
{
    const struct job_record *j = mem_find(m, T_JOB, job_id);
    if (!j || !j->schedule_type)
        return false;
    if (!rate)
        return strcmp(j->schedule_type, "CRON") == 0;
    return strcmp(j->schedule_type, "FIX_RATE") == 0 || strcmp(j->schedule_type, "FIX_DELAY") == 0;
}

static enum err memory_due_each(struct store *s, bool rate, int64_t after_id, int max,
                                struct due_row *rows, int *ret_n, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n, kept = 0;
    struct due_row *found = due_until(m, INT64_MIN, NEVER_MS - 1, &n);
    for (size_t i = 0; i < n; i++)
        if (found[i].job_id > after_id && of_type(m, found[i].job_id, rate))
            found[kept++] = found[i];
    qsort(found, kept, sizeof(*found), compare_id);
    *ret_n = kept < (size_t)max ? (int)kept : max;
    memcpy(rows, found, (size_t)*ret_n * sizeof(*rows));
    free(found);
    return OK;
}

/* ---- the ledger ------------------------------------------------------------------------------ */

static struct log_record *log_of_run(const struct run_row *r)
{
    char sharding[24];
    struct log_record *l = mem_new(sizeof(*l));
    l->id = r->log_id;
    l->group_id = r->group_id;
    l->job_id = r->job_id;
    l->address = mem_dup(r->address);
    l->handler = mem_dup(r->handler);
    l->param = mem_dup(r->param);
    l->sharding = mem_dup(store_sharding(r, sharding, sizeof(sharding)));
    l->retries = r->retries_left;
    l->trigger_ms = run_log_ms(r->kind, r->scheduled_ms, r->due_ms);
    l->trigger_msg = mem_dup(store_kind_text(r->kind));
    l->handle_ms = -1;
    return l;
}

static struct mem_run *run_copy(const struct run_row *from, int64_t node, int64_t epoch)
{
    struct mem_run *r = mem_new(sizeof(*r));
    r->row = *from;
    r->row.handler = r->row.param = NULL;
    r->row.address = mem_dup(from->address);
    r->row.choices = mem_dup(from->choices);
    r->node = node;
    r->epoch = epoch;
    return r;
}

static enum err memory_runs_add(struct store *s, struct run_row *rows, int n, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        struct run_row *r = &rows[i];
        if (mem_run_same(m, r)) {
            r->log_id = -1;
            continue;
        }
        r->log_id = mem_next_id(m, T_LOG);
        mem_put(m, T_RUN, r->log_id, run_copy(r, m->node, m->epoch));
        mem_put(m, T_LOG, r->log_id, log_of_run(r));
    }
    return OK;
}

static void text_replace(char **to, const char *text)
{
    free(*to);
    *to = mem_dup(text);
}

static void change_live(struct memory *m, const struct mem_run *old, const struct run_change *c)
{
    if (c->what & (CHANGE_CLOSE | CHANGE_DROP)) {
        mem_put(m, T_RUN, c->log_id, NULL);
        return;
    }
    if (!(c->what & (CHANGE_PHASE | CHANGE_ADDRESS | CHANGE_VERSION)))
        return;
    struct mem_run *r = run_copy(&old->row, old->node, old->epoch);
    if (c->what & CHANGE_PHASE) {
        r->row.phase = c->phase;
        r->row.doubted = c->doubted;
    }
    if (c->what & CHANGE_ADDRESS)
        text_replace(&r->row.address, c->address);
    if (c->what & CHANGE_VERSION)
        r->row.version = c->version;
    mem_put(m, T_RUN, c->log_id, r);
}

static void change_log(struct memory *m, const struct run_change *c)
{
    const struct log_record *old = mem_find(m, T_LOG, c->log_id);
    if (!old || !(c->what & (CHANGE_ADDRESS | CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_ALARM)))
        return;
    struct log_record *l = mem_log_copy(old);
    if (c->what & CHANGE_ADDRESS)
        text_replace(&l->address, c->address);
    if (c->what & CHANGE_TRIGGER) {
        l->trigger_code = c->trigger_code;
        if (c->trigger_msg) {
            free(l->trigger_msg);
            l->trigger_msg = store_trigger_text(c->kind, c->trigger_msg);
        }
    }
    if (c->what & CHANGE_FINISH) {
        l->handle_code = c->handle_code;
        l->handle_ms = c->handle_ms;
        if (c->handle_msg)
            text_replace(&l->handle_msg, c->handle_msg);
    }
    bool told =
        l->alarm_status != ALARM_UNSEEN && (c->quiet || l->alarm_status != ALARM_NOT_NEEDED);
    if (c->what & CHANGE_ALARM && !told)
        l->alarm_status = c->quiet ? ALARM_NOT_NEEDED : ALARM_CLAIMED;
    mem_put(m, T_LOG, c->log_id, l);
}

static enum err memory_runs_change(struct store *s, struct run_change *changes, int n,
                                   int64_t *ret_missed, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    *ret_missed = 0;
    for (int i = 0; i < n; i++) {
        const struct mem_run *old = mem_find(m, T_RUN, changes[i].log_id);
        changes[i].missing = !old;
        *ret_missed += !old;
        if (!old)
            continue;
        change_live(m, old, &changes[i]);
        if (changes[i].what & CHANGE_DROP)
            mem_log_gone(m, changes[i].log_id);
        else
            change_log(m, &changes[i]);
    }
    return OK;
}

static const struct mem_skip *skip_latest(const struct memory *m, int64_t job_id)
{
    const struct mem_skip *latest = NULL;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_SKIP], &i, &row);) {
        const struct mem_skip *k = row;
        if (k->row.job_id == job_id && (!latest || k->id > latest->id))
            latest = k;
    }
    return latest;
}

static enum err memory_skips_add(struct store *s, const struct skip_row *rows, int n,
                                 struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        const struct mem_skip *old = rows[i].extend ? skip_latest(m, rows[i].job_id) : NULL;
        struct mem_skip *k = mem_new(sizeof(*k));
        if (old) {
            *k = *old;
            k->row.to_ms = rows[i].to_ms > k->row.to_ms ? rows[i].to_ms : k->row.to_ms;
            k->row.count += rows[i].count;
        } else {
            k->id = mem_next_id(m, T_SKIP);
            k->row = rows[i];
        }
        mem_put(m, T_SKIP, k->id, k);
    }
    return OK;
}

static enum err memory_late_add(struct store *s, struct late_result *late, int n, int *ret_noted,
                                struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    int noted = 0;
    for (int i = 0; i < n; i++) {
        const struct log_record *old = mem_find(m, T_LOG, late[i].log_id);
        if (!old || mem_find(m, T_RUN, late[i].log_id))
            continue;
        bool open = store_no_end(old->trigger_code, old->handle_code);
        if (!open && !store_given_up(old->handle_msg))
            continue;
        char *text = store_late_text(open ? STORE_NO_LIVE_ROW : old->handle_msg, &late[i]);
        if (!text)
            continue;
        struct log_record *l = mem_log_copy(old);
        if (open) {
            l->handle_code = late[i].code;
            l->handle_ms = late[i].at_ms;
        }
        free(l->handle_msg);
        l->handle_msg = text;
        mem_put(m, T_LOG, l->id, l);
        noted++;
    }
    *ret_noted = noted;
    return OK;
}

static enum err memory_seq_next(struct store *s, const char *name, int n, int64_t *ret_first,
                                struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct mem_seq *next = mem_new(sizeof(*next));
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_SEQ], &i, &row);)
        if (strcmp(((struct mem_seq *)row)->name, name) == 0)
            *next = *(struct mem_seq *)row;
    if (!next->id)
        next->id = mem_next_id(m, T_SEQ);
    next->name = mem_dup(name);
    *ret_first = next->value + 1;
    next->value += n;
    mem_put(m, T_SEQ, next->id, next);
    return OK;
}

/* ---- start ----------------------------------------------------------------------------------- */

static enum err memory_watermark_get(struct store *s, struct watermark *ret, struct why *why)
{
    (void)why;
    *ret = memory_of(s)->now.watermark;
    ret->last_id = memory_of(s)->now.last_id[T_LOG];
    return OK;
}

static enum err memory_totals_get(struct store *s, struct totals *ret, int64_t *ret_open,
                                  struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    int64_t open = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_RUN], &i, &row);)
        open += phase_open(((struct mem_run *)row)->row.phase);
    *ret = m->now.totals;
    *ret_open = open;
    return OK;
}

static enum err memory_runs_each(struct store *s, run_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_RUN, &n);
    bool more = true;
    for (size_t i = 0; i < n && more; i++) {
        const struct mem_run *r = mem_find(m, T_RUN, keys[i]);
        const struct log_record *l = mem_find(m, T_LOG, keys[i]);
        struct run_row lent = r->row;
        lent.handler = l ? l->handler : NULL;
        lent.param = l ? l->param : NULL;
        lent.log_ms = l ? l->trigger_ms : -1;
        const struct trace_root *trace = mem_find(m, T_TRACE, keys[i]);
        lent.trace = trace ? *trace : (struct trace_root){ .kind = TRACE_OWN };
        more = fn(ctx, &lent);
    }
    free(keys);
    return OK;
}

/* ---- the handle ------------------------------------------------------------------------------ */

static const struct store_txn txn = {
    .begin = memory_begin,
    .commit = memory_commit,
    .rollback = memory_rollback,
    .outcome = store_outcome_known,
    .savepoint = memory_savepoint,
    .savepoint_keep = memory_savepoint_keep,
    .savepoint_undo = memory_savepoint_undo,
    .seq_next = memory_seq_next,
    .watermark_get = memory_watermark_get,
    .totals_get = memory_totals_get,
};

static const struct store_runs runs = {
    .due_take = memory_due_take,
    .due_put = memory_due_put,
    .due_each = memory_due_each,
    .runs_add = memory_runs_add,
    .runs_change = memory_runs_change,
    .runs_each = memory_runs_each,
    .skips_add = memory_skips_add,
    .late_add = memory_late_add,
    .story_put = memory_story_put,
    .traces_put = memory_traces_put,
    .purge = memory_purge,
    .log_clean = memory_log_clean,
    .log_before = memory_log_before,
    .log_counts = memory_log_counts,
    .clean_add = memory_clean_add,
    .clean_first = memory_clean_first,
    .clean_put = memory_clean_put,
};

static const struct store_catalog catalog = {
    .job_get = memory_job_get,
    .jobs_get = memory_jobs_get,
    .jobs_stop = memory_jobs_stop,
    .job_insert = memory_job_insert,
    .job_update = memory_job_update,
    .job_delete = memory_job_delete,
    .scripts_each = memory_scripts_each,
    .script_get = memory_script_get,
    .script_add = memory_script_add,
    .group_get = memory_group_get,
    .groups_get = memory_groups_get,
    .group_jobs = memory_group_jobs,
    .job_parents = memory_job_parents,
    .groups_each = memory_groups_each,
    .group_insert = memory_group_insert,
    .group_update = memory_group_update,
    .group_delete = memory_group_delete,
    .group_token_get = memory_group_token_get,
    .group_token_put = memory_group_token_put,
    .group_tokens_each = memory_group_tokens_each,
    .group_moved_put = memory_group_moved_put,
    .group_moved_each = memory_group_moved_each,
    .registry_each = memory_registry_each,
    .registry_put = memory_registry_put,
    .registry_delete = memory_registry_delete,
};

static const struct store_users users = {
    .user_find = memory_user_find,
    .user_get = memory_user_get,
    .user_count = memory_user_count,
    .user_insert = memory_user_insert,
    .user_update = memory_user_update,
    .user_delete = memory_user_delete,
    .user_upgrade = memory_user_upgrade,
    .user_seen = memory_user_seen,
    .users_page = memory_users_page,
    .session_put = memory_session_put,
    .session_find = memory_session_find,
    .sessions_of = memory_sessions_of,
    .session_used = memory_session_used,
    .session_delete = memory_session_delete,
    .sessions_end = memory_sessions_end,
    .sessions_expire = memory_sessions_expire,
    .token_insert = memory_token_insert,
    .token_get = memory_token_get,
    .token_find = memory_token_find,
    .tokens_of = memory_tokens_of,
    .token_used = memory_token_used,
    .token_delete = memory_token_delete,
    .audit_add = memory_audit_add,
    .audit_item_add = memory_audit_item_add,
    .audit_page = memory_audit_page,
    .audit_get = memory_audit_get,
    .audit_expire = memory_audit_expire,
    .idem_find = memory_idem_find,
    .idem_insert = memory_idem_insert,
    .idem_answer = memory_idem_answer,
    .idem_delete = memory_idem_delete,
    .idem_expire = memory_idem_expire,
    .idem_made_get = memory_idem_made_get,
    .idem_made_put = memory_idem_made_put,
};

static const struct store_pages pages = {
    .jobs_page = memory_jobs_page,
    .logs_page = memory_logs_page,
    .runs_page = memory_runs_page,
    .groups_page = memory_groups_page,
    .log_get = memory_log_get,
    .story_get = memory_story_get,
    .trace_get = memory_trace_get,
    .retries_of = memory_retries_of,
    .children_of = memory_children_of,
    .facts = memory_facts,
};

const struct store_ops store_memory_ops = {
    .name = "memory",
    .close = memory_close,
    .txn = &txn,
    .runs = &runs,
    .catalog = &catalog,
    .users = &users,
    .pages = &pages,
    .figures = &memory_figures,
    .alarms = &memory_alarms,
    .rules = &memory_rules,
};

struct store *store_memory_new(const struct store_options *options)
{
    struct memory *m = mem_new(sizeof(*m));
    m->store.ops = &store_memory_ops;
    m->node = options ? options->node : 0;
    m->epoch = options ? options->epoch : 0;
    for (int t = 0; t < T_COUNT; t++)
        map_init(&m->tables[t]);
    textmap_init(&m->unique);
    return &m->store;
}

void store_memory_owner(struct store *s, int64_t node, int64_t epoch)
{
    assert(s->ops == &store_memory_ops);
    memory_of(s)->node = node;
    memory_of(s)->epoch = epoch;
}
