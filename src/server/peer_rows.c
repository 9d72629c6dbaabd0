/* SPDX-License-Identifier: Apache-2.0 */
/* What a node answers to others: a row a path. */
#include "server/peers.h"
#include "server/state.h"

/* Nothing is said of what there is to see: it is found in the database. */
static void look(struct center *c, struct peer_asked *a)
{
    atomic_fetch_add_explicit(&c->metrics.peer_looks, 1, memory_order_relaxed);
    node_nudge(c->node);
    peer_answer(a, slice_of(NULL, 0));
}

/* What has happened so far to a run that this server owns: bytes of its story, none if it does not.
 */
static void run(struct center *c, struct peer_asked *a)
{
    struct buf said = BUF_INIT(2 * STORY_BYTES_MAX);
    struct story story;
    int64_t id;
    if (parse_i64(a->rest, &id) && sched_story(c->sched, id, &story))
        story_put(&said, &story);
    peer_answer(a, slice_of(said.data, said.len));
    buf_done(&said);
}

/* What is on the way from here to the addresses that are named, one a line. */
static void lanes(struct center *c, struct peer_asked *a)
{
    struct buf said = BUF_INIT(PEER_ANSWER_MAX);
    struct slice rest = a->body, address;
    struct lane_out out;
    while (slice_cut(&rest, '\n', &address))
        if (address.n && sched_lane_out(c->sched, address, &out))
            buf_printf(&said, "%d %d %d %lld %lld %.*s\n", out.waiting, out.in_flight, out.window,
                       (long long)out.accepted, (long long)out.unknown, (int)address.n, address.p);
    peer_answer(a, slice_of(said.data, said.failed ? 0 : said.len));
    buf_done(&said);
}

void center_attention_set(struct center *c, struct slice text)
{
    pthread_mutex_lock(&c->attention_lock);
    buf_reset(&c->attention);
    buf_slice(&c->attention, text);
    if (c->attention.failed)
        buf_reset(&c->attention);
    pthread_mutex_unlock(&c->attention_lock);
}

/* What was set last; nothing before the first time. */
static void attention(struct center *c, struct peer_asked *a)
{
    pthread_mutex_lock(&c->attention_lock);
    peer_answer(a, slice_of(c->attention.data, c->attention.len));
    pthread_mutex_unlock(&c->attention_lock);
}

const struct peer_row peer_rows[] = {
    { "look", 0, look },
    { "results", PEER_BODY_MAX, results_peer },
    { "run/", 0, run },
    { "lanes", 1 << 18, lanes },
    { "attention", 0, attention },
    { NULL, 0, NULL },
};
