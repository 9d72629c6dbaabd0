/* SPDX-License-Identifier: Apache-2.0 */
/* viewers.h - who watches a stream of server-sent events, whatever it is about.
 *
 * A viewer is one stream of one user. All of them get a comment line now and then, which tells both
 * ends that the other is there, and "bye" when the server stops. A stream ends with the session or
 * token that it began with. Web loop's thread. */
#ifndef PEAL_LIVE_VIEWERS_H
#define PEAL_LIVE_VIEWERS_H

#include "base/err.h"
#include "model/scope.h"
#include "net/httpd.h"

#define VIEWERS_OF_USER 16
#define VIEWERS_HEARTBEAT_MS 15000
#define VIEWERS_UNSENT 8192 /* bytes that wait for a client; above, nothing more is written */

struct viewers;

struct viewer_who {
    int64_t user_id;
    char digest[65];    /* of the session's or token's secret */
    bool token;         /* it is a token's */
    int64_t ends_ms;    /* wall: no longer than that */
    struct scope scope; /* what may be read; the ids are owned */
};

/* who is zeroed or filled; the scope is copied. */
void viewer_who_scope(struct viewer_who *who, const struct scope *scope);
void viewer_who_copy(struct viewer_who *to, const struct viewer_who *from);
void viewer_who_done(struct viewer_who *who);

struct viewer { /* embedded in what its owner knows of it */
    struct viewer_who who;
    void (*ready)(struct viewer *v); /* what was written has left */
    void (*gone)(struct viewer *v);  /* the last that is heard of it: free it. Once */
    uint64_t id;                     /* private, from here on */
    struct viewers *of;
    struct list_node node;
    struct httpd_stream *stream;
};

/* on_heartbeat is called with arg after each round of comments; it may be NULL. 0 ms: the default.
 */
struct viewers *viewers_new(struct loop *l, int heartbeat_ms, void (*on_heartbeat)(void *arg),
                            void *arg);
void viewers_free(struct viewers *vs); /* forgets all; their streams are not touched */
int viewers_count(const struct viewers *vs);

/* May the user have one more? */
bool viewers_room(const struct viewers *vs, int64_t user_id);
/* Answer q with a stream of events; who, ready and gone are set. False: q is answered, and there is
 * no viewer (the client has gone, it was a HEAD, there is no room); gone is not called. */
MUST_CHECK bool viewer_begin(struct viewers *vs, struct viewer *v, struct httpd_request *q,
                             struct slice headers);
/* As httpd_stream_write: an event, with the empty line at its end. */
MUST_CHECK bool viewer_write(struct viewer *v, struct shared_buf *event);
/* Does what waits for the client leave room for more? */
bool viewer_has_room(const struct viewer *v);
void viewer_end(struct viewer *v); /* that was all: calls gone */

/* "bye" to all, and the end; no new ones begin. */
void viewers_bye(struct viewers *vs);

typedef void viewers_fn(void *ctx, const struct viewer *v);
void viewers_each(const struct viewers *vs, viewers_fn *fn, void *ctx);
/* End that one, if it is still there. */
void viewers_end(struct viewers *vs, uint64_t id);

#endif
