/* SPDX-License-Identifier: Apache-2.0 */
/* Copies are for stores in memory; a reader owns what it was given. */
#include "model/idem.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void idem_record_done(struct idem_record *r)
{
    free(r->key);
    free(r->digest);
    free(r->headers);
    free(r->answer);
    memset(r, 0, sizeof(*r));
}

void idem_record_copy(struct idem_record *to, const struct idem_record *from)
{
    *to = *from;
    to->key = mem_dup(from->key);
    to->digest = mem_dup(from->digest);
    to->headers = mem_dup(from->headers);
    to->answer = mem_dup(from->answer);
}
