/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: planning and the ledger. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include "store/shared.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_own(const struct memory *m, const struct due_row *d)
{
    return !m->at->homed || d->home == m->at->home;
}

/* Those of own homes, or of the others, that no other transaction holds. */
static size_t due_of(const struct memory *m, const struct due_row *from, size_t n, bool own,
                     struct due_row *ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool wanted = is_own(m, &from[i]) == own && (own || from[i].next_ms <= m->at->claim_ms);
        if (wanted && !mem_held(m, T_DUE, from[i].job_id))
            ret[kept++] = from[i];
    }
    return kept;
}

static int64_t next_behind(const struct memory *m, int64_t until_ms)
{
    int64_t next_ms = NEVER_MS;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        if (is_own(m, d) && d->next_ms > until_ms && d->next_ms < next_ms)
            next_ms = d->next_ms;
    }
    return next_ms;
}

static enum err memory_due_take(struct store *s, int64_t from_ms, int64_t until_ms, int max,
                                struct due_row *rows, int *ret_n, int64_t *ret_next_ms,
                                struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    struct due_row *found = due_until(m, from_ms, until_ms, &n),
                   *ours = mem_new((n + 1) * sizeof(*ours));
    size_t own = due_of(m, found, n, true, ours);
    *ret_next_ms = (size_t)max < own ? ours[max].next_ms : next_behind(m, until_ms);
    n = own + due_of(m, found, n, false, ours + own);
    *ret_n = n < (size_t)max ? (int)n : max;
    for (int i = 0; i < *ret_n; i++) {
        rows[i] = ours[i];
        rows[i].home = 0;
        (void)mem_lock(m, T_DUE, rows[i].job_id);
    }
    free(ours);
    free(found);
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
        d->home = m->at->homed ? rows[i].home : 0;
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

struct mem_run *mem_run_copy(const struct run_row *from, int64_t node, int64_t epoch)
{
    struct mem_run *r = mem_new(sizeof(*r));
    r->row = *from;
    r->row.handler = r->row.param = NULL;
    r->row.address = mem_dup(from->address);
    r->row.choices = mem_dup(from->choices);
    r->node = node;
    r->epoch = epoch;
    r->told = from->version;
    return r;
}

static bool same_run(const void *row, const void *arg)
{
    const struct run_row *a = &((const struct mem_run *)row)->row, *b = arg;
    return a->job_id == b->job_id && a->kind == b->kind && a->scheduled_ms == b->scheduled_ms &&
           a->shard == b->shard && a->attempt == b->attempt && a->cause == b->cause;
}

static enum err memory_runs_add(struct store *s, struct run_row *rows, int n, struct why *why)
{
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        struct run_row *r = &rows[i];
        if (mem_lifted(m, T_RUN, same_run, r))
            return mem_busy(m, why); /* that transaction would have to be waited for */
        if (mem_run_same(m, r)) {
            r->log_id = -1;
            continue;
        }
        r->log_id = mem_next_id(m, T_LOG);
        mem_put(m, T_RUN, r->log_id, mem_run_copy(r, m->at->node, m->at->epoch));
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
    struct mem_run *r = mem_run_copy(&old->row, old->node, old->epoch);
    r->told = c->what & CHANGE_VERSION ? c->version : old->told;
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

#define LOG_PARTS (CHANGE_ADDRESS | CHANGE_TASK | CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_ALARM)

static void change_log(struct memory *m, const struct run_change *c)
{
    const struct log_record *old = mem_find(m, T_LOG, c->log_id);
    if (!old || !(c->what & LOG_PARTS))
        return;
    struct log_record *l = mem_log_copy(old);
    if (c->what & CHANGE_ADDRESS)
        text_replace(&l->address, c->address);
    if (c->what & CHANGE_TASK) {
        text_replace(&l->handler, c->handler);
        text_replace(&l->param, c->param);
    }
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

/* ---- start ----------------------------------------------------------------------------------- */

bool mem_run_lend(const struct memory *m, const struct mem_run *r, run_row_fn *fn, void *ctx)
{
    const struct log_record *l = mem_find(m, T_LOG, r->row.log_id);
    struct run_row lent = r->row;
    lent.handler = l ? l->handler : NULL;
    lent.param = l ? l->param : NULL;
    lent.log_ms = l ? l->trigger_ms : -1;
    const struct trace_root *trace = mem_find(m, T_TRACE, r->row.log_id);
    lent.trace = trace ? *trace : (struct trace_root){ .kind = TRACE_OWN };
    return fn(ctx, &lent);
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
        if (!m->shared || r->epoch == m->at->epoch)
            more = mem_run_lend(m, r, fn, ctx);
    }
    free(keys);
    return OK;
}

const struct store_runs memory_runs = {
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
