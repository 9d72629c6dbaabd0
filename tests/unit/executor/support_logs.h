/* SPDX-License-Identifier: Apache-2.0 */
/* support_logs.h - a folder for logs, runs that write there, and pages read from it. */
#ifndef PEAL_TESTS_SUPPORT_LOGS_H
#define PEAL_TESTS_SUPPORT_LOGS_H

#include "base/str.h"

#define DATE 1700000000000ll /* 2023-11-14, or the 15th in the far east */
#define HOUR 3600000ll

/* Setup and teardown: *state is a fresh folder's path. */
int logs_folder(void **state);
int logs_remove(void **state);
/* A run whose handler wrote these bytes: start line, bytes, end line. */
void logs_run(const char *folder, int64_t id, const char *p, size_t n);
/* A file of DATE's day, whole. */
void logs_plant(const char *folder, const char *name, const void *p, size_t n);
/* Its bytes; the caller frees them. NULL: there is none. */
char *logs_file(const char *folder, const char *name, size_t *ret_n);
/* The page has these lines and this number. */
void logs_check(const char *folder, int64_t id, int from, bool whole, int to_line,
                const char *content);
bool logs_found(const char *folder, int64_t id);

#endif
