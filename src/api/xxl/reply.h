/* SPDX-License-Identifier: Apache-2.0 */
/* reply.h - answers of the web API in the shapes of both generations. Private to src/api.
 *
 * One envelope serves both: {"code":…,"msg":…,"content":…,"data":…}, the payload in both members.
 * Lists differ in shape and in their dates; which one a request wants is call_shape's decision. */
#ifndef PEAL_API_XXL_REPLY_H
#define PEAL_API_XXL_REPLY_H

#include "api/front.h"
#include "base/jsonw.h"

enum shape {
    SHAPE_2, /* 2.x to 3.2: start, length -> {recordsTotal, recordsFiltered, data} */
    SHAPE_3, /* 3.3 on: offset, pagesize -> envelope with data:{offset, pagesize, data, total} */
};

/* By the paging parameters, else by the cookie's name, else 2.x. */
enum shape call_shape(const struct web_call *call);

void reply_ok(struct web_call *call); /* no payload */
void reply_text(struct web_call *call, const char *text);
void reply_json(struct web_call *call, struct slice payload); /* complete JSON */
/* code 500 with the text, HTTP 200. */
void reply_fail(struct web_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for an error of a lower layer: why's text, or the code's. */
void reply_err(struct web_call *call, enum err err, const struct why *why);
/* Another HTTP status, with the same body. */
void reply_status(struct web_call *call, int status, const char *text);

/* A page of rows: the handler writes the rows' objects into rows with jsonw. */
struct page {
    int64_t offset, limit;
    enum shape shape;
    struct buf rows; /* "[{…},{…}" without its end */
    struct jsonw w;  /* on rows, inside the array */
};

/* Reads the paging parameters; at most 1,000 rows. ERR_INVALID names the parameter. */
MUST_CHECK enum err page_begin(struct web_call *call, struct page *ret, struct why *why);
void page_reply(struct web_call *call, struct page *p, int64_t total);
void page_done(struct page *p);

/* A scheduled time as the shape writes it; ms < 0: null. zone: the server's. */
void reply_date(struct jsonw *w, enum shape shape, const struct zone *zone, const char *key,
                int64_t ms);
/* The server's zone, counted: the caller's to unref. Never NULL (UTC if it cannot be read). */
struct zone *call_zone(const struct web_call *call);

#endif
