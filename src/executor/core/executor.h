/* SPDX-License-Identifier: Apache-2.0 */
/* executor.h - the executor: takes runs from scheduling centers, runs them, reports their ends.
 *
 * It lives on its caller's loop and adds threads of its own: workers, in which handlers run, and a
 * log writer, which reads logs, and the journal's. What it has promised (queues, results that no
 * center has taken yet, the dedup set) is in the journal. It touches no signals: the caller says
 * when to stop. docs/internals/executor.md is the map. Thread: every call on the loop's thread. */
#ifndef PEAL_EXECUTOR_CORE_EXECUTOR_H
#define PEAL_EXECUTOR_CORE_EXECUTOR_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "executor/process/limits.h"
#include "net/loop.h"

struct executor; /* opaque */
struct handlers;
struct isolate;

/* Limits of the numbers below: of a program's configuration and of the options. */
#define EXECUTOR_WORKERS_MAX 1000
#define EXECUTOR_QUEUE_MAX 1000000
#define EXECUTOR_REMEMBER_MAX 100000000
#define EXECUTOR_STOP_MAX_MS 86400000
#define EXECUTOR_RETENTION_MAX_DAYS 100000

struct executor_config {    /* texts are borrowed until executor_free; NULL is as "" */
    const char *centers;    /* addresses, comma separated; empty: serve, but register nowhere */
    const char *token;      /* of both directions; empty: none is asked for */
    const char *ca;         /* of https centers: see tls_trust; empty: TLS_SYSTEM */
    const char *cert, *key; /* files of the certificate to show them; empty: none */
    const char *appname;    /* empty: serve, but register nowhere */
    const char *address;    /* to register verbatim; empty: http://ip:port/ */
    const char *ip;         /* to register; empty: the listening address, or a found one */
    const char *listen;     /* host to listen on; empty: every interface */
    int port;               /* 0 or less: the first free one from 9999 on */
    const char *logpath;    /* folder of the runs' logs, made if it is missing */
    int retention_days;     /* logs of older days are removed; fewer than 3: none are */
    const char *glue;       /* script kinds that may run, comma separated: "shell, python" */
    struct limits_config script_limits; /* of scripts */
    bool programs;                      /* scripts or commands may run: they want isolate, too */
    const struct handlers *handlers;    /* borrowed until executor_free */
    struct isolate *isolate; /* borrowed; of handlers that want a process, and for groups */
    /* Optional: a sentence for people about a handler that is not there; NULL: nothing. */
    const char *(*hint)(struct slice handler);
    int workers;                   /* runs at a time */
    size_t stack;                  /* bytes of each one's stack; 0: as usual */
    int queue;                     /* runs that may wait, per job */
    int remember;                  /* finished log ids to refuse a second time */
    int64_t memory;                /* bytes that runs and results may take together */
    const char *journal;           /* file; empty: {logpath}/journal.db */
    int grace_ms;                  /* how long a run may go on after it was asked to stop */
    int stop_ms;                   /* how long executor_stop lets runs go on */
    void (*on_stopped)(void *arg); /* executor_stop is complete; free the executor after it */
    void *arg;
};

/* Open the journal, listen, go on with what the journal has, begin to register. ERR_INVALID,
 * ERR_NET, ERR_BUSY (the journal is another's) or ERR_IO with the reason in why. */
MUST_CHECK enum err executor_new(struct loop *l, const struct executor_config *config,
                                 struct executor **ret, struct why *why);
/* The address that centers are told. */
const char *executor_address(const struct executor *e);
struct executor_counts { /* written by the loop, read by any thread; as of the last iteration */
    _Atomic int registered, draining, stopping, running, waiting;
    _Atomic int64_t accepted, refused, ended, results;
};
const struct executor_counts *executor_counts(const struct executor *e);
/* Handlers that were asked to stop and have not returned in time. */
int executor_stuck(const struct executor *e);

/* Leave the centers, refuse new runs, let those that are here go on for stop_ms, end the rest,
 * deliver what can be delivered, call on_stopped. A second call ends the waiting. */
void executor_stop(struct executor *e);
/* Deregister and take no new runs (true), or go back to work (false). Nothing once it stops. */
void executor_drain(struct executor *e, bool drain);
/* At once: asks what is at work to stop and waits for it. What has waited, and what was not
 * delivered, is in the journal. */
void executor_free(struct executor *e);

#endif
