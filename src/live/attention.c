/* SPDX-License-Identifier: Apache-2.0 */
/* attention.c - other servers are answered on the scheduler's thread, which must not wait for the
 * board's lock: so the text is made here beforehand, by the loop that writes the board anyway. A
 * server that has the database alone makes none. */
#include "live/attention.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "live/board.h"
#include "server/center.h"
#include "server/peers.h"
#include <stdlib.h>

#define EVERY_MS 1000

struct attention {
    struct center *center;
    struct loop *web;
    struct board *board;
    struct loop_timer timer;
    struct buf text; /* kept for the next time */
};

static void on_timer(struct loop_timer *t)
{
    struct attention *a = container_of(t, struct attention, timer);
    buf_reset(&a->text);
    board_attention(a->board, clock_wall_ms(), &a->text);
    center_attention_set(a->center, slice_of(a->text.data, a->text.failed ? 0 : a->text.len));
    loop_timer_set(a->web, t, loop_now_ms(a->web) + EVERY_MS);
}

struct attention *attention_new(struct center *c, struct loop *web, struct board *b)
{
    struct attention *a = mem_new(sizeof(*a));
    a->center = c;
    a->web = web;
    a->board = b;
    a->timer.fire = on_timer;
    buf_init(&a->text, PEER_ANSWER_MAX);
    if (center_shares(c))
        loop_timer_set(web, &a->timer, loop_now_ms(web));
    return a;
}

void attention_free(struct attention *a)
{
    if (!a)
        return;
    loop_timer_clear(a->web, &a->timer);
    buf_done(&a->text);
    free(a);
}
