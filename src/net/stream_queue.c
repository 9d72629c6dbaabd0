/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of references. One system call takes what many small events have left in it. */
#include "net/stream_queue.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { PIECES = 64 }; /* of one call */

static struct slice bytes_of(const struct stream_queue *q, const struct shared_buf *b)
{
    return q->raw ? shared_buf_content(b) : shared_buf_chunk(b);
}

bool stream_queue_put(struct stream_queue *q, struct shared_buf *b)
{
    if (q->n == STREAM_QUEUE)
        return false;
    q->items[(q->first + q->n) % STREAM_QUEUE] = shared_buf_hold(b);
    q->n++;
    q->unsent += bytes_of(q, b).n;
    return true;
}

static void pop(struct stream_queue *q)
{
    shared_buf_drop(q->items[q->first]);
    q->first = (q->first + 1) % STREAM_QUEUE;
    q->n--;
    q->at = 0;
}

void stream_queue_took(struct stream_queue *q, size_t n)
{
    q->unsent -= n;
    while (q->n) {
        size_t left = bytes_of(q, q->items[q->first]).n - q->at;
        if (n < left) {
            q->at += n;
            return;
        }
        n -= left;
        pop(q);
    }
}

ssize_t stream_queue_send(struct stream_queue *q, int fd)
{
    struct iovec pieces[PIECES];
    struct msghdr m = { .msg_iov = pieces };
    for (int i = 0; i < q->n && i < PIECES; i++) {
        struct slice s = bytes_of(q, q->items[(q->first + i) % STREAM_QUEUE]);
        size_t skip = i ? 0 : q->at;
        pieces[i] = (struct iovec){ (char *)s.p + skip, s.n - skip };
        m.msg_iovlen++;
    }
    ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);
    if (n > 0)
        stream_queue_took(q, (size_t)n);
    return n;
}

size_t stream_queue_copy(const struct stream_queue *q, char *to, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < q->n && at < size; i++) {
        struct slice s = bytes_of(q, q->items[(q->first + i) % STREAM_QUEUE]);
        size_t skip = i ? 0 : q->at, left = size - at;
        size_t n = s.n - skip < left ? s.n - skip : left;
        memcpy(to + at, s.p + skip, n);
        at += n;
    }
    return at;
}

void stream_queue_done(struct stream_queue *q)
{
    while (q->n)
        pop(q);
    q->unsent = 0;
}
