/* SPDX-License-Identifier: Apache-2.0 */
/* What was configured, as the file that export.h writes. Users and channels are for those who may
 * see them elsewhere. */
#include "api/export.h"
#include "api/gate.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/clock.h"

#define APPS_MAX 1000 /* characters; of four bytes each, encoded, they fit into a request head */

static bool may(struct web_call *call, unsigned lists)
{
    return (!(lists >> EXPORT_USERS & 1) || gate_has(call, PERM_USERS_ADMIN)) &&
           (!(lists >> EXPORT_CHANNELS & 1) || gate_has(call, PERM_SYSTEM_ADMIN));
}

void v1_export_get(struct web_call *call)
{
    struct why why = { "" };
    struct query q;
    struct export_what what = { .scope = actor_scope(call->actor, PERM_READ),
                                .now_ms = clock_wall_ms() };
    query_begin(&q, call);
    what.lists = (unsigned)query_words(&q, "include", export_lists, EXPORT_LISTS);
    what.apps = query_text(&q, "apps", APPS_MAX);
    if (!query_end(&q))
        return;
    if (!what.lists)
        what.lists = EXPORT_DEFAULT;
    if (!may(call, what.lists))
        return;
    enum err err = export_write(call->db, &what, &call->output, &why);
    if (err == ERR_TOOBIG)
        problem(call, PROBLEM_CONFLICT, "%s", why.text);
    else if (err)
        problem_err(call, err, &why);
}
