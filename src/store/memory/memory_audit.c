/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: the audit. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdlib.h>
#include <string.h>

enum err memory_audit_add(struct store *s, struct audit_record *r, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct audit_record *row = mem_new(sizeof(*row));
    audit_record_copy(row, r);
    row->id = r->id = mem_next_id(m, T_AUDIT);
    row->items = 0;
    mem_put(m, T_AUDIT, row->id, row);
    return OK;
}

enum err memory_audit_item_add(struct store *s, int64_t id, const char *kind, const char *object,
                               struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct mem_audit_item *item = mem_new(sizeof(*item));
    *item =
        (struct mem_audit_item){ mem_next_id(m, T_AUDIT_ITEM), id, mem_dup(kind), mem_dup(object) };
    mem_put(m, T_AUDIT_ITEM, item->id, item);
    return OK;
}

/* The entry's items that are this thing; kind NULL: all of them. */
static int64_t items(const struct memory *m, int64_t audit_id, const char *kind, const char *object)
{
    size_t n;
    int64_t *keys = mem_keys(m, T_AUDIT_ITEM, &n), found = 0;
    for (size_t i = 0; i < n; i++) {
        const struct mem_audit_item *item = mem_find(m, T_AUDIT_ITEM, keys[i]);
        found += item->audit_id == audit_id &&
                 (!kind || (strcmp(item->kind, kind) == 0 && strcmp(item->object, object) == 0));
    }
    free(keys);
    return found;
}

static bool is(const char *wanted, const char *text)
{
    return !wanted || !*wanted || strcmp(wanted, text) == 0;
}

static bool action_is(const char *wanted, const char *action)
{
    size_t n = wanted ? strlen(wanted) : 0;
    if (n > 2 && strcmp(wanted + n - 2, ".*") == 0)
        return strncmp(wanted, action, n - 1) == 0;
    return is(wanted, action);
}

static bool matches(const struct memory *m, const struct audit_record *r,
                    const struct audit_filter *f)
{
    bool both = f->kind && *f->kind && f->object && *f->object;
    bool words = !f->words || !*f->words || strcasestr(r->name, f->words) ||
                 strcasestr(r->user, f->words) || strcmp(r->object, f->words) == 0;
    return words && (f->from_ms < 0 || r->at_ms >= f->from_ms) &&
           (f->to_ms < 0 || r->at_ms < f->to_ms) && is(f->user, r->user) &&
           action_is(f->action, r->action) &&
           ((is(f->kind, r->kind) && is(f->object, r->object)) ||
            (both && items(m, r->id, f->kind, f->object)));
}

enum err memory_audit_page(struct store *s, const struct audit_filter *f, audit_row_fn *fn,
                           void *ctx, int64_t *ret_total, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_AUDIT, &n), total = 0, left = f->limit;
    bool more = true;
    while (n-- > 0) {
        const struct audit_record *r = mem_find(m, T_AUDIT, keys[n]);
        if (!matches(m, r, f))
            continue;
        total++;
        if (more && left > 0 && (f->before_id <= 0 || r->id < f->before_id)) {
            struct audit_record lent = *r;
            lent.items = items(m, r->id, NULL, NULL);
            more = fn(ctx, &lent);
            left--;
        }
    }
    free(keys);
    *ret_total = total;
    return OK;
}

enum err memory_audit_get(struct store *s, int64_t id, struct audit_record *ret, struct why *why)
{
    const struct audit_record *r = mem_find(memory_of(s), T_AUDIT, id);
    if (!r) {
        why_set(why, "audit entry %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    audit_record_copy(ret, r);
    ret->items = items(memory_of(s), id, NULL, NULL);
    return OK;
}

enum err memory_audit_expire(struct store *s, int64_t before_ms, int max, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_AUDIT, &n);
    for (size_t i = 0; i < n && i < (size_t)max; i++)
        if (((struct audit_record *)mem_find(m, T_AUDIT, keys[i]))->at_ms < before_ms)
            mem_put(m, T_AUDIT, keys[i], NULL);
    free(keys);
    keys = mem_keys(m, T_AUDIT_ITEM, &n);
    for (size_t i = 0; i < n; i++) {
        const struct mem_audit_item *item = mem_find(m, T_AUDIT_ITEM, keys[i]);
        if (!mem_find(m, T_AUDIT, item->audit_id))
            mem_put(m, T_AUDIT_ITEM, keys[i], NULL);
    }
    free(keys);
    return OK;
}
