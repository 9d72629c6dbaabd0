/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - schedules in words, in three languages.
 *
 * What is said comes from the parsed schedule, not from its text, so that the words say what the
 * search does, however oddly the text was written. A sentence has at most EXPLAIN_UNITS characters;
 * the rest of a longer one, which names hundreds of values, is "…". Pure; any thread. */
#ifndef PEAL_CRON_EXPLAIN_H
#define PEAL_CRON_EXPLAIN_H

#include "base/buf.h"
#include "cron/schedule.h"

enum language { LANGUAGE_EN, LANGUAGE_ZH_CN, LANGUAGE_ZH_TW, LANGUAGES };

enum {
    EXPLAIN_UNITS = 1000,
    EXPLAIN_FIELD_UNITS = 300, /* of one field's meaning */
    EXPLAIN_MAX = 16 * 1024,   /* bytes that hold any of them while it is made */
};

/* "en", "zh-CN", "zh-TW". */
const char *language_name(enum language lang);
bool language_find(struct slice name, enum language *ret);

/* Append one sentence (no newline) that says when it fires. */
void cron_explain(const struct cron *c, enum language lang, struct buf *out);
/* The same for a schedule of any type; a calendar and a moment name the zone. */
void schedule_explain(const struct schedule *s, enum language lang, struct buf *out);

/* The fields of an expression, in their order. */
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

/* "second", …, "day", …, "year". */
const char *cron_field_name(enum cron_field field);
/* Split at blanks and tabs. Returns how many fields there are, even beyond those stored. */
size_t cron_split(struct slice text, struct slice fields[CRON_FIELDS]);
/* Append what one field means: "every 5 minutes", "at 02". */
void cron_explain_field(const struct cron *c, enum cron_field field, enum language lang,
                        struct buf *out);

#endif
