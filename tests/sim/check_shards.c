/* SPDX-License-Identifier: Apache-2.0 */
/* check_shards.c - broadcasts: one shard an address of the list, each index once a firing.
 *
 * A *planning* is what one transaction plans of one firing. It may be replaced by another until
 * something of it has left or ended; then its total stands. */
#include "check.h"
#include <stdio.h>
#include <string.h>

#define ON_TIME_MS 1000 /* in so short a time no registration runs out unseen (see listing_of) */

static uint64_t key_of_firing(const struct run_row *r)
{
    return mix(mix(mix(mix(13, r->job_id), r->scheduled_ms), r->kind), r->cause);
}

static int places_of(const struct ghost *first)
{
    return first->shard_total > 0 ? first->shard_total : 1;
}

/* ---- planned ------------------------------------------------------------------------------- */

/* Has this shard left, or ended by itself? What an edit or another list took back has not. */
static bool binds(const struct ghost *g)
{
    bool out = g->wire.outstanding && !g->wire.cleared;
    bool taken_back = g->end == PHASE_WITHDRAWN || g->end == PHASE_SKIPPED;
    return out || (g->end && !taken_back);
}

static void check_replaced(struct sim *s, const struct run_row *r, int64_t before)
{
    const struct ghost *first = ghost_of(s, before);
    for (int64_t id = before; id <= first->last_shard; id++) {
        const struct ghost *g = ghost_of(s, id);
        if (g->firing != before)
            continue;
        if (binds(g))
            sim_fail(s, "the broadcasts",
                     "run %lld begins a firing of job %lld anew, and shard %d of it (run %lld) has "
                     "left or ended",
                     (long long)r->log_id, (long long)r->job_id, g->shard, (long long)id);
        if (g->killed && g->version == r->version)
            sim_fail(s, "the broadcasts", "run %lld brings shard %d back, which a user killed",
                     (long long)r->log_id, g->shard);
    }
}

void check_planned_whole(struct sim *s)
{
    const struct ghost *first = s->planning ? ghost_of(s, s->planning) : NULL;
    if (first && first->nplanned != places_of(first))
        sim_fail(s, "the broadcasts", "%d shards of %d are planned for time %lld of job %lld",
                 first->nplanned, places_of(first), (long long)first->scheduled_ms,
                 (long long)first->job_id);
    s->planning = 0;
}

/* The addresses that a user gave for the run. */
static void listing_by_hand(struct sim *s, const char *text, struct listing *v)
{
    *v = (struct listing){ .sure = true };
    struct slice rest = slice_text(text);
    for (struct slice one; v->n < (int)countof(v->addresses) && slice_item(&rest, &one);) {
        char address[64];
        snprintf(address, sizeof(address), "%.*s", (int)one.n, one.p);
        v->addresses[v->n++] = peer_of(s, address)->address;
    }
}

static bool at_its_place(const struct listing *v, const char *address, int shard, int total)
{
    if (v->n == 0) /* to no address: one row that waits for one */
        return !address && shard == 0 && total == 1;
    return total == v->n && shard >= 0 && shard < v->n && address &&
           strcmp(v->addresses[shard], address) == 0;
}

static void check_place(struct sim *s, const struct run_row *r)
{
    struct listing by_hand;
    const struct listing *v = listing_taken(s, r->group_id);
    if (r->choices) {
        listing_by_hand(s, r->choices, &by_hand);
        v = &by_hand;
    }
    if (v && v->sure && !at_its_place(v, r->address, r->shard, r->shard_total))
        sim_fail(s, "the broadcasts",
                 "run %lld is planned for %s as shard %d of %d, which is not its place among %d "
                 "addresses",
                 (long long)r->log_id, r->address ? r->address : "no address", r->shard,
                 r->shard_total, v->n);
}

/* A retry is of the shard that failed, whatever the list says by now. */
static void check_shard_again(struct sim *s, const struct run_row *r)
{
    const struct ghost *c = ghost_of(s, r->cause);
    if (c->broadcast && (!r->broadcast || r->shard != c->shard || r->shard_total != c->shard_total))
        sim_fail(s, "the broadcasts", "run %lld, shard %d of %d, retries shard %d of %d",
                 (long long)r->log_id, r->shard, r->shard_total, c->shard, c->shard_total);
}

/* The rows of one firing come one after another. */
void check_shard_planned(struct sim *s, const struct run_row *r)
{
    if (r->kind == KIND_RETRY) {
        check_shard_again(s, r);
        return;
    }
    if (!r->broadcast || check_two_clocks(s, r->job_id))
        return;
    uint64_t key = key_of_firing(r);
    if (r->shard == 0) {
        check_planned_whole(s);
        int64_t before = (int64_t)(intptr_t)map_set(&s->shards, key, (void *)(intptr_t)r->log_id);
        if (before)
            check_replaced(s, r, before);
        s->planning = r->log_id;
    }
    struct ghost *first = ghost_of(s, s->planning);
    struct ghost *g = ghost_of(s, r->log_id);
    if (!s->planning || r->shard != first->nplanned || r->shard_total != first->shard_total ||
        (int64_t)(intptr_t)map_find(&s->shards, key) != s->planning)
        sim_fail(s, "the broadcasts", "run %lld is shard %d of %d, and %d of %d are planned",
                 (long long)r->log_id, r->shard, r->shard_total, first->nplanned,
                 first->shard_total);
    first->nplanned++;
    first->last_shard = r->log_id;
    g->firing = s->planning;
    check_place(s, r);
}

/* ---- what leaves ----------------------------------------------------------------------------- */

/* Nothing of the planning has left, is about to, or has ended, nor can it have before the center
 * was started. */
static bool untouched(struct sim *s, int64_t planning)
{
    const struct ghost *first = ghost_of(s, planning);
    for (int64_t id = planning; id <= first->last_shard; id++) {
        const struct ghost *g = ghost_of(s, id);
        bool before_start = g->wire.away && g->due_ms <= s->start_watermark_ms;
        if (g->firing == planning &&
            (g->end || g->dropped || g->sends || g->wire.calling || g->kill_asked || before_start))
            return false;
    }
    return true;
}

static bool same_list(const struct listing *a, const struct listing *b)
{
    bool same = a && b && a->sure && b->sure && a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = strcmp(a->addresses[i], b->addresses[i]) == 0;
    return same;
}

/* What is due is held against the list as it is; what waits then for a connection, against each
 * batch's. So a list that has changed since is known by the shards that wait when the next batch
 * has been taken. */
static bool is_settled(struct sim *s, const struct run_row *r, const struct listing *now)
{
    int64_t late = wall_ms(s) - r->due_ms;
    int64_t due = s->boot_ms - late;
    bool at_once = late < ON_TIME_MS && due > s->lists_ms && due > s->stepped_ms;
    return at_once || same_list(now, listing_taken(s, now->group_id));
}

/* A shard whose connection was refused has ended, and with that the others stay as they are. */
static bool any_refused(struct sim *s, int64_t planning)
{
    const struct ghost *first = ghost_of(s, planning);
    for (int64_t id = planning; id <= first->last_shard; id++)
        if (ghost_of(s, id)->firing == planning && ghost_of(s, id)->wire.refused_ms)
            return true;
    return false;
}

/* The first shard leaves: it is one of as many as the list has now, and at its place. */
static void check_first_shard(struct sim *s, const struct run_row *r)
{
    const struct job_record *j = mem_find(memory_of(s->store), T_JOB, r->job_id);
    struct listing v;
    listing_of(s, j ? j->group_id : 0, &v); /* an edit may have moved the job since */
    if (!v.sure || v.n == 0 || edit_open(s, r->job_id) || !is_settled(s, r, &v))
        return;
    if (wall_ms(s) - r->due_ms >= j->start_deadline_ms)
        return; /* another shard may just have ended for that */
    if (any_refused(s, ghost_of(s, r->log_id)->firing))
        return;
    if (!at_its_place(&v, r->address, r->shard, r->shard_total))
        sim_fail(s, "the broadcasts",
                 "run %lld leaves first, for %s as shard %d of %d, which is not its place among "
                 "%d addresses",
                 (long long)r->log_id, r->address, r->shard, r->shard_total, v.n);
}

void check_shard(struct sim *s, const struct run_row *r, const struct call *c)
{
    if (c->shard != r->shard || c->shard_total != (r->shard_total > 0 ? r->shard_total : 1))
        sim_fail(s, "the broadcasts",
                 "run %lld leaves as shard %d of %d, and its row says %d of %d",
                 (long long)c->log_id, c->shard, c->shard_total, r->shard, r->shard_total);
    const struct ghost *g = ghost_of(s, c->log_id);
    if (g->firing && !r->choices && untouched(s, g->firing))
        check_first_shard(s, r);
}
