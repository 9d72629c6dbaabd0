/* SPDX-License-Identifier: Apache-2.0 */
/* rights_json.h - rights as the JSON API writes and reads them. Private to src/api.
 *
 * {"center":"none","grants":[{"role":"developer","groups":[1,4]},{"role":"viewer","groups":null}]};
 * groups null: all. */
#ifndef PEAL_API_V1_RIGHTS_JSON_H
#define PEAL_API_V1_RIGHTS_JSON_H

#include "api/body.h"
#include "base/jsonw.h"
#include "model/rights.h"

/* The members "center" and "grants". */
void rights_json_center(struct jsonw *w, const struct rights *r);
void rights_json_grants(struct jsonw *w, const struct rights *r);
/* The member "rights": permissions that hold for the same groups. */
void rights_json_actor(struct jsonw *w, const struct actor *a);
/* "permissions" of a set. */
void rights_json_permissions(struct jsonw *w, unsigned set);
/* "groups": ids, or null for all. */
void rights_json_groups(struct jsonw *w, const struct scope *scope);

/* The array "grants" (NULL: nothing is read) into r, adding to errors at "/grants/…". */
void rights_json_read_grants(const struct json_t *grants, struct rights *r,
                             struct problem_errors *errors);

#endif
