/* SPDX-License-Identifier: Apache-2.0 */
/* memory_alarms.c - alarms and deliveries in memory. */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "store/memory/memory.h"

static struct alarm_record *alarm_copy(const struct alarm_record *from)
{
    struct alarm_record *r = mem_new(sizeof(*r));
    *r = *from;
    r->cause = mem_dup(from->cause ? from->cause : "");
    r->channel = mem_dup(from->channel);
    r->targets = mem_dup(from->targets);
    return r;
}

const struct mem_alarms_of *mem_alarms_of(const struct memory *m, int64_t log_id)
{
    return mem_find(m, T_ALARMS_OF, log_id);
}

static bool has_alarm(const struct memory *m, const struct alarm_record *r)
{
    const struct mem_alarms_of *of = mem_alarms_of(m, r->log_id);
    for (int i = 0; of && i < of->n; i++) {
        const struct alarm_record *other = mem_find(m, T_ALARM, of->ids[i]);
        if (strcmp(other->channel, r->channel) == 0)
            return true;
    }
    return false;
}

/* Put the row into the index (add), or take it out. */
static void index_put(struct memory *m, const struct alarm_record *r, bool add)
{
    const struct mem_alarms_of *old = mem_alarms_of(m, r->log_id);
    int n = old ? old->n : 0;
    struct mem_alarms_of *of = mem_new(sizeof(*of) + (size_t)(n + 1) * sizeof(of->ids[0]));
    for (int i = 0; i < n; i++)
        if (old->ids[i] != r->id)
            of->ids[of->n++] = old->ids[i];
    if (add)
        of->ids[of->n++] = r->id;
    if (!of->n) {
        free(of);
        of = NULL;
    }
    mem_put(m, T_ALARMS_OF, r->log_id, of);
}

/* What the log row said came of earlier alarms, of a loss: there is one under way again. */
static void claim_again(struct memory *m, int64_t log_id)
{
    const struct log_record *there = mem_find(m, T_LOG, log_id);
    if (!there || (there->alarm_status != ALARM_SENT && there->alarm_status != ALARM_FAILED))
        return;
    struct log_record *l = mem_log_copy(there);
    l->alarm_status = ALARM_CLAIMED;
    mem_put(m, T_LOG, log_id, l);
}

static enum err memory_alarms_add(struct store *s, struct alarm_record *rows, int n,
                                  struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        struct alarm_record *r = &rows[i];
        r->id = has_alarm(m, r) ? 0 : mem_next_id(m, T_ALARM);
        if (!r->id)
            continue;
        struct alarm_record *row = alarm_copy(r);
        row->closed_ms = -1;
        row->status = ALARM_CLAIMED;
        row->resent_ms = -1;
        mem_put(m, T_ALARM, row->id, row);
        index_put(m, row, true);
        claim_again(m, row->log_id);
    }
    return OK;
}

static enum err memory_alarms_open(struct store *s, const char *channel, int64_t after_id, int max,
                                   alarm_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    bool more = true;
    int64_t from_id = after_id > m->now.alarms_closed ? after_id : m->now.alarms_closed;
    for (int64_t id = from_id + 1; more && max > 0 && id <= m->now.last_id[T_ALARM]; id++) {
        const struct alarm_record *r = mem_find(m, T_ALARM, id);
        if (!r || r->closed_ms >= 0 || (channel && strcmp(r->channel, channel) != 0))
            continue;
        max--;
        more = fn(ctx, r);
    }
    return OK;
}

/* ---- deliveries ------------------------------------------------------------------------------ */

static int by_target(const void *a, const void *b)
{
    const struct delivery_record *x = &(*(const struct mem_delivery *const *)a)->row;
    const struct delivery_record *y = &(*(const struct mem_delivery *const *)b)->row;
    int order = strcmp(x->target, y->target);
    return order ? order : x->n - y->n;
}

static enum err memory_deliveries_each(struct store *s, int64_t alarm_id, delivery_row_fn *fn,
                                       void *ctx, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct mem_delivery **found =
        mem_new((m->tables[T_DELIVERY].len + 1) * sizeof(const struct mem_delivery *));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_DELIVERY], &i, &row);)
        if (((struct mem_delivery *)row)->row.alarm_id == alarm_id)
            found[n++] = row;
    qsort(found, n, sizeof(*found), by_target);
    for (size_t i = 0; i < n && fn(ctx, &found[i]->row); i++)
        ;
    free(found);
    return OK;
}

int64_t mem_delivery_key(int64_t alarm_id, const char *target, int n)
{
    uint64_t h = hash_u64((uint64_t)alarm_id) ^ hash_text(slice_text(target ? target : ""));
    return (int64_t)hash_u64(h + (uint64_t)n);
}

static enum err memory_delivery_add(struct store *s, const struct delivery_record *r,
                                    struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    int64_t key = mem_delivery_key(r->alarm_id, r->target, r->n);
    if (mem_find(m, T_DELIVERY, key))
        return OK;
    struct mem_delivery *row = mem_new(sizeof(*row));
    row->key = key;
    row->row = *r;
    row->row.target = mem_dup(r->target ? r->target : "");
    row->row.said = mem_dup(r->said);
    mem_put(m, T_DELIVERY, key, row);
    return OK;
}

/* ---- closing --------------------------------------------------------------------------------- */

/* The worst of a log row's alarms; ALARM_CLAIMED while one is open. */
static enum alarm_status worst(const struct memory *m, int64_t log_id)
{
    enum alarm_status status = ALARM_UNSEEN;
    const struct mem_alarms_of *of = mem_alarms_of(m, log_id);
    for (int i = 0; of && i < of->n; i++) {
        const struct alarm_record *r = mem_find(m, T_ALARM, of->ids[i]);
        if (r->closed_ms < 0)
            return ALARM_CLAIMED;
        status = r->status > status ? r->status : status;
    }
    return status;
}

static void note_closed(struct memory *m)
{
    int64_t *id = &m->now.alarms_closed;
    for (; *id < m->now.last_id[T_ALARM]; ++*id) {
        const struct alarm_record *next = mem_find(m, T_ALARM, *id + 1);
        if (next && next->closed_ms < 0)
            return;
    }
}

static enum err memory_alarm_close(struct store *s, int64_t id, enum alarm_status status,
                                   int64_t now_ms, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct alarm_record *old = mem_find(m, T_ALARM, id);
    if (!old || old->closed_ms >= 0)
        return OK;
    struct alarm_record *r = alarm_copy(old);
    r->closed_ms = now_ms;
    r->status = status;
    mem_put(m, T_ALARM, id, r);
    note_closed(m);
    const struct log_record *log = mem_find(m, T_LOG, r->log_id);
    if (!log || log->alarm_status != ALARM_CLAIMED)
        return OK;
    struct log_record *l = mem_log_copy(log);
    l->alarm_status = worst(m, r->log_id);
    mem_put(m, T_LOG, l->id, l);
    return OK;
}

static enum err memory_alarm_reopen(struct store *s, int64_t id, int64_t now_ms, struct why *why)
{
    struct memory *m = memory_of(s);
    const struct alarm_record *old = mem_find(m, T_ALARM, id);
    if (!old || old->closed_ms < 0) {
        why_set(why, "delivery %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    struct alarm_record *r = alarm_copy(old);
    r->closed_ms = -1;
    r->status = ALARM_CLAIMED;
    r->resent_ms = now_ms;
    mem_put(m, T_ALARM, id, r);
    if (m->now.alarms_closed >= id)
        m->now.alarms_closed = id - 1;
    claim_again(m, r->log_id);
    return OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

static enum err memory_alarm_get(struct store *s, int64_t id, struct alarm_record *ret,
                                 struct why *why)
{
    const struct alarm_record *r = mem_find(memory_of(s), T_ALARM, id);
    if (!r) {
        why_set(why, "delivery %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    struct alarm_record *copy = alarm_copy(r);
    *ret = *copy;
    free(copy);
    return OK;
}

static bool of_incident(const struct memory *m, const struct alarm_record *r, int64_t incident_id)
{
    const struct tell_record *t = r->log_id < 0 ? mem_find(m, T_TELL, -r->log_id) : NULL;
    return t && t->incident_id == incident_id;
}

static bool matches(const struct memory *m, const struct alarms_filter *f,
                    const struct alarm_record *r)
{
    bool open = r->closed_ms < 0;
    return (f->incident_id <= 0 || of_incident(m, r, f->incident_id)) &&
           (f->log_id <= 0 || r->log_id == f->log_id) &&
           (!f->channel || strcmp(r->channel, f->channel) == 0) &&
           (f->status == ALARM_UNSEEN ||
            (f->status == ALARM_CLAIMED ? open : !open && r->status == f->status)) &&
           (f->since_ms <= 0 || open || r->closed_ms >= f->since_ms) &&
           scope_has(f->scope, r->group_id);
}

static enum err memory_alarms_page(struct store *s, const struct alarms_filter *f, alarm_row_fn *fn,
                                   void *ctx, int64_t *ret_total, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    bool more = true;
    int64_t limit = f->limit;
    *ret_total = 0;
    for (int64_t id = m->now.last_id[T_ALARM]; id > 0; id--) {
        const struct alarm_record *r = mem_find(m, T_ALARM, id);
        if (!r || !matches(m, f, r))
            continue;
        *ret_total += *ret_total < ALARMS_COUNT_MAX;
        if (more && id < f->below_id && limit-- > 0)
            more = fn(ctx, r);
    }
    return OK;
}

static void deliveries_delete(struct memory *m, int64_t alarm_id)
{
    size_t n;
    int64_t *keys = mem_keys(m, T_DELIVERY, &n);
    for (size_t i = 0; i < n; i++)
        if (((struct mem_delivery *)mem_find(m, T_DELIVERY, keys[i]))->row.alarm_id == alarm_id)
            mem_put(m, T_DELIVERY, keys[i], NULL);
    free(keys);
}

static enum err memory_alarms_purge(struct store *s, int64_t before_ms, int max, bool *ret_more,
                                    struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    int gone = 0;
    int64_t *keys = mem_keys(m, T_ALARM, &n);
    for (size_t i = 0; gone < max && i < n; i++) {
        const struct alarm_record *r = mem_find(m, T_ALARM, keys[i]);
        if (r->closed_ms < 0 || r->closed_ms >= before_ms)
            continue;
        deliveries_delete(m, r->id);
        index_put(m, r, false);
        mem_put(m, T_ALARM, keys[i], NULL);
        gone++;
    }
    free(keys);
    *ret_more = gone >= max;
    return OK;
}

const struct store_alarms memory_alarms = {
    .alarms_add = memory_alarms_add,
    .alarms_open = memory_alarms_open,
    .deliveries_each = memory_deliveries_each,
    .delivery_add = memory_delivery_add,
    .alarm_close = memory_alarm_close,
    .alarm_get = memory_alarm_get,
    .alarms_page = memory_alarms_page,
    .alarm_reopen = memory_alarm_reopen,
    .alarms_purge = memory_alarms_purge,
    .channels_each = memory_channels_each,
    .channel_get = memory_channel_get,
    .channel_insert = memory_channel_insert,
    .channel_update = memory_channel_update,
    .channel_delete = memory_channel_delete,
};
