/* SPDX-License-Identifier: Apache-2.0 */
/* Built in two ways. As it is, for LD_PRELOAD: the process's malloc, so that SQLite, OpenSSL,
 * Jansson and libc fail too. With WRAP, linked into a program with a static libpeal and --wrap:
 * only what libpeal itself allocates fails, which also works under a sanitizer's allocator. */
#include "failmalloc.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef WRAP
#define REAL(name) __real_##name
#define OURS(name) __wrap_##name
#else
#define REAL(name) __libc_##name
#define OURS(name) name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t n, size_t size);
void *REAL(realloc)(void *p, size_t size);
void *OURS(malloc)(size_t size);
void *OURS(calloc)(size_t n, size_t size);
void *OURS(realloc)(void *p, size_t size);

/* A mutex would do, if nobody forked; held for a few words only. */
static atomic_flag held = ATOMIC_FLAG_INIT;
static long good, bad, failed; /* good ones first, then bad ones */

static void lock(void)
{
    while (atomic_flag_test_and_set(&held))
        ;
}

static void unlock(void)
{
    atomic_flag_clear(&held);
}

/* Shall this allocation fail? */
static int strikes(void)
{
    lock();
    int yes = good == 0 && bad > 0;
    if (yes) {
        bad--;
        failed++;
    } else if (good > 0) {
        good--;
    }
    unlock();
    if (yes)
        errno = ENOMEM;
    return yes;
}

void failmalloc_arm(long skip, long times)
{
    lock();
    good = skip;
    bad = times;
    failed = 0;
    unlock();
}

long failmalloc_disarm(void)
{
    lock();
    bad = 0;
    long n = failed;
    unlock();
    return n;
}

void *OURS(malloc)(size_t size)
{
    return strikes() ? NULL : REAL(malloc)(size);
}

void *OURS(calloc)(size_t n, size_t size)
{
    return strikes() ? NULL : REAL(calloc)(n, size);
}

void *OURS(realloc)(void *p, size_t size)
{
    return strikes() ? NULL : REAL(realloc)(p, size);
}
