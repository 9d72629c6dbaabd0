/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the center's memory, shared by the files of this folder only. Everything belongs to
 * the scheduler's thread unless a comment says otherwise. */
#ifndef PEAL_SERVER_STATE_H
#define PEAL_SERVER_STATE_H

#include "base/clock.h"
#include "base/map.h"
#include "net/httpc.h"
#include "net/loop.h"
#include "server/center.h"
#include "server/journal.h"
#include "server/tender.h"
#include "server/writer.h"

enum mail_kind { MAIL_BATCH_DONE, MAIL_ASK, MAIL_JOURNAL, MAIL_ZONES };

#define EXTRA_CONNECTIONS 40 /* to one address, beyond its lane's: asks, beats, kills, logs */

struct center {
    struct center_config config; /* text owned */
    char *db;
    struct loop *loop;
    struct httpd *front;
    struct httpc *client;
    struct sched *sched;
    struct writer *writer;
    struct zones *zones;
    struct metrics metrics;
    struct mailbox *mailbox;
    struct loop_mail mail;
    struct loop_timer timer; /* the next wait in boot time */
    struct textmap peers;    /* address -> struct httpc_peer */
    int64_t peers_boot_ms;   /* when they are looked through again */
    struct list held;        /* callbacks whose commit has not come */
    struct list replies;     /* of these, the ones not answered, oldest first */
    struct list fresh;       /* and the ones not offered to the journal, oldest first */
    struct journal *journal; /* NULL: there is none, said in the log */
    int journalled;          /* callbacks in it, or on their way, whose commit has not come */
    size_t journal_way;      /* bytes on their way */
    struct list calls;       /* open calls to executors */
    struct list asks;        /* what other threads wait for */
    struct batch_mail batch;
    struct tender *tender;
    void (*on_request)(struct httpd_request *q, void *arg);
    void *on_request_arg;
    int64_t wall_minus_boot_ms; /* to notice a step of the clock */
    int64_t drain_until_ms;     /* boot; 0 = not draining */
    int last_year;
    _Atomic int stop; /* how often center_stop was called */
    bool writing, finished;
    char zone_name[ZONES_NAME_MAX + 1];
    /* read by other threads */
    _Atomic int64_t mark_ms;
    _Atomic bool draining;
    _Atomic bool closed; /* the loop turns no more: nobody answers */
};

static inline struct moment_now center_now(void)
{
    struct moment_now now = { clock_wall_ms(), clock_boot_ms() };
    return now;
}

/* center.c */
void center_pump(struct center *c); /* actions out, batch to the writer, timers */

/* dispatch.c: calls to executors */
/* Drop the peers without a connection, once a minute: containers change their addresses for ever.
 */
void dispatch_sweep(struct center *c, int64_t boot_ms);
void dispatch_call(struct center *c, const struct call *call);
/* Open connections to an address ahead of its calls. */
void dispatch_warm(struct center *c, const char *address, int connections);
void dispatch_abort_all(struct center *c);
struct httpc_peer *dispatch_peer(struct center *c, const char *address, struct why *why);

/* ask.c: what other threads want */
void ask_letter(struct center *c, struct letter *l);
void ask_refuse(struct letter *l);     /* stopping: one that was not opened */
void ask_refuse_all(struct center *c); /* and those that were */
void ask_edited(struct center *c, struct edit *e);
void ask_spawned(struct center *c, const struct action *a);
void ask_killed(struct center *c, const struct action *a);

/* results.c: callbacks that wait to be kept */
void results_ack(struct center *c, struct ack *ack);
void results_overdue(struct center *c, int64_t boot_ms);
int64_t results_next(const struct center *c); /* boot ms of the next thing overdue */
void results_journalled(struct center *c, struct journal_mail *m); /* it has come back */
/* Open the journal and give the core what stands in it. Fails only if results would be lost by
 * going on; without room or rights there is a warning and no journal. */
MUST_CHECK enum err results_replay(struct center *c, struct why *why);
void results_free(struct center *c);

#endif
