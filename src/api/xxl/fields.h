/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - small rules that several resources share. Private to src/api. */
#ifndef PEAL_API_XXL_FIELDS_H
#define PEAL_API_XXL_FIELDS_H

#include "api/front.h"

/* The id of a row to act on: `id`, or exactly one `ids[]` (also `ids`). ERR_INVALID names it. */
MUST_CHECK enum err field_id(const struct form *f, int64_t *ret, struct why *why);
/* At most max UTF-16 units, what the columns of XXL-JOB hold; text NULL is fine. */
MUST_CHECK enum err field_width(const char *name, const char *text, size_t max, struct why *why);
bool field_blank(const char *text); /* NULL, empty, or blanks only */
/* Replace *to (owned) by a trimmed copy. */
void field_trimmed(char **to, const char *text);
/* Make the edit, or give it up because of err, and answer the call. */
void field_finish(struct web_call *call, struct edit *e, enum err err, struct why *why);
/* Update a row and answer the call. update reads the row and the form on top of it, and makes the
 * edit; it is called again while that is ERR_OVERTAKEN, as another edit was committed meanwhile. */
void field_update(struct web_call *call,
                  enum err (*update)(struct web_call *call, struct why *why));

#endif
