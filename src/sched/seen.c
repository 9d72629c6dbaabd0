/* SPDX-License-Identifier: Apache-2.0 */
/* A few dozen rows at most, looked through from the first to the last. */
#include "sched/seen.h"
#include <stddef.h>
#include <string.h>

bool seen_living(const struct cluster_row *r)
{
    return r->epoch != 0 && !r->ended;
}

void seen_begin(struct seen *s)
{
    s->n = 0;
    s->newest = 0;
}

void seen_put(struct seen *s, const struct cluster_row *r)
{
    int i = 0;
    if (s->newest < r->epoch)
        s->newest = r->epoch;
    while (i < s->n && s->rows[i].node < r->node)
        i++;
    if (i < s->n && s->rows[i].node == r->node) {
        if (s->rows[i].epoch < r->epoch)
            s->rows[i] = *r;
        return;
    }
    if (s->n == CLUSTER_MAX)
        return;
    memmove(&s->rows[i + 1], &s->rows[i], (size_t)(s->n - i) * sizeof(s->rows[0]));
    s->rows[i] = *r;
    s->n++;
}

const struct cluster_row *seen_namesake(const struct seen *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->rows[i].namesake)
            return &s->rows[i];
    return NULL;
}

bool seen_lives(const struct seen *s, int64_t epoch)
{
    for (int i = 0; i < s->n; i++)
        if (s->rows[i].epoch == epoch)
            return seen_living(&s->rows[i]);
    return epoch > s->newest;
}

bool seen_alone(const struct seen *s, int64_t epoch)
{
    for (int i = 0; i < s->n; i++)
        if (seen_living(&s->rows[i]) && s->rows[i].epoch != epoch && !s->rows[i].draining)
            return false;
    return true;
}

bool seen_drains(const struct seen *s, int64_t epoch)
{
    bool asked = false, other = false;
    for (int i = 0; i < s->n; i++) {
        const struct cluster_row *r = &s->rows[i];
        if (r->epoch == epoch)
            asked = r->asked;
        else
            other |= seen_living(r) && !r->asked && !r->draining;
    }
    return asked && other;
}

bool seen_agrees(const struct seen *s, int64_t epoch, int64_t skew_ms)
{
    for (int i = 0; i < s->n; i++) {
        const struct cluster_row *r = &s->rows[i];
        if (seen_living(r) && r->epoch != epoch && r->skew_ms <= skew_ms && r->skew_ms >= -skew_ms)
            return true;
    }
    return false;
}

static struct life_watch watch_of(const struct life_watch *all, int n, int64_t epoch)
{
    for (int i = 0; i < n; i++)
        if (all[i].epoch == epoch)
            return all[i];
    return (struct life_watch){ 0 };
}

void seen_beat_sent(struct seen *s, int64_t boot_ms)
{
    if (!s->waits)
        s->waits_ms = boot_ms;
    s->waits = true;
}

void seen_beat_over(struct seen *s, int64_t boot_ms)
{
    if (s->waits)
        s->missed_ms += boot_ms - s->waits_ms;
    s->waits = false;
}

/* A clock that stands while this node's beat is not taken. */
static int64_t silence_clock_ms(const struct seen *s, int64_t boot_ms)
{
    return (s->waits ? s->waits_ms : boot_ms) - s->missed_ms;
}

const struct cluster_row *seen_silent(struct seen *s, int64_t epoch, int64_t boot_ms,
                                      int64_t lease_ms)
{
    const struct cluster_row *silent = NULL;
    struct life_watch old[CLUSTER_MAX];
    int64_t at_ms = silence_clock_ms(s, boot_ms);
    int n = s->nwatches;
    memcpy(old, s->watches, (size_t)n * sizeof(old[0]));
    s->nwatches = 0;
    for (int i = 0; i < s->n; i++) {
        const struct cluster_row *r = &s->rows[i];
        if (!seen_living(r) || r->epoch == epoch)
            continue;
        struct life_watch *w = &s->watches[s->nwatches++];
        *w = watch_of(old, n, r->epoch);
        if (life_look(w, at_ms, lease_ms, r->epoch, r->beat, 0) == LIFE_OVER && !silent)
            silent = r;
    }
    return silent;
}
