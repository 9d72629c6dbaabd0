/* SPDX-License-Identifier: Apache-2.0 */
/* cron_internal.h - what the files of src/cron share about expressions; not for others. */
#ifndef PEAL_CRON_CRON_INTERNAL_H
#define PEAL_CRON_CRON_INTERNAL_H

#include "cron/explain.h"

/* Parse without looking for a better form: what cron_hint tries its candidates with. */
enum err cron_parse_plain(struct slice text, int last_year, struct cron *ret, struct why *why);

/* cron_explain without the mark that ends the sentence. */
void cron_sentence(const struct cron *c, enum language lang, struct buf *out);

#endif
