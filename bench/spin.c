/* SPDX-License-Identifier: Apache-2.0 */
/* peal_spin: the spin control. One thread a core, pinned, spins for N seconds and adds up the gaps
 * between two looks at the clock that are too long for a thread that has the core to itself. What
 * is lost is the host's (or another program's): a rate means nothing without this number, because
 * virtual machines lose CPU without showing it to the guest.
 * Prints one line of JSON: the share of wall time lost on the worst core, each core's, and the
 * longest gap. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"

/* A turn of the loop takes some 30 ns; the timer's interrupt and its like a few us. */
enum { GAP_NS = 20000 };

struct core {
    pthread_t thread;
    int cpu;
    int64_t for_ns, lost_ns, wall_ns, longest_ns;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *spin(void *arg)
{
    struct core *c = arg;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)c->cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
    int64_t start = now_ns(), last = start, now = start;
    while (now - start < c->for_ns) {
        now = now_ns();
        int64_t gap = now - last;
        last = now;
        if (gap < GAP_NS)
            continue;
        c->lost_ns += gap;
        if (gap > c->longest_ns)
            c->longest_ns = gap;
    }
    c->wall_ns = now - start;
    return NULL;
}

int main(int argc, char **argv)
{
    int seconds = 5;
    if (argc > 2 || (argc == 2 && (!parse_int(slice_text(argv[1]), &seconds) || seconds < 1))) {
        fprintf(stderr, "usage: peal_spin [SECONDS]\n");
        return 2;
    }
    cpu_set_t allowed;
    struct core cores[CPU_SETSIZE];
    int n = 0;
    double worst = 0;
    int64_t longest = 0;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        return 3;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &allowed))
            cores[n++] = (struct core){ .cpu = cpu, .for_ns = (int64_t)seconds * 1000000000 };
    for (int i = 0; i < n; i++)
        if (pthread_create(&cores[i].thread, NULL, spin, &cores[i]))
            return 3;
    for (int i = 0; i < n; i++)
        pthread_join(cores[i].thread, NULL);
    printf("{\"seconds\":%d,\"cores\":[", seconds);
    for (int i = 0; i < n; i++) {
        double lost = (double)cores[i].lost_ns / (double)cores[i].wall_ns;
        if (lost > worst)
            worst = lost;
        if (cores[i].longest_ns > longest)
            longest = cores[i].longest_ns;
        printf("%s%.4f", i ? "," : "", lost);
    }
    printf("],\"lost\":%.4f,\"longest_gap_us\":%lld}\n", worst, (long long)(longest / 1000));
    return 0;
}
