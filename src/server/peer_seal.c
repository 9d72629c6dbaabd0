/* SPDX-License-Identifier: Apache-2.0 */
/* The texts under the MACs begin differently, so none of them can stand for another kind, and
 * their parts cannot run into each other: a path has no line feed, and the rest are numbers and
 * digits. */
#include "server/peer_seal.h"
#include "base/secret.h"
#include <string.h>

#define CALL "peal node call 1\n"
#define ANSWER "peal node answer 1\n"
#define REFUSAL "peal node refusal 1\n"
#define TEXT_MAX 1024

static void digest_of(struct slice body, char ret[PEER_HEX + 1])
{
    unsigned char digest[32];
    sha256(body.n ? body.p : "", body.n, digest);
    hex_text(digest, sizeof(digest), ret);
}

static void mac_of(struct slice token, const struct buf *text, char ret[PEER_HEX + 1])
{
    unsigned char mac[32];
    hmac_sha256(token, buf_str(text), text->len, mac);
    hex_text(mac, sizeof(mac), ret);
}

static void call_mac(struct slice token, struct slice path, const struct peer_seal *s,
                     char ret[PEER_HEX + 1])
{
    struct buf text = BUF_INIT(TEXT_MAX);
    buf_text(&text, CALL);
    buf_slice(&text, path);
    buf_printf(&text, "\n%lld %lld %lld %s", (long long)s->from, (long long)s->to,
               (long long)s->nonce, s->digest);
    mac_of(token, &text, ret);
    if (text.failed) /* a path that no call has: no MAC fits it */
        memset(ret, 0, PEER_HEX + 1);
    buf_done(&text);
}

void peer_seal_make(struct slice token, struct slice path, struct slice body,
                    struct peer_seal *seal)
{
    digest_of(body, seal->digest);
    call_mac(token, path, seal, seal->mac);
}

void peer_seal_write(struct buf *out, const struct peer_seal *seal)
{
    buf_printf(out, "%lld %lld %lld %s %s", (long long)seal->from, (long long)seal->to,
               (long long)seal->nonce, seal->digest, seal->mac);
}

static bool same(const char *a, struct slice b)
{
    return secret_equal(slice_text(a), b);
}

static bool number(struct slice *rest, int64_t *ret)
{
    struct slice one;
    return slice_cut(rest, ' ', &one) && parse_i64(one, ret) && *ret >= 0;
}

static bool digits(struct slice *rest, char ret[PEER_HEX + 1])
{
    struct slice one;
    if (!slice_cut(rest, ' ', &one) || one.n != PEER_HEX)
        return false;
    memcpy(ret, one.p, PEER_HEX);
    ret[PEER_HEX] = '\0';
    return true;
}

bool peer_seal_read(struct slice token, struct slice path, struct slice value,
                    struct peer_seal *ret)
{
    char mac[PEER_HEX + 1];
    struct slice rest = value;
    if (!number(&rest, &ret->from) || !number(&rest, &ret->to) || !number(&rest, &ret->nonce) ||
        !digits(&rest, ret->digest) || !digits(&rest, ret->mac) || rest.n)
        return false;
    call_mac(token, path, ret, mac);
    return same(mac, slice_of(ret->mac, PEER_HEX));
}

bool peer_seal_body(const struct peer_seal *seal, struct slice body)
{
    char digest[PEER_HEX + 1];
    digest_of(body, digest);
    return same(digest, slice_of(seal->digest, PEER_HEX));
}

static void answer_mac(struct slice token, const struct peer_seal *call, struct slice body,
                       char ret[PEER_HEX + 1])
{
    struct buf text = BUF_INIT(TEXT_MAX);
    char digest[PEER_HEX + 1];
    digest_of(body, digest);
    buf_printf(&text, ANSWER "%s %s", call->mac, digest);
    mac_of(token, &text, ret);
    buf_done(&text);
}

void peer_answer_write(struct buf *out, struct slice token, const struct peer_seal *call,
                       struct slice body)
{
    char mac[PEER_HEX + 1];
    answer_mac(token, call, body, mac);
    buf_text(out, mac);
    buf_char(out, '\n');
    buf_slice(out, body);
}

bool peer_answer_read(struct slice token, const struct peer_seal *call, struct slice answer,
                      struct slice *ret)
{
    char mac[PEER_HEX + 1];
    if (answer.n < PEER_HEX + 1 || answer.p[PEER_HEX] != '\n')
        return false;
    *ret = slice_of(answer.p + PEER_HEX + 1, answer.n - PEER_HEX - 1);
    answer_mac(token, call, *ret, mac);
    return same(mac, slice_of(answer.p, PEER_HEX));
}

static void refusal_mac(struct slice token, const struct peer_seal *call, int status,
                        char ret[PEER_HEX + 1])
{
    struct buf text = BUF_INIT(TEXT_MAX);
    buf_printf(&text, REFUSAL "%s %d", call->mac, status);
    mac_of(token, &text, ret);
    buf_done(&text);
}

void peer_refusal_write(struct buf *out, struct slice token, const struct peer_seal *call,
                        int status)
{
    char mac[PEER_HEX + 1];
    refusal_mac(token, call, status, mac);
    buf_text(out, mac);
}

bool peer_refusal_read(struct slice token, const struct peer_seal *call, int status,
                       struct slice answer)
{
    char mac[PEER_HEX + 1];
    refusal_mac(token, call, status, mac);
    return same(mac, answer);
}
