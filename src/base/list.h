/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - intrusive doubly linked list: embed a node, the list owns nothing. Pure. */
#ifndef PEAL_BASE_LIST_H
#define PEAL_BASE_LIST_H

#include "base/mem.h"
#include <stdbool.h>
#include <stddef.h>

struct list_node {
    struct list_node *prev, *next; /* both NULL while not linked */
};

struct list { /* a ring through head */
    struct list_node head;
};

static inline void list_init(struct list *l)
{
    l->head.prev = l->head.next = &l->head;
}

static inline bool list_empty(const struct list *l)
{
    return l->head.next == &l->head;
}

static inline bool list_linked(const struct list_node *n)
{
    return n->next != NULL;
}

static inline void list_insert_before(struct list_node *at, struct list_node *n)
{
    n->prev = at->prev;
    n->next = at;
    at->prev->next = n;
    at->prev = n;
}

static inline void list_push(struct list *l, struct list_node *n) /* at the end */
{
    list_insert_before(&l->head, n);
}

static inline void list_push_front(struct list *l, struct list_node *n)
{
    list_insert_before(l->head.next, n);
}

static inline void list_remove(struct list_node *n) /* harmless when not linked */
{
    if (!n->next)
        return;
    n->prev->next = n->next;
    n->next->prev = n->prev;
    n->prev = n->next = NULL;
}

/* All of from, in its order, to the end of to. */
static inline void list_move(struct list *to, struct list *from)
{
    if (list_empty(from))
        return;
    from->head.next->prev = to->head.prev;
    from->head.prev->next = &to->head;
    to->head.prev->next = from->head.next;
    to->head.prev = from->head.prev;
    list_init(from);
}

static inline struct list_node *list_first(const struct list *l)
{
    return list_empty(l) ? NULL : l->head.next;
}

static inline struct list_node *list_pop(struct list *l) /* the first, unlinked; NULL if empty */
{
    struct list_node *n = list_first(l);
    if (n)
        list_remove(n);
    return n;
}

/* The body may unlink or free the current node. */
#define list_each(l, n, tmp)                                                                       \
    for (struct list_node *n = (l)->head.next, *tmp = n->next; n != &(l)->head;                    \
         n = tmp, tmp = tmp->next)

#endif
