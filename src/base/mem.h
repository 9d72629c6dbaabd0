/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - allocation for small, fixed sizes: aborts the server when even that fails
 * (in libpeal, built with PEAL_LIBRARY: the thread waits for memory, a host is never aborted).
 * What is sized by input uses try_alloc and refuses politely. Any thread. */
#ifndef PEAL_BASE_MEM_H
#define PEAL_BASE_MEM_H

#include <stddef.h>

/* Zeroed memory; aborts or waits when there is none. Release with free(). */
void *mem_new(size_t size) __attribute__((malloc, returns_nonnull));
/* Like realloc(); new bytes are not cleared. Aborts or waits when there is none. */
void *mem_resize(void *p, size_t size) __attribute__((returns_nonnull));
/* Copies of text; NULL gives NULL. */
char *mem_dup(const char *text);
char *mem_dupn(const char *text, size_t n);
char *mem_join(const char *a, const char *b); /* a, then b */
/* Zeroed memory or NULL. */
void *try_alloc(size_t size);

/* Something is missing that the process cannot do without. Says so and aborts; in libpeal it pauses
 * for 10 ms and returns: the caller tries again, or fails. */
void give_up(const char *missing);

#define countof(a) (sizeof(a) / sizeof(*(a)))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#endif
