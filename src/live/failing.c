/* SPDX-License-Identifier: Apache-2.0 */
/* failing.c - each failing job stands in the list of its cause, in the order in which they came
 * there; a cause is there as long as it has jobs. */
#include "live/failing.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

struct cause_entry {
    uint64_t key;
    char text[CAUSE_TEXT_MAX + 1];
    enum log_outcome outcome;
    struct list jobs;
    int64_t n;
};

struct job_entry {
    struct list_node node;
    struct cause_entry *cause;
    int64_t job_id, group_id, last_id, since_ms;
    uint32_t streak;
    char *address; /* "": not known */
};

void failing_init(struct failing *f)
{
    map_init(&f->jobs);
    map_init(&f->causes);
}

static void leave(struct failing *f, struct job_entry *j)
{
    struct cause_entry *c = j->cause;
    list_remove(&j->node);
    j->cause = NULL;
    if (!c || --c->n)
        return;
    map_take(&f->causes, c->key);
    free(c);
}

static void job_free(struct failing *f, struct job_entry *j)
{
    leave(f, j);
    free(j->address);
    free(j);
}

void failing_done(struct failing *f)
{
    struct job_entry *j;
    for (size_t i = 0; (j = map_any(&f->jobs, &i));) {
        map_take(&f->jobs, (uint64_t)j->job_id);
        job_free(f, j);
    }
    map_done(&f->jobs);
    map_done(&f->causes);
}

/* A failure of which nothing is known is a cause, too. */
static struct cause_entry *cause_for(struct failing *f, const struct failure *failure)
{
    static const struct failure nothing;
    struct cause cause;
    const struct failure *why = failure ? failure : &nothing;
    cause_of(why, &cause);
    struct cause_entry *c = map_find(&f->causes, cause.fingerprint);
    if (c)
        return c;
    c = mem_new(sizeof(*c));
    c->key = cause.fingerprint;
    memcpy(c->text, cause.text, sizeof(c->text));
    c->outcome =
        log_outcome_of(0, why->trigger_code, why->trigger_msg, why->handle_code, why->handle_msg);
    list_init(&c->jobs);
    map_set(&f->causes, c->key, c);
    return c;
}

static void enter(struct job_entry *j, struct cause_entry *c)
{
    j->cause = c;
    c->n++;
    list_push(&c->jobs, &j->node);
}

static void know_failure(struct failing *f, struct job_entry *j, const struct failure *failure)
{
    if (!failure && j->cause)
        return;
    struct cause_entry *c = cause_for(f, failure);
    if (c != j->cause) {
        c->n++; /* leaving must not take it away */
        leave(f, j);
        c->n--;
        enter(j, c);
    }
    const char *address = failure && failure->address ? failure->address : "";
    if (j->address && strcmp(j->address, address) == 0)
        return;
    free(j->address);
    j->address = mem_dup(address);
}

void failing_set(struct failing *f, const struct failing_now *now, int64_t at_ms)
{
    struct job_entry *j = map_find(&f->jobs, (uint64_t)now->job_id);
    if (!j) {
        j = mem_new(sizeof(*j));
        j->job_id = now->job_id;
        j->since_ms = at_ms;
        map_set(&f->jobs, (uint64_t)j->job_id, j);
    }
    if (now->group_id)
        j->group_id = now->group_id;
    if (now->since_ms)
        j->since_ms = now->since_ms;
    j->last_id = now->last_id;
    j->streak = now->streak;
    know_failure(f, j, now->failure);
}

void failing_clear(struct failing *f, int64_t job_id)
{
    struct job_entry *j = map_take(&f->jobs, (uint64_t)job_id);
    if (j)
        job_free(f, j);
}

void failing_move(struct failing *f, int64_t job_id, int64_t group_id)
{
    struct job_entry *j = map_find(&f->jobs, (uint64_t)job_id);
    if (j)
        j->group_id = group_id;
}

static bool sees(const struct scope *scope, const struct job_entry *j)
{
    return scope_is_all(scope) || scope_has(scope, j->group_id);
}

int64_t failing_count(const struct failing *f, const struct scope *scope)
{
    int64_t n = 0;
    void *j;
    if (scope_is_all(scope))
        return (int64_t)f->jobs.len;
    for (size_t i = 0; map_next(&f->jobs, &i, &j);)
        n += sees(scope, j);
    return n;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void failing_by_group(const struct failing *f, const int64_t *groups, size_t n, int64_t *counts)
{
    memset(counts, 0, n * sizeof(*counts));
    void *v;
    for (size_t i = 0; n && map_next(&f->jobs, &i, &v);) {
        const struct job_entry *j = v;
        const int64_t *at = bsearch(&j->group_id, groups, n, sizeof(*groups), compare_ids);
        if (at)
            counts[at - groups]++;
    }
}

/* ---- the causes with most jobs --------------------------------------------------------------- */

struct top {
    struct cause_entry *causes[FAILING_CAUSES];
    int64_t counts[FAILING_CAUSES];
    int n;
};

static int64_t count_of(const struct cause_entry *c, const struct scope *scope)
{
    if (scope_is_all(scope))
        return c->n;
    int64_t n = 0;
    list_each(&c->jobs, node, tmp) n += sees(scope, container_of(node, struct job_entry, node));
    return n;
}

/* Of as many, the one with the smaller fingerprint: two readers see the same order. */
static bool is_before(const struct top *t, int i, const struct cause_entry *c, int64_t count)
{
    return t->counts[i] > count || (t->counts[i] == count && t->causes[i]->key < c->key);
}

static void top_add(struct top *t, struct cause_entry *c, int64_t count)
{
    int at = t->n;
    while (at > 0 && !is_before(t, at - 1, c, count))
        at--;
    if (at == FAILING_CAUSES)
        return;
    int behind = t->n - at - (t->n == FAILING_CAUSES);
    memmove(t->causes + at + 1, t->causes + at, (size_t)behind * sizeof(struct cause_entry *));
    memmove(t->counts + at + 1, t->counts + at, (size_t)behind * sizeof(*t->counts));
    t->causes[at] = c;
    t->counts[at] = count;
    t->n += t->n < FAILING_CAUSES;
}

/* The jobs that fail for longest, of all that the cause has. */
static void tell_job(struct failing_cause *ret, int64_t since[FAILING_JOBS],
                     const struct job_entry *j)
{
    int at = ret->n;
    while (at > 0 && since[at - 1] > j->since_ms)
        at--;
    if (at == FAILING_JOBS)
        return;
    int behind = ret->n - at - (ret->n == FAILING_JOBS);
    memmove(ret->jobs + at + 1, ret->jobs + at, (size_t)behind * sizeof(*ret->jobs));
    memmove(since + at + 1, since + at, (size_t)behind * sizeof(*since));
    ret->jobs[at] = (struct failing_job_now){ j->job_id, j->last_id, j->streak };
    since[at] = j->since_ms;
    ret->n += ret->n < FAILING_JOBS;
}

static void tell_cause(const struct cause_entry *c, const struct scope *scope, int64_t count,
                       struct failing_cause *ret)
{
    int64_t since[FAILING_JOBS];
    bool first = true;
    *ret = (struct failing_cause){ .outcome = c->outcome, .count = count };
    memcpy(ret->text, c->text, sizeof(ret->text));
    list_each(&c->jobs, node, tmp)
    {
        const struct job_entry *j = container_of(node, struct job_entry, node);
        if (!sees(scope, j))
            continue;
        if (first)
            text_copy(ret->address, sizeof(ret->address), slice_text(j->address));
        else if (strcmp(ret->address, j->address) != 0)
            ret->address[0] = '\0';
        ret->group_id = first || ret->group_id == j->group_id ? j->group_id : 0;
        if (first || j->since_ms < ret->since_ms)
            ret->since_ms = j->since_ms;
        first = false;
        tell_job(ret, since, j);
    }
}

int failing_top(const struct failing *f, const struct scope *scope,
                struct failing_cause ret[FAILING_CAUSES])
{
    struct top t = { .n = 0 };
    void *c;
    for (size_t i = 0; map_next(&f->causes, &i, &c);) {
        int64_t count = count_of(c, scope);
        if (count)
            top_add(&t, c, count);
    }
    for (int i = 0; i < t.n; i++)
        tell_cause(t.causes[i], scope, t.counts[i], &ret[i]);
    return t.n;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct failing_streak *)a)->job_id;
    int64_t y = ((const struct failing_streak *)b)->job_id;
    return (x > y) - (x < y);
}

struct failing_streak *failing_streaks(const struct failing *f, const struct scope *scope,
                                       size_t *ret_n)
{
    struct failing_streak *all = mem_new((f->jobs.len + 1) * sizeof(*all));
    size_t n = 0;
    void *v;
    for (size_t i = 0; map_next(&f->jobs, &i, &v);) {
        const struct job_entry *j = v;
        if (sees(scope, j))
            all[n++] = (struct failing_streak){ j->job_id, j->streak };
    }
    qsort(all, n, sizeof(*all), by_id);
    *ret_n = n;
    return all;
}
