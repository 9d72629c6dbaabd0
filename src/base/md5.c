/* SPDX-License-Identifier: Apache-2.0 */
#include "base/md5.h"
#include <openssl/evp.h>
#include <stdlib.h>

void md5(const void *p, size_t n, unsigned char ret_digest[16])
{
    unsigned int len = 16;
    if (!EVP_Digest(p, n, ret_digest, &len, EVP_md5(), NULL))
        abort(); /* only when OpenSSL was built without MD5: a broken installation */
}
