/* SPDX-License-Identifier: Apache-2.0 */
/* sender.h - one channel's thread: reads its open alarms, has them sent, writes what came of it. */
#ifndef PEAL_ALARM_SENDER_H
#define PEAL_ALARM_SENDER_H

#include "alarm/channel.h"
#include "server/center.h"

struct sender;

struct sender_config {
    struct center *center;
    struct store *reader;    /* taken */
    const char *name;        /* of the channel; copied */
    struct channel *channel; /* taken; NULL: it is not set up, its alarms are given up */
    enum wire_lang lang;
    struct metric_channel *metric;
    int per_minute; /* messages; 0: no limit */
};

struct sender *sender_new(const struct sender_config *config);
bool sender_is_open(const struct sender *s); /* any thread: can it send? */
void sender_wake(struct sender *s);          /* any thread: there are new alarms */
/* Any thread: that alarm is open again; it may be one that was read before. */
void sender_reread(struct sender *s, int64_t id);
/* Any thread: messages that the limit kept back since the last one that was sent. */
int64_t sender_held(const struct sender *s);
/* Stops and joins, closes the channel. The center answers no more (center_run has returned). NULL
 * is fine. */
void sender_free(struct sender *s);

#endif
