/* SPDX-License-Identifier: Apache-2.0 */
/* elsewhere.h - what only another server of the database knows, because it stands in its memory
 * alone: asked for over HTTP (server/peers.h), and said not to be known where it does not answer.
 * Private to src/api; a worker's thread, blocks for half a second at most. */
#ifndef PEAL_API_ELSEWHERE_H
#define PEAL_API_ELSEWHERE_H

#include "api/front.h"
#include "base/jsonw.h"
#include "model/story.h"

#define ELSEWHERE_NODES 16 /* that are asked at most */
#define ELSEWHERE_NAME 129

/* Servers that were to be asked and have not said it. */
struct elsewhere_silent {
    struct {
        char name[ELSEWHERE_NAME];
        bool older; /* its release does not know the question */
    } items[ELSEWHERE_NODES];
    int n;
};

/* The story of a run that this server does not have, from the one that owns it. False: nobody has
 * it, or its owner, which is then the silent one, does not answer. */
bool elsewhere_story(struct web_call *call, int64_t log_id, struct story *ret,
                     struct elsewhere_silent *silent);
/* Add to each executor what other servers have on the way to it. */
void elsewhere_lanes(struct web_call *call, struct executor_view *views, int n,
                     struct elsewhere_silent *silent);
struct elsewhere_attention { /* see board_now */
    int64_t late, stuck, unknown;
};
/* Add what other servers have open in these groups; scope NULL: all. */
void elsewhere_attention(struct web_call *call, const struct scope *scope,
                         struct elsewhere_attention *add, struct elsewhere_silent *silent);
/* The member notKnown: sentences that name the servers. */
void elsewhere_write(struct jsonw *w, const struct elsewhere_silent *silent);

#endif
