/* SPDX-License-Identifier: Apache-2.0 */
/* jsonw.h - writes JSON (RFC 8259) into a buffer, members in the order of the calls. Pure.
 *
 * Commas are put by the writer. Text that is not UTF-8 has each bad byte replaced by U+FFFD, so
 * the result is always valid. The buffer's "failed" tells whether everything fitted. */
#ifndef PEAL_BASE_JSONW_H
#define PEAL_BASE_JSONW_H

#include "base/buf.h"

struct jsonw {
    struct buf *out; /* borrowed */
    bool comma;      /* private */
};

static inline struct jsonw jsonw_on(struct buf *out)
{
    struct jsonw w = { out, false };
    return w;
}

/* key is NULL for an array's element or the document itself. */
void jsonw_object(struct jsonw *w, const char *key);
void jsonw_object_end(struct jsonw *w);
void jsonw_array(struct jsonw *w, const char *key);
void jsonw_array_end(struct jsonw *w);
void jsonw_i64(struct jsonw *w, const char *key, int64_t v);
void jsonw_real(struct jsonw *w, const char *key, double v); /* finite; 15 digits */
void jsonw_bool(struct jsonw *w, const char *key, bool v);
void jsonw_null(struct jsonw *w, const char *key);
void jsonw_slice(struct jsonw *w, const char *key, struct slice v);
void jsonw_text(struct jsonw *w, const char *key, const char *v); /* NULL writes null */
/* A value that is JSON already. */
void jsonw_raw(struct jsonw *w, const char *key, struct slice json);
/* The quoted, escaped text alone, without key or comma. */
void jsonw_quote(struct buf *out, struct slice v);

#endif
