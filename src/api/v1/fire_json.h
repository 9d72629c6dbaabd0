/* SPDX-License-Identifier: Apache-2.0 */
/* fire_json.h - a firing that lies ahead, as JSON. Private to src/api. */
#ifndef PEAL_API_V1_FIRE_JSON_H
#define PEAL_API_V1_FIRE_JSON_H

#include "base/jsonw.h"
#include "cron/schedule.h"

#define FIRES_FROM_MAX 10413792000000 /* 2300-01-01: no scheduled time lies there or later */

struct fire {
    int64_t ms;
    bool planned;  /* its row is on disk */
    int64_t crowd; /* other jobs in the same second; < 0: not known, and not said */
};
void fire_write(struct jsonw *w, const struct schedule *s, struct fire fire);

/* "+08:00" */
#define OFFSET_SIZE 16
char *offset_text(int east_s, char to[OFFSET_SIZE]);

#endif
