/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here is OpenSSL's; this file holds it behind plain functions. */
#include "base/secret.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include "base/base64url.h"
#include "base/file.h"
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

bool sha256_file(int fd, unsigned char ret_digest[32])
{
    enum { PART = 1 << 16 };
    unsigned char *part = mem_new(PART);
    EVP_MD_CTX *md;
    while (!(md = EVP_MD_CTX_new()) || !EVP_DigestInit_ex(md, EVP_sha256(), NULL)) {
        EVP_MD_CTX_free(md);
        give_up("memory for a digest");
    }
    size_t n = PART;
    for (int64_t at = 0; n == PART; at += PART) {
        n = file_read(fd, at, part, PART);
        if (!EVP_DigestUpdate(md, part, n))
            errno = ENOMEM;
        if (errno)
            break;
    }
    bool ok = !errno && EVP_DigestFinal_ex(md, ret_digest, NULL);
    EVP_MD_CTX_free(md);
    free(part);
    return ok;
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
