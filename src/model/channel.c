/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c - who frees the texts of a channel. */
#include "model/channel.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void channel_record_done(struct channel_record *r)
{
    free(r->name);
    free(r->kind);
    free(r->settings);
    memset(r, 0, sizeof(*r));
}

void channel_record_copy(struct channel_record *to, const struct channel_record *from)
{
    *to = *from;
    to->name = mem_dup(from->name);
    to->kind = mem_dup(from->kind);
    to->settings = mem_dup(from->settings);
}
