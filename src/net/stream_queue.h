/* SPDX-License-Identifier: Apache-2.0 */
/* stream_queue.h - what a stream has still to send: references to shared bytes, in order. Private
 * to httpd_conn.c and httpd_stream.c; one thread. */
#ifndef PEAL_NET_STREAM_QUEUE_H
#define PEAL_NET_STREAM_QUEUE_H

#include <stdbool.h>
#include <sys/types.h>
#include "net/shared_buf.h"

enum { STREAM_QUEUE = 256 };

struct stream_queue {
    struct shared_buf *items[STREAM_QUEUE]; /* a ring */
    int first, n;
    size_t at;     /* bytes of the first that have left */
    size_t unsent; /* bytes of all that have not */
    bool raw;      /* without the chunks' sizes, for HTTP/1.0 */
};

/* Holds a reference of its own. False: full. */
bool stream_queue_put(struct stream_queue *q, struct shared_buf *b);
/* Send some of it, without waiting: bytes that left, or -1 with errno. Not of an empty queue. */
ssize_t stream_queue_send(struct stream_queue *q, int fd);
/* The same in two steps: its first bytes, copied; and how many of them have left. */
size_t stream_queue_copy(const struct stream_queue *q, char *to, size_t size);
void stream_queue_took(struct stream_queue *q, size_t n);
void stream_queue_done(struct stream_queue *q);

#endif
