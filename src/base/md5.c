/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithm is fetched once: OpenSSL 3 else looks it up for each text, which takes as long as
 * the digest of a short one. */
#include "base/md5.h"
#include <openssl/evp.h>
#include <pthread.h>
#include "base/mem.h"

static EVP_MD *fetched; /* kept until the process ends */

static void fetch(void)
{
    while (!(fetched = EVP_MD_fetch(NULL, "MD5", NULL)))
        give_up("memory, or no MD5 in OpenSSL");
}

void md5(const void *p, size_t n, unsigned char ret_digest[16])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned int len = 16;
    pthread_once(&once, fetch);
    while (!EVP_Digest(p, n, ret_digest, &len, fetched, NULL))
        give_up("memory, or no MD5 in OpenSSL");
}
