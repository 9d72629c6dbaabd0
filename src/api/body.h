/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - JSON bodies: read within bounds, then by a table of fields. Private to src/api; pure.
 *
 * At most 16 levels, no member twice, no \u0000 in text. A table says of each member its type, its
 * bounds and where it goes in a struct. All members that break a rule are told at once; members
 * that the table does not have are refused, so that a misspelt one is not a default. */
#ifndef PEAL_API_BODY_H
#define PEAL_API_BODY_H

#include "api/problem.h"
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>

struct json_t;
struct web_call;

enum field_type {
    FIELD_TEXT, /* struct slice, borrowed from the document and terminated; bounds in characters */
    FIELD_I64,  /* int64_t */
    FIELD_BOOL, /* bool */
};

struct body_field {
    const char *name;
    enum field_type type;
    size_t at; /* offset of the member in the struct */
    bool required;
    int64_t min, max;
};

/* ERR_TOOBIG: deeper or with more values than allowed. ERR_INVALID: no JSON, or no object.
 * ERR_NOMEM. The caller owns *ret (wire_json_free). */
MUST_CHECK enum err body_parse(struct slice text, struct json_t **ret, struct why *why);

/* The members of an object into the struct at to; what is absent stays. Adds to errors. */
void body_fields(const struct json_t *object, const struct body_field *fields, size_t n, void *to,
                 struct problem_errors *errors);

/* The same for a call's body. False: it breaks a rule, the call is answered 422. */
MUST_CHECK bool body_read(struct web_call *call, const struct body_field *fields, size_t n,
                          void *to);

#endif
