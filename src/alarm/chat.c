/* SPDX-License-Identifier: Apache-2.0 */
/* chat.c - services for groups of people take a text of bounded length, and some a signature. */
#include "alarm/chat.h"
#include "alarm/mime.h"
#include "alarm/told.h"
#include "base/secret.h"

void chat_text(struct buf *out, const struct alarm_message *m, size_t max)
{
    struct buf b = BUF_INIT(1u << 20);
    told_text(&b, m);
    struct slice text = slice_trim(slice_of(buf_str(&b), b.len));
    buf_add(out, text.p, utf8_cut(text.p, text.n, max));
    buf_done(&b);
}

void chat_sign(struct slice key, struct slice text, char ret[45])
{
    unsigned char mac[32];
    struct buf b = BUF_INIT(64);
    hmac_sha256(key, text.p, text.n, mac);
    mime_base64(&b, (const char *)mac, sizeof(mac));
    text_copy(ret, 45, slice_of(buf_str(&b), b.len));
    buf_done(&b);
}
