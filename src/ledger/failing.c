/* SPDX-License-Identifier: Apache-2.0 */
/* failing.c - which jobs are in an open alarm, where other servers end runs of the same jobs.
 *
 * A job's failures in a row are counted by each server for the runs that it ends. So a transition
 * that one server sees says nothing of what the others have seen: the alarm may have been opened by
 * a server that is dead now. What is in the database decides instead. Most runs succeed, and their
 * jobs are in no alarm; a list that is a second old at most says of which jobs it has to be asked.
 */
#include "base/map.h"
#include "base/mem.h"
#include "ledger/internal.h"
#include <stdlib.h>

#define LOOK_MS 1000

struct failing {
    struct map jobs; /* job id -> something */
    int64_t look_ms; /* wall: of the last look; 0: there was none */
};

struct failing *failing_new(void)
{
    struct failing *f = mem_new(sizeof(*f));
    map_init(&f->jobs);
    return f;
}

void failing_free(struct failing *f)
{
    if (!f)
        return;
    map_done(&f->jobs);
    free(f);
}

static bool add_job(void *ctx, int64_t job_id)
{
    struct failing *f = ctx;
    map_set(&f->jobs, (uint64_t)job_id, f);
    return true;
}

enum err failing_look(struct failing *f, struct txn *t)
{
    int64_t age_ms = t->b->now_ms - f->look_ms;
    if (f->look_ms && age_ms >= 0 && age_ms < LOOK_MS)
        return OK;
    map_done(&f->jobs);
    map_init(&f->jobs);
    f->look_ms = 0;
    enum err err = t->ops->rules->incident_jobs_unsettled(t->store, add_job, f, &t->b->why);
    if (!err)
        f->look_ms = t->b->now_ms;
    return err;
}

bool failing_has(const struct failing *f, int64_t job_id)
{
    return map_find(&f->jobs, (uint64_t)job_id) != NULL;
}

struct finding {
    int64_t rule_id, incident_id; /* 0: none */
};

static bool note_newest(void *ctx, const struct incident_job *j)
{
    struct finding *f = ctx;
    if (j->rule_id == f->rule_id)
        f->incident_id = j->incident_id; /* they come by id */
    return true;
}

enum err failing_of(struct txn *t, int64_t rule_id, int64_t job_id, struct failing_state *ret)
{
    const struct store_rules *ops = t->ops->rules;
    struct finding f = { .rule_id = rule_id };
    struct incident_record i;
    *ret = (struct failing_state){ .any = false };
    enum err err = ops->incident_jobs_open(t->store, job_id, note_newest, &f, &t->b->why);
    if (err || !f.incident_id)
        return err;
    ret->any = true;
    err = ops->incident_get(t->store, f.incident_id, &i, &t->b->why);
    if (err)
        return err == ERR_NOTFOUND ? OK : err;
    ret->open = i.closed_ms < 0;
    incident_record_done(&i);
    return OK;
}
