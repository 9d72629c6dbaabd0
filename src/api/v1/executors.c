/* SPDX-License-Identifier: Apache-2.0 */
/* Executors as the scheduler knows them now: one question to it a page. The key of an executor is
 * its address in base64url, because an address is no segment of a path. */
#include "api/audit.h"
#include "api/elsewhere.h"
#include "api/gate.h"
#include "api/v1/group_filter.h"
#include "api/v1/v1.h"
#include "base/base64url.h"
#include "base/mem.h"
#include <string.h>

#define ADDRESS_MAX 300 /* bytes of one that a key can name */

static const char *const members[] = { "key",     "address",   "groups",      "state",
                                       "source",  "ours",      "lane",        "open",
                                       "unknown", "beatAgeMs", "answerP95Ms", "sinceAt",
                                       "sinceMs", "lastError", "lastErrorAt", "lastErrorMs" };
enum {
    KEY,
    ADDRESS,
    GROUPS,
    STATE,
    SOURCE,
    OURS,
    LANE,
    OPEN,
    UNKNOWN,
    BEAT_AGE,
    ANSWER_P95,
    SINCE_AT,
    SINCE_MS,
    LAST_ERROR,
    LAST_ERROR_AT,
    LAST_ERROR_MS
};
#define HAS(set, member) (!(set) || (set) >> (member)&1)

/* ---- output ------------------------------------------------------------------------------------
 */

struct executor_writer {
    struct web_call *call;
    struct jsonw *w;
    uint64_t set;              /* of members; 0: all */
    struct group_record group; /* the last that was looked up */
};

/* A group that has gone meanwhile is not told. */
static bool look_up(struct executor_writer *x, int64_t id)
{
    if (x->group.id == id)
        return true;
    group_record_done(&x->group);
    x->group = (struct group_record){ .id = 0 };
    return !x->call->db->ops->catalog->group_get(x->call->db, id, &x->group, NULL);
}

static void write_groups(struct executor_writer *x, const struct executor_view *v)
{
    jsonw_array(x->w, "groups");
    for (size_t i = 0; i < v->ngroups; i++) {
        if (!look_up(x, v->groups[i]))
            continue;
        jsonw_object(x->w, NULL);
        jsonw_i64(x->w, "id", x->group.id);
        jsonw_text(x->w, "app", x->group.app ? x->group.app : "");
        jsonw_text(x->w, "title", x->group.title ? x->group.title : "");
        jsonw_object_end(x->w);
    }
    jsonw_array_end(x->w);
}

static void write_lane(struct jsonw *w, const struct executor_view *v)
{
    jsonw_object(w, "lane");
    jsonw_i64(w, "waiting", v->waiting);
    jsonw_i64(w, "inFlight", v->in_flight);
    jsonw_i64(w, "connections", v->window);
    jsonw_i64(w, "connectionsMax", v->window_max);
    jsonw_object_end(w);
}

static void write_instant(struct executor_writer *x, const char *at, const char *as_ms, int member,
                          int64_t ms)
{
    char text[V1_INSTANT_SIZE];
    if (HAS(x->set, member))
        jsonw_text(x->w, at, ms >= 0 ? v1_instant_text(ms, text) : NULL);
    if (HAS(x->set, member + 1) && ms >= 0)
        jsonw_i64(x->w, as_ms, ms);
    else if (HAS(x->set, member + 1))
        jsonw_null(x->w, as_ms);
}

static void write_state(struct executor_writer *x, const struct executor_view *v)
{
    struct jsonw *w = x->w;
    if (HAS(x->set, STATE))
        jsonw_text(w, "state", executor_state_text(v->state));
    if (HAS(x->set, SOURCE))
        jsonw_text(w, "source", !v->listed ? "registry" : v->registered ? "both" : "manual");
    if (HAS(x->set, OURS))
        jsonw_bool(w, "ours", v->ours);
    if (HAS(x->set, LANE))
        write_lane(w, v);
    if (HAS(x->set, OPEN))
        jsonw_i64(w, "open", v->accepted);
    if (HAS(x->set, UNKNOWN))
        jsonw_i64(w, "unknown", v->unknown);
}

static void write_measures(struct executor_writer *x, const struct executor_view *v)
{
    struct jsonw *w = x->w;
    if (HAS(x->set, BEAT_AGE) && v->beat_age_ms >= 0)
        jsonw_i64(w, "beatAgeMs", v->beat_age_ms);
    else if (HAS(x->set, BEAT_AGE))
        jsonw_null(w, "beatAgeMs");
    if (HAS(x->set, ANSWER_P95) && v->answer_p95_us >= 0)
        jsonw_real(w, "answerP95Ms", (double)v->answer_p95_us / 1000);
    else if (HAS(x->set, ANSWER_P95))
        jsonw_null(w, "answerP95Ms");
    write_instant(x, "sinceAt", "sinceMs", SINCE_AT, v->since_ms);
    if (HAS(x->set, LAST_ERROR))
        jsonw_text(w, "lastError", v->error);
    write_instant(x, "lastErrorAt", "lastErrorMs", LAST_ERROR_AT, v->error_ms);
}

static void write_executor(struct executor_writer *x, const struct executor_view *v)
{
    char key[BASE64URL_SIZE(ADDRESS_MAX)];
    size_t n = strlen(v->address);
    base64url_write(v->address, n < ADDRESS_MAX ? n : ADDRESS_MAX, key);
    jsonw_object(x->w, NULL);
    jsonw_text(x->w, "key", key); /* always: it is what a path needs */
    if (HAS(x->set, ADDRESS))
        jsonw_text(x->w, "address", v->address);
    if (HAS(x->set, GROUPS))
        write_groups(x, v);
    write_state(x, v);
    write_measures(x, v);
    jsonw_object_end(x->w);
}

/* ---- the list ----------------------------------------------------------------------------------
 */

static const char *const states[EXECUTOR_STATES] = { "up", "refusing", "silent", "draining" };

static void list(struct web_call *call, const struct executors_filter *f, uint64_t set)
{
    struct why why = { "" };
    struct center_executors found;
    struct jsonw w = jsonw_on(&call->output);
    struct executor_writer x = { .call = call, .w = &w, .set = set };
    struct cursor last = { .id = 1 };
    struct elsewhere_silent silent = { .n = 0 };
    int limit = f->limit - 1;
    enum err err = center_executors(call->center, f, &found, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    elsewhere_lanes(call, found.items, found.n < limit ? found.n : limit, &silent);
    jsonw_object(&w, NULL);
    elsewhere_write(&w, &silent);
    jsonw_array(&w, "items");
    for (int i = 0; i < found.n && i < limit; i++)
        write_executor(&x, &found.items[i]);
    if (found.n > limit) /* an address is no longer than a cursor's text: 255 characters */
        text_copy(last.text, sizeof(last.text), slice_text(found.items[limit - 1].address));
    v1_list_end(call, &w, found.n > limit ? &last : NULL, found.total, true);
    group_record_done(&x.group);
    center_executors_done(&found);
}

void v1_executors_list(struct web_call *call)
{
    struct executors_filter f = { .scope = actor_scope(call->actor, PERM_READ) };
    struct scope groups;
    struct query q;
    struct cursor after;
    int64_t ids[QUERY_GROUPS_MAX];
    query_begin(&q, call);
    f.limit = (int)query_limit(&q) + 1;
    uint64_t set = query_words(&q, "fields", members, countof(members));
    int state = query_word(&q, "state", states, EXECUTOR_STATES);
    f.states = state < 0 ? 0 : 1u << state;
    if (query_groups(&q, "group", ids, &groups))
        f.groups = &groups;
    if (query_cursor(&q, &after))
        f.after = after.text;
    if (query_end(&q))
        list(call, &f, set);
}

/* ---- one ---------------------------------------------------------------------------------------
 */

/* The executor of the path, if the asker may see one of its groups. False: answered. *ret has one
 * item, to be ended with center_executors_done. */
static bool find(struct web_call *call, struct center_executors *ret)
{
    char address[ADDRESS_MAX + 1];
    size_t n = 0;
    struct why why = { "" };
    const char *key = call->params.items[0].text;
    *ret = (struct center_executors){ NULL, 0, 0 };
    bool good = base64url_read(slice_text(key), address, ADDRESS_MAX, &n) && n > 0 &&
                !memchr(address, 0, n);
    address[good ? n : 0] = 0;
    const struct executors_filter f = { .scope = actor_scope(call->actor, PERM_READ),
                                        .only = address,
                                        .limit = 1 };
    enum err err = good ? center_executors(call->center, &f, ret, &why) : OK;
    if (err)
        problem_err(call, err, &why);
    else if (ret->n == 0)
        problem(call, PROBLEM_NOT_FOUND,
                "no such executor is registered or listed, or you may not see it");
    if (!err && ret->n)
        return true;
    center_executors_done(ret);
    return false;
}

void v1_executor_get(struct web_call *call)
{
    struct center_executors found;
    struct jsonw w = jsonw_on(&call->output);
    struct executor_writer x = { .call = call, .w = &w };
    struct elsewhere_silent silent = { .n = 0 };
    if (!find(call, &found))
        return;
    elsewhere_lanes(call, found.items, 1, &silent);
    write_executor(&x, &found.items[0]);
    group_record_done(&x.group);
    center_executors_done(&found);
}

/* ---- what can be done with one -----------------------------------------------------------------
 */

static void forget(struct web_call *call, const struct executor_view *v)
{
    struct why why = { "" };
    if (!v->registered) {
        problem(call, PROBLEM_CONFLICT,
                "%s has not registered: it stands in a list by hand, and goes when the group is "
                "edited",
                v->address);
        return;
    }
    enum err err = center_forget(call->center, v->address, &why);
    if (err && err != ERR_NOTFOUND) { /* it has just unregistered: that is what was wanted */
        problem_err(call, err, &why);
        return;
    }
    if (!err)
        audit_note_named(call, "executor.remove", call->params.items[0].text, v->address);
    v1_empty(call);
}

void v1_executor_remove(struct web_call *call)
{
    struct center_executors found;
    if (!find(call, &found))
        return;
    forget(call, &found.items[0]);
    center_executors_done(&found);
}

static bool may_probe(const struct web_call *call, const struct executor_view *v)
{
    const struct scope *scope = actor_scope(call->actor, PERM_RUN);
    if (scope_is_all(scope))
        return true;
    for (size_t i = 0; i < v->ngroups; i++)
        if (scope_has(scope, v->groups[i]))
            return true;
    return false;
}

/* Of groups that the asker may see. */
static void write_busy(struct web_call *call, struct jsonw *w, const struct center_probe *p)
{
    jsonw_array(w, "busyJobs");
    for (int i = 0; i < p->nbusy; i++)
        if (actor_may(call->actor, PERM_READ, p->busy[i].group_id))
            jsonw_i64(w, NULL, p->busy[i].job_id);
    jsonw_array_end(w);
}

static void probe(struct web_call *call, const struct executor_view *v)
{
    struct why why = { "" };
    struct center_probe p;
    struct jsonw w = jsonw_on(&call->output);
    if (!may_probe(call, v)) {
        problem(call, PROBLEM_FORBIDDEN, "needs the permission run on a group of %s", v->address);
        return;
    }
    enum err err = center_probe(call->center, v->ngroups ? v->groups[0] : 0, v->address, &p, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    jsonw_object(&w, NULL);
    jsonw_bool(&w, "reachable", p.reachable);
    jsonw_real(&w, "tookMs", (double)p.took_us / 1000);
    jsonw_text(&w, "said", p.said);
    write_busy(call, &w, &p);
    jsonw_object_end(&w);
}

void v1_executor_probe(struct web_call *call)
{
    struct center_executors found;
    if (!find(call, &found))
        return;
    probe(call, &found.items[0]);
    center_executors_done(&found);
}
