/* SPDX-License-Identifier: Apache-2.0 */
/* The promises, from what executors and users have seen and from the tables that are committed. A
 * run that left a process which was stopped between its look and its first byte is counted, and its
 * second run is not judged: no look can help it. */
#include "world.h"

struct ghost *ghost_of(struct world *w, int64_t log_id)
{
    if (log_id >= w->nghosts) {
        int64_t n = w->nghosts ? w->nghosts * 2 : 1024;
        while (n <= log_id)
            n *= 2;
        w->ghosts = mem_resize(w->ghosts, (size_t)n * sizeof(*w->ghosts));
        memset(&w->ghosts[w->nghosts], 0, (size_t)(n - w->nghosts) * sizeof(*w->ghosts));
        w->nghosts = n;
    }
    return &w->ghosts[log_id];
}

static struct shadow *shadow_of(struct world *w, int64_t job_id)
{
    if (job_id < 0 || job_id >= JOB_IDS)
        broken(w, "the simulation", "job %lld is one too many", (long long)job_id);
    return &w->shadows[job_id];
}

static const struct mem_run *live_row(struct world *w, int64_t log_id)
{
    return mem_find(memory_of(w->db), T_RUN, log_id);
}

static const struct log_record *log_row(struct world *w, int64_t log_id)
{
    return mem_find(memory_of(w->db), T_LOG, log_id);
}

static const struct mem_life *life_row(struct world *w, int64_t epoch)
{
    return mem_find(memory_of(w->db), T_LIFE, epoch);
}

static bool of_schedule(enum kind k)
{
    return k == KIND_CRON || k == KIND_MISFIRE;
}

#define ALL_SHARDS 63 /* in place of one; there are fewer executors */

static uint64_t moment_key(int64_t job_id, int64_t scheduled_ms, int shard)
{
    return hash_u64(hash_u64((uint64_t)job_id * 64 + (uint64_t)shard) ^ (uint64_t)scheduled_ms);
}

/* ---- lives ----------------------------------------------------------------------------------- */

static struct shadow_life *shadow_life(struct world *w, int64_t epoch)
{
    if (epoch >= w->nlives) {
        int64_t n = epoch + 32;
        w->lives = mem_resize(w->lives, (size_t)n * sizeof(*w->lives));
        memset(&w->lives[w->nlives], 0, (size_t)(n - w->nlives) * sizeof(*w->lives));
        w->nlives = n;
    }
    return &w->lives[epoch];
}

/* I1: a life's commits are applied once, in order, and none after its end. */
static void check_lives(struct world *w)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(w->db)->tables[T_LIFE], &i, &row);) {
        const struct mem_life *l = row;
        struct shadow_life *s = shadow_life(w, l->epoch);
        int64_t batch = l->watermark.batch;
        if (s->ended && (!l->ended || batch != s->batch))
            broken(w, "I1", "epoch %lld had ended, and has another commit", (long long)l->epoch);
        if (s->batch && (batch < s->batch || batch > s->batch + 1))
            broken(w, "I1", "commit %lld of epoch %lld follows commit %lld", (long long)batch,
                   (long long)l->epoch, (long long)s->batch);
        *s = (struct shadow_life){ batch, l->ended };
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void born(struct world *w, const struct mem_run *r)
{
    struct ghost *g = ghost_of(w, r->row.log_id);
    g->born = true;
    g->job_id = r->row.job_id;
    g->scheduled_ms = r->row.scheduled_ms;
    g->kind = r->row.kind;
    g->attempt = r->row.attempt;
    g->shard = r->row.shard;
    g->shards = r->row.shard_total;
    g->epoch = r->epoch;
    w->firings++;
    say(w, "epoch %lld has run %lld: job %lld version %lld, %s of %lld", (long long)r->epoch,
        (long long)r->row.log_id, (long long)g->job_id, (long long)r->row.version,
        kind_text(g->kind), (long long)g->scheduled_ms);
    if (of_schedule(g->kind))
        map_set(&w->rows, moment_key(g->job_id, g->scheduled_ms, 0), w);
    struct shadow *j = shadow_of(w, g->job_id);
    if (g->kind != KIND_CRON)
        return;
    if (!j->first_ms || g->scheduled_ms < j->first_ms)
        j->first_ms = g->scheduled_ms;
    if (g->scheduled_ms > j->last_ms)
        j->last_ms = g->scheduled_ms;
}

static bool begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

static void ended(struct world *w, int64_t log_id)
{
    struct ghost *g = ghost_of(w, log_id);
    const struct log_record *l = log_row(w, log_id);
    bool never = !l || begins(l->handle_msg, "withdrawn: ") || begins(l->handle_msg, "skipped: ");
    g->gone = true;
    say(w, "run %lld of job %lld is over: %s", (long long)log_id, (long long)g->job_id,
        !l              ? "taken back"
        : l->handle_msg ? l->handle_msg
                        : l->trigger_msg);
    if (never && g->begun && !g->stale)
        broken(w, "P1", "run %lld counts as never run, and it has run", (long long)log_id);
    if (l && l->handle_code == 200 && !g->ended_ok)
        broken(w, "P1", "run %lld succeeded without having run", (long long)log_id);
    if (!l || !begins(l->handle_msg, "lost: "))
        return;
    w->lost++;
    for (int i = 0; i < w->nexecs; i++)
        if (w->execs[i].up && exec_has(&w->execs[i], log_id) && g->sends < 2 && !g->stale)
            broken(w, "P1", "run %lld counts as lost while it is at %s", (long long)log_id,
                   w->execs[i].address);
}

/* I2: only a life that has ended loses its runs to another one. */
static void owner_look(struct world *w, const struct mem_run *r)
{
    struct ghost *g = ghost_of(w, r->row.log_id);
    if (g->epoch == r->epoch)
        return;
    if (!life_row(w, g->epoch)->ended)
        broken(w, "I2", "run %lld of epoch %lld, which lives, is epoch %lld's",
               (long long)r->row.log_id, (long long)g->epoch, (long long)r->epoch);
    g->epoch = r->epoch;
}

static void check_rows(struct world *w)
{
    struct memory *m = memory_of(w->db);
    int64_t first = w->last_id > 4000 ? w->last_id - 4000 : 1;
    w->last_id = m->now.last_id[T_LOG];
    for (int64_t id = first; id <= w->last_id; id++) {
        const struct ghost *g = ghost_of(w, id);
        if (g->gone)
            continue;
        const struct mem_run *r = mem_find(m, T_RUN, id);
        if (r && !g->born)
            born(w, r);
        else if (r)
            owner_look(w, r);
        else if (g->born)
            ended(w, id);
    }
}

/* I7: in one look at the whole cluster. */
static void check_totals(struct world *w)
{
    struct totals t;
    int64_t open;
    struct why why = { "" };
    must(w, w->db->ops->txn->totals_get(w->db, &t, &open, &why), &why);
    int64_t rest = t.n[TOTAL_PLANNED] - t.n[TOTAL_FINISHED] - t.n[TOTAL_REJECTED] -
                   (t.n[TOTAL_LOST] - t.n[TOTAL_FOUND]) - t.n[TOTAL_SKIPPED] -
                   t.n[TOTAL_WITHDRAWN] - open;
    if (rest)
        broken(w, "I7", "%lld firings are unaccounted for (planned %lld, open %lld)",
               (long long)rest, (long long)t.n[TOTAL_PLANNED], (long long)open);
}

void check_commit(struct world *w)
{
    w->commits++;
    check_lives(w);
    check_rows(w);
    check_totals(w);
}

/* ---- what leaves ----------------------------------------------------------------------------- */

static void check_version(struct world *w, const struct mem_run *r)
{
    const struct shadow *j = shadow_of(w, r->row.job_id);
    long long id = r->row.log_id;
    if (j->deleted)
        broken(w, "I6", "run %lld leaves after the deletion of its job was answered", id);
    if (of_schedule(r->row.kind) && r->row.version < j->answered_version)
        broken(w, "I6", "run %lld of version %lld leaves after version %lld was answered", id,
               (long long)r->row.version, (long long)j->answered_version);
    if (of_schedule(r->row.kind) && r->row.version < j->stopped_version)
        broken(w, "I6", "run %lld leaves after the stop of its job was answered", id);
    const struct job_record *row = mem_find(memory_of(w->db), T_JOB, r->row.job_id);
    if (of_schedule(r->row.kind) && row && !row->enabled && row->version == j->stopped_version)
        broken(w, "I6", "run %lld, of version %lld, leaves while its job is stopped", id,
               (long long)r->row.version);
}

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* I6: it is called with what its row says, and as the job says since its last edit was answered,
 * but for the parameter of what no schedule asked for. */
static void check_called_with(struct world *w, const struct conn *c, const struct mem_run *r)
{
    const struct log_record *l = log_row(w, c->log_id);
    const struct job_record *j = mem_find(memory_of(w->db), T_JOB, r->row.job_id);
    long long id = c->log_id;
    if (l && (!same(l->param, c->param) || !same(l->handler, c->handler)))
        broken(w, "I6", "run %lld leaves with \"%s\" for %s, and its row says \"%s\" for %s", id,
               c->param, c->handler, l->param, l->handler);
    if (!j || j->version != shadow_of(w, r->row.job_id)->answered_version)
        return;
    bool of_job = !of_schedule(r->row.kind) || same(j->param, c->param);
    if (!of_job || !same(j->handler, c->handler))
        broken(w, "I6", "run %lld leaves with \"%s\" for %s after \"%s\" for %s was answered", id,
               c->param, c->handler, j->param, j->handler);
}

/* Another center lives, has been there for a while, beats, and its clock is right. */
bool check_witness(const struct world *w, const struct cnode *n)
{
    for (int i = 0; i < w->nnodes; i++) {
        const struct cnode *o = &w->nodes[i];
        bool right = o->wall_off >= -500 && o->wall_off <= 500;
        bool beats = o->up && o->sched && !o->leaving && o->paused_ms <= w->t && o->cut_ms <= w->t;
        if (o != n && right && beats && w->t > o->in_ms + 5000)
            return true;
    }
    return false;
}

void check_send(struct world *w, const struct conn *c)
{
    struct ghost *g = ghost_of(w, c->log_id);
    const struct mem_run *r = live_row(w, c->log_id);
    long long id = c->log_id;
    w->sends++;
    g->sends++;
    say(w, "%s sends %lld to %s%s", c->from->name, id, c->address, c->stale ? ", late" : "");
    if (c->stale) {
        w->stale_sends++;
        g->stale++;
        return;
    }
    int64_t epoch = c->from->life->epoch;
    const struct mem_life *l = life_row(w, epoch);
    const struct mem_node *n = mem_find(memory_of(w->db), T_NODE, c->from->life->node);
    if (l->ended)
        broken(w, "I3", "run %lld leaves in epoch %lld, which has ended", id, (long long)epoch);
    if (!r)
        broken(w, "P1", "run %lld leaves and has no live row", id);
    if (r->epoch != epoch)
        broken(w, "I2", "run %lld of epoch %lld leaves in epoch %lld", id, (long long)r->epoch,
               (long long)epoch);
    if (r->row.due_ms > now_of(c->from).wall_ms)
        broken(w, "P3", "run %lld leaves %lld ms early", id,
               (long long)(r->row.due_ms - now_of(c->from).wall_ms));
    if (r->row.due_ms > EPOCH_MS + w->t + CLOCK_WRONG_MS)
        broken(w, "P3", "run %lld leaves %lld ms early, by a clock that is wrong", id,
               (long long)(r->row.due_ms - EPOCH_MS - w->t));
    if (r->row.due_ms > l->watermark.until_ms && r->row.due_ms > n->mark_ms)
        broken(w, "I4", "run %lld leaves beyond the watermark on disk", id);
    if (!r->row.address || strcmp(r->row.address, c->address) != 0)
        broken(w, "P3", "run %lld goes to %s, and the disk says %s", id, c->address,
               r->row.address ? r->row.address : "nowhere");
    check_version(w, r);
    check_called_with(w, c, r);
}

/* ---- what runs ------------------------------------------------------------------------------- */

/* What the map has under the key, which stands there from now on if nothing has. */
static int64_t first_of(struct map *m, uint64_t key, int64_t value)
{
    int64_t before = (int64_t)(intptr_t)map_find(m, key);
    if (!before)
        map_set(m, key, (void *)(intptr_t)value);
    return before;
}

/* A run that left late, by a process that was stopped, excuses its second one. */
static bool excused(struct world *w, const struct ghost *g, int64_t before)
{
    bool stale = g->stale || ghost_of(w, before)->stale;
    w->stale_runs += stale;
    return stale;
}

/* I8: one moment is laid down once: each shard of it begins one run, and all that begin are of one
 * list of executors. */
static void check_moment(struct world *w, int64_t log_id, const struct ghost *g)
{
    const struct job_record *j = mem_find(memory_of(w->db), T_JOB, g->job_id);
    if (!of_schedule(g->kind) || g->attempt || !j || strcmp(j->schedule_type, "CRON") != 0)
        return;
    int64_t before =
        first_of(&w->moments, moment_key(g->job_id, g->scheduled_ms, g->shard), log_id);
    if (before && before != log_id && !excused(w, g, before))
        broken(w, "I8", "runs %lld and %lld of job %lld are of the same moment %lld, shard %d",
               (long long)before, (long long)log_id, (long long)g->job_id,
               (long long)g->scheduled_ms, g->shard);
    before = first_of(&w->moments, moment_key(g->job_id, g->scheduled_ms, ALL_SHARDS), log_id);
    if (before && ghost_of(w, before)->shards != g->shards && !excused(w, g, before))
        broken(w, "I8", "runs %lld and %lld of job %lld are of %d and %d shards of one moment %lld",
               (long long)before, (long long)log_id, (long long)g->job_id,
               ghost_of(w, before)->shards, g->shards, (long long)g->scheduled_ms);
}

void check_begun(struct world *w, struct exec *x, int64_t log_id)
{
    struct ghost *g = ghost_of(w, log_id);
    uint32_t here = 1u << x->index;
    w->begun++;
    g->begun++;
    if (!g->sends)
        broken(w, "the simulation", "run %lld begins and was never sent", (long long)log_id);
    if (x->ours && g->at & here)
        broken(w, "P2", "run %lld runs twice at an executor that remembers", (long long)log_id);
    g->at |= here;
    check_moment(w, log_id, g);
    if (g->begun == 1)
        return;
    say(w, "run %lld runs again", (long long)log_id);
    if (g->stale)
        w->stale_runs++;
    else
        w->resent++;
}

/* ---- results --------------------------------------------------------------------------------- */

static bool in_inbox(struct world *w, int64_t log_id)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(w->db)->tables[T_INBOX], &i, &row);)
        if (((const struct inbox_row *)row)->log_id == log_id &&
            ((const struct inbox_row *)row)->what == INBOX_RESULT)
            return true;
    return false;
}

/* I5: it has ended its run, or it waits where the owner finds it. */
void check_ack(struct world *w, const struct cack *a)
{
    for (int i = 0; i < a->n; i++) {
        int64_t id = a->results[i].log_id;
        struct ghost *g = ghost_of(w, id);
        if (live_row(w, id) && !in_inbox(w, id))
            broken(w, "I5", "result %d of run %lld is acknowledged, and stands nowhere",
                   a->results[i].code, (long long)id);
        if (!g->acked)
            g->acked = a->results[i].code;
    }
}

static void check_results(struct world *w)
{
    for (int64_t id = 1; id <= w->last_id; id++) {
        const struct ghost *g = ghost_of(w, id);
        const struct log_record *l = log_row(w, id);
        /* a queue that is torn down reports what never began */
        if (!g->acked || !l || g->begun != 1 || g->stale || g->kill_asked)
            continue;
        bool noted = l->handle_msg && (strstr(l->handle_msg, "late result") ||
                                       begins(l->handle_msg, "the job was deleted"));
        if (!noted && (g->acked == 200 ? l->handle_code != 200 : l->handle_code == 0))
            broken(w, "I5", "result %d of run %lld was acknowledged, and its row says %d: %s",
                   g->acked, (long long)id, l->handle_code, l->handle_msg ? l->handle_msg : "");
    }
}

/* ---- edits ----------------------------------------------------------------------------------- */

void check_answered(struct world *w, int64_t job_id, enum edit_kind kind, int64_t version)
{
    struct shadow *j = shadow_of(w, job_id);
    say(w, "edit %d of job %lld is answered: version %lld", kind, (long long)job_id,
        (long long)version);
    if (kind == EDIT_JOB_DELETE) {
        j->deleted = true;
        return;
    }
    if (version > j->answered_version)
        j->answered_version = version;
    if (kind == EDIT_JOB_STOP && version > j->stopped_version)
        j->stopped_version = version;
}

/* ---- the end --------------------------------------------------------------------------------- */

bool check_owns(struct world *w, int64_t epoch)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(w->db)->tables[T_RUN], &i, &row);)
        if (((const struct mem_run *)row)->epoch == epoch)
            return true;
    return false;
}

int64_t check_heir(struct world *w, int64_t epoch)
{
    const struct mem_life *l = life_row(w, epoch);
    return l->ended ? l->heir : 0;
}

bool check_quiet(struct world *w)
{
    const struct memory *m = memory_of(w->db);
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_JOB], &i, &row);)
        if (((const struct job_record *)row)->enabled)
            return false;
    for (size_t i = 0; map_next(&m->tables[T_INBOX], &i, &row);)
        if (((const struct inbox_row *)row)->what == INBOX_RESULT)
            return false;
    return m->tables[T_RUN].len == 0;
}

static bool is_skipped(struct world *w, int64_t job_id, int64_t ms)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(w->db)->tables[T_SKIP], &i, &row);) {
        const struct skip_row *k = &((const struct mem_skip *)row)->row;
        if (k->job_id == job_id && k->from_ms <= ms && ms <= k->to_ms)
            return true;
    }
    return false;
}

static int64_t period_of(const struct job_record *r)
{
    return r->schedule_conf[0] == '0' ? 5000 : r->schedule_conf[1] == '/' ? 2000 : 1000;
}

/* Each scheduled time of a job that no user has changed has a row, or counts as skipped. */
static void check_moments(struct world *w)
{
    for (int64_t id = 1; id < JOB_IDS; id++) {
        const struct shadow *j = shadow_of(w, id);
        const struct job_record *r = mem_find(memory_of(w->db), T_JOB, id);
        if (!r || strcmp(r->description, NOT_CHANGED) != 0)
            continue;
        for (int64_t ms = j->first_ms; ms < j->last_ms; ms += period_of(r))
            if (!map_find(&w->rows, moment_key(id, ms, 0)) && !is_skipped(w, id, ms))
                broken(w, "P1", "job %lld has no run of %lld", (long long)id, (long long)ms);
    }
}

/* In the calm somebody plans the jobs that nobody has changed. */
void check_planned(struct world *w)
{
    int64_t now_ms = EPOCH_MS + w->t;
    for (int64_t id = 1; id < JOB_IDS; id++) {
        const struct job_record *r = mem_find(memory_of(w->db), T_JOB, id);
        int64_t last_ms = shadow_of(w, id)->last_ms;
        if (r && strcmp(r->description, NOT_CHANGED) == 0 && last_ms + period_of(r) < now_ms)
            broken(w, "P1", "job %lld is planned up to %lld, %lld ms ago", (long long)id,
                   (long long)last_ms, (long long)(now_ms - last_ms));
    }
}

/* P2: a run that ran twice is one that was sent again on purpose, and counted. */
static void check_resent(struct world *w)
{
    struct totals t;
    int64_t open;
    struct why why = { "" };
    must(w, w->db->ops->txn->totals_get(w->db, &t, &open, &why), &why);
    if (w->resent > t.n[TOTAL_RESENT])
        broken(w, "P2", "%lld runs ran twice, and %lld were sent again", (long long)w->resent,
               (long long)t.n[TOTAL_RESENT]);
}

void check_end(struct world *w)
{
    void *row;
    for (size_t i = 0; map_next(&memory_of(w->db)->tables[T_RUN], &i, &row);)
        broken(w, "progress", "run %lld of job %lld, epoch %lld, is %s still",
               (long long)((struct mem_run *)row)->row.log_id,
               (long long)((struct mem_run *)row)->row.job_id,
               (long long)((struct mem_run *)row)->epoch,
               phase_text(((struct mem_run *)row)->row.phase));
    if (!check_quiet(w))
        broken(w, "progress", "a result waits in the inbox still, or a job is not stopped");
    check_results(w);
    check_moments(w);
    check_resent(w);
}

void check_done(struct world *w)
{
    free(w->ghosts);
    free(w->lives);
    map_done(&w->moments);
    map_done(&w->rows);
}
