/* SPDX-License-Identifier: Apache-2.0 */
/* What the flight recorder costs a firing, in a file on /dev/shm as the server maps it: nanoseconds
 * of this thread's CPU clock, the best of several rounds (the machine's neighbours only ever add).
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "sched/flight.h"
#include "server/flight_file.h"

enum { ROUNDS = 15, OUT = 20000 }; /* runs between two renewals at 20,000 a second */

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double least(double a, double b)
{
    return b < a ? b : a;
}

int main(void)
{
    static flight_place place[OUT];
    struct why why = { "" };
    struct flight_file *file = flight_file_new("/dev/shm", "sqlite:/bench");
    struct flight_head *head = flight_file_make(file, &why);
    if (!head) {
        fprintf(stderr, "bench_flight: %s\n", why.text);
        return 1;
    }
    struct flight f;
    flight_init(&f, head);
    double leaving = 1e9, accepted = 1e9, told = 1e9, renewed = 1e9;
    int64_t id = 0;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        double t0 = cpu_ns();
        for (int i = 0; i < OUT; i++)
            flight_leaving(&f, &place[i], id + i + 1, round);
        double t1 = cpu_ns();
        for (int i = 0; i < OUT; i++)
            flight_accepted(&f, place[i], id + i + 1);
        double t2 = cpu_ns();
        for (int i = 0; i < OUT; i++)
            flight_told(&f, place[i], id + i + 1, round);
        double t3 = cpu_ns();
        flight_renewed(&f, round);
        double t4 = cpu_ns();
        id += OUT;
        leaving = least(leaving, (t1 - t0) / OUT);
        accepted = least(accepted, (t2 - t1) / OUT);
        told = least(told, (t3 - t2) / OUT);
        renewed = least(renewed, (t4 - t3) / OUT);
    }
    printf(
        "leaving %.1f ns, accepted %.1f ns, told %.1f ns, given back %.1f ns: %.1f ns a firing\n",
        leaving, accepted, told, renewed, leaving + accepted + told + renewed);
    flight_done(&f);
    flight_file_free(file, true);
    return f.in_use != 0;
}
