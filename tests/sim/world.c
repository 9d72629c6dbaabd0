/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - virtual time: a heap of events, two clocks, one pair of dice, and the course of a seed:
 * a beginning in which users make jobs, at least ten minutes in which everything may break, and a
 * calm end in which all that is open must come to its end. */
#include "sim.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACTIVE_MS 600000
#define DRAIN_MS 1500000 /* without any progress: stuck */
#define EVENTS_MAX 20000000

/* ---- time ------------------------------------------------------------------------------------ */

int64_t wall_ms(const struct sim *s)
{
    return s->boot_ms + s->offset_ms;
}

struct now sim_now(const struct sim *s)
{
    return (struct now){ wall_ms(s), s->boot_ms };
}

static bool before(const struct heap_place *a, const struct heap_place *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->tie < b->tie;
}

static void heap_push(struct sim *s, struct heap_place x)
{
    if (s->nheap == s->cheap) {
        s->cheap = s->cheap ? s->cheap * 2 : 256;
        s->heap = mem_resize(s->heap, s->cheap * sizeof(*s->heap));
    }
    size_t i = s->nheap++;
    for (; i > 0 && before(&x, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = x;
}

static struct event *heap_pop(struct sim *s)
{
    struct event *first = s->heap[0].event;
    struct heap_place last = s->heap[--s->nheap];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->nheap)
            break;
        if (child + 1 < s->nheap && before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!before(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return first;
}

struct event *sim_send(struct sim *s, int64_t in_ms, event_fn *fn, int64_t a, int64_t b, void *p)
{
    struct event *e = mem_new(sizeof(*e));
    e->at_ms = s->boot_ms + (in_ms > 0 ? in_ms : 0);
    e->tie = (uint64_t)dice_below(&s->dice, 4) << 48 | s->nevents++;
    e->fn = fn;
    e->a = a;
    e->b = b;
    e->p = p;
    heap_push(s, (struct heap_place){ e->at_ms, e->tie, e });
    return e;
}

bool sim_chance(struct sim *s, int ppm)
{
    return dice_chance(&s->dice, (uint32_t)ppm);
}

int64_t sim_between(struct sim *s, int64_t low, int64_t high)
{
    return low + dice_below(&s->dice, (uint32_t)(high - low + 1));
}

/* ---- telling --------------------------------------------------------------------------------- */

void sim_fail(struct sim *s, const char *promise, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("seed %llu broke %s at %.3f s (wall %lld): ", (unsigned long long)s->seed, promise,
           (double)s->boot_ms / 1000, (long long)wall_ms(s));
    vprintf(format, args);
    printf("\nreplay: peal_sim --seed %llu --trace\n", (unsigned long long)s->seed);
    va_end(args);
    fflush(stdout);
    exit(1);
}

void sim_must(struct sim *s, enum err err, const struct why *why)
{
    if (err)
        sim_fail(s, "the simulation", "%s: %s", err_name(err), why->text);
}

void sim_trace(struct sim *s, const char *format, ...)
{
    if (!s->trace)
        return;
    va_list args;
    va_start(args, format);
    printf("%10.3f %lld ", (double)s->boot_ms / 1000, (long long)(wall_ms(s)));
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

enum err sim_zone(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    struct sim *s = ctx;
    if (!name[0] || strcmp(name, "UTC") == 0) {
        *ret = zone_ref(zone_utc());
        return OK;
    }
    for (size_t i = 0; i < countof(s->zones); i++) {
        if (s->zones[i] && strcmp(zone_name(s->zones[i]), name) == 0) {
            *ret = zone_ref(s->zones[i]);
            return OK;
        }
    }
    why_set(why, "zone: unknown");
    return ERR_NOTFOUND;
}

/* ---- the course of a seed -------------------------------------------------------------------- */

static void run_until(struct sim *s, int64_t until_ms)
{
    while (s->nheap && s->heap[0].at_ms <= until_ms) {
        struct event *e = heap_pop(s);
        s->boot_ms = e->at_ms;
        e->fn(s, e);
        free(e->p);
        free(e);
        if (s->nevents > EVENTS_MAX)
            sim_fail(s, "liveness", "the world spins: %llu events", (unsigned long long)s->nevents);
    }
    s->boot_ms = until_ms;
}

static void look(struct sim *s, struct event *e)
{
    (void)e;
    check_calm(s);
    sim_send(s, 5000, look, 0, 0, NULL);
}

/* Wall times at which seeds begin: ordinary days, and hours before a change of the clocks. */
static const int64_t beginnings[] = { 1760000000000,
                                      1762062900000 /* America/New_York falls back at 06:00Z */,
                                      1772953000000 /* it springs forward at 2026-03-08T07:00Z */,
                                      1759589700000, 1700000123456 };

static void plan_faults(struct sim *s)
{
    int crashes = (int)sim_between(s, 1, 4);
    for (int i = 0; i < crashes; i++)
        sim_send(s, sim_between(s, 20000, ACTIVE_MS - 20000), center_crash_soon, 0, 0, NULL);
    for (int i = 0, n = (int)sim_between(s, 0, 3); i < n; i++)
        sim_send(s, sim_between(s, 20000, ACTIVE_MS - 20000), center_stop, 0, 0, NULL);
    if (sim_chance(s, 400000))
        sim_send(s, sim_between(s, 20000, ACTIVE_MS - 60000), backup_soon, 0, 0, NULL);
    for (int i = 0, n = (int)sim_between(s, 0, 3); i < n; i++)
        sim_send(s, sim_between(s, 20000, ACTIVE_MS - 40000), center_store_fault, 0, 0, NULL);
    for (int i = 0, n = (int)sim_between(s, 0, 4); i < n; i++)
        sim_send(s, sim_between(s, 20000, ACTIVE_MS - 60000), center_clock_step, 0, 0, NULL);
    for (int i = 0, n = (int)sim_between(s, 0, 8); i < n; i++) {
        int x = (int)dice_below(&s->dice, (uint32_t)s->nexecs);
        event_fn *fn = sim_chance(s, 700000) ? exec_crash : exec_stop;
        sim_send(s, sim_between(s, 15000, ACTIVE_MS - 30000), fn, x, sim_chance(s, 60000), NULL);
    }
}

/* What comes seldom. */
static void plan_rare(struct sim *s)
{
    if (sim_chance(s, 150000))
        sim_send(s, sim_between(s, 15000, ACTIVE_MS - 140000), center_freeze, 0, 0, NULL);
    if (sim_chance(s, 150000))
        sim_send(s, sim_between(s, 10000, ACTIVE_MS - 120000), exec_dark,
                 dice_below(&s->dice, (uint32_t)s->nexecs), 0, NULL);
    if (sim_chance(s, 5000))
        sim_send(s, sim_between(s, 15000, 60000), exec_crowd, 0, sim_between(s, 1, 3), NULL);
    s->outage = sim_chance(s, 10000);
    s->client_room = sim_chance(s, 100000) ? (int)sim_between(s, 2, 20) : 0;
}

static void plan_cuts(struct sim *s)
{
    for (int i = 0, n = (int)sim_between(s, 0, 3); i < n; i++)
        sim_send(s, sim_between(s, 15000, ACTIVE_MS - 160000), exec_cut,
                 dice_below(&s->dice, (uint32_t)s->nexecs), 0, NULL);
}

static void calm_down(struct sim *s)
{
    s->calm = true;
    s->crash_in = 0;
    s->store_bad_until_ms = 0;
    s->slow_disk = false;
    s->client_room = 0;
    s->loss_ppm = s->double_ppm = s->late_ppm = s->refuse_ppm = s->opening_ppm = 0;
    for (int i = 0; i < s->nexecs; i++) {
        s->execs[i].slow = false;
        s->execs[i].cut_until_ms = 0;
        if (!s->execs[i].up && !s->execs[i].gone)
            sim_send(s, sim_between(s, 1, 3000), exec_start, i, 0, NULL);
    }
}

/* The network and the clock of this seed, and empty accounts. */
static void begin(struct sim *s)
{
    s->dice.state = s->seed;
    s->offset_ms = beginnings[dice_below(&s->dice, countof(beginnings))];
    s->boot_ms = 1000;
    s->offset_ms -= s->boot_ms;
    s->loss_ppm = (int)sim_between(s, 0, 2) * 8000;
    s->double_ppm = (int)sim_between(s, 0, 2) * 10000;
    s->late_ppm = (int)sim_between(s, 0, 2) * 8000;
    s->refuse_ppm = (int)sim_between(s, 0, 2) * 4000;
    s->opening_ppm = s->seed % 3 == 0 ? 150000 : 0;
    s->figures_zone = s->seed % 4 < countof(s->zones) ? s->zones[s->seed % 4] : NULL;
    if (!s->figures_zone)
        s->figures_zone = zone_utc();
    net_init(s);
    map_init(&s->keys);
    map_init(&s->scheduled_times);
    map_init(&s->parents);
    map_init(&s->starts);
    map_init(&s->placed);
    map_init(&s->choices);
    map_init(&s->asked);
    map_init(&s->shards);
    map_init(&s->idles);
    textmap_init(&s->peers);
    list_init(&s->acks);
    list_init(&s->calls);
    writes_init(s);
    alarms_init(s);
}

/* Jobs, users and faults, until enough has fired and the center has crashed. */
static void play_active(struct sim *s)
{
    s->choked = sim_chance(s, 300000);
    exec_init(s);
    users_init(s);
    center_start(s);
    plan_faults(s);
    plan_cuts(s);
    plan_rare(s);
    sim_send(s, 5000, look, 0, 0, NULL);
    sim_send(s, 1, users_act, 0, 0, NULL);
    run_until(s, ACTIVE_MS + 1000);
    for (int more = 0; more < 100 && (s->firings < 1000 || s->crashes == 0); more++) {
        if (s->crashes == 0 && s->sched)
            center_crash_soon(s, NULL);
        run_until(s, s->boot_ms + 60000);
    }
    while (!s->sched) /* it may be away for days */
        run_until(s, s->boot_ms + 60000);
}

/* Without faults, until all jobs are stopped and everything has ended. A backlog may take its time,
 * as long as it moves. */
static void play_calm(struct sim *s)
{
    calm_down(s);
    run_until(s, s->boot_ms + 30000);
    check_calm(s);
    users_stop_all(s);
    int64_t progress = 0, since_ms = s->boot_ms;
    do {
        run_until(s, s->boot_ms + 5000);
        if (check_quiet(s))
            run_until(s, s->boot_ms + 3000); /* a renewal of the watermark behind the last end */
        if (s->ends > progress)
            since_ms = s->boot_ms;
        progress = s->ends;
    } while (s->boot_ms - since_ms < DRAIN_MS && !check_quiet(s));
    check_end(s);
}

static void free_all(struct sim *s)
{
    center_free(s);
    exec_free(s);
    check_free(s);
    while (s->nheap) {
        struct event *e = heap_pop(s);
        free(e->p);
        free(e);
    }
    free(s->heap);
    void *value;
    for (size_t i = 0; map_next(&s->conns, &i, &value);)
        free(value);
    map_done(&s->conns);
    store_close(s->store);
}

void sim_play(struct sim *s)
{
    begin(s);
    play_active(s);
    play_calm(s);
    struct sched_stats st;
    sched_stats(s->sched, &st);
    s->queries += (int64_t)st.queries;
    s->doubts += (int64_t)st.doubts;
    free_all(s);
}
