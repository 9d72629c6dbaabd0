/* SPDX-License-Identifier: Apache-2.0 */
/* check_sends.c - what leaves, what starts, what is acknowledged, what an edit has overtaken. */
#include "check.h"
#include <string.h>

void check_killed(struct sim *s, int64_t log_id)
{
    struct ghost *g = ghost_of(s, log_id);
    g->killed = true;
    if (!g->end && !g->dropped)
        sim_fail(s, "P1", "the kill of run %lld is answered before its end is kept",
                 (long long)log_id);
}

/* After a clean stop nothing that was not sent is asked about; after any other end it may be. */
void check_stop(struct sim *s, bool clean)
{
    check_resends(s, clean);
    for (int64_t id = 1; id <= s->last_id; id++) {
        struct ghost *g = &s->ghosts[id];
        g->kept = clean && g->born && !g->end && !g->dropped && !g->sends && !g->doubted;
    }
}

/* The center asks for a /run: to the right address, and admitted. */
void check_send(struct sim *s, const struct call *c)
{
    struct ghost *g = ghost_of(s, c->log_id);
    const struct mem_run *r = live_row(s, c->log_id);
    long long id = c->log_id;
    sim_trace(s, "call %lld of job %lld (attempt %d, shard %d) at %s, due %lld", id,
              (long long)c->job_id, c->attempt, c->shard, c->address, (long long)c->due_ms);
    if (!r)
        sim_fail(s, "P1", "run %lld is called and has no live row (%s)", id, phase_text(g->end));
    check_sent_param(s, c);
    check_address(s, c);
    check_shard(s, &r->row, c);
    check_admitted(s, id);
    if (of_schedule(g->kind) && g->scheduled_ms > s->served_ms)
        s->served_ms = g->scheduled_ms;
}

/* The core lets it go: its first byte leaves now, maybe long after the call was asked for. */
void check_leaving(struct sim *s, const struct conn *conn)
{
    const struct call *c = &conn->call;
    struct ghost *g = ghost_of(s, c->log_id);
    const struct mem_run *r = live_row(s, c->log_id);
    const struct shadow *j = shadow_of(s, c->job_id);
    long long id = c->log_id;
    sim_trace(s, "send %lld of job %lld to %s", id, (long long)c->job_id, c->address);
    if (!r)
        sim_fail(s, "P1", "run %lld is sent and has no live row (%s)", id, phase_text(g->end));
    if (never_ran(g->end))
        sim_fail(s, "P4", "run %lld is counted %s and is sent", id, phase_text(g->end));
    if (r->row.due_ms > wall_ms(s))
        sim_fail(s, "P3", "run %lld is sent %lld ms early", id,
                 (long long)(r->row.due_ms - wall_ms(s)));
    if (r->row.due_ms > memory_of(s->store)->now.watermark.until_ms)
        sim_fail(s, "P3", "run %lld is sent %lld ms beyond the watermark on disk", id,
                 (long long)(r->row.due_ms - memory_of(s->store)->now.watermark.until_ms));
    if (memory_of(s->store)->now.watermark.clean)
        sim_fail(s, "P3", "run %lld is sent while the disk says that nothing is", id);
    if (!r->row.address || strcmp(r->row.address, c->address) != 0)
        sim_fail(s, "P3", "run %lld goes to %s, and the disk says %s", id, c->address,
                 r->row.address ? r->row.address : "nowhere");
    if (j->deleted_answered)
        sim_fail(s, "P5", "run %lld of job %lld leaves after its deletion was answered", id,
                 (long long)c->job_id);
    if (of_schedule(g->kind) && r->row.version < j->answered_version)
        sim_fail(s, "P5", "run %lld of version %lld leaves after version %lld was answered", id,
                 (long long)r->row.version, (long long)j->answered_version);
    if (g->scheduled && r->row.version < j->stopped_version)
        sim_fail(s, "P5", "run %lld (%s) leaves after the stop of its job was answered", id,
                 kind_text(g->kind));
    if (r->row.kind == KIND_RETRY) {
        const struct ghost *cause = ghost_of(s, r->row.cause);
        if (cause->end == PHASE_SUCCEEDED)
            sim_fail(s, "P4", "run %lld retries %lld, which has succeeded", id,
                     (long long)r->row.cause);
    }
    check_called_with(s, conn, r);
    check_word(s, c->log_id);
    check_left(s, c);
    g->sends++;
}

void check_started(struct sim *s, struct exec *x, int64_t log_id)
{
    struct ghost *g = ghost_of(s, log_id);
    bool here = g->at & 1u << x->index;
    g->started++;
    g->at |= 1u << x->index;
    if (!g->sends)
        sim_fail(s, "the simulation", "run %lld starts and was never sent", (long long)log_id);
    if (g->disk_lost)
        return;
    if (here && x->type == EXEC_OURS)
        sim_fail(s, "P2", "run %lld runs twice at an executor that remembers", (long long)log_id);
    if (g->started > 1 + g->admitted && !check_unsure(s, g))
        sim_fail(s, "P2", "run %lld runs %d times, %d resends were admitted", (long long)log_id,
                 g->started, g->admitted);
    if (never_ran(g->end))
        sim_fail(s, "P1", "run %lld is counted %s and runs", (long long)log_id, phase_text(g->end));
}

void check_ack(struct sim *s, const struct sim_ack *a)
{
    for (int i = 0; i < a->n; i++) {
        int64_t id = a->results[i].log_id;
        const struct ghost *g = ghost_of(s, id);
        const struct mem_run *r = live_row(s, id);
        const struct log_record *l = log_row(s, id);
        if (r)
            sim_fail(s, "P1", "result %d of run %lld is acknowledged, and its row is still %s",
                     a->results[i].code, (long long)id, phase_text(r->row.phase));
        if (!l || g->disk_lost)
            continue;
        if (never_ran(g->end) && g->started) /* a queue torn down reports what never began */
            sim_fail(s, "P1", "run %lld is %s and has a result", (long long)id, phase_text(g->end));
        if (g->end == PHASE_LOST && (!l->handle_msg || strlen(l->handle_msg) <= g->text_n))
            sim_fail(s, "P4", "result %d of run %lld, which stays lost, is noted nowhere",
                     a->results[i].code, (long long)id);
    }
}

void check_edited(struct sim *s, const struct edit *e)
{
    check_edit_open(s, e, -1);
    if (e->err || e->kind > EDIT_JOB_DELETE || e->kind == EDIT_JOB_INSERT)
        return;
    struct shadow *j = shadow_of(s, e->id);
    if (e->kind == EDIT_JOB_DELETE) {
        j->deleted_answered = true;
        return;
    }
    j->answered_version = e->now->version;
    if (e->kind == EDIT_JOB_STOP)
        j->stopped_version = e->now->version;
}
