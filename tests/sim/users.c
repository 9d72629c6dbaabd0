/* SPDX-License-Identifier: Apache-2.0 */
/* users.c - people and scripts: they make groups and jobs, change, start, stop and delete them,
 * trigger and kill runs. What they do not hear about (the center crashed) they look up later, as
 * people do: nothing is assumed to have happened. */
#include "sim.h"
#include "store/memory/memory.h"
#include "cron/rfc3339.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX 60

/* ---- looking at the disk --------------------------------------------------------------------- */

static int64_t any_key(struct sim *s, enum mem_table t)
{
    size_t n;
    int64_t *keys = mem_keys(memory_of(s->store), t, &n);
    int64_t key = n ? keys[dice_below(&s->dice, (uint32_t)n)] : 0;
    free(keys);
    return key;
}

static size_t count(struct sim *s, enum mem_table t)
{
    return memory_of(s->store)->tables[t].len;
}

/* ---- edits ----------------------------------------------------------------------------------- */

static void give(struct sim *s, struct edit *e)
{
    if (!s->sched) {
        edit_free(e);
        return;
    }
    s->edits++;
    sim_trace(s, "a user edits: kind %d of %lld", e->kind, (long long)e->id);
    sched_edit(s->sched, sim_now(s), e);
    center_pump(s);
}

void users_edited(struct sim *s, struct edit *e)
{
    sim_trace(s, "edit answered: kind %d of %lld: %s %s", e->kind, (long long)e->id,
              e->err ? err_name(e->err) : "OK", e->why.text);
    check_edited(s, e);
    edit_free(e);
}

void users_spawned(struct sim *s, const struct action *a)
{
    sim_trace(s, "trigger answered: %s, run %lld", a->err ? err_name(a->err) : "OK",
              (long long)a->log_id);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static char *list_by_hand(struct sim *s)
{
    char text[512] = "";
    size_t at = 0;
    for (int i = 0; i < s->nexecs; i++)
        if (sim_chance(s, 500000))
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? "," : "",
                                   s->execs[i].address);
    if (sim_chance(s, 300000)) /* no executor ever lives there */
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ", " : "",
                               "http://10.9.9.9:9999/");
    return at ? mem_dup(text) : NULL;
}

static void group_fill(struct sim *s, struct group_record *g, int app)
{
    char name[16];
    snprintf(name, sizeof(name), "app-%d", app);
    g->app = mem_dup(name);
    g->title = mem_dup("executors");
    g->address_type = sim_chance(s, 150000);
    g->address_list = g->address_type ? list_by_hand(s) : NULL;
}

static void group_make(struct sim *s, struct event *ev)
{
    if (center_frozen(s, ev))
        return;
    struct edit *e = edit_new(EDIT_GROUP_INSERT);
    group_fill(s, &e->group, (int)ev->a);
    if (s->calm || s->sched == NULL) {
        edit_free(e);
        sim_send(s, 500, group_make, ev->a, 0, NULL);
        return;
    }
    give(s, e);
}

static void group_edit(struct sim *s)
{
    int64_t id = any_key(s, T_GROUP);
    const struct group_record *old = mem_find(memory_of(s->store), T_GROUP, id);
    if (!old)
        return;
    struct edit *e = edit_new(EDIT_GROUP_UPDATE);
    e->id = id;
    group_fill(s, &e->group, old->app[4] - '0');
    e->group.id = id;
    give(s, e);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void set(char **field, const char *text)
{
    free(*field);
    *field = mem_dup(text);
}

/* A cron that comes to its end: some scheduled times of one minute. */
static void bounded_fill(struct sim *s, struct job_record *r)
{
    char text[RFC3339_SIZE], conf[64];
    rfc3339_format(wall_ms(s) + sim_between(s, 0, 90000), zone_utc(), text);
    const char *date = text, *time = text + 11; /* 2024-02-29T12:00:00.123Z */
    snprintf(conf, sizeof(conf), "%s %.2s %.2s %.2s %.2s ? %.4s",
             sim_chance(s, 500000) ? "0/7" : "3,41", time + 3, time, date + 8, date + 5, date);
    set(&r->zone, NULL);
    set(&r->schedule_type, "CRON");
    set(&r->schedule_conf, conf);
}

static const char *any_route(struct sim *s)
{
    return route_text((enum route)dice_below(&s->dice, ROUTE_COUNT));
}

static void schedule_fill(struct sim *s, struct job_record *r, bool busy)
{
    static const char *const often[] = { "* * * * * ?", "*/2 * * * * ?", "0/3 * * * * ?" };
    static const char *const seldom[] = { "0/5 * * * * ?", "7,23,41 * * * * ?", "0 * * * * ?",
                                          "0/20 * * ? * *", "30 0/2 * * * ?" };
    static const char *const rates[] = { "1", "2", "10", "15", "700ms", "1500ms", "30" };
    static const char *const delays[] = { "1", "3", "10", "500ms", "2500ms" };
    static const char *const zones[] = { NULL, NULL, "America/New_York", "Australia/Lord_Howe",
                                         "Asia/Shanghai" };
    uint32_t type = busy ? dice_below(&s->dice, 2) : dice_below(&s->dice, 10);
    char text[RFC3339_SIZE];
    set(&r->zone, zones[dice_below(&s->dice, countof(zones))]);
    set(&r->dst, sim_chance(s, 800000) ? "smart" : "xxl");
    if (s->choked && sim_chance(s, 800000)) { /* idle now, busy in a moment */
        static const char *const now_and_then[] = { "0/5 * * * * ?", "0/6 * * * * ?",
                                                    "1/8 * * * * ?", "2/10 * * * * ?" };
        set(&r->schedule_type, "CRON");
        set(&r->schedule_conf, now_and_then[dice_below(&s->dice, countof(now_and_then))]);
    } else if (type < 1 || type == 5) {
        set(&r->schedule_type, "CRON");
        set(&r->schedule_conf, busy ? often[dice_below(&s->dice, countof(often))]
                                    : seldom[dice_below(&s->dice, countof(seldom))]);
    } else if (type < 3) {
        set(&r->schedule_type, "FIX_RATE");
        set(&r->schedule_conf,
            busy ? rates[dice_below(&s->dice, 2)] : rates[dice_below(&s->dice, countof(rates))]);
    } else if (type < 5) {
        set(&r->schedule_type, "FIX_DELAY");
        set(&r->schedule_conf, delays[dice_below(&s->dice, countof(delays))]);
    } else if (type == 6) {
        set(&r->schedule_type, "ONCE");
        set(&r->schedule_conf,
            rfc3339_format(wall_ms(s) + sim_between(s, 500, 60000), zone_utc(), text));
    } else if (type == 7) {
        set(&r->schedule_type, "NONE");
        set(&r->schedule_conf, "");
    } else if (sim_chance(s, 200000)) {
        bounded_fill(s, r);
    } else {
        set(&r->schedule_type, "CRON");
        set(&r->schedule_conf, seldom[dice_below(&s->dice, countof(seldom))]);
    }
}

static void job_fill(struct sim *s, struct job_record *r, bool busy)
{
    static const char *const conf[] = { "wait", "resend" };
    char text[64];
    r->group_id = any_key(s, T_GROUP);
    schedule_fill(s, r, busy);
    set(&r->misfire, misfire_text((enum misfire)dice_below(&s->dice, MISFIRE_COUNT)));
    set(&r->route, any_route(s));
    set(&r->block,
        block_text(s->choked || sim_chance(s, 600000) ? BLOCK_SERIAL
                                                      : (enum block)dice_below(&s->dice, 3)));
    set(&r->on_doubt, conf[dice_below(&s->dice, 2)]);
    set(&r->handler, "handler");
    set(&r->param, "p");
    set(&r->glue_type, "BEAN");
    r->retries = sim_chance(s, 600000) ? (int)sim_between(s, 1, 3) : 0;
    r->retry_delay_ms = sim_chance(s, 500000) ? sim_between(s, 0, 3000) : 5000;
    r->retry_backoff = sim_chance(s, 300000) ? 2 : 1;
    r->start_deadline_ms = sim_chance(s, 300000) ? sim_between(s, 1000, 20000) : 60000;
    r->misfire_max = (int)sim_between(s, 1, 20);
    snprintf(text, sizeof(text), "job of seed %llu", (unsigned long long)s->seed);
    set(&r->description, text);
    r->enabled = sim_chance(s, 900000);
    if (strcmp(r->schedule_type, "NONE") == 0)
        r->enabled = false;
}

/* Ids of jobs that exist and are younger than none: a chain has no cycle. */
static void children_fill(struct sim *s, struct job_record *r)
{
    int64_t a = any_key(s, T_JOB), b = any_key(s, T_JOB);
    const struct job_record *x = mem_find(memory_of(s->store), T_JOB, a);
    if (!x || x->children)
        return;
    char text[64];
    snprintf(text, sizeof(text), sim_chance(s, 500000) ? "%lld" : "%lld, %lld", (long long)a,
             (long long)b);
    set(&r->children, text);
}

static void job_insert(struct sim *s, bool busy)
{
    if (s->inserted++ >= JOBS_MAX)
        return;
    struct edit *e = edit_new(EDIT_JOB_INSERT);
    job_fill(s, &e->job, busy);
    if (s->inserted % 2) /* no dice: nothing of the core looks at it */
        set(&e->job.alarm_email, "who@example.org, them@example.org");
    if (!busy && sim_chance(s, 250000))
        children_fill(s, &e->job);
    if (busy)
        e->job.enabled = true;
    give(s, e);
}

/* What an edit may change beside schedule, route, group and parameter. */
static void others_fill(struct sim *s, struct job_record *r)
{
    if (sim_chance(s, 300000))
        set(&r->description, sim_chance(s, 500000) ? "better said" : "worse");
    if (sim_chance(s, 100000))
        set(&r->block, block_text((enum block)dice_below(&s->dice, BLOCK_COUNT)));
    if (sim_chance(s, 100000))
        set(&r->misfire, misfire_text((enum misfire)dice_below(&s->dice, MISFIRE_COUNT)));
    if (sim_chance(s, 100000))
        set(&r->on_doubt, sim_chance(s, 500000) ? "wait" : "resend");
    if (sim_chance(s, 100000))
        set(&r->alarm_email, "who@example.org");
    if (sim_chance(s, 100000))
        r->timeout_s = (int)sim_between(s, 0, 60);
    if (sim_chance(s, 100000))
        r->misfire_max = (int)sim_between(s, 1, 20);
    if (sim_chance(s, 100000))
        r->start_deadline_ms = sim_between(s, 1000, 60000);
    if (sim_chance(s, 100000))
        r->retry_delay_ms = sim_between(s, 0, 5000);
    if (sim_chance(s, 100000))
        r->retry_backoff = (double)sim_between(s, 1, 2);
    if (r->children && sim_chance(s, 100000)) {
        free(r->children);
        r->children = NULL;
    }
}

static void job_edit(struct sim *s, enum edit_kind kind)
{
    int64_t id = any_key(s, T_JOB);
    const struct job_record *old = mem_find(memory_of(s->store), T_JOB, id);
    if (!old)
        return;
    struct edit *e = edit_new(kind);
    e->id = id;
    if (kind == EDIT_JOB_UPDATE) {
        struct job_record *r = &e->job;
        job_record_copy(r, old);
        if (sim_chance(s, 500000))
            schedule_fill(s, r, false);
        if (sim_chance(s, 300000))
            set(&r->route, any_route(s));
        if (sim_chance(s, 300000))
            r->retries = (int)sim_between(s, 0, 3);
        if (sim_chance(s, 200000))
            set(&r->param, sim_chance(s, 500000) ? "p" : "q");
        set(&r->handler, r->retries % 2 ? "other" : "handler");
        if (sim_chance(s, 50000))
            r->group_id = any_key(s, T_GROUP);
        others_fill(s, r);
        if (sim_chance(s, 50000))
            set(&r->schedule_conf, "nonsense");
    }
    give(s, e);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void trigger(struct sim *s)
{
    struct spawn spawn = { .job_id = any_key(s, T_JOB),
                           .kind = sim_chance(s, 500000) ? KIND_MANUAL : KIND_API,
                           .scheduled_ms = wall_ms(s),
                           .due_ms = wall_ms(s),
                           .retries_left = -1,
                           .reply = s };
    if (!spawn.job_id)
        return;
    if (sim_chance(s, 30000))
        spawn.job_id = 9999;
    if (sim_chance(s, 500000))
        spawn.param = mem_dup("by hand");
    if (sim_chance(s, 400000))
        spawn.choices = list_by_hand(s);
    sim_trace(s, "a user triggers job %lld at %s", (long long)spawn.job_id,
              spawn.choices ? spawn.choices : "the group's");
    sched_trigger(s->sched, sim_now(s), &spawn);
    center_pump(s);
}

static void kill_one(struct sim *s)
{
    int64_t id = any_key(s, T_RUN);
    if (!id)
        return;
    sim_trace(s, "a user kills %lld", (long long)id);
    ghost_of(s, id)->kill_asked = true;
    sched_kill(s->sched, sim_now(s), id, s);
    center_pump(s);
}

/* Another program sets the next-scheduled time column back to a scheduled time that has been
 * served. */
static void meddle(struct sim *s)
{
    const struct due_row *old = mem_find(memory_of(s->store), T_DUE, any_key(s, T_DUE));
    if (!old || old->next_ms == NEVER_MS || old->planned_until_ms <= wall_ms(s))
        return; /* farther back it would ask for scheduled times from before the job was started */
    const struct job_record *j = mem_find(memory_of(s->store), T_JOB, old->job_id);
    if (strcmp(j->schedule_type, "CRON") != 0)
        return; /* a rate's phase would move, and the checker could not follow */
    struct due_row row = *old;
    struct why why = { "" };
    row.next_ms = old->planned_until_ms - sim_between(s, 0, 8000);
    s->shadows[row.job_id].meddled = true;
    sim_trace(s, "another program sets the next scheduled time of job %lld to %lld",
              (long long)row.job_id, (long long)row.next_ms);
    sim_must(s, store_memory_ops.txn->begin(s->store, &why), &why);
    sim_must(s, store_memory_ops.runs->due_put(s->store, &row, 1, &why), &why);
    sim_must(s, store_memory_ops.txn->commit(s->store, NULL, &why), &why);
}

static void act_once(struct sim *s)
{
    uint32_t what = dice_below(&s->dice, 100);
    if (what < 30)
        trigger(s);
    else if (what < 40)
        kill_one(s);
    else if (what < 55)
        job_edit(s, EDIT_JOB_UPDATE);
    else if (what < 68)
        job_edit(s, EDIT_JOB_STOP);
    else if (what < 88)
        job_edit(s, EDIT_JOB_START);
    else if (what < 91)
        job_edit(s, EDIT_JOB_DELETE);
    else if (what < 94)
        job_insert(s, false);
    else if (what < 96)
        meddle(s);
    else
        group_edit(s);
}

void users_act(struct sim *s, struct event *e)
{
    if (s->calm || center_frozen(s, e))
        return;
    if (s->sched && center_step(s)) {
        if ((int)count(s, T_GROUP) == s->ngroups) {
            if ((int)count(s, T_JOB) < s->njobs_wanted && s->boot_ms < 15000)
                job_insert(s, (int)count(s, T_JOB) < 3);
            else if (count(s, T_JOB) < 3)
                job_insert(s, true);
            else
                act_once(s);
        }
    }
    bool more = s->boot_ms < 15000 || sim_chance(s, 200000); /* often several close together */
    sim_send(s, more ? sim_between(s, 0, 40) : sim_between(s, 500, 12000), users_act, 0, 0, NULL);
}

/* The end: every job is stopped, and stopped again until it stands in the database. */
static void stop_all(struct sim *s, struct event *e)
{
    (void)e;
    size_t n;
    int64_t *keys = mem_keys(memory_of(s->store), T_JOB, &n);
    bool more = false;
    for (size_t i = 0; i < n && s->sched; i++) {
        const struct job_record *r = mem_find(memory_of(s->store), T_JOB, keys[i]);
        if (!r || !r->enabled)
            continue;
        struct edit *stop = edit_new(EDIT_JOB_STOP);
        stop->id = keys[i];
        give(s, stop);
        more = true;
    }
    free(keys);
    if (more || !s->sched)
        sim_send(s, 2000, stop_all, 0, 0, NULL);
}

void users_stop_all(struct sim *s)
{
    sim_send(s, 0, stop_all, 0, 0, NULL);
}

void users_init(struct sim *s)
{
    s->njobs_wanted = (int)sim_between(s, s->choked ? 14 : 5, 16);
    for (int i = 0; i < s->ngroups; i++)
        sim_send(s, 1, group_make, i, 0, NULL);
}
