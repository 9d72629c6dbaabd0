/* SPDX-License-Identifier: Apache-2.0 */
/* group_rules.h - the rules for a group: one book for the form API and for /api/v1. Private to
 * src/api; pure. */
#ifndef PEAL_API_GROUP_RULES_H
#define PEAL_API_GROUP_RULES_H

#include "base/err.h"
#include "model/group.h"
#include <stdbool.h>

enum group_field { GROUP_APP, GROUP_TITLE, GROUP_TYPE, GROUP_LIST, GROUP_FIELDS };

struct group_in {
    struct group_record *g; /* as it shall be */
    const char *type_fault; /* of an address type that cannot be read, behind its name; or NULL */
    unsigned told;          /* bits of fields whose fault has been told */
};

struct group_fault {
    enum group_field field;
    enum err err;
    const char *rule; /* a stable name */
    const char *text; /* behind the field's name */
};

/* Told each fault in order; false: one is enough. */
typedef bool group_fault_fn(void *ctx, const struct group_fault *fault);

/* The code of the first fault. The list counts for a group by hand only. */
MUST_CHECK enum err group_rules_check(struct group_in *in, group_fault_fn *fn, void *ctx);

#endif
