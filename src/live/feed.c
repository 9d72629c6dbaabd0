/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c - the way from the scheduler's loop to the web loop.
 *
 * The scheduler's side makes parts: what the core has noted of runs (its own array, given away),
 * the ends of a batch and its edits when the commit was heard. They are sent together at the end of
 * an iteration, and then not for some milliseconds: a message wakes the web loop. Bytes that the
 * web loop has not read yet are counted; above the bound all that has gathered is dropped, and the
 * last thing sent is LOST. The answer to LOST, and the beginning, is `wanted`: then the core notes
 * anew, and its first part is BEGIN. */
#include "live/feed.h"
#include "base/clock.h"
#include "base/mem.h"
#include "server/center.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum part_kind {
    PART_BEGIN,
    PART_RUNS,
    PART_ENDS,
    PART_OTHERS,
    PART_EDITS,
    PART_EXECUTOR,
    PART_LOST
};

#define EXECUTORS_MS 500        /* between two looks at them */
#define GATHER_MS 20            /* between two times that parts are sent: each wakes the web loop */
#define GATHER_BYTES (1u << 20) /* but so much is sent at once */

struct part {
    struct message message; /* kind: enum part_kind */
    size_t bytes, n;
    int64_t no, node;
    void *items; /* of that kind; owned */
    char *text;  /* what feed_ends point to; owned */
};

struct feed {
    struct center *center;
    struct mailbox *mailbox;
    /* the scheduler's loop */
    bool telling;
    int64_t looked_ms;    /* boot: at executors */
    int64_t send_ms;      /* boot: not before that */
    struct list gathered; /* parts of this iteration */
    size_t gathered_bytes;
    /* the web loop */
    struct loop *web;
    struct loop_mailbox incoming;
    struct list readers;
    /* both */
    struct part lost;      /* the only one */
    _Atomic bool told;     /* it is on its way */
    _Atomic bool wanted;   /* by the web loop: begin */
    _Atomic size_t unread; /* bytes */
};

static void part_free(struct part *p)
{
    free(p->items);
    free(p->text);
    free(p);
}

static void parts_drop(struct feed *f, struct list *parts)
{
    for (struct list_node *n; (n = list_pop(parts));) {
        struct part *p = container_of(container_of(n, struct message, node), struct part, message);
        if (p != &f->lost)
            part_free(p);
    }
}

/* ---- the scheduler's loop ------------------------------------------------------------------- */

/* Takes items and text. */
static struct part *part_add(struct feed *f, enum part_kind kind, void *items, size_t n,
                             size_t bytes)
{
    struct part *p = mem_new(sizeof(*p));
    p->message.kind = (int)kind;
    p->items = items;
    p->n = n;
    p->bytes = sizeof(*p) + bytes;
    f->gathered_bytes += p->bytes;
    list_push(&f->gathered, &p->message.node);
    return p;
}

static void take_seen(struct feed *f, struct sched *s, enum part_kind kind)
{
    size_t n;
    struct run_seen *seen = sched_seen(s, &n);
    if (n || kind == PART_BEGIN)
        part_add(f, kind, seen, n, n * sizeof(*seen));
}

static bool is_failure(const struct run_end *e)
{
    return e->now > OUTCOME_SUCCEEDED && !outcome_never_ran(e->now);
}

/* What figures come from a batch's changes in their order; edits end runs behind them. */
static const struct run_change *change_of(const struct batch *b, int end, int *from)
{
    int64_t log_id = b->ends[end].log_id;
    for (int i = *from; i < b->nchanges; i++) {
        if (b->changes[i].log_id != log_id || b->changes[i].end.now == OUTCOME_NONE)
            continue;
        *from = i + 1;
        return &b->changes[i];
    }
    *from = b->nchanges;
    return NULL;
}

/* What is told of a failure: one or two texts, behind each other in a part's bytes. */
struct said {
    const char *message, *address;
    size_t message_n, address_n;
};

static struct said said(const struct run_change *c, const char *address)
{
    struct said t = { .message = c->what & CHANGE_FINISH ? c->handle_msg : c->trigger_msg,
                      .address = address };
    t.message += t.message ? strspn(t.message, " \t\r\n") : 0;
    t.message_n = t.message ? strnlen(t.message, FEED_MESSAGE_MAX) : 0;
    t.address_n = address ? strlen(address) : 0;
    return t;
}

static char *put(char **at, const char *text, size_t n)
{
    char *to = *at;
    if (n)
        memcpy(to, text, n);
    to[n] = '\0';
    *at += n + 1;
    return to;
}

static void tell_failure(struct failure *f, const struct run_change *c, const struct said *t,
                         char **at)
{
    bool finish = c->what & CHANGE_FINISH;
    f->handle_code = finish ? c->handle_code : 0;
    f->trigger_code = finish ? 200 : c->trigger_code;
    const char *message = put(at, t->message, t->message_n);
    f->handle_msg = finish ? message : NULL;
    f->trigger_msg = finish ? NULL : message;
    f->address = put(at, t->address, t->address_n);
}

static void take_ends(struct feed *f, struct sched *s, const struct batch *b)
{
    const struct run_change **changes = mem_new((size_t)b->nends * sizeof(*changes));
    struct feed_end *ends = mem_new((size_t)b->nends * sizeof(*ends));
    size_t size = 0;
    int from = 0;
    for (int i = 0; i < b->nends; i++) {
        ends[i].end = b->ends[i];
        ends[i].ended_ms = b->now_ms;
        changes[i] = change_of(b, i, &from);
        if (!changes[i] || !is_failure(&b->ends[i]))
            continue;
        struct said t = said(changes[i], sched_run_address(s, b->ends[i].log_id));
        size += t.message_n + t.address_n + 2;
    }
    char *text = size ? mem_new(size) : NULL, *at = text;
    for (int i = 0; i < b->nends && text; i++) {
        if (!changes[i] || !is_failure(&b->ends[i]))
            continue;
        struct said t = said(changes[i], sched_run_address(s, b->ends[i].log_id));
        tell_failure(&ends[i].failure, changes[i], &t, &at);
    }
    free(changes);
    size_t n = (size_t)b->nends;
    struct part *p = part_add(f, PART_ENDS, ends, n, n * sizeof(*ends) + size);
    p->text = text;
    p->no = b->ends_no;
}

/* Of a new job the core knows nothing until it fires. */
static int64_t group_after(const struct edit *e)
{
    if (e->now)
        return e->now->group_id;
    return e->kind == EDIT_JOB_INSERT ? e->job.group_id : e->was_group_id;
}

static void take_edits(struct feed *f, const struct batch *b)
{
    struct feed_edit *edits = mem_new((size_t)b->nedits * sizeof(*edits));
    size_t n = 0;
    for (int i = 0; i < b->nedits; i++) {
        const struct edit *e = b->edits[i];
        if (e->err)
            continue;
        edits[n++] = (struct feed_edit){ .kind = e->kind,
                                         .id = e->id,
                                         .version = e->now ? e->now->version : 0,
                                         .group_id = group_after(e),
                                         .was_group_id = e->was_group_id,
                                         .enabled = e->now && e->now->enabled };
    }
    if (n)
        part_add(f, PART_EDITS, edits, n, n * sizeof(*edits));
    else
        free(edits);
}

static void on_committed(void *arg, struct sched *s, const struct batch *b)
{
    struct feed *f = arg;
    if (!f->telling)
        return;
    if (b->nends || b->nedits)
        take_seen(f, s, PART_RUNS); /* what came before */
    if (b->nends)
        take_ends(f, s, b);
    if (b->nedits)
        take_edits(f, b);
}

static void take_executor(void *arg, const struct executor_seen *e)
{
    struct feed *f = arg;
    size_t n = strlen(e->address) + 1, size = sizeof(struct feed_executor);
    size += e->ngroups * sizeof(*e->groups);
    struct feed_executor *x = mem_new(size + n);
    char *address = (char *)x + size;
    memcpy(address, e->address, n);
    x->address = address;
    x->state = e->state;
    x->ngroups = e->ngroups;
    if (e->ngroups)
        memcpy(x->groups, e->groups, e->ngroups * sizeof(*e->groups));
    part_add(f, PART_EXECUTOR, x, 1, size + n);
}

static void look_at_executors(struct feed *f, struct sched *s, bool anew)
{
    const struct now now = { clock_wall_ms(), clock_boot_ms() };
    if (!anew && now.boot_ms - f->looked_ms < EXECUTORS_MS)
        return;
    f->looked_ms = now.boot_ms;
    sched_executors_seen(s, now, anew, take_executor, f);
}

static void begin(struct feed *f, struct sched *s)
{
    f->telling = true;
    look_at_executors(f, s, true);
    sched_watch(s, (struct now){ clock_wall_ms(), clock_boot_ms() });
    take_seen(f, s, PART_BEGIN);
}

static void lose(struct feed *f, struct sched *s)
{
    f->telling = false;
    sched_unwatch(s);
    parts_drop(f, &f->gathered);
    f->gathered_bytes = 0;
    if (!atomic_exchange(&f->told, true))
        mailbox_send(f->mailbox, &f->lost.message);
}

static int64_t on_turned(void *arg, struct sched *s)
{
    struct feed *f = arg;
    bool begins = atomic_load_explicit(&f->wanted, memory_order_relaxed);
    int64_t now_ms = clock_boot_ms();
    if (!begins && now_ms < f->send_ms && f->gathered_bytes < GATHER_BYTES)
        return f->send_ms;
    if (f->telling) {
        take_seen(f, s, PART_RUNS);
        look_at_executors(f, s, false);
    }
    if (begins && atomic_exchange(&f->wanted, false))
        begin(f, s);
    if (list_empty(&f->gathered))
        return INT64_MAX;
    size_t unread = atomic_load_explicit(&f->unread, memory_order_relaxed);
    if (!begins && unread && unread + f->gathered_bytes > FEED_BACKLOG_MAX) {
        lose(f, s);
        return INT64_MAX;
    }
    atomic_fetch_add_explicit(&f->unread, f->gathered_bytes, memory_order_relaxed);
    f->gathered_bytes = 0;
    mailbox_send_all(f->mailbox, &f->gathered);
    f->send_ms = now_ms + GATHER_MS;
    return INT64_MAX;
}

/* ---- the thread that follows other servers --------------------------------------------------- */

static size_t words_of(const struct failure *f)
{
    const char *said = f->handle_msg ? f->handle_msg : "", *trigger = f->trigger_msg;
    size_t n = strnlen(said, FEED_MESSAGE_MAX) + 1 + (f->address ? strlen(f->address) : 0) + 1;
    return n + (trigger ? strnlen(trigger, FEED_MESSAGE_MAX) : 0) + 1;
}

static const char *put_message(char **at, const char *text)
{
    const char *from = text ? text + strspn(text, " \t\r\n") : "";
    return put(at, from, strnlen(from, FEED_MESSAGE_MAX));
}

static void copy_failure(struct failure *to, const struct failure *f, char **at)
{
    bool any = f->trigger_code || f->handle_code;
    *to = (struct failure){ .trigger_code = f->trigger_code, .handle_code = f->handle_code };
    to->handle_msg = put_message(at, f->handle_msg);
    to->trigger_msg = put_message(at, f->trigger_msg);
    to->address = put(at, f->address, f->address ? strlen(f->address) : 0);
    if (!any)
        *to = (struct failure){ 0 };
}

/* A web loop that falls behind begins anew, and reads the figures. */
static void on_others(void *arg, int64_t node, int64_t no, const struct follow_end *ends, size_t n)
{
    struct feed *f = arg;
    struct feed_end *copy = mem_new((n + 1) * sizeof(*copy));
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += words_of(&ends[i].failure);
    char *text = mem_new(size + 1), *at = text;
    for (size_t i = 0; i < n; i++) {
        copy[i].end = ends[i].end;
        copy[i].ended_ms = ends[i].ended_ms;
        copy_failure(&copy[i].failure, &ends[i].failure, &at);
    }
    struct part *p = mem_new(sizeof(*p));
    *p = (struct part){ .bytes = sizeof(*p) + n * sizeof(*copy) + size,
                        .n = n,
                        .no = no,
                        .node = node,
                        .items = copy,
                        .text = text };
    p->message.kind = PART_OTHERS;
    size_t unread = atomic_fetch_add_explicit(&f->unread, p->bytes, memory_order_relaxed);
    if (unread && unread + p->bytes > FEED_BACKLOG_MAX) {
        atomic_fetch_sub_explicit(&f->unread, p->bytes, memory_order_relaxed);
        atomic_store(&f->wanted, true);
        part_free(p);
        return;
    }
    mailbox_send(f->mailbox, &p->message);
}

/* ---- the web loop ---------------------------------------------------------------------------- */

static void tell(const struct part *p, struct feed_reader *r)
{
    switch ((enum part_kind)p->message.kind) {
    case PART_BEGIN:
        r->begin(r, p->items, p->n);
        break;
    case PART_RUNS:
        if (r->runs)
            r->runs(r, p->items, p->n);
        break;
    case PART_ENDS:
        if (r->ends)
            r->ends(r, p->items, p->n, p->no);
        break;
    case PART_OTHERS:
        if (r->others)
            r->others(r, p->node, p->items, p->n, p->no);
        break;
    case PART_EDITS:
        if (r->edits)
            r->edits(r, p->items, p->n);
        break;
    case PART_EXECUTOR:
        if (r->executor)
            r->executor(r, p->items);
        break;
    case PART_LOST:
        break;
    }
}

static void on_part(struct loop_mailbox *m, struct message *l)
{
    struct feed *f = container_of(m, struct feed, incoming);
    struct part *p = container_of(l, struct part, message);
    if (p == &f->lost) {
        atomic_store(&f->told, false);
        feed_again(f);
        return;
    }
    list_each(&f->readers, node, tmp) tell(p, container_of(node, struct feed_reader, node));
    atomic_fetch_sub_explicit(&f->unread, p->bytes, memory_order_relaxed);
    part_free(p);
}

void feed_add(struct feed *f, struct feed_reader *r)
{
    list_push(&f->readers, &r->node);
}

void feed_remove(struct feed *f, struct feed_reader *r)
{
    (void)f;
    list_remove(&r->node);
}

void feed_again(struct feed *f)
{
    atomic_store(&f->wanted, true);
}

/* ---- start, stop ----------------------------------------------------------------------------- */

static const struct center_watcher watcher = { on_committed, on_turned };

enum err feed_new(struct center *c, struct loop *web, struct feed **ret)
{
    struct feed *f = mem_new(sizeof(*f));
    f->center = c;
    f->web = web;
    f->mailbox = mailbox_new();
    f->lost.message.kind = PART_LOST;
    list_init(&f->gathered);
    list_init(&f->readers);
    f->incoming.mailbox = f->mailbox;
    f->incoming.message = on_part;
    enum err err = loop_mailbox_add(web, &f->incoming);
    if (err) {
        mailbox_free(f->mailbox);
        free(f);
        return err;
    }
    f->wanted = true;
    center_watch(c, &watcher, f);
    center_on_others(c, on_others, f);
    *ret = f;
    return OK;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    center_watch(f->center, NULL, NULL);
    center_on_others(f->center, NULL, NULL);
    loop_mailbox_remove(f->web, &f->incoming);
    struct list rest;
    list_init(&rest);
    while (mailbox_take(f->mailbox, &rest))
        ;
    parts_drop(f, &rest);
    parts_drop(f, &f->gathered);
    mailbox_free(f->mailbox);
    free(f);
}
