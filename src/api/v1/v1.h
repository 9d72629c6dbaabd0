/* SPDX-License-Identifier: Apache-2.0 */
/* v1.h - /api/v1, the JSON API: its table, its handlers, and how all of them write. A handler runs
 * on a worker. Private to src/api. */
#ifndef PEAL_API_V1_V1_H
#define PEAL_API_V1_V1_H

#include "api/cursor.h"
#include "api/front.h"
#include "base/jsonw.h"

extern const struct router_table v1_routes;

#define ROUTE(method, path, permission, body, answer, class, run) void run(struct web_call *call);
#include "api/v1/routes.def"
#undef ROUTE

/* The pair of members that every instant is: "nextAt" (RFC 3339, UTC, milliseconds) and "nextMs".
 */
void v1_instant(struct jsonw *w, const char *name, int64_t ms);
#define V1_INSTANT_SIZE 32
char *v1_instant_text(int64_t ms, char to[V1_INSTANT_SIZE]); /* "2026-11-21T14:32:08.000Z" */

/* The answer is 204. */
void v1_empty(struct web_call *call);
/* The answer is 201: something was made at that path behind /api/v1. */
void v1_created(struct web_call *call, const char *path, int64_t id);
/* 422 for one field: its JSON pointer, a stable name of the rule, what is wrong. */
void v1_refuse_field(struct web_call *call, const char *pointer, const char *rule,
                     const char *detail);

/* A page that is asked for one row more than it shows, so that it is known whether more follow. */
struct v1_listing {
    struct jsonw w;
    int64_t limit, shown;
    uint64_t members;
    struct cursor last; /* its id: of the last row that is shown */
    bool more;
};

/* Is this row to be written? False: it is the one too many. */
static inline bool v1_listing_takes(struct v1_listing *l, int64_t id)
{
    l->more = l->shown == l->limit;
    if (l->more)
        return false;
    l->shown++;
    l->last.id = id;
    return true;
}

/* A page of a list: the handler writes items in between. */
void v1_list_begin(struct jsonw *w);
/* last: of the page, NULL when there is none behind it. Total: at least so many, or exactly. */
void v1_list_end(struct web_call *call, struct jsonw *w, const struct cursor *last, int64_t total,
                 bool exact);

/* One member with that instant as text; ms <= 0: null. */
void v1_time(struct jsonw *w, const char *key, int64_t ms);
/* As v1_instant; ms <= 0: both null. */
void v1_instant_or_null(struct jsonw *w, const char *name, int64_t ms);
/* The member "group": its id, and its names as they are now, null where it has gone. */
void v1_group_named(struct jsonw *w, struct store *db, int64_t group_id);
/* An entry of the audit, whole. */
void v1_audit_write(struct jsonw *w, const struct audit_record *r);
/* Preferences as they are kept (a JSON object), NULL for none. */
void v1_preferences(struct jsonw *w, const char *key, const char *text);

#endif
