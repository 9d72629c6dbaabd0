/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here is OpenSSL's; this file holds it behind plain functions. */
#include "base/secret.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include "base/base64url.h"
#include "base/mem.h"

void secret_random(void *p, size_t n)
{
    while (RAND_bytes(p, (int)n) != 1)
        give_up("randomness");
}

void secret_token(char *to, size_t size, size_t n)
{
    unsigned char bytes[96];
    if (n > sizeof(bytes) || size < BASE64URL_SIZE(n)) {
        give_up("room for a token"); /* a bug of the caller */
        return;
    }
    secret_random(bytes, n);
    base64url_write(bytes, n, to);
}

void sha256(const void *p, size_t n, unsigned char ret_digest[32])
{
    unsigned int len = 32;
    while (!EVP_Digest(p, n, ret_digest, &len, EVP_sha256(), NULL))
        give_up("memory for a digest");
}

void hmac_sha256(struct slice key, const void *p, size_t n, unsigned char ret_mac[32])
{
    unsigned int len = 32;
    while (!HMAC(EVP_sha256(), key.p, (int)key.n, p, n, ret_mac, &len))
        give_up("memory for a digest");
}

bool secret_equal(struct slice a, struct slice b)
{
    return a.n == b.n && CRYPTO_memcmp(a.p, b.p, a.n) == 0;
}
