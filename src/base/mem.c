/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p, size_t size)
{
    if (p)
        return p;
    fprintf(stderr, "out of memory: %zu bytes\n", size);
    abort();
}

void *mem_new(size_t size)
{
    return checked(calloc(1, size ? size : 1), size);
}

void *mem_resize(void *p, size_t size)
{
    return checked(realloc(p, size ? size : 1), size);
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
