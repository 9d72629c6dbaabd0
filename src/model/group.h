/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - a group of executors as its rows hold it, and the addresses that its jobs are routed
 * over. Times are epoch milliseconds. */
#ifndef PEAL_MODEL_GROUP_H
#define PEAL_MODEL_GROUP_H

#include <stdatomic.h>
#include <stdint.h>

struct group_record {
    int64_t id;
    char *app, *title;
    int address_type;   /* 0 by registry, 1 by hand */
    char *address_list; /* comma separated, NULL = none */
    int64_t updated_ms;
};

struct registry_record {
    char *group, *key,
        *value; /* registry_group, registry_key (app name), registry_value (address) */
    int64_t updated_ms;
};

/* What a group's executors prove themselves with, and calls to them. Secret: texts for people never
 * hold it. Without either the group has none of its own. */
struct group_token {
    int64_t group_id;
    char *token;      /* NULL: the server's, until next takes its place */
    char *next;       /* during a change: serves as well; NULL: there is no change */
    int64_t since_ms; /* when this came to be */
};

void group_token_done(struct group_token *t);
void group_token_copy(struct group_token *to, const struct group_token *from);

void group_record_done(struct group_record *r);
void group_record_copy(struct group_record *to, const struct group_record *from);
void registry_record_done(struct registry_record *r);

/* The addresses that a group's jobs are routed over right now: the listed ones less the dead, or
 * all of them when all are dead. Immutable, counted; a change makes a new one with a higher
 * version. */
struct group_view {
    _Atomic int refs;
    int64_t group_id;
    uint64_t version;
    int n;
    char **addresses; /* verbatim, in the order of the list */
};

struct group_view *group_view_new(int64_t group_id, uint64_t version, const char *const *addresses,
                                  int n);
struct group_view *group_view_ref(struct group_view *v);
void group_view_unref(struct group_view *v);

#endif
