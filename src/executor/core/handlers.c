/* SPDX-License-Identifier: Apache-2.0 */
/* Each handler is one allocation with its name and its number behind it: pointers to it stay valid
 * while others are added, and its number is found without a search. */
#include "executor/core/handlers.h"
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

struct entry { /* one handler: a single piece of memory with its name behind it */
    struct peal_handler handler;
    size_t number;
    char name[];
};

void handlers_init(struct handlers *h)
{
    *h = (struct handlers){ .n = 0 };
    textmap_init(&h->by_name);
}

void handlers_done(struct handlers *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(container_of(h->all[i], struct entry, handler));
    free(h->all);
    textmap_done(&h->by_name);
}

static enum err check(const struct handlers *h, const struct peal_handler *add, struct why *why)
{
    struct slice name = slice_text(add->name);
    int shown = (int)utf8_cut(name.p ? name.p : "", name.n, 64);
    enum err err = ERR_INVALID;
    if (slice_trim(name).n == 0)
        why_set(why, "a handler's name must not be blank");
    else if (name.n > HANDLER_NAME_MAX)
        why_set(why, "handler %.*s...: its name has %zu bytes, at most %d are possible", shown,
                name.p, name.n, HANDLER_NAME_MAX);
    else if (!utf8_valid(name.p, name.n))
        why_set(why, "a handler's name must be UTF-8");
    else if (slice_trim(name).n != name.n)
        why_set(why, "handler %.*s: its name must not begin or end with a blank", shown, name.p);
    else if (!add->run)
        why_set(why, "handler %.*s: it has no function", shown, name.p);
    else if (add->flags & ~(unsigned)(PEAL_PROCESS | PEAL_IDEMPOTENT))
        why_set(why, "handler %.*s: unknown flags (%#x)", shown, name.p, add->flags);
    else if (handlers_find(h, name)) {
        why_set(why, "handler %.*s: there is one of that name already", shown, name.p);
        err = ERR_EXISTS;
    } else
        err = OK;
    return err;
}

enum err handlers_add(struct handlers *h, const struct peal_handler *add, struct why *why)
{
    enum err err = check(h, add, why);
    if (err)
        return err;
    size_t size = strlen(add->name) + 1;
    struct entry *e = try_alloc(sizeof(*e) + size);
    if (!e)
        return ERR_NOMEM;
    memcpy(e->name, add->name, size);
    e->handler = *add;
    e->handler.name = e->name;
    e->number = h->n;
    h->all = mem_resize(h->all, (h->n + 1) * sizeof(*h->all));
    h->all[h->n++] = &e->handler;
    textmap_set(&h->by_name, slice_of(e->name, size - 1), &e->handler);
    return OK;
}

const struct peal_handler *handlers_find(const struct handlers *h, struct slice name)
{
    return textmap_find(&h->by_name, name);
}

size_t handlers_number(const struct peal_handler *of)
{
    return container_of(of, struct entry, handler)->number;
}
