/* SPDX-License-Identifier: Apache-2.0 */
/* What a change of one address costs a group that is routed by CONSISTENT_HASH: microseconds of
 * this thread's CPU clock, the least of several rounds. bench_route [ADDRESSES]. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/mem.h"
#include "plan/route.h"

enum { ROUNDS = 20 };

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct group_view *view_of(uint64_t version, char **names, int n)
{
    return group_view_new(1, version, (const char *const *)names, n);
}

static double pick_us(struct router *r, struct group_view *v)
{
    double begin = cpu_us();
    router_pick(r, ROUTE_CONSISTENT_HASH, 7, v, 0);
    double took = cpu_us() - begin;
    group_view_unref(v);
    return took;
}

static void keep_least(double *least, double us)
{
    if (*least == 0 || us < *least)
        *least = us;
}

int main(int argc, char **argv)
{
    int n = 4000;
    if ((argc > 1 && !parse_int(slice_text(argv[1]), &n)) || n < 1 || n > 10000)
        return 2;
    char **names = mem_new((size_t)(n + ROUNDS) * sizeof(*names));
    for (int i = 0; i < n + ROUNDS; i++) {
        char name[40];
        snprintf(name, sizeof(name), "http://10.0.%d.%d:9999/", i / 250, i % 250);
        names[i] = mem_dup(name);
    }
    struct router *r = router_new(1);
    uint64_t version = 1;
    double first = pick_us(r, view_of(version, names, n)), same = 0, gone = 0, back = 0, new = 0;
    for (int i = 0; i < ROUNDS; i++) {
        keep_least(&same, pick_us(r, view_of(version, names, n)));
        keep_least(&gone, pick_us(r, view_of(++version, names, n - 1)));
        keep_least(&back, pick_us(r, view_of(++version, names, n)));
    }
    for (int i = 1; i <= ROUNDS; i++)
        keep_least(&new, pick_us(r, view_of(++version, names, n + i)));
    printf("%d addresses: first %.0f us, same list %.2f, one gone %.0f, back %.0f, new %.0f us\n",
           n, first, same, gone, back, new);
    router_free(r);
    for (int i = 0; i < n + ROUNDS; i++)
        free(names[i]);
    free(names);
    return 0;
}
