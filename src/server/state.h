/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the center's memory, shared by the files of this folder only. Everything belongs to
 * the scheduler's thread unless a comment says otherwise. */
#ifndef PEAL_SERVER_STATE_H
#define PEAL_SERVER_STATE_H

#include "base/buf.h"
#include "base/clock.h"
#include "net/loop.h"
#include "server/center.h"
#include "server/flight_file.h"
#include "server/heard.h"
#include "server/journal/journal.h"
#include "server/keys.h"
#include "server/maintenance.h"
#include "server/node.h"
#include "server/peers.h"
#include "server/tls_front.h"
#include "server/writer.h"
#include "transport/transport.h"
#include <pthread.h>

enum message_kind {
    MESSAGE_BATCH_DONE,
    MESSAGE_REQUEST,
    MESSAGE_JOURNAL,
    MESSAGE_ZONES,
    MESSAGE_LOG_ASK,
    MESSAGE_LOST,
    MESSAGE_NODE,
    MESSAGE_HEARD,
    MESSAGE_PEER_ASK,
    MESSAGE_NUDGE
};

#define EXTRA_CONNECTIONS 40 /* to one address, beyond its lane's: queries, beats, kills, logs */

struct waiter { /* waits for results to be committed */
    struct ack ack;
    void (*done)(struct center *c, struct waiter *k); /* they are */
};

struct reply { /* one callback request, until its results are committed, here or by their owners */
    struct waiter kept; /* of those that have gone into this server's core */
    int waits;          /* for that, and for each result that is on its way to its owner */
    struct list_node held, node, fresh; /* in the lists of center */
    struct httpd_request *request;      /* NULL once answered */
    int64_t at_boot_ms;
    struct list_node way; /* in the message that takes its results to the journal */
    int file;             /* of the journal that has them, or will have; -1: none */
    struct claim *claim;  /* of results whose group is looked at by the commit; NULL: of none */
    size_t n;             /* results that count */
    bool unread;          /* there was one that could not be read: to be sent again */
};

#define FORWARD_HINTS 4096

struct forwards {     /* results_forward.c */
    struct list open; /* struct forward */
    struct forward_hint {
        int64_t block, epoch; /* of so many log ids, the life that had one of them */
    } * hints;                /* FORWARD_HINTS, by block; NULL: none yet */
};

struct journalling {         /* results_journal.c */
    struct journal *journal; /* NULL: there is none, said in the log */
    int nfiles, file;        /* that there are; the one that takes what comes */
    struct journalling_file {
        int held;        /* callbacks in it, or on their way, whose commit has not come */
        size_t bytes;    /* given since it was emptied */
        int64_t idle_ms; /* boot: not emptied before, while it is the one that takes */
    } files[JOURNAL_FILES];
    struct journal_message *gather, *way; /* what comes; what the journal has. NULL: none */
    int64_t given_us;                     /* boot: when it got that */
    int64_t gap_us;                       /* the next gets there so much later at the earliest */
    int64_t append_us, commit_us;         /* averages: from given to durable, of either */
    struct journal_owner owner; /* this life, and the one that the database named at start */
    int64_t last_id;            /* that the database had given at start */
};

struct center {
    struct center_config config; /* text owned */
    char *db;
    struct node *node; /* NULL: the database is a file */
    char node_name[NODE_NAME_SIZE];
    struct message lost; /* from the node: another server has taken over */
    struct why lost_why;
    struct message woken; /* from the node: it has something new */
    _Atomic bool is_woken;
    char node_address[NODE_ADDRESS_SIZE];
    uint64_t others;      /* node_others, as it was when maintenance was told */
    struct peers *peers;  /* NULL: this server speaks to no other */
    struct message nudge; /* from any thread: speak to them */
    _Atomic bool is_nudged;
    pthread_mutex_t attention_lock; /* for the next; any thread */
    struct buf attention;           /* of center_attention_set; empty: it is not known yet */
    struct loop *loop;
    struct httpd *front;
    struct tls_front *tls_front;   /* NULL: the port speaks plain HTTP */
    struct transports *transports; /* to executors */
    struct sched *sched;
    struct keys *keys; /* access tokens */
    struct writer *writer;
    struct figures *figures;
    struct follow *follow; /* NULL: this server has the database alone */
    struct incidents *incidents;
    struct zones *zones;
    struct metrics metrics;
    struct mailbox *mailbox;
    struct loop_mailbox incoming;
    struct loop_timer timer;      /* the next wait in boot time */
    struct loop_timer look_again; /* the watcher is to be called */
    struct list held;             /* callbacks whose commit has not come */
    struct list replies;          /* of these, the ones not answered, oldest first */
    struct list fresh;            /* and the ones not offered to the journal, oldest first */
    struct journalling journalling;
    int64_t batch_us;         /* boot: when the writer got the batch */
    struct list calls;        /* open calls to executors */
    struct list requests;     /* what other threads wait for */
    struct forwards forwards; /* results on their way to the nodes that own their runs */
    struct list taken;        /* and from other nodes, until they are committed */
    struct list log_asks;     /* pages of logs that executors are being asked for */
    struct list peer_asks;    /* what other servers are being asked for by threads that wait */
    struct list writes;       /* struct ledger_entry: go with the next batch */
    struct batch_message batch;
    struct flight_file *flight;
    bool settled;          /* the first commit of this process has been heard */
    bool left_clean;       /* and the last one says that nothing planned was sent */
    uint64_t contradicted; /* as told in the log */
    uint64_t refused;      /* the same, of results for which there was no room, and: */
    int64_t refused_ms;    /* boot: before then the next ones are not told */
    struct maintenance *maintenance;
    struct heard *heard; /* NULL: nobody else writes to the database */
    uint64_t groups_seq; /* of the last batch with an edit of a group or a token */
    struct backups *backups;
    void (*on_request)(struct httpd_request *q, void *arg);
    size_t (*on_head)(struct httpd_request *q, void *arg);
    void *on_request_arg;
    void (*on_alarm)(void *arg); /* NULL: nobody is told */
    void *on_alarm_arg;
    void (*on_heard)(void *arg); /* the same */
    void *on_heard_arg;
    const struct center_watcher *watcher; /* NULL: none */
    void *watcher_arg;
    int64_t wall_minus_boot_ms; /* to notice a step of the clock */
    int64_t full_ms;            /* boot: a registration that has no room is said from then on */
    int64_t step_ms;            /* of the machine's, which is not followed yet */
    bool beside;                /* Java admins plan on the tables, too */
    int64_t empty_until_ms;     /* boot: at a stop, what is planned leaves until then; 0: no stop */
    int64_t drain_until_ms;     /* boot; 0 = not draining */
    int64_t answers_until_ms;   /* boot: connections get their last answers until then */
    bool passed;                /* the listening socket was passed in and outlives us */
    int last_year;
    _Atomic int stop; /* how often center_stop was called */
    bool writing, finished;
    bool fenced; /* another server has taken over */
    char zone_name[ZONES_NAME_MAX + 1];
    /* read by other threads */
    _Atomic int64_t watermark_ms;
    int64_t trace_key; /* of the database; set before there are threads */
    _Atomic bool draining;
    _Atomic bool closed; /* the loop turns no more: no answer will come */
};

static inline struct now center_now(void)
{
    struct now now = { clock_wall_ms(), clock_boot_ms() };
    return now;
}

/* center.c: the loop */
void center_pump(struct center *c);       /* actions out, batch to the writer, timers */
void center_node_said(struct center *c);  /* what the node's rules have said since the last time */
void center_loop_init(struct center *c);  /* the callbacks of its timers and messages */
void center_loop_begin(struct center *c); /* all of it is made: the clock and the pump count */

/* center_load.c: at the start, into a core that is made; says why, when it fails */
MUST_CHECK enum err center_load(struct center *c, struct store *store, struct planner *planner,
                                struct why *why);

/* calls.c: calls to executors */
/* Begin a call with the token that its group and address ask for. ret: for calls_again. */
void calls_begin(struct center *c, struct call *call, struct transport_call *t,
                 struct key_sent *ret);
/* The answer says that the token was wrong, and another one serves: the same call again. */
bool calls_again(struct center *c, int64_t group_id, const char *address,
                 const struct key_sent *sent, const struct call_result *r);
void calls_start(struct center *c, const struct call *call);
void calls_abort(struct center *c); /* all that are open; the core is told */

/* access.c: tokens of groups */
/* Another server has put it; addresses that have come with the next one, in it or before it. */
void access_heard(struct center *c, const struct group_token *t, char *const *moved, size_t n);

/* requests.c: what other threads want (request.h) */
void request_open(struct center *c, struct message *l);
void request_refuse(struct message *l); /* stopping: one that was not opened */
void requests_refuse(struct center *c); /* and those that were */
void request_edited(struct center *c, struct edit *e);
/* The writes of a batch that is committed: their askers are told, or they go with the next. */
void requests_written(struct center *c, struct list *writes);
void request_spawned(struct center *c, const struct action *a);
void request_killed(struct center *c, const struct action *a);
/* One that another server has been asked for. The row says in the end what came of it. */
void request_kill(struct center *c, const struct inbox_row *row);

/* log_asks.c: pages of logs, for those who do not wait */
void log_ask_open(struct center *c, struct message *l);
void log_ask_refuse(struct message *l); /* stopping: one that was not opened; it is freed */
void log_asks_refuse(struct center *c); /* and those that were */

/* peer_asks.c: what other servers are asked, for threads that wait */
void peer_ask_open(struct center *c, struct message *l);
void peer_ask_refuse(struct message *l); /* stopping: one that was not opened */
void peer_asks_refuse(struct center *c); /* and those that were */

/* results.c: callbacks that wait to be kept */
void results_committed(struct center *c, const struct batch *b); /* before the core takes it */
void results_ack(struct center *c, struct ack *ack);
void results_overdue(struct center *c, int64_t boot_ms);
int64_t results_next(const struct center *c); /* boot ms of the next thing overdue */
void results_free(struct center *c);

/* results_wait.c: what a callback's answer waits for */
/* It waits for what has gone into the core for it; once at most. */
void results_wait(struct center *c, struct now now, struct reply *r);
/* One thing less that it waits for. With the last one it is answered, and gone. */
void results_less(struct center *c, struct reply *r);

/* results_forward.c: results that end runs of other nodes */
/* Send this one of the reply's to the node that may own its run: the reply waits for it
 * (results_less). False: there is none to ask, or too much is under way: it goes to the core. */
bool forward_result(struct center *c, struct reply *r, const struct center_result *result);
void forwards_flush(struct center *c);         /* at the end of an iteration */
int64_t forwards_next(const struct center *c); /* boot ms of the next time */
void forwards_free(struct center *c);          /* open ones end */

/* results_taken.c: results that other nodes bring */
void results_peer(struct center *c, struct peer_asked *a); /* the call "results" */
void taken_free(struct center *c);

/* results_reply.c: what both of them need */
void results_reply(struct reply *r, const char *body); /* that has not been answered */
void results_refuse(struct reply *r); /* for the token; harmless when it was answered */
/* The core had no room for one of its results; harmless when it was answered. */
void results_refuse_full(struct center *c, struct reply *r);
/* The core has refused results, because too many wait: they are counted, and told in the log. */
void results_full(struct center *c);
void results_answer(struct reply *r); /* code 200, once; harmless when it was answered */
void results_drop(struct reply *r);   /* without an answer */
/* Take out what is surely of other runs; how many stay. *ret_last: log id of the last taken out. */
size_t results_own(struct center *c, struct center_result *results, size_t n, int64_t *ret_last);
/* The same, said in the log and counted. */
size_t results_leave_foreign(struct center *c, struct center_result *results, size_t n);

/* results_journal.c: results that are durable before the database has them */
/* Open the journal and give the core what stands in it. Fails only if results would be lost by
 * going on; without room or rights there is a warning and no journal. */
MUST_CHECK enum err results_replay(struct center *c, struct why *why);
/* Would results be durable much sooner in the journal than by a commit? */
bool journalling_pays(const struct center *c, struct now now);
void journalling_committed(struct center *c, int64_t us); /* a batch has taken so long */
/* Take a callback's results to the journal with the next journalling_flush. False: it has no place
 * now, and journalling_offer_again, which reads them from the request's body, may be called later.
 */
bool journalling_offer(struct center *c, struct reply *r, const struct center_result *results,
                       size_t n);
bool journalling_offer_again(struct center *c, struct reply *r);
bool journalling_full(const struct center *c); /* nothing can be offered now */
void journalling_flush(struct center *c);      /* at the end of an iteration */
void results_journalled(struct center *c, struct journal_message *m); /* it has come back */
void journalling_message_free(struct journal_message *m);
/* The results are committed, or the journal could not take them. */
void journalling_release(struct center *c, struct reply *r);
/* Empty the files whose results have all been committed for a while. */
void journalling_sweep(struct center *c, int64_t boot_ms);
int64_t journalling_next(const struct center *c); /* boot ms at which that is due */
void journalling_free(struct center *c);          /* ends the journal's thread */

#endif
