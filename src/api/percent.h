/* SPDX-License-Identifier: Apache-2.0 */
/* percent.h - percent-encoded bytes (RFC 3986, section 2.1). Private to src/api; pure. */
#ifndef PEAL_API_PERCENT_H
#define PEAL_API_PERCENT_H

#include "base/str.h"

/* The byte that the three characters at s.p[i], "%XX", stand for; -1 if they are none. */
int percent_byte(struct slice s, size_t i);

#endif
