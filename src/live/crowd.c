/* SPDX-License-Identifier: Apache-2.0 */
/* One entry a job and group, in the order of the jobs: an event for one job is a search, one for
 * all a walk. */
#include "live/crowd.h"
#include <stdlib.h>
#include <string.h>
#include "base/jsonw.h"
#include "base/mem.h"

struct entry {
    int64_t job_id, group_id;
    uint32_t counts[LOG_OUTCOMES];
};

struct crowd {
    int64_t from_ms;
    size_t n;
    struct entry entries[];
};

static int by_job(const void *a, const void *b)
{
    const struct crowd_change *x = a, *y = b;
    if (x->job_id != y->job_id)
        return x->job_id < y->job_id ? -1 : 1;
    return (x->group_id > y->group_id) - (x->group_id < y->group_id);
}

struct crowd *crowd_new(struct crowd_change *changes, size_t n, int64_t from_ms)
{
    size_t entries = 0;
    if (n)
        qsort(changes, n, sizeof(*changes), by_job);
    for (size_t i = 0; i < n; i++)
        entries += !i || by_job(&changes[i - 1], &changes[i]) != 0;
    struct crowd *c = mem_new(sizeof(*c) + entries * sizeof(c->entries[0]));
    c->from_ms = from_ms;
    for (size_t i = 0; i < n; i++) {
        if (!i || by_job(&changes[i - 1], &changes[i]) != 0)
            c->entries[c->n++] =
                (struct entry){ .job_id = changes[i].job_id, .group_id = changes[i].group_id };
        c->entries[c->n - 1].counts[changes[i].outcome]++;
    }
    return c;
}

void crowd_free(struct crowd *c)
{
    free(c);
}

size_t crowd_bytes(const struct crowd *c)
{
    return sizeof(*c) + c->n * sizeof(c->entries[0]);
}

/* The first entry of that job or a later one. */
static size_t entry_at(const struct crowd *c, int64_t job_id)
{
    size_t low = 0, high = c->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->entries[middle].job_id < job_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct seen { /* what one viewer may see of it */
    uint64_t counts[LOG_OUTCOMES];
    int64_t jobs[256]; /* ascending, the first max */
    size_t njobs, max; /* njobs may be more than there is room for */
};

static void see(struct seen *s, const struct entry *e, const struct scope *scope)
{
    if (!scope_has(scope, e->group_id) && !scope_is_all(scope))
        return;
    for (int i = 0; i < LOG_OUTCOMES; i++)
        s->counts[i] += e->counts[i];
    if (s->njobs && s->njobs <= s->max && s->jobs[s->njobs - 1] == e->job_id)
        return;
    if (s->njobs < s->max)
        s->jobs[s->njobs] = e->job_id;
    s->njobs++;
}

static void write(const struct crowd *c, const struct seen *s, struct buf *to)
{
    struct jsonw w = jsonw_on(to);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "fromMs", c->from_ms);
    jsonw_object(&w, "counts");
    for (int i = 0; i < LOG_OUTCOMES; i++)
        if (s->counts[i])
            jsonw_i64(&w, log_outcome_text((enum log_outcome)i), (int64_t)s->counts[i]);
    jsonw_object_end(&w);
    jsonw_array(&w, "jobs");
    for (size_t i = 0; s->njobs <= s->max && i < s->njobs; i++)
        jsonw_i64(&w, NULL, s->jobs[i]);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
}

bool crowd_write(const struct crowd *c, const struct scope *scope, const int64_t *jobs,
                 size_t njobs, size_t max_jobs, struct buf *to)
{
    struct seen s = { .max = max_jobs < 256 ? max_jobs : 256 };
    for (size_t i = 0; !njobs && i < c->n; i++)
        see(&s, &c->entries[i], scope);
    for (size_t k = 0; k < njobs; k++)
        for (size_t i = entry_at(c, jobs[k]); i < c->n && c->entries[i].job_id == jobs[k]; i++)
            see(&s, &c->entries[i], scope);
    if (!s.njobs)
        return false;
    write(c, &s, to);
    return true;
}
