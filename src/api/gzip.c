/* SPDX-License-Identifier: Apache-2.0 */
/* Some bytes can stand for a thousand times as many: they are unpacked in pieces, and the bound of
 * the buffer ends it. */
#include "api/gzip.h"
#define ZLIB_CONST /* it reads from the body */
#include <zlib.h>

enum { PIECE = 64 << 10, WITH_GZIP_HEAD = 16 };

static enum err unpack(z_stream *z, struct buf *to, struct why *why)
{
    int rc = Z_OK;
    while (rc == Z_OK) {
        char piece[PIECE];
        z->next_out = (Bytef *)piece;
        z->avail_out = sizeof(piece);
        rc = inflate(z, Z_NO_FLUSH);
        buf_add(to, piece, sizeof(piece) - z->avail_out);
        if (to->failed) {
            why_set(why, "the body is longer than %zu bytes when it is unpacked", to->max);
            return ERR_TOOBIG;
        }
    }
    if (rc == Z_MEM_ERROR)
        return ERR_NOMEM;
    if (rc == Z_STREAM_END && !z->avail_in)
        return OK;
    why_set(why, "the body is not gzip, as its Content-Encoding says: %s",
            rc == Z_STREAM_END  ? "something stands behind its end"
            : rc == Z_BUF_ERROR ? "it is cut off"
            : z->msg            ? z->msg
                                : "it cannot be read");
    return ERR_INVALID;
}

enum err gzip_unpack(struct slice packed, struct buf *to, struct why *why)
{
    z_stream z = { .next_in = (const Bytef *)packed.p, .avail_in = (uInt)packed.n };
    if (packed.n > UINT32_MAX)
        return ERR_TOOBIG;
    if (inflateInit2(&z, MAX_WBITS + WITH_GZIP_HEAD) != Z_OK)
        return ERR_NOMEM;
    enum err err = unpack(&z, to, why);
    inflateEnd(&z);
    return err;
}
