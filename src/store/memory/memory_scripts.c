/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: the versions of scripts. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdlib.h>
#include <string.h>

static struct script_record *script_copy(const struct script_record *from)
{
    struct script_record *r = mem_new(sizeof(*r));
    *r = *from;
    r->glue_type = mem_dup(from->glue_type);
    r->source = mem_dup(from->source);
    r->remark = mem_dup(from->remark);
    r->bytes = from->source ? (int64_t)strlen(from->source) : 0;
    return r;
}

enum err memory_scripts_each(struct store *s, int64_t job_id, int64_t before_id, int max,
                             script_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_SCRIPT, &n);
    bool more = true;
    while (n-- > 0 && more && max > 0) {
        struct script_record lent = *(const struct script_record *)mem_find(m, T_SCRIPT, keys[n]);
        if (lent.job_id != job_id || (before_id > 0 && lent.id >= before_id))
            continue;
        lent.source = NULL;
        more = fn(ctx, &lent);
        max--;
    }
    free(keys);
    return OK;
}

enum err memory_script_get(struct store *s, int64_t job_id, int64_t id, struct script_record *ret,
                           struct why *why)
{
    const struct script_record *r = mem_find(memory_of(s), T_SCRIPT, id);
    if (!r || r->job_id != job_id) {
        why_set(why, "script %lld does not exist", (long long)id);
        return ERR_NOTFOUND;
    }
    struct script_record *copy = script_copy(r);
    *ret = *copy;
    free(copy);
    return OK;
}

/* Delete those of the job, but for the newest. */
void mem_scripts_trim(struct memory *m, int64_t job_id, int keep)
{
    size_t n;
    int64_t *keys = mem_keys(m, T_SCRIPT, &n);
    while (n-- > 0) {
        const struct script_record *r = mem_find(m, T_SCRIPT, keys[n]);
        if (r->job_id == job_id && keep-- <= 0)
            mem_put(m, T_SCRIPT, keys[n], NULL);
    }
    free(keys);
}

enum err memory_script_add(struct store *s, struct script_record *r, int keep, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    r->id = mem_next_id(m, T_SCRIPT);
    mem_put(m, T_SCRIPT, r->id, script_copy(r));
    mem_scripts_trim(m, r->job_id, keep);
    return OK;
}
