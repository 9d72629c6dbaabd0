/* SPDX-License-Identifier: Apache-2.0 */
/* A form leaves out what it does not change, and writes a number as text: what cannot be read is
 * noted, and told in its turn by the rules. Fields that existing clients omit get their defaults
 * here. */
#include "api/xxl/job_form.h"
#include "api/xxl/fields.h"
#include "base/mem.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const struct form *f;
    const struct job_rules *rules;
    struct job_in in;
};

static void read_text(struct reading *x, const struct job_column *c, const char *value)
{
    char **to = job_text(x->in.r, c);
    x->in.said |= job_bit(c);
    if (c->type == JOB_BYTES) {
        free(*to);
        *to = mem_dup(value);
    } else {
        field_trimmed(to, value);
    }
}

static void read_number(struct reading *x, const struct job_column *c, const char *value)
{
    struct slice text = slice_trim(slice_text(value));
    if (text.n == 0)
        return;
    x->in.said |= job_bit(c);
    if (!parse_i64(text, &x->in.numbers[c - job_columns]))
        x->in.unreadable |= job_bit(c);
}

static void read_real(struct reading *x, const struct job_column *c, const char *value)
{
    char *end;
    if (field_blank(value))
        return;
    errno = 0;
    x->in.reals[c - job_columns] = strtod(value, &end);
    x->in.said |= job_bit(c);
    if (errno || *end)
        x->in.unreadable |= job_bit(c);
}

/* What the form leaves out stays. */
static void read_columns(struct reading *x)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        const char *value = job_takes(&x->in, c) ? form_get(x->f, c->form) : NULL;
        if (!value)
            continue;
        if (c->type >= JOB_TEXT)
            read_text(x, c, value);
        else if (c->type == JOB_REAL)
            read_real(x, c, value);
        else
            read_number(x, c, value);
    }
}

/* Defaults for fields that existing clients omit. */
static void fill_in(struct reading *x)
{
    struct job_record *r = x->in.r;
    const char *cron = form_get(x->f, "jobCron");
    if (cron && !form_get(x->f, "scheduleType")) { /* 2.1, 2.2 */
        field_trimmed(&r->schedule_type, "CRON");
        field_trimmed(&r->schedule_conf, cron);
    }
    if (x->in.insert && !form_get(x->f, "author"))
        field_trimmed(&r->author, x->rules->user);
    if (x->in.insert && !form_get(x->f, "jobDesc"))
        field_trimmed(&r->description, r->handler);
    if (x->in.insert && !form_get(x->f, "misfireStrategy"))
        field_trimmed(&r->misfire, job_misfire_default(r));
}

/* One complaint is what the form API's answer has room for. */
static bool first_fault(void *ctx, const struct job_fault *fault)
{
    why_set(ctx, "%s: %s", fault->column->form, fault->text);
    return false;
}

static enum err read_job(const struct form *f, const struct job_rules *rules, struct job_record *r,
                         bool insert, struct why *why)
{
    struct reading x = { .f = f, .rules = rules, .in = { .r = r, .insert = insert } };
    read_columns(&x);
    fill_in(&x);
    return job_rules_check(&x.in, rules, first_fault, why, why);
}

enum err job_form_insert(const struct form *f, const struct job_rules *rules, struct job_record *r,
                         struct why *why)
{
    r->start_deadline_ms = rules->start_deadline_ms;
    return read_job(f, rules, r, true, why);
}

enum err job_form_update(const struct form *f, const struct job_rules *rules, struct job_record *r,
                         struct why *why)
{
    return read_job(f, rules, r, false, why);
}

static enum err no_such_word(const struct job_column *c, struct why *why)
{
    char text[256];
    job_words_text(c, text, sizeof(text));
    why_set(why, "%s: %s", c->form, text);
    return ERR_INVALID;
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
        return no_such_word(JOB_COLUMN_OF(schedule_type), why);
    if (!field_blank(dst_name) && !dst_policy_find(slice_text(dst_name), &dst))
        return no_such_word(JOB_COLUMN_OF(dst), why);
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
