/* SPDX-License-Identifier: Apache-2.0 */
/* attention.h - the late, stuck and unknown runs that are open here, told to other servers of the
 * database that ask (board_attention, center_attention_set). */
#ifndef PEAL_LIVE_ATTENTION_H
#define PEAL_LIVE_ATTENTION_H

#include "net/loop.h"

struct attention;
struct board;
struct center;

/* Gives the center what the board says, once a second, on the loop's thread. Before the loop turns;
 * all three are borrowed. */
struct attention *attention_new(struct center *c, struct loop *web, struct board *b);
void attention_free(struct attention *a); /* the loop turns no more; NULL is fine */

#endif
