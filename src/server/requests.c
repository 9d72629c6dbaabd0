/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c - how other threads speak with the scheduler: a message there, a condition back.
 *
 * An asker may give up (10 s, 2 s while the database takes no writes), the scheduler may still be
 * at it: the message is counted, the side that lets go last frees it. What comes when the database
 * is known to take none is refused at once: that nothing was changed is worth more than a place in
 * the queue. */
#include "base/clock.h"
#include "base/mem.h"
#include "server/log_page.h"
#include "server/state.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS 10000
#define TROUBLE_MS 2000 /* the same while commits fail */
#define LOOK_MS 200
#define KEEP_KILLS_MS 3600000 /* of which nobody has taken the answer */

enum request_kind {
    REQUEST_EDIT,
    REQUEST_EDITS,
    REQUEST_WRITE,
    REQUEST_TRIGGER,
    REQUEST_KILL,
    REQUEST_LOG,
    REQUEST_KNOWN,
    REQUEST_GROUP,
    REQUEST_WITHDRAWN,
    REQUEST_EXECUTORS,
    REQUEST_FORGET,
    REQUEST_PROBE,
    REQUEST_STORY,
    REQUEST_GROUPS,
    REQUEST_KEYS,
};

struct request {
    struct message message;
    struct list_node node; /* in center.asks while the scheduler is at it */
    enum request_kind kind;
    pthread_mutex_t lock; /* guards refs and done; the rest belongs to one side at a time */
    pthread_cond_t ready;
    int refs;
    bool done;
    int64_t begun_ms; /* the asker's */
    /* question */
    struct edit *edit;
    struct edit **edits; /* a bundle: those that no other side has; NULL in the place of others */
    int nedits, nback;
    int which;                                  /* of the edits was refused; -1: none */
    struct ledger_entry *entry;                 /* while no other side has it */
    void (*heard)(struct center *c, void *arg); /* of a write; NULL: no one */
    struct spawn spawn;
    int64_t id, trigger_ms; /* log id, group id or job id */
    int64_t inbox_id;       /* of a kill that another server has been asked for; 0: by a thread */
    struct trace_root trace;
    int64_t group_id;     /* of a call */
    struct key_sent sent; /* with the call */
    enum edit_kind edit_kind;
    int from_line;
    char *address;
    /* answer */
    enum err err;
    struct why why;
    int64_t log_id;
    char text[256];
    struct center_group group;
    struct sched_withdrawn withdrawn;
    struct center_keys keys;
    struct center_group *groups;
    size_t ngroups, cgroups;
    struct center_log log;
    struct asked_executors *executors;
    struct center_probe probe;
    struct story story;
    int64_t begun_us;           /* boot */
    struct transport_call call; /* REQUEST_LOG, REQUEST_PROBE */
    struct transport_page page;
};

struct asked_executors { /* a filter with all that it borrows, and what it finds */
    struct executors_filter f;
    struct scope scope, groups;
    int64_t *ids; /* of both */
    char *after, *only;
    struct center_executors found;
};

static void asked_executors_free(struct asked_executors *a)
{
    if (!a)
        return;
    free(a->ids);
    free(a->after);
    free(a->only);
    center_executors_done(&a->found);
    free(a);
}

static struct request *request_new(enum request_kind kind)
{
    struct request *a = mem_new(sizeof(*a));
    a->message.kind = MESSAGE_REQUEST;
    a->kind = kind;
    a->refs = 2;
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->ready, &attr);
    pthread_condattr_destroy(&attr);
    return a;
}

static void request_put(struct request *a)
{
    pthread_mutex_lock(&a->lock);
    bool last = --a->refs == 0;
    pthread_mutex_unlock(&a->lock);
    if (!last)
        return;
    edit_free(a->edit);
    for (int i = 0; i < a->nedits; i++)
        edit_free(a->edits[i]);
    free(a->edits);
    if (a->entry) /* its asker has given up */
        ledger_entry_end(a->entry, ERR_TIMEOUT);
    spawn_done(&a->spawn);
    free(a->address);
    free(a->log.content);
    asked_executors_free(a->executors);
    center_keys_done(&a->keys);
    free(a->groups);
    pthread_cond_destroy(&a->ready);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* Asker's side: wait for the answer to what was posted. A center that stops meanwhile does not say
 * so to messages that it never opened: look from time to time. */
static enum err request_wait_posted(struct center *c, struct request *a)
{
    pthread_mutex_lock(&a->lock);
    bool late = false;
    while (!a->done && !late && !c->closed) {
        int64_t patience_ms = writer_in_trouble(c->writer) ? TROUBLE_MS : PATIENCE_MS;
        late = clock_boot_ms() - a->begun_ms >= patience_ms;
        struct timespec look = clock_after_ms(LOOK_MS);
        if (!late)
            pthread_cond_timedwait(&a->ready, &a->lock, &look);
    }
    enum err err = a->done ? a->err : late ? ERR_TIMEOUT : ERR_STOPPING;
    pthread_mutex_unlock(&a->lock);
    return err;
}

static void request_post(struct center *c, struct request *a)
{
    a->begun_ms = clock_boot_ms();
    mailbox_send(c->mailbox, &a->message);
}

static enum err request_wait(struct center *c, struct request *a)
{
    request_post(c, a);
    return request_wait_posted(c, a);
}

/* Scheduler's side: everything that is an answer has been written. */
static void request_answer(struct request *a, enum err err)
{
    list_remove(&a->node);
    pthread_mutex_lock(&a->lock);
    a->err = err;
    a->done = true;
    pthread_cond_signal(&a->ready);
    pthread_mutex_unlock(&a->lock);
    request_put(a);
}

/* ---- the scheduler's side ---------------------------------------------------------------------
 */

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
    if (act->err)
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

/* ---- the askers' side --------------------------------------------------------------------------
 */

/* The last word about an ask: its reason, or that nothing was heard. */
static enum err request_end(struct request *a, enum err err, struct why *why)
{
    if (err == ERR_TIMEOUT)
        why_set(why, "not confirmed in time: the database may be unavailable (see /readyz); "
                     "the request may still take effect");
    else if (err)
        why_set(why, "%s", a->why.text[0] ? a->why.text : err_text(err));
    request_put(a);
    return err;
}

/* Is what the request holds the asker's? Else it goes with the last that lets go of it. */
static bool request_answered(struct request *a)
{
    pthread_mutex_lock(&a->lock);
    bool yes = a->done;
    pthread_mutex_unlock(&a->lock);
    return yes;
}

struct request *center_edit_ask(struct center *c, struct edit *e)
{
    struct request *a = request_new(REQUEST_EDIT);
    a->edit = e;
    request_post(c, a);
    return a;
}

enum err center_edit_answer(struct center *c, struct request *a, struct edit **ret, struct why *why)
{
    enum err err = request_wait_posted(c, a);
    if (request_answered(a) && a->edit) {
        if (!a->edit->why.text[0])
            a->edit->why = a->why; /* it was refused before the scheduler had it */
        edit_end(a->edit, err);
    }
    if (!err) {
        *ret = a->edit;
        a->edit = NULL;
    }
    return request_end(a, err, why);
}

enum err center_edit(struct center *c, struct edit *e, struct edit **ret, struct why *why)
{
    return center_edit_answer(c, center_edit_ask(c, e), ret, why);
}

enum err center_edits(struct center *c, struct edit **edits, int n, int *ret_which, struct why *why)
{
    struct request *a = request_new(REQUEST_EDITS);
    a->edits = mem_new((size_t)n * sizeof(*edits));
    memcpy(a->edits, edits, (size_t)n * sizeof(*edits));
    a->nedits = n;
    a->which = -1;
    edits[0]->bundle = n;
    enum err err = request_wait(c, a);
    bool answered = request_answered(a);
    *ret_which = answered ? a->which : -1;
    for (int i = 0; answered && i < n; i++)
        if (a->edits[i])
            edit_end(a->edits[i], err);
    for (int i = 0; i < n; i++) {
        edits[i] = err ? NULL : a->edits[i];
        if (!err)
            a->edits[i] = NULL;
    }
    return request_end(a, err, why);
}

enum err center_write(struct center *c, const struct ledger_write *write, void *arg,
                      struct why *why)
{
    return center_write_heard(c, write, NULL, arg, why);
}

enum err center_write_heard(struct center *c, const struct ledger_write *write,
                            void (*heard)(struct center *c, void *arg), void *arg, struct why *why)
{
    struct request *a = request_new(REQUEST_WRITE);
    a->heard = heard;
    a->entry = ledger_entry_new(write, arg);
    enum err err = request_wait(c, a);
    struct ledger_entry *e = request_answered(a) ? a->entry : NULL;
    if (e) {
        a->entry = NULL;
        e->why = a->why;
        ledger_entry_end(e, err);
    }
    return request_end(a, err, why);
}

void center_write_later(struct center *c, const struct ledger_write *write, void *arg)
{
    struct request *a = request_new(REQUEST_WRITE);
    a->entry = ledger_entry_new(write, arg);
    mailbox_send(c->mailbox, &a->message);
    request_put(a);
}

struct request *center_trigger_ask(struct center *c, struct spawn *spawn)
{
    struct request *a = request_new(REQUEST_TRIGGER);
    a->spawn = *spawn;
    memset(spawn, 0, sizeof(*spawn));
    request_post(c, a);
    return a;
}

enum err center_trigger_answer(struct center *c, struct request *a, int64_t *ret_log_id,
                               struct why *why)
{
    enum err err = request_wait_posted(c, a);
    if (!err)
        *ret_log_id = a->log_id;
    return request_end(a, err, why);
}

enum err center_trigger(struct center *c, struct spawn *spawn, int64_t *ret_log_id, struct why *why)
{
    return center_trigger_answer(c, center_trigger_ask(c, spawn), ret_log_id, why);
}

enum err center_kill(struct center *c, int64_t log_id, char *ret_text, struct why *why)
{
    struct request *a = request_new(REQUEST_KILL);
    a->id = log_id;
    enum err err = request_wait(c, a);
    if (!err)
        memcpy(ret_text, a->text, sizeof(a->text));
    return request_end(a, err, why);
}

enum err center_log_page(struct center *c, const struct center_log_of *of, int from_line,
                         struct center_log *ret, struct why *why)
{
    struct request *a = request_new(REQUEST_LOG);
    a->address = mem_dup(of->address);
    a->group_id = of->group_id;
    a->id = of->log_id;
    a->trigger_ms = of->trigger_ms;
    a->trace = of->trace;
    a->from_line = from_line;
    enum err err = request_wait(c, a);
    if (!err) {
        *ret = a->log;
        a->log.content = NULL;
    }
    return request_end(a, err, why);
}

bool center_address_known(struct center *c, int64_t group_id, struct slice address)
{
    struct request *a = request_new(REQUEST_KNOWN);
    a->id = group_id;
    a->address = mem_dupn(address.n ? address.p : "", address.n);
    return request_end(a, request_wait(c, a), NULL) == OK;
}

enum err center_group_live(struct center *c, int64_t group_id, struct center_group *ret,
                           struct why *why)
{
    struct request *a = request_new(REQUEST_GROUP);
    a->id = group_id;
    enum err err = request_wait(c, a);
    if (!err)
        *ret = a->group;
    return request_end(a, err, why);
}

enum err center_group_keys(struct center *c, int64_t group_id, struct center_keys *ret,
                           struct why *why)
{
    struct request *a = request_new(REQUEST_KEYS);
    a->id = group_id;
    enum err err = request_wait(c, a);
    if (!err) {
        *ret = a->keys;
        a->keys = (struct center_keys){ .n = 0 };
    }
    return request_end(a, err, why);
}

void center_keys_done(struct center_keys *k)
{
    for (int i = 0; i < k->n; i++)
        free(k->waiting[i].address);
    free(k->waiting);
}

enum err center_withdrawn(struct center *c, int64_t job_id, enum edit_kind kind,
                          struct sched_withdrawn *ret, struct why *why)
{
    struct request *a = request_new(REQUEST_WITHDRAWN);
    a->id = job_id;
    a->edit_kind = kind;
    enum err err = request_wait(c, a);
    if (!err)
        *ret = a->withdrawn;
    return request_end(a, err, why);
}

static struct scope scope_copy(const struct scope *from, int64_t *ids)
{
    struct scope to = { scope_is_all(from), ids, scope_is_all(from) ? 0 : from->n };
    if (to.n)
        memcpy(ids, from->ids, to.n * sizeof(*ids));
    return to;
}

static struct asked_executors *asked_executors_new(const struct executors_filter *f)
{
    struct asked_executors *a = mem_new(sizeof(*a));
    size_t n = scope_is_all(f->scope) ? 0 : f->scope->n, more = f->groups ? f->groups->n : 0;
    a->ids = mem_new((n + more + 1) * sizeof(*a->ids));
    a->scope = scope_copy(f->scope, a->ids);
    a->groups = scope_copy(f->groups, a->ids + n);
    a->after = mem_dup(f->after);
    a->only = mem_dup(f->only);
    a->f = *f;
    a->f.scope = &a->scope;
    a->f.groups = f->groups ? &a->groups : NULL;
    a->f.after = a->after;
    a->f.only = a->only;
    return a;
}

enum err center_executors(struct center *c, const struct executors_filter *f,
                          struct center_executors *ret, struct why *why)
{
    struct request *a = request_new(REQUEST_EXECUTORS);
    a->executors = asked_executors_new(f);
    enum err err = request_wait(c, a);
    *ret = (struct center_executors){ NULL, 0, 0 };
    if (!err) {
        *ret = a->executors->found;
        a->executors->found = (struct center_executors){ NULL, 0, 0 };
    }
    return request_end(a, err, why);
}

void center_executors_done(struct center_executors *e)
{
    for (int i = 0; i < e->n; i++)
        executor_view_done(&e->items[i]);
    free(e->items);
    *e = (struct center_executors){ NULL, 0, 0 };
}

enum err center_forget(struct center *c, const char *address, struct why *why)
{
    struct request *a = request_new(REQUEST_FORGET);
    a->address = mem_dup(address);
    return request_end(a, request_wait(c, a), why);
}

enum err center_probe(struct center *c, int64_t group_id, const char *address,
                      struct center_probe *ret, struct why *why)
{
    struct request *a = request_new(REQUEST_PROBE);
    a->group_id = group_id;
    a->address = mem_dup(address);
    enum err err = request_wait(c, a);
    if (!err)
        *ret = a->probe;
    return request_end(a, err, why);
}

enum err center_story(struct center *c, int64_t log_id, struct story *ret, struct why *why)
{
    struct request *a = request_new(REQUEST_STORY);
    a->id = log_id;
    enum err err = request_wait(c, a);
    if (!err)
        *ret = a->story;
    return request_end(a, err, why);
}

enum err center_groups_live(struct center *c, struct center_group **ret, size_t *ret_n,
                            struct why *why)
{
    struct request *a = request_new(REQUEST_GROUPS);
    enum err err = request_wait(c, a);
    *ret = NULL;
    *ret_n = 0;
    if (!err) {
        *ret = a->groups;
        *ret_n = a->ngroups;
        a->groups = NULL;
    }
    return request_end(a, err, why);
}
