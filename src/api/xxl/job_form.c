/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which rules are looked at is the original's, so that a request with several faults
 * gets the same first complaint; what is ours comes last. */
#include "api/xxl/job_form.h"
#include "api/xxl/fields.h"
#include "base/map.h"
#include "base/mem.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAPH_MAX 10000 /* jobs that the search for a cycle looks at */
#define DAY_MS 86400000

struct reading {
    const struct form *f;
    const struct job_rules *rules;
    struct job_record *r;
    bool insert;
    struct why *why;
};

typedef enum err rule(struct reading *in);

static enum err invalid(struct reading *in, const char *text)
{
    why_set(in->why, "%s", text);
    return ERR_INVALID;
}

/* Replace *to by the form's value, if it has one. */
static void take(struct reading *in, const char *name, char **to)
{
    const char *value = form_get(in->f, name);
    if (!value)
        return;
    free(*to);
    *to = mem_dup(value);
}

static void take_trimmed(struct reading *in, const char *name, char **to)
{
    const char *value = form_get(in->f, name);
    if (value)
        field_trimmed(to, value);
}

static void take_fields(struct reading *in)
{
    struct job_record *r = in->r;
    take_trimmed(in, "jobDesc", &r->description);
    take_trimmed(in, "author", &r->author);
    take_trimmed(in, "alarmEmail", &r->alarm_email);
    take_trimmed(in, "scheduleType", &r->schedule_type);
    take_trimmed(in, "scheduleConf", &r->schedule_conf);
    take_trimmed(in, "misfireStrategy", &r->misfire);
    take_trimmed(in, "executorRouteStrategy", &r->route);
    take_trimmed(in, "executorHandler", &r->handler);
    take(in, "executorParam", &r->param);
    take_trimmed(in, "executorBlockStrategy", &r->block);
    take_trimmed(in, "childJobId", &r->children);
    take_trimmed(in, "zone", &r->zone);
    take_trimmed(in, "dst", &r->dst);
    take_trimmed(in, "onDoubt", &r->on_doubt);
    if (!in->insert)
        return;
    take_trimmed(in, "glueType", &r->glue_type);
    take(in, "glueSource", &r->glue_source);
    take_trimmed(in, "glueRemark", &r->glue_remark);
}

static bool changed(const struct reading *in, const char *name)
{
    return in->insert || form_get(in->f, name) != NULL;
}

/* What a tool of the wild leaves out. */
static void fill_in(struct reading *in)
{
    struct job_record *r = in->r;
    const char *cron = form_get(in->f, "jobCron");
    if (cron && !form_get(in->f, "scheduleType")) { /* 2.1, 2.2 */
        field_trimmed(&r->schedule_type, "CRON");
        field_trimmed(&r->schedule_conf, cron);
    }
    if (in->insert && !form_get(in->f, "author"))
        field_trimmed(&r->author, in->rules->user);
    if (in->insert && !form_get(in->f, "jobDesc"))
        field_trimmed(&r->description, r->handler);
    if (in->insert && !form_get(in->f, "misfireStrategy")) {
        bool once = r->schedule_type && strcmp(r->schedule_type, "ONCE") == 0;
        field_trimmed(&r->misfire, once ? "FIRE_ONCE_NOW" : "DO_NOTHING");
    }
}

/* ---- the original's rules ----------------------------------------------------------------------
 */

static enum err rule_group(struct reading *in)
{
    struct group_record g = { 0 };
    enum err err = form_i64(in->f, "jobGroup", &in->r->group_id, in->why);
    if (err)
        return err;
    struct why why = { "" };
    err = in->rules->db->ops->group_get(in->rules->db, in->r->group_id, &g, &why);
    group_record_done(&g);
    if (err == ERR_NOTFOUND) {
        why_set(in->why, "jobGroup: there is no group %lld", (long long)in->r->group_id);
        return ERR_INVALID;
    }
    if (err)
        why_set(in->why, "%s", why.text);
    return err;
}

static enum err rule_description(struct reading *in)
{
    return field_blank(in->r->description) ? invalid(in, "jobDesc: must not be empty") : OK;
}

static enum err rule_author(struct reading *in)
{
    return field_blank(in->r->author) ? invalid(in, "author: must not be empty") : OK;
}

static enum err rule_schedule(struct reading *in)
{
    struct schedule s = { 0 };
    enum schedule_type type;
    struct job_record *r = in->r;
    if (!r->schedule_type || !schedule_type_find(slice_text(r->schedule_type), &type))
        return invalid(in, "scheduleType: must be NONE, CRON, FIX_RATE, FIX_DELAY or ONCE");
    struct why why = { "" };
    enum err err = schedule_parse(slice_text(r->schedule_type),
                                  slice_text(r->schedule_conf ? r->schedule_conf : ""), NULL,
                                  DST_XXL, in->rules->last_year, &s, &why);
    schedule_done(&s);
    if (err)
        why_set(in->why, "scheduleConf: %s", why.text);
    return err;
}

static const char *const glue_types[] = { "BEAN",        "GLUE_GROOVY",    "GLUE_SHELL",
                                          "GLUE_PYTHON", "GLUE_PYTHON2",   "GLUE_PHP",
                                          "GLUE_NODEJS", "GLUE_POWERSHELL" };

static enum err rule_glue_type(struct reading *in)
{
    if (!in->insert)
        return OK;
    for (size_t i = 0; in->r->glue_type && i < countof(glue_types); i++)
        if (strcmp(in->r->glue_type, glue_types[i]) == 0)
            return OK;
    return invalid(in, "glueType: must be BEAN, GLUE_GROOVY, GLUE_SHELL, GLUE_PYTHON, "
                       "GLUE_PYTHON2, GLUE_PHP, GLUE_NODEJS or GLUE_POWERSHELL");
}

static void drop_char(char *text, char c)
{
    char *to = text;
    for (; *text; text++)
        if (*text != c)
            *to++ = *text;
    *to = '\0';
}

static enum err rule_handler(struct reading *in)
{
    struct job_record *r = in->r;
    if (!in->insert)
        return OK;
    if (strcmp(r->glue_type, "BEAN") == 0 && field_blank(r->handler))
        return invalid(in, "executorHandler: a BEAN job needs the name of its handler");
    if (strcmp(r->glue_type, "GLUE_SHELL") == 0 && r->glue_source)
        drop_char(r->glue_source, '\r');
    return OK;
}

static enum err rule_route(struct reading *in)
{
    enum route route;
    if (!changed(in, "executorRouteStrategy") ||
        (in->r->route && route_parse(slice_text(in->r->route), &route)))
        return OK;
    return invalid(in, "executorRouteStrategy: must be FIRST, LAST, ROUND, RANDOM, "
                       "CONSISTENT_HASH, LEAST_FREQUENTLY_USED, LEAST_RECENTLY_USED, FAILOVER, "
                       "BUSYOVER or SHARDING_BROADCAST");
}

static enum err rule_misfire(struct reading *in)
{
    enum misfire misfire;
    if (!changed(in, "misfireStrategy") ||
        (in->r->misfire && misfire_parse(slice_text(in->r->misfire), &misfire)))
        return OK;
    return invalid(in, "misfireStrategy: must be DO_NOTHING, FIRE_ONCE_NOW or FIRE_ALL");
}

static enum err rule_block(struct reading *in)
{
    enum block block;
    if (!changed(in, "executorBlockStrategy") ||
        (in->r->block && block_parse(slice_text(in->r->block), &block)))
        return OK;
    return invalid(in, "executorBlockStrategy: must be SERIAL_EXECUTION, DISCARD_LATER or "
                       "COVER_EARLY");
}

/* ---- children ----------------------------------------------------------------------------------
 */

/* The next id of a list; false at its end. *ret is 0 for an element that is no id. */
static bool next_id(struct slice *rest, int64_t *ret)
{
    struct slice one;
    if (!slice_cut(rest, ',', &one))
        return false;
    if (!parse_i64(slice_trim(one), ret) || *ret <= 0)
        *ret = 0;
    return true;
}

static enum err child_exists(struct reading *in, int64_t id)
{
    struct job_record child;
    struct why why = { "" };
    job_record_init(&child);
    enum err err = in->rules->db->ops->job_get(in->rules->db, id, &child, &why);
    bool may = !err && in->rules->may(in->rules->may_ctx, child.group_id);
    job_record_done(&child);
    if (err == ERR_NOTFOUND) {
        why_set(in->why, "childJobId: there is no job %lld", (long long)id);
        return ERR_INVALID;
    }
    if (!err && !may) {
        why_set(in->why, "childJobId: you have no permission for job %lld", (long long)id);
        return ERR_INVALID;
    }
    if (err)
        why_set(in->why, "%s", why.text);
    return err;
}

struct walk { /* jobs that are reached from the children */
    struct map seen;
    int64_t todo[GRAPH_MAX];
    size_t n;
};

static bool walk_add(struct walk *w, int64_t id)
{
    if (map_find(&w->seen, (uint64_t)id))
        return true;
    if (w->n == GRAPH_MAX)
        return false;
    map_set(&w->seen, (uint64_t)id, w);
    w->todo[w->n++] = id;
    return true;
}

static bool walk_add_list(struct walk *w, const char *list)
{
    struct slice rest = slice_text(list);
    int64_t id;
    while (next_id(&rest, &id))
        if (id && !walk_add(w, id))
            return false;
    return true;
}

static enum err walk_on(struct reading *in, struct walk *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->todo[i] == in->r->id) {
            why_set(in->why, "childJobId: job %lld would become its own descendant",
                    (long long)in->r->id);
            return ERR_INVALID;
        }
        struct job_record job;
        job_record_init(&job);
        struct why why = { "" };
        enum err err = in->rules->db->ops->job_get(in->rules->db, w->todo[i], &job, &why);
        bool fits = err || walk_add_list(w, job.children);
        job_record_done(&job);
        if (err && err != ERR_NOTFOUND) {
            why_set(in->why, "%s", why.text);
            return err;
        }
        if (!fits)
            return invalid(in, "childJobId: the jobs that follow are more than 10,000");
    }
    return OK;
}

static enum err no_cycle(struct reading *in)
{
    if (in->insert)
        return OK; /* nobody can name it yet */
    struct walk *w = mem_new(sizeof(*w));
    map_init(&w->seen);
    enum err err = walk_add_list(w, in->r->children) ? walk_on(in, w)
                                                     : invalid(in, "childJobId: too many children");
    map_done(&w->seen);
    free(w);
    return err;
}

static enum err rule_children(struct reading *in)
{
    char *list = in->r->children;
    size_t n = list ? strlen(list) : 0;
    if (!changed(in, "childJobId"))
        return OK;
    while (n && list[n - 1] == ',')
        list[--n] = '\0';
    struct slice rest = slice_of(list, n);
    int64_t id;
    enum err err = field_width("childJobId", list, 255, in->why);
    while (!err && next_id(&rest, &id)) {
        if (id == 0)
            err = invalid(in, "childJobId: must be ids of jobs, separated by commas");
        else if (!in->insert && id == in->r->id)
            err = invalid(in, "childJobId: a job cannot be its own child");
        else
            err = child_exists(in, id);
    }
    return err ? err : no_cycle(in);
}

/* ---- limits of the columns, and what is ours ---------------------------------------------------
 */

static enum err rule_widths(struct reading *in)
{
    const struct job_record *r = in->r;
    const struct {
        const char *name, *text;
        size_t max;
    } widths[] = {
        { "jobDesc", r->description, 255 },     { "author", r->author, 64 },
        { "alarmEmail", r->alarm_email, 255 },  { "scheduleConf", r->schedule_conf, 128 },
        { "executorHandler", r->handler, 255 }, { "glueRemark", r->glue_remark, 128 },
        { "zone", r->zone, ZONES_NAME_MAX },
    };
    for (size_t i = 0; i < countof(widths); i++) {
        enum err err = field_width(widths[i].name, widths[i].text, widths[i].max, in->why);
        if (err)
            return err;
    }
    if (r->param && strlen(r->param) > JOB_PARAM_MAX)
        return invalid(in, "executorParam: at most 65,536 bytes");
    return OK;
}

static enum err in_range(struct reading *in, const char *name, int64_t v, int64_t min, int64_t max)
{
    if (v >= min && v <= max)
        return OK;
    why_set(in->why, "%s: must be from %lld to %lld", name, (long long)min, (long long)max);
    return ERR_INVALID;
}

static enum err take_number(struct reading *in, const char *name, int64_t *to, int64_t min,
                            int64_t max)
{
    const char *text = form_get(in->f, name);
    if (field_blank(text))
        return OK;
    enum err err = form_i64(in->f, name, to, in->why);
    return err ? err : in_range(in, name, *to, min, max);
}

static enum err rule_numbers(struct reading *in)
{
    struct job_record *r = in->r;
    int64_t timeout = r->timeout_s, retries = r->retries, max = r->misfire_max;
    enum err err = take_number(in, "executorTimeout", &timeout, 0, INT32_MAX);
    if (!err)
        err = take_number(in, "executorFailRetryCount", &retries, 0, 10000);
    if (!err)
        err = take_number(in, "misfireMax", &max, 1, 100000);
    if (!err)
        err = take_number(in, "retryDelayMs", &r->retry_delay_ms, 0, DAY_MS);
    if (!err)
        err = take_number(in, "startDeadlineMs", &r->start_deadline_ms, 1000, DAY_MS);
    r->timeout_s = (int)timeout;
    r->retries = (int)retries;
    r->misfire_max = (int)max;
    return err;
}

static enum err rule_backoff(struct reading *in)
{
    const char *text = form_get(in->f, "retryBackoff");
    if (field_blank(text))
        return OK;
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    if (errno || *end || !isfinite(v) || v < 1 || v > 10)
        return invalid(in, "retryBackoff: must be a number from 1 to 10");
    in->r->retry_backoff = v;
    return OK;
}

static enum err rule_zone(struct reading *in)
{
    struct job_record *r = in->r;
    if (field_blank(r->zone))
        return OK;
    struct zone *zone;
    struct why why = { "" };
    enum err err = zones_get(in->rules->zones, r->zone, &zone, &why);
    if (err) {
        why_set(in->why, "zone: %s", why.text);
        return ERR_INVALID;
    }
    zone_unref(zone);
    return OK;
}

static enum err rule_words(struct reading *in)
{
    struct job_record *r = in->r;
    enum dst_policy dst;
    if (field_blank(r->dst))
        field_trimmed(&r->dst, "xxl"); /* as jobs of the original */
    if (!dst_policy_find(slice_text(r->dst), &dst))
        return invalid(in, "dst: must be xxl or smart");
    if (field_blank(r->on_doubt))
        field_trimmed(&r->on_doubt, "wait");
    if (strcmp(r->on_doubt, "wait") && strcmp(r->on_doubt, "resend"))
        return invalid(in, "onDoubt: must be wait or resend");
    return OK;
}

static enum err rule_status(struct reading *in)
{
    int64_t status = 0;
    if (!in->insert)
        return OK;
    enum err err = take_number(in, "triggerStatus", &status, 0, 1);
    in->r->enabled = status == 1;
    return err;
}

static enum err read_job(struct reading *in)
{
    static rule *const rules[] = {
        rule_group,   rule_description, rule_author, rule_schedule, rule_glue_type, rule_handler,
        rule_route,   rule_misfire,     rule_block,  rule_children, rule_widths,    rule_numbers,
        rule_backoff, rule_zone,        rule_words,  rule_status,
    };
    take_fields(in);
    fill_in(in);
    for (size_t i = 0; i < countof(rules); i++) {
        enum err err = rules[i](in);
        if (err)
            return err;
    }
    return OK;
}

enum err job_form_insert(const struct form *f, const struct job_rules *rules, struct job_record *r,
                         struct why *why)
{
    struct reading in = { f, rules, r, true, why };
    r->start_deadline_ms = rules->start_deadline_ms;
    return read_job(&in);
}

enum err job_form_update(const struct form *f, const struct job_rules *rules, struct job_record *r,
                         struct why *why)
{
    struct reading in = { f, rules, r, false, why };
    return read_job(&in);
}

enum err job_form_schedule(const struct form *f, const struct job_rules *rules,
                           struct schedule *ret, struct why *why)
{
    const char *type = form_get(f, "scheduleType"), *conf = form_get(f, "scheduleConf");
    const char *name = form_get(f, "zone"), *dst_name = form_get(f, "dst");
    enum schedule_type known;
    enum dst_policy dst = DST_XXL;
    if (!type) { /* 2.1, 2.2 */
        type = "CRON";
        conf = form_get(f, "cron");
    }
    if (!schedule_type_find(slice_trim(slice_text(type)), &known)) {
        why_set(why, "scheduleType: must be NONE, CRON, FIX_RATE, FIX_DELAY or ONCE");
        return ERR_INVALID;
    }
    if (!field_blank(dst_name) && !dst_policy_find(slice_text(dst_name), &dst)) {
        why_set(why, "dst: must be xxl or smart");
        return ERR_INVALID;
    }
    struct zone *zone;
    struct why inner = { "" };
    if (zones_get(rules->zones, field_blank(name) ? rules->zone : name, &zone, &inner)) {
        why_set(why, "zone: %s", inner.text);
        return ERR_INVALID;
    }
    enum err err = schedule_parse(slice_trim(slice_text(type)), slice_trim(slice_text(conf)), zone,
                                  dst, rules->last_year, ret, &inner);
    if (err)
        why_set(why, "scheduleConf: %s", inner.text);
    zone_unref(zone);
    return err;
}
