/* SPDX-License-Identifier: Apache-2.0 */
/* support_faults.h - a disk that fails: a shim over SQLite's own file layer that lets the n-th
 * write or sync fail, and all after it, until it is healed. */
#ifndef PEAL_TESTS_SUPPORT_FAULTS_H
#define PEAL_TESTS_SUPPORT_FAULTS_H

#include <stdbool.h>

/* Make the shim the default for files opened from here on; once a process. */
void faults_install(void);
/* The n-th write or sync from now on fails with this SQLite code (SQLITE_FULL, …); 0 heals. */
void faults_after(int n, int rc);
/* Did a fault happen since faults_after? */
bool faults_happened(void);

#endif
