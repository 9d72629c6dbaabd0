/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - what stands between a request and its stream of events, and whether those who watch may
 * go on. Private to src/api. */
#ifndef PEAL_API_WATCH_H
#define PEAL_API_WATCH_H

#include "api/front.h"

/* A worker: the asker of the call is to watch, so long as the session or token lives and what it
 * may read stays the same. */
void watch_who(struct web_call *call);
/* Web loop: is there room for the stream of the call? False: the call is a refusal. */
MUST_CHECK bool watch_room(struct web_call *call, const struct web_live *live);

/* Web loop: make the call one that looks at every viewer and ends those that may not go on. */
void watch_collect(struct web_call *call, const struct viewers *viewers);

#endif
