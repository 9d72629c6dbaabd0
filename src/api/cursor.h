/* SPDX-License-Identifier: Apache-2.0 */
/* cursor.h - where a page of a list ended, as text that the client gives back for the next page.
 *
 * It holds the sort key of the last row, its id, and a hash of the request's filters: the next page
 * begins behind that key, so rows that come or go meanwhile neither repeat nor hide others. Eight
 * bytes of HMAC-SHA-256 keep out what this center has not written. It is no permission: every page
 * is read within the asker's rights. Private to src/api; pure. */
#ifndef PEAL_API_CURSOR_H
#define PEAL_API_CURSOR_H

#include "base/base64url.h"
#include "base/err.h"
#include "base/why.h"

struct form;

#define CURSOR_KEY_SIZE 32
#define CURSOR_TEXT_MAX 340 /* bytes of a sort key that is text */
#define CURSOR_SIZE BASE64URL_SIZE(32 + CURSOR_TEXT_MAX)

struct cursor {                     /* the last row of a page */
    int64_t number;                 /* its sort key: a number, */
    char text[CURSOR_TEXT_MAX + 1]; /* or text, which the list compares at most this long */
    int64_t id;                     /* decides between equal keys */
};

/* The key of all servers that share a database and an access token. database: a number of the
 * database, the same at each of them. */
void cursor_key(const char *token, int64_t database, unsigned char ret[CURSOR_KEY_SIZE]);

/* A number for the list that a request asks for: its path and parameters, in any order, without
 * cursor, limit and fields, which change nothing about what is in the list. */
uint64_t cursor_filter(struct slice path, const struct form *query);

void cursor_write(const struct cursor *c, uint64_t filter, const unsigned char key[CURSOR_KEY_SIZE],
                  char to[CURSOR_SIZE]);
/* ERR_INVALID: no cursor of this center, or one of another list; why says which. */
MUST_CHECK enum err cursor_read(struct slice text, uint64_t filter,
                                const unsigned char key[CURSOR_KEY_SIZE], struct cursor *ret,
                                struct why *why);

#endif
