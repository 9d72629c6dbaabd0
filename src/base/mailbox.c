/* SPDX-License-Identifier: Apache-2.0 */
/* A list under a lock, and an eventfd that is written only when the list was empty: a receiver that
 * keeps up costs its senders no system call. */
#include "base/mailbox.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct mailbox {
    pthread_mutex_t lock; /* held for a few pointer writes only */
    struct list messages;
    atomic_bool any; /* whether there are messages; written under the lock */
    int fd;
};

struct mailbox *mailbox_new(void)
{
    struct mailbox *m = mem_new(sizeof(*m));
    pthread_mutex_init(&m->lock, NULL);
    list_init(&m->messages);
    m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m->fd >= 0)
        return m;
    give_up("descriptor for a mailbox");
    pthread_mutex_destroy(&m->lock);
    free(m);
    return NULL;
}

void mailbox_free(struct mailbox *m)
{
    if (!m)
        return;
    close(m->fd);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void mailbox_send_all(struct mailbox *m, struct list *messages)
{
    if (list_empty(messages))
        return;
    pthread_mutex_lock(&m->lock);
    bool first = list_empty(&m->messages);
    list_move(&m->messages, messages);
    atomic_store_explicit(&m->any, true, memory_order_relaxed);
    pthread_mutex_unlock(&m->lock);
    if (!first)
        return; /* the sender of the first one rings the bell */
    uint64_t one = 1;
    while (write(m->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void mailbox_send(struct mailbox *m, struct message *l)
{
    struct list one;
    list_init(&one);
    list_push(&one, &l->node);
    mailbox_send_all(m, &one);
}

bool mailbox_take(struct mailbox *m, struct list *into)
{
    uint64_t count;
    ssize_t n = read(m->fd, &count, sizeof(count)); /* EAGAIN: no bell since the last time */
    (void)n;
    pthread_mutex_lock(&m->lock);
    bool any = !list_empty(&m->messages);
    list_move(into, &m->messages);
    atomic_store_explicit(&m->any, false, memory_order_relaxed);
    pthread_mutex_unlock(&m->lock);
    return any;
}

bool mailbox_any(const struct mailbox *m)
{
    return atomic_load_explicit(&m->any, memory_order_relaxed);
}

void mailbox_wait(struct mailbox *m, int timeout_ms)
{
    struct pollfd p = { .fd = m->fd, .events = POLLIN };
    poll(&p, 1, timeout_ms);
}

int mailbox_fd(const struct mailbox *m)
{
    return m->fd;
}
