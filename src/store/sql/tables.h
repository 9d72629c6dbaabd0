/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - the functions of store.h that engines which speak SQL share. An engine takes the
 * tables whole, or puts single functions into its own. Private to src/store. */
#ifndef PEAL_STORE_SQL_TABLES_H
#define PEAL_STORE_SQL_TABLES_H

#include "store/sql/sql.h"

extern const struct store_catalog sql_catalog; /* tables.c */
extern const struct store_users sql_users;     /* users.c */
extern const struct store_figures sql_figures; /* figures.c */
extern const struct store_alarms sql_alarms;   /* alarms.c */
extern const struct store_rules sql_rules;     /* rules.c */

/* Before anything else, with the engine's functions. ERR_NOMEM. */
MUST_CHECK enum err sql_init(struct sql *s, const struct store_ops *ops,
                             const struct sql_driver *driver, const struct store_options *options,
                             struct why *why);
/* Finalizes all statements, while the engine's connection is open still. Fine without sql_init. */
void sql_done(struct sql *s);

/* jobs.c */
MUST_CHECK enum err sql_job_get(struct store *store, int64_t id, struct job_record *ret,
                                struct why *why);
MUST_CHECK enum err sql_job_insert(struct store *store, struct job_record *r, struct why *why);
MUST_CHECK enum err sql_job_update(struct store *store, const struct job_record *r,
                                   struct why *why);
MUST_CHECK enum err sql_jobs_get(struct store *store, const int64_t *ids, int n, job_row_fn *fn,
                                 void *ctx, struct why *why);
MUST_CHECK enum err sql_jobs_stop(struct store *store, const struct job_stop *stops, int n,
                                  int64_t now_ms, struct why *why);
MUST_CHECK enum err sql_job_delete(struct store *store, int64_t id, struct why *why);
MUST_CHECK enum err sql_jobs_page(struct store *store, const struct jobs_filter *f, job_row_fn *fn,
                                  void *ctx, int64_t *ret_total, struct why *why);

/* groups.c */
MUST_CHECK enum err sql_groups_each(struct store *store, group_row_fn *fn, void *ctx,
                                    struct why *why);
MUST_CHECK enum err sql_group_insert(struct store *store, struct group_record *r, struct why *why);
MUST_CHECK enum err sql_group_update(struct store *store, const struct group_record *r,
                                     struct why *why);
MUST_CHECK enum err sql_group_delete(struct store *store, int64_t id, struct why *why);
MUST_CHECK enum err sql_group_token_get(struct store *store, int64_t group_id,
                                        struct group_token *ret, struct why *why);
MUST_CHECK enum err sql_group_token_put(struct store *store, const struct group_token *t,
                                        struct why *why);
MUST_CHECK enum err sql_group_tokens_each(struct store *store, group_token_row_fn *fn, void *ctx,
                                          struct why *why);
MUST_CHECK enum err sql_group_moved_put(struct store *store, int64_t group_id, const char *address,
                                        struct why *why);
MUST_CHECK enum err sql_group_moved_each(struct store *store, group_moved_row_fn *fn, void *ctx,
                                         struct why *why);
MUST_CHECK enum err sql_groups_page(struct store *store, const struct groups_filter *f,
                                    group_row_fn *fn, void *ctx, int64_t *ret_total,
                                    struct why *why);
MUST_CHECK enum err sql_group_get(struct store *store, int64_t id, struct group_record *ret,
                                  struct why *why);
MUST_CHECK enum err sql_groups_get(struct store *store, const int64_t *ids, int n, group_row_fn *fn,
                                   void *ctx, struct why *why);
MUST_CHECK enum err sql_job_parents(struct store *store, int64_t id, int64_t *ret_count,
                                    struct why *why);
MUST_CHECK enum err sql_group_jobs(struct store *store, int64_t group_id, int64_t *ret_count,
                                   struct why *why);
MUST_CHECK enum err sql_registry_each(struct store *store, registry_row_fn *fn, void *ctx,
                                      struct why *why);
MUST_CHECK enum err sql_registry_put(struct store *store, const struct registry_record *rows, int n,
                                     struct why *why);
MUST_CHECK enum err sql_registry_delete(struct store *store, const struct registry_record *rows,
                                        int n, struct why *why);

/* audit.c */
MUST_CHECK enum err sql_audit_add(struct store *store, struct audit_record *r, struct why *why);
MUST_CHECK enum err sql_audit_item_add(struct store *store, int64_t id, const char *kind,
                                       const char *object, struct why *why);
MUST_CHECK enum err sql_audit_page(struct store *store, const struct audit_filter *f,
                                   audit_row_fn *fn, void *ctx, int64_t *ret_total,
                                   struct why *why);
MUST_CHECK enum err sql_audit_get(struct store *store, int64_t id, struct audit_record *ret,
                                  struct why *why);
MUST_CHECK enum err sql_audit_expire(struct store *store, int64_t before_ms, int max,
                                     struct why *why);

/* idem.c */
MUST_CHECK enum err sql_idem_find(struct store *s, int64_t user_id, const char *key,
                                  struct idem_record *ret, struct why *why);
MUST_CHECK enum err sql_idem_insert(struct store *s, struct idem_record *r, struct why *why);
MUST_CHECK enum err sql_idem_answer(struct store *s, const struct idem_record *r, struct why *why);
MUST_CHECK enum err sql_idem_delete(struct store *s, int64_t id, struct why *why);
MUST_CHECK enum err sql_idem_expire(struct store *s, int64_t before_ms, int max, struct why *why);
MUST_CHECK enum err sql_idem_made_get(struct store *s, int64_t id, int64_t item, int64_t *ret_made,
                                      struct why *why);
MUST_CHECK enum err sql_idem_made_put(struct store *s, int64_t id, int64_t item, int64_t made,
                                      struct why *why);

/* scripts.c */
MUST_CHECK enum err sql_scripts_each(struct store *store, int64_t job_id, int64_t before_id,
                                     int max, script_row_fn *fn, void *ctx, struct why *why);
MUST_CHECK enum err sql_script_get(struct store *store, int64_t job_id, int64_t id,
                                   struct script_record *ret, struct why *why);
MUST_CHECK enum err sql_script_add(struct store *store, struct script_record *r, int keep,
                                   struct why *why);

/* logs.c */
MUST_CHECK enum err sql_log_get(struct store *store, int64_t id, struct log_record *ret,
                                struct why *why);

/* stories.c */
MUST_CHECK enum err sql_story_put(struct store *store, int64_t log_id, const struct story *story,
                                  struct why *why);
MUST_CHECK enum err sql_traces_put(struct store *store, const struct run_trace *traces, int n,
                                   struct why *why);
MUST_CHECK enum err sql_trace_get(struct store *store, int64_t log_id, struct trace_root *ret,
                                  struct why *why);
MUST_CHECK enum err sql_story_get(struct store *store, int64_t log_id, struct story *ret,
                                  struct why *why);
MUST_CHECK enum err sql_children_of(struct store *store, const struct scope *scope, int64_t job_id,
                                    int64_t log_id, int64_t *ids, int max, int *ret_n,
                                    struct why *why);
MUST_CHECK enum err sql_retries_of(struct store *store, int64_t job_id, int64_t log_id,
                                   int64_t *ids, int max, int *ret_n, struct why *why);

/* ledger.c */
MUST_CHECK enum err sql_due_each(struct store *store, bool rate, int64_t after_id, int max,
                                 struct due_row *rows, int *ret_n, struct why *why);
MUST_CHECK enum err sql_skips_add(struct store *store, const struct skip_row *rows, int n,
                                  struct why *why);
MUST_CHECK enum err sql_late_add(struct store *store, struct late_result *late, int n,
                                 int *ret_noted, struct why *why);
MUST_CHECK enum err sql_seq_next(struct store *store, const char *name, int n, int64_t *ret_first,
                                 struct why *why);
MUST_CHECK enum err sql_watermark_get(struct store *store, struct watermark *ret, struct why *why);
MUST_CHECK enum err sql_totals_get(struct store *store, struct totals *ret, int64_t *ret_open,
                                   struct why *why);
/* What CHANGE_TASK of the changes says, of those that are not missing. */
MUST_CHECK enum err sql_runs_task(struct sql *s, const struct run_change *changes, int n,
                                  struct why *why);
MUST_CHECK enum err sql_runs_each(struct store *store, run_row_fn *fn, void *ctx, struct why *why);
/* Those with these ids (numbers with commas), by id. */
MUST_CHECK enum err sql_runs_listed(struct sql *s, const char *ids, run_row_fn *fn, void *ctx,
                                    struct why *why);
/* adopt.c */
MUST_CHECK enum err sql_runs_adopt(struct store *store, const struct adoption *a, run_row_fn *fn,
                                   void *ctx, bool *ret_left, struct why *why);
/* inbox.c */
MUST_CHECK enum err sql_runs_live(struct store *store, const int64_t *log_ids, int n, bool *live,
                                  struct why *why);
MUST_CHECK enum err sql_inbox_put(struct store *store, const struct inbox_row *rows, int n,
                                  struct why *why);
MUST_CHECK enum err sql_inbox_each(struct store *store, int64_t after_id, int max, inbox_row_fn *fn,
                                   void *ctx, struct why *why);
MUST_CHECK enum err sql_inbox_take(struct store *store, const int64_t *ids, int n, bool *taken,
                                   struct why *why);
MUST_CHECK enum err sql_inbox_ask(struct store *store, int64_t log_id, int64_t at_ms,
                                  int64_t *ret_id, struct why *why);
MUST_CHECK enum err sql_inbox_answer(struct store *store, int64_t id, enum inbox_answer code,
                                     const char *msg, int64_t before_ms, struct why *why);
MUST_CHECK enum err sql_inbox_get(struct store *store, int64_t id, struct inbox_row *ret,
                                  struct why *why);
/* changes.c */
MUST_CHECK enum err sql_record_hold(struct store *store, enum store_record kind, int64_t id,
                                    struct why *why);
MUST_CHECK enum err sql_jobs_hold(struct store *store, const int64_t *ids, int n, struct why *why);
MUST_CHECK enum err sql_changes_put(struct store *store, const struct job_news *changes, int n,
                                    int64_t before_ms, struct why *why);
MUST_CHECK enum err sql_changes_each(struct store *store, int64_t after_id, int max,
                                     job_news_fn *fn, void *ctx, struct why *why);
MUST_CHECK enum err sql_changes_anew(struct store *store, int64_t job_id, int64_t from, int64_t to,
                                     bool *ret_anew, struct why *why);
MUST_CHECK enum err sql_runs_told(struct store *store, int64_t job_id, int64_t version,
                                  struct why *why);
MUST_CHECK enum err sql_runs_untold(struct store *store, int64_t job_id, int64_t version,
                                    int64_t but_epoch, untold_fn *fn, void *ctx, struct why *why);
MUST_CHECK enum err sql_due_next(struct store *store, int64_t from_ms, int max,
                                 struct due_row *rows, int *ret_n, struct why *why);
MUST_CHECK enum err sql_planned_elsewhere(struct store *store, int64_t but_epoch, int64_t from_ms,
                                          int max, struct due_row *rows, int *ret_n,
                                          struct why *why);
MUST_CHECK enum err sql_run_owner(struct store *store, int64_t log_id, int64_t *ret_node,
                                  char *name, size_t size, struct why *why);
MUST_CHECK enum err sql_deltas_of(struct store *store, int64_t node, int64_t after, int64_t below,
                                  int64_t limit, delta_row_fn *fn, void *ctx, struct why *why);
MUST_CHECK enum err sql_figure_nodes(struct store *store, int64_t slot, int64_t group_id,
                                     int64_t job_id, figure_row_fn *fn, void *ctx, struct why *why);
MUST_CHECK enum err sql_runs_elsewhere(struct store *store, int64_t job_id, int64_t but_epoch,
                                       elsewhere_fn *fn, void *ctx, struct why *why);
/* homes.c: struct store_cluster */
void sql_home(struct store *store, int64_t node, int64_t claim_ms);
MUST_CHECK enum err sql_homes_put(struct store *store, const int64_t *ids, const int64_t *homes,
                                  int n, struct why *why);
MUST_CHECK enum err sql_homes_take(struct store *store, const struct home_row *after, int max,
                                   struct home_row *rows, int *ret_n, struct why *why);
MUST_CHECK enum err sql_homes_next(struct store *store, int64_t home, int64_t *ret,
                                   struct why *why);
MUST_CHECK enum err sql_homes_count(struct store *store, int64_t home, int64_t *ret,
                                    struct why *why);
/* The index by home is there from here on, where servers share the database. Under the lock of
 * migrations. */
MUST_CHECK enum err sql_home_index_make(struct sql *s, struct why *why);
/* It goes, where a server has the database alone; one that cannot be dropped stays, and is told of.
 * Not before the life has begun: it is in use until all that share the database have ended. */
void sql_home_index_drop(struct sql *s);
/* ledger.c */
/* Rows of peal_seq while a move into the database (move.h) has begun and has not ended: which
 * database it comes from, and that one's last commit. No server may begin on such a part. */
#define SQL_MOVE_FROM "move"
#define SQL_MOVE_BATCH "move-batch"
/* ERR_INVALID: a move has begun, or an import (BULK_MARK_IMPORT). Before a server's life begins. */
MUST_CHECK enum err sql_move_ended(struct sql *s, struct why *why);

/* logs_page.c, log_clean.c, purge.c, runs_page.c: for engines whose index on the log by job has
 * chunks of 4,096 ids, and that have peal_log_span. */
#define SQL_SPAN_MS 600000 /* of trigger_time: one row of peal_log_span */
int64_t sql_span_slot(int64_t ms);
/* The ids that rows of a time can have (-1: open); none: high < low. */
MUST_CHECK enum err sql_log_span(struct sql *s, int64_t from_ms, int64_t to_ms, int64_t *ret_low,
                                 int64_t *ret_high, struct why *why);
MUST_CHECK enum err sql_log_clean(struct store *store, struct log_clean *c, int max, bool *ret_end,
                                  struct why *why);
MUST_CHECK enum err sql_log_before(struct store *store, int64_t ms, int64_t *ret_id,
                                   struct why *why);
MUST_CHECK enum err sql_log_counts(struct store *store, int64_t below_id, log_count_fn *fn,
                                   void *ctx, int64_t *ret_from_id, struct why *why);
/* Deletes the log rows whose ids the query finds, max at most. The query is at its end then. */
MUST_CHECK enum err sql_log_delete(struct sql *s, struct sql_query *q, int max, int *ret_gone,
                                   struct why *why);
/* The stories of rows that have gone, in the chunk of that id. */
MUST_CHECK enum err sql_stories_drop(struct sql *s, int64_t id, struct why *why);
MUST_CHECK enum err sql_purge(struct store *store, int max, bool *ret_more, struct why *why);
MUST_CHECK enum err sql_runs_page(struct store *store, const struct runs_filter *f, log_row_fn *fn,
                                  void *ctx, struct runs_end *ret, struct why *why);

/* clean.c */
MUST_CHECK enum err sql_clean_add(struct store *store, struct clean_request *r, struct why *why);
MUST_CHECK enum err sql_clean_first(struct store *store, struct clean_request *ret, bool *ret_any,
                                    struct why *why);
MUST_CHECK enum err sql_clean_put(struct store *store, const struct clean_request *r, bool end,
                                  struct why *why);

#endif
