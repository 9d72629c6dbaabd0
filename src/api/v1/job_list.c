/* SPDX-License-Identifier: Apache-2.0 */
/* The list of jobs, by key: one row more than the page has says whether another page comes. */
#include "api/v1/group_filter.h"
#include "api/v1/job_page.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>

#define COUNT_MAX 10000

static const char *const states[] = { "stopped", "scheduled" };
static const char *const types[] = { "NONE", "CRON", "FIX_RATE", "FIX_DELAY", "ONCE" };
static const char *const sorts[] = { "-id", "id", "name", "next" }; /* as enum jobs_order */

struct job_list {
    struct jobs_filter f;
    struct scope scope; /* of the filter's groups */
    int64_t groups[QUERY_GROUPS_MAX], both[QUERY_GROUPS_MAX];
    struct cursor at;
    struct jobs_key after;
    uint64_t members;
    /* of the page */
    struct job_writer writer;
    struct cursor last;
    int64_t n;
    enum err err;
    struct why why;
};

static int word_of(struct query *q, const char *name, const char *const *words, size_t n)
{
    uint64_t bits = query_words(q, name, words, n);
    if (bits & (bits - 1)) {
        query_bad(q, name, "word", "only one is wanted");
        bits = 0;
    }
    return bits ? __builtin_ctzll(bits) : -1;
}

/* Only groups that both the filter and the asker's rights have. */
static void filter_groups(struct web_call *call, struct query *q, struct job_list *l)
{
    const struct scope *scope = actor_scope(call->actor, PERM_READ);
    l->f.scope = scope;
    if (!query_groups(q, "group", l->groups, &l->scope))
        return;
    if (!scope_is_all(scope))
        l->scope = scope_and(&l->scope, scope, l->both);
    l->f.scope = &l->scope;
}

static bool read_filter(struct web_call *call, struct job_list *l)
{
    struct query q;
    query_begin(&q, call);
    l->f = (struct jobs_filter){ .now_ms = clock_wall_ms(), .count_max = COUNT_MAX + 1 };
    l->f.limit = query_limit(&q) + 1; /* is there one behind the page? */
    l->f.words = query_text(&q, "q", 200);
    l->f.handler = query_text(&q, "handler", 255);
    l->f.owner = query_text(&q, "owner", 64);
    l->f.status = word_of(&q, "state", states, countof(states));
    int type = word_of(&q, "type", types, countof(types));
    l->f.type = type < 0 ? NULL : types[type];
    int sort = word_of(&q, "sort", sorts, countof(sorts));
    l->f.order = sort < 0 ? JOBS_NEWEST : (enum jobs_order)sort;
    l->members = query_words(&q, "fields", job_members, JOB_MEMBERS);
    filter_groups(call, &q, l);
    if (query_cursor(&q, &l->at)) {
        l->after = (struct jobs_key){ l->at.id, l->at.number, l->at.text };
        l->f.after = &l->after;
    }
    return query_end(&q);
}

/* The row's place in the list. */
static struct cursor place(const struct job_record *r)
{
    struct cursor c = { .number = r->next_ms, .id = r->id };
    const char *name = r->description ? r->description : "";
    size_t n = 0, characters = 0;
    for (; name[n]; n++) {
        characters += ((unsigned char)name[n] & 0xC0) != 0x80;
        if (characters > JOBS_NAME_KEY)
            break;
    }
    text_copy(c.text, sizeof(c.text), slice_of(name, n));
    return c;
}

static bool add_row(void *ctx, const struct job_record *r)
{
    struct job_list *l = ctx;
    if (++l->n == l->f.limit) /* the one behind */
        return false;
    l->last = place(r);
    l->err = job_write(&l->writer, r, &l->why);
    return !l->err;
}

static void list(struct web_call *call, struct job_list *l)
{
    struct jsonw w = jsonw_on(&call->output);
    int64_t total = 0;
    job_writer_init(&l->writer, call, &w, l->members);
    v1_list_begin(&w);
    enum err err = call->db->ops->pages->jobs_page(call->db, &l->f, add_row, l, &total, &l->why);
    job_writer_done(&l->writer);
    if (!err)
        err = l->err;
    if (err)
        problem_err(call, err, &l->why);
    else
        v1_list_end(call, &w, l->n == l->f.limit ? &l->last : NULL,
                    total > COUNT_MAX ? COUNT_MAX : total, total <= COUNT_MAX);
}

void v1_jobs_list(struct web_call *call)
{
    struct job_list *l = mem_new(sizeof(*l));
    if (read_filter(call, l))
        list(call, l);
    free(l);
}
