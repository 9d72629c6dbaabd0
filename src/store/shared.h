/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - what every implementation of store.h must do alike: texts that stand in for NULL,
 * how a late result is noted, how scheduled times become trigger_time. Private to src/store. */
#ifndef PEAL_STORE_SHARED_H
#define PEAL_STORE_SHARED_H

#include "store/store.h"

#define STORE_LATE_MAX                                                                             \
    15000 /* bytes of handle_msg beyond which no further late result is noted                      \
           */

/* trigger_time: the whole second of a scheduled time, rounded down. */
int64_t store_second(int64_t scheduled_ms);

/* Was a closed run given up, so that a late result belongs into its message? */
bool store_given_up(const char *handle_msg);

/* Has a log row without a live row no end, because another program removed the live one? Such a row
 * ends with the result that comes, and with this text. */
#define STORE_NO_LIVE_ROW "its row in peal_run was removed by another program"
bool store_no_end(int trigger_code, int handle_code);

/* handle_msg with the late result added on a line of its own; NULL when the message is full, or has
 * that result already. Owned by the caller. */
char *store_late_text(const char *handle_msg, const struct late_result *late);

/* handle_msg of another program's run with its end: the executor's message, behind what is there
 * already (NULL and empty: nothing), as XXL-JOB joins the two. Cut to STORE_LATE_MAX bytes. Owned
 * by the caller. */
char *store_end_text(const char *handle_msg, const char *end);

/* "i/n" of a broadcast's shard into text (24 bytes are enough for any), NULL if it is none. */
const char *store_sharding(const struct run_row *r, char *text, size_t size);

/* The trigger_msg column says why a run exists, because its live row, which says it too, goes with
 * the run: "manual", or with what happened "manual: refused …". A schedule's runs, which are nearly
 * all, have NULL until there is something to say. As it is inserted, and with a message (owned). */
const char *store_kind_text(enum kind kind);
char *store_trigger_text(enum kind kind, const char *msg);
/* The other way round; *ret_msg is the part of text behind the kind, or NULL. KIND_COUNT: not a
 * text of ours, *ret_msg is all of it. */
enum kind store_trigger_kind(const char *text, const char **ret_msg);

/* Does the row match the filter, apart from its ids? */
bool store_run_matches(const struct runs_filter *f, const struct log_record *r);

/* The password columns agree: argon2 counts only while the text that it came from still stands,
 * because a Java admin that changes a password knows nothing of ours. */
bool store_argon2_counts(const char *password, const char *legacy);
/* Do our rows of rights hold for a user with these columns, or has another program changed the
 * columns since? xxl: the text that was remembered, NULL if none was. */
bool store_rights_count(const struct user_record *r, const char *xxl);

/* store_txn.outcome of an engine whose commit is always heard. */
enum err store_outcome_known(struct store *s, bool *ret_done, struct why *why);

/* The table of an engine whose functions have the names of the members. */
#define STORE_FIGURES                                                                              \
    {                                                                                              \
        .delta_add = delta_add, .deltas_each = deltas_each, .deltas_drop = deltas_drop,            \
        .figures_add = figures_add, .figure_get = figure_get, .figures_each = figures_each,        \
        .figures_expire = figures_expire, .job_stats_put = job_stats_put,                          \
        .job_stats_each = job_stats_each, .reports_put = reports_put,                              \
        .reports_each = reports_each, .runs_running = runs_running,                                \
    }

#endif
