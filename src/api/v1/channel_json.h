/* SPDX-License-Identifier: Apache-2.0 */
/* channel_json.h - an alarm channel from JSON, for its resource and for files. Private to src/api.
 */
#ifndef PEAL_API_V1_CHANNEL_JSON_H
#define PEAL_API_V1_CHANNEL_JSON_H

#include "api/problem.h"
#include "model/channel.h"
#include <jansson.h>

/* The body's members over those of r, its settings one by one; is_new: some are needed, and the
 * kind is taken. Each fault is told. False: there is one, and r has a part of it. */
bool channel_json_read(const json_t *body, bool is_new, struct channel_record *r,
                       struct problem_errors *errors);

#endif
