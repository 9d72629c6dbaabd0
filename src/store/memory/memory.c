/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: its tables of functions, and handles. Every scan is linear, which suits the
 * few hundred jobs of a simulated cluster; orders are those of the SQL engines, so that a
 * difference between the two shows in the common suite and not in a user's list. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <assert.h>
#include <stdlib.h>

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

/* ---- handles --------------------------------------------------------------------------------- */

static void memory_free(struct memory *m)
{
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

void store_memory_drop(struct store *s)
{
    struct memory *m = memory_of(s);
    struct mem_handle *h = m->at;
    memory_txn.rollback(s);
    m->at = NULL;
    mem_handle_free(h);
    if (list_empty(&m->sessions))
        memory_free(m);
}

static void memory_close(struct store *s)
{
    struct memory *m = memory_of(s);
    struct why why = { "" };
    memory_txn.rollback(s);
    if (m->at->joined) {
        m->at->leaving = true;
        (void)!memory_txn.begin(s, &why);
        if (memory_txn.commit(s, NULL, &why))
            memory_txn.rollback(s);
    }
    store_memory_drop(s);
}

const struct store_ops store_memory_ops = {
    .name = "memory",
    .close = memory_close,
    .txn = &memory_txn,
    .runs = &memory_runs,
    .catalog = &catalog,
    .users = &users,
    .pages = &pages,
    .figures = &memory_figures,
    .alarms = &memory_alarms,
    .rules = &memory_rules,
};

const struct store_ops store_memory_shared_ops = {
    .name = "memory",
    .close = memory_close,
    .txn = &memory_txn,
    .runs = &memory_runs,
    .catalog = &catalog,
    .users = &users,
    .pages = &pages,
    .figures = &memory_figures,
    .alarms = &memory_alarms,
    .rules = &memory_rules,
    .cluster = &memory_cluster,
};

/* A life begins on a handle that is a server's. */
static enum err handle_open(struct mem_handle *h, const struct store_options *o, struct why *why)
{
    struct memory *m = memory_of(&h->store);
    h->node = o ? o->node : 0;
    h->epoch = o ? o->epoch : 0;
    if (!m->shared || !o || o->life || o->read_only)
        return OK;
    enum err err = memory_txn.begin(&h->store, why);
    if (!err)
        err = mem_life_begin(m, o->node_name ? o->node_name : "peal", why);
    if (!err && !h->lost) {
        mem_forget(m);
        mem_over(m);
        h->joined = true;
        return OK;
    }
    memory_txn.rollback(&h->store);
    return err ? err : mem_busy(m, why);
}

struct store *store_memory_new(const struct store_options *options)
{
    struct memory *m = mem_new(sizeof(*m));
    list_init(&m->sessions);
    m->shared = options && options->shared;
    for (int t = 0; t < T_COUNT; t++)
        map_init(&m->tables[t]);
    textmap_init(&m->unique);
    m->at = mem_handle_new(m, m->shared ? &store_memory_shared_ops : &store_memory_ops);
    struct store *s = &m->at->store;
    struct why why = { "" };
    if (handle_open(m->at, options, &why))
        abort(); /* nothing can be in the way */
    return s;
}

enum err store_memory_open(struct store *of, const struct store_options *options,
                           struct store **ret, struct why *why)
{
    struct memory *m = ((struct mem_handle *)of)->db;
    assert(m->shared);
    struct mem_handle *h = mem_handle_new(m, &store_memory_shared_ops);
    *ret = NULL;
    enum err err = handle_open(h, options, why);
    if (err)
        store_memory_drop(&h->store);
    else
        *ret = &h->store;
    return err;
}

void store_memory_owner(struct store *s, int64_t node, int64_t epoch)
{
    assert(s->ops == &store_memory_ops);
    memory_of(s)->at->node = node;
    memory_of(s)->at->epoch = epoch;
}

void store_memory_backup(struct store *s, bool on)
{
    struct memory *m = memory_of(s);
    assert(!m->in_transaction && !m->shared);
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
