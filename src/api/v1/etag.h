/* SPDX-License-Identifier: Apache-2.0 */
/* etag.h - versions of things in headers: ETag, If-Match, If-None-Match (RFC 9110, section 13).
 * Private to src/api.
 *
 * A tag is "<kind><id>-<version>": what was read at that version. An edit must say which version it
 * was made from, so that of two clients which change the same thing one is told. An answer may show
 * more than what is edited (when a job fires next, how its last runs went): then a dot and a number
 * for all that it shows stand behind the version. If-None-Match means all of the tag, If-Match the
 * version. */
#ifndef PEAL_API_V1_ETAG_H
#define PEAL_API_V1_ETAG_H

#include "api/front.h"

struct etag {
    char kind; /* 'j' job, 'g' group, … */
    int64_t id, version;
};

/* The header ETag of the answer. */
void etag_write(struct web_call *call, struct etag tag);
/* Has the client what there is (If-None-Match)? Then the call is answered 304. */
bool etag_fresh(struct web_call *call, struct etag tag);
/* The same for an answer that shows more than its thing's version says; call->output is written. */
void etag_write_shown(struct web_call *call, struct etag tag);
/* And of an answer to GET: 304 in its place if the client has just that. */
void etag_answer(struct web_call *call, struct etag tag);
/* Is the edit made from what there is? False: the call is answered, 428 without If-Match, 412 if
 * the thing (what: "the job") has changed since. */
MUST_CHECK bool etag_match(struct web_call *call, struct etag tag, const char *what);
bool etag_any(const struct web_call *call); /* If-Match: *, which names no version */
/* Somebody was faster, between the look and the edit: 412 with the tag of what is there. */
void etag_changed(struct web_call *call, struct etag tag, const char *what);

#endif
