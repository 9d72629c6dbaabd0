/* SPDX-License-Identifier: Apache-2.0 */
/* center.h - the scheduling center: the core wired to the store, the network and the clock.
 *
 * Threads: the scheduler's loop (center_run's caller) owns the core, the dispatch client and the
 * front that accepts connections; the writer owns the store's writing handle and the planner.
 * Other threads call the functions of the last section, which block the caller only. */
#ifndef PEAL_SERVER_CENTER_H
#define PEAL_SERVER_CENTER_H

#include "base/err.h"
#include "base/why.h"
#include "ledger/figures.h"
#include "ledger/incidents.h"
#include "ledger/write.h"
#include "net/httpd.h"
#include "net/targets.h"
#include "ledger/retention.h"
#include "sched/sched.h"
#include "server/backups.h"
#include "server/follow.h"
#include "server/metrics.h"
#include "server/zones.h"
#include "store/store.h"

struct center;

#define CENTER_BODY_MAX (16u << 20) /* of a request that executors send */

struct center_config {
    const char *listen;       /* "127.0.0.1:8080" */
    struct targets targets;   /* which addresses of executors are called; zeroed: all */
    struct tls_client *trust; /* what executors and other nodes are checked with; NULL: any
                               * certificate is taken. Borrowed for good */
    struct tls_server *tls;   /* the port speaks TLS; NULL: plain HTTP. Borrowed for good */
    const char *data;         /* folder, made if missing */
    const char *db;           /* as store_open's; NULL: peal.db in the data folder */
    int64_t db_clock_skew_ms; /* see clock_skew_ms of store_options */
    const char *db_password;  /* if db is a server's and does not say it; NULL */
    const char *node_name;    /* in such a database; NULL: the host's */
    const char *node_address; /* where other nodes reach this one; NULL: see node_address_choose */
    bool cluster;             /* others of other names may have that database, too */
    const char *token;        /* access token, both directions; "" = none (said in the log) */
    const char *recorder;     /* folder of the flight recorder, "none"; NULL: as flight_file.h */
    const char *zone;         /* server's zone by name; NULL or "": the system's */
    int64_t misfire_threshold_ms;      /* see plan.h */
    int64_t start_deadline_ms;         /* of jobs that do not say */
    int lane_connections, lane_queue;  /* see sched.h */
    const char *const *alarm_channels; /* see batch.h; borrowed for good */
    bool still; /* nothing fires, is planned or listens: edits are all that it makes */
    struct retention_rules retention; /* of the log */
    struct backups_config backups;
};

/* Open the store, load what it holds, listen. Nothing fires before center_run. Text of the config
 * is copied. */
MUST_CHECK enum err center_new(const struct center_config *config, struct center **ret,
                               struct why *why);
/* Every request of the listening front comes to fn, on the loop's thread; the heads of large ones
 * to head before (on_head in net/httpd.h). Set before center_run. */
void center_on_request(struct center *c, void (*fn)(struct httpd_request *q, void *arg),
                       size_t (*head)(struct httpd_request *q, void *arg), void *arg);
/* fn is called when a commit with new alarms has been heard, by any thread; it does not
 * block. Set before center_run. */
void center_on_alarm(struct center *c, void (*fn)(void *arg), void *arg);
/* Any thread: something else than a batch has changed what is to be told; calls it too. */
void center_alarms_changed(struct center *c);
/* fn is called on the loop's thread when other servers may have changed what all keep in memory
 * (channels, rules); it does not block. Set before center_run. */
void center_on_heard(struct center *c, void (*fn)(void *arg), void *arg);
/* One that is told what other servers on the same database have ended, see follow.h; NULL: none any
 * more. Any thread. */
void center_on_others(struct center *c, follow_fn *fn, void *arg);
/* One that looks on, on the loop's thread; it does not block. */
struct center_watcher {
    /* A commit has been heard; the core has not taken the batch yet. */
    void (*committed)(void *arg, struct sched *s, const struct batch *b);
    /* At the end of an iteration of the loop. Returns the boot time by which it is to be called
     * again though nothing happens; INT64_MAX: it need not. */
    int64_t (*turned)(void *arg, struct sched *s);
};
/* Before center_run; NULL: nobody looks on any more, after it. Borrowed. */
void center_watch(struct center *c, const struct center_watcher *w, void *arg);
/* Turn until center_stop; then stop accepting, let calls under way end (at most 5 s), write what
 * is to be written. */
void center_run(struct center *c);
/* After center_run: has it returned because another server has taken over? */
bool center_fenced(const struct center *c);
void center_stop(struct center *c); /* any thread, also from a signal handler */
void center_free(struct center *c); /* after center_run has returned and all askers are gone */

/* Other settings of the backups. Any thread, one at a time, between center_new and center_free. */
void center_backups(struct center *c, const struct backups_config *config);

uint16_t center_port(const struct center *c);
bool center_wants_certificate(const struct center *c); /* of executors; any thread */
struct loop *center_loop(struct center *c);
struct httpd *center_front(struct center *c);
struct zones *center_zones(struct center *c);             /* any thread */
const char *center_zone_name(const struct center *c);     /* any thread */
const char *center_listen(const struct center *c);        /* "host:port"; any thread */
const char *center_token(const struct center *c);         /* any thread */
int64_t center_start_deadline_ms(const struct center *c); /* of jobs that do not say; any thread */
int center_last_year(const struct center *c);             /* bound of cron searches; any thread */
struct metrics *center_metrics(struct center *c);         /* any thread */
int64_t center_trace_key(const struct center *c);         /* of trace_of; any thread */
struct figures *center_figures(struct center *c);         /* any thread, what it reads */
struct incidents *center_incidents(struct center *c);     /* any thread, to make it stale */

/* ---- on the loop's thread: what the executor API needs ----------------------------------------
 */

/* token: the access token that came with the request; token.p NULL: none did. */
bool center_token_known(const struct center *c, struct slice token); /* for some group */
bool center_token_serves(const struct center *c, struct slice app, struct slice token);
/* With a token that serves for the app. */
bool center_register(struct center *c, struct slice app, struct slice address, bool ours,
                     struct slice token);
void center_unregister(struct center *c, struct slice app, struct slice address);
/* The group has that access token from now on, see keys.h. */
void center_token_put(struct center *c, const struct group_token *t);

struct center_result {
    int64_t log_id, date_ms; /* date: logDateTim as it came, 0: none */
    int code;
    struct slice msg;
};
/* Keep results, but for those that are surely of other runs, which are taken out of the array; then
 * answer q: code 200 once they are in the database or in the journal, 500 if
 * that takes longer than 2 s. unread: how many more there were that could not be read: code 500 in
 * any case, so that their executor keeps them. q is the callback that they were read from (its body
 * may be read again for the journal). Results of groups for which the token does not serve are left
 * out as well. False: all of them were, and q is not answered; where only the log knows the group,
 * q is refused later. */
MUST_CHECK bool center_results(struct center *c, struct center_result *results, size_t n,
                               size_t unread, struct slice token, struct httpd_request *q);

/* ---- any other thread: blocks until the scheduler has answered ---------------------------------
 */

/* A handle for pages; the caller's own, store_close when done. */
MUST_CHECK enum err center_reader(struct center *c, struct store **ret, struct why *why);

/* Make the edit. The edit is taken; on OK *ret is it, done (id, now), to be freed by edit_free;
 * else why says what the store or the rule refused. ERR_TIMEOUT after 10 s: it may still happen. */
MUST_CHECK enum err center_edit(struct center *c, struct edit *e, struct edit **ret,
                                struct why *why);
/* The same in two steps, so that several edits are under way at once: each request is waited for,
 * by the thread that made it. */
struct request;
MUST_CHECK struct request *center_edit_ask(struct center *c, struct edit *e);
MUST_CHECK enum err center_edit_answer(struct center *c, struct request *asked, struct edit **ret,
                                       struct why *why);
/* Make n edits (of distinct jobs) in one transaction, in that order, all or none. They are taken,
 * the array is not; on OK it has them again, done, to be freed by edit_free, else NULLs.
 * *ret_which: the one that was refused, -1: none was, or it is not known. */
MUST_CHECK enum err center_edits(struct center *c, struct edit **edits, int n, int *ret_which,
                                 struct why *why);
/* Make the write with the next batch; write->done is called with arg in any case, see write.h. The
 * same error and the same text as done. ERR_TIMEOUT after 10 s: it may still happen. */
MUST_CHECK enum err center_write(struct center *c, const struct ledger_write *write, void *arg,
                                 struct why *why);
/* The same, and heard is called on the loop's thread when the write is committed, before the asker
 * is told. */
MUST_CHECK enum err center_write_heard(struct center *c, const struct ledger_write *write,
                                       void (*heard)(struct center *c, void *arg), void *arg,
                                       struct why *why);
/* The same without waiting, for what may be lost (when something was used last). */
void center_write_later(struct center *c, const struct ledger_write *write, void *arg);
/* Run a job now; param, choices and companion of the spawn are taken. */
MUST_CHECK enum err center_trigger(struct center *c, struct spawn *spawn, int64_t *ret_log_id,
                                   struct why *why);
/* The same in two steps. */
MUST_CHECK struct request *center_trigger_ask(struct center *c, struct spawn *spawn);
MUST_CHECK enum err center_trigger_answer(struct center *c, struct request *asked,
                                          int64_t *ret_log_id, struct why *why);
/* Other servers may have the same database, and runs of it; any thread. */
bool center_shares(const struct center *c);
/* This server does what one of them does for all; see node_first. Any thread. */
bool center_first(const struct center *c);
const char *
center_node_name(const struct center *c); /* any thread; of the setting, or the host's */
/* Tell the other servers that the database has something new for them. Any thread; it does not
 * wait, and may be lost: they look themselves, each 200 ms. */
void center_nudge(struct center *c);
/* What is to be said of this server's open runs to others that ask ("attention"; live/attention.h):
 * copied, and said until the next one comes. Any thread; its lock is held for a copy only. */
void center_attention_set(struct center *c, struct slice text);
/* Ask another server, by the number of its node: path and body as peers.h has them, copied. Each
 * ask is answered for once; several may be under way. Any thread but the loop's. */
struct peer_ask;
MUST_CHECK struct peer_ask *center_peer_ask(struct center *c, int64_t node, const char *path,
                                            struct slice body);
/* Wait for it, half a second at most. On OK *ret is what it says, owned (free), with a NUL behind
 * it; else why says why it is not known: ERR_NOTFOUND (no such node lives, or it has not answered
 * lately), ERR_INVALID (its release does not know the question), ERR_NET (it did not answer now),
 * ERR_TIMEOUT, ERR_STOPPING. */
MUST_CHECK enum err center_peer_answer(struct center *c, struct peer_ask *a, char **ret,
                                       size_t *ret_n, struct why *why);
/* Stop a run; ret_text (size 256) is what the executor said. ERR_NOTFOUND: it is not open here. */
MUST_CHECK enum err center_kill(struct center *c, int64_t log_id, char *ret_text, struct why *why);

struct center_log { /* a page of an executor's rolling log */
    int from_line, to_line;
    bool is_end;
    char *content; /* owned by the caller: free() */
    size_t n;
};
struct center_log_of { /* a run, by its log row */
    int64_t group_id, log_id, trigger_ms;
    const char *address; /* of its executor */
    struct trace_root trace;
};
/* The executor's /log, of any dialect. */
MUST_CHECK enum err center_log_page(struct center *c, const struct center_log_of *of, int from_line,
                                    struct center_log *ret, struct why *why);

/* The same without waiting: the message comes back, filled in. */
struct center_log_ask {
    struct message message;
    char *address; /* "": that of the run, if the core has one */
    int64_t group_id, log_id, trigger_ms;
    struct trace_root trace;
    int from_line;
    /* the answer */
    enum err err; /* ERR_NOTFOUND: there is no address to ask; ERR_STOPPING: the center stops */
    struct why why;
    bool run_open;   /* the run had not ended when the executor was asked */
    int64_t took_ms; /* until the answer */
    struct center_log log;
    struct mailbox *to; /* private: */
    int kind;
    int64_t asked_ms;
};
struct center_log_ask *center_log_ask_new(const struct center_log_of *of, int from_line);
void center_log_ask_free(struct center_log_ask *a);
/* Comes back to that mailbox with that kind of message. The mailbox lives until center_run has
 * returned; what is asked after that does not come back and is freed by the center. */
void center_log_ask(struct center *c, struct center_log_ask *a, struct mailbox *to, int kind);

/* Is the address registered for the group or in its list? */
bool center_address_known(struct center *c, int64_t group_id, struct slice address);
struct center_group { /* where the jobs of a group can go, as known now */
    int64_t id;
    int total, up; /* addresses; those that runs are routed to */
};
/* Of all groups, by id; owned by the caller: free(). */
MUST_CHECK enum err center_groups_live(struct center *c, struct center_group **ret, size_t *ret_n,
                                       struct why *why);
/* Of a group that is not there: none. */
MUST_CHECK enum err center_group_live(struct center *c, int64_t group_id, struct center_group *ret,
                                      struct why *why);

#define CENTER_KEYS_MAX 1000
struct center_keys { /* during a change of a group's token: who has the new one */
    int moved, left; /* addresses of the group that came with it, and the others */
    struct center_key {
        char *address;
        bool told; /* it has registered since with the one so far; else nothing is known */
    } * waiting;   /* of the others */
    int n;
};
/* Of a group that is not there: none. center_keys_done. */
MUST_CHECK enum err center_group_keys(struct center *c, int64_t group_id, struct center_keys *ret,
                                      struct why *why);
void center_keys_done(struct center_keys *k);

/* What has happened so far to a run that is live. ERR_NOTFOUND: it is not. */
MUST_CHECK enum err center_story(struct center *c, int64_t log_id, struct story *ret,
                                 struct why *why);

/* What an edit of the job would withdraw now, and what goes on. */
MUST_CHECK enum err center_withdrawn(struct center *c, int64_t job_id, enum edit_kind kind,
                                     struct sched_withdrawn *ret, struct why *why);

/* Addresses as the scheduler knows them now; a page, by address. The filter's texts and scopes are
 * copied. center_executors_done. */
struct center_executors {
    struct executor_view *items;
    int n;
    int total; /* that the filter has in all */
};
MUST_CHECK enum err center_executors(struct center *c, const struct executors_filter *f,
                                     struct center_executors *ret, struct why *why);
void center_executors_done(struct center_executors *e);
/* Forget a registered address until it registers again. ERR_NOTFOUND: it is not registered. */
MUST_CHECK enum err center_forget(struct center *c, const char *address, struct why *why);
struct center_probe {
    bool reachable; /* it answered, whatever it said */
    int64_t took_us;
    char said[512];
    struct sched_busy busy[SCHED_BUSY_MAX]; /* as sched_busy says */
    int nbusy;
};
/* /beat, in a few seconds at most; an address that does not answer is an answer here. group_id: of
 * a group that has the address, 0: none. */
MUST_CHECK enum err center_probe(struct center *c, int64_t group_id, const char *address,
                                 struct center_probe *ret, struct why *why);

struct center_health {
    bool store_ok; /* the last commit succeeded */
    bool fires;    /* the watermark is ahead of the clock; among others the lease holds, too */
    bool draining;
    char reason[768]; /* why not, for people */
    char note[200];   /* what else they should know: all is well without it */
};
void center_health(struct center *c, struct center_health *ret); /* any thread, never blocks */

#endif
