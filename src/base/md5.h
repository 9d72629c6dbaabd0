/* SPDX-License-Identifier: Apache-2.0 */
/* md5.h - MD5 (RFC 1321) over OpenSSL, for what XXL-JOB defined with it: the hash ring and old
 * password columns. Not for anything that needs a secure hash. Pure; any thread. */
#ifndef PEAL_BASE_MD5_H
#define PEAL_BASE_MD5_H

#include <stddef.h>

void md5(const void *p, size_t n, unsigned char ret_digest[16]);

#endif
