/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.h - the thread that keeps a sender for each channel of the table peal_channel, and ends
 * alarms for channels that are not there. */
#ifndef PEAL_ALARM_KEEPER_H
#define PEAL_ALARM_KEEPER_H

#include "alarm/made.h"
#include "alarm/sender.h"

struct keeper;

struct keeper_config {
    struct center *center;
    struct store *reader; /* taken */
    enum wire_lang lang;
    struct made_rules rules;
};

struct keeper *keeper_new(const struct keeper_config *config);
void keeper_wake(struct keeper *k);    /* any thread: there are new alarms */
void keeper_changed(struct keeper *k); /* any thread: channels have changed */
/* Any thread: that alarm is open again. */
void keeper_reread(struct keeper *k, int64_t id);
/* Any thread: messages that the channel's limit keeps back since the last one that was sent. */
int64_t keeper_held(struct keeper *k, int64_t channel_id);
/* Stops and joins. The center answers no more (center_run has returned). NULL is fine. */
void keeper_free(struct keeper *k);

#endif
