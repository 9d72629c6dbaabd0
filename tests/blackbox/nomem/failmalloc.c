/* SPDX-License-Identifier: Apache-2.0 */
/* Built in two ways. As it is, for LD_PRELOAD: the process's malloc, so that SQLite, OpenSSL,
 * Jansson and libc fail too. With WRAP, linked into a program with a static libpeal and --wrap:
 * only what libpeal itself allocates fails, which also works under a sanitizer's allocator. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "failmalloc.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

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

/* Shared with what is forked of us: a handler's process has its failures as we have ours. Without a
 * lock, which somebody could be killed with. */
static struct {
    _Atomic long count, skip, times;
} * plan;

__attribute__((constructor)) static void make_plan(void)
{
    void *at = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        abort();
    plan = at;
}

/* Shall this allocation fail? */
static int strikes(void)
{
    if (!plan || atomic_load(&plan->times) == 0)
        return 0;
    long n = atomic_fetch_add(&plan->count, 1) - atomic_load(&plan->skip);
    if (n < 0 || n >= atomic_load(&plan->times))
        return 0;
    errno = ENOMEM;
    return 1;
}

void failmalloc_arm(long skip, long times)
{
    atomic_store(&plan->skip, skip);
    atomic_store(&plan->count, 0);
    atomic_store(&plan->times, times);
}

long failmalloc_disarm(void)
{
    long times = atomic_exchange(&plan->times, 0);
    long n = atomic_load(&plan->count) - atomic_load(&plan->skip);
    return n < 0 ? 0 : n < times ? n : times;
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
