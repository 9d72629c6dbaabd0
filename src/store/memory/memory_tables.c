/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: the tables, and how each change of them is undone. All other files of this
 * folder stand on this one. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <assert.h>
#include <stdlib.h>

/* ---- rows ------------------------------------------------------------------------------------ */

void mem_row_free(enum mem_table t, void *row)
{
    switch (t) {
    case T_JOB:
        job_record_done(row);
        break;
    case T_LOG:
        log_record_done(row);
        break;
    case T_RUN:
        run_row_done(&((struct mem_run *)row)->row);
        break;
    case T_GROUP:
        group_record_done(row);
        break;
    case T_GROUP_MOVED:
        free(((struct mem_moved *)row)->address);
        break;
    case T_GROUP_TOKEN:
        group_token_done(row);
        break;
    case T_REGISTRY:
        registry_record_done(&((struct mem_registry *)row)->row);
        break;
    case T_USER:
        user_record_done(&((struct mem_user *)row)->row);
        free(((struct mem_user *)row)->legacy);
        break;
    case T_AUDIT:
        audit_record_done(row);
        break;
    case T_AUDIT_ITEM:
        free(((struct mem_audit_item *)row)->kind);
        free(((struct mem_audit_item *)row)->object);
        break;
    case T_IDEM:
        idem_record_done(row);
        break;
    case T_TOKEN:
        token_record_done(row);
        break;
    case T_SEQ:
        free(((struct mem_seq *)row)->name);
        break;
    case T_CLEAN:
        clean_request_done(row);
        break;
    case T_DELTA:
        free(((struct mem_delta *)row)->ends);
        break;
    case T_SCRIPT:
        script_record_done(row);
        break;
    case T_ALARM:
        alarm_record_done(row);
        break;
    case T_CHANNEL:
        channel_record_done(row);
        break;
    case T_DELIVERY:
        delivery_record_done(&((struct mem_delivery *)row)->row);
        break;
    case T_RULE:
        rule_record_done(row);
        break;
    case T_INCIDENT:
        incident_record_done(row);
        break;
    case T_SILENCE:
        silence_record_done(row);
        break;
    case T_INBOX:
        free(((struct inbox_row *)row)->msg);
        break;
    case T_INCIDENT_JOB:
        incident_job_done(&((struct mem_incident_job *)row)->row);
        break;
    default:
        break;
    }
    free(row);
}

struct log_record *mem_log_copy(const struct log_record *from)
{
    struct log_record *l = mem_new(sizeof(*l));
    *l = *from;
    l->address = mem_dup(from->address);
    l->handler = mem_dup(from->handler);
    l->param = mem_dup(from->param);
    l->sharding = mem_dup(from->sharding);
    l->trigger_msg = mem_dup(from->trigger_msg);
    l->handle_msg = mem_dup(from->handle_msg);
    return l;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static uint64_t lock_key(enum mem_table t, int64_t key)
{
    return hash_u64((uint64_t)key * 64 + (uint64_t)t);
}

bool mem_held(const struct memory *m, enum mem_table t, int64_t key)
{
    bool held = false;
    list_each(&m->sessions, n, tmp)
    {
        const struct mem_handle *h = container_of(n, struct mem_handle, in_db);
        if (h != m->at && h->in_transaction)
            held = held || map_find(&h->locks, lock_key(t, key));
    }
    return held;
}

bool mem_lock(struct memory *m, enum mem_table t, int64_t key)
{
    if (!m->shared)
        return true;
    bool held = mem_held(m, t, key);
    m->at->lost |= held;
    if (!held)
        map_set(&m->at->locks, lock_key(t, key), m);
    return !held;
}

bool mem_lifted(const struct memory *m, enum mem_table t, mem_match_fn *fn, const void *arg)
{
    bool found = false;
    list_each(&m->sessions, n, tmp)
    {
        const struct mem_handle *h = container_of(n, struct mem_handle, in_db);
        for (size_t i = 0; i < h->nlifted; i++)
            if (h->lifted[i].table == t && h->lifted[i].row)
                found = found || fn(h->lifted[i].row, arg);
    }
    return found;
}

enum err mem_busy(struct memory *m, struct why *why)
{
    m->at->lost = true;
    why_set(why, "another transaction holds a row that this one needs");
    return ERR_BUSY;
}

/* ---- tables --------------------------------------------------------------------------------- */

void *mem_find(const struct memory *m, enum mem_table t, int64_t key)
{
    return map_find(&m->tables[t], (uint64_t)key);
}

struct unique_key {
    int64_t job_id, scheduled_ms, cause;
    int32_t kind, shard, attempt, zero;
};

static struct slice unique_slice(const struct run_row *r, struct unique_key *key)
{
    *key = (struct unique_key){ r->job_id, r->scheduled_ms, r->cause, (int32_t)r->kind,
                                r->shard,  r->attempt,      0 };
    return slice_of((const char *)key, sizeof(*key));
}

struct mem_run *mem_run_same(const struct memory *m, const struct run_row *r)
{
    struct unique_key k;
    return textmap_find(&m->unique, unique_slice(r, &k));
}

/* Keeps the unique index in step. */
void *mem_swap(struct memory *m, enum mem_table t, uint64_t key, void *row)
{
    struct unique_key k;
    void *old = row ? map_set(&m->tables[t], key, row) : map_take(&m->tables[t], key);
    if (t == T_RUN && old)
        textmap_take(&m->unique, unique_slice(&((struct mem_run *)old)->row, &k));
    if (t == T_RUN && row)
        textmap_set(&m->unique, unique_slice(&((struct mem_run *)row)->row, &k), row);
    return old;
}

/* What other servers keep a copy of. Of registrations only those that come and go count. */
static bool is_told(enum mem_table t)
{
    return t == T_GROUP || t == T_GROUP_TOKEN || t == T_GROUP_MOVED || t == T_RULE ||
           t == T_CHANNEL;
}

void mem_put(struct memory *m, enum mem_table t, int64_t key, void *row)
{
    assert(m->in_transaction);
    (void)mem_lock(m, t, key);
    m->at->changed |= is_told(t);
    if (m->nundo == m->undo_cap) {
        m->undo_cap = m->undo_cap ? m->undo_cap * 2 : 64;
        m->undo = mem_resize(m->undo, m->undo_cap * sizeof(*m->undo));
    }
    void *old = mem_swap(m, t, (uint64_t)key, row);
    m->undo[m->nundo++] = (struct mem_undo){ t, (uint64_t)key, old };
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t row_key(enum mem_table t, const void *row)
{
    /* every row but a live run begins with its key */
    return t == T_RUN ? ((const struct mem_run *)row)->row.log_id : *(const int64_t *)row;
}

int64_t *mem_keys(const struct memory *m, enum mem_table t, size_t *ret_n)
{
    int64_t *keys = mem_new((m->tables[t].len + 1) * sizeof(*keys));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[t], &i, &row);)
        keys[n++] = row_key(t, row);
    qsort(keys, n, sizeof(*keys), compare_i64);
    *ret_n = n;
    return keys;
}

int64_t mem_next_id(struct memory *m, enum mem_table t)
{
    assert(m->in_transaction);
    return ++m->now.last_id[t];
}

/* ---- undoing --------------------------------------------------------------------------------- */

void mem_forget(struct memory *m)
{
    for (size_t i = 0; i < m->nundo; i++)
        if (m->undo[i].old)
            mem_row_free(m->undo[i].table, m->undo[i].old);
    m->nundo = m->nkept = 0;
}

void mem_undo(struct memory *m, size_t n)
{
    while (m->nundo > n) {
        struct mem_undo *u = &m->undo[--m->nundo];
        void *dropped = mem_swap(m, u->table, u->key, u->old);
        if (dropped)
            mem_row_free(u->table, dropped);
    }
}
