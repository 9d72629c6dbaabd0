/* SPDX-License-Identifier: Apache-2.0 */
/* All servers that live are asked at once, and waited for one after the other: together they take
 * as long as the slowest. */
#include "api/elsewhere.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void is_silent(struct elsewhere_silent *s, const char *name, enum err err)
{
    if (s->n == ELSEWHERE_NODES)
        return;
    text_copy(s->items[s->n].name, ELSEWHERE_NAME, slice_text(name));
    s->items[s->n++].older = err == ERR_INVALID;
}

/* ---- the story of a run ---------------------------------------------------------------------- */

bool elsewhere_story(struct web_call *call, int64_t log_id, struct story *ret,
                     struct elsewhere_silent *silent)
{
    char path[32], name[ELSEWHERE_NAME] = "", *said = NULL;
    struct why why = { "" };
    int64_t node = 0;
    size_t n = 0;
    if (!center_shares(call->center) ||
        call->db->ops->cluster->run_owner(call->db, log_id, &node, name, sizeof(name), &why))
        return false;
    snprintf(path, sizeof(path), "run/%lld", (long long)log_id);
    struct peer_ask *asked = center_peer_ask(call->center, node, path, slice_of(NULL, 0));
    enum err err = center_peer_answer(call->center, asked, &said, &n, &why);
    if (err)
        is_silent(silent, name, err);
    bool found = !err && n && story_get(slice_of(said, n), ret);
    free(said);
    return found;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct asked {
    struct {
        struct peer_ask *ask;
        char name[ELSEWHERE_NAME];
    } items[ELSEWHERE_NODES];
    int n;
    int64_t self;
    int64_t nodes[ELSEWHERE_NODES];
};

static bool add_node(void *ctx, const struct node_record *r)
{
    struct asked *a = ctx;
    if (r->ended || r->node == a->self)
        return true;
    text_copy(a->items[a->n].name, ELSEWHERE_NAME, slice_text(r->name));
    a->nodes[a->n++] = r->node;
    return a->n < ELSEWHERE_NODES;
}

/* Ask each the same; what one says is taken by fn. False: it is not an answer. */
static void ask_all(struct web_call *call, const char *path, struct slice body,
                    bool (*fn)(void *ctx, struct slice said), void *ctx,
                    struct elsewhere_silent *silent)
{
    struct asked a = { .self = center_metrics(call->center)->node.node };
    struct why why = { "" };
    int64_t total;
    if (!center_shares(call->center) ||
        call->db->ops->cluster->nodes_page(call->db, INT64_MAX, INT32_MAX, add_node, &a, &total,
                                           &why))
        return;
    for (int i = 0; i < a.n; i++)
        a.items[i].ask = center_peer_ask(call->center, a.nodes[i], path, body);
    for (int i = 0; i < a.n; i++) {
        char *said = NULL;
        size_t size = 0;
        enum err err = center_peer_answer(call->center, a.items[i].ask, &said, &size, &why);
        if (err || !fn(ctx, slice_of(said, size)))
            is_silent(silent, a.items[i].name, err);
        free(said);
    }
}

/* ---- lanes ----------------------------------------------------------------------------------- */

struct views {
    struct executor_view *items;
    int n;
};

static struct executor_view *view_of(struct executor_view *views, int n, struct slice address)
{
    for (int i = 0; i < n; i++)
        if (slice_eq(address, views[i].address))
            return &views[i];
    return NULL;
}

static int added(int to, int64_t by)
{
    return by > 0 && by < 1000000000 ? to + (int)by : to;
}

/* A line: five numbers, and the address. */
static void add_lane(struct executor_view *views, int n, struct slice line)
{
    enum { WAITING, IN_FLIGHT, WINDOW, ACCEPTED, UNKNOWN, NUMBERS };
    int64_t numbers[NUMBERS];
    struct slice word;
    for (int i = 0; i < NUMBERS; i++)
        if (!slice_cut(&line, ' ', &word) || !parse_i64(word, &numbers[i]))
            return;
    struct executor_view *v = view_of(views, n, line);
    if (!v)
        return;
    v->waiting = added(v->waiting, numbers[WAITING]);
    v->in_flight = added(v->in_flight, numbers[IN_FLIGHT]);
    v->window = added(v->window, numbers[WINDOW]);
    v->accepted += numbers[ACCEPTED];
    v->unknown += numbers[UNKNOWN];
}

static bool take_lanes(void *ctx, struct slice said)
{
    const struct views *views = ctx;
    struct slice line;
    while (slice_cut(&said, '\n', &line))
        add_lane(views->items, views->n, line);
    return true;
}

void elsewhere_lanes(struct web_call *call, struct executor_view *views, int n,
                     struct elsewhere_silent *silent)
{
    struct buf addresses = BUF_INIT(1 << 20);
    struct views to = { views, n };
    for (int i = 0; i < n; i++)
        buf_printf(&addresses, "%s\n", views[i].address);
    if (n)
        ask_all(call, "lanes", slice_of(addresses.data, addresses.len), take_lanes, &to, silent);
    buf_done(&addresses);
}

/* ---- what is to be looked at ----------------------------------------------------------------- */

struct attention_sum {
    const struct scope *scope;
    struct elsewhere_attention *to;
};

static bool counts(const struct scope *scope, int64_t group)
{
    return scope_is_all(scope) ? group == 0 : group > 0 && scope_has(scope, group);
}

/* A line: the group, and three numbers. */
static void add_group(struct attention_sum *sum, struct slice line)
{
    enum { GROUP, LATE, STUCK, UNKNOWN, NUMBERS };
    int64_t numbers[NUMBERS];
    struct slice word;
    for (int i = 0; i < NUMBERS; i++)
        if (!slice_cut(&line, ' ', &word) || !parse_i64(word, &numbers[i]) || numbers[i] < 0 ||
            numbers[i] > INT32_MAX)
            return;
    if (!counts(sum->scope, numbers[GROUP]))
        return;
    sum->to->late += numbers[LATE];
    sum->to->stuck += numbers[STUCK];
    sum->to->unknown += numbers[UNKNOWN];
}

/* A server that has only begun says nothing: it does not know yet. */
static bool take_attention(void *ctx, struct slice said)
{
    struct slice line;
    bool knows = said.n > 0;
    while (slice_cut(&said, '\n', &line))
        add_group(ctx, line);
    return knows;
}

void elsewhere_attention(struct web_call *call, const struct scope *scope,
                         struct elsewhere_attention *add, struct elsewhere_silent *silent)
{
    struct attention_sum sum = { scope, add };
    ask_all(call, "attention", slice_of(NULL, 0), take_attention, &sum, silent);
}

void elsewhere_write(struct jsonw *w, const struct elsewhere_silent *silent)
{
    jsonw_array(w, "notKnown");
    for (int i = 0; i < silent->n; i++) {
        char text[ELSEWHERE_NAME + 60];
        snprintf(text, sizeof(text),
                 silent->items[i].older ? "server %s does not know it: its release is an older one"
                                        : "server %s does not answer",
                 silent->items[i].name);
        jsonw_text(w, NULL, text);
    }
    jsonw_array_end(w);
}
