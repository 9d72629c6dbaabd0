/* SPDX-License-Identifier: Apache-2.0 */
/* why.h - the sentence for people that goes with an enum err: names the field and the rule.
 * Filled by the layer that knows the reason; NULL is allowed everywhere a struct why * is taken. */
#ifndef PEAL_BASE_WHY_H
#define PEAL_BASE_WHY_H

struct why {
    char text[512]; /* always terminated; empty until set */
};

/* Set the text (cut to fit, on a UTF-8 boundary). The first reason set wins; use why_clear to
 * start over. Returns nothing so that it can stand before "return ERR_…". */
void why_set(struct why *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void why_clear(struct why *w);

#endif
