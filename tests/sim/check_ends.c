/* SPDX-License-Identifier: Apache-2.0 */
/* check_ends.c - an end is one end, the right one, and stands on the disk. */
#include "check.h"
#include <string.h>

static const char *text_of(struct sim *s, int64_t log_id)
{
    const struct log_record *l = log_row(s, log_id);
    return l && l->handle_msg ? l->handle_msg : "";
}

/* A loss has its proof. It is no run that waits or runs somewhere, nor one that may still be sent:
 * only where no executor can tell is a run given up that never arrived. */
static void check_lost(struct sim *s, int64_t id, const struct ghost *g)
{
    s->lost++;
    if (!g->disk_lost)
        check_proof(s, id);
    if (check_silent(s, &g->wire))
        return;
    if (!g->arrived && !check_unreadable(&g->wire))
        sim_fail(s, "P1", "run %lld of job %lld is counted lost, and it never arrived",
                 (long long)id, (long long)g->job_id);
    for (int i = 0; i < s->nexecs; i++)
        if (s->execs[i].up && exec_has(&s->execs[i], id) && !g->admitted)
            sim_fail(s, "P1", "run %lld of job %lld is counted lost while it is at %s",
                     (long long)id, (long long)g->job_id, s->execs[i].address);
}

static void ghost_end(struct sim *s, int64_t id, enum phase to)
{
    struct ghost *g = ghost_of(s, id);
    if (g->end == to)
        return;
    bool after_lost = g->end == PHASE_LOST && to >= PHASE_SUCCEEDED && to <= PHASE_KILLED;
    if (g->end && !after_lost)
        sim_fail(s, "P1", "run %lld ends as %s and again as %s", (long long)id, phase_text(g->end),
                 phase_text(to));
    if (never_ran(to) && g->started && !g->disk_lost)
        sim_fail(s, "P1", "run %lld is counted %s, and it has run", (long long)id, phase_text(to));
    if (to == PHASE_SUCCEEDED && !g->ends_ok)
        sim_fail(s, "P1", "run %lld succeeded without having run", (long long)id);
    sim_trace(s, "run %lld of job %lld is %s: %s", (long long)id, (long long)g->job_id,
              phase_text(to), text_of(s, id));
    bool failed = to != PHASE_SUCCEEDED && to != PHASE_SKIPPED && to != PHASE_WITHDRAWN;
    g->wants_retry = failed && !after_lost && g->retries_left > 0;
    g->fresh_success = to == PHASE_SUCCEEDED;
    check_figures_end(s, id, g, to);
    g->end = to;
    s->ends++;
    if (of_schedule(g->kind) && to != PHASE_WITHDRAWN && g->scheduled_ms > s->served_ms)
        s->served_ms = g->scheduled_ms;
    if (to == PHASE_LOST)
        check_lost(s, id, g);
}

void check_change(struct sim *s, const struct run_change *c)
{
    struct ghost *g = ghost_of(s, c->log_id);
    if (!g->born)
        sim_fail(s, "the ledger", "run %lld changes before it is born", (long long)c->log_id);
    if (c->doubted && g->kept && !g->sends)
        sim_fail(s, "the stop", "run %lld was not sent before the clean stop, and is in doubt",
                 (long long)c->log_id);
    if (c->doubted)
        g->doubted = true;
    if (c->what & CHANGE_FINISH && !g->handle_ms)
        g->handle_ms = c->handle_ms;
    if (c->what & CHANGE_FINISH && c->handle_msg)
        g->text_n = strlen(c->handle_msg); /* on disk late results may be noted behind it already */
    if (c->what & CHANGE_ADDRESS && c->address)
        peer_of(s, c->address)->laid++;
    if (c->what & CHANGE_DROP)
        g->dropped = true;
    if (c->what & (CHANGE_PHASE | CHANGE_DROP) && ended(c->phase))
        ghost_end(s, c->log_id, c->phase);
}

void check_codes(struct sim *s, int64_t id, const struct ghost *g)
{
    const struct log_record *l = log_row(s, id);
    if (!l)
        sim_fail(s, "P1", "the log row of run %lld is gone", (long long)id);
    bool right;
    switch (g->end) {
    case PHASE_SUCCEEDED:
        right = l->handle_code == 200 && l->trigger_code == 200;
        break;
    case PHASE_REJECTED:
    case PHASE_UNROUTABLE:
        right = l->handle_code == 0 && l->trigger_code == 500;
        break;
    case PHASE_TIMED_OUT:
        right = l->handle_code == 502;
        break;
    default:
        right = l->handle_code == 500;
        break;
    }
    if (!right)
        sim_fail(s, "P1", "run %lld ended as %s, and its row says %d/%d", (long long)id,
                 phase_text(g->end), l->trigger_code, l->handle_code);
}

/* A row that another program's monitor would take for a failure nobody looks after: it would alarm
 * and try it again. */
static void verify_claimed(struct sim *s, int64_t id)
{
    const struct log_record *l = log_row(s, id);
    bool sent_well = l && (l->trigger_code == 0 || l->trigger_code == 200);
    if (l && l->alarm_status == 0 && l->handle_code != 200 && !(sent_well && l->handle_code == 0))
        sim_fail(s, "P4", "run %lld has failed (%d/%d), and its alarm is not claimed",
                 (long long)id, l->trigger_code, l->handle_code);
}

/* What the batch said is what the disk says. */
void check_kept(struct sim *s, const struct run_change *c)
{
    const struct ghost *g = ghost_of(s, c->log_id);
    const struct mem_run *r = live_row(s, c->log_id);
    verify_claimed(s, c->log_id);
    if (c->what & CHANGE_DROP) {
        if (r || log_row(s, c->log_id))
            sim_fail(s, "P1", "run %lld was dropped and is still there", (long long)c->log_id);
    } else if (c->what & CHANGE_CLOSE) {
        if (r)
            sim_fail(s, "P1", "run %lld was closed and is still live", (long long)c->log_id);
        check_codes(s, c->log_id, g);
    } else if (!g->end && c->what & CHANGE_PHASE && (!r || r->row.phase != c->phase)) {
        sim_fail(s, "P1", "run %lld is %s and its row says %s", (long long)c->log_id,
                 phase_text(c->phase), r ? phase_text(r->row.phase) : "nothing");
    }
}
