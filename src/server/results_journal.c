/* SPDX-License-Identifier: Apache-2.0 */
/* results_journal.c - results that are durable before the database has them.
 *
 * A transaction holds all that gathered while the one before was written, planning included; under
 * load that is tens of milliseconds, and an executor with one connection sends its next results
 * only when the last are answered. So when a commit takes much longer than an append and one
 * fdatasync, results go to the journal first and are answered when they stand there.
 *
 * What comes while the journal writes is gathered and given to it together. Of two files one takes
 * what comes; the other is emptied when the last callback in it has been committed. What stands in
 * them at start is given to the core again, to which a repeated result is nothing
 * (docs/internals/journal.md). */
#include "base/log.h"
#include "base/mem.h"
#include "server/state.h"
#include "wire/open_api.h"
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES (8u << 20)   /* 80,000 results with a short message */
#define GATHER_BYTES (4u << 20) /* while the disk stands still: no more memory for that */
#define SWITCH_BYTES (1u << 20) /* then the other file takes over, if it is empty */
#define IDLE_MS 1000            /* a file whose results are all committed is emptied after that */
#define PAYS_US 2000            /* a commit must be slower by so much than two appends */

static const char *const names[JOURNAL_FILES] = { "callbacks.journal", "callbacks.journal.2" };

/* ---- when ----------------------------------------------------------------------------------- */

static void average(int64_t *average_us, int64_t us)
{
    *average_us += (us - *average_us) / 8; /* of the last few */
}

bool journalling_pays(const struct center *c, struct now now)
{
    const struct journalling *g = &c->journalling;
    if (!g->journal)
        return false;
    int64_t commit_us = c->writing ? clock_boot_us() - c->batch_us : 0;
    if (commit_us < g->commit_us)
        commit_us = g->commit_us;
    commit_us += sched_batch_in(c->sched, now) * 1000;
    return commit_us > 2 * g->append_us + PAYS_US || writer_in_trouble(c->writer);
}

void journalling_committed(struct center *c, int64_t us)
{
    struct journalling *g = &c->journalling;
    average(&g->commit_us, us);
    if (!g->way)
        g->append_us -= g->append_us / 64; /* one slow moment of its disk is forgotten */
}

/* ---- to the journal and back ---------------------------------------------------------------- */

/* The file that takes the next results. */
static int choose_file(struct center *c, size_t bytes)
{
    struct journalling *g = &c->journalling;
    int other = 1 - g->file;
    if (g->files[g->file].bytes + bytes <= SWITCH_BYTES || other >= g->nfiles ||
        g->files[other].held)
        return g->file;
    if (g->files[other].bytes)
        journal_reset(g->journal, other);
    g->files[other].bytes = 0;
    g->file = other;
    return other;
}

/* Its memory takes the next ones, unless it is much. */
static void empty_mailbox(struct journal_message *m)
{
    if (m->records.cap > SWITCH_BYTES)
        buf_done(&m->records);
    else
        buf_reset(&m->records);
    m->n = 0;
}

/* One message at a time: what comes meanwhile shares the next write. */
static void give(struct center *c)
{
    struct journalling *g = &c->journalling;
    struct journal_message *m = g->gather;
    if (m && list_empty(&m->waiting)) /* commits were faster */
        empty_mailbox(m);
    if (g->way || !m || !m->n || clock_boot_us() < g->given_us + g->gap_us)
        return;
    m->file = choose_file(c, m->records.len);
    struct journalling_file *f = &g->files[m->file];
    f->bytes += m->records.len;
    list_each(&m->waiting, n, tmp)
    {
        struct reply *r = container_of(n, struct reply, way);
        r->file = m->file;
        f->held++;
    }
    g->way = m;
    g->gather = NULL;
    g->given_us = clock_boot_us();
    journal_give(g->journal, m);
}

void journalling_flush(struct center *c)
{
    if (c->journalling.gather)
        give(c);
}

/* Records of what can be understood of a callback's results. */
static unsigned append(struct buf *out, const struct center_result *results, size_t n)
{
    int64_t at_ms = clock_wall_ms();
    for (size_t i = 0; i < n; i++) {
        struct journal_result r = { results[i].log_id, at_ms, results[i].code, results[i].msg };
        journal_record(out, &r);
    }
    return (unsigned)n;
}

bool journalling_offer(struct center *c, struct reply *r, const struct center_result *results,
                       size_t n)
{
    struct journalling *g = &c->journalling;
    if (!g->journal)
        return true; /* there is none: nothing to wait for */
    if (!g->gather)
        g->gather = journal_message_new();
    struct journal_message *m = g->gather;
    if (m->records.len >= GATHER_BYTES)
        return false;
    size_t before = m->records.len;
    unsigned added = append(&m->records, results, n);
    size_t room = FILE_BYTES - JOURNAL_HEAD;
    if (m->records.failed || m->records.len > room) { /* not with these, or never */
        m->records.len = before;
        m->records.failed = false;
        return before == 0;
    }
    m->n += added;
    list_push(&m->waiting, &r->way);
    return true;
}

bool journalling_offer_again(struct center *c, struct reply *r)
{
    struct wire_callbacks items;
    struct why why;
    if (wire_callbacks_parse(r->request->body, &items, &why))
        return true;
    struct center_result *results = mem_new((items.n + 1) * sizeof(*results));
    size_t n = 0;
    for (size_t i = 0; i < items.n; i++)
        if (!items.items[i].fault)
            results[n++] =
                (struct center_result){ items.items[i].log_id, items.items[i].log_date_ms,
                                        items.items[i].code, items.items[i].msg };
    int64_t foreign;
    n = results_own(c, results, n, &foreign);
    bool taken = journalling_offer(c, r, results, n);
    free(results);
    wire_callbacks_done(&items);
    return taken;
}

bool journalling_full(const struct center *c)
{
    const struct journal_message *m = c->journalling.gather;
    return m && m->records.len >= GATHER_BYTES;
}

void journalling_message_free(struct journal_message *m)
{
    while (list_pop(&m->waiting))
        ;
    journal_message_free(m);
}

void results_journalled(struct center *c, struct journal_message *m)
{
    struct journalling *g = &c->journalling;
    g->way = NULL;
    average(&g->append_us, clock_boot_us() - g->given_us);
    for (struct list_node *n; (n = list_pop(&m->waiting));) {
        struct reply *r = container_of(n, struct reply, way);
        if (m->err) {
            journalling_release(c, r); /* the commit may still come in time */
            sched_want_batch(c->sched);
        } else
            results_answer(r);
    }
    if (g->gather) {
        journalling_message_free(m);
    } else {
        empty_mailbox(m);
        g->gather = m;
    }
    give(c);
}

/* ---- forgetting ----------------------------------------------------------------------------- */

static void empty(struct center *c, int file)
{
    journal_reset(c->journalling.journal, file);
    c->journalling.files[file].bytes = 0;
}

void journalling_release(struct center *c, struct reply *r)
{
    struct journalling *g = &c->journalling;
    list_remove(&r->way);
    if (r->file < 0)
        return;
    struct journalling_file *f = &g->files[r->file];
    f->idle_ms = clock_boot_ms() + IDLE_MS;
    if (--f->held == 0 && r->file != g->file)
        empty(c, r->file);
    r->file = -1;
}

void journalling_sweep(struct center *c, int64_t boot_ms)
{
    struct journalling *g = &c->journalling;
    for (int i = 0; i < g->nfiles; i++)
        if (!g->files[i].held && g->files[i].bytes && g->files[i].idle_ms <= boot_ms)
            empty(c, i);
}

int64_t journalling_next(const struct center *c)
{
    const struct journalling *g = &c->journalling;
    int64_t next = INT64_MAX;
    for (int i = 0; i < g->nfiles; i++)
        if (!g->files[i].held && g->files[i].bytes && g->files[i].idle_ms < next)
            next = g->files[i].idle_ms;
    int64_t give_ms = (g->given_us + g->gap_us) / 1000 + 1;
    return g->gather && g->gather->n && !g->way && give_ms < next ? give_ms : next;
}

/* ---- start ---------------------------------------------------------------------------------- */

struct kept { /* what a file held */
    struct journal_result *results;
    unsigned n;
};

static void keep_one(void *ctx, const struct journal_result *result)
{
    struct kept *k = ctx;
    if ((k->n & (k->n - 1)) == 0) /* doubles at powers of two */
        k->results = mem_resize(k->results, (k->n ? k->n * 2 : 1) * sizeof(*k->results));
    struct journal_result *r = &k->results[k->n++];
    *r = *result;
    r->msg = slice_of(mem_dupn(result->msg.p, result->msg.n), result->msg.n);
}

static void kept_done(struct kept *k)
{
    for (unsigned i = 0; i < k->n; i++)
        free((char *)k->results[i].msg.p);
    free(k->results);
}

static enum err open_file(struct center *c, int i, struct kept *kept, struct journal_file **ret,
                          struct why *why)
{
    struct buf path = BUF_INIT(8192);
    buf_printf(&path, "%s/%s", c->config.data, names[i]);
    struct why no = { "" };
    enum err err = journal_file_open(buf_str(&path), FILE_BYTES, &c->journalling.owner, keep_one,
                                     kept, ret, &no);
    buf_done(&path);
    if (err == ERR_INVALID) { /* acknowledged results that only another version can read */
        why_set(why, "%s; start that version once, or move the file away", no.text);
    } else if (err) {
        log_warn("journal",
                 "there is no journal, results wait for the database alone until the next start: "
                 "%s",
                 no.text);
        *ret = NULL;
    }
    return err;
}

static void emptied(struct center *c, struct waiter *k)
{
    struct reply *r = container_of(k, struct reply, kept);
    journalling_release(c, r);
    results_drop(r);
}

/* The file stays as it is until the database has all of it. */
static void hold(struct center *c, struct now now, int file, const struct kept *kept)
{
    for (unsigned i = 0; i < kept->n; i++)
        if (kept->results[i].log_id <= c->journalling.last_id)
            sched_result_again(c->sched, now, kept->results[i].log_id, kept->results[i].code,
                               kept->results[i].msg);
    struct reply *r = mem_new(sizeof(*r)); /* no request waits for it */
    r->file = file;
    c->journalling.files[file].held++;
    c->journalling.files[file].bytes = FILE_BYTES;
    list_push(&c->held, &r->held);
    r->kept.done = emptied;
    sched_ack_after(c->sched, now, &r->kept.ack);
}

/* An id that the database has not given will be given to another run. */
static unsigned count_unknown(const struct kept kept[JOURNAL_FILES], int64_t last_id)
{
    unsigned n = 0;
    for (int i = 0; i < JOURNAL_FILES; i++)
        for (unsigned j = 0; j < kept[i].n; j++)
            n += kept[i].results[j].log_id > last_id;
    return n;
}

static void replay(struct center *c, const struct kept kept[JOURNAL_FILES])
{
    struct now now = center_now();
    int64_t oldest_ms = INT64_MAX;
    unsigned n = 0;
    for (int i = 0; i < JOURNAL_FILES; i++) {
        if (kept[i].n && kept[i].results[0].at_ms < oldest_ms)
            oldest_ms = kept[i].results[0].at_ms;
        n += kept[i].n;
    }
    if (!n)
        return;
    log_info("journal",
             "%u results were kept for the database, the oldest for %lld s; it gets them", n,
             (long long)(now.wall_ms - oldest_ms) / 1000);
    unsigned unknown = count_unknown(kept, c->journalling.last_id);
    if (unknown)
        log_warn("journal",
                 "%u of them are for log ids that this database has not given, as when a backup "
                 "was put back; they are left out",
                 unknown);
    /* of two results of one run the first counts */
    int first = kept[1].n && kept[1].results[0].at_ms == oldest_ms ? 1 : 0;
    for (int i = 0; i < JOURNAL_FILES; i++)
        if (kept[(first + i) % JOURNAL_FILES].n)
            hold(c, now, (first + i) % JOURNAL_FILES, &kept[(first + i) % JOURNAL_FILES]);
    c->journalling.file = 1 - first; /* the younger one; the older is emptied first */
    if (c->journalling.file >= c->journalling.nfiles)
        c->journalling.file = 0;
}

enum err results_replay(struct center *c, struct why *why)
{
    struct journalling *g = &c->journalling;
    struct journal_file *files[JOURNAL_FILES] = { NULL };
    struct kept kept[JOURNAL_FILES] = { { NULL, 0 } };
    enum err err = OK;
    for (int i = 0; i < JOURNAL_FILES && !err; i++) {
        err = open_file(c, i, &kept[i], &files[i], why);
        if (!err)
            g->nfiles = i + 1;
    }
    if (err != ERR_INVALID && g->nfiles) {
        g->journal = journal_new(files, c->mailbox, MESSAGE_JOURNAL, &c->metrics);
        replay(c, kept);
    } else {
        for (int i = 0; i < JOURNAL_FILES; i++)
            journal_file_close(files[i]);
    }
    for (int i = 0; i < JOURNAL_FILES; i++)
        kept_done(&kept[i]);
    return err == ERR_INVALID ? err : OK;
}

void journalling_free(struct center *c)
{
    struct journalling *g = &c->journalling;
    if (g->journal) {
        journalling_sweep(c, INT64_MAX);
        g->way = NULL; /* comes back to a mailbox that is not read any more */
        g->gap_us = 0;
        give(c);
    }
    journal_free(g->journal);
    g->journal = NULL;
    if (g->gather)
        journalling_message_free(g->gather);
    g->gather = NULL;
}
