/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: the audit. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdlib.h>
#include <string.h>

enum err memory_audit_add(struct store *s, const struct audit_record *r, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct audit_record *row = mem_new(sizeof(*row));
    audit_record_copy(row, r);
    row->id = mem_next_id(m, T_AUDIT);
    mem_put(m, T_AUDIT, row->id, row);
    return OK;
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

static bool matches(const struct audit_record *r, const struct audit_filter *f)
{
    bool words = !f->words || !*f->words || strcasestr(r->name, f->words) ||
                 strcasestr(r->user, f->words) || strcmp(r->object, f->words) == 0;
    return words && (f->from_ms < 0 || r->at_ms >= f->from_ms) &&
           (f->to_ms < 0 || r->at_ms < f->to_ms) && is(f->user, r->user) &&
           action_is(f->action, r->action) && is(f->kind, r->kind) && is(f->object, r->object);
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
        if (!matches(r, f))
            continue;
        total++;
        if (more && left > 0 && (f->before_id <= 0 || r->id < f->before_id)) {
            more = fn(ctx, r);
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
    return OK;
}
