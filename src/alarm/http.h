/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - one request of a channel over HTTP: what all kinds of channels do alike. */
#ifndef PEAL_ALARM_HTTP_H
#define PEAL_ALARM_HTTP_H

#include "alarm/channel.h"
#include "base/buf.h"

#define HTTP_BODY_MAX (1u << 20)
#define HTTP_ANSWER_MAX 65536

struct http_call {
    const char *method, *url, *headers; /* lines "Name: value", each ended by '\n' */
    struct slice body;
    const char *ca;       /* file of certificates; NULL: the system's */
    bool private_too;     /* any address will do; else what targets say: */
    struct slice targets; /* targets.h */
    const char *refused;  /* said where the address is not one of them */
    int try_ms;
    const _Atomic bool *stop;
};

/* Is it http(s)://HOST/… without a user? ERR_INVALID: why is "NAME must be …". */
MUST_CHECK enum err http_url_check(const char *name, const char *url, struct why *why);
/* "https://host:8443"; "" for what is no URL. Freed by the caller. */
char *http_url_target(const char *url);

/* Blocks. The name is resolved once; redirects are not followed, proxies of the environment not
 * used. The answer's body, cut, goes to answer (NULL: to nobody). 2xx is DELIVERY_SENT. said has no
 * part of the URL but the host. Any thread. */
enum delivery_outcome http_send(const struct http_call *c, struct buf *answer, struct why *said);

#endif
