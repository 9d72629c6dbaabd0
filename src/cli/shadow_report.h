/* SPDX-License-Identifier: Apache-2.0 */
/* shadow_report.h - what a shadow has found, as text and as one JSON document. */
#ifndef PEAL_CLI_SHADOW_REPORT_H
#define PEAL_CLI_SHADOW_REPORT_H

#include "shadow/shadow.h"

struct shadow_report;

/* json: nothing is printed before the end. zone: of times in texts; borrowed. */
struct shadow_report *shadow_report_new(bool json, const struct zone *zone);
void shadow_report_free(struct shadow_report *r);

void shadow_report_warning(void *report, const char *text);
void shadow_report_finding(void *report, const struct finding *f, const char *job);
/* The last lines, or the document. False: standard output cannot be written. */
bool shadow_report_end(struct shadow_report *r, const struct shadow *s,
                       const struct shadow_config *config, int64_t ended_ms);
int64_t shadow_report_findings(const struct shadow_report *r);

#endif
