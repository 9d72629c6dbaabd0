/* SPDX-License-Identifier: Apache-2.0 */
/* peal_sim_nodes: plays seeds until one breaks what holds.
 *
 *     peal_sim_nodes --seeds 1..1000          a fixed set
 *     peal_sim_nodes --seed 17 [--trace]      one, told step by step */
#include "world.h"
#include "base/mem.h"
#include "base/str.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event {
    struct heap_entry in_heap;
    struct snode *node;
    bool bound; /* to the node's process */
    uint32_t gen;
    event_fn *fn;
    void *arg;
};

struct piece {
    struct list_node in_world;
    max_align_t data[];
};

void *world_new(struct world *w, size_t size)
{
    struct piece *p = mem_new(sizeof(*p) + size);
    list_push(&w->memory, &p->in_world);
    return p->data;
}

static void event_add(struct world *w, int64_t ms, struct event e)
{
    struct event *there = mem_new(sizeof(*there));
    *there = e;
    heap_add(&w->events, &there->in_heap, w->t + ms);
}

void after(struct world *w, int64_t ms, struct snode *n, event_fn *fn, void *arg)
{
    event_add(w, ms,
              (struct event){ .node = n, .bound = true, .gen = n->gen, .fn = fn, .arg = arg });
}

void elsewhere(struct world *w, int64_t ms, struct snode *n, event_fn *fn, void *arg)
{
    event_add(w, ms, (struct event){ .node = n, .fn = fn, .arg = arg });
}

int64_t between(struct world *w, int64_t low, int64_t high)
{
    return low + dice_below(&w->dice, (uint32_t)(high - low + 1));
}

struct now now_of(const struct world *w, const struct snode *n)
{
    return (struct now){ .wall_ms = w->t + n->wall_off,
                         .boot_ms = n->boot_off + w->t + w->t * n->ppm / 1000000 };
}

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

void broken(struct world *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("seed %llu broke at\n", (unsigned long long)w->seed);
    tell(w, format, args);
    printf("replay: peal_sim_nodes --seed %llu --trace\n", (unsigned long long)w->seed);
    va_end(args);
    exit(1);
}

static void figures_add(struct world *sum, const struct world *w)
{
    sum->nruns += w->nruns;
    sum->sends += w->sends;
    sum->stale += w->stale;
    sum->adopted += w->adopted;
    sum->declared += w->declared;
    sum->joins += w->joins;
    sum->handed += w->handed;
    sum->forgotten += w->forgotten;
    sum->fenced += w->fenced;
    sum->lost_answers += w->lost_answers;
}

static void report(const struct world *f, uint64_t seeds)
{
    printf(
        "%llu seeds: %d runs, %lld sent, %lld of them after a pause; %lld joins, %lld declared "
        "dead, %lld handed over, %lld refused, %lld batches fenced, %lld answers lost, %lld runs "
        "adopted\n",
        (unsigned long long)seeds, f->nruns, (long long)f->sends, (long long)f->stale,
        (long long)f->joins, (long long)f->declared, (long long)f->handed, (long long)f->forgotten,
        (long long)f->fenced, (long long)f->lost_answers, (long long)f->adopted);
}

static void run_event(struct world *w, struct event *e)
{
    struct snode *n = e->node;
    if (e->bound && (e->gen != n->gen || !n->up))
        return;
    if (e->bound && w->t < n->paused_ms) {
        event_add(w, n->paused_ms - w->t, *e);
        return;
    }
    e->fn(w, n, e->arg);
}

void world_run(struct world *w, int64_t until_ms)
{
    for (struct heap_entry *h; heap_next(&w->events) <= until_ms;) {
        w->t = heap_next(&w->events);
        h = heap_pop(&w->events, w->t);
        struct event *e = (struct event *)((char *)h - offsetof(struct event, in_heap));
        run_event(w, e);
        free(e);
    }
    w->t = until_ms;
}

void world_done(struct world *w)
{
    for (struct heap_entry *h; (h = heap_pop(&w->events, INT64_MAX));)
        free((char *)h - offsetof(struct event, in_heap));
    heap_done(&w->events);
    for (struct list_node *n; (n = list_pop(&w->memory));)
        free(n);
    for (int i = 0; i < w->nnodes; i++)
        if (w->nodes[i].up)
            cluster_free(w->nodes[i].c);
}

static bool range(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
    char *end;
    *ret_first = *ret_last = strtoull(text, &end, 10);
    if (strncmp(end, "..", 2) == 0)
        *ret_last = strtoull(end + 2, &end, 10);
    return end != text && !*end;
}

int main(int argc, char **argv)
{
    static struct world w, sum;
    uint64_t first = 1, last = 100;
    bool trace = false;
    for (int i = 1; i < argc; i++) {
        bool seeds = strcmp(argv[i], "--seeds") == 0 || strcmp(argv[i], "--seed") == 0;
        trace = trace || strcmp(argv[i], "--trace") == 0;
        if (seeds && (i + 1 == argc || !range(argv[++i], &first, &last))) {
            fprintf(stderr, "peal_sim_nodes --seeds A..B | --seed N [--trace]\n");
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t seed = first; seed <= last; seed++) {
        play(seed, trace, &w);
        figures_add(&sum, &w);
    }
    report(&sum, last - first + 1);
    return 0;
}
