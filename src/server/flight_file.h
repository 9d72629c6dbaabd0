/* SPDX-License-Identifier: Apache-2.0 */
/* flight_file.h - the flight recorder's file: made, mapped, read, removed.
 *
 * It lies on tmpfs, where a store waits for no disk and an older state never comes back: in the
 * folder that the setting names, as peal-UID-KEY.a and .b, KEY from the database's file. The two
 * names are used in turn: a life reads the one that its database names and writes the other. A lock
 * (flock) says that a process has it. What the words mean: sched/flight.h. */
#ifndef PEAL_SERVER_FLIGHT_FILE_H
#define PEAL_SERVER_FLIGHT_FILE_H

#include "base/err.h"
#include "base/why.h"
#include "sched/flight.h"

struct flight_file; /* opaque */

/* dir: "none" or "" for no recorder, NULL: $RUNTIME_DIRECTORY, or else /dev/shm. db: the database's
 * URL; its file is there. Never fails. */
struct flight_file *flight_file_new(const char *dir, const char *db);
/* What the file says that watermark names. If it is not believed, why says which rule failed. */
bool flight_file_read(struct flight_file *f, const struct watermark *watermark,
                      struct flight_said *ret, struct why *why);
/* The recorder of this life, empty; NULL if there can be none, why says the reason. After read. */
struct flight_head *flight_file_make(struct flight_file *f, struct why *why);
/* Remove recorders of this user that no process holds and none has held for a week: their databases
 * have gone, or nothing would wait for them. How many. After make. */
int flight_file_sweep(const struct flight_file *f);
/* This life goes on: to be called now and then, so that no sweep takes the file for an old one. */
void flight_file_alive(struct flight_file *f, int64_t boot_ms);
/* The first commit of this life has been heard: the file of the life before goes. */
void flight_file_settle(struct flight_file *f);
/* Stop; clean: nothing needs the file any more, it goes as well. NULL is fine. */
void flight_file_free(struct flight_file *f, bool clean);

#endif
