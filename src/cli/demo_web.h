/* SPDX-License-Identifier: Apache-2.0 */
/* demo_web.h - a small blocking client of the center's web API, for the demo.
 *
 * One request a connection, to 127.0.0.1 only; a call takes 5 s at most, and ends early with
 * ERR_STOPPING when *stop is set by a signal. One thread. */
#ifndef PEAL_CLI_DEMO_WEB_H
#define PEAL_CLI_DEMO_WEB_H

#include <signal.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

struct json_t; /* jansson's value */

struct demo_web {
    uint16_t port;
    char cookie[256]; /* "name=value" once logged in */
    const volatile sig_atomic_t *stop;
};

/* One field of a form: "&name=value", encoded. */
void demo_web_field(struct buf *form, const char *name, const char *value);
void demo_web_field_i64(struct buf *form, const char *name, int64_t value);

/* The body of a page that needs no login, appended to ret. ERR_INVALID: a status other than 200. */
MUST_CHECK enum err demo_web_get(struct demo_web *w, const char *path, struct buf *ret,
                                 struct why *why);
/* Post a form. *ret is the reply's "data", to be freed by demo_web_free; NULL if it is null.
 * ERR_INVALID with the center's message if the reply's code is not 200. */
MUST_CHECK enum err demo_web_post(struct demo_web *w, const char *path, struct buf *form,
                                  struct json_t **ret, struct why *why);
MUST_CHECK enum err demo_web_login(struct demo_web *w, const char *user, const char *password,
                                   struct why *why);
void demo_web_free(struct json_t *value);

#endif
