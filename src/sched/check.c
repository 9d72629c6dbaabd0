/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - do the core's counts agree with what it holds?
 *
 * Everything that is counted beside what it counts is counted here once more: runs by phase, what
 * each run waits for against the place where it stands, a lane's queue, calls and references, the
 * dead, the runs of a job. */
#include "sched/check.h"
#include "sched/group.h"
#include "sched/job.h"
#include "sched/lane.h"
#include "sched/probe.h"
#include "sched/registry.h"
#include "sched/run.h"
#include "sched/state.h"
#include <assert.h>

static int list_length(const struct list *l)
{
    int n = 0;
    list_each(l, node, tmp) n++;
    return n;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool in_a_list(const struct run *r)
{
    switch ((enum wait)r->wait) {
    case WAIT_WATERMARK:
    case WAIT_PROBE:
    case WAIT_LANE:
        return true;
    case WAIT_ROUND:
        return r->reconcile->step != RECONCILE_LOG;
    default:
        return false;
    }
}

static void check_run(const struct run *r)
{
    bool in_a_heap = r->wait == WAIT_DUE || r->wait == WAIT_TIMER;
    bool in_a_round = r->reconcile && r->reconcile->step != RECONCILE_NOTHING;
    assert(wait_fits((enum wait)r->wait, (enum phase)r->phase));
    assert(in_a_round == (r->wait == WAIT_ROUND));
    assert(heap_linked(&r->timer.entry) == in_a_heap);
    assert(list_linked(&r->place) == in_a_list(r));
    assert(list_linked(&r->dirty) == (r->pending != NULL));
    assert(list_linked(&r->of_lane) == (r->lane != NULL));
    assert(r->lane || (r->wait != WAIT_LANE && r->wait != WAIT_CALL));
}

static void check_runs(const struct sched *s)
{
    int nphase[PHASE_COUNT] = { 0 }, live = 0, pending = 0;
    void *value;
    for (size_t i = 0; map_next(&s->runs, &i, &value);) {
        const struct run *r = value;
        check_run(r);
        nphase[r->phase]++;
        pending += r->pending != NULL;
        live++;
    }
    for (int i = 0; i < PHASE_COUNT; i++)
        assert(nphase[i] == s->nphase[i]);
    assert(live == s->stats.live);
    assert(pending == list_length(&s->dirty) + list_length(&s->lazy));
    int of_jobs = 0;
    for (size_t i = 0; map_next(&s->jobs, &i, &value);) {
        const struct live_job *j = value;
        assert(j->nruns > 0 && j->nruns == list_length(&j->runs));
        of_jobs += j->nruns;
    }
    assert(of_jobs == live);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void count_references(const struct sched *s)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);) {
        struct lane *lane = value;
        lane->sums.refs =
            list_length(&lane->runs) + list_length(&lane->probes) + list_length(&lane->asked);
        lane->sums.registered = lane->sums.listed = 0;
    }
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        const struct app *app = value;
        for (int k = 0; k < app->n; k++)
            app->addresses[k].lane->sums.registered++;
    }
    for (size_t i = 0; map_next(&s->groups, &i, &value);) {
        const struct group *g = value;
        int ndead = 0;
        for (int k = 0; k < g->nlanes; k++) {
            g->lanes[k]->sums.listed++;
            ndead += g->lanes[k]->dead;
        }
        assert(ndead == g->ndead);
    }
    for (uint32_t i = 0; i < s->nactions; i++) {
        const struct action *a = &s->actions[(s->first_action + i) % s->cactions];
        if (a->lane)
            a->lane->sums.refs++;
    }
    if (s->popped.lane)
        s->popped.lane->sums.refs++;
}

static void check_lane(const struct lane *lane)
{
    int queued = 0, calls = 0, logs = 0, accepted = 0, unknown = 0;
    list_each(&lane->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_lane);
        assert(r->lane == lane);
        queued += r->wait == WAIT_LANE;
        calls += r->wait == WAIT_CALL;
        accepted += r->phase == PHASE_ACCEPTED;
        unknown += r->phase == PHASE_UNKNOWN;
        logs += r->wait == WAIT_ROUND && r->reconcile->step == RECONCILE_LOG;
    }
    assert(queued == lane->nqueue && queued == list_length(&lane->queue));
    assert(calls == lane->in_flight);
    assert(accepted == lane->accepted && unknown == lane->unknown);
    assert(logs + list_length(&lane->rounds) == lane->querying);
    assert(lane->idles == list_length(&lane->asked));
    assert(lane->registered == lane->sums.registered);
    assert(lane->listed == lane->sums.listed && lane->listed == list_length(&lane->members));
    assert(lane->refs == lane->sums.refs + lane->registered + lane->listed);
}

static void check_lanes(const struct sched *s)
{
    int ndead = 0, spared = 0;
    void *value;
    count_references(s);
    for (size_t i = 0; textmap_next(&s->lanes, &i, &value);) {
        const struct lane *lane = value;
        check_lane(lane);
        ndead += lane->dead;
        spared += lane->window > LANE_FAIR ? lane->window - LANE_FAIR : 0;
    }
    assert(ndead == s->ndead);
    assert(spared == s->spared);
}

void sched_check(struct sched *s)
{
    check_runs(s);
    check_lanes(s);
}
