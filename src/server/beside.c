/* SPDX-License-Identifier: Apache-2.0 */
/* Executors that register with a Java admin alone are known here by its rows: one that is younger
 * than the time between two beats counts as a beat that came now. Nothing of it is written back, so
 * an executor that has gone is forgotten by both.
 *
 * The same holds for their results: an open run whose log row a Java admin has ended has that end.
 * The admin has triggered its children, and finds the failure of one that has failed.
 *
 * A group is told of when what it says of its executors is not what it said at the last look, so
 * all of them are at the first one. */
#include "server/beside.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

enum {
    FRESH_MS = 45000, /* executors beat every 30 s */
    SAYS_MAX = 1024 * 1024,
};

struct beside {
    struct map says; /* group id -> what it says of its executors, owned */
    struct mailbox *tell;
    int kind;
};

struct ended { /* a run, by its executor's word to a Java admin */
    int64_t log_id;
    int code;
    char *msg;
};

struct news {
    struct message message;
    struct registry_record *rows;
    struct group_record *groups;
    struct ended *ended;
    int nrows, ngroups, nended;
};

/* One more at the end of the list. */
#define ADD(list, n, value)                                                                        \
    ((list) = mem_resize((list), ((size_t)(n) + 1) * sizeof(*(list))), (list)[(n)++] = (value))

struct look {
    struct beside *b;
    struct news *news;
    int64_t now_ms;
};

struct beside *beside_new(struct mailbox *tell, int kind)
{
    struct beside *b = mem_new(sizeof(*b));
    map_init(&b->says);
    b->tell = tell;
    b->kind = kind;
    return b;
}

void beside_free(struct beside *b)
{
    if (!b)
        return;
    void *says;
    for (size_t i = 0; map_next(&b->says, &i, &says);)
        free(says);
    map_done(&b->says);
    free(b);
}

/* ---- looking --------------------------------------------------------------------------------- */

static bool on_row(void *ctx, const struct registry_record *r)
{
    struct look *l = ctx;
    if (r->updated_ms < l->now_ms - FRESH_MS)
        return true;
    struct registry_record row = { mem_dup(r->group), mem_dup(r->key), mem_dup(r->value),
                                   r->updated_ms };
    ADD(l->news->rows, l->news->nrows, row);
    return true;
}

/* The list of a group by registry follows from registrations. */
static char *says_of(const struct group_record *g)
{
    struct buf text = BUF_INIT(SAYS_MAX);
    buf_printf(&text, "%d %s", g->address_type, g->app ? g->app : "");
    if (g->address_type != 0)
        buf_printf(&text, "\n%s", g->address_list ? g->address_list : "");
    return buf_take(&text);
}

static bool on_group(void *ctx, const struct group_record *g)
{
    struct look *l = ctx;
    char *says = says_of(g), *before = map_set(&l->b->says, (uint64_t)g->id, says);
    bool changed = !before || strcmp(before, says) != 0;
    free(before);
    if (!changed)
        return true;
    struct group_record copy;
    group_record_copy(&copy, g);
    ADD(l->news->groups, l->news->ngroups, copy);
    return true;
}

static bool on_ended(void *ctx, int64_t log_id, int code, const char *msg)
{
    struct look *l = ctx;
    struct ended ended = { log_id, code, mem_dup(msg) };
    ADD(l->news->ended, l->news->nended, ended);
    return true;
}

static enum err read_all(struct look *l, struct store *reader, struct why *why)
{
    const struct store_ops *ops = reader->ops;
    enum err err = ops->catalog->groups_each(reader, on_group, l, why);
    if (!err)
        err = ops->catalog->registry_each(reader, on_row, l, why);
    if (!err && ops->pages->runs_ended)
        err = ops->pages->runs_ended(reader, on_ended, l, why);
    return err;
}

void beside_look(struct beside *b, struct store *reader)
{
    struct look l = { b, mem_new(sizeof(*l.news)), clock_wall_ms() };
    struct why why = { "" };
    l.news->message.kind = b->kind;
    enum err err = read_all(&l, reader, &why);
    if (err)
        log_warn("maintenance",
                 "what Java admins have changed is not known, will be read again: %s", why.text);
    if (l.news->nrows || l.news->ngroups || l.news->nended)
        mailbox_send(b->tell, &l.news->message);
    else
        beside_drop(&l.news->message);
}

/* ---- hearing --------------------------------------------------------------------------------- */

void beside_heard(struct sched *s, struct now now, struct message *m)
{
    struct news *news = container_of(m, struct news, message);
    for (int i = 0; i < news->ngroups; i++)
        sched_load_group(s, &news->groups[i]);
    for (int i = 0; i < news->nrows; i++)
        sched_load_registry(s, now, &news->rows[i]);
    for (int i = 0; i < news->nended; i++)
        sched_result_elsewhere(s, now, news->ended[i].log_id, news->ended[i].code,
                               slice_text(news->ended[i].msg ? news->ended[i].msg : ""));
    beside_drop(m);
}

void beside_drop(struct message *m)
{
    struct news *news = container_of(m, struct news, message);
    for (int i = 0; i < news->ngroups; i++)
        group_record_done(&news->groups[i]);
    for (int i = 0; i < news->nrows; i++)
        registry_record_done(&news->rows[i]);
    for (int i = 0; i < news->nended; i++)
        free(news->ended[i].msg);
    free(news->ended);
    free(news->groups);
    free(news->rows);
    free(news);
}
