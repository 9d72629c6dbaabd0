/* SPDX-License-Identifier: Apache-2.0 */
/* alarm_look.h - which alarms have changed, for those who watch events. Private to src/api; the web
 * loop's thread, but for the look itself, which is a worker's. */
#ifndef PEAL_API_ALARM_LOOK_H
#define PEAL_API_ALARM_LOOK_H

#include "api/front.h"

#define ALARM_LOOK_MS 1000 /* between two looks */
#define ALARM_LOOK_MAX 500 /* open alarms that are looked at; of more, the oldest */

struct alarm_look; /* the alarms as they were at the last look */

struct alarm_look *alarm_look_new(void);
void alarm_look_free(struct alarm_look *l);
/* Does a viewer want them? When none does, what was seen is forgotten. */
bool alarm_look_wanted(struct alarm_look *l, const struct events *e);
/* Make the call one that looks, and tells what has changed since the last look; the first one tells
 * all that are open. */
void alarm_look_collect(struct web_call *call, struct alarm_look *l);

#endif
