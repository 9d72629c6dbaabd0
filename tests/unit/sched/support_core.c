/* SPDX-License-Identifier: Apache-2.0 */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "store/memory/memory.h"

/* Of a loop that should have ended: the core wants something for ever. */
#define ROUNDS_MAX 100000

static enum err only_utc(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    if (name[0] && strcmp(name, "UTC") != 0) {
        why_set(why, "zone: unknown");
        return ERR_NOTFOUND;
    }
    *ret = zone_ref(zone_utc());
    return OK;
}

static void must(enum err err, const struct why *why)
{
    if (err)
        fail_msg("%s: %s", err_name(err), why->text);
}

/* ---- actions --------------------------------------------------------------------------------- */

static struct core_call call_copy(const struct core *c, const struct call *from)
{
    return (struct core_call){ .kind = from->kind,
                               .address = mem_dup(from->address),
                               .param = mem_dup(from->param),
                               .log_id = from->log_id,
                               .job_id = from->job_id,
                               .scheduled_ms = from->scheduled_ms,
                               .due_ms = from->due_ms,
                               .log_time_ms = from->log_time_ms,
                               .ticket = from->ticket,
                               .shard = from->shard,
                               .shard_total = from->shard_total,
                               .attempt = from->attempt,
                               .root = from->root,
                               .sent_wall_ms = c->now.wall_ms };
}

static void call_done(struct core_call *call)
{
    free(call->address);
    free(call->param);
}

static void on_call(struct core *c, const struct call *call)
{
    c->calls = mem_resize(c->calls, ((size_t)c->ncalls + 1) * sizeof(*c->calls));
    c->calls[c->ncalls++] = call_copy(c, call);
    if (call->kind != CALL_RUN)
        c->calls[c->ncalls - 1].left = true;
    else if (!c->opening)
        core_leaves(c, &c->calls[c->ncalls - 1]);
}

static void on_told(struct core *c, const struct action *a)
{
    struct core_told t = { .kind = a->kind, .err = a->err, .id = a->log_id, .reply = a->reply };
    snprintf(t.text, sizeof(t.text), "%s", a->text);
    if (a->kind == ACTION_EDITED) {
        t.err = a->edit->err;
        t.id = a->edit->id;
        t.reply = a->edit->reply;
        snprintf(t.text, sizeof(t.text), "%s", a->edit->why.text);
        edit_free(a->edit);
    }
    c->told = mem_resize(c->told, ((size_t)c->ntold + 1) * sizeof(*c->told));
    c->told[c->ntold++] = t;
}

static void on_action(struct core *c, struct action *a)
{
    switch (a->kind) {
    case ACTION_CALL:
        on_call(c, &a->call);
        break;
    case ACTION_ACK:
        free(a->ack);
        c->nacks++;
        break;
    case ACTION_WARM:
        c->nwarm++;
        break;
    default:
        on_told(c, a);
    }
}

static void pop_all(struct core *c)
{
    struct action a;
    while (sched_pop(c->s, &a))
        on_action(c, &a);
}

void core_pump(struct core *c)
{
    pop_all(c);
    for (int i = 0; c->executor && i < c->ncalls;) {
        struct call_result r = { .kind = c->calls[i].kind };
        if (!c->executor(c, &c->calls[i], &r)) {
            i++;
            continue;
        }
        core_reply(c, &c->calls[i], &r);
        i = 0; /* the list has moved */
    }
}

/* ---- the driver ------------------------------------------------------------------------------ */

bool core_take(struct core *c)
{
    assert_null(c->batch);
    c->batch = sched_take_batch(c->s, c->now);
    c->written = false;
    pop_all(c);
    return c->batch != NULL;
}

void core_write(struct core *c)
{
    assert_non_null(c->batch);
    txn_run(c->store, c->planner, NULL, c->batch, NULL);
    must(c->batch->err, &c->batch->why);
    c->written = true;
    assert_int_equal(core_unaccounted(c), 0);
}

void core_done(struct core *c)
{
    assert_true(c->written);
    struct batch *b = c->batch;
    c->batch = NULL;
    if (b->watermark.renewals) { /* as a server: the old file goes with the first commit */
        free(c->recorder[1 - c->own]);
        c->recorder[1 - c->own] = NULL;
    }
    sched_batch_done(c->s, c->now, b);
    core_pump(c);
}

bool core_commit(struct core *c)
{
    if (!c->batch && !core_take(c))
        return false;
    if (!c->written)
        core_write(c);
    core_done(c);
    return true;
}

static int64_t next_ms(const struct core *c)
{
    int64_t wall = sched_next_wall(c->s), boot = sched_next_boot(c->s);
    int64_t by_wall = wall == NEVER_MS ? NEVER_MS : wall - c->now.wall_ms + c->now.boot_ms;
    return by_wall < boot ? by_wall : boot;
}

static void pass(struct core *c, int64_t ms)
{
    c->now.wall_ms += ms;
    c->now.boot_ms += ms;
    sched_tick(c->s, c->now);
    core_pump(c);
}

void core_run(struct core *c, int64_t ms)
{
    int64_t end = c->now.boot_ms + ms;
    for (int i = 0; c->now.boot_ms < end; i++) {
        assert_true(i < ROUNDS_MAX);
        while (core_commit(c))
            ;
        int64_t next = next_ms(c);
        if (next <= c->now.boot_ms)
            next = c->now.boot_ms + 1;
        pass(c, (next < end ? next : end) - c->now.boot_ms);
    }
    while (core_commit(c))
        ;
}

void core_take_next(struct core *c)
{
    for (int i = 0; !core_take(c); i++) {
        assert_true(i < 100000);
        pass(c, 1);
    }
}

/* Batches start some milliseconds apart: so far time has to go on. */
void core_settle(struct core *c)
{
    for (int i = 0; !sched_drained(c->s) || c->batch; i++) {
        assert_true(i < 1000);
        if (!core_commit(c))
            pass(c, 1);
    }
}

void core_step_clock(struct core *c, int64_t by_ms)
{
    c->now.wall_ms += by_ms;
    sched_clock_stepped(c->s, c->now, by_ms);
    core_pump(c);
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool load_group(void *ctx, const struct group_record *g)
{
    sched_load_group(((struct core *)ctx)->s, g);
    return true;
}

static bool load_registry(void *ctx, const struct registry_record *r)
{
    struct core *c = ctx;
    sched_load_registry(c->s, c->now, r);
    return true;
}

struct loading {
    struct core *c;
    struct flight_said said;
};

static bool load_run(void *ctx, const struct run_row *row)
{
    struct loading *l = ctx;
    struct core *c = l->c;
    struct job_record r = core_job_row(c, row->job_id);
    struct job *j = job_new(&r, only_utc, NULL, 2125);
    job_record_done(&r);
    sched_load_run(c->s, c->now, row, j, flight_known(&l->said, row->log_id));
    job_unref(j);
    return true;
}

/* ---- the recorder: two files, used in turn ---- */

#define BOOT "the only boot"

static void recorder_drop(struct core *c, int i)
{
    free(c->recorder[i]);
    c->recorder[i] = NULL;
}

static void recorder_read(struct core *c, const struct watermark *watermark,
                          struct flight_said *said)
{
    const struct flight_head *h = NULL;
    c->own = 0;
    for (int i = 0; i < 2; i++) {
        if (!c->recorder[i] || strcmp(c->recorder[i]->id, watermark->recorder) != 0)
            continue;
        h = c->recorder[i];
        c->own = 1 - i;
    }
    struct why why = { "" };
    flight_read(h, h ? flight_bytes(h->slots) : 0, watermark, BOOT, said, &why);
}

static void recorder_new(struct core *c)
{
    recorder_drop(c, c->own);
    c->lives++;
    if (!c->slots)
        return;
    char id[RECORDER_ID_SIZE];
    snprintf(id, sizeof(id), "%032x", (unsigned)c->lives);
    c->recorder[c->own] = mem_new(flight_bytes(c->slots));
    flight_make(c->recorder[c->own], c->slots, BOOT, id);
    sched_record(c->s, c->recorder[c->own]);
}

const struct share core_alone = {
    .node = 1, .homes = { { 1, HOMES_WEIGHT } }, .n = 1, .living = 1
};

void core_start(struct core *c)
{
    struct planner_config p = { .zone_find = only_utc,
                                .last_year = 2125,
                                .misfire_threshold_ms = PLAN_MISFIRE_THRESHOLD_S * 1000,
                                .seed = 1 };
    struct why why = { "" };
    struct watermark watermark;
    c->s = sched_new(&c->config);
    if (c->shared)
        sched_share(c->s, &core_alone);
    c->planner = planner_new(&p);
    must(c->store->ops->txn->watermark_get(c->store, &watermark, &why), &why);
    sched_load_watermark(c->s, watermark.until_ms, watermark.clean);
    must(c->store->ops->catalog->groups_each(c->store, load_group, c, &why), &why);
    must(c->store->ops->catalog->registry_each(c->store, load_registry, c, &why), &why);
    struct loading l = { .c = c };
    recorder_read(c, &watermark, &l.said);
    must(c->store->ops->runs->runs_each(c->store, load_run, &l, &why), &why);
    flight_said_done(&l.said);
    recorder_new(c);
    sched_started(c->s, c->now);
    core_pump(c);
}

static void down(struct core *c)
{
    if (c->s)
        pop_all(c);
    batch_free(c->batch);
    c->batch = NULL;
    sched_free(c->s);
    planner_free(c->planner);
    c->s = NULL;
    c->planner = NULL;
    for (int i = 0; i < c->ncalls; i++)
        call_done(&c->calls[i]);
    c->ncalls = 0;
}

void core_crash(struct core *c)
{
    down(c);
}

void core_power_cut(struct core *c)
{
    down(c);
    recorder_drop(c, 0);
    recorder_drop(c, 1);
}

void core_stop(struct core *c)
{
    sched_drain(c->s);
    core_settle(c);
    down(c);
}

struct core *core_new(void)
{
    const struct store_options options = { .node = 1, .epoch = 1 };
    struct core *c = mem_new(sizeof(*c));
    sched_config_default(&c->config);
    c->config.seed = 7;
    c->now = (struct now){ CORE_NOW_MS, 1000000 };
    c->store = store_memory_new(&options);
    core_start(c);
    core_settle(c);
    assert_int_equal(core_group(c, "app", NULL), 1);
    return c;
}

void core_free(struct core *c)
{
    core_power_cut(c);
    store_close(c->store);
    for (int i = 0; i < c->nsent; i++)
        call_done(&c->sent[i]);
    free(c->sent);
    free(c->calls);
    free(c->told);
    free(c);
}

int core_setup(void **state)
{
    *state = core_new();
    return 0;
}

int core_teardown(void **state)
{
    core_free(*state);
    return 0;
}

/* ---- addresses ------------------------------------------------------------------------------- */

int64_t core_group(struct core *c, const char *app, const char *by_hand)
{
    struct edit *e = edit_new(EDIT_GROUP_INSERT);
    e->group.app = mem_dup(app);
    e->group.title = mem_dup(app);
    e->group.address_type = by_hand != NULL;
    e->group.address_list = mem_dup(by_hand);
    assert_int_equal(core_edit(c, e), OK);
    return c->told[c->ntold - 1].id;
}

void core_register(struct core *c, const char *app, const char *address)
{
    assert_true(sched_register(c->s, c->now, slice_text(app), slice_text(address), false));
    core_pump(c);
}

void core_unregister(struct core *c, const char *app, const char *address)
{
    sched_unregister(c->s, c->now, slice_text(app), slice_text(address));
    core_pump(c);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

void core_text(char **field, const char *text)
{
    free(*field);
    *field = mem_dup(text);
}

struct job_record core_record(const char *type, const char *conf)
{
    struct job_record r;
    job_record_init(&r);
    r.group_id = 1;
    r.description = mem_dup("a job");
    r.schedule_type = mem_dup(type);
    r.schedule_conf = mem_dup(conf);
    r.misfire = mem_dup("DO_NOTHING");
    r.route = mem_dup("FIRST");
    r.block = mem_dup("SERIAL_EXECUTION");
    r.handler = mem_dup("handler");
    r.param = mem_dup("p");
    r.glue_type = mem_dup("BEAN");
    r.enabled = strcmp(type, "NONE") != 0;
    return r;
}

int64_t core_job(struct core *c, const struct job_record *r)
{
    struct edit *e = edit_new(EDIT_JOB_INSERT);
    job_record_copy(&e->job, r);
    enum err err = core_edit(c, e);
    if (err)
        fail_msg("%s", c->told[c->ntold - 1].text);
    return c->told[c->ntold - 1].id;
}

int64_t core_simple_job(struct core *c, const char *type, const char *conf)
{
    struct job_record r = core_record(type, conf);
    int64_t id = core_job(c, &r);
    job_record_done(&r);
    return id;
}

struct job_record core_job_row(struct core *c, int64_t id)
{
    struct job_record r;
    struct why why = { "" };
    job_record_init(&r);
    must(c->store->ops->catalog->job_get(c->store, id, &r, &why), &why);
    return r;
}

enum err core_edit(struct core *c, struct edit *e)
{
    int before = c->ntold;
    void *watermark = &before;
    e->reply = watermark;
    sched_edit(c->s, c->now, e);
    for (int i = 0; i < 1000; i++) {
        if (!core_commit(c))
            pass(c, 1);
        for (int k = before; k < c->ntold; k++)
            if (c->told[k].kind == ACTION_EDITED && c->told[k].reply == watermark) {
                struct core_told t = c->told[k];
                c->told[k] = c->told[c->ntold - 1]; /* the newest is the one asked for */
                c->told[c->ntold - 1] = t;
                return t.err;
            }
    }
    fail_msg("the edit is never answered");
    return ERR_INVALID;
}

enum err core_update(struct core *c, int64_t id, struct job_record *r)
{
    struct edit *e = edit_new(EDIT_JOB_UPDATE);
    e->id = id;
    job_record_done(&e->job);
    e->job = *r;
    job_record_init(r);
    return core_edit(c, e);
}

enum err core_switch(struct core *c, int64_t id, enum edit_kind kind)
{
    struct edit *e = edit_new(kind);
    e->id = id;
    return core_edit(c, e);
}

int64_t core_trigger(struct core *c, int64_t job_id, const char *choices)
{
    int before = c->ntold;
    struct spawn spawn = { .job_id = job_id,
                           .kind = KIND_MANUAL,
                           .scheduled_ms = c->now.wall_ms,
                           .due_ms = c->now.wall_ms,
                           .retries_left = -1,
                           .choices = mem_dup(choices),
                           .reply = &before };
    sched_trigger(c->s, c->now, &spawn);
    for (int i = 0; i < 1000; i++) {
        if (!core_commit(c))
            pass(c, 1);
        for (int k = before; k < c->ntold; k++)
            if (c->told[k].kind == ACTION_SPAWNED && c->told[k].reply == &before)
                return c->told[k].err ? 0 : c->told[k].id;
    }
    fail_msg("the trigger is never answered");
    return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct core_call *core_call_of(struct core *c, enum call_kind kind, int64_t log_id)
{
    for (int i = 0; i < c->ncalls; i++)
        if (c->calls[i].kind == kind && c->calls[i].log_id == log_id)
            return &c->calls[i];
    return NULL;
}

int core_calls(const struct core *c, enum call_kind kind)
{
    int n = 0;
    for (int i = 0; i < c->ncalls; i++)
        n += c->calls[i].kind == kind;
    return n;
}

void core_reply(struct core *c, struct core_call *call, const struct call_result *r)
{
    assert_non_null(call);
    struct core_call one = *call;
    int at = (int)(call - c->calls);
    memmove(call, call + 1, (size_t)(--c->ncalls - at) * sizeof(*call));
    struct call_result result = *r;
    result.kind = one.kind;
    result.log_id = one.log_id;
    result.ticket = one.ticket;
    result.address = one.address;
    sched_on_call(c->s, c->now, &result);
    call_done(&one);
    pop_all(c);
}

bool core_leaves(struct core *c, struct core_call *call)
{
    assert_non_null(call);
    assert_false(call->left);
    call->left = sched_leaving(c->s, c->now, call->log_id, call->ticket);
    if (!call->left) {
        core_reply(c, call, &(struct call_result){ .outcome = CALL_AGAIN });
        return false;
    }
    c->sent = mem_resize(c->sent, ((size_t)c->nsent + 1) * sizeof(*c->sent));
    struct core_call *sent = &c->sent[c->nsent++];
    *sent = *call;
    sent->address = mem_dup(call->address);
    sent->param = mem_dup(call->param);
    sent->sent_wall_ms = c->now.wall_ms;
    return true;
}

void core_answer(struct core *c, struct core_call *call, int code, enum log_state log)
{
    struct call_result r = { .outcome = CALL_ANSWERED, .code = code, .log = log };
    core_reply(c, call, &r);
    core_pump(c);
}

void core_fails(struct core *c, struct core_call *call, enum call_outcome outcome)
{
    struct call_result r = { .outcome = outcome, .msg = slice_text("refused") };
    core_reply(c, call, &r);
    core_pump(c);
}

bool core_accepts(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    r->outcome = CALL_ANSWERED;
    r->code = 200;
    return call->kind == CALL_RUN || call->kind == CALL_BEAT;
}

void core_result(struct core *c, int64_t log_id, int code)
{
    struct ack *ack = mem_new(sizeof(*ack));
    int before = c->nacks;
    sched_result(c->s, c->now, log_id, code, slice_text(code == 200 ? "" : "failed"));
    sched_ack_after(c->s, c->now, ack);
    core_pump(c);
    for (int i = 0; i < 1000 && c->nacks == before; i++)
        if (!core_commit(c))
            pass(c, 1);
    assert_int_not_equal(c->nacks, before);
}

/* ---- what the store holds -------------------------------------------------------------------- */

struct run_row *core_row(struct core *c, int64_t log_id)
{
    struct mem_run *r = mem_find(memory_of(c->store), T_RUN, log_id);
    return r ? &r->row : NULL;
}

int core_rows(struct core *c, int64_t job_id, struct run_row **rows, int max)
{
    size_t n;
    int found = 0;
    int64_t *keys = mem_keys(memory_of(c->store), T_RUN, &n);
    for (size_t i = 0; i < n; i++) {
        struct run_row *r = core_row(c, keys[i]);
        if (job_id && r->job_id != job_id)
            continue;
        assert_true(found < max);
        rows[found++] = r;
    }
    free(keys);
    return found;
}

bool core_log(struct core *c, int64_t log_id, struct log_record *ret)
{
    struct why why = { "" };
    memset(ret, 0, sizeof(*ret));
    return c->store->ops->pages->log_get(c->store, log_id, ret, &why) == OK;
}

int core_times_sent(const struct core *c, int64_t job_id, int64_t scheduled_ms)
{
    int n = 0;
    for (int i = 0; i < c->nsent; i++)
        n += c->sent[i].job_id == job_id && c->sent[i].scheduled_ms == scheduled_ms;
    return n;
}

int64_t core_unaccounted(struct core *c)
{
    struct totals t;
    struct why why = { "" };
    int64_t open;
    must(c->store->ops->txn->totals_get(c->store, &t, &open, &why), &why);
    return totals_unaccounted(&t, open);
}
