/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c - what other threads ask of the scheduler, on the scheduler's thread: it opens a
 * request (request.h), and answers it at once, with a commit, or with the answer of an executor.
 *
 * What comes when the database is known to take none is refused at once: that nothing was changed
 * is worth more than a place in the queue. */
#include "server/request.h"
#include "base/clock.h"
#include "base/mem.h"
#include "server/log_page.h"
#include <stdio.h>
#include <stdlib.h>

#define KEEP_KILLS_MS 3600000 /* whose answer no server has read */

/* In the order in which they were given. */
static void bundle_back(struct request *a, struct edit *e)
{
    if (e->err && e->why.text[0]) {
        a->which = a->nback;
        a->why = e->why;
    }
    a->edits[a->nback++] = e;
    if (a->nback == a->nedits)
        request_answer(a, e->err);
}

static void bundle_open(struct center *c, struct now now, struct request *a)
{
    for (int i = 0; i < a->nedits; i++) {
        struct edit *e = a->edits[i];
        a->edits[i] = NULL;
        e->reply = a;
        sched_edit(c->sched, now, e);
    }
}

void request_edited(struct center *c, struct edit *e)
{
    struct request *a = e->reply;
    if (!e->err && (e->kind == EDIT_GROUP_INSERT || e->kind == EDIT_GROUP_UPDATE))
        keys_group(c->keys, e->id, e->group.app ? e->group.app : "");
    else if (!e->err && e->kind == EDIT_GROUP_DELETE)
        keys_group(c->keys, e->id, NULL);
    if (!e->err && e->kind > EDIT_JOB_DELETE) {
        c->groups_seq = sched_committed(c->sched);
        heard_again(c->heard, e->id);
    }
    if (!a) {
        edit_free(e);
        return;
    }
    if (a->kind == REQUEST_EDITS) {
        bundle_back(a, e);
        return;
    }
    a->edit = e;
    a->why = e->why;
    request_answer(a, e->err);
}

void requests_written(struct center *c, struct list *writes)
{
    for (struct list_node *n; (n = list_pop(writes));) {
        struct ledger_entry *e = container_of(n, struct ledger_entry, node);
        if (e->err == ERR_MORE) {
            list_push(&c->writes, &e->node);
            sched_want_batch(c->sched);
            continue;
        }
        struct request *a = e->reply;
        if (!e->err && a->heard)
            a->heard(c, e->arg);
        a->entry = e;
        a->why = e->why;
        request_answer(a, e->err);
    }
}

void request_spawned(struct center *c, const struct action *act)
{
    (void)c;
    struct request *a = act->reply;
    a->log_id = act->log_id;
    if (act->err == ERR_NOTFOUND)
        why_set(&a->why, "there is no such job");
    request_answer(a, act->err);
}

/* ---- kills that other servers have been asked for ---- */

struct kill_answer {
    int64_t inbox_id;
    enum inbox_answer code;
    char text[256];
};

static enum err answer_run(struct store *s, void *arg, struct why *why)
{
    const struct kill_answer *k = arg;
    return s->ops->cluster->inbox_answer(s, k->inbox_id, k->code, k->text,
                                         clock_wall_ms() - KEEP_KILLS_MS, why);
}

static void answer_done(void *arg, enum err err, const struct why *why)
{
    (void)err; /* its asker looks whether the run has ended, too */
    (void)why;
    free(arg);
}

static const struct ledger_write answer_write = { answer_run, answer_done };

static enum inbox_answer answer_of(enum err err)
{
    return err == OK             ? INBOX_DONE
           : err == ERR_NOTFOUND ? INBOX_ENDED_BEFORE
           : err == ERR_BUSY     ? INBOX_OTHER_KILL
                                 : INBOX_REFUSED;
}

static void kill_answer(struct center *c, int64_t inbox_id, const struct action *act)
{
    struct kill_answer *k = mem_new(sizeof(*k));
    k->inbox_id = inbox_id;
    k->code = answer_of(act->err);
    text_copy(k->text, sizeof(k->text), slice_text(act->text));
    center_write_later(c, &answer_write, k);
}

void request_kill(struct center *c, const struct inbox_row *row)
{
    list_each(&c->requests, n, tmp)
    {
        if (container_of(n, struct request, node)->inbox_id == row->id)
            return; /* it is read until it is answered */
    }
    struct request *a = request_new(REQUEST_KILL);
    a->id = row->log_id;
    a->inbox_id = row->id;
    list_push(&c->requests, &a->node);
    request_put(a); /* no thread waits */
    sched_kill(c->sched, center_now(), a->id, a);
}

void request_killed(struct center *c, const struct action *act)
{
    struct request *a = act->reply;
    if (a->inbox_id)
        kill_answer(c, a->inbox_id, act);
    snprintf(a->text, sizeof(a->text), "%s", act->text);
    if (act->err)
        why_set(&a->why, "%s", act->text);
    request_answer(a, act->err);
}

static void request_log(struct center *c, struct request *a);

static void log_done(struct transport_call *call, struct call_result *r)
{
    struct request *a = container_of(call, struct request, call);
    if (calls_again(call->arg, a->group_id, a->address, &a->sent, r)) {
        request_log(call->arg, a);
        return;
    }
    request_answer(a, log_page_of(call, &a->page, r, a->address, a->from_line, &a->log, &a->why));
}

static void request_log(struct center *c, struct request *a)
{
    struct call call = { .kind = CALL_LOG,
                         .address = a->address,
                         .group_id = a->group_id,
                         .log_id = a->id,
                         .log_time_ms = a->trigger_ms,
                         .root = a->trace };
    a->page = (struct transport_page){ .from_line = a->from_line };
    a->call = (struct transport_call){ .page = &a->page, .done = log_done, .arg = c };
    calls_begin(c, &call, &a->call, &a->sent);
}

static void count_address(void *ctx, const char *address, bool dead)
{
    (void)address;
    struct center_group *to = ctx;
    to->total++;
    to->up += !dead;
}

static void request_group(struct center *c, struct request *a)
{
    sched_addresses(c->sched, a->id, count_address, &a->group);
    request_answer(a, OK);
}

struct asked_keys {
    struct center *c;
    struct request *a;
};

static void add_key(void *ctx, const char *address, bool dead)
{
    (void)dead;
    const struct asked_keys *asked = ctx;
    struct center_keys *to = &asked->a->keys;
    enum key_used used = keys_used(asked->c->keys, asked->a->id, address);
    if (used == KEY_NEXT) {
        to->moved++;
        return;
    }
    to->left++;
    if (to->n < CENTER_KEYS_MAX)
        to->waiting[to->n++] = (struct center_key){ mem_dup(address), used == KEY_OLD };
}

static void request_keys(struct center *c, struct request *a)
{
    struct asked_keys asked = { c, a };
    a->keys.waiting = mem_new(CENTER_KEYS_MAX * sizeof(*a->keys.waiting));
    sched_addresses(c->sched, a->id, add_key, &asked);
    request_answer(a, OK);
}

/* ---- executors ---- */

static void take_executor(void *ctx, const struct executor_view *v)
{
    struct center_executors *to = ctx;
    executor_view_copy(&to->items[to->n++], v);
}

static void request_executors(struct center *c, struct request *a)
{
    struct asked_executors *e = a->executors;
    e->found.items = mem_new((size_t)e->f.limit * sizeof(*e->found.items));
    e->found.total = sched_executors(c->sched, center_now(), &e->f, take_executor, &e->found);
    request_answer(a, OK);
}

static void request_probe(struct center *c, struct request *a);

static void probe_done(struct transport_call *call, struct call_result *r)
{
    struct request *a = container_of(call, struct request, call);
    struct center *c = call->arg;
    if (calls_again(c, a->group_id, a->address, &a->sent, r)) {
        request_probe(c, a);
        return;
    }
    struct center_probe *to = &a->probe;
    bool answered = r->outcome == CALL_ANSWERED;
    int n = (int)(r->msg.n ? utf8_cut(r->msg.p, r->msg.n, 400) : 0);
    to->reachable = answered;
    to->took_us = clock_boot_us() - a->begun_us;
    if (answered)
        snprintf(to->said, sizeof(to->said), "code %d%s%.*s", r->code, n ? ": " : "", n,
                 n ? r->msg.p : "");
    else
        snprintf(to->said, sizeof(to->said), "%.*s", n, n ? r->msg.p : "");
    if (r->outcome == CALL_FULL) {
        why_set(&a->why, "too many calls to %s are under way, try again", a->address);
        request_answer(a, ERR_FULL);
        return;
    }
    r->address = a->address;
    sched_probed(c->sched, center_now(), r);
    to->nbusy = sched_busy(c->sched, a->address, to->busy);
    request_answer(a, OK);
}

static void request_probe(struct center *c, struct request *a)
{
    struct call call = { .kind = CALL_BEAT, .address = a->address, .group_id = a->group_id };
    a->begun_us = clock_boot_us();
    a->call = (struct transport_call){ .done = probe_done, .arg = c };
    calls_begin(c, &call, &a->call, &a->sent);
}

/* ---- a center that stops ---- */

static void add_group(void *ctx, int64_t group_id, int addresses, int up)
{
    struct request *a = ctx;
    if (a->ngroups == a->cgroups) {
        a->cgroups = a->cgroups ? 2 * a->cgroups : 64;
        a->groups = mem_resize(a->groups, a->cgroups * sizeof(*a->groups));
    }
    a->groups[a->ngroups++] = (struct center_group){ group_id, addresses, up };
}

static int by_group(const void *a, const void *b)
{
    int64_t x = ((const struct center_group *)a)->id, y = ((const struct center_group *)b)->id;
    return (x > y) - (x < y);
}

static void request_groups(struct center *c, struct request *a)
{
    sched_groups(c->sched, add_group, a);
    if (a->ngroups)
        qsort(a->groups, a->ngroups, sizeof(*a->groups), by_group);
    request_answer(a, OK);
}

void request_refuse(struct message *l)
{
    request_answer(container_of(l, struct request, message), ERR_STOPPING);
}

void requests_refuse(struct center *c)
{
    struct list_node *n;
    while ((n = list_first(&c->requests))) {
        struct request *a = container_of(n, struct request, node);
        if (a->kind == REQUEST_LOG || a->kind == REQUEST_PROBE) /* still here: its call is open */
            (void)transport_abort(&a->call);
        request_answer(a, ERR_STOPPING);
    }
}

/* What would wait for a commit that is known to fail; a kill is for the executor first. */
static bool refused(struct center *c, struct request *a)
{
    char trouble[300];
    if (a->kind != REQUEST_EDIT && a->kind != REQUEST_EDITS && a->kind != REQUEST_WRITE &&
        a->kind != REQUEST_TRIGGER)
        return false;
    if (!writer_in_trouble(c->writer) || !writer_trouble(c->writer, trouble, sizeof(trouble)))
        return false;
    why_set(&a->why, "the database does not take writes, nothing was changed: %s", trouble);
    request_answer(a, ERR_IO);
    return true;
}

void request_open(struct center *c, struct message *l)
{
    struct request *a = container_of(l, struct request, message);
    struct now now = center_now();
    struct edit *e = a->edit;
    list_push(&c->requests, &a->node);
    if (refused(c, a))
        return;
    switch (a->kind) {
    case REQUEST_EDIT:
        e->reply = a;
        a->edit = NULL;
        sched_edit(c->sched, now, e);
        break;
    case REQUEST_EDITS:
        bundle_open(c, now, a);
        break;
    case REQUEST_WRITE:
        a->entry->reply = a;
        list_push(&c->writes, &a->entry->node);
        a->entry = NULL;
        sched_want_batch(c->sched);
        break;
    case REQUEST_TRIGGER:
        a->spawn.reply = a;
        a->spawn.scheduled_ms = a->spawn.due_ms = now.wall_ms;
        sched_trigger(c->sched, now, &a->spawn);
        break;
    case REQUEST_KILL:
        sched_kill(c->sched, now, a->id, a);
        break;
    case REQUEST_LOG:
        request_log(c, a);
        break;
    case REQUEST_KNOWN:
        request_answer(
            a, sched_address_known(c->sched, a->id, slice_text(a->address)) ? OK : ERR_NOTFOUND);
        break;
    case REQUEST_GROUP:
        request_group(c, a);
        break;
    case REQUEST_WITHDRAWN:
        sched_withdrawn(c->sched, a->id, a->edit_kind, &a->withdrawn);
        request_answer(a, OK);
        break;
    case REQUEST_EXECUTORS:
        request_executors(c, a);
        break;
    case REQUEST_FORGET:
        request_answer(a, sched_forget(c->sched, now, slice_text(a->address)) ? OK : ERR_NOTFOUND);
        break;
    case REQUEST_PROBE:
        request_probe(c, a);
        break;
    case REQUEST_STORY:
        request_answer(a, sched_story(c->sched, a->id, &a->story) ? OK : ERR_NOTFOUND);
        break;
    case REQUEST_GROUPS:
        request_groups(c, a);
        break;
    case REQUEST_KEYS:
        request_keys(c, a);
        break;
    }
}
