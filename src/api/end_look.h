/* SPDX-License-Identifier: Apache-2.0 */
/* end_look.h - whether runs whose logs are followed have ended, by their rows: for a server that
 * shares its database, whose scheduler knows its own runs only. Web loop's thread; private to
 * src/api. */
#ifndef PEAL_API_END_LOOK_H
#define PEAL_API_END_LOOK_H

#include "api/front.h"

struct end_look;

struct end_look *end_look_new(void);
void end_look_free(struct end_look *l); /* with the asks that wait; NULL is fine */
/* An answer whose run is to be looked at; it is taken, and given to tails_looked. */
void end_look_add(struct end_look *l, struct center_log_ask *a);
bool end_look_wanted(const struct end_look *l);
/* The call of the server's own that looks at all that wait. */
void end_look_collect(struct web_call *call, struct end_look *l);

#endif
