/* SPDX-License-Identifier: Apache-2.0 */
/* clock_gettime of the two clocks, as integers. */
#include "base/clock.h"
#include "base/clock_step.h"
#include <stdatomic.h>
#include <stdbool.h>

static _Atomic bool holds;
static _Atomic int64_t offset_us; /* wall minus boot clock, when the former was followed last */

static int64_t now_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t step_us(int64_t machine_us)
{
    if (!atomic_load_explicit(&holds, memory_order_acquire))
        return 0;
    int64_t offset = atomic_load_explicit(&offset_us, memory_order_relaxed);
    int64_t apart_us = machine_us - now_us(CLOCK_BOOTTIME) - offset;
    return clock_step_of(apart_us / 1000) ? apart_us : 0;
}

int64_t clock_wall_us(void)
{
    int64_t machine_us = now_us(CLOCK_REALTIME);
    return machine_us - step_us(machine_us);
}

int64_t clock_machine_ms(void)
{
    return now_us(CLOCK_REALTIME) / 1000;
}

int64_t clock_step_ms(void)
{
    return step_us(now_us(CLOCK_REALTIME)) / 1000;
}

void clock_follow(void)
{
    int64_t offset = now_us(CLOCK_REALTIME) - now_us(CLOCK_BOOTTIME);
    atomic_store_explicit(&offset_us, offset, memory_order_relaxed);
}

void clock_hold(void)
{
    clock_follow();
    atomic_store_explicit(&holds, true, memory_order_release);
}

int64_t clock_wall_ms(void)
{
    return clock_wall_us() / 1000;
}

int64_t clock_boot_us(void)
{
    return now_us(CLOCK_BOOTTIME);
}

int64_t clock_boot_ms(void)
{
    return clock_boot_us() / 1000;
}

struct timespec clock_after_ms(int64_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}
