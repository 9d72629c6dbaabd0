/* SPDX-License-Identifier: Apache-2.0 */
/* rule_json.h - a rule of alarms as JSON, for its resource and for files. Private to src/api. */
#ifndef PEAL_API_V1_RULE_JSON_H
#define PEAL_API_V1_RULE_JSON_H

#include "api/front.h"
#include "api/problem.h"
#include "base/jsonw.h"
#include "model/rule.h"
#include <jansson.h>

/* An object with all of its members. */
void rule_json_write(struct jsonw *w, const struct rule_record *r);
/* The body's members over those of r; is_new: some are needed. Each fault is told. False: there is
 * one, and r has a part of it. */
bool rule_json_read(const json_t *body, bool is_new, struct rule_record *r,
                    struct problem_errors *errors);
/* Afterwards: what its kind needs, and what it has no use for. */
void rule_json_kind(struct rule_record *r, struct problem_errors *errors);
/* Is there a channel of that name, which rules may tell? A worker's thread, blocks on the store. */
void rule_json_channel(struct web_call *call, struct slice name, struct problem_errors *errors);

#endif
