/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - one alarm of a rule as a message. How often a job has failed is not written down at
 * each failure: the figures know it. */
#include "alarm/digest.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "cron/rfc3339.h"

#define TITLE_NAME 120 /* bytes of a name in the title */

struct digest {
    struct incident_record alarm;
    struct rule_record rule; /* all zero where it has gone */
    struct tell_record tell;
    int n;
    struct alarm_item items[ALARM_ITEMS_MAX]; /* names and causes owned */
    char since[ALARM_ITEMS_MAX][RFC3339_SIZE];
    char title[400], key[48], event[48];
    char check[31]; /* of the center; the text names the server */
};

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
    struct digest *d;
    struct figures *figures;
    const struct zone *zone;
};

static bool add_job(void *ctx, const struct incident_job *j)
{
    struct reading *x = ctx;
    struct digest *d = x->d;
    struct job_stat stat;
    int i = d->n++;
    rfc3339_format(j->since_ms, x->zone, d->since[i]);
    d->items[i] = (struct alarm_item){ .job_id = j->job_id,
                                       .log_id = j->log_id,
                                       .cause = mem_dup(or_empty(j->text)),
                                       .since = d->since[i],
                                       .open = j->closed_ms < 0 };
    if (d->alarm.kind == RULE_SLOW)
        d->items[i].took_ms = j->took_ms;
    else if (d->alarm.kind == RULE_FAILED && figures_job(x->figures, j->job_id, &stat))
        d->items[i].failures = stat.streak;
    return true;
}

static void names_read(struct digest *d, struct store *reader)
{
    for (int i = 0; i < d->n; i++) {
        struct job_record job;
        struct why why = { "" };
        job_record_init(&job);
        bool there = !reader->ops->catalog->job_get(reader, d->items[i].job_id, &job, &why);
        d->items[i].job = mem_dup(there ? or_empty(job.description) : "");
        job_record_done(&job);
    }
}

static enum err rows_read(struct reading *x, struct store *reader, int64_t tell_id, struct why *why)
{
    const struct store_rules *ops = reader->ops->rules;
    struct digest *d = x->d;
    enum err err = ops->tell_get(reader, tell_id, &d->tell, why);
    if (!err)
        err = ops->incident_get(reader, d->tell.incident_id, &d->alarm, why);
    if (!err)
        err = ops->incident_jobs_each(reader, d->alarm.id, ALARM_ITEMS_MAX, add_job, x, why);
    if (err)
        return err;
    err = ops->rule_get(reader, d->alarm.rule_id, &d->rule, why);
    return err == ERR_NOTFOUND ? OK : err;
}

struct digest *digest_new(struct store *reader, struct figures *figures, int64_t tell_id,
                          const struct zone *zone)
{
    struct digest *d = mem_new(sizeof(*d));
    struct reading x = { d, figures, zone };
    struct why why = { "" };
    enum err err = rows_read(&x, reader, tell_id, &why);
    if (!err) {
        const char *at = or_empty(d->alarm.address);
        text_copy(d->check, sizeof(d->check), slice_of(at, strcspn(at, "@")));
        names_read(d, reader);
        return d;
    }
    if (err != ERR_NOTFOUND)
        log_warn("alarm", "an alarm cannot be told: %s", why.text);
    digest_free(d);
    return NULL;
}

void digest_free(struct digest *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->n; i++) {
        free((char *)d->items[i].job);
        free((char *)d->items[i].cause);
    }
    incident_record_done(&d->alarm);
    rule_record_done(&d->rule);
    free(d);
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *const happened[RULE_KINDS][2] = {
    [RULE_FAILED] = { "failing", "失败" },
    [RULE_RECOVERED] = { "recovered", "已恢复" },
    [RULE_SLOW] = { "slow", "运行过慢" },
    [RULE_STOPPED] = { "stopped by the center", "被调度中心停止" },
    [RULE_LATE] = { "not run in time", "未按时运行" },
};

/* ": executor X", or nothing. */
static void where(const struct digest *d, bool zh, char *to, size_t size)
{
    to[0] = '\0';
    if (d->alarm.cause == CAUSE_EXECUTOR)
        snprintf(to, size, zh ? "，执行器 %.150s" : ": executor %.150s", d->alarm.address);
    else if (d->alarm.cause == CAUSE_NO_EXECUTOR)
        snprintf(to, size, "%s", zh ? "，分组无执行器" : ": the group has no executor");
}

/* Of what is of no job. */
static void state_title(struct digest *d, const struct alarm_message *m, const char *over)
{
    static const char *const forms[RULE_KINDS][2] = {
        [RULE_EMPTY] = { "%sGroup %.*s has enabled jobs and no executor",
                         "%s执行器分组 %.*s 有启用的任务但没有执行器" },
        [RULE_GONE] = { "%sExecutor of %.*s is gone: %.150s", "%s执行器失联（%.*s）：%.150s" },
    };
    bool zh = m->lang == WIRE_LANG_ZH_CN;
    int n = (int)utf8_cut(m->group, strlen(m->group), TITLE_NAME);
    if (d->alarm.kind == RULE_CENTER)
        snprintf(d->title, sizeof(d->title),
                 zh ? "%s调度中心异常（%.30s）：%.200s"
                    : "%sThe center is not well (%.30s): %.200s",
                 over, d->check, or_empty(d->alarm.text));
    else
        snprintf(d->title, sizeof(d->title), forms[d->alarm.kind][zh], over, n, m->group,
                 d->alarm.address);
}

/* Whatever has happened since: the title is of the message's own state. */
static void title_write(struct digest *d, const struct alarm_message *m)
{
    char at[200], about[TITLE_NAME + 24];
    bool zh = m->lang == WIRE_LANG_ZH_CN, one = d->alarm.jobs == 1 && d->n == 1;
    const char *name = one ? d->items[0].job : m->group;
    const char *over = d->tell.state == TELL_CLOSED ? zh ? "【已恢复】" : "[over] " : "";
    int n = (int)utf8_cut(name, strlen(name), TITLE_NAME);
    if (rule_watches(d->alarm.kind) && d->alarm.kind != RULE_LATE) {
        state_title(d, m, over);
        return;
    }
    where(d, zh, at, sizeof(at));
    snprintf(about, sizeof(about), "%.*s", n, name);
    if (one)
        snprintf(d->title, sizeof(d->title), zh ? "%s任务%s：%s (%lld)%s" : "%sJob %s: %s (%lld)%s",
                 over, happened[d->alarm.kind][zh], about, (long long)d->items[0].job_id, at);
    else
        snprintf(d->title, sizeof(d->title), zh ? "%s%lld 个任务%s：%s%s" : "%s%lld jobs %s: %s%s",
                 over, (long long)d->alarm.jobs, happened[d->alarm.kind][zh], about, at);
}

static const char *event(struct digest *d)
{
    static const char *const events[RULE_KINDS] = {
        [RULE_FAILED] = "job.failed", [RULE_RECOVERED] = "job.recovered",
        [RULE_SLOW] = "job.slow",     [RULE_STOPPED] = "job.stopped",
        [RULE_LATE] = "job.late",     [RULE_EMPTY] = "group.empty",
        [RULE_GONE] = "executor.gone"
    };
    if (d->alarm.kind == RULE_CENTER) {
        snprintf(d->event, sizeof(d->event), "center.%.30s", d->check);
        return d->event;
    }
    return d->rule.in_a_row > 1 ? "job.streak" : events[d->alarm.kind];
}

void digest_put(struct digest *d, struct alarm_message *m)
{
    title_write(d, m);
    /* the instant keeps alarms of different databases apart */
    snprintf(d->key, sizeof(d->key), "alarm-%lld.%llx", (long long)d->alarm.id,
             (unsigned long long)d->alarm.since_ms);
    m->event = event(d);
    m->level = rule_level_text(d->alarm.level);
    m->state = rule_stays(d->alarm.kind) ? tell_state_text(d->tell.state) : "";
    m->key = d->key;
    m->title = d->title;
    m->since_ms = d->alarm.since_ms;
    m->closed_ms = rule_stays(d->alarm.kind) ? d->alarm.closed_ms : -1;
    m->outcome = rule_kind_text(d->alarm.kind);
    m->address = d->alarm.cause == CAUSE_EXECUTOR ? or_empty(d->alarm.address) : "";
    m->cause = or_empty(d->alarm.text);
    m->alarm_id = d->alarm.id;
    m->rule_id = d->alarm.rule_id;
    m->rule = or_empty(d->rule.name);
    m->items = d->items;
    m->nitems = d->n;
    m->jobs = d->alarm.jobs;
    m->open = rule_stays(d->alarm.kind) ? d->alarm.open : 0;
}
