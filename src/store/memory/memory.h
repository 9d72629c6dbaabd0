/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - the tables of the store in memory. Private to src/store.
 *
 * A table maps a number to a row; a row is never changed in place but replaced by a changed copy,
 * and each replacement is remembered until the end of the transaction. Undoing them backwards is
 * what makes a rollback exact: there is no second description of a change that could be wrong.
 *
 * Several handles may have one memory. The tables show what is committed, and what the handle that
 * is worked for has changed: the changes of any other open transaction are lifted out, and put back
 * when its handle is used again (memory_handles.c). What it has changed or locked stays locked. */
#ifndef PEAL_STORE_MEMORY_MEMORY_H
#define PEAL_STORE_MEMORY_MEMORY_H

#include "base/list.h"
#include "base/map.h"
#include "store/store.h"

struct mem_run { /* T_RUN; handler and param stand in the log row */
    struct run_row row;
    int64_t node, epoch;
    int64_t told; /* the version of the job that its owner knows */
};

struct mem_life { /* T_LIFE: a row of peal_epoch */
    int64_t epoch, node, heir;
    int64_t changes;
    bool ended;
    struct watermark watermark; /* batch: the number of its last commit; last_id is not used */
    struct totals totals;
};

struct mem_node { /* T_NODE: a row of peal_node */
    int64_t node, epoch, beat, mark_ms, wall_ms, skew_ms, live, jobs;
    int weight;
    bool dead, draining, asked;
    char name[129], address[256], version[33];
};

struct mem_skip { /* T_SKIP */
    int64_t id;
    struct skip_row row;
};

struct mem_registry { /* T_REGISTRY */
    int64_t id;
    struct registry_record row;
};

struct mem_user { /* T_USER */
    struct user_record row;
    char *legacy; /* the password that argon2 came from */
};

struct mem_session { /* T_SESSION */
    int64_t id;
    struct session_record row;
};

struct mem_audit_item { /* T_AUDIT_ITEM */
    int64_t id, audit_id;
    char *kind, *object;
};

struct mem_moved { /* T_GROUP_MOVED */
    int64_t id, group_id;
    char *address;
};

struct mem_idem_made { /* T_IDEM_MADE */
    int64_t id, idem_id, item, made;
};

struct mem_delivery { /* T_DELIVERY */
    int64_t key;      /* mem_delivery_key */
    struct delivery_record row;
};

struct mem_seq { /* T_SEQ */
    int64_t id;
    char *name;
    int64_t value;
};

struct mem_delta { /* T_DELTA */
    int64_t n;
    char *ends;
    size_t size;
};

struct mem_figure { /* T_FIGURE */
    int64_t key;    /* made of those of the row */
    struct figure_row row;
    uint32_t durations[DURATION_BUCKETS];
};

struct mem_stat { /* T_STAT */
    int64_t job_id, through;
    struct job_stat stat;
};

struct mem_alarms_of { /* T_ALARMS_OF */
    int n;
    int64_t ids[];
};

struct mem_incident_job { /* T_INCIDENT_JOB */
    int64_t id;
    struct incident_job row;
};

enum mem_table {                 /* what the rows are, and what the key is */
                 T_JOB,          /* struct job_record, id; its scheduled times are in T_DUE */
                 T_DUE,          /* struct due_row, job id */
                 T_LOG,          /* struct log_record, id; phase and the like unused */
                 T_RUN,          /* struct mem_run, log id */
                 T_SKIP,         /* struct mem_skip, id */
                 T_GROUP,        /* struct group_record, id */
                 T_GROUP_MOVED,  /* struct mem_moved, id */
                 T_GROUP_TOKEN,  /* struct group_token, group id */
                 T_REGISTRY,     /* struct mem_registry, id */
                 T_USER,         /* struct mem_user, id */
                 T_SESSION,      /* struct mem_session, id */
                 T_AUDIT,        /* struct audit_record, id; items unused */
                 T_IDEM,         /* struct idem_record, id */
                 T_IDEM_MADE,    /* struct mem_idem_made, id */
                 T_AUDIT_ITEM,   /* struct mem_audit_item, id */
                 T_TOKEN,        /* struct token_record, id */
                 T_SEQ,          /* struct mem_seq, id */
                 T_PURGE,        /* int64_t, id of a deleted job that may still have log rows */
                 T_CLEAN,        /* struct clean_request, id */
                 T_DELTA,        /* struct mem_delta, number of the commit */
                 T_FIGURE,       /* struct mem_figure, key */
                 T_STAT,         /* struct mem_stat, job id */
                 T_REPORT,       /* struct report_row, beginning of the day */
                 T_ALARM,        /* struct alarm_record, id */
                 T_ALARMS_OF,    /* struct mem_alarms_of, log id: an index of T_ALARM */
                 T_SCRIPT,       /* struct script_record, id */
                 T_DELIVERY,     /* struct mem_delivery, key */
                 T_STORY,        /* struct story, log id */
                 T_TRACE,        /* struct trace_root, log id */
                 T_RULE,         /* struct rule_record, id */
                 T_INCIDENT,     /* struct incident_record, id */
                 T_INCIDENT_JOB, /* struct mem_incident_job, id */
                 T_TELL,         /* struct tell_record, id */
                 T_CHANNEL,      /* struct channel_record, id */
                 T_SILENCE,      /* struct silence_record, id */
                 T_LIFE,         /* struct mem_life, epoch */
                 T_NODE,         /* struct mem_node, node */
                 T_INBOX,        /* struct inbox_row, id */
                 T_CHANGE,       /* struct job_news, id */
                 T_COUNT
};

struct mem_undo {
    enum mem_table table;
    uint64_t key;
    void *old; /* NULL: there was none */
};

struct mem_scalars {
    int64_t last_id[T_COUNT];
    int64_t alarms_closed;      /* all alarms up to this one are closed, or gone */
    struct watermark watermark; /* last_id is not used */
    struct totals totals;
};

struct mem_changed { /* a change of a transaction that is lifted out */
    enum mem_table table;
    int64_t key;
    void *row; /* NULL: removed */
};

struct mem_handle { /* a handle, or a transaction whose handle has let it go */
    struct store store;
    struct memory *db;
    struct list_node in_db;
    int64_t node, epoch;
    int64_t batch; /* of the last commit of this life that is known to be done */
    bool joined;   /* the life is this handle's, and ends when it is closed */
    bool leaving;  /* and ends with the commit under way */
    bool homed;    /* as store_cluster.home says, like these: */
    int64_t home, claim_ms;
    bool changed;        /* the next commit tells others of groups, registrations and the like */
    bool in_transaction; /* also while it is lifted out */
    bool lost;           /* it has met a row that another transaction holds */
    struct map locks;    /* rows that it holds */
    /* while it is lifted out */
    struct mem_changed *lifted;
    size_t nlifted;
    int64_t alarms_closed;
};

struct memory {
    struct mem_handle *at; /* the handle that is worked for */
    struct list sessions;
    bool shared; /* several servers may have it: lives, fences and locks are kept */
    struct map tables[T_COUNT];
    struct textmap unique; /* key of a live run -> its struct mem_run */
    struct mem_scalars now, before, backup;
    struct mem_undo *undo;
    size_t nundo, undo_cap;
    size_t nkept;             /* of undo: since the backup, committed */
    bool keeping;             /* there is a backup */
    struct mem_scalars saved; /* as they were at the savepoint */
    size_t nsaved;            /* of undo, then */
    bool saving;              /* there is a savepoint */
    bool in_transaction;      /* of at */
};

/* memory_tables.c: locks */
/* at holds the row until its transaction ends. False: another transaction does; at's can only be
 * rolled back then. */
bool mem_lock(struct memory *m, enum mem_table t, int64_t key);
/* Does another transaction hold it? */
bool mem_held(const struct memory *m, enum mem_table t, int64_t key);
/* Has a transaction that is lifted out written such a row? */
typedef bool mem_match_fn(const void *row, const void *arg);
bool mem_lifted(const struct memory *m, enum mem_table t, mem_match_fn *fn, const void *arg);
enum err mem_busy(struct memory *m, struct why *why); /* at has met a row that is held */

/* memory_handles.c */
/* From now on this handle is worked for. */
void mem_switch(struct mem_handle *h);
struct mem_handle *mem_handle_new(struct memory *m, const struct store_ops *ops);
void mem_handle_free(struct mem_handle *h);
void mem_over(struct memory *m); /* the transaction of at is */
/* A statement of its own where there is no transaction: begin, and the end of it. */
bool mem_auto_begin(struct memory *m);
enum err mem_auto_end(struct memory *m, bool began, struct why *why);
int64_t mem_commit_no(const struct memory *m); /* that the transaction will have */
extern const struct store_txn memory_txn;

/* memory_cluster.c: the table of what servers of one database need */
extern const struct store_cluster memory_cluster;
/* memory_nodes.c */
/* In a transaction: a life of at begins. */
enum err mem_life_begin(struct memory *m, const char *name, struct why *why);
/* Are there runs of that life? */
bool mem_owns_runs(const struct memory *m, int64_t epoch);
void memory_life(struct store *s, int64_t *ret_node, int64_t *ret_epoch);
enum err memory_beat(struct store *s, const struct node_beat *b, bool *ret_ours,
                     int64_t *ret_clock_ms, struct why *why);
enum err memory_nodes_page(struct store *s, int64_t below_epoch, int64_t limit, node_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why);
enum err memory_lives_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                           struct why *why);
enum err memory_orphans_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                             struct why *why);
enum err memory_declare(struct store *s, int64_t node, int64_t epoch, int64_t beat_no,
                        bool *ret_done, struct why *why);
enum err memory_drain(struct store *s, int64_t node, bool on, struct why *why);
/* memory_homes.c */
void memory_home(struct store *s, int64_t node, int64_t claim_ms);
enum err memory_homes_put(struct store *s, const int64_t *ids, const int64_t *homes, int n,
                          struct why *why);
enum err memory_homes_take(struct store *s, const struct home_row *after, int max,
                           struct home_row *rows, int *ret_n, struct why *why);
enum err memory_homes_next(struct store *s, int64_t after, int64_t *ret, struct why *why);
enum err memory_homes_count(struct store *s, int64_t of, int64_t *ret, struct why *why);
/* memory_inbox.c */
enum err memory_inbox_put(struct store *s, const struct inbox_row *rows, int n, struct why *why);
enum err memory_inbox_each(struct store *s, int64_t after_id, int max, inbox_row_fn *fn, void *ctx,
                           struct why *why);
enum err memory_inbox_take(struct store *s, const int64_t *ids, int n, bool *taken,
                           struct why *why);
enum err memory_inbox_ask(struct store *s, int64_t log_id, int64_t at_ms, int64_t *ret_id,
                          struct why *why);
enum err memory_inbox_answer(struct store *s, int64_t id, enum inbox_answer code, const char *msg,
                             int64_t before_ms, struct why *why);
enum err memory_inbox_get(struct store *s, int64_t id, struct inbox_row *ret, struct why *why);
/* memory_changes.c */
enum err memory_record_hold(struct store *s, enum store_record kind, int64_t id, struct why *why);
enum err memory_jobs_hold(struct store *s, const int64_t *ids, int n, struct why *why);
enum err memory_changes_put(struct store *s, const struct job_news *changes, int n,
                            int64_t before_ms, struct why *why);
enum err memory_changes_each(struct store *s, int64_t after_id, int max, job_news_fn *fn, void *ctx,
                             struct why *why);
enum err memory_changes_anew(struct store *s, int64_t job_id, int64_t from, int64_t to,
                             bool *ret_anew, struct why *why);
enum err memory_runs_told(struct store *s, int64_t job_id, int64_t version, struct why *why);
enum err memory_runs_untold(struct store *s, int64_t job_id, int64_t version, int64_t but_epoch,
                            untold_fn *fn, void *ctx, struct why *why);

static inline struct memory *memory_of(struct store *s)
{
    struct mem_handle *h = (struct mem_handle *)s;
    if (h->db->at != h)
        mem_switch(h);
    return h->db;
}

/* The row, or NULL. Borrowed; read-only. */
void *mem_find(const struct memory *m, enum mem_table t, int64_t key);
/* Replace (NULL: remove) within a transaction. The table owns row from here on. */
void mem_put(struct memory *m, enum mem_table t, int64_t key, void *row);
/* All keys, ascending. Freed by the caller; *ret_n their number. */
int64_t *mem_keys(const struct memory *m, enum mem_table t, size_t *ret_n);
int64_t mem_next_id(struct memory *m, enum mem_table t);
/* The live run of the same unique key, or NULL. */
struct mem_run *mem_run_same(const struct memory *m, const struct run_row *r);
void mem_row_free(enum mem_table t, void *row);
/* Of the try by what it has alone, T_DELIVERY. */
int64_t mem_delivery_key(int64_t alarm_id, const char *target, int n);
struct log_record *mem_log_copy(const struct log_record *from); /* owned by the caller */
/* Put a row (NULL: none) in the place of another, which is returned; nothing else is noted. */
void *mem_swap(struct memory *m, enum mem_table t, uint64_t key, void *row);
/* Undo the latest changes until n are left. */
void mem_undo(struct memory *m, size_t n);
/* Forget how all changes are undone. */
void mem_forget(struct memory *m);

/* memory_ledger.c */
extern const struct store_runs memory_runs;
/* Another copy of the row, with that owner, who knows its version. */
struct mem_run *mem_run_copy(const struct run_row *from, int64_t node, int64_t epoch);
bool mem_run_lend(const struct memory *m, const struct mem_run *r, run_row_fn *fn, void *ctx);

/* memory_rows.c: definitions and users */
enum err memory_job_get(struct store *s, int64_t id, struct job_record *ret, struct why *why);
enum err memory_jobs_get(struct store *s, const int64_t *ids, int n, job_row_fn *fn, void *ctx,
                         struct why *why);
enum err memory_jobs_stop(struct store *s, const struct job_stop *stops, int n, int64_t now_ms,
                          struct why *why);
enum err memory_job_insert(struct store *s, struct job_record *r, struct why *why);
enum err memory_job_update(struct store *s, const struct job_record *r, struct why *why);
enum err memory_job_delete(struct store *s, int64_t id, struct why *why);
enum err memory_purge(struct store *s, int max, bool *ret_more, struct why *why);
enum err memory_group_insert(struct store *s, struct group_record *r, struct why *why);
enum err memory_group_update(struct store *s, const struct group_record *r, struct why *why);
enum err memory_group_delete(struct store *s, int64_t id, struct why *why);
enum err memory_group_token_get(struct store *s, int64_t group_id, struct group_token *ret,
                                struct why *why);
enum err memory_group_token_put(struct store *s, const struct group_token *t, struct why *why);
enum err memory_group_tokens_each(struct store *s, group_token_row_fn *fn, void *ctx,
                                  struct why *why);
enum err memory_group_moved_put(struct store *s, int64_t group_id, const char *address,
                                struct why *why);
enum err memory_group_moved_each(struct store *s, group_moved_row_fn *fn, void *ctx,
                                 struct why *why);
enum err memory_groups_each(struct store *s, group_row_fn *fn, void *ctx, struct why *why);
enum err memory_registry_each(struct store *s, registry_row_fn *fn, void *ctx, struct why *why);
enum err memory_registry_put(struct store *s, const struct registry_record *rows, int n,
                             struct why *why);
enum err memory_registry_delete(struct store *s, const struct registry_record *rows, int n,
                                struct why *why);

/* memory_users.c */
enum err memory_user_find(struct store *s, const char *username, struct user_record *ret,
                          struct why *why);
enum err memory_user_get(struct store *s, int64_t id, struct user_record *ret, struct why *why);
enum err memory_user_count(struct store *s, bool admins, int64_t *ret, struct why *why);
enum err memory_user_insert(struct store *s, struct user_record *r, struct why *why);
enum err memory_user_update(struct store *s, const struct user_record *r, struct why *why);
enum err memory_user_delete(struct store *s, int64_t id, struct why *why);
enum err memory_user_upgrade(struct store *s, int64_t id, const char *argon2, struct why *why);
enum err memory_user_seen(struct store *s, int64_t id, int64_t login_ms, struct why *why);
enum err memory_users_page(struct store *s, const struct users_filter *f, user_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why);
enum err memory_session_put(struct store *s, const struct session_record *r, struct why *why);
enum err memory_session_find(struct store *s, const char *digest, struct session_record *ret,
                             struct why *why);
enum err memory_sessions_of(struct store *s, int64_t user_id, session_row_fn *fn, void *ctx,
                            struct why *why);
enum err memory_session_used(struct store *s, const char *digest, int64_t used_ms, struct why *why);
enum err memory_session_delete(struct store *s, const char *digest, struct why *why);
enum err memory_sessions_end(struct store *s, int64_t user_id, const char *but, struct why *why);
enum err memory_sessions_expire(struct store *s, int64_t now_ms, struct why *why);
enum err memory_token_insert(struct store *s, struct token_record *r, struct why *why);
enum err memory_token_get(struct store *s, int64_t id, struct token_record *ret, struct why *why);
enum err memory_token_find(struct store *s, const char *digest, struct token_record *ret,
                           struct why *why);
enum err memory_tokens_of(struct store *s, int64_t user_id, int64_t after_id, int64_t limit,
                          token_row_fn *fn, void *ctx, int64_t *ret_total, struct why *why);
enum err memory_token_used(struct store *s, int64_t id, int64_t used_ms, struct why *why);
enum err memory_token_delete(struct store *s, int64_t id, struct why *why);

/* memory_audit.c */
enum err memory_audit_add(struct store *s, struct audit_record *r, struct why *why);
enum err memory_audit_item_add(struct store *s, int64_t id, const char *kind, const char *object,
                               struct why *why);
enum err memory_audit_page(struct store *s, const struct audit_filter *f, audit_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why);
enum err memory_audit_get(struct store *s, int64_t id, struct audit_record *ret, struct why *why);
enum err memory_audit_expire(struct store *s, int64_t before_ms, int max, struct why *why);

/* memory_idem.c */
enum err memory_idem_find(struct store *s, int64_t user_id, const char *key,
                          struct idem_record *ret, struct why *why);
enum err memory_idem_insert(struct store *s, struct idem_record *r, struct why *why);
enum err memory_idem_answer(struct store *s, const struct idem_record *r, struct why *why);
enum err memory_idem_delete(struct store *s, int64_t id, struct why *why);
enum err memory_idem_expire(struct store *s, int64_t before_ms, int max, struct why *why);
enum err memory_idem_made_get(struct store *s, int64_t id, int64_t item, int64_t *ret_made,
                              struct why *why);
enum err memory_idem_made_put(struct store *s, int64_t id, int64_t item, int64_t made,
                              struct why *why);

extern const struct store_figures memory_figures;

/* memory_clean.c */
enum err memory_log_clean(struct store *s, struct log_clean *c, int max, bool *ret_end,
                          struct why *why);
enum err memory_log_before(struct store *s, int64_t ms, int64_t *ret_id, struct why *why);
enum err memory_log_counts(struct store *s, int64_t below_id, log_count_fn *fn, void *ctx,
                           int64_t *ret_from_id, struct why *why);
enum err memory_clean_add(struct store *s, struct clean_request *r, struct why *why);
enum err memory_clean_first(struct store *s, struct clean_request *ret, bool *ret_any,
                            struct why *why);
enum err memory_clean_put(struct store *s, const struct clean_request *r, bool end,
                          struct why *why);
/* memory_stories.c */
/* The log row goes, with its story and its trace. */
void mem_log_gone(struct memory *m, int64_t log_id);
enum err memory_story_put(struct store *s, int64_t log_id, const struct story *story,
                          struct why *why);
enum err memory_traces_put(struct store *s, const struct run_trace *traces, int n, struct why *why);
enum err memory_trace_get(struct store *s, int64_t log_id, struct trace_root *ret, struct why *why);
enum err memory_story_get(struct store *s, int64_t log_id, struct story *ret, struct why *why);
enum err memory_children_of(struct store *s, const struct scope *scope, int64_t job_id,
                            int64_t log_id, int64_t *ids, int max, int *ret_n, struct why *why);
enum err memory_retries_of(struct store *s, int64_t job_id, int64_t log_id, int64_t *ids, int max,
                           int *ret_n, struct why *why);

/* memory_alarms.c */
/* The alarms of a log row, by id; NULL if it has none. Borrowed. */
const struct mem_alarms_of *mem_alarms_of(const struct memory *m, int64_t log_id);
extern const struct store_alarms memory_alarms;

/* memory_rules.c */
extern const struct store_rules memory_rules;
/* memory_channels.c */
enum err memory_channels_each(struct store *s, channel_row_fn *fn, void *ctx, struct why *why);
enum err memory_channel_get(struct store *s, int64_t id, struct channel_record *ret,
                            struct why *why);
enum err memory_channel_insert(struct store *s, struct channel_record *r, struct why *why);
enum err memory_channel_update(struct store *s, const struct channel_record *r, struct why *why);
enum err memory_channel_delete(struct store *s, int64_t id, struct why *why);

/* memory_pages.c */
enum err memory_jobs_page(struct store *s, const struct jobs_filter *f, job_row_fn *fn, void *ctx,
                          int64_t *ret_total, struct why *why);
enum err memory_logs_page(struct store *s, const struct logs_filter *f, log_row_fn *fn, void *ctx,
                          int64_t *ret_total, struct why *why);
enum err memory_groups_page(struct store *s, const struct groups_filter *f, group_row_fn *fn,
                            void *ctx, int64_t *ret_total, struct why *why);
enum err memory_runs_page(struct store *s, const struct runs_filter *f, log_row_fn *fn, void *ctx,
                          struct runs_end *ret, struct why *why);
enum err memory_log_get(struct store *s, int64_t id, struct log_record *ret, struct why *why);
enum err memory_facts(struct store *s, struct store_facts *ret, struct why *why);
enum err memory_group_get(struct store *s, int64_t id, struct group_record *ret, struct why *why);
enum err memory_groups_get(struct store *s, const int64_t *ids, int n, group_row_fn *fn, void *ctx,
                           struct why *why);
enum err memory_job_parents(struct store *s, int64_t id, int64_t *ret_count, struct why *why);
enum err memory_group_jobs(struct store *s, int64_t group_id, int64_t *ret_count, struct why *why);

/* memory_scripts.c */
enum err memory_scripts_each(struct store *s, int64_t job_id, int64_t before_id, int max,
                             script_row_fn *fn, void *ctx, struct why *why);
enum err memory_script_get(struct store *s, int64_t job_id, int64_t id, struct script_record *ret,
                           struct why *why);
enum err memory_script_add(struct store *s, struct script_record *r, int keep, struct why *why);
/* Delete the job's versions but for the newest keep. */
void mem_scripts_trim(struct memory *m, int64_t job_id, int keep);

#endif
