/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - every look makes the list of what holds now; what has held for as long as its rule asks
 * is opened, what is open and does not hold any more is closed, in one write. Nothing is written
 * where nothing changes.
 *
 * What holds is remembered between looks, with the time since when. What a user has closed is so
 * not opened again until it was over once; a restart forgets that. An executor that was silent and
 * has been dropped from the registry is gone still: only one that is up again is not.
 *
 * Of several servers on one database each looks, so that each knows since when something holds; the
 * first one alone writes what it has found. What concerns a server itself (CAUSE_CENTER) is written
 * by that server: the check is named with it, "disk@two". */
#include "alarm/watch.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include "alarm/skips.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cron/rfc3339.h"
#include "server/ages.h"

#define LOOK_MS 5000
#define EVENT_MS 60000     /* what is no state (an error, a step of the clock) holds for so long */
#define CLOCK_STEP_MS 2000 /* of the wall clock against the other one, between two looks */
#define LATE_MAX 500       /* jobs of a rule that are looked at */
#define ALARMS_MAX 500     /* open alarms of a rule that are looked at */
#define EXECUTORS_MAX 5000 /* read at once */
#define HELD_MAX 20000     /* remembered */

struct held { /* it held at the last look */
    struct condition c;
    const struct rule_record *rule; /* of this look */
    int64_t since_ms, look;         /* boot; the last look at which it held */
    bool open, opened;              /* there is an alarm; there has been one */
};

struct counter { /* of errors */
    uint64_t was;
    int64_t until_ms; /* boot: it holds until then */
};

struct watch {
    struct watch_config c;
    const char *node; /* of several; NULL: it has the database alone */
    struct mailbox *in;
    struct message stop;
    pthread_t thread;
    struct textmap held; /* key_of -> struct held */
    int nheld;
    int64_t look, now_ms; /* number; boot */
    struct counter commits, journal, clock, values;
    int64_t wall_minus_boot_ms;
    struct skips skips;
    struct rule_record *rules; /* that watch, of this look */
    int nrules, crules;
    struct conditions *changes; /* NULL: none yet */
};

bool watch_disk_low(uint64_t free, uint64_t all)
{
    return free < all / 20;
}

/* ---- what holds ------------------------------------------------------------------------------ */

#define KEY_SIZE 400

static struct slice key_of(const struct condition *c, char to[KEY_SIZE])
{
    int n = snprintf(to, KEY_SIZE, "%lld/%lld/%lld/%d/%s", (long long)c->rule_id,
                     (long long)c->group_id, (long long)c->job_id, c->cause, c->address);
    return slice_of(to, n < KEY_SIZE ? (size_t)n : KEY_SIZE - 1);
}

static void holds(struct watch *w, const struct rule_record *r, const struct condition *c)
{
    char key[KEY_SIZE];
    struct condition it = *c;
    it.rule_id = r->id;
    struct slice name = key_of(&it, key);
    struct held *h = textmap_find(&w->held, name);
    if (!h && w->nheld >= HELD_MAX)
        return;
    if (!h) {
        h = mem_new(sizeof(*h));
        h->since_ms = w->now_ms;
        textmap_set(&w->held, name, h);
        w->nheld++;
    }
    h->c = it;
    h->rule = r;
    h->look = w->look;
}

/* ---- late jobs ------------------------------------------------------------------------------- */

struct late {
    struct watch *w;
    const struct rule_record *rule;
};

/* waits: it may still be sent, so that counts of enabled jobs only. A job that was due once has
 * ended with its skipped firing. */
static void late_holds(struct late *x, int64_t job_id, int64_t scheduled_ms, bool waits)
{
    struct store *db = x->w->c.reader;
    struct job_record job;
    struct why why = { "" };
    struct condition c = { .job_id = job_id, .cause = CAUSE_GROUP };
    char text[RFC3339_SIZE];
    job_record_init(&job);
    bool there = !db->ops->catalog->job_get(db, job_id, &job, &why);
    c.group_id = job.group_id;
    snprintf(c.text, sizeof(c.text),
             waits ? "not sent since it was due at %s UTC"
                   : "the misfire strategy skipped what was due at %s UTC",
             walltime_format(scheduled_ms, zone_utc(), text));
    if (there && (job.enabled || !waits) && rule_is_of(x->rule, job.group_id, job_id))
        holds(x->w, x->rule, &c);
    job_record_done(&job);
}

static bool job_is_late(void *ctx, int64_t job_id, int64_t scheduled_ms)
{
    late_holds(ctx, job_id, scheduled_ms, true);
    return true;
}

static enum err look_for_late(struct watch *w, const struct rule_record *r, struct why *why)
{
    struct late x = { w, r };
    int64_t now_ms = clock_wall_ms();
    enum err err = w->c.reader->ops->rules->jobs_late(w->c.reader, now_ms - r->longer_ms, LATE_MAX,
                                                      job_is_late, &x, why);
    for (int i = 0; !err && i < w->skips.n; i++)
        if (skips_late(&w->skips.rows[i], r->longer_ms, r->created_ms, now_ms))
            late_holds(&x, w->skips.rows[i].job_id, w->skips.rows[i].to_ms, false);
    return err;
}

/* ---- groups and executors -------------------------------------------------------------------- */

static enum err look_for_empty(struct watch *w, const struct rule_record *r, struct why *why)
{
    struct center_group *all = NULL;
    size_t n = 0;
    enum err err = center_groups_live(w->c.center, &all, &n, why);
    for (size_t i = 0; !err && i < n; i++) {
        bool enabled = false;
        const struct condition c = { .group_id = all[i].id,
                                     .cause = CAUSE_NO_EXECUTOR,
                                     .text = "the group has enabled jobs and no executor" };
        if (all[i].total || (r->group_id && r->group_id != all[i].id))
            continue;
        err = w->c.reader->ops->rules->group_enabled(w->c.reader, all[i].id, &enabled, why);
        if (!err && enabled)
            holds(w, r, &c);
    }
    free(all);
    return err;
}

/* Up: what was known of it is over. */
static void executor_is_back(struct watch *w, struct condition *c)
{
    char key[KEY_SIZE];
    struct held *h = textmap_find(&w->held, key_of(c, key));
    if (h)
        h->look = -1;
}

static void look_at_executor(struct watch *w, const struct rule_record *r,
                             const struct executor_view *v)
{
    for (size_t i = 0; i < v->ngroups; i++) {
        struct condition c = { .rule_id = r->id,
                               .group_id = v->groups[i],
                               .cause = CAUSE_EXECUTOR };
        if (r->group_id && r->group_id != v->groups[i])
            continue;
        text_copy(c.address, sizeof(c.address), slice_text(v->address));
        if (v->state == EXECUTOR_SILENT)
            snprintf(c.text, sizeof(c.text), "it has not beaten for a minute or longer");
        else if (v->state == EXECUTOR_REFUSING)
            snprintf(c.text, sizeof(c.text), "%.250s",
                     v->error ? v->error : "it refuses connections");
        if (c.text[0])
            holds(w, r, &c);
        else
            executor_is_back(w, &c);
    }
}

/* Those that were gone and are not known any more are gone still. */
static void keep_gone(struct watch *w, const struct rule_record *r)
{
    void *value;
    for (size_t i = 0; textmap_next(&w->held, &i, &value);) {
        struct held *h = value;
        if (h->c.rule_id == r->id && h->look == w->look - 1) {
            h->look = w->look;
            h->rule = r;
        }
    }
}

static enum err look_for_gone(struct watch *w, const struct rule_record *r, struct why *why)
{
    const struct executors_filter f = { .scope = NULL, .limit = EXECUTORS_MAX };
    struct center_executors all = { .n = 0 };
    enum err err = center_executors(w->c.center, &f, &all, why);
    if (err)
        return err;
    for (int i = 0; i < all.n; i++)
        look_at_executor(w, r, &all.items[i]);
    keep_gone(w, r);
    center_executors_done(&all);
    return OK;
}

/* ---- the center ------------------------------------------------------------------------------ */

static void ill(struct watch *w, const struct rule_record *r, const char *check, const char *text)
{
    struct condition c = { .cause = CAUSE_CENTER };
    if (w->node) {
        snprintf(c.address, sizeof(c.address), "%s%c%s", check, INCIDENT_NODE, w->node);
        snprintf(c.text, sizeof(c.text), "server %.128s: %s", w->node, text);
    } else {
        text_copy(c.address, sizeof(c.address), slice_text(check));
        text_copy(c.text, sizeof(c.text), slice_text(text));
    }
    holds(w, r, &c);
}

static void count(struct watch *w, struct counter *c, uint64_t now)
{
    if (now > c->was)
        c->until_ms = w->now_ms + EVENT_MS;
    c->was = now;
}

/* Once a look, whatever the rules. */
static void count_all(struct watch *w, bool first)
{
    struct metrics *m = center_metrics(w->c.center);
    int64_t offset_ms = clock_wall_ms() - clock_boot_ms();
    int64_t step_ms = offset_ms - w->wall_minus_boot_ms;
    count(w, &w->commits, m->batch_errors);
    count(w, &w->values, m->refused);
    count(w, &w->journal, m->journal_full + m->journal_errors);
    if (!first && (step_ms > CLOCK_STEP_MS || step_ms < -CLOCK_STEP_MS))
        w->clock.until_ms = w->now_ms + EVENT_MS;
    w->wall_minus_boot_ms = offset_ms;
}

static void look_at_disk(struct watch *w, const struct rule_record *r)
{
    struct statvfs fs;
    char text[200];
    if (statvfs(w->c.data, &fs))
        return; /* what cannot be written is told by the database */
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    snprintf(text, sizeof(text), "%llu MiB are free for the data folder, less than 5 %%",
             (unsigned long long)(free_bytes >> 20));
    if (watch_disk_low(free_bytes, (uint64_t)fs.f_blocks * fs.f_frsize))
        ill(w, r, "disk", text);
}

static void look_at_backup(struct watch *w, const struct rule_record *r)
{
    const struct metrics *m = center_metrics(w->c.center);
    int64_t last_ms = m->backup_ms > m->started_ms ? m->backup_ms : m->started_ms;
    int64_t every_ms = m->backup_every_ms; /* SIGHUP changes it */
    if (every_ms && clock_wall_ms() - last_ms > 2 * every_ms)
        ill(w, r, "backup", "the newest backup is more than twice as old as it should become");
}

static enum err look_at_center(struct watch *w, const struct rule_record *r, struct why *why)
{
    (void)why;
    struct center_health health;
    center_health(w->c.center, &health);
    if (!health.fires && !health.draining)
        ill(w, r, "horizon", "nothing fires: the dispatch watermark has not been renewed");
    if (!health.store_ok || w->now_ms < w->commits.until_ms)
        ill(w, r, "database", "the database has refused a commit within the last minute");
    if (w->now_ms < w->journal.until_ms)
        ill(w, r, "journal", "the journal of results was full, or could not be written");
    if (w->now_ms < w->values.until_ms)
        ill(w, r, "values",
            "the database did not take a value within the last minute, and it was left out: the "
            "log says which");
    bool stepped;
    (void)ages_held(center_metrics(w->c.center), &stepped);
    if (stepped)
        ill(w, r, "clock",
            "the clock of this machine was set by more than 10 minutes: nothing is deleted by its "
            "age for an hour");
    else if (w->now_ms < w->clock.until_ms)
        ill(w, r, "clock", "the clock of this machine was set by more than 2 s");
    look_at_disk(w, r);
    look_at_backup(w, r);
    return OK;
}

/* ---- one look -------------------------------------------------------------------------------- */

static bool keep_rule(void *ctx, const struct rule_record *r)
{
    struct watch *w = ctx;
    if (!r->enabled || !rule_watches(r->kind))
        return true;
    if (w->nrules == w->crules) {
        w->crules = w->crules ? w->crules * 2 : 8;
        w->rules = mem_resize(w->rules, (size_t)w->crules * sizeof(*w->rules));
    }
    rule_record_copy(&w->rules[w->nrules++], r);
    return true;
}

/* Is it this server that writes it? Checks without a name are from a life that was alone. */
static bool is_own(const struct watch *w, const struct condition *c)
{
    const char *of = c->cause == CAUSE_CENTER ? strchr(c->address, INCIDENT_NODE) : NULL;
    if (w->node && of)
        return strcmp(of + 1, w->node) == 0;
    return center_first(w->c.center);
}

static void change(struct watch *w, const struct condition *c, bool over)
{
    if (!is_own(w, c))
        return;
    if (!w->changes)
        w->changes = mem_new(sizeof(*w->changes));
    if (w->changes->n == CONDITIONS_MAX)
        return; /* the next look has it */
    struct condition *to = &w->changes->items[w->changes->n++];
    *to = *c;
    to->over = over;
}

/* Of an executor that was gone before this process began. */
static bool is_up(struct watch *w, const struct condition *c)
{
    const struct executors_filter f = { .only = c->address, .limit = 1 };
    struct center_executors found = { .n = 0 };
    struct why why = { "" };
    bool up = false;
    if (center_executors(w->c.center, &f, &found, &why))
        return false;
    for (size_t i = 0; found.n && i < found.items[0].ngroups; i++)
        up |= found.items[0].state == EXECUTOR_UP && found.items[0].groups[i] == c->group_id;
    center_executors_done(&found);
    return up;
}

/* The alarm, or its job, is there: does the state hold still? */
static void alarm_there(struct watch *w, const struct rule_record *r, const struct condition *c)
{
    char key[KEY_SIZE];
    struct held *h = textmap_find(&w->held, key_of(c, key));
    bool still = h && h->look == w->look;
    if (still)
        h->open = h->opened = true;
    else if (r->kind != RULE_GONE || h || is_up(w, c))
        change(w, c, true);
}

struct alarms_of {
    struct watch *w;
    const struct rule_record *rule;
    int64_t ids[ALARMS_MAX], groups[ALARMS_MAX];
    int n;
};

static bool keep_alarm(void *ctx, const struct incident_record *i)
{
    struct alarms_of *x = ctx;
    struct condition c = { .rule_id = i->rule_id, .group_id = i->group_id, .cause = i->cause };
    text_copy(c.address, sizeof(c.address), slice_text(i->address ? i->address : ""));
    if (x->rule->kind != RULE_LATE)
        alarm_there(x->w, x->rule, &c);
    x->groups[x->n] = i->group_id;
    x->ids[x->n++] = i->id;
    return x->n < ALARMS_MAX;
}

struct jobs_of {
    struct alarms_of *of;
    int64_t group_id;
};

static bool job_there(void *ctx, const struct incident_job *j)
{
    struct jobs_of *x = ctx;
    const struct condition c = {
        .rule_id = j->rule_id, .group_id = x->group_id, .job_id = j->job_id, .cause = CAUSE_GROUP
    };
    if (j->closed_ms < 0)
        alarm_there(x->of->w, x->of->rule, &c);
    return true;
}

static enum err look_at_alarms(struct watch *w, const struct rule_record *r, struct why *why)
{
    const struct store_rules *ops = w->c.reader->ops->rules;
    const struct incidents_filter f = {
        .open = 1, .rule_id = r->id, .below_id = INT64_MAX, .limit = ALARMS_MAX
    };
    struct alarms_of *x = mem_new(sizeof(*x));
    int64_t total;
    x->w = w;
    x->rule = r;
    enum err err = ops->incidents_page(w->c.reader, &f, keep_alarm, x, &total, why);
    for (int i = 0; !err && r->kind == RULE_LATE && i < x->n; i++) {
        struct jobs_of of = { x, x->groups[i] };
        err = ops->incident_jobs_each(w->c.reader, x->ids[i], LATE_MAX, job_there, &of, why);
    }
    free(x);
    return err;
}

/* What holds long enough and has no alarm gets one; what does not hold any more is forgotten. */
static void open_new(struct watch *w)
{
    void *value;
    struct condition *over = mem_new(((size_t)w->nheld + 1) * sizeof(*over));
    size_t n = 0;
    for (size_t i = 0; textmap_next(&w->held, &i, &value);) {
        struct held *h = value;
        if (h->look != w->look) {
            over[n++] = h->c;
            if (h->opened && h->c.job_id) /* also out of an alarm that a user has closed */
                change(w, &h->c, true);
            continue;
        }
        int64_t longer_ms = h->rule->kind == RULE_LATE ? 0 : h->rule->longer_ms;
        if (!h->open && !h->opened && w->now_ms - h->since_ms >= longer_ms)
            change(w, &h->c, false);
        h->open = false;
    }
    for (size_t i = 0; i < n; i++) {
        char key[KEY_SIZE];
        free(textmap_take(&w->held, key_of(&over[i], key)));
        w->nheld--;
    }
    free(over);
}

/* Nothing is read where no rule asks for it; what was skipped before a first rule is not new. */
static enum err look_for_skips(struct watch *w, struct why *why)
{
    for (int i = 0; i < w->nrules; i++)
        if (w->rules[i].kind == RULE_LATE)
            return skips_look(&w->skips, w->c.reader, clock_wall_ms(), why);
    w->skips.n = 0;
    w->skips.begun = false;
    return OK;
}

static enum err look(struct watch *w, struct why *why)
{
    static enum err (*const kinds[RULE_KINDS])(struct watch *, const struct rule_record *,
                                               struct why *) = {
        [RULE_LATE] = look_for_late,
        [RULE_EMPTY] = look_for_empty,
        [RULE_GONE] = look_for_gone,
        [RULE_CENTER] = look_at_center,
    };
    w->now_ms = clock_boot_ms();
    w->look++;
    count_all(w, w->look == 1);
    enum err err = w->c.reader->ops->rules->rules_each(w->c.reader, keep_rule, w, why);
    if (!err)
        err = look_for_skips(w, why);
    for (int i = 0; !err && i < w->nrules; i++)
        err = kinds[w->rules[i].kind](w, &w->rules[i], why);
    for (int i = 0; !err && i < w->nrules; i++)
        err = look_at_alarms(w, &w->rules[i], why);
    if (err) {
        w->look--; /* what it has not seen is not over */
        return err;
    }
    open_new(w);
    if (!w->changes)
        return OK;
    w->changes->now_ms = clock_wall_ms();
    err = center_write(w->c.center, &conditions_write, w->changes, why);
    w->changes = NULL; /* the write's */
    if (!err)
        center_alarms_changed(w->c.center);
    return err;
}

static void work(struct watch *w)
{
    struct why why = { "" };
    enum err err = look(w, &why);
    if (err && err != ERR_STOPPING)
        log_warn("alarm", "cannot look for what rules ask for, trying again: %s", why.text);
    while (w->nrules > 0)
        rule_record_done(&w->rules[--w->nrules]);
    free(w->changes);
    w->changes = NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *watch_main(void *arg)
{
    struct watch *w = arg;
    struct list incoming;
    list_init(&incoming);
    for (;;) {
        mailbox_wait(w->in, LOOK_MS);
        if (mailbox_take(w->in, &incoming))
            return NULL; /* the only message is to stop */
        work(w);
    }
}

struct watch *watch_new(const struct watch_config *config)
{
    struct watch *w = mem_new(sizeof(*w));
    struct why why = { "" };
    w->c = *config;
    w->node = center_shares(config->center) ? center_node_name(config->center) : NULL;
    w->in = mailbox_new();
    textmap_init(&w->held);
    /* what is skipped from now on is new; if it cannot be read, what the first look finds is old */
    if (skips_look(&w->skips, w->c.reader, clock_wall_ms(), &why))
        log_warn("alarm", "cannot read which firings were skipped: %s", why.text);
    if (thread_start(&w->thread, "peal-watch", 0, watch_main, w))
        abort(); /* no threads at start: nothing can run */
    return w;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    mailbox_send(w->in, &w->stop);
    pthread_join(w->thread, NULL);
    mailbox_free(w->in);
    void *h;
    for (size_t i = 0; textmap_next(&w->held, &i, &h);)
        free(h);
    textmap_done(&w->held);
    free(w->rules);
    store_close(w->c.reader);
    free(w);
}
