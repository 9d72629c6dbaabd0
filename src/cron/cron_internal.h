/* SPDX-License-Identifier: Apache-2.0 */
/* cron_internal.h - what the files of src/cron share about expressions; not for others. */
#ifndef PEAL_CRON_CRON_INTERNAL_H
#define PEAL_CRON_CRON_INTERNAL_H

#include "cron/cron.h"

enum cron_field {
    FIELD_SECOND,
    FIELD_MINUTE,
    FIELD_HOUR,
    FIELD_DAY,
    FIELD_MONTH,
    FIELD_WEEKDAY,
    FIELD_YEAR,
    CRON_FIELDS,
};

/* Split at blanks and tabs. Returns how many fields there are, even beyond those stored. */
size_t cron_split(struct slice text, struct slice fields[CRON_FIELDS]);

/* Parse without looking for a better form: what cron_hint tries its candidates with. */
enum err cron_parse_plain(struct slice text, int last_year, struct cron *ret, struct why *why);

#endif
