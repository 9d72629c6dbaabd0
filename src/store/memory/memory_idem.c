/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: requests with an Idempotency-Key. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdlib.h>
#include <string.h>

enum err memory_idem_find(struct store *s, int64_t user_id, const char *key,
                          struct idem_record *ret, struct why *why)
{
    const struct memory *m = memory_of(s);
    const struct idem_record *found = NULL;
    size_t n;
    int64_t *keys = mem_keys(m, T_IDEM, &n);
    for (size_t i = 0; i < n && !found; i++) {
        const struct idem_record *r = mem_find(m, T_IDEM, keys[i]);
        if (r->user_id == user_id && strcmp(r->key, key) == 0)
            found = r;
    }
    free(keys);
    if (found) {
        idem_record_copy(ret, found);
        return OK;
    }
    why_set(why, "the key has not been used");
    return ERR_NOTFOUND;
}

enum err memory_idem_insert(struct store *s, struct idem_record *r, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct idem_record *row = mem_new(sizeof(*row));
    r->id = mem_next_id(m, T_IDEM);
    idem_record_copy(row, r);
    mem_put(m, T_IDEM, row->id, row);
    return OK;
}

enum err memory_idem_answer(struct store *s, const struct idem_record *r, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct idem_record *old = mem_find(m, T_IDEM, r->id);
    if (!old)
        return OK;
    struct idem_record *row = mem_new(sizeof(*row)), now = *old;
    now.status = r->status;
    now.headers = r->headers;
    now.answer = r->answer;
    idem_record_copy(row, &now);
    mem_put(m, T_IDEM, row->id, row);
    return OK;
}

static struct mem_idem_made *made_find(const struct memory *m, int64_t id, int64_t item)
{
    struct mem_idem_made *found = NULL;
    size_t n;
    int64_t *keys = mem_keys(m, T_IDEM_MADE, &n);
    for (size_t i = 0; i < n && !found; i++) {
        struct mem_idem_made *row = mem_find(m, T_IDEM_MADE, keys[i]);
        if (row->idem_id == id && row->item == item)
            found = row;
    }
    free(keys);
    return found;
}

enum err memory_idem_delete(struct store *s, int64_t id, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_IDEM_MADE, &n);
    for (size_t i = 0; i < n; i++)
        if (((struct mem_idem_made *)mem_find(m, T_IDEM_MADE, keys[i]))->idem_id == id)
            mem_put(m, T_IDEM_MADE, keys[i], NULL);
    free(keys);
    if (mem_find(m, T_IDEM, id))
        mem_put(m, T_IDEM, id, NULL);
    return OK;
}

enum err memory_idem_expire(struct store *s, int64_t before_ms, int max, struct why *why)
{
    const struct memory *m = memory_of(s);
    size_t n;
    int64_t *keys = mem_keys(m, T_IDEM, &n);
    enum err err = OK;
    for (size_t i = 0; i < n && max > 0 && !err; i++)
        if (((struct idem_record *)mem_find(m, T_IDEM, keys[i]))->at_ms < before_ms) {
            err = memory_idem_delete(s, keys[i], why);
            max--;
        }
    free(keys);
    return err;
}

enum err memory_idem_made_get(struct store *s, int64_t id, int64_t item, int64_t *ret_made,
                              struct why *why)
{
    const struct mem_idem_made *row = made_find(memory_of(s), id, item);
    if (row) {
        *ret_made = row->made;
        return OK;
    }
    why_set(why, "it has not been made");
    return ERR_NOTFOUND;
}

enum err memory_idem_made_put(struct store *s, int64_t id, int64_t item, int64_t made,
                              struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct mem_idem_made *old = made_find(m, id, item);
    struct mem_idem_made *row = mem_new(sizeof(*row));
    *row = (struct mem_idem_made){ old ? old->id : mem_next_id(m, T_IDEM_MADE), id, item, made };
    mem_put(m, T_IDEM_MADE, row->id, row);
    return OK;
}
