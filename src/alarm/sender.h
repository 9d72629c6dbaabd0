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
};

struct sender *sender_new(const struct sender_config *config);
bool sender_is_open(const struct sender *s); /* any thread: can it send? */
void sender_wake(struct sender *s);          /* any thread: there are new alarms */
/* Stops and joins, closes the channel. The center answers no more (center_run has returned). NULL
 * is fine. */
void sender_free(struct sender *s);

#endif
