/* SPDX-License-Identifier: Apache-2.0 */
/* transport.h - how a call reaches an executor.
 *
 * To the core an address is text. What it means is known here: the scheme before "://" chooses a
 * row of the table in transport.c, and the row's functions carry the call. A transport is a file or
 * folder with one struct transport_ops, and its row; docs/development.md walks through one.
 *
 * A call ends once, and its outcome says what is proved about delivery (model/call.h): the ledger
 * decides from that whether a run may be sent again. A transport therefore never sends a call
 * twice. Thread: everything on the loop's thread. */
#ifndef PEAL_TRANSPORT_TRANSPORT_H
#define PEAL_TRANSPORT_TRANSPORT_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "model/call.h"
#include "model/model.h"

struct loop;
struct transport_ops;

struct transport { /* one kind for one loop; embedded in the kind's own struct */
    const struct transport_ops *ops;
};

struct transport_config {
    const char *token; /* that executors expect of calls that bring none, "" for none; copied */
    int connections;   /* to one address at most */
    const struct targets *targets; /* which addresses are called; NULL: all. Borrowed until
                                    * transports_free */
    struct tls_client *trust; /* what executors are checked with; NULL: any certificate is taken.
                               * Borrowed until transports_free */
};

struct transport_page { /* a part of a run's log */
    int from_line;      /* as asked for; then of the first line that came */
    int to_line;
    bool present; /* the executor sent a page; the rest is valid only then */
    bool is_end;
    struct slice content; /* valid until done returns */
};

/* An open call. The caller's memory, zeroed before it is filled; left alone until done. */
struct transport_call {
    /* set by the caller */
    /* Optional: may it leave? Called at most once, immediately before the first byte can be
     * written; between a yes and that write nothing is waited for. False: nothing is written, and
     * the call ends with CALL_AGAIN. May be called from within call; must not start or abort calls.
     */
    bool (*leaving)(void *arg);
    /* Once, unless the call is aborted; from within call if it cannot even be tried. Of r only what
     * a transport says is filled in, and valid until done returns. */
    void (*done)(struct transport_call *c, struct call_result *r);
    void *arg;                   /* of leaving; done may use it too */
    struct transport_page *page; /* CALL_LOG: the page is wanted; NULL: only what it proves */
    /* valid in done */
    enum err err;    /* why it was not answered; OK if it was */
    int64_t sent_us; /* wall clock at the first byte; 0: none left */
    /* the transport's */
    struct transport *transport;
    void *own;
};

struct transport_ops {
    /* ERR_INVALID: the config cannot be used, why says. */
    enum err (*make)(struct loop *l, const struct transport_config *config, struct transport **ret,
                     struct why *why);
    void (*free)(struct transport *t); /* no call is open */
    /* Begin the call. what is borrowed until this returns. */
    void (*call)(struct transport *t, const struct call *what, struct transport_call *c);
    /* End an open call now: its connection is reset, done does not come. What done would have said:
     * CALL_NOT_SENT or CALL_IN_DOUBT. */
    enum call_outcome (*abort)(struct transport_call *c);
    /* A burst of calls to the address comes: have so many connections ready, as far as possible. */
    void (*warm)(struct transport *t, const char *address, int connections);
    /* Give back what is kept for addresses without a connection; called about once a second. */
    void (*sweep)(struct transport *t, int64_t boot_ms);
    /* Is this an address that it can call? At most 255 characters, no comma, blank or control
     * character. name is the field as why shall call it. Any thread. */
    enum err (*check)(struct slice address, const char *name, struct why *why);
};

struct transport_row {
    const char *scheme; /* of the addresses that it serves */
    const struct transport_ops *ops;
};

extern const struct transport_row transport_rows[]; /* the table, ended by a row without scheme */

/* The same, by its scheme; the first row judges addresses without one, and those of no row. */
MUST_CHECK enum err transport_address_check(struct slice address, const char *name,
                                            struct why *why);

struct transports; /* what a loop has: one of each kind */

MUST_CHECK enum err transports_new(const struct transport_row *rows, struct loop *l,
                                   const struct transport_config *config, struct transports **ret,
                                   struct why *why);
void transports_free(struct transports *s); /* no call is open; NULL is fine */
/* By the scheme. The first row serves addresses without one, and says what is wrong with others. */
struct transport *transport_of(struct transports *s, const char *address);
/* Begin a call to its address. */
void transports_call(struct transports *s, const struct call *what, struct transport_call *c);
void transports_warm(struct transports *s, const char *address, int connections);
void transports_sweep(struct transports *s, int64_t boot_ms);

static inline enum call_outcome transport_abort(struct transport_call *c)
{
    return c->transport->ops->abort(c);
}

#endif
