/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which rules are looked at is the original's, so that a request with several faults
 * gets the same first complaint; what is ours comes last. */
#include "api/xxl/job_form.h"
#include "api/xxl/fields.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAPH_MAX 10000 /* jobs that the search for a cycle looks at */

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

#define COLUMN(member) (&job_columns[JOB_COLUMN_##member])

/* Does this request set the column? */
static bool takes(const struct reading *in, const struct job_column *c)
{
    return c->use == JOB_TAKEN || (c->use == JOB_ON_INSERT && in->insert);
}

/* The form's texts replace the record's; what the form leaves out stays. */
static void take_texts(struct reading *in)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        const char *value = c->type >= JOB_TEXT && takes(in, c) ? form_get(in->f, c->form) : NULL;
        if (!value)
            continue;
        char **to = job_text(in->r, c);
        if (c->type == JOB_BYTES) {
            free(*to);
            *to = mem_dup(value);
        } else {
            field_trimmed(to, value);
        }
    }
}

static bool changed(const struct reading *in, const struct job_column *c)
{
    return in->insert || form_get(in->f, c->form) != NULL;
}

/* Defaults for fields that existing clients omit. */
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
        field_trimmed(&r->misfire, once ? "FIRE_ONCE_NOW" : COLUMN(misfire)->text);
    }
}

/* ---- words -------------------------------------------------------------------------------------
 */

/* "scheduleType: must be NONE, CRON, FIX_RATE, FIX_DELAY or ONCE" */
static enum err no_such_word(const struct job_column *c, struct why *why)
{
    struct buf text = BUF_INIT(sizeof(why->text));
    struct slice rest = slice_text(c->words), word;
    while (slice_cut(&rest, ',', &word)) {
        if (text.len)
            buf_text(&text, rest.n ? ", " : " or ");
        buf_slice(&text, word);
    }
    why_set(why, "%s: must be %s", c->form, buf_str(&text));
    buf_done(&text);
    return ERR_INVALID;
}

static enum err known_word(struct reading *in, const struct job_column *c)
{
    const char *text = *job_text(in->r, c);
    struct slice rest = slice_text(c->words), word;
    while (text && slice_cut(&rest, ',', &word))
        if (slice_eq(word, text))
            return OK;
    return no_such_word(c, in->why);
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
    err = in->rules->db->ops->catalog->group_get(in->rules->db, in->r->group_id, &g, &why);
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
    struct job_record *r = in->r;
    enum err err = known_word(in, COLUMN(schedule_type));
    if (err)
        return err;
    struct why why = { "" };
    err = schedule_parse(slice_text(r->schedule_type),
                         slice_text(r->schedule_conf ? r->schedule_conf : ""), NULL, DST_XXL,
                         in->rules->last_year, &s, &why);
    schedule_done(&s);
    if (err)
        why_set(in->why, "scheduleConf: %s", why.text);
    return err;
}

static enum err rule_glue_type(struct reading *in)
{
    return in->insert ? known_word(in, COLUMN(glue_type)) : OK;
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
    return changed(in, COLUMN(route)) ? known_word(in, COLUMN(route)) : OK;
}

static enum err rule_misfire(struct reading *in)
{
    return changed(in, COLUMN(misfire)) ? known_word(in, COLUMN(misfire)) : OK;
}

static enum err rule_block(struct reading *in)
{
    return changed(in, COLUMN(block)) ? known_word(in, COLUMN(block)) : OK;
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
    enum err err = in->rules->db->ops->catalog->job_get(in->rules->db, id, &child, &why);
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
        enum err err = in->rules->db->ops->catalog->job_get(in->rules->db, w->todo[i], &job, &why);
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
    if (!changed(in, COLUMN(children)))
        return OK;
    while (n && list[n - 1] == ',')
        list[--n] = '\0';
    struct slice rest = slice_of(list, n);
    int64_t id;
    enum err err = field_width("childJobId", list, (size_t)COLUMN(children)->max, in->why);
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
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        enum err err = c->type == JOB_TEXT && c->max
                           ? field_width(c->form, *job_text(in->r, c), (size_t)c->max, in->why)
                           : OK;
        if (err)
            return err;
    }
    return OK;
}

static enum err rule_bytes(struct reading *in)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        const char *text = c->type == JOB_BYTES && c->max ? *job_text(in->r, c) : NULL;
        if (!text || strlen(text) <= (size_t)c->max)
            continue;
        why_set(in->why, "%s: at most %lld,%03lld bytes", c->form, (long long)c->max / 1000,
                (long long)c->max % 1000);
        return ERR_INVALID;
    }
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
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if ((c->type != JOB_INT && c->type != JOB_I64) || !takes(in, c))
            continue;
        int64_t v = job_number(in->r, c);
        enum err err = take_number(in, c->form, &v, c->min, c->max);
        if (err)
            return err;
        job_number_set(in->r, c, v);
    }
    return OK;
}

static enum err rule_reals(struct reading *in)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        const char *text = c->type == JOB_REAL && takes(in, c) ? form_get(in->f, c->form) : NULL;
        if (!text || field_blank(text))
            continue;
        char *end;
        errno = 0;
        double v = strtod(text, &end);
        if (errno || *end || !isfinite(v) || v < (double)c->min || v > (double)c->max) {
            why_set(in->why, "%s: must be a number from %lld to %lld", c->form, (long long)c->min,
                    (long long)c->max);
            return ERR_INVALID;
        }
        *job_real(in->r, c) = v;
    }
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

/* Words of ours; an absent one is the default. The original's have their place in its order. */
static enum err rule_words(struct reading *in)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if (c->type != JOB_WORD || c->table != JOB_OWN || !takes(in, c))
            continue;
        char **text = job_text(in->r, c);
        if (field_blank(*text))
            field_trimmed(text, c->text);
        enum err err = known_word(in, c);
        if (err)
            return err;
    }
    return OK;
}

static enum err rule_flags(struct reading *in)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if (c->type != JOB_BOOL || !takes(in, c))
            continue;
        int64_t v = job_number(in->r, c);
        enum err err = take_number(in, c->form, &v, 0, 1);
        if (err)
            return err;
        job_number_set(in->r, c, v);
    }
    return OK;
}

static enum err read_job(struct reading *in)
{
    static rule *const rules[] = {
        rule_group,   rule_description, rule_author, rule_schedule, rule_glue_type, rule_handler,
        rule_route,   rule_misfire,     rule_block,  rule_children, rule_widths,    rule_bytes,
        rule_numbers, rule_reals,       rule_zone,   rule_words,    rule_flags,
    };
    take_texts(in);
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
    if (!schedule_type_find(slice_trim(slice_text(type)), &known))
        return no_such_word(COLUMN(schedule_type), why);
    if (!field_blank(dst_name) && !dst_policy_find(slice_text(dst_name), &dst))
        return no_such_word(COLUMN(dst), why);
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
