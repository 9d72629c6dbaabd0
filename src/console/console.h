/* SPDX-License-Identifier: Apache-2.0 */
/* console.h - the console's files, which the binary carries, over HTTP.
 *
 * scripts/embed.py packs what `npm run build` makes of web/; a binary that was built without it has
 * one page that says what to do. Files are answered on the loop that read the request: they lie in
 * memory, and nothing waits. Thread: the web loop's. */
#ifndef PEAL_CONSOLE_CONSOLE_H
#define PEAL_CONSOLE_CONSOLE_H

#include "net/httpd.h"

struct console_ask {
    struct slice path; /* without the context */
    const char
        *context; /* what stands before path in the address, "" or "/xxl-job-admin"; static */
    bool taken;   /* an API has this path for GET, so the page of the console does not stand in */
    bool tls; /* the browser speaks TLS, to this port or to a proxy that is named in http.proxies */
};

/* Answer the request and return true, or return false and leave it alone.
 *
 * Answered are GET and HEAD of the console's files, of the addresses that XXL-JOB's console had
 * (302 to the screen of the same use), and of any other path if the client wants HTML: the page of
 * the console, which finds the screen itself. */
bool console_serve(struct httpd_request *q, const struct console_ask *ask);

/* Does the binary carry a console? */
bool console_embedded(void);

#endif
