/* SPDX-License-Identifier: Apache-2.0 */
/* memory_channels.c - alarm channels in memory. */
#include <stdlib.h>
#include "base/mem.h"
#include "store/memory/memory.h"

static enum err none(int64_t id, struct why *why)
{
    why_set(why, "channel %lld does not exist", (long long)id);
    return ERR_NOTFOUND;
}

static struct channel_record *channel_new(const struct channel_record *from)
{
    struct channel_record *r = mem_new(sizeof(*r));
    channel_record_copy(r, from);
    return r;
}

enum err memory_channels_each(struct store *s, channel_row_fn *fn, void *ctx, struct why *why)
{
    (void)why;
    size_t n;
    int64_t *keys = mem_keys(memory_of(s), T_CHANNEL, &n);
    bool more = true;
    for (size_t i = 0; more && i < n; i++)
        more = fn(ctx, mem_find(memory_of(s), T_CHANNEL, keys[i]));
    free(keys);
    return OK;
}

enum err memory_channel_get(struct store *s, int64_t id, struct channel_record *ret,
                            struct why *why)
{
    const struct channel_record *r = mem_find(memory_of(s), T_CHANNEL, id);
    if (!r)
        return none(id, why);
    channel_record_copy(ret, r);
    return OK;
}

enum err memory_channel_insert(struct store *s, struct channel_record *r, struct why *why)
{
    (void)why;
    r->id = mem_next_id(memory_of(s), T_CHANNEL);
    mem_put(memory_of(s), T_CHANNEL, r->id, channel_new(r));
    return OK;
}

enum err memory_channel_update(struct store *s, const struct channel_record *r, struct why *why)
{
    if (!mem_find(memory_of(s), T_CHANNEL, r->id))
        return none(r->id, why);
    mem_put(memory_of(s), T_CHANNEL, r->id, channel_new(r));
    return OK;
}

enum err memory_channel_delete(struct store *s, int64_t id, struct why *why)
{
    if (!mem_find(memory_of(s), T_CHANNEL, id))
        return none(id, why);
    mem_put(memory_of(s), T_CHANNEL, id, NULL);
    return OK;
}
