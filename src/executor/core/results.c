/* SPDX-License-Identifier: Apache-2.0 */
/* A result has two debts, to the journal and to a center, and is freed when both are paid:
 * journalled and acknowledged, in either order. It goes to the center when the journal has it; if
 * the disk takes longer than RESULTS_WAIT_MS, it goes first and stays owed to the journal.
 *
 * Deliveries are gathered until the end of an iteration, sorted by number, and become one TELL:
 * neighbours are one statement in the journal. */
#include "executor/core/results.h"
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"

struct write *write_new(enum run_journal_what what, void *of, size_t nseqs)
{
    struct write *w = mem_new(sizeof(*w) + nseqs * sizeof(*w->seqs));
    w->op.message.kind = RESULTS_MESSAGE_WRITTEN;
    w->op.what = what;
    w->op.seqs = w->seqs;
    w->op.nseqs = nseqs;
    w->of = of;
    return w;
}

static int64_t size_of(const struct result *r)
{
    return (int64_t)(sizeof(*r) + (r->msg ? strlen(r->msg) : 0));
}

static void report(struct results *s, struct result *r)
{
    list_remove(&r->late);
    r->reported = true;
    if (centers_any(s->centers))
        centers_report(s->centers, r);
    else
        results_told(s, r);
}

/* --- the disk that takes its time --- */

static void wait_for_oldest(struct results *s)
{
    if (list_empty(&s->unwritten))
        loop_timer_clear(s->loop, &s->patience);
    else if (!loop_timer_is_set(&s->patience))
        loop_timer_set(s->loop, &s->patience, loop_now_ms(s->loop) + RESULTS_WAIT_MS);
}

static void out_of_patience(struct loop_timer *t)
{
    struct results *s = container_of(t, struct results, patience);
    log_warn("executor", "the journal takes no results: they go to the center without it");
    for (struct list_node *n; (n = list_first(&s->unwritten));)
        report(s, container_of(n, struct result, late));
}

/* --- in --- */

void results_add(struct results *s, struct result *r, int64_t ended_ms)
{
    struct write *w = write_new(RUN_JOURNAL_RESULT, r, 0);
    w->op.row = (struct run_journal_row){ .seq = r->seq,
                                          .log_id = r->log_id,
                                          .log_date_ms = r->log_date_ms,
                                          .ended_ms = ended_ms,
                                          .code = r->code,
                                          .has_log = r->has_log,
                                          .msg = slice_text(r->msg) };
    s->n++;
    s->bytes += size_of(r);
    list_push(&s->unwritten, &r->late);
    wait_for_oldest(s);
    run_journal_send(s->journal, &w->op);
}

void results_restore(struct results *s, struct result *r)
{
    s->n++;
    s->bytes += size_of(r);
    r->journalled = true;
    report(s, r);
}

/* --- out --- */

static void tell(struct loop_task *t)
{
    results_flush(container_of(t, struct results, tell));
}

static int by_seq(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

void results_flush(struct results *s)
{
    loop_undefer(s->loop, &s->tell);
    if (!s->ntold)
        return;
    struct write *w = write_new(RUN_JOURNAL_TELL, NULL, s->ntold);
    memcpy(w->seqs, s->told, s->ntold * sizeof(*s->told));
    qsort(w->seqs, s->ntold, sizeof(*w->seqs), by_seq);
    s->ntold = 0;
    run_journal_send(s->journal, &w->op);
}

void results_told(struct results *s, struct result *r)
{
    if (s->ntold == s->told_room) {
        s->told_room = s->told_room ? s->told_room * 2 : 64;
        s->told = mem_resize(s->told, s->told_room * sizeof(*s->told));
    }
    s->told[s->ntold++] = r->seq;
    loop_defer(s->loop, &s->tell);
    s->n--;
    s->bytes -= size_of(r);
    r->acknowledged = true;
    if (r->journalled)
        result_free(r);
}

static void drop(struct result *r)
{
    list_remove(&r->late);
    result_free(r);
}

void results_written(struct results *s, struct write *w)
{
    struct result *r = w->of;
    if (w->op.what == RUN_JOURNAL_RESULT) {
        r->journalled = true;
        if (r->acknowledged)
            result_free(r);
        else if (!r->reported && s->closing)
            drop(r);
        else if (!r->reported)
            report(s, r);
        if (list_empty(&s->unwritten))
            loop_timer_clear(s->loop, &s->patience);
        else if (loop_timer_is_set(&s->patience)) /* the disk works: a while for the next */
            loop_timer_set(s->loop, &s->patience, loop_now_ms(s->loop) + RESULTS_WAIT_MS);
    }
    free(w);
}

void results_init(struct results *s, struct loop *l)
{
    *s = (struct results){ .loop = l };
    list_init(&s->unwritten);
    s->patience.fire = out_of_patience;
    s->tell.run = tell;
}

void results_done(struct results *s)
{
    loop_timer_clear(s->loop, &s->patience);
    loop_undefer(s->loop, &s->tell);
    for (struct list_node *n; (n = list_pop(&s->unwritten));)
        result_free(container_of(n, struct result, late));
    free(s->told);
}
