/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - an alarm's row names what happened; what people want to read stands in the rows of the
 * run, its job and its group. They are read when the message is sent: that costs the transaction
 * that ends the run nothing. Parameters are left out, because they may hold secrets. */
#include "alarm/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "alarm/digest.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "cron/rfc3339.h"

#define TITLE_SIZE 256
#define TITLE_JOB 120 /* bytes of a job's description in it */

struct text {
    struct alarm_message m;
    struct log_record log;
    struct job_record job;
    struct group_record group;
    struct digest *digest; /* of a rule's message; NULL */
    char id[64], when[RFC3339_SIZE], title[TITLE_SIZE];
};

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* A row that is not there is no error. */
static void look(enum err err, const struct why *why)
{
    if (err && err != ERR_NOTFOUND)
        log_warn("alarm", "an alarm goes without some of its texts: %s", why->text);
}

static void rows_read(struct text *t, struct store *reader, const struct alarm_record *row)
{
    struct why why = { "" };
    if (row->log_id > 0) {
        look(reader->ops->pages->log_get(reader, row->log_id, &t->log, &why), &why);
        why_clear(&why);
        look(reader->ops->catalog->job_get(reader, row->job_id, &t->job, &why), &why);
        why_clear(&why);
    }
    look(reader->ops->catalog->group_get(reader, row->group_id, &t->group, &why), &why);
}

static void messages(struct text *t)
{
    const struct log_record *l = &t->log;
    bool refused = l->trigger_code != 0 && l->trigger_code != 200;
    bool failed = l->handle_code != 0 && l->handle_code != 200;
    t->m.trigger_msg = refused ? or_empty(l->trigger_msg) : "";
    t->m.handle_msg = failed ? or_empty(l->handle_msg) : "";
}

/* The row's number, when it was made and what it says keep ids of different databases apart. */
static void name(struct text *t, const struct alarm_record *row, const char *target)
{
    snprintf(t->id, sizeof(t->id), "alarm-%lld.%llx.%08x%08x", (long long)row->id,
             (unsigned long long)alarm_begun_ms(row), (unsigned)row->fingerprint,
             (unsigned)hash_text(slice_text(target)));
}

static void title(struct text *t)
{
    snprintf(t->title, sizeof(t->title), "%s: %.*s (%lld)",
             t->m.lang == WIRE_LANG_ZH_CN ? "任务失败" : "Job failed",
             (int)utf8_cut(t->m.job, strlen(t->m.job), TITLE_JOB), t->m.job,
             (long long)t->m.job_id);
}

/* Its run, its job and the failure are those of no single run. */
static void rule_message(struct text *t)
{
    t->m.log_id = 0;
    t->m.event = "job.failed"; /* of an alarm that has gone: nothing more is known of it */
    t->m.outcome = "";
    if (t->digest)
        digest_put(t->digest, &t->m);
}

struct text *text_new(struct store *reader, struct figures *figures, const struct alarm_record *row,
                      const char *target, struct zone *zone, enum wire_lang lang)
{
    struct text *t = mem_new(sizeof(*t));
    job_record_init(&t->job);
    t->log.trigger_ms = -1;
    rows_read(t, reader, row);
    name(t, row, target);
    if (t->log.trigger_ms >= 0)
        rfc3339_format(t->log.trigger_ms, zone, t->when);
    t->m = (struct alarm_message){
        .id = t->id,
        .target = target,
        .event = ALARM_RUN_FAILED,
        .level = "critical",
        .state = "",
        .key = t->id,
        .title = t->title,
        .since_ms = row->made_ms,
        .closed_ms = -1,
        .log_id = row->log_id,
        .job_id = row->job_id,
        .group_id = row->group_id,
        .job = or_empty(t->job.description),
        .handler = or_empty(t->job.handler),
        .group = or_empty(t->group.title),
        .app = or_empty(t->group.app),
        .outcome = phase_text(row->phase),
        .when = t->when,
        .address = or_empty(t->log.address),
        .code = row->code,
        .cause = or_empty(row->cause),
        .rule = "",
        .lang = lang,
    };
    messages(t);
    title(t);
    if (row->log_id < 0) {
        t->digest = digest_new(reader, figures, -row->log_id, zone);
        rule_message(t);
    }
    return t;
}

const struct alarm_message *text_message(const struct text *t)
{
    return &t->m;
}

void text_held(struct text *t, int64_t held)
{
    t->m.held = held;
}

void text_free(struct text *t)
{
    log_record_done(&t->log);
    job_record_done(&t->job);
    group_record_done(&t->group);
    digest_free(t->digest);
    free(t);
}
