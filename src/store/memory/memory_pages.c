/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: pages, newest first. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include "store/shared.h"
#include <stdlib.h>
#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Does text contain part, ASCII messages in either case? An empty part is in everything, NULL
 * text in nothing else. */
static bool text_has(const char *text, const char *part)
{
    if (!part || !*part)
        return true;
    for (; text && *text; text++) {
        size_t i = 0;
        while (part[i] && lower(text[i]) == lower(part[i]))
            i++;
        if (!part[i])
            return true;
    }
    return false;
}

/* Walks a page: counts every match, tells when one is inside [offset, offset + limit). */
struct page {
    int64_t offset, limit, seen;
};

static bool page_takes(struct page *p)
{
    int64_t at = p->seen++;
    return at >= p->offset && at - p->offset < p->limit;
}

/* The first scheduled time that really fires: planning has moved next_ms past what it has planned.
 */
static int64_t next_to_fire(const struct memory *m, int64_t job_id, int64_t next_ms, int64_t now_ms)
{
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_RUN], &i, &row);) {
        const struct run_row *r = &((struct mem_run *)row)->row;
        if (r->job_id == job_id && r->kind == KIND_CRON && r->phase == PHASE_PLANNED &&
            r->scheduled_ms < next_ms && r->scheduled_ms > now_ms)
            next_ms = r->scheduled_ms;
    }
    return next_ms;
}

static struct log_record log_lend(const struct memory *m, const struct log_record *l)
{
    struct log_record lent = *l;
    const struct mem_run *r = mem_find(m, T_RUN, l->id);
    const char *msg;
    lent.kind = store_trigger_kind(l->trigger_msg, &msg);
    lent.trigger_msg = (char *)msg;
    if (r) {
        lent.phase = r->row.phase;
        lent.kind = r->row.kind;
        lent.scheduled_ms = r->row.scheduled_ms;
        lent.attempt = r->row.attempt;
    }
    return lent;
}

/* The newest of the schedule's runs whose scheduled time has come; planning has moved last_ms past
 * it. */
static int64_t last_fired(const struct memory *m, int64_t job_id, int64_t last_ms, int64_t now_ms)
{
    size_t n;
    if (now_ms <= 0 || last_ms <= now_ms)
        return last_ms;
    int64_t *keys = mem_keys(m, T_LOG, &n), found = 0;
    while (n-- > 0 && !found) {
        const struct log_record l = log_lend(m, mem_find(m, T_LOG, keys[n]));
        int64_t scheduled_ms = l.phase ? l.scheduled_ms : l.trigger_ms;
        if (l.job_id == job_id && l.kind == KIND_CRON && scheduled_ms <= now_ms)
            found = scheduled_ms;
    }
    free(keys);
    return found;
}

struct job_key { /* of a job that matches */
    int64_t id, key_ms, next_ms;
    char name[4 * JOBS_NAME_KEY + 1];
};

static void name_key(const char *name, char to[4 * JOBS_NAME_KEY + 1])
{
    size_t n = 0, length = 0;
    const char *p = name ? name : "";
    for (; p[length]; length++) {
        n += ((unsigned char)p[length] & 0xC0) != 0x80;
        if (n > JOBS_NAME_KEY)
            break;
    }
    memcpy(to, p, length);
    to[length] = '\0';
}

static int by_id(const void *a, const void *b)
{
    const struct job_key *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_newest(const void *a, const void *b)
{
    return -by_id(a, b);
}

static int by_name(const void *a, const void *b)
{
    const struct job_key *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : by_id(a, b);
}

static int by_time(const void *a, const void *b)
{
    const struct job_key *x = a, *y = b;
    int order = (x->key_ms > y->key_ms) - (x->key_ms < y->key_ms);
    return order ? order : by_id(a, b);
}

static int by_time_downwards(const void *a, const void *b)
{
    return -by_time(a, b);
}

/* Is each word in one of the texts, or the id? */
static bool has_words(int64_t row_id, const char *const texts[3], const char *words)
{
    struct slice rest = slice_trim(slice_text(words)), word;
    for (int n = 0; n < JOBS_WORDS_MAX && slice_cut(&rest, ' ', &word); n += word.n > 0) {
        char text[1024];
        int64_t id = -1;
        bool hash = word.n > 1 && word.p[0] == '#';
        text_copy(text, sizeof(text), word);
        if (!parse_i64(hash ? slice_of(word.p + 1, word.n - 1) : word, &id))
            id = -1;
        bool found = id == row_id;
        for (int i = 0; i < 3; i++)
            found = found || text_has(texts[i], text);
        if (!found)
            return false;
    }
    return true;
}

static bool is(const char *text, const char *wanted)
{
    return !wanted || (text && strcmp(text, wanted) == 0);
}

static bool is_among(int64_t id, const int64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return !ids;
}

static bool is_parent(const struct job_record *j, int64_t child)
{
    struct slice rest = slice_text(j->children), one;
    int64_t id;
    while (j->children && slice_item(&rest, &one))
        if (parse_i64(one, &id) && id == child)
            return true;
    return false;
}

static bool job_matches(const struct job_record *j, const struct jobs_filter *f)
{
    if (!scope_has(f->scope, j->group_id) || (f->group_id > 0 && j->group_id != f->group_id) ||
        (f->id > 0 && j->id != f->id) || (f->status >= 0 && j->enabled != (f->status == 1)) ||
        f->status > 1 || !is_among(j->id, f->only, f->nonly) ||
        (f->child > 0 && !is_parent(j, f->child)))
        return false;
    return text_has(j->description, f->description) && text_has(j->handler, f->handler) &&
           text_has(j->author, f->author) && is(j->schedule_type, f->type) &&
           is(j->author, f->owner) &&
           has_words(j->id, (const char *const[3]){ j->description, j->handler, j->author },
                     f->words);
}

typedef int compare(const void *a, const void *b);

static compare *order_of(enum jobs_order order)
{
    static compare *const all[] = {
        [JOBS_NEWEST] = by_newest, [JOBS_OLDEST] = by_id, [JOBS_NAME] = by_name,
        [JOBS_NEXT] = by_time,     [JOBS_LAST] = by_time, [JOBS_FIRED] = by_time_downwards,
    };
    return all[order];
}

static struct job_key key_of(const struct memory *m, const struct job_record *j,
                             const struct jobs_filter *f)
{
    const struct due_row *d = mem_find(m, T_DUE, j->id);
    struct job_key k = { .id = j->id, .next_ms = next_to_fire(m, j->id, d->next_ms, f->now_ms) };
    if (f->order == JOBS_NEXT)
        k.key_ms = k.next_ms;
    else if (f->order == JOBS_LAST || f->order == JOBS_FIRED)
        k.key_ms = last_fired(m, j->id, d->last_ms, f->now_ms);
    if (f->order == JOBS_LAST && k.key_ms <= 0)
        k.key_ms = NEVER_MS;
    name_key(j->description, k.name);
    return k;
}

static bool is_behind(const struct job_key *k, const struct jobs_filter *f)
{
    if (!f->after)
        return true;
    struct job_key last = { .id = f->after->id, .key_ms = f->after->key_ms };
    name_key(f->after->name, last.name);
    return order_of(f->order)(k, &last) > 0;
}

static bool job_lend(const struct memory *m, const struct job_key *k, const struct jobs_filter *f,
                     job_row_fn *fn, void *ctx)
{
    const struct due_row *d = mem_find(m, T_DUE, k->id);
    struct job_record lent = *(const struct job_record *)mem_find(m, T_JOB, k->id);
    lent.key_ms = k->key_ms;
    lent.next_ms = k->next_ms;
    lent.last_ms = last_fired(m, k->id, d->last_ms, f->now_ms);
    lent.planned_until_ms = d->planned_until_ms;
    lent.version = d->version;
    return fn(ctx, &lent);
}

enum err memory_jobs_page(struct store *s, const struct jobs_filter *f, job_row_fn *fn, void *ctx,
                          int64_t *ret_total, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    struct page page = { f->offset, f->limit, 0 };
    size_t n, matches = 0;
    int64_t *keys = mem_keys(m, T_JOB, &n);
    struct job_key *found = mem_new((n + 1) * sizeof(*found));
    bool more = true;
    for (size_t i = 0; i < n; i++) {
        const struct job_record *j = mem_find(m, T_JOB, keys[i]);
        if (job_matches(j, f))
            found[matches++] = key_of(m, j, f);
    }
    qsort(found, matches, sizeof(*found), order_of(f->order));
    for (size_t i = 0; i < matches; i++)
        if (is_behind(&found[i], f) && page_takes(&page) && more)
            more = job_lend(m, &found[i], f, fn, ctx);
    free(found);
    free(keys);
    *ret_total = (int64_t)matches;
    if (f->count_max && *ret_total > f->count_max)
        *ret_total = f->count_max;
    return OK;
}

static bool log_has_status(const struct memory *m, const struct log_record *l, int status)
{
    switch (status) {
    case 1:
        return l->handle_code == 200;
    case 2:
        return (l->trigger_code != 0 && l->trigger_code != 200) ||
               (l->handle_code != 0 && l->handle_code != 200);
    case 3:
        return l->trigger_code == 200 && l->handle_code == 0 && mem_find(m, T_RUN, l->id);
    default:
        return true;
    }
}

static bool ahead(const struct memory *m, const struct log_record *l, int64_t now_ms)
{
    const struct mem_run *r = mem_find(m, T_RUN, l->id);
    return r && r->row.phase == PHASE_PLANNED && r->row.due_ms > now_ms;
}

enum err memory_logs_page(struct store *s, const struct logs_filter *f, log_row_fn *fn, void *ctx,
                          int64_t *ret_total, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    struct page page = { f->offset, f->limit, 0 };
    size_t n;
    int64_t *keys = mem_keys(m, T_LOG, &n);
    bool more = true;
    while (n-- > 0) {
        const struct log_record *l = mem_find(m, T_LOG, keys[n]);
        if (!scope_has(f->scope, l->group_id) || (f->group_id > 0 && l->group_id != f->group_id) ||
            (f->job_id > 0 && l->job_id != f->job_id) ||
            (f->from_ms >= 0 && l->trigger_ms < f->from_ms) ||
            (f->to_ms >= 0 && l->trigger_ms > f->to_ms) || !log_has_status(m, l, f->status) ||
            (f->now_ms > 0 && ahead(m, l, f->now_ms)))
            continue;
        if (!page_takes(&page) || !more)
            continue;
        struct log_record lent = log_lend(m, l);
        more = fn(ctx, &lent);
    }
    free(keys);
    *ret_total = page.seen;
    return OK;
}

enum err memory_runs_page(struct store *s, const struct runs_filter *f, log_row_fn *fn, void *ctx,
                          struct runs_end *ret, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n, looked = 0;
    int64_t *keys = mem_keys(m, T_LOG, &n), given = 0;
    bool enough = false;
    *ret = (struct runs_end){ .exact = true };
    while (n-- > 0 && !enough) {
        const struct log_record *l = mem_find(m, T_LOG, keys[n]);
        if (l->id >= f->below_id || l->id < f->low_id || (f->now_ms > 0 && ahead(m, l, f->now_ms)))
            continue;
        struct log_record lent = log_lend(m, l);
        if (looked++ == RUNS_LOOK_MAX) {
            *ret = (struct runs_end){ true, given < f->limit ? l->id + 1 : ret->below_id,
                                      ret->counted, false };
            break;
        }
        if ((f->told && !mem_find(m, T_STORY, l->id)) || !store_run_matches(f, &lent))
            continue;
        ret->counted++;
        if (given >= f->limit) {
            ret->more = true;
            enough = ret->counted >= f->count_max;
        } else {
            given++;
            ret->below_id = l->id;
            enough = !fn(ctx, &lent);
        }
    }
    if (enough)
        ret->exact = false;
    free(keys);
    return OK;
}

static bool group_matches(const struct group_record *g, const struct groups_filter *f)
{
    return scope_has(f->scope, g->id) && text_has(g->app, f->app) && text_has(g->title, f->title) &&
           has_words(g->id, (const char *const[3]){ g->app, g->title, NULL }, f->words);
}

enum err memory_groups_page(struct store *s, const struct groups_filter *f, group_row_fn *fn,
                            void *ctx, int64_t *ret_total, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    struct page page = { f->offset, f->limit, 0 };
    size_t n;
    int64_t *keys = mem_keys(m, T_GROUP, &n);
    bool more = true;
    *ret_total = 0;
    for (size_t i = 0; i < n; i++) {
        const struct group_record *g = mem_find(m, T_GROUP, keys[i]);
        bool matches = group_matches(g, f);
        *ret_total += matches;
        if (matches && g->id > f->after_id && page_takes(&page) && more)
            more = fn(ctx, g);
    }
    free(keys);
    return OK;
}

enum err memory_log_get(struct store *s, int64_t id, struct log_record *ret, struct why *why)
{
    const struct memory *m = memory_of(s);
    const struct log_record *l = mem_find(m, T_LOG, id);
    if (!l) {
        why_set(why, "log %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    *ret = log_lend(m, l);
    ret->address = mem_dup(l->address);
    ret->handler = mem_dup(l->handler);
    ret->param = mem_dup(l->param);
    ret->sharding = mem_dup(l->sharding);
    ret->trigger_msg = mem_dup(ret->trigger_msg);
    ret->handle_msg = mem_dup(l->handle_msg);
    return OK;
}

enum err memory_facts(struct store *s, struct store_facts *ret, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_LOG, &n);
    *ret = (struct store_facts){ .oldest_ms = -1 };
    if (n)
        ret->oldest_ms = ((const struct log_record *)mem_find(m, T_LOG, keys[0]))->trigger_ms;
    free(keys);
    return OK;
}

enum err memory_group_get(struct store *s, int64_t id, struct group_record *ret, struct why *why)
{
    const struct group_record *g = mem_find(memory_of(s), T_GROUP, id);
    if (!g) {
        why_set(why, "group %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    group_record_copy(ret, g);
    return OK;
}

enum err memory_groups_get(struct store *s, const int64_t *ids, int n, group_row_fn *fn, void *ctx,
                           struct why *why)
{
    (void)why;
    bool more = true;
    for (int i = 0; more && i < n; i++) {
        const struct group_record *g = mem_find(memory_of(s), T_GROUP, ids[i]);
        more = !g || fn(ctx, g);
    }
    return OK;
}

static bool names_child(const char *children, int64_t id)
{
    struct slice rest = slice_text(children), one;
    int64_t child;
    while (slice_cut(&rest, ',', &one))
        if (parse_i64(slice_trim(one), &child) && child == id)
            return true;
    return false;
}

enum err memory_job_parents(struct store *s, int64_t id, int64_t *ret_count, struct why *why)
{
    (void)why;
    int64_t count = 0;
    void *row;
    for (size_t i = 0; map_next(&memory_of(s)->tables[T_JOB], &i, &row);) {
        const struct job_record *r = row;
        count += r->id != id && names_child(r->children, id);
    }
    *ret_count = count;
    return OK;
}

enum err memory_group_jobs(struct store *s, int64_t group_id, int64_t *ret_count, struct why *why)
{
    (void)why;
    int64_t count = 0;
    void *row;
    for (size_t i = 0; map_next(&memory_of(s)->tables[T_JOB], &i, &row);)
        count += ((struct job_record *)row)->group_id == group_id;
    *ret_count = count;
    return OK;
}
