/* SPDX-License-Identifier: Apache-2.0 */
/* Both APIs come through here, so that what goes along with every edit has one place. */
#include "api/edits.h"
#include "api/audit.h"

enum err edit_make(struct web_call *call, struct edit *e, int64_t *ret_id, struct why *why)
{
    struct edit *done;
    audit_edit(call, e);
    enum err err = center_edit(call->center, e, &done, why);
    if (err)
        return err;
    if (ret_id)
        *ret_id = done->id;
    edit_free(done);
    return OK;
}
