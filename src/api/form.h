/* SPDX-License-Identifier: Apache-2.0 */
/* form.h - parameters of a request: query and application/x-www-form-urlencoded body (WHATWG URL
 * standard, section 5.1: '+' is a blank, %XX a byte). Pure. */
#ifndef PEAL_API_FORM_H
#define PEAL_API_FORM_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

#define FORM_ITEMS_MAX 200
#define FORM_NAME_MAX 64

struct form {
    struct form_item *items; /* owned */
    size_t n;
    char *text; /* owned: decoded names and values, each terminated */
};

struct form_item {
    const char *name, *value; /* terminated, UTF-8 without NUL */
};

/* Decode both, the query's parameters first. Refused: more than FORM_ITEMS_MAX, a % without two
 * digits, bytes that are no UTF-8, NUL. On failure *ret is empty. The caller owns *ret. */
MUST_CHECK enum err form_parse(struct slice query, struct slice body, struct form *ret,
                               struct why *why);
void form_done(struct form *f);

/* The first value of that name; NULL if absent. */
const char *form_get(const struct form *f, const char *name);
/* The first whole number of that name; absent or blank: *ret stays. ERR_INVALID names it. */
MUST_CHECK enum err form_i64(const struct form *f, const char *name, int64_t *ret, struct why *why);
MUST_CHECK enum err form_int(const struct form *f, const char *name, int *ret, struct why *why);

#endif
