/* SPDX-License-Identifier: Apache-2.0 */
/* peal_sim_cluster: plays seeds until one breaks a promise.
 *
 *     peal_sim_cluster --seeds 1..1000          a fixed set
 *     peal_sim_cluster --seed 17 [--trace]      one, told step by step
 *     peal_sim_cluster --list FILE              those in a file; # begins a comment */
#include "world.h"
#include "base/clock_step.h"
#include "base/str.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define EVENTS_MAX 20000000

int64_t between(struct world *w, int64_t low, int64_t high)
{
    return low + dice_below(&w->dice, (uint32_t)(high - low + 1));
}

bool chance(struct world *w, uint32_t ppm)
{
    return dice_chance(&w->dice, ppm);
}

struct now now_of(const struct cnode *n)
{
    int64_t t = n->w->t, drift = t * n->ppm / 1000000;
    int64_t boot_ms = n->boot_off + t + drift, machine = machine_ms(n);
    int64_t step_ms = n->up && n->life ? clock_step_of(machine - boot_ms - n->agreed_ms) : 0;
    return (struct now){ .wall_ms = machine - step_ms, .boot_ms = boot_ms };
}

int64_t machine_ms(const struct cnode *n)
{
    int64_t t = n->w->t, drift = t * n->ppm / 1000000;
    return EPOCH_MS + t + drift + n->wall_off;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct event *event_add(struct world *w, int64_t ms, struct cnode *n, uint32_t gen,
                               event_fn *fn, void *p)
{
    struct event *e = mem_new(sizeof(*e));
    e->node = n;
    e->gen = gen;
    e->fn = fn;
    e->p = p;
    heap_add(&w->events, &e->in_heap, w->t + (ms > 0 ? ms : 0));
    return e;
}

struct event *after(struct world *w, int64_t ms, struct cnode *n, event_fn *fn, void *p)
{
    return event_add(w, ms, n, n->gen, fn, p);
}

struct event *elsewhere(struct world *w, int64_t ms, struct cnode *n, event_fn *fn, void *p)
{
    return event_add(w, ms, n, 0, fn, p);
}

static void event_run(struct world *w, struct event *e)
{
    if (e->gen && (e->gen != e->node->gen || !e->node->up))
        return;
    if (e->gen && w->t < e->node->paused_ms) {
        struct event *again = event_add(w, e->node->paused_ms - w->t, e->node, e->gen, e->fn, e->p);
        again->a = e->a;
        again->b = e->b;
        e->p = NULL;
        return;
    }
    e->fn(w, e);
}

static void event_free(struct event *e)
{
    free(e->p);
    free(e);
}

static struct event *event_of(struct heap_entry *h)
{
    return (struct event *)((char *)h - offsetof(struct event, in_heap));
}

void world_run(struct world *w, int64_t until_ms)
{
    while (heap_next(&w->events) <= until_ms) {
        w->t = heap_next(&w->events);
        struct event *e = event_of(heap_pop(&w->events, w->t));
        event_run(w, e);
        event_free(e);
        if (++w->nevents > EVENTS_MAX)
            broken(w, "liveness", "the world spins: %llu events", (unsigned long long)w->nevents);
    }
    w->t = until_ms;
}

void world_done(struct world *w)
{
    for (struct heap_entry *h; (h = heap_pop(&w->events, INT64_MAX));)
        event_free(event_of(h));
    heap_done(&w->events);
}

/* ---- telling --------------------------------------------------------------------------------- */

static void tell(const struct world *w, const char *format, va_list args)
{
    printf("%7lld ", (long long)w->t);
    vprintf(format, args);
    putchar('\n');
}

void say(struct world *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (w->trace)
        tell(w, format, args);
    va_end(args);
}

void broken(struct world *w, const char *promise, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("seed %llu broke %s at\n", (unsigned long long)w->seed, promise);
    tell(w, format, args);
    printf("replay: peal_sim_cluster --seed %llu --trace\n", (unsigned long long)w->seed);
    va_end(args);
    fflush(stdout);
    exit(1);
}

void must(struct world *w, enum err err, const struct why *why)
{
    if (err)
        broken(w, "the simulation", "%s: %s", err_name(err), why->text);
}

/* ---- seeds ----------------------------------------------------------------------------------- */

static void sum_up(struct world *sum, const struct world *w)
{
    int64_t *to = &sum->firings;
    const int64_t *from = &w->firings;
    for (; from <= &w->commits; from++, to++)
        *to += *from;
    if (w->takeover_ms > sum->takeover_ms)
        sum->takeover_ms = w->takeover_ms;
    if (w->handover_ms > sum->handover_ms)
        sum->handover_ms = w->handover_ms;
    sum->nevents += w->nevents;
    sum->nghosts++; /* seeds */
}

static void report(const struct world *f, double seconds)
{
    double n = f->nghosts ? (double)f->nghosts : 1;
    printf(
        "%lld seeds in %.1f s (%.1f ms each); on average %.0f firings, %.0f begun, %.1f sent "
        "after a pause, %.2f of these ran twice, %.1f resent, %.1f lost; %.1f joins, %.1f kills, "
        "%.1f pauses, %.1f stops, %.1f clocks far off, %.1f declared dead, %.1f fenced, %.1f runs "
        "adopted; %.0f "
        "commits, %.1f late, %.1f unheard, %.1f conflicts; %.1f edits, %.2f of them not told in "
        "time, %.1f results passed on; taken over within %lld ms, handed over within %lld ms\n",
        (long long)f->nghosts, seconds, seconds * 1000 / n, (double)f->firings / n,
        (double)f->begun / n, (double)f->stale_sends / n, (double)f->stale_runs / n,
        (double)f->resent / n, (double)f->lost / n, (double)f->joins / n, (double)f->kills / n,
        (double)f->pauses / n, (double)f->stops / n, (double)f->mad_clocks / n,
        (double)f->declared / n, (double)f->fenced / n, (double)f->adopted / n,
        (double)f->commits / n, (double)f->late_commits / n, (double)f->unheard / n,
        (double)f->conflicts / n, (double)f->edits / n, (double)f->told_late / n,
        (double)f->passed_on / n, (long long)f->takeover_ms, (long long)f->handover_ms);
}

static bool range(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
    char *end;
    *ret_first = *ret_last = strtoull(text, &end, 10);
    if (strncmp(end, "..", 2) == 0)
        *ret_last = strtoull(end + 2, &end, 10);
    return end != text && !*end;
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void play_one(uint64_t seed, bool trace, struct world *sum)
{
    static struct world w;
    play(seed, trace, &w);
    sum_up(sum, &w);
}

static int play_list(const char *path, struct world *sum)
{
    char line[4096];
    FILE *list = fopen(path, "r");
    if (!list) {
        perror(path);
        return 2;
    }
    while (fgets(line, sizeof(line), list)) {
        line[strcspn(line, "#\n")] = '\0';
        char *rest = line, *end;
        for (uint64_t seed; seed = strtoull(rest, &end, 10), end != rest; rest = end)
            play_one(seed, false, sum);
    }
    fclose(list);
    return 0;
}

int main(int argc, char **argv)
{
    static struct world sum;
    uint64_t first = 1, last = 0;
    const char *list = argc == 3 && strcmp(argv[1], "--list") == 0 ? argv[2] : NULL;
    bool trace = argc == 4 && strcmp(argv[3], "--trace") == 0;
    bool seeds = argc >= 3 && (strcmp(argv[1], "--seeds") == 0 || strcmp(argv[1], "--seed") == 0);
    if (!list && (!seeds || (argc != 3 && !trace) || !range(argv[2], &first, &last))) {
        fprintf(stderr,
                "usage: peal_sim_cluster --seeds A..B | --seed N [--trace] | --list FILE\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    double began = cpu_s();
    int status = list ? play_list(list, &sum) : 0;
    for (uint64_t seed = first; seed <= last; seed++)
        play_one(seed, trace, &sum);
    report(&sum, cpu_s() - began);
    return status;
}
