/* SPDX-License-Identifier: Apache-2.0 */
/* sqlerr.h - what SQLite's result codes mean, with the things that it does not say by itself: a
 * quota or a limit on files is a full disk, a disk that cannot be read is not a damaged file, and a
 * file system that takes no writes any more is read-only.
 *
 * db may be NULL, when it could not be opened. Any thread that owns the handle. */
#ifndef PEAL_SQL_SQLERR_H
#define PEAL_SQL_SQLERR_H

#include <sqlite3.h>
#include <stdbool.h>
#include "base/err.h"

/* Of what the last call returned. ERR_STORE: our own statements, constraints, misuse. */
enum err sqlerr_of(sqlite3 *db, int rc);
/* For people: SQLite's words, or the system's where those say more. Valid until the next call. */
const char *sqlerr_text(sqlite3 *db, int rc);
/* What to do about it. */
const char *sqlerr_advice(enum err err);
/* Has the disk failed to read this file or its log since it was opened? */
bool sqlerr_unreadable(sqlite3 *db);
/* Is this errno a lack of room? */
bool sqlerr_no_room(int e);

#endif
