/* SPDX-License-Identifier: Apache-2.0 */
/* teller.h - the thread that turns what rules have found into messages: a burst into one, what goes
 * on again after the rule's interval, and that it is over. */
#ifndef PEAL_ALARM_TELLER_H
#define PEAL_ALARM_TELLER_H

#include "server/center.h"

struct teller;

struct teller_config {
    struct center *center;
    struct store *reader;    /* taken */
    void (*told)(void *arg); /* its thread: there are new messages to send */
    void *arg;
};

struct teller *teller_new(const struct teller_config *config);
void teller_wake(struct teller *t); /* any thread: rules have found something */
/* Stops and joins. The center answers no more (center_run has returned). NULL is fine. */
void teller_free(struct teller *t);

#endif
