/* SPDX-License-Identifier: Apache-2.0 */
/* placeholder.h - ${NAME:default} in the values of a settings' file, as Spring has it. Pure.
 *
 * ${NAME} is the value of NAME, ${NAME:text} the text where there is none; the text may hold
 * placeholders itself. A value that was put in is not looked at again. \${ stands for ${. */
#ifndef PEAL_BASE_PLACEHOLDER_H
#define PEAL_BASE_PLACEHOLDER_H

#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

#define PLACEHOLDER_NAME_MAX 64
#define PLACEHOLDER_DEPTH_MAX 8

/* The value of a name, lent; NULL: there is none. */
typedef const char *placeholder_fn(void *ctx, const char *name);

/* Append the text to out, filled in. ERR_INVALID: why says the placeholder and the rule; ERR_TOOBIG
 * beyond the maximum of out. Then what out holds is of no use. */
MUST_CHECK enum err placeholder_fill(struct slice text, placeholder_fn *value, void *ctx,
                                     struct buf *out, struct why *why);

#endif
