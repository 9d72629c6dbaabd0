/* SPDX-License-Identifier: Apache-2.0 */
/* How fast are expressions? The 6,000 lines of tests/vectors/cron-next.tsv, on one core: the next
 * scheduled time of a parsed object (chains of 8 from each line's start), and parsing alone and
 * with one next. Prints the median of five runs, as a rate of wall time and as CPU nanoseconds
 * each. usage: bench_cron [cron-next.tsv] */
#include "base/mem.h"
#include "cron/cron.h"
#include "cron/rfc3339.h"
#include "server/zones.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINES_MAX = 10000, CHAIN = 8, RUNS = 5, REPEAT = 25 };

struct line {
    char *text;
    struct zone *zone;
    int64_t start_ms;
    struct cron cron;
};

struct result {
    double wall_ns, cpu_ns;
};

static struct line lines[LINES_MAX];
static int nlines;
static int64_t sink; /* keeps the compiler from leaving the work out */

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void load_line(struct zones *zones, char *text)
{
    struct line *l = &lines[nlines];
    char *save;
    char *zone = strchr(text, '\t');
    if (!zone)
        return;
    *zone++ = '\0';
    char *name = strtok_r(zone, "\t", &save), *start = strtok_r(NULL, "\t", &save);
    if (strchr(text, '\\') || !name || !start)
        return; /* escaped blanks: a few lines, not worth a second reader of them */
    if (zones_get(zones, name, &l->zone, NULL) ||
        rfc3339_parse(slice_text(start), &l->start_ms, NULL) ||
        cron_parse(slice_text(text), 2126, &l->cron, NULL)) {
        fprintf(stderr, "bench_cron: unusable line: %s\n", text);
        exit(1);
    }
    l->text = mem_dup(text);
    nlines++;
}

static void load(struct zones *zones, const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        perror(path);
        exit(1);
    }
    char *text = NULL;
    size_t cap = 0;
    while (nlines < LINES_MAX && getline(&text, &cap, f) > 0)
        load_line(zones, text);
    free(text);
    fclose(f);
}

static long next_chains(enum dst_policy dst)
{
    long n = 0;
    for (int i = 0; i < nlines; i++) {
        int64_t ms = lines[i].start_ms;
        for (int k = 0; k < CHAIN; k++, n++)
            if (cron_next(&lines[i].cron, lines[i].zone, dst, ms, &ms))
                break;
        sink += ms;
    }
    return n;
}

static long next_xxl(void)
{
    return next_chains(DST_XXL);
}

static long next_smart(void)
{
    return next_chains(DST_SMART);
}

static long parse_only(void)
{
    for (int i = 0; i < nlines; i++) {
        struct cron c;
        if (cron_parse(slice_text(lines[i].text), 2126, &c, NULL))
            abort();
        sink += (int64_t)c.minutes;
    }
    return nlines;
}

static long parse_and_next(void)
{
    for (int i = 0; i < nlines; i++) {
        struct cron c;
        int64_t ms = 0;
        if (cron_parse(slice_text(lines[i].text), 2126, &c, NULL))
            abort();
        if (!cron_next(&c, lines[i].zone, DST_XXL, lines[i].start_ms, &ms))
            sink += ms;
    }
    return nlines;
}

static int by_wall(const void *a, const void *b)
{
    double x = ((const struct result *)a)->wall_ns, y = ((const struct result *)b)->wall_ns;
    return (x > y) - (x < y);
}

static void measure(const char *name, long (*work)(void))
{
    struct result results[RUNS];
    for (int run = 0; run < RUNS; run++) {
        double wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        long n = 0;
        for (int i = 0; i < REPEAT; i++)
            n += work();
        results[run].wall_ns = (now_ns(CLOCK_MONOTONIC) - wall) / (double)n;
        results[run].cpu_ns = (now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)n;
    }
    qsort(results, RUNS, sizeof(results[0]), by_wall);
    const struct result *r = &results[RUNS / 2];
    printf("%-28s %8.2f M/s  %7.1f ns CPU each\n", name, 1e3 / r->wall_ns, r->cpu_ns);
}

int main(int argc, char **argv)
{
    struct zones *zones = zones_new(NULL);
    load(zones, argc > 1 ? argv[1] : PEAL_SOURCE_DIR "/tests/vectors/cron-next.tsv");
    printf("cron: %d expressions in 8 zones, one core, median of %d runs\n", nlines, RUNS);
    measure("next, parsed, xxl", next_xxl);
    measure("next, parsed, smart", next_smart);
    measure("parse", parse_only);
    measure("parse and one next", parse_and_next);
    for (int i = 0; i < nlines; i++) {
        zone_unref(lines[i].zone);
        free(lines[i].text);
    }
    zones_free(zones);
    return sink == 42 ? 3 : 0;
}
