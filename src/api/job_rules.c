/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which rules are looked at is the original's, so that a form with several faults gets
 * the same first complaint; what is ours comes last. */
#include "api/job_rules.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRAPH_MAX 10000 /* jobs that the search for a cycle looks at */

_Static_assert((int)JOB_COLUMNS <= 64, "a column is a bit");

struct checking {
    struct job_in *in;
    const struct job_rules *rules;
    job_fault_fn *fn;
    void *ctx;
    struct why *why; /* for what the store says */
    enum err first;  /* fault */
    bool enough;
};

/* ERR_INVALID and ERR_TOOBIG have been told; another error ends the look. */
typedef enum err rule(struct checking *k);

/* Tell a fault. The result is OK as long as all faults are wanted. */
static enum err tell(struct checking *k, struct job_fault fault, const char *format, va_list args)
{
    char text[sizeof(k->why->text)];
    vsnprintf(text, sizeof(text), format, args);
    fault.text = text;
    k->in->told |= job_bit(fault.column);
    if (!k->first)
        k->first = fault.err;
    k->enough = !k->fn(k->ctx, &fault);
    return k->enough ? fault.err : OK;
}

static enum err fault(struct checking *k, const struct job_column *c, const char *name,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
static enum err fault(struct checking *k, const struct job_column *c, const char *name,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct job_fault f = { .column = c, .err = ERR_INVALID, .rule = name };
    enum err err = tell(k, f, format, args);
    va_end(args);
    return err;
}

static enum err fault_limits(struct checking *k, const struct job_column *c, enum err code,
                             const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static enum err fault_limits(struct checking *k, const struct job_column *c, enum err code,
                             const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct job_fault f = {
        .column = c, .err = code, .rule = name, .limits = true, .min = c->min, .max = c->max
    };
    enum err err = tell(k, f, format, args);
    va_end(args);
    return err;
}

static enum err store_said(struct checking *k, enum err err, const struct why *why)
{
    why_set(k->why, "%s", why->text);
    return err;
}

static bool said(const struct checking *k, const struct job_column *c)
{
    return k->in->said & job_bit(c);
}

static bool told(const struct checking *k, const struct job_column *c)
{
    return k->in->told & job_bit(c);
}

/* A new job's column, or one that is named. */
static bool changed(const struct checking *k, const struct job_column *c)
{
    return k->in->insert || said(k, c);
}

static bool blank(const char *text)
{
    return slice_trim(slice_text(text)).n == 0;
}

static enum err no_number(struct checking *k, const struct job_column *c)
{
    return fault(k, c, "type.integer", "must be a whole number");
}

/* ---- words -------------------------------------------------------------------------------------
 */

void job_words_text(const struct job_column *c, char *to, size_t size)
{
    struct buf text = BUF_INIT(512);
    struct slice rest = slice_text(c->words), word;
    while (slice_cut(&rest, ',', &word)) {
        buf_text(&text, !text.len ? "must be " : rest.n ? ", " : " or ");
        buf_slice(&text, word);
    }
    snprintf(to, size, "%s", buf_str(&text));
    buf_done(&text);
}

static bool is_word(const struct job_column *c, const char *text)
{
    struct slice rest = slice_text(c->words), word;
    while (text && slice_cut(&rest, ',', &word))
        if (slice_eq(word, text))
            return true;
    return false;
}

static enum err known_word(struct checking *k, const struct job_column *c)
{
    char text[512];
    if (told(k, c) || is_word(c, *job_text(k->in->r, c)))
        return OK;
    job_words_text(c, text, sizeof(text));
    return fault(k, c, "word", "%s", text);
}

/* ---- the original's rules ----------------------------------------------------------------------
 */

static enum err rule_group(struct checking *k)
{
    const struct job_column *c = JOB_COLUMN_OF(group_id);
    struct job_record *r = k->in->r;
    struct group_record g = { 0 };
    struct why why = { "" };
    if (told(k, c))
        return OK;
    if (k->in->unreadable & job_bit(c))
        return no_number(k, c);
    if (said(k, c))
        r->group_id = k->in->numbers[JOB_COLUMN_group_id];
    enum err err = k->rules->db->ops->catalog->group_get(k->rules->db, r->group_id, &g, &why);
    group_record_done(&g);
    if (err == ERR_NOTFOUND)
        return fault(k, c, "group.exists", "there is no group %lld", (long long)r->group_id);
    return err ? store_said(k, err, &why) : OK;
}

static enum err not_blank(struct checking *k, const struct job_column *c)
{
    if (told(k, c) || !blank(*job_text(k->in->r, c)))
        return OK;
    return fault(k, c, "text.empty", "must not be empty");
}

static enum err rule_description(struct checking *k)
{
    return not_blank(k, JOB_COLUMN_OF(description));
}

static enum err rule_author(struct checking *k)
{
    return not_blank(k, JOB_COLUMN_OF(author));
}

static enum err rule_schedule(struct checking *k)
{
    const struct job_column *type = JOB_COLUMN_OF(schedule_type), *c = JOB_COLUMN_OF(schedule_conf);
    struct schedule s = { 0 };
    struct job_record *r = k->in->r;
    struct why why = { "" };
    enum err err = known_word(k, type);
    if (err || told(k, type) || told(k, c))
        return err;
    err = schedule_parse(slice_text(r->schedule_type),
                         slice_text(r->schedule_conf ? r->schedule_conf : ""), NULL, DST_XXL,
                         k->rules->last_year, &s, &why);
    schedule_done(&s);
    return err ? fault(k, c, "schedule.conf", "%s", why.text) : OK;
}

static enum err rule_glue_type(struct checking *k)
{
    return k->in->insert ? known_word(k, JOB_COLUMN_OF(glue_type)) : OK;
}

static void drop_char(char *text, char c)
{
    char *to = text;
    for (; *text; text++)
        if (*text != c)
            *to++ = *text;
    *to = '\0';
}

static enum err rule_handler(struct checking *k)
{
    struct job_record *r = k->in->r;
    if ((!k->in->insert && !k->in->whole) || told(k, JOB_COLUMN_OF(glue_type)))
        return OK;
    if (slice_eq(slice_text(r->glue_type), "BEAN") && blank(r->handler) &&
        !told(k, JOB_COLUMN_OF(handler)))
        return fault(k, JOB_COLUMN_OF(handler), "handler.needed",
                     "a BEAN job needs the name of its handler");
    if (slice_eq(slice_text(r->glue_type), "GLUE_SHELL") && r->glue_source && k->in->insert)
        drop_char(r->glue_source, '\r');
    return OK;
}

static enum err rule_route(struct checking *k)
{
    return changed(k, JOB_COLUMN_OF(route)) ? known_word(k, JOB_COLUMN_OF(route)) : OK;
}

static enum err rule_misfire(struct checking *k)
{
    return changed(k, JOB_COLUMN_OF(misfire)) ? known_word(k, JOB_COLUMN_OF(misfire)) : OK;
}

static enum err rule_block(struct checking *k)
{
    return changed(k, JOB_COLUMN_OF(block)) ? known_word(k, JOB_COLUMN_OF(block)) : OK;
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

static enum err child_exists(struct checking *k, int64_t id)
{
    struct store *db = k->rules->db;
    struct job_record child;
    struct why why = { "" };
    job_record_init(&child);
    enum err err = db->ops->catalog->job_get(db, id, &child, &why);
    bool may = !err && k->rules->may(k->rules->may_ctx, child.group_id);
    job_record_done(&child);
    if (err == ERR_NOTFOUND)
        return fault(k, JOB_COLUMN_OF(children), "child.exists", "there is no job %lld",
                     (long long)id);
    if (!err && !may)
        return fault(k, JOB_COLUMN_OF(children), "child.permission",
                     "you have no permission for job %lld", (long long)id);
    return err ? store_said(k, err, &why) : OK;
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

static enum err walk_on(struct checking *k, struct walk *w)
{
    struct store *db = k->rules->db;
    for (size_t i = 0; i < w->n; i++) {
        if (w->todo[i] == k->in->r->id)
            return fault(k, JOB_COLUMN_OF(children), "child.cycle",
                         "job %lld would become its own descendant", (long long)k->in->r->id);
        struct job_record job;
        job_record_init(&job);
        struct why why = { "" };
        enum err err = db->ops->catalog->job_get(db, w->todo[i], &job, &why);
        bool fits = err || walk_add_list(w, job.children);
        job_record_done(&job);
        if (err && err != ERR_NOTFOUND)
            return store_said(k, err, &why);
        if (!fits)
            return fault(k, JOB_COLUMN_OF(children), "child.count",
                         "the jobs that follow are more than 10,000");
    }
    return OK;
}

static enum err no_cycle(struct checking *k)
{
    if (k->in->insert || told(k, JOB_COLUMN_OF(children)))
        return OK; /* no request can name it yet */
    struct walk *w = mem_new(sizeof(*w));
    map_init(&w->seen);
    enum err err = walk_add_list(w, k->in->r->children)
                       ? walk_on(k, w)
                       : fault(k, JOB_COLUMN_OF(children), "child.count", "too many children");
    map_done(&w->seen);
    free(w);
    return err;
}

static enum err in_width(struct checking *k, const struct job_column *c)
{
    const char *text = *job_text(k->in->r, c);
    if (told(k, c) || !text || utf8_units(text, strlen(text)) <= (size_t)c->max)
        return OK;
    return fault_limits(k, c, ERR_TOOBIG, "text.length", "at most %lld characters",
                        (long long)c->max);
}

static enum err rule_children(struct checking *k)
{
    const struct job_column *c = JOB_COLUMN_OF(children);
    char *list = k->in->r->children;
    size_t n = list ? strlen(list) : 0;
    if (!changed(k, c) || told(k, c))
        return OK;
    while (n && list[n - 1] == ',')
        list[--n] = '\0';
    struct slice rest = slice_of(list, n);
    int64_t id;
    enum err err = in_width(k, c);
    while (!err && !told(k, c) && next_id(&rest, &id)) {
        if (id == 0)
            err = fault(k, c, "child.list", "must be ids of jobs, separated by commas");
        else if (!k->in->insert && id == k->in->r->id)
            err = fault(k, c, "child.self", "a job cannot be its own child");
        else
            err = child_exists(k, id);
    }
    return err ? err : no_cycle(k);
}

/* ---- limits of the columns, and what is ours ---------------------------------------------------
 */

static enum err rule_widths(struct checking *k)
{
    enum err err = OK;
    for (const struct job_column *c = job_columns; !err && c < job_columns + JOB_COLUMNS; c++)
        if (c->type == JOB_TEXT && c->max)
            err = in_width(k, c);
    return err;
}

static enum err rule_bytes(struct checking *k)
{
    enum err err = OK;
    for (const struct job_column *c = job_columns; !err && c < job_columns + JOB_COLUMNS; c++) {
        const char *text = c->type == JOB_BYTES && c->max ? *job_text(k->in->r, c) : NULL;
        if (text && strlen(text) > (size_t)c->max && !told(k, c))
            err = fault_limits(k, c, ERR_INVALID, "text.bytes", "at most %lld,%03lld bytes",
                               (long long)c->max / 1000, (long long)c->max % 1000);
    }
    return err;
}

/* A number that keeps its limits comes into the record. */
static enum err take_number(struct checking *k, const struct job_column *c, int64_t min,
                            int64_t max)
{
    if (!said(k, c) || told(k, c))
        return OK;
    if (k->in->unreadable & job_bit(c))
        return no_number(k, c);
    int64_t v = k->in->numbers[c - job_columns];
    if (v < min || v > max)
        return fault_limits(k, c, ERR_INVALID, "number.range", "must be from %lld to %lld",
                            (long long)min, (long long)max);
    job_number_set(k->in->r, c, v);
    return OK;
}

static enum err rule_numbers(struct checking *k)
{
    enum err err = OK;
    for (const struct job_column *c = job_columns; !err && c < job_columns + JOB_COLUMNS; c++)
        if (c->type == JOB_INT || c->type == JOB_I64)
            err = take_number(k, c, c->min, c->max);
    return err;
}

static enum err rule_reals(struct checking *k)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if (c->type != JOB_REAL || !said(k, c) || told(k, c))
            continue;
        double v = k->in->reals[c - job_columns];
        bool good = !(k->in->unreadable & job_bit(c)) && isfinite(v) && v >= (double)c->min &&
                    v <= (double)c->max;
        enum err err = OK;
        if (good)
            *job_real(k->in->r, c) = v;
        else
            err = fault_limits(k, c, ERR_INVALID, "number.range",
                               "must be a number from %lld to %lld", (long long)c->min,
                               (long long)c->max);
        if (err)
            return err;
    }
    return OK;
}

static enum err rule_zone(struct checking *k)
{
    const struct job_column *c = JOB_COLUMN_OF(zone);
    struct zone *zone;
    struct why why = { "" };
    if (blank(k->in->r->zone) || told(k, c))
        return OK;
    if (zones_get(k->rules->zones, k->in->r->zone, &zone, &why))
        return fault(k, c, "zone", "%s", why.text);
    zone_unref(zone);
    return OK;
}

/* Words of ours; an absent one is the default. The original's have their place in its order. */
static enum err rule_words(struct checking *k)
{
    enum err err = OK;
    for (const struct job_column *c = job_columns; !err && c < job_columns + JOB_COLUMNS; c++) {
        if (c->type != JOB_WORD || c->table != JOB_OWN || !job_takes(k->in, c))
            continue;
        char **text = job_text(k->in->r, c);
        if (blank(*text)) {
            free(*text);
            *text = mem_dup(c->text);
        }
        err = known_word(k, c);
    }
    return err;
}

static enum err rule_flags(struct checking *k)
{
    enum err err = OK;
    for (const struct job_column *c = job_columns; !err && c < job_columns + JOB_COLUMNS; c++)
        if (c->type == JOB_BOOL)
            err = take_number(k, c, 0, 1);
    return err;
}

static enum err check(rule *const *all, size_t n, struct checking *k)
{
    for (size_t i = 0; i < n; i++) {
        enum err err = all[i](k);
        if (err)
            return err;
    }
    return k->first;
}

enum err job_rules_check(struct job_in *in, const struct job_rules *rules, job_fault_fn *fn,
                         void *ctx, struct why *why)
{
    static rule *const all[] = {
        rule_group,   rule_description, rule_author, rule_schedule, rule_glue_type, rule_handler,
        rule_route,   rule_misfire,     rule_block,  rule_children, rule_widths,    rule_bytes,
        rule_numbers, rule_reals,       rule_zone,   rule_words,    rule_flags,
    };
    struct checking k = { .in = in, .rules = rules, .fn = fn, .ctx = ctx, .why = why };
    return check(all, countof(all), &k);
}

enum err job_rules_check_schedule(struct job_in *in, const struct job_rules *rules,
                                  job_fault_fn *fn, void *ctx, struct why *why)
{
    static rule *const some[] = { rule_widths,  rule_schedule, rule_misfire,
                                  rule_numbers, rule_zone,     rule_words };
    struct checking k = { .in = in, .rules = rules, .fn = fn, .ctx = ctx, .why = why };
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (!c->json || strncmp(c->json, "/schedule/", 10) != 0)
            in->told |= job_bit(c);
    return check(some, countof(some), &k);
}

const char *job_misfire_default(const struct job_record *r)
{
    bool once = slice_eq(slice_text(r->schedule_type), "ONCE");
    return once ? "FIRE_ONCE_NOW" : JOB_COLUMN_OF(misfire)->text;
}
