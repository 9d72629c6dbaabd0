/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - a way to tell people that a run has failed: a row of a table.
 *
 * A channel is one file that defines a struct channel_ops, and its row in channels.c. It names its
 * settings, opens with them, and sends one message to one target, synchronously. Everything else is
 * done for it (sender.h): which alarms it gets, a thread to block, tries with back-off, the log of
 * deliveries, the end. docs/development.md has the steps. */
#ifndef PEAL_ALARM_CHANNEL_H
#define PEAL_ALARM_CHANNEL_H

#include "alarm/message.h"
#include "base/config.h"
#include "model/alarm.h"

/* One try may take so long: connecting, sending, the answer. What hangs is given up by then. */
#define CHANNEL_TRY_MS 30000

struct channel { /* the implementation's struct begins with it */
    const struct channel_ops *ops;
};

struct channel_ops {
    const char *name; /* stands in tables and metrics; never renamed */
    /* Settings, named "NAME.…": they join those of the server, its help and its file. */
    const struct config_row *options;
    int noptions;
    /* It serves alarm_email of jobs, and messages carry targets. Else it is told of every failure,
     * and of no targets, as soon as it is set up. */
    bool by_job;

    /* At start, main thread. OK with *ret NULL: it is not set up. ERR_INVALID: a setting is wrong,
     * why names it and the rule, and the server does not start. */
    enum err (*open)(const struct config *config, struct channel **ret, struct why *why);
    /* One try, within CHANNEL_TRY_MS; also over soon after *stop has become true. Called by several
     * threads at once, never twice at once for one target. said: what the other side answered, or
     * what failed; it is kept and shown to people, so no secret is in it.
     * DELIVERY_NEVER: another try cannot succeed (no such address, the message is refused). */
    enum delivery_outcome (*send)(struct channel *c, const struct alarm_message *m,
                                  const _Atomic bool *stop, struct why *said);
    void (*close)(struct channel *c); /* no send is under way; main thread */
};

/* The table; its last row is NULL. */
extern const struct channel_ops *const channel_table[];

#endif
