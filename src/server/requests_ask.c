/* SPDX-License-Identifier: Apache-2.0 */
/* requests_ask.c - what any other thread may ask of the scheduler (center.h): it makes a request,
 * posts it, and waits. */
#include "server/request.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

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
