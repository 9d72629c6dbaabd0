/* SPDX-License-Identifier: Apache-2.0 */
/* support_journal.h - a journal in a folder of its own: opened, written and read again.
 *
 * Only a program of one test at a time: folder, path and what was seen are global. */
#ifndef PEAL_TESTS_SUPPORT_JOURNAL_H
#define PEAL_TESTS_SUPPORT_JOURNAL_H

#include "executor/journal/run_journal.h"
#include "executor/journal/run_journal_db.h"

#define PAGE 4096
#define DAY_MS 86400000
#define NOW_MS INT64_C(4000000000000) /* far from being old */

extern char journal_dir[64], journal_path[96];

/* Setup and teardown: a fresh folder. */
int journal_setup(void **state);
int journal_teardown(void **state);
void journal_clear(void); /* all files of it */

/* ---- what comes out ---- */

enum { SEEN_MAX = 20000 };

struct seen {
    int n;
    struct seen_row {
        int64_t seq, log_id, log_date_ms, ended_ms;
        enum run_journal_state state;
        int code, attempt;
        bool has_log;
        size_t nrequest, nmsg;
        char request[48], msg[48];
    } row[SEEN_MAX];
};

extern struct seen seen; /* by the last opening */

void journal_see(void *arg, const struct run_journal_row *row); /* arg: a struct seen */
/* Is the i-th row this one? */
void assert_row(int i, int64_t seq, enum run_journal_state state);

/* ---- the journal and its sender ---- */

struct journal {
    struct run_journal *store;
    struct mailbox *answers;
    struct list incoming;
};

enum err journal_try(struct journal *j, int64_t keep, int64_t keep_ms, struct why *why);
void journal_open(struct journal *j);
enum err journal_refused(struct why *why); /* it must not open */
void journal_close(struct journal *j);
struct run_journal_op *journal_answer(struct journal *j); /* the next one */

struct run_journal_op accept_op(int64_t seq, enum run_journal_state state, const char *request);
struct run_journal_op result_op(int64_t seq, const char *msg);
struct run_journal_op seq_op(enum run_journal_what what, int64_t seq);
struct run_journal_op tell_op(const int64_t *seqs, size_t n);

/* Post them together; each is answered in its turn. */
void journal_send_all(struct journal *j, struct run_journal_op *ops, size_t n);
/* And with OK. */
void journal_send(struct journal *j, struct run_journal_op *ops, size_t n);
void journal_send_one(struct journal *j, struct run_journal_op op);

/* ---- its files ---- */

/* A limit on the size of files is a full disk to all who write (EFBIG). -1: none. */
void journal_room(long bytes);
char *journal_file(const char *ending, size_t *ret_n); /* the caller frees it; NULL: none */
void journal_put(const char *ending, const char *p, size_t n);
/* How many files were kept aside; log: how many logs. */
int journal_damaged(bool log);

/* ---- some rows ---- */

enum { SOME_TOLD = 300, SOME_RUNS = 600, SOME = SOME_TOLD + SOME_RUNS };

/* Ids told 1.., runs after them, a third each accepted, started, ended. Few transactions, so that
 * all of it is still in the log, and some at the end, so that there is something behind each page.
 * Closed again unless ret. */
void some_write(struct rdb **ret);
/* The files as a kill would leave them, with most of it in the log; owned by the caller. */
void some_crash(char **ret_file, size_t *ret_n, char **ret_log, size_t *ret_nlog);
/* Nothing was seen that was not written; how much of it was. */
int some_check(void);
/* Open the damaged one: it works, and says what it could read. Then again: nothing more happens. */
int some_open_damaged(void);

#endif
