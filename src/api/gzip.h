/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h - a body that was sent compressed, as it was before. Pure; any thread. */
#ifndef PEAL_API_GZIP_H
#define PEAL_API_GZIP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

/* Unpack one gzip member into to, up to its bound: ERR_TOOBIG above, before more is unpacked.
 * ERR_INVALID: no gzip, cut off, or something behind it. ERR_NOMEM. */
MUST_CHECK enum err gzip_unpack(struct slice packed, struct buf *to, struct why *why);

#endif
