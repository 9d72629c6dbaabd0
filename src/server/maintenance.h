/* SPDX-License-Identifier: Apache-2.0 */
/* maintenance.h - the thread that does what waits for files: a store's housekeeping about once a
 * second (store_tend) on a reading handle of its own, a look at the time
 * zones each minute, one at the runs that go on, for the report, and what heard.h wants. */
#ifndef PEAL_SERVER_MAINTENANCE_H
#define PEAL_SERVER_MAINTENANCE_H

#include "base/mailbox.h"
#include "ledger/figures.h"
#include "server/heard.h"
#include "server/zones.h"
#include "store/store.h"

struct maintenance;

/* Takes the reader; the figures and heard (NULL: nothing) are borrowed. When zones have changed a
 * message of that kind is posted to tell. */
struct maintenance *maintenance_new(struct store *reader, struct zones *zones,
                                    struct figures *figures, struct mailbox *tell, int kind,
                                    struct heard *heard);
/* Another server has changed what all keep in memory: look at it now. Any thread. */
void maintenance_wake(struct maintenance *m);
void maintenance_free(struct maintenance *t); /* stops and joins; NULL is fine */

#endif
