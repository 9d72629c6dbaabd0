/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - threads that operators can tell apart, and that leave the host its signals.
 *
 * Their names are what top -H, ps -L and gdb show. The starter of a thread hands on what is its
 * own, such as the sink of its log. Any thread. */
#ifndef PEAL_BASE_THREAD_H
#define PEAL_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Start one with all signals blocked except those of faults. Of its name 15 bytes are kept, the
 * kernel's limit. stack: its bytes; 0: as usual. 0, or an errno. */
int thread_start(pthread_t *ret, const char *name, size_t stack, void *(*main)(void *), void *arg);

#endif
