/* SPDX-License-Identifier: Apache-2.0 */
/* Names are copied into each row: an audit must be readable when the user and the job are gone. */
#include "model/audit.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void audit_record_done(struct audit_record *r)
{
    free(r->user);
    free(r->via);
    free(r->address);
    free(r->action);
    free(r->kind);
    free(r->object);
    free(r->name);
    free(r->changes);
    free(r->reason);
    memset(r, 0, sizeof(*r));
}

void audit_record_copy(struct audit_record *to, const struct audit_record *from)
{
    *to = *from;
    to->user = mem_dup(from->user);
    to->via = mem_dup(from->via);
    to->address = mem_dup(from->address);
    to->action = mem_dup(from->action);
    to->kind = mem_dup(from->kind);
    to->object = mem_dup(from->object);
    to->name = mem_dup(from->name);
    to->changes = mem_dup(from->changes);
    to->reason = mem_dup(from->reason);
}
