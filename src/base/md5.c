/* SPDX-License-Identifier: Apache-2.0 */
#include "base/md5.h"
#include <openssl/evp.h>
#include "base/mem.h"

void md5(const void *p, size_t n, unsigned char ret_digest[16])
{
    unsigned int len = 16;
    while (!EVP_Digest(p, n, ret_digest, &len, EVP_md5(), NULL))
        give_up("memory, or no MD5 in OpenSSL");
}
