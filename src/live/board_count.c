/* SPDX-License-Identifier: Apache-2.0 */
/* board_count.c - runs that are planned or out, and ends, are counted for the whole and for groups.
 * What ends before the figures are loaded waits here. */
#include "live/board_internal.h"
#include "base/mem.h"
#include <stdlib.h>

/* ---- groups ---------------------------------------------------------------------------------- */

struct board_group *board_group_of(struct board *b, int64_t id)
{
    struct board_group *g = map_find(&b->groups, (uint64_t)id);
    if (!g) {
        g = mem_new(sizeof(*g));
        g->id = id;
        map_set(&b->groups, (uint64_t)id, g);
    }
    return g;
}

/* The whole, and the group if there is one. */
static int counted_in(struct board *b, int64_t group_id, struct board_group *ret[2])
{
    ret[0] = &b->whole;
    if (group_id > 0)
        ret[1] = board_group_of(b, group_id);
    return group_id > 0 ? 2 : 1;
}

static void late_add(struct lates *l, int64_t at_ms)
{
    int64_t minute = at_ms / 60000;
    int i = (int)((uint64_t)minute % (BOARD_MINUTES + 1));
    if (l->items[i].minute != minute) {
        l->items[i].minute = minute;
        l->items[i].n = 0;
    }
    l->items[i].n++;
}

/* One that was added with that time. */
static void late_take(struct lates *l, int64_t at_ms)
{
    int i = (int)((uint64_t)(at_ms / 60000) % (BOARD_MINUTES + 1));
    if (l->items[i].minute == at_ms / 60000)
        l->items[i].n--;
}

int64_t board_late_count(const struct lates *l, int64_t now_ms)
{
    int64_t n = 0;
    for (int i = 0; i <= BOARD_MINUTES; i++)
        if (l->items[i].minute > now_ms / 60000 - BOARD_MINUTES)
            n += l->items[i].n;
    return n;
}

/* ---- open runs ------------------------------------------------------------------------------- */

static void count_open(struct board *b, const struct open_run *r, int by)
{
    struct board_group *in[2];
    bool unknown = r->phase == PHASE_UNKNOWN;
    if (!unknown && !r->stuck)
        return;
    for (int i = counted_in(b, r->group_id, in) - 1; i >= 0; i--) {
        in[i]->unknown += unknown ? by : 0;
        in[i]->stuck += r->stuck ? by : 0;
    }
}

/* late_ms 0: not late, or not any more. */
static void open_late(struct board *b, struct open_run *r, int64_t late_ms)
{
    struct board_group *in[2];
    for (int i = counted_in(b, r->group_id, in) - 1; i >= 0; i--) {
        if (r->late_ms)
            late_take(&in[i]->late_open, r->late_ms);
        if (late_ms)
            late_add(&in[i]->late_open, late_ms);
    }
    r->late_ms = late_ms;
}

static void open_free(struct board *b, struct open_run *r)
{
    count_open(b, r, -1);
    if (r->late_ms)
        open_late(b, r, 0);
    list_remove(&r->planned);
    free(r);
}

void board_run_gone(struct board *b, int64_t log_id)
{
    struct open_run *r = map_take(&b->open, (uint64_t)log_id);
    if (r)
        open_free(b, r);
}

void board_runs_gone(struct board *b)
{
    void *r;
    for (size_t i = 0; map_next(&b->open, &i, &r);)
        open_free(b, r);
    map_done(&b->open);
}

void board_run_sent(struct board *b, struct open_run *r, const struct run_seen *s)
{
    struct board_group *in[2];
    if (s->at_ms - s->due_ms <= BOARD_LATE_MS)
        return;
    for (int i = counted_in(b, s->group_id, in) - 1; i >= 0; i--)
        late_add(&in[i]->late, s->at_ms);
    open_late(b, r, s->at_ms);
}

static void plan(struct board *b, struct open_run *r, const struct run_seen *s)
{
    bool of_schedule = s->kind == KIND_CRON || s->kind == KIND_MISFIRE;
    list_remove(&r->planned);
    if (s->phase == PHASE_PLANNED && of_schedule && s->scheduled_ms >= 0)
        list_push(&b->planned[s->scheduled_ms / 1000 % BOARD_SECONDS], &r->planned);
}

struct open_run *board_run_seen(struct board *b, const struct run_seen *s)
{
    struct open_run *r = map_find(&b->open, (uint64_t)s->log_id);
    if (!r) {
        r = mem_new(sizeof(*r));
        r->job_id = s->job_id;
        r->group_id = s->group_id;
        r->scheduled_ms = s->scheduled_ms;
        map_set(&b->open, (uint64_t)s->log_id, r);
    }
    count_open(b, r, -1);
    if (s->phase == PHASE_SENT || !r->sent_ms)
        r->sent_ms = s->at_ms;
    r->phase = s->phase;
    plan(b, r, s);
    count_open(b, r, 1);
    return r;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static bool is_failure(enum outcome o)
{
    return o > OUTCOME_SUCCEEDED && !outcome_never_ran(o);
}

static void count_slots(struct board *b, const struct run_end *e)
{
    struct board_group *in[2];
    int64_t succeeded = e->now == OUTCOME_SUCCEEDED;
    int64_t failed = is_failure(e->now) - is_failure(e->was);
    for (int i = counted_in(b, e->group_id, in) - 1; i >= 0; i--)
        slots_add(&in[i]->slots, e->log_ms, succeeded, failed);
}

static void count_failing(struct board *b, const struct run_end *e, int64_t ended_ms,
                          const struct failure *failure)
{
    if (outcome_never_ran(e->now))
        return;
    if (!e->streak)
        failing_clear(&b->failing, e->job_id);
    if (!e->streak || e->was != OUTCOME_NONE || !is_failure(e->now)) /* older than the last one */
        return;
    const struct failing_now now = { .job_id = e->job_id,
                                     .group_id = e->group_id,
                                     .last_id = e->log_id,
                                     .since_ms = e->streak_was ? 0 : ended_ms,
                                     .streak = e->streak,
                                     .failure = failure };
    failing_set(&b->failing, &now, ended_ms);
}

void board_count_end(struct board *b, const struct run_end *e, int64_t ended_ms,
                     const struct failure *failure)
{
    count_slots(b, e);
    count_failing(b, e, ended_ms, failure);
}

static void failure_keep(struct failure *to, const struct failure *f)
{
    *to = *f;
    to->trigger_msg = mem_dup(f->trigger_msg);
    to->handle_msg = mem_dup(f->handle_msg);
    to->address = mem_dup(f->address);
}

static void failure_drop(struct failure *f)
{
    free((char *)f->trigger_msg);
    free((char *)f->handle_msg);
    free((char *)f->address);
}

void board_waiting_drop(struct board *b)
{
    for (size_t i = 0; i < b->nwaiting; i++)
        failure_drop(&b->waiting[i].failure);
    free(b->waiting);
    free(b->edits);
    b->waiting = NULL;
    b->edits = NULL;
    b->nwaiting = b->cwaiting = b->nedits = b->cedits = 0;
}

void board_end_wait(struct board *b, int64_t node, const struct feed_end *e, int64_t no)
{
    if (b->nwaiting == b->cwaiting) {
        b->cwaiting = b->cwaiting ? 2 * b->cwaiting : 256;
        b->waiting = mem_resize(b->waiting, b->cwaiting * sizeof(*b->waiting));
    }
    struct waiting_end *w = &b->waiting[b->nwaiting++];
    *w = (struct waiting_end){ e->end, e->ended_ms, no, node, { 0 } };
    failure_keep(&w->failure, &e->failure);
}

bool board_is_behind(const struct board *b, int64_t node, int64_t no)
{
    const struct figures_node *other = node ? map_find(&b->others, (uint64_t)node) : NULL;
    return no > (node ? other ? other->no : 0 : b->no);
}

void board_late_elsewhere(struct board *b, const struct feed_end *e)
{
    struct board_group *in[2];
    if (e->end.was != OUTCOME_NONE || e->end.late_ms <= BOARD_LATE_MS)
        return;
    for (int i = counted_in(b, e->end.group_id, in) - 1; i >= 0; i--)
        late_add(&in[i]->late, e->ended_ms);
}

void board_edited(struct board *b, const struct feed_edit *e)
{
    if (e->kind == EDIT_JOB_DELETE)
        failing_clear(&b->failing, e->id);
    else if (e->kind == EDIT_JOB_UPDATE)
        failing_move(&b->failing, e->id, e->group_id);
}

void board_edit_wait(struct board *b, const struct feed_edit *e)
{
    if (b->nedits == b->cedits) {
        b->cedits = b->cedits ? 2 * b->cedits : 64;
        b->edits = mem_resize(b->edits, b->cedits * sizeof(*b->edits));
    }
    b->edits[b->nedits++] = *e;
}

/* ---- runs that are open for long ------------------------------------------------------------- */

static int64_t stuck_ms(struct board *b, int64_t job_id)
{
    struct job_stat stat;
    return figures_job(b->figures, job_id, &stat) ? job_stat_stuck_ms(&stat) : -1;
}

void board_run_look(struct board *b, struct open_run *r, int64_t now_ms)
{
    int64_t open_ms = now_ms - r->sent_ms;
    if (r->stuck || r->phase == PHASE_PLANNED || open_ms < STUCK_MIN_MS)
        return;
    if (!r->stuck_ms)
        r->stuck_ms = stuck_ms(b, r->job_id);
    if (r->stuck_ms < 0 || open_ms <= r->stuck_ms)
        return;
    count_open(b, r, -1);
    r->stuck = true;
    count_open(b, r, 1);
}
