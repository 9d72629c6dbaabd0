/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of this very release: the build makes JSON of docs/api-v1.yaml (scripts/openapi.py)
 * and embeds it. Its checksum and length are the tag, so a client that has it is told so. */
#include "api/v1/etag.h"
#include "api/v1/v1.h"
#include "base/crc32c.h"

__asm__(".pushsection .rodata\n"
        ".global peal_openapi\npeal_openapi:\n"
        ".incbin \"" PEAL_OPENAPI "\"\n"
        ".global peal_openapi_end\npeal_openapi_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char peal_openapi[] __attribute__((visibility("hidden")));
extern const char peal_openapi_end[] __attribute__((visibility("hidden")));

void v1_openapi_get(struct web_call *call)
{
    struct slice document = slice_of(peal_openapi, (size_t)(peal_openapi_end - peal_openapi));
    const struct etag tag = { 'o', crc32c(0, document.p, document.n), (int64_t)document.n };
    if (etag_fresh(call, tag))
        return;
    etag_write(call, tag);
    buf_slice(&call->output, document);
}
