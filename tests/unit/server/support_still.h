/* SPDX-License-Identifier: Apache-2.0 */
/* support_still.h - a clock of the test's own, on which time stands still until the test moves it,
 * and waits for what real threads do meanwhile. It defines the clock's functions: the one file of a
 * test program includes it. */
#ifndef PEAL_TESTS_SERVER_SUPPORT_STILL_H
#define PEAL_TESTS_SERVER_SUPPORT_STILL_H

#include "base/clock.h"
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#define WAIT_TURNS 20000 /* of a millisecond at least */

static _Atomic int64_t boot_ms, wall_ms;
static _Atomic int64_t step_ms; /* of the machine's clock, which is not followed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for `at`, all that threads share */

static int64_t get(const void *value, bool wide)
{
    pthread_mutex_lock(&lock);
    int64_t v = wide ? *(const int64_t *)value : *(const int *)value;
    pthread_mutex_unlock(&lock);
    return v;
}

#define GET(field) (get(&at.field, sizeof(at.field) == sizeof(int64_t)))
#define SET(field, value)                                                                          \
    do {                                                                                           \
        pthread_mutex_lock(&lock);                                                                 \
        at.field = (value);                                                                        \
        pthread_mutex_unlock(&lock);                                                               \
    } while (0)
#define WAIT_FOR(condition)                                                                        \
    do {                                                                                           \
        for (int turn = 0; !(condition); turn++) {                                                 \
            assert_true(turn < WAIT_TURNS);                                                        \
            poll(NULL, 0, 1);                                                                      \
        }                                                                                          \
    } while (0)

int64_t clock_boot_ms(void)
{
    return boot_ms;
}

int64_t clock_boot_us(void)
{
    return boot_ms * 1000;
}

int64_t clock_wall_ms(void)
{
    return wall_ms;
}

int64_t clock_wall_us(void)
{
    return wall_ms * 1000;
}

int64_t clock_machine_ms(void)
{
    return wall_ms + step_ms;
}

int64_t clock_step_ms(void)
{
    return step_ms;
}

void clock_hold(void)
{
}

void clock_follow(void)
{
    wall_ms += step_ms;
    step_ms = 0;
}

/* A wait of a thread ends by real time, later than asked: what it waits for comes by a signal. */
struct timespec clock_after_ms(int64_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000 + 1;
    return t;
}

#endif
