/* SPDX-License-Identifier: Apache-2.0 */
/* Bits go through an accumulator: bytes in, six bits out, and back. */
#include "base/base64url.h"
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64url_write(const void *p, size_t n, char *to)
{
    const unsigned char *bytes = p;
    unsigned bits = 0, have = 0;
    for (size_t i = 0; i < n; i++) {
        bits = bits << 8 | bytes[i];
        for (have += 8; have >= 6; have -= 6)
            *to++ = alphabet[bits >> (have - 6) & 63];
    }
    if (have)
        *to++ = alphabet[bits << (6 - have) & 63];
    *to = '\0';
}

bool base64url_read(struct slice text, void *to, size_t max, size_t *ret_n)
{
    unsigned char *bytes = to;
    unsigned bits = 0, have = 0;
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        const char *at = text.p[i] ? strchr(alphabet, text.p[i]) : NULL;
        if (!at)
            return false;
        bits = bits << 6 | (unsigned)(at - alphabet);
        have += 6;
        if (have < 8)
            continue;
        if (n == max)
            return false;
        have -= 8;
        bytes[n++] = (unsigned char)(bits >> have);
    }
    *ret_n = n;
    /* six bits alone are no byte; what is left over must be the zeros that the writer put there */
    return have < 6 && (bits & ((1u << have) - 1)) == 0;
}
