/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - one thread's events: descriptors, timers, a wake at a wall-clock time, messages.
 *
 * An iteration is: wait in epoll; call what is ready; fire timers; run what was deferred; call the
 * before-sleep hook. Messages and the wall clock are looked at between the descriptors too: epoll
 * hands out what is ready in turn, so that under load they would wait behind thousands of sockets,
 * and with them a writer that has nothing to do meanwhile. Timers that a pause has made late fire
 * after all that became ready during it. Everything embedded here (descriptors,
 * timers, tasks) is the caller's memory, the loop allocates nothing per use and frees nothing.
 * Inside any callback anything may be added or removed, the thing that called included. Thread:
 * every call on the loop's own thread, except loop_stop. */
#ifndef PEAL_NET_LOOP_H
#define PEAL_NET_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include "base/err.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/mailbox.h"

struct loop; /* opaque */

/* Aborts when the system has no descriptors to start with; in libpeal: NULL. */
struct loop *loop_new(void);
void loop_free(struct loop *l);

/* Turn until loop_stop. May be called again afterwards. */
void loop_run(struct loop *l);
/* Any thread, also from a signal handler: loop_run returns after the current iteration. */
void loop_stop(struct loop *l);
/* One iteration, waiting at most max_ms (-1: for as long as nothing is due). */
void loop_iterate(struct loop *l, int max_ms);

/* CLOCK_BOOTTIME ms as of the beginning of this iteration's callbacks. */
int64_t loop_now_ms(const struct loop *l);
/* Number of the current iteration. */
uint64_t loop_iterations(const struct loop *l);

/* --- descriptors; level-triggered --- */
struct loop_fd {
    int fd;
    uint32_t events; /* EPOLLIN, EPOLLOUT, EPOLLRDHUP; change with loop_fd_change only */
    void (*ready)(struct loop_fd *f, uint32_t events);
};

MUST_CHECK enum err loop_fd_add(struct loop *l, struct loop_fd *f); /* ERR_FULL, ERR_NOMEM */
void loop_fd_change(struct loop *l, struct loop_fd *f, uint32_t events);
/* Before the descriptor is closed. A pending event of this iteration is dropped too. */
void loop_fd_remove(struct loop *l, struct loop_fd *f);

/* --- timers, CLOCK_BOOTTIME ms, fire once --- */
struct loop_timer {
    void (*fire)(struct loop_timer *t);
    int64_t due_ms;          /* private: when it fires */
    int64_t key_ms;          /* private: where it stands in the heap, <= due_ms */
    struct heap_entry entry; /* private */
};

/* Set or move. Moving to a later time is a single store: the heap is put right only when the
 * old time comes, so that a timeout pushed ahead by each request costs nothing. */
void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t due_ms);
void loop_timer_clear(struct loop *l, struct loop_timer *t); /* harmless when not set */
static inline bool loop_timer_is_set(const struct loop_timer *t)
{
    return heap_linked(&t->entry);
}

/* --- after the current iteration --- */
struct loop_task {
    struct list_node node; /* private */
    void (*run)(struct loop_task *t);
};

/* Once, after all of this iteration's events; again harmless while it waits. */
void loop_defer(struct loop *l, struct loop_task *t);
void loop_undefer(struct loop *l, struct loop_task *t); /* harmless when not waiting */

/* Called at the end of each iteration, just before the thread would sleep. */
void loop_before_sleep(struct loop *l, void (*hook)(void *arg), void *arg);

/* --- the wall clock --- */
/* on_wake: CLOCK_REALTIME has reached the time given to loop_wake_at (which is then used up).
 * on_set: the clock was set, or it stepped; the time is kept and still comes. */
void loop_on_wall(struct loop *l, void (*on_wake)(void *arg), void (*on_set)(void *arg), void *arg);
/* Replaces the time before; INT64_MAX: none. A time already past comes in the next iteration. */
void loop_wake_at(struct loop *l, int64_t wall_ms);

/* --- messages --- */
struct loop_mailbox {
    struct loop_fd fd;                                          /* private */
    struct list_node node;                                      /* private */
    struct mailbox *mailbox;                                    /* borrowed */
    void (*message)(struct loop_mailbox *m, struct message *l); /* owns l; called once for each */
};

MUST_CHECK enum err loop_mailbox_add(struct loop *l, struct loop_mailbox *m);
void loop_mailbox_remove(struct loop *l, struct loop_mailbox *m);

#endif
