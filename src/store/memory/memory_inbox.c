/* SPDX-License-Identifier: Apache-2.0 */
/* memory_inbox.c - what one node leaves for another, and what it is answered, in memory. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdlib.h>
#include <string.h>

static void inbox_change(struct memory *m, const struct inbox_row *to)
{
    struct inbox_row *r = mem_new(sizeof(*r));
    *r = *to;
    r->msg = mem_dup(to->msg ? to->msg : "");
    mem_put(m, T_INBOX, r->id, r);
}

enum err memory_inbox_put(struct store *s, const struct inbox_row *rows, int n, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        struct inbox_row r = rows[i];
        r.id = mem_next_id(m, T_INBOX);
        r.what = INBOX_RESULT;
        inbox_change(m, &r);
    }
    return OK;
}

enum err memory_inbox_each(struct store *s, int64_t after_id, int max, inbox_row_fn *fn, void *ctx,
                           struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    size_t n;
    bool more = true;
    int64_t *keys = mem_keys(m, T_INBOX, &n);
    for (size_t i = 0; i < n && more && max > 0; i++) {
        const struct inbox_row *r = mem_find(m, T_INBOX, keys[i]);
        const struct mem_run *run = mem_find(m, T_RUN, r->log_id);
        bool for_us =
            run ? r->what != INBOX_ANSWERED && run->epoch == m->at->epoch : r->what == INBOX_RESULT;
        if (r->id <= after_id || !for_us)
            continue;
        more = fn(ctx, r);
        max--;
    }
    free(keys);
    return OK;
}

enum err memory_inbox_take(struct store *s, const int64_t *ids, int n, bool *taken, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        taken[i] = mem_find(m, T_INBOX, ids[i]) && !mem_held(m, T_INBOX, ids[i]);
        if (taken[i])
            mem_put(m, T_INBOX, ids[i], NULL);
    }
    return OK;
}

enum err memory_inbox_ask(struct store *s, int64_t log_id, int64_t at_ms, int64_t *ret_id,
                          struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    const struct inbox_row r = {
        .id = mem_next_id(m, T_INBOX), .log_id = log_id, .at_ms = at_ms, .what = INBOX_KILL
    };
    inbox_change(m, &r);
    *ret_id = r.id;
    return OK;
}

enum err memory_inbox_answer(struct store *s, int64_t id, enum inbox_answer code, const char *msg,
                             int64_t before_ms, struct why *why)
{
    struct memory *m = memory_of(s);
    const struct inbox_row *old = mem_find(m, T_INBOX, id);
    if (old && old->what == INBOX_KILL) {
        struct inbox_row r = *old;
        r.what = INBOX_ANSWERED;
        r.code = code;
        r.msg = (char *)msg;
        inbox_change(m, &r);
    }
    size_t n;
    int64_t *keys = mem_keys(m, T_INBOX, &n);
    for (size_t i = 0; i < n; i++) {
        const struct inbox_row *r = mem_find(m, T_INBOX, keys[i]);
        if (r->what != INBOX_RESULT && r->at_ms < before_ms && !mem_held(m, T_INBOX, keys[i]))
            mem_put(m, T_INBOX, keys[i], NULL);
    }
    free(keys);
    return m->at->lost ? mem_busy(m, why) : OK;
}

enum err memory_inbox_get(struct store *s, int64_t id, struct inbox_row *ret, struct why *why)
{
    (void)why;
    const struct inbox_row *r = mem_find(memory_of(s), T_INBOX, id);
    if (!r)
        return ERR_NOTFOUND;
    *ret = *r;
    ret->msg = mem_dup(r->msg);
    return OK;
}
