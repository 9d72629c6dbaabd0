/* SPDX-License-Identifier: Apache-2.0 */
/* mailbox.h - how threads speak: sending gives the message away, and no sender waits.
 *
 * Many senders, one receiver. A message is embedded in the sender's own struct, so sending
 * allocates nothing and cannot fail. The receiver either sleeps in mailbox_wait, or has the
 * descriptor in its epoll set (eventfd, readable while messages may wait). */
#ifndef PEAL_BASE_MAILBOX_H
#define PEAL_BASE_MAILBOX_H

#include "base/list.h"
#include <stdint.h>

struct message {
    struct list_node node; /* private to the mailbox until taken */
    int kind;              /* for the receiver's switch */
};

struct mailbox;

/* Aborts when the system has no descriptor for it; in libpeal: NULL. */
struct mailbox *mailbox_new(void);
void mailbox_free(struct mailbox *m); /* must be empty; no sender may be left */
/* Any thread. The message belongs to the receiver from here on. */
void mailbox_send(struct mailbox *m, struct message *l);
/* The same for many, in their order; the list is empty afterwards. */
void mailbox_send_all(struct mailbox *m, struct list *messages);
/* Receiver. All messages so far, oldest first, moved to the end of into. False if none. */
bool mailbox_take(struct mailbox *m, struct list *into);
/* Receiver. May messages wait? One load: for a receiver that looks often between other work. */
bool mailbox_any(const struct mailbox *m);
/* Receiver. Sleeps until a message waits or timeout_ms (-1: for ever) has passed. */
void mailbox_wait(struct mailbox *m, int timeout_ms);
/* For epoll; mailbox_take clears it. */
int mailbox_fd(const struct mailbox *m);

#endif
