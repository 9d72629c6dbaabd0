/* SPDX-License-Identifier: Apache-2.0 */
/* shared_buf.h - bytes that are written once and sent to many: counted, and never copied again.
 *
 * They are kept with the size line and the end of an HTTP chunk around them, so that a chunked
 * stream sends them as they lie. Belongs to one thread. */
#ifndef PEAL_NET_SHARED_BUF_H
#define PEAL_NET_SHARED_BUF_H

#include <stddef.h>
#include <stdint.h>
#include "base/str.h"

struct shared_buf { /* private, all of it */
    uint32_t refs;
    uint32_t at; /* of bytes: where the content begins, behind its size line */
    size_t n;    /* of the content, at least 1 */
    char bytes[];
};

/* A copy of the bytes (at least one), with one reference. */
struct shared_buf *shared_buf_new(struct slice bytes);
struct shared_buf *shared_buf_hold(struct shared_buf *b); /* one reference more; returns b */
void shared_buf_drop(struct shared_buf *b);               /* NULL is fine */

/* What was given; and the same as a chunk. Valid while a reference is held. */
struct slice shared_buf_content(const struct shared_buf *b);
struct slice shared_buf_chunk(const struct shared_buf *b);

#endif
