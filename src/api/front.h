/* SPDX-License-Identifier: Apache-2.0 */
/* front.h - requests that may wait: the web loop's thread and its workers. Private to src/api.
 *
 * A request is copied into a call, the call is queued by its class, a worker fills in the answer,
 * the web loop sends it. Classes keep slow things from taking all workers: pages may use all four,
 * what waits for an executor two, checking passwords one. */
#ifndef PEAL_API_FRONT_H
#define PEAL_API_FRONT_H

#include "api/api.h"
#include "api/form.h"
#include "api/rate.h"
#include "api/router.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "live/events.h"
#include "live/tails.h"
#include "live/viewers.h"
#include "model/rights.h"
#include "server/center.h"

struct answers;
struct board;
struct idem;
struct web;
struct logins;
struct forecast;
struct vitals;
struct web;

struct web_live { /* what is told as it happens; web loop's thread */
    struct viewers *viewers;
    struct tails *tails;
    struct events *events;
};

#define WEB_BODY_MAX (2u << 20)
#define WEB_PASSWORD_BODY_MAX 4096
#define WEB_BODIES_MAX (64u << 20) /* of all requests together, waiting ones included */
#define WEB_REPLY_MAX (32u << 20)

struct call_rate {    /* how often its asker may ask */
    const char *name; /* of the policy; NULL: none holds for the call */
    int quota;
    uint64_t key;  /* of the token or session; 0: it came with neither */
    bool stranger; /* that is not known yet: counted by address */
    struct rate_state state;
};

/* One request and its answer. Belongs to one thread at a time: the web loop, then a worker, then
 * the web loop again. */
struct web_call {
    struct message message;        /* private: back to the web loop */
    struct waiting_call waiting;   /* private: in the queue of its class */
    struct httpd_request *request; /* private: web loop only */
    struct call_rate rate;         /* private: the same */
    struct router_match match;     /* found by the web loop */

    const struct api_config *config;
    struct center *center;
    struct logins *logins;
    struct forecast *forecast;
    struct board *board;
    struct vitals *vitals;
    struct answers *answers;
    struct store *db; /* the worker's reader; snapshots of its own each call */
    /* the request; its text stays in the connection's buffer until the answer */
    struct slice method, path, query, body, type, encoding, accept, authorization, cookie;
    struct slice origin, referer, host, fetch_site;
    struct slice if_match, if_none_match, idempotency_key, last_event_id,
        traceparent;         /* p NULL: not sent */
    const char *context;     /* what stands before the paths of this server (context.h) */
    const char *cookie_path; /* for which a cookie is set */
    uint64_t source;         /* of net/sources.h: the peer, or its network */
    char peer[46];
    bool tls;                         /* the client speaks it, see client.h */
    int streams, max_streams;         /* of the web loop's front when the call came */
    char request_id[REQUEST_ID_SIZE]; /* "" unless the table's refusals are problems */
    /* what the gate has read and found out; by the row */
    struct form form;              /* the query's parameters, and a form's */
    struct router_params params;   /* of the path */
    struct json_t *json;           /* the body; NULL unless it is JSON */
    bool large;                    /* it came packed: one at a time, see gate.c */
    struct session_record session; /* its digest is "" without a login */
    struct token_record token;     /* its id is 0 unless the request came with one */
    struct user_record user;
    struct idem *idem; /* of its Idempotency-Key; NULL: none, or the operation takes none. Owned */
    int64_t idem_item; /* of several things that the call makes, the one that is asked for */
    bool by_hand;      /* on this machine's command line, by no user (offline.h) */
    struct slice reason; /* that the body gives for the change, for the audit; p NULL: none */
    struct actor *actor; /* what the user may do; NULL without a login. Owned */

    /* the answer */
    int status;
    const char *content_type;   /* static text */
    struct buf headers, output; /* complete header lines; body */
    /* or a stream: called on the web loop if the status is 200. True: it has taken the request.
     * False: the answer is a refusal after all. */
    bool (*stream)(struct web_call *call, const struct web_live *live);
    void *wish;                    /* what is to be streamed; owned */
    void (*wish_free)(void *wish); /* NULL: it is one block */
    struct viewer_who *who;        /* is to watch it; owned */

    /* a call of the server's own has no request, and these in place of a handler and an answer */
    void (*task)(struct web_call *call);                              /* on a worker */
    void (*done)(struct web_call *call, const struct web_live *live); /* on the web loop */
    bool *under_way; /* is false again when it is over */
};

/* Start the thread and the workers. find: the row of a method and a path, on the web loop. serve:
 * answers any call, without a row too, on a worker. stays: paths for the scheduler's loop. page:
 * answers on the web loop what it can answer at once, or returns false; path and
 * context are those of context.h. */
MUST_CHECK enum err web_new(struct center *c, const struct api_config *config,
                            struct router_match (*find)(struct slice method, struct slice path),
                            void (*serve)(struct web_call *call), bool (*stays)(struct slice path),
                            bool (*page)(struct httpd_request *q, struct slice path,
                                         const char *context),
                            struct web **ret, struct why *why);
/* Ends what is under way (2 s at most), joins. On the scheduler's thread, its loop not turning. */
void web_free(struct web *w);

/* Scheduler's thread: hand a request with its connection to the web loop. */
void web_take(struct web *w, struct httpd_request *q);

#endif
