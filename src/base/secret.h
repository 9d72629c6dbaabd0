/* SPDX-License-Identifier: Apache-2.0 */
/* secret.h - random bytes, SHA-256, HMAC and their texts. Random numbers are forbidden in the pure
 * folders. Any thread. */
#ifndef PEAL_BASE_SECRET_H
#define PEAL_BASE_SECRET_H

#include "base/err.h"
#include "base/str.h"

/* n bytes from the system's generator (RAND_bytes); aborts if it has none. */
void secret_random(void *p, size_t n);
/* Text of n random bytes in base64url without padding (RFC 4648 section 5), terminated.
 * size must be at least BASE64URL_SIZE(n). */
void secret_token(char *to, size_t size, size_t n);
void sha256(const void *p, size_t n, unsigned char ret_digest[32]);
/* The same of all bytes of a file. False: it cannot be read, errno says why. */
MUST_CHECK bool sha256_file(int fd, unsigned char ret_digest[32]);
void hmac_sha256(struct slice key, const void *p, size_t n, unsigned char ret_mac[32]);
/* Equality in time that depends on the lengths only. */
bool secret_equal(struct slice a, struct slice b);

#endif
