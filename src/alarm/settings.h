/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the settings of a channel that is made through the API, as its kind reads them. Any
 * thread. */
#ifndef PEAL_ALARM_SETTINGS_H
#define PEAL_ALARM_SETTINGS_H

#include "alarm/kind.h"

#define SETTINGS_MAX 65536 /* bytes of the JSON */

struct json_t;

struct settings {
    const struct channel_kind *kind;
    struct json_t *doc;
    struct channel_values values; /* lent by doc */
};

/* text: a JSON object of texts. ERR_INVALID: there is no such kind, or the text is damaged. */
MUST_CHECK enum err settings_read(const char *kind, const char *text, struct settings *ret,
                                  struct why *why);
/* Do they keep the kind's rules? ERR_INVALID: *field is that which does not, why the rule. */
MUST_CHECK enum err settings_check(const struct channel_kind *k, const struct channel_values *v,
                                   const char **field, struct why *why);
/* The JSON of values that are set, in the order of the kind's fields. Freed by the caller. */
char *settings_text(const struct channel_kind *k, const struct channel_values *v);
void settings_free(struct settings *s); /* one that was read, or is all 0 */

#endif
