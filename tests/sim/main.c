/* SPDX-License-Identifier: Apache-2.0 */
/* peal_sim: plays seeds until one breaks a promise.
 *
 *     peal_sim --seeds 1..1000          a fixed set
 *     peal_sim --seed 17 [--trace]      one, told step by step
 *     peal_sim --random 100             fresh ones; the first is printed
 *     peal_sim --list FILE              those in a file; # begins a comment */
#include "sim.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char epitaph[160]; /* written beforehand: in a signal's handler nothing can be formatted */
static size_t epitaph_n;

static void on_signal(int number)
{
    (void)number;
    if (write(STDOUT_FILENO, epitaph, epitaph_n) < 0)
        _exit(2);
    _exit(1);
}

static struct zone *zone_load(const char *name)
{
    char path[256];
    static unsigned char bytes[ZONE_FILE_MAX];
    snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
    if (f)
        fclose(f);
    struct zone *z;
    struct why why = { "" };
    if (zone_parse(bytes, n, name, &z, &why)) {
        fprintf(stderr, "peal_sim: %s: %s (Debian package tzdata)\n", path, why.text);
        exit(2);
    }
    return z;
}

struct figures {
    int64_t seeds, firings, crashes, stops, exec_crashes, steps, edits, commits, queries, doubts,
        lost, resent, believed, restored, virtual_ms, events;
};

static void play(uint64_t seed, bool trace, struct zone **zones, struct figures *f)
{
    static struct sim s;
    memset(&s, 0, sizeof(s));
    epitaph_n = (size_t)snprintf(epitaph, sizeof(epitaph),
                                 "seed %llu crashed\nreplay: peal_sim --seed %llu --trace\n",
                                 (unsigned long long)seed, (unsigned long long)seed);
    s.seed = seed;
    s.trace = trace;
    memcpy(s.zones, zones, sizeof(s.zones));
    sim_play(&s);
    f->seeds++;
    f->firings += s.firings;
    f->crashes += s.crashes;
    f->stops += s.stops;
    f->exec_crashes += s.exec_crashes;
    f->steps += s.steps;
    f->edits += s.edits;
    f->commits += s.commits;
    f->queries += s.queries;
    f->doubts += s.doubts;
    f->lost += s.lost;
    f->resent += s.resent;
    f->believed += s.believed;
    f->restored += s.restored;
    f->virtual_ms += s.boot_ms;
    f->events += (int64_t)s.nevents;
}

static void report(const struct figures *f, double seconds)
{
    double n = (double)(f->seeds ? f->seeds : 1);
    printf("%lld seeds in %.1f s (%.1f ms each, %.0f an hour); on average %.0f firings, %.1f "
           "crashes of the center, %.1f clean stops, %.1f crashes of executors, %.1f clock steps, "
           "%.0f edits, %.0f commits, "
           "%.0f in doubt, %.0f queries, %.1f lost, %.1f resent, %.2f recorders believed, %.2f "
           "backups put back, %.0f virtual s, %.0f events\n",
           (long long)f->seeds, seconds, seconds * 1000 / n, 3600 * n / seconds,
           (double)f->firings / n, (double)f->crashes / n, (double)f->stops / n,
           (double)f->exec_crashes / n, (double)f->steps / n, (double)f->edits / n,
           (double)f->commits / n, (double)f->doubts / n, (double)f->queries / n,
           (double)f->lost / n, (double)f->resent / n, (double)f->believed / n,
           (double)f->restored / n, (double)f->virtual_ms / 1000 / n, (double)f->events / n);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int play_list(const char *path, struct zone **zones, struct figures *f)
{
    FILE *list = fopen(path, "r");
    char line[4096];
    if (!list) {
        perror(path);
        return 2;
    }
    while (fgets(line, sizeof(line), list)) {
        line[strcspn(line, "#\n")] = '\0';
        char *rest = line, *end;
        for (uint64_t seed; seed = strtoull(rest, &end, 10), end != rest; rest = end)
            play(seed, false, zones, f);
    }
    fclose(list);
    return 0;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: peal_sim --seeds A..B | --seed N [--trace] | --random COUNT | --list FILE\n");
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t from = 0, to = 0;
    bool trace = argc == 4 && strcmp(argv[3], "--trace") == 0;
    if (argc != 3 && !trace)
        return usage();
    char *end;
    const char *list = strcmp(argv[1], "--list") == 0 ? argv[2] : NULL;
    from = list ? 0 : strtoull(argv[2], &end, 10);
    if (list) {
        end = "";
    } else if (strcmp(argv[1], "--seeds") == 0 && strncmp(end, "..", 2) == 0) {
        to = strtoull(end + 2, &end, 10);
    } else if (strcmp(argv[1], "--seed") == 0) {
        to = from;
    } else if (strcmp(argv[1], "--random") == 0 && from) {
        uint64_t count = from;
        from = hash_u64((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid()) % 1000000000;
        to = from + count - 1;
        printf("random seeds from %llu\n", (unsigned long long)from);
    } else {
        return usage();
    }
    if (*end || to < from)
        return usage();
    setvbuf(stdout, NULL, _IOLBF, 0); /* a crash loses no line of a trace */
    int signals[] = { SIGILL, SIGSEGV, SIGABRT, SIGTRAP, SIGFPE, SIGBUS };
    for (size_t i = 0; i < countof(signals); i++)
        signal(signals[i], on_signal);
    struct zone *zones[3] = { zone_load("America/New_York"), zone_load("Australia/Lord_Howe"),
                              zone_load("Asia/Shanghai") };
    struct figures f = { 0 };
    double start = cpu_s();
    int status = 0;
    if (list)
        status = play_list(list, zones, &f);
    for (uint64_t seed = from; !list && seed <= to; seed++)
        play(seed, trace, zones, &f);
    report(&f, cpu_s() - start);
    for (size_t i = 0; i < countof(zones); i++)
        zone_unref(zones[i]);
    return status;
}
