/* SPDX-License-Identifier: Apache-2.0 */
/* epoll for descriptors, a heap for timers, and an absolute timerfd for the wall clock, because
 * epoll's own timeout rounds up to a whole millisecond and knows nothing of clock steps.
 * The heap is lazy: a timer moved to a later time keeps its old place (key_ms) and is put right
 * when that comes up, so that a connection's timeout costs one store per request.
 * After a pause of the process or its machine, every timer has expired and every descriptor is
 * ready: what is ready is heard first, because a connection that was made in time, or an answer
 * that came in time, has not timed out. */
#include "net/loop.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"

enum {
    LOOP_BATCH = 256,
    LOOK_EVERY = 32, /* descriptors: messages and the clock are looked at in between */
    LATE_MS = 1000,  /* a timer so late tells of a pause */
    LOOKS_MAX = 128, /* full batches ahead of late timers: 32,768 descriptors */
};

struct loop {
    int epoll, wall;
    struct loop_fd stop_fd, wall_fd;
    atomic_bool stop;
    int64_t now_ms;
    uint64_t iterations;
    struct epoll_event batch[LOOP_BATCH];
    int nbatch, batch_at; /* events of this iteration not yet handed out */
    struct heap timers;
    int looks; /* batches taken since the first timer was found late */
    struct list deferred, mailboxes;
    void (*before_sleep)(void *arg);
    void *before_sleep_arg;
    void (*on_wake)(void *arg);
    void (*on_set)(void *arg);
    void *wall_arg;
    int64_t wake_ms;
    int64_t step_ms; /* of the machine's clock, when the timer was armed */
    bool clock_set;  /* noticed while arming: told at the end of the iteration */
};

static void stop_ready(struct loop_fd *f, uint32_t events)
{
    (void)events;
    uint64_t count;
    ssize_t n = read(f->fd, &count, sizeof(count));
    (void)n; /* the flag tells, the descriptor only wakes */
}

/* Arm the timerfd. Without a time it stands in the far future: only an armed one reports that
 * the clock was set. */
static void wall_arm(struct loop *l)
{
    const int64_t far_s = INT64_C(1) << 40;
    struct itimerspec at = { .it_value = { .tv_sec = far_s } };
    l->step_ms = clock_step_ms();
    if (l->wake_ms / 1000 < far_s) {
        int64_t ms = l->wake_ms + l->step_ms; /* the kernel's timer goes by the machine's clock */
        ms = ms > 0 ? ms : 1;
        at.it_value.tv_sec = ms / 1000;
        at.it_value.tv_nsec = ms % 1000 * 1000000;
    }
    int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
    if (timerfd_settime(l->wall, flags, &at, NULL) < 0 && errno == ECANCELED)
        l->clock_set = true; /* armed all the same */
}

static void wall_ready(struct loop_fd *f, uint32_t events)
{
    struct loop *l = container_of(f, struct loop, wall_fd);
    (void)events;
    uint64_t count;
    if (read(f->fd, &count, sizeof(count)) == (ssize_t)sizeof(count)) {
        l->wake_ms = INT64_MAX;
        if (l->on_wake)
            l->on_wake(l->wall_arg);
        if (l->wake_ms == INT64_MAX) /* else it was armed with the next time */
            wall_arm(l);
    } else if (errno == ECANCELED) {
        wall_arm(l);
        l->clock_set = true;
    }
}

static void close_made(int fd)
{
    if (fd >= 0)
        close(fd);
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    close_made(l->stop_fd.fd);
    close_made(l->wall);
    close_made(l->epoll);
    heap_done(&l->timers);
    free(l);
}

struct loop *loop_new(void)
{
    struct loop *l = mem_new(sizeof(*l));
    heap_init(&l->timers);
    list_init(&l->deferred);
    list_init(&l->mailboxes);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wall = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    l->stop_fd = (struct loop_fd){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                   .events = EPOLLIN,
                                   .ready = stop_ready };
    l->wall_fd = (struct loop_fd){ .fd = l->wall, .events = EPOLLIN, .ready = wall_ready };
    if (l->epoll < 0 || l->wall < 0 || l->stop_fd.fd < 0 || loop_fd_add(l, &l->stop_fd) ||
        loop_fd_add(l, &l->wall_fd)) {
        give_up("descriptor for a loop");
        loop_free(l);
        return NULL;
    }
    l->wake_ms = INT64_MAX;
    l->now_ms = clock_boot_ms();
    wall_arm(l);
    l->clock_set = false;
    return l;
}

int64_t loop_now_ms(const struct loop *l)
{
    return l->now_ms;
}

uint64_t loop_iterations(const struct loop *l)
{
    return l->iterations;
}

/* --- descriptors --- */

enum err loop_fd_add(struct loop *l, struct loop_fd *f)
{
    struct epoll_event ev = { .events = f->events, .data.ptr = f };
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, f->fd, &ev) == 0)
        return OK;
    return errno == ENOSPC ? ERR_FULL : ERR_NOMEM;
}

void loop_fd_change(struct loop *l, struct loop_fd *f, uint32_t events)
{
    if (f->events == events)
        return;
    f->events = events;
    struct epoll_event ev = { .events = events, .data.ptr = f };
    epoll_ctl(l->epoll, EPOLL_CTL_MOD, f->fd, &ev);
}

void loop_fd_remove(struct loop *l, struct loop_fd *f)
{
    struct epoll_event none = { 0 };
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, f->fd, &none);
    for (int i = l->batch_at; i < l->nbatch; i++)
        if (l->batch[i].data.ptr == f)
            l->batch[i].data.ptr = NULL; /* its memory may be gone before we come to it */
}

/* --- timers --- */

void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t due_ms)
{
    t->due_ms = due_ms;
    if (loop_timer_is_set(t) && due_ms >= t->key_ms)
        return; /* its place is early enough */
    t->key_ms = due_ms;
    heap_add(&l->timers, &t->entry, due_ms);
}

void loop_timer_clear(struct loop *l, struct loop_timer *t)
{
    heap_remove(&l->timers, &t->entry);
}

/* Put right the timers whose place is before their time, until the first one tells the truth. */
static int64_t first_due(struct loop *l)
{
    for (struct heap_entry *e; (e = heap_first(&l->timers));) {
        struct loop_timer *t = container_of(e, struct loop_timer, entry);
        if (t->key_ms > l->now_ms || t->due_ms == t->key_ms)
            return t->key_ms;
        t->key_ms = t->due_ms;
        heap_add(&l->timers, e, t->due_ms);
    }
    return INT64_MAX;
}

/* The first timer is late, and what became ready meanwhile has not all been heard. What was begun
 * just before the pause gets another look too, hence one more batch at least. */
static bool timers_wait(struct loop *l, bool batch_full)
{
    int64_t first = first_due(l);
    bool late = first < INT64_MAX && l->now_ms - first > LATE_MS;
    bool wait = late && (l->looks == 0 || (batch_full && l->looks < LOOKS_MAX));
    l->looks = wait ? l->looks + 1 : 0;
    return wait;
}

static void fire_timers(struct loop *l)
{
    /* What a callback sets for now fires in the next iteration, else it could keep us here. */
    for (size_t bound = l->timers.len; bound > 0 && first_due(l) <= l->now_ms; bound--) {
        struct heap_entry *e = heap_pop(&l->timers, l->now_ms);
        struct loop_timer *t = container_of(e, struct loop_timer, entry);
        t->fire(t);
    }
}

/* --- deferred --- */

void loop_defer(struct loop *l, struct loop_task *t)
{
    if (!list_linked(&t->node))
        list_push(&l->deferred, &t->node);
}

void loop_undefer(struct loop *l, struct loop_task *t)
{
    (void)l;
    list_remove(&t->node);
}

static void run_deferred(struct loop *l)
{
    if (list_empty(&l->deferred))
        return;
    struct loop_task end = { .run = NULL }; /* what is deferred from here on waits an iteration */
    list_push(&l->deferred, &end.node);
    for (struct list_node *n; (n = list_pop(&l->deferred)) != &end.node;) {
        struct loop_task *t = container_of(n, struct loop_task, node);
        t->run(t);
    }
}

void loop_before_sleep(struct loop *l, void (*hook)(void *arg), void *arg)
{
    l->before_sleep = hook;
    l->before_sleep_arg = arg;
}

/* --- the wall clock --- */

void loop_on_wall(struct loop *l, void (*on_wake)(void *arg), void (*on_set)(void *arg), void *arg)
{
    l->on_wake = on_wake;
    l->on_set = on_set;
    l->wall_arg = arg;
}

void loop_wake_at(struct loop *l, int64_t wall_ms)
{
    if (wall_ms == l->wake_ms && l->step_ms == clock_step_ms())
        return;
    l->wake_ms = wall_ms;
    wall_arm(l);
}

/* --- messages --- */

static void deliver(struct loop_mailbox *m)
{
    struct list messages;
    list_init(&messages);
    mailbox_take(m->mailbox, &messages);
    for (struct list_node *n; (n = list_pop(&messages));)
        m->message(m, container_of(n, struct message, node));
}

static void mailbox_ready(struct loop_fd *f, uint32_t events)
{
    (void)events;
    deliver(container_of(f, struct loop_mailbox, fd));
}

enum err loop_mailbox_add(struct loop *l, struct loop_mailbox *m)
{
    m->node = (struct list_node){ NULL, NULL };
    m->fd =
        (struct loop_fd){ .fd = mailbox_fd(m->mailbox), .events = EPOLLIN, .ready = mailbox_ready };
    enum err err = loop_fd_add(l, &m->fd);
    if (!err)
        list_push(&l->mailboxes, &m->node);
    return err;
}

void loop_mailbox_remove(struct loop *l, struct loop_mailbox *m)
{
    loop_fd_remove(l, &m->fd);
    list_remove(&m->node);
}

/* --- turning --- */

static int sleep_ms(struct loop *l, int max_ms)
{
    if (!list_empty(&l->deferred) || l->clock_set || atomic_load(&l->stop))
        return 0;
    int64_t first = first_due(l);
    if (first == INT64_MAX)
        return max_ms;
    int64_t wait = first - clock_boot_ms(); /* the iteration itself took time */
    if (wait < 0)
        wait = 0;
    if (max_ms >= 0 && wait > max_ms)
        return max_ms;
    return wait > 60000 ? 60000 : (int)wait;
}

/* What must not wait for its turn in epoll's list. One mailbox at a time: a message may remove any;
 * the one that had its turn goes to the end. */
static void look_around(struct loop *l)
{
    list_each(&l->mailboxes, n, tmp)
    {
        struct loop_mailbox *m = container_of(n, struct loop_mailbox, node);
        if (!mailbox_any(m->mailbox))
            continue;
        list_remove(n);
        list_push(&l->mailboxes, n);
        deliver(m);
        break;
    }
    if (l->on_wake && l->wake_ms <= clock_wall_ms()) {
        l->wake_ms = INT64_MAX; /* the timerfd is armed anew with the next time */
        l->on_wake(l->wall_arg);
    }
}

void loop_iterate(struct loop *l, int max_ms)
{
    int n = epoll_wait(l->epoll, l->batch, LOOP_BATCH, sleep_ms(l, max_ms));
    l->now_ms = clock_boot_ms();
    l->iterations++;
    l->nbatch = n > 0 ? n : 0;
    for (l->batch_at = 0; l->batch_at < l->nbatch;) {
        struct epoll_event *ev = &l->batch[l->batch_at++];
        struct loop_fd *f = ev->data.ptr;
        if (f)
            f->ready(f, ev->events);
        if (l->batch_at % LOOK_EVERY == 0)
            look_around(l);
    }
    l->nbatch = 0;
    look_around(l);
    if (!timers_wait(l, n == LOOP_BATCH))
        fire_timers(l);
    if (l->clock_set) {
        l->clock_set = false;
        if (l->on_set)
            l->on_set(l->wall_arg);
    }
    run_deferred(l);
    if (l->before_sleep)
        l->before_sleep(l->before_sleep_arg);
}

void loop_run(struct loop *l)
{
    while (!atomic_load(&l->stop))
        loop_iterate(l, -1);
    atomic_store(&l->stop, false);
}

void loop_stop(struct loop *l)
{
    atomic_store(&l->stop, true);
    uint64_t one = 1;
    ssize_t n = write(l->stop_fd.fd, &one, sizeof(one));
    (void)n; /* full means it rings already */
}
