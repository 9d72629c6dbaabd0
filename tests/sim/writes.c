/* SPDX-License-Identifier: Apache-2.0 */
/* writes.c - writes that are not scheduling (ledger/write.h): users and sessions, some in several
 * parts, some refused after they have written something.
 *
 * They have dice of their own, so that a seed's history is the same with them and without; in one
 * seed of four they also ask for batches. What is promised: a write that was heard of stands in the
 * database whole, a part that was committed too, one that was refused has left no trace, each is
 * told its end once. */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>

#define PARTS 3

enum write_kind { WRITE_SESSION, WRITE_PARTS, WRITE_USER, WRITE_REFUSED, WRITE_KINDS };

struct sim_write {
    struct sim *s;
    enum write_kind kind;
    int64_t number;
    int parts; /* committed, as far as the checker knows */
};

static void digest(const struct sim_write *w, int part, char ret[65])
{
    snprintf(ret, 65, "%lld-%d", (long long)w->number, part);
}

static bool there(struct store *store, const struct sim_write *w, int part)
{
    struct session_record found;
    char text[65];
    digest(w, part, text);
    return store_memory_ops.users->session_find(store, text, &found, NULL) == OK;
}

static enum err session_put(struct store *store, const struct sim_write *w, int part,
                            struct why *why)
{
    struct session_record r = { .user_id = w->number };
    digest(w, part, r.digest);
    return store->ops->users->session_put(store, &r, why);
}

/* Names come again and again: most inserts are refused. The session is the trace that a refused
 * one must not leave. */
static enum err user_run(struct store *store, const struct sim_write *w, struct why *why)
{
    char name[32];
    snprintf(name, sizeof(name), "user-%lld", (long long)(w->number % 7));
    struct user_record r = { .username = name, .password = "" };
    enum err err = session_put(store, w, 0, why);
    return err ? err : store->ops->users->user_insert(store, &r, why);
}

static enum err write_run(struct store *store, void *arg, struct why *why)
{
    const struct sim_write *w = arg;
    int part = 0;
    if (w->kind == WRITE_USER)
        return user_run(store, w, why);
    while (w->kind == WRITE_PARTS && part < PARTS - 1 && there(store, w, part))
        part++;
    enum err err = session_put(store, w, part, why);
    if (!err && w->kind == WRITE_PARTS && part < PARTS - 1)
        err = ERR_MORE;
    if (!err && w->kind == WRITE_REFUSED)
        err = ERR_INVALID;
    return err;
}

static void write_done(void *arg, enum err err, const struct why *why)
{
    (void)why;
    struct sim_write *w = arg;
    struct sim *s = w->s;
    int parts = w->kind == WRITE_PARTS ? PARTS : 1;
    if (err != ERR_STOPPING && w->parts != (err ? 0 : parts))
        sim_fail(s, "writes", "write %lld ends with %s and has %d parts", (long long)w->number,
                 err ? err_name(err) : "OK", w->parts);
    for (int i = 0; err == OK && i < parts; i++)
        if (!there(s->store, w, i))
            sim_fail(s, "writes", "part %d of write %lld was heard of and is gone", i,
                     (long long)w->number);
    free(w);
}

static bool chance(struct sim *s, uint32_t of_1000)
{
    return dice_below(&s->write_dice, 1000) < of_1000;
}

static const struct ledger_write write_of_ours = { write_run, write_done };

static void offer(struct sim *s)
{
    struct sim_write *w = mem_new(sizeof(*w));
    w->s = s;
    w->kind = (enum write_kind)dice_below(&s->write_dice, WRITE_KINDS);
    w->number = ++s->nwrites;
    list_push(&s->writes, &ledger_entry_new(&write_of_ours, w)->node);
}

static bool wants_batches(const struct sim *s)
{
    return hash_u64(s->seed) % 4 == 0;
}

void writes_init(struct sim *s)
{
    s->write_dice.state = hash_u64(s->seed + 1);
    list_init(&s->writes);
    list_init(&s->written_with);
}

void writes_taken(struct sim *s)
{
    for (int i = 0; i < 3 && chance(s, 30); i++)
        offer(s);
    list_move(&s->written_with, &s->writes);
}

/* How many parts stand in the database; all of them lie in front of those that do not. */
static int parts_of(struct sim *s, const struct sim_write *w)
{
    int n = 0;
    for (int i = 0; i < PARTS; i++) {
        if (!there(s->store, w, i))
            continue;
        if (n++ != i)
            sim_fail(s, "writes", "write %lld has part %d and not the one before",
                     (long long)w->number, i);
    }
    return n;
}

void writes_check(struct sim *s)
{
    list_each(&s->written_with, n, tmp)
    {
        const struct ledger_entry *e = container_of(n, struct ledger_entry, node);
        if (e->write != &write_of_ours) {
            sim_must(s, e->err, &e->why); /* of alarms.c */
            continue;
        }
        struct sim_write *w = e->arg;
        int parts = parts_of(s, w);
        bool refused = e->err && e->err != ERR_MORE;
        if (parts != w->parts + !refused)
            sim_fail(s, "writes", "write %lld: %s, with %d parts and %d before",
                     (long long)w->number, e->err ? err_name(e->err) : "OK", parts, w->parts);
        if ((e->err == ERR_MORE) != (w->kind == WRITE_PARTS && parts < PARTS) ||
            refused != (w->kind == WRITE_REFUSED || e->err == ERR_EXISTS))
            sim_fail(s, "writes", "write %lld ends with %s", (long long)w->number,
                     e->err ? err_name(e->err) : "OK");
        w->parts = parts;
    }
}

void writes_heard(struct sim *s)
{
    for (struct list_node *n; (n = list_pop(&s->written_with));) {
        struct ledger_entry *e = container_of(n, struct ledger_entry, node);
        if (e->err == ERR_MORE)
            list_push(&s->writes, n);
        else
            ledger_entry_end(e, e->err);
    }
    if (wants_batches(s) && !s->calm && chance(s, 20))
        offer(s);
    if (wants_batches(s) && !list_empty(&s->writes))
        sched_want_batch(s->sched);
}

void writes_drop(struct sim *s)
{
    ledger_entries_end(&s->writes, ERR_STOPPING);
    ledger_entries_end(&s->written_with, ERR_STOPPING);
}
