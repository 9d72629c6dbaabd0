/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: timers in order however they were moved, deferred work, messages, descriptors that go
 * away in the middle of an iteration, the wall-clock wake, and timers after a pause. */
#include "support_net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/dice.h"
#include "base/mem.h"

struct tick {
    struct loop_timer timer;
    struct loop *l;
    int64_t due_ms;
    int *left;
    bool fired;
};

static void on_tick(struct loop_timer *t)
{
    struct tick *k = container_of(t, struct tick, timer);
    assert_false(k->fired);
    assert_true(loop_now_ms(k->l) >= k->due_ms);
    k->fired = true;
    (*k->left)--;
}

static bool is_zero(void *arg)
{
    return *(int *)arg == 0;
}

static void timers_moved_to_and_fro_fire_once_and_never_early(void **state)
{
    (void)state;
    enum { N = 500 };
    struct loop *l = loop_new();
    struct tick *ticks = mem_new(N * sizeof(*ticks));
    struct dice d = { 42 };
    int left = 0;
    for (int step = 0; step < 20000; step++) {
        struct tick *k = &ticks[dice_below(&d, N)];
        k->l = l;
        k->left = &left;
        k->timer.fire = on_tick;
        bool was = loop_timer_is_set(&k->timer);
        if (dice_below(&d, 4) == 0) {
            loop_timer_clear(l, &k->timer);
            assert_false(loop_timer_is_set(&k->timer));
            left -= was;
        } else {
            k->due_ms = loop_now_ms(l) + dice_below(&d, 50);
            loop_timer_set(l, &k->timer, k->due_ms);
            left += !was;
        }
    }
    int set = left, fired = 0;
    iterate_until(l, is_zero, &left);
    for (int i = 0; i < N; i++)
        fired += ticks[i].fired;
    assert_int_equal(fired, set);
    free(ticks);
    loop_free(l);
}

struct chain {
    struct loop_task task;
    struct loop *l;
    int runs;
    uint64_t turn;
};

static void on_chain(struct loop_task *t)
{
    struct chain *c = container_of(t, struct chain, task);
    assert_true(loop_iterations(c->l) >
                c->turn); /* what is deferred by deferred work waits an iteration */
    c->turn = loop_iterations(c->l);
    if (++c->runs < 3)
        loop_defer(c->l, t);
}

static void deferred_work_runs_once_an_iteration(void **state)
{
    (void)state;
    struct chain c = { .l = loop_new() };
    c.task.run = on_chain;
    loop_defer(c.l, &c.task);
    loop_defer(c.l, &c.task);
    while (c.runs < 3)
        loop_iterate(c.l, -1); /* never sleeps while something is deferred */
    loop_defer(c.l, &c.task);
    loop_undefer(c.l, &c.task);
    loop_iterate(c.l, 0);
    assert_int_equal(c.runs, 3);
    loop_free(c.l);
}

struct pair {
    struct loop_fd a, b;
    struct loop *l;
    int calls;
};

static void pair_ready(struct pair *p, struct loop_fd *other)
{
    p->calls++;
    loop_fd_remove(p->l, other); /* its event of this iteration must not come */
    memset(other, 0xee, sizeof(*other));
}

static void a_ready(struct loop_fd *f, uint32_t events)
{
    struct pair *p = container_of(f, struct pair, a);
    assert_true(events & EPOLLIN);
    pair_ready(p, &p->b);
}

static void b_ready(struct loop_fd *f, uint32_t events)
{
    struct pair *p = container_of(f, struct pair, b);
    assert_true(events & EPOLLIN);
    pair_ready(p, &p->a);
}

static void a_descriptor_may_go_while_its_event_waits(void **state)
{
    (void)state;
    struct pair p = { .l = loop_new() };
    int fds[2] = { eventfd(1, EFD_CLOEXEC), eventfd(1, EFD_CLOEXEC) };
    p.a = (struct loop_fd){ fds[0], EPOLLIN, a_ready };
    p.b = (struct loop_fd){ fds[1], EPOLLIN, b_ready };
    assert_int_equal(loop_fd_add(p.l, &p.a), OK);
    assert_int_equal(loop_fd_add(p.l, &p.b), OK);
    loop_iterate(p.l, 1000);
    assert_int_equal(p.calls, 1);
    close(fds[0]);
    close(fds[1]);
    loop_free(p.l);
}

enum { MESSAGES = 1000, POSTERS = 3 };

struct send_office {
    struct mailbox *box;
    struct loop_mailbox incoming;
    struct loop *l;
    int got, stop_at;
};

struct note {
    struct message message;
};

static void on_message(struct loop_mailbox *m, struct message *l)
{
    struct send_office *o = container_of(m, struct send_office, incoming);
    free(container_of(l, struct note, message));
    if (++o->got == o->stop_at)
        loop_stop(o->l);
}

static void *poster(void *arg)
{
    for (int i = 0; i < MESSAGES; i++) {
        struct note *n = mem_new(sizeof(*n));
        mailbox_send(arg, &n->message);
    }
    return NULL;
}

static void messages_of_other_threads_arrive(void **state)
{
    (void)state;
    struct send_office o = { .box = mailbox_new(), .l = loop_new(), .stop_at = MESSAGES * POSTERS };
    o.incoming = (struct loop_mailbox){ .mailbox = o.box, .message = on_message };
    assert_int_equal(loop_mailbox_add(o.l, &o.incoming), OK);
    pthread_t threads[POSTERS];
    for (int i = 0; i < POSTERS; i++)
        pthread_create(&threads[i], NULL, poster, o.box);
    loop_run(o.l);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(o.got, MESSAGES * POSTERS);
    loop_mailbox_remove(o.l, &o.incoming);
    mailbox_free(o.box);
    loop_free(o.l);
}

struct wall {
    struct loop *l;
    int64_t due_ms, woke_ms;
    int wakes, sleeps;
    bool woke;
};

static void on_wake(void *arg)
{
    struct wall *w = arg;
    w->woke_ms = clock_wall_ms();
    w->wakes++;
    w->woke = true;
}

static void on_sleep(void *arg)
{
    ((struct wall *)arg)->sleeps++;
}

static void the_wall_wake_comes_once_and_never_early(void **state)
{
    (void)state;
    struct wall w = { .l = loop_new() };
    loop_on_wall(w.l, on_wake, NULL, &w);
    loop_before_sleep(w.l, on_sleep, &w);
    for (int i = 0; i < 20; i++) {
        w.due_ms = clock_wall_ms() + (i % 5) - 1; /* the past too */
        w.woke = false;
        loop_wake_at(w.l, w.due_ms + 100000); /* replaced at once */
        loop_wake_at(w.l, w.due_ms);
        iterate_while_false(w.l, &w.woke);
        assert_true(w.woke_ms >= w.due_ms);
    }
    loop_iterate(w.l, 5);
    assert_int_equal(w.wakes, 20);
    loop_wake_at(w.l, 0);
    loop_wake_at(w.l, INT64_MAX); /* taken back */
    loop_iterate(w.l, 5);
    assert_int_equal(w.wakes, 20);
    assert_int_equal(w.sleeps, (int)loop_iterations(w.l));
    loop_free(w.l);
}

/* --- messages and the clock among many descriptors --- */

enum { CROWD = 200 };

struct crowd {
    struct loop_fd fds[CROWD];
    struct loop *l;
    struct mailbox *box;
    struct loop_mailbox incoming;
    struct message message;
    int called, at_message, at_wake; /* descriptors that had been called by then */
};

static struct crowd *crowd;

static void crowd_ready(struct loop_fd *f, uint32_t events)
{
    (void)events;
    uint64_t count;
    assert_int_equal(read(f->fd, &count, sizeof(count)), sizeof(count));
    if (crowd->called++)
        return;
    mailbox_send(crowd->box, &crowd->message);
    loop_wake_at(crowd->l, clock_wall_ms());
}

static void crowd_message(struct loop_mailbox *m, struct message *l)
{
    (void)m;
    assert_ptr_equal(l, &crowd->message);
    crowd->at_message = crowd->called;
}

static void crowd_wake(void *arg)
{
    ((struct crowd *)arg)->at_wake = crowd->called;
}

static void neither_messages_nor_the_clock_waits_behind_a_crowd(void **state)
{
    (void)state;
    const uint64_t one = 1;
    struct crowd *c = crowd = mem_new(sizeof(*c));
    c->l = loop_new();
    c->box = mailbox_new();
    c->incoming = (struct loop_mailbox){ .mailbox = c->box, .message = crowd_message };
    assert_int_equal(loop_mailbox_add(c->l, &c->incoming), OK);
    loop_on_wall(c->l, crowd_wake, NULL, c);
    for (int i = 0; i < CROWD; i++) {
        c->fds[i] = (struct loop_fd){ .fd = eventfd(0, EFD_NONBLOCK),
                                      .events = EPOLLIN,
                                      .ready = crowd_ready };
        assert_int_equal(loop_fd_add(c->l, &c->fds[i]), OK);
        assert_int_equal(write(c->fds[i].fd, &one, sizeof(one)), sizeof(one));
    }
    loop_iterate(c->l, 0);
    assert_int_equal(c->called, CROWD);
    assert_in_range(c->at_message, 1, CROWD - 1);
    assert_in_range(c->at_wake, 1, CROWD - 1);
    for (int i = 0; i < CROWD; i++) {
        loop_fd_remove(c->l, &c->fds[i]);
        close(c->fds[i].fd);
    }
    loop_mailbox_remove(c->l, &c->incoming);
    mailbox_free(c->box);
    loop_free(c->l);
    free(c);
}

/* --- after a pause --- */

enum { WOKEN = 600 }; /* three batches */

struct pause {
    struct loop_fd fds[WOKEN];
    struct loop_timer timer;
    struct loop *l;
    int heard, heard_at_fire;
    bool drain, fired;
};

static struct pause *pause_now;

static void woken_ready(struct loop_fd *f, uint32_t events)
{
    (void)events;
    uint64_t count;
    if (pause_now->drain)
        assert_int_equal(read(f->fd, &count, sizeof(count)), sizeof(count));
    pause_now->heard++;
}

static void late_fires(struct loop_timer *t)
{
    struct pause *p = container_of(t, struct pause, timer);
    p->heard_at_fire = p->heard;
    p->fired = true;
}

static struct pause *pause_new(bool drain)
{
    const uint64_t one = 1;
    struct pause *p = pause_now = mem_new(sizeof(*p));
    *p = (struct pause){ .l = loop_new(), .timer.fire = late_fires, .drain = drain };
    for (int i = 0; i < WOKEN; i++) {
        p->fds[i] = (struct loop_fd){ .fd = eventfd(0, EFD_NONBLOCK),
                                      .events = EPOLLIN,
                                      .ready = woken_ready };
        assert_int_equal(loop_fd_add(p->l, &p->fds[i]), OK);
        assert_int_equal(write(p->fds[i].fd, &one, sizeof(one)), sizeof(one));
    }
    loop_timer_set(p->l, &p->timer, loop_now_ms(p->l) - 20000);
    return p;
}

static void pause_free(struct pause *p)
{
    for (int i = 0; i < WOKEN; i++) {
        loop_fd_remove(p->l, &p->fds[i]);
        close(p->fds[i].fd);
    }
    loop_free(p->l);
    free(p);
}

static void after_a_pause_all_that_is_ready_comes_before_late_timers(void **state)
{
    (void)state;
    struct pause *p = pause_new(true);
    iterate_while_false(p->l, &p->fired);
    assert_int_equal(p->heard_at_fire, WOKEN);
    pause_free(p);
}

static void late_timers_fire_although_descriptors_are_always_ready(void **state)
{
    (void)state;
    struct pause *p = pause_new(false);
    for (int i = 0; i < 200 && !p->fired; i++)
        loop_iterate(p->l, 0);
    assert_true(p->fired);
    pause_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_moved_to_and_fro_fire_once_and_never_early),
        cmocka_unit_test(deferred_work_runs_once_an_iteration),
        cmocka_unit_test(a_descriptor_may_go_while_its_event_waits),
        cmocka_unit_test(messages_of_other_threads_arrive),
        cmocka_unit_test(the_wall_wake_comes_once_and_never_early),
        cmocka_unit_test(neither_messages_nor_the_clock_waits_behind_a_crowd),
        cmocka_unit_test(after_a_pause_all_that_is_ready_comes_before_late_timers),
        cmocka_unit_test(late_timers_fire_although_descriptors_are_always_ready),
    };
    return cmocka_run_group_tests_name("net.loop", tests, NULL, NULL);
}
