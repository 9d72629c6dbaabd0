/* SPDX-License-Identifier: Apache-2.0 */
/* base64url.h - base64 with the alphabet for URLs, without padding (RFC 4648 section 5). Pure. */
#ifndef PEAL_BASE_BASE64URL_H
#define PEAL_BASE_BASE64URL_H

#include "base/str.h"

/* Characters for n bytes, the terminator included. */
#define BASE64URL_SIZE(n) (((n)*4 + 2) / 3 + 1)

/* Write n bytes, terminated; to has BASE64URL_SIZE(n). */
void base64url_write(const void *p, size_t n, char *to);
/* Read at most max bytes; *ret_n says how many. False: another character, bits that no byte needs,
 * or more bytes. What it takes is exactly what base64url_write writes. */
bool base64url_read(struct slice text, void *to, size_t max, size_t *ret_n);

#endif
