/* SPDX-License-Identifier: Apache-2.0 */
/* answers.h - answers that many ask for, each made at most once a second. Private to src/api; any
 * thread. */
#ifndef PEAL_API_ANSWERS_H
#define PEAL_API_ANSWERS_H

#include "base/buf.h"
#include <stdint.h>

struct answers;

#define ANSWERS_MS 1000
#define ANSWERS_MAX 64       /* kept at once: then the one that was asked for longest ago goes */
#define ANSWERS_KEY_MAX 4096 /* bytes; an answer with a longer key is not kept */

struct answers *answers_new(void);
void answers_free(struct answers *a);

/* The answer of that key, if it was made within the last second, or is just being made anew: into
 * out. False: the caller makes it, and gives it to answers_put, or calls answers_not. */
bool answers_take(struct answers *a, struct slice key, int64_t boot_ms, struct buf *out);
void answers_put(struct answers *a, struct slice key, int64_t boot_ms, struct slice answer);
void answers_not(struct answers *a, struct slice key);

#endif
