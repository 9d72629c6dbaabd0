/* SPDX-License-Identifier: Apache-2.0 */
/* A wall clock that can be set for one process: LD_PRELOAD it, with the path of a file of 8 bytes,
 * the offset in nanoseconds, in CLOCK_STEP_FILE. It shifts what CLOCK_REALTIME says and the timers
 * that are set by it.
 *
 * What it cannot play is the kernel's cancelling of such a timer when the clock is set: a timer
 * that stands goes off by the old clock. So a program is tested that notices a step by itself. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL
#define FDS 1024

static volatile int64_t *offset;
static unsigned char real_time[FDS]; /* timers of CLOCK_REALTIME, by descriptor */

__attribute__((constructor)) static void map_offset(void)
{
    const char *path = getenv("CLOCK_STEP_FILE");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        abort();
    close(fd);
    offset = at;
}

static void shift(struct timespec *t, int64_t by_ns)
{
    int64_t ns = t->tv_sec * SECOND_NS + t->tv_nsec + by_ns;
    t->tv_sec = ns / SECOND_NS;
    t->tv_nsec = ns % SECOND_NS;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int rc = real(clock, t);
    if (!rc && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        shift(t, *offset);
    return rc;
}

time_t time(time_t *ret)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (ret)
        *ret = t.tv_sec;
    return t.tv_sec;
}

int timerfd_create(int clock, int flags)
{
    int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "timerfd_create");
    int fd = real(clock, flags);
    if (fd >= 0 && fd < FDS)
        real_time[fd] = clock == CLOCK_REALTIME;
    return fd;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
    int (*real)(int, int, const struct itimerspec *, struct itimerspec *) =
        (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(RTLD_NEXT,
                                                                                 "timerfd_settime");
    struct itimerspec moved = *new;
    if (fd >= 0 && fd < FDS && real_time[fd] && flags & TFD_TIMER_ABSTIME &&
        (moved.it_value.tv_sec || moved.it_value.tv_nsec))
        shift(&moved.it_value, -*offset);
    if (moved.it_value.tv_sec < 0) /* long past by the new clock */
        moved.it_value = (struct timespec){ 0, 1 };
    return real(fd, flags, &moved, old);
}
