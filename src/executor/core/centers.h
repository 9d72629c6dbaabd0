/* SPDX-License-Identifier: Apache-2.0 */
/* centers.h - requests to the centers: registration, results of runs, deregistration.
 *
 * The centers of the list are one cluster: for each request the one that answered last is tried
 * first, then the others in order, and the first yes ends the round. A round without a yes is
 * repeated after a pause that doubles from 1 s to 30 s. Results go in batches, one request at a
 * time, and are kept until a center has acknowledged them. Thread: the loop's. */
#ifndef PEAL_EXECUTOR_CORE_CENTERS_H
#define PEAL_EXECUTOR_CORE_CENTERS_H

#include "base/list.h"
#include "base/why.h"
#include "net/loop.h"

struct centers; /* opaque */

struct result {
    struct list_node node; /* private */
    int64_t log_id, log_date_ms;
    int code;
    int tries;    /* private: requests that carried it in vain */
    bool has_log; /* the run had a log of its own */
    char *msg;    /* owned */
    /* results.c's */
    struct list_node late; /* among those that the journal does not have yet */
    int64_t seq;
    bool journalled, reported, acknowledged;
};

struct centers_config { /* borrowed until centers_free */
    const char *addresses, *token, *appname, *address;
    const char *ca, *cert, *key; /* see tls_trust */
    /* a result was acknowledged and is yours again, or refused for the first time and is not */
    void (*told)(struct result *r, bool acknowledged, void *arg);
    void (*left)(void *arg); /* centers_leave is done, successfully or not */
    void *arg;
};

/* ERR_INVALID with the reason in why: an address or the token cannot be used. */
MUST_CHECK enum err centers_new(struct loop *l, const struct centers_config *config,
                                struct centers **ret, struct why *why);
void centers_free(struct centers *c); /* results not delivered are thrown away */
/* Is there any to report to? */
bool centers_any(const struct centers *c);
/* Begin to register, at once and every 30 s; also after centers_leave. */
void centers_join(struct centers *c);
/* Deregister, once; then "left", never from within this call. Nothing if it is under way. */
void centers_leave(struct centers *c);
/* Has a center said yes to the last registration, and no leave begun since? */
bool centers_registered(const struct centers *c);
/* Until "told" gives it back r is borrowed. Only if there are any. */
void centers_report(struct centers *c, struct result *r);
/* Results not acknowledged yet. */
size_t centers_pending(const struct centers *c);

void result_free(struct result *r);

#endif
