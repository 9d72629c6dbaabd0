/* SPDX-License-Identifier: Apache-2.0 */
/* journal_look.h - how many results the journals of a data folder hold, whether a server runs on it
 * or not. Reads the files without a lock; any thread. */
#ifndef PEAL_SERVER_JOURNAL_LOOK_H
#define PEAL_SERVER_JOURNAL_LOOK_H

/* 0 where there are no journals, or they cannot be read. */
unsigned journal_look(const char *data);

#endif
