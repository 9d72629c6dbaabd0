/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - this server among those that could open the same database: its beat, and the data
 * folder's memory of its last life there.
 *
 * Once a second a thread with a connection of its own writes the beat, so that a server that starts
 * sees within 3 s whether this one is alive, however long a batch takes. What the beat's answer
 * says of the database's clock is compared with this machine's. When to beat, and what a refused
 * beat means, is decided by the rules of a cluster (sched/node.h). Without node.cluster they know
 * that this server has the database alone. With it, the thread looks at the other nodes as well,
 * and ends those that are silent. */
#ifndef PEAL_SERVER_NODE_H
#define PEAL_SERVER_NODE_H

#include "base/err.h"
#include "base/why.h"
#include "server/inbox.h"
#include "server/lives.h"
#include "server/metrics.h"
#include "server/news.h"
#include "store/store.h"

struct node;

#define NODE_NAME_SIZE 129

/* The name: what was given, or this host's. given: NULL or empty for none. */
void node_name_choose(const char *given, char ret[NODE_NAME_SIZE]);
/* Before the database is opened: take node.lock of the data folder (ERR_BUSY: another process has
 * it). NULL in *ret for a database in a file, which has a lock of its own. shared: other servers
 * may have the database as well (ERR_INVALID for a file). Texts are copied; metrics are borrowed.
 */
MUST_CHECK enum err node_new(const char *data, const char *db, const char *password,
                             const char *name, bool shared, struct metrics *metrics,
                             struct node **ret, struct why *why);
/* The epoch that the last process with this folder had on this database, 0: none is known. It has
 * ended, because the lock is ours. */
int64_t node_gone_epoch(const struct node *n);
/* That process has ended because the database had lost commits; false for NULL. The metric says how
 * many. */
bool node_lost_commits(const struct node *n);

/* Called on the node's thread. */
struct node_hooks {
    /* The database has refused a beat, or the machine's clock is wrong: this life is over and
     * nothing may be sent in it. Once at most. why: lent. */
    void (*lost)(void *arg, const struct why *why);
    void (*woken)(void *arg); /* node_takes has something new; only where the database is shared */
    void *arg;
};

struct node_says {
    struct share share;    /* which node plans which job */
    int64_t lease_ms;      /* boot clock: until then runs may be sent, */
    int64_t watermark_ms;  /* which fall due up to here */
    bool claim;            /* look for what is due: another node may have left it */
    struct adoption adopt; /* of whose runs a slice is to be taken over; then node_adopted */
    bool sweeps;           /* jobs are to be moved to their homes, a slice from there; */
    struct home_row sweep; /* then node_swept */
};

/* Any thread: a number that moves when another server has changed groups, access tokens or
 * registrations, or rules or channels of alarms; NULL is fine. */
uint64_t node_others(const struct node *n);
/* Any thread: may this server send runs now? One that has the database alone may; NULL is fine. */
bool node_leased(const struct node *n);
/* Any thread: does this server do what one server does for all (send alarms, delete what is old)?
 * One that has the database alone does; NULL is fine. Of several one at most does at any time, and
 * for some seconds after one has died none. */
bool node_first(const struct node *n);
/* Any thread: what is to be done, once each. False: this server has the database alone. */
bool node_takes(struct node *n, struct node_says *ret);
/* The same: results for runs of this server that others have taken; the caller's
 * (inbox_rows_done). Where the database is shared. */
bool node_results(struct node *n, struct inbox_rows *ret);
/* The same: edits of jobs that others have made; the caller's (news_rows_done). */
bool node_news(struct node *n, struct news_rows *ret);
/* The same: the other nodes that live, with the address of each, if that has changed since the last
 * call; the caller's (live_nodes_done). */
bool node_lives(struct node *n, struct live_nodes *ret);
/* The scheduler's thread: another server has written something; look at all of it now. However
 * often that is said, one look is under way and one waits. NULL is fine. */
void node_nudge(struct node *n);
/* The same: this machine's clock has stepped. Nothing is sent until a beat has been acknowledged;
 * the step is followed (clock_follow, then woken) when the database's clock and the others do not
 * show it to be wrong. NULL is fine. */
void node_stepped(struct node *n);
bool node_shared(const struct node *n); /* NULL is fine */
/* The database is open: remember whose life it is, and begin to beat. address: copied; where others
 * reach this server.
 * NULL for n, as of a database in a file, is fine. */
MUST_CHECK enum err node_start(struct node *n, struct store *store, const char *address,
                               const struct node_hooks *hooks, struct why *why);
/* The scheduler's thread: the slice is taken. taken: rows; left: that epoch has more. */
void node_adopted(struct node *n, int64_t taken, bool left);
/* The same of a slice of jobs. next: borrowed; left: there is another slice from there on. */
void node_swept(struct node *n, const struct home_row *next, bool left);
/* A thread with a handle for pages: is it time to count the jobs whose home is this node? False for
 * NULL. And count them, for the metrics and the node's row. */
bool node_counts(const struct node *n);
void node_count(struct node *n, struct store *reader);
/* The server stops: its row says so, and a beat that is refused from now on means nothing, because
 * the next server may have begun. Once; NULL is fine. */
void node_leave(struct node *n);
/* Stops and joins; the lock goes. NULL is fine. */
void node_free(struct node *n);

#endif
