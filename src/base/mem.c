/* SPDX-License-Identifier: Apache-2.0 */
/* Small, fixed allocations do not fail: the server aborts with a message, a thread of libpeal waits
 * and tries again. */
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PEAL_LIBRARY
/* A library does not end its host: its thread waits until what is missing has been given back.
 */
void give_up(const char *missing)
{
    (void)missing;
    nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}
#else
void give_up(const char *missing)
{
    fprintf(stderr, "there is no %s\n", missing);
    abort();
}
#endif

static void out_of_memory(size_t size)
{
    char text[64];
    snprintf(text, sizeof(text), "memory: %zu bytes", size);
    give_up(text);
}

void *mem_new(size_t size)
{
    void *p;
    while (!(p = calloc(1, size ? size : 1)))
        out_of_memory(size);
    return p;
}

void *mem_resize(void *p, size_t size)
{
    void *moved;
    while (!(moved = realloc(p, size ? size : 1)))
        out_of_memory(size);
    return moved;
}

char *mem_dup(const char *text)
{
    return text ? mem_dupn(text, strlen(text)) : NULL;
}

char *mem_dupn(const char *text, size_t n)
{
    char *copy = mem_new(n + 1);
    memcpy(copy, text, n);
    return copy;
}

char *mem_join(const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 1;
    char *both = mem_new(size);
    snprintf(both, size, "%s%s", a, b);
    return both;
}

void *try_alloc(size_t size)
{
    return calloc(1, size ? size : 1);
}
