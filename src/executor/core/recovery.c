/* SPDX-License-Identifier: Apache-2.0 */
/* What the journal has from before. Rows come while it is being opened, when nothing can be done
 * about them yet: they become runs and results, and those go their way once the executor has all of
 * its parts. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "executor/core/internal.h"

static void fails(struct executor *e, const struct run_journal_row *row, const char *text)
{
    struct result *r = lifecycle_failed(row->seq, row->log_id, row->log_date_ms, text);
    list_push(&e->recovered_results, &r->node);
}

/* A run as it was sent; NULL: why not. */
static struct peal_run *make_run(struct executor *e, const struct run_journal_row *row,
                                 struct why *why)
{
    struct wire_run_request request;
    if (wire_run_request_parse(row->request, &request, why))
        return NULL;
    struct peal_run *r = run_make(&request, &e->context, row->state == RUN_JOURNAL_STARTED);
    if (!r) {
        why_set(why, "out of memory when the executor started again");
    } else if (endpoint_choose(e, &request, r, why)) {
        run_drop(r);
        r = NULL;
    }
    wire_run_request_done(&request);
    if (!r)
        return NULL;
    r->seq = row->seq;
    r->scheduled_ms = row->scheduled_ms;
    r->attempt = row->attempt;
    r->in_started = row->state == RUN_JOURNAL_STARTED;
    return r;
}

static void row_of_run(struct executor *e, const struct run_journal_row *row)
{
    struct why why = { { 0 } };
    struct peal_run *r = make_run(e, row, &why);
    bool idempotent = r && r->handler && (r->handler->flags & PEAL_IDEMPOTENT);
    if (row->state == RUN_JOURNAL_STARTED && !idempotent) {
        fails(e, row, "the executor died while it ran");
        run_drop(r);
    } else if (!r) {
        fails(e, row, why.text);
    } else {
        list_push(&e->recovered_runs, &r->node);
    }
}

static void row_of_result(struct executor *e, const struct run_journal_row *row)
{
    struct result *r = mem_new(sizeof(*r));
    r->seq = row->seq;
    r->log_id = row->log_id;
    r->log_date_ms = row->log_date_ms;
    r->code = row->code;
    r->has_log = row->has_log;
    r->msg = mem_dupn(row->msg.n ? row->msg.p : "", row->msg.n);
    r->journalled = true;
    list_push(&e->recovered_results, &r->node);
}

/* The dedup set ages by a clock that never steps, their rows are in order of another. */
static void dedup_from(struct executor *e, const struct run_journal_row *row)
{
    int64_t ago = clock_wall_ms() - row->ended_ms;
    int64_t when = clock_boot_ms() - (ago < 0 ? 0 : ago);
    if (when > e->recovered_ms)
        e->recovered_ms = when;
    dedup_finish(&e->jobs.dedup, row->log_id, row->log_date_ms, e->recovered_ms);
}

void recover_row(void *executor, const struct run_journal_row *row)
{
    struct executor *e = executor;
    switch (row->state) {
    case RUN_JOURNAL_ACCEPTED:
    case RUN_JOURNAL_STARTED:
        row_of_run(e, row);
        break;
    case RUN_JOURNAL_ENDED:
        dedup_from(e, row);
        row_of_result(e, row);
        break;
    case RUN_JOURNAL_TOLD:
        dedup_from(e, row);
        break;
    }
}

void recover_begin(struct executor *e)
{
    int runs = 0, died = 0, results = 0;
    for (struct list_node *n; (n = list_pop(&e->recovered_results));) {
        struct result *r = container_of(n, struct result, node);
        if (r->journalled) {
            results++;
            results_restore(&e->results, r);
            continue;
        }
        died++;
        dedup_finish(&e->jobs.dedup, r->log_id, r->log_date_ms, loop_now_ms(e->loop));
        results_add(&e->results, r, clock_wall_ms());
    }
    for (struct list_node *n; (n = list_pop(&e->recovered_runs)); runs++)
        jobs_restore(&e->jobs, container_of(n, struct peal_run, node));
    if (runs || died || results)
        log_info("executor",
                 "from before: %d runs go on waiting, %d were interrupted or cannot run any more, "
                 "%d results are to be delivered",
                 runs, died, results);
}
