/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - the parameters of a list's query, each by its type. Private to src/api.
 *
 * A handler asks for every parameter that its operation has, and then query_end: all that break a
 * rule are told at once, as 400 with the parameter's name as field. A parameter that was not asked
 * for, or that stands there twice, is refused: a misspelt filter would give a list of everything.
 * What breaks a rule reads as if it were absent. */
#ifndef PEAL_API_V1_QUERY_H
#define PEAL_API_V1_QUERY_H

#include "api/cursor.h"
#include "api/front.h"

struct query {
    struct web_call *call;
    struct problem_errors errors; /* private */
    bool asked[FORM_ITEMS_MAX];   /* private */
};

void query_begin(struct query *q, struct web_call *call);
/* False: the call is answered. Always the end of the query. */
MUST_CHECK bool query_end(struct query *q);

/* Absent: NULL, or the fallback. Text has at most max characters; it lives as long as the call. */
const char *query_text(struct query *q, const char *name, int64_t max);
int64_t query_i64(struct query *q, const char *name, int64_t min, int64_t max, int64_t fallback);
/* "true" or "false": 1 or 0. Absent: the fallback. */
int query_bool(struct query *q, const char *name, int fallback);
/* RFC 3339 or epoch milliseconds. */
int64_t query_instant(struct query *q, const char *name, int64_t fallback);
/* Ids, separated by commas, at most max of them; how many. They come ascending, each once. */
size_t query_ids(struct query *q, const char *name, int64_t *ids, size_t max);
/* Some of n <= 64 words, separated by commas: bit i is words[i]. Absent: 0. */
uint64_t query_words(struct query *q, const char *name, const char *const *words, size_t n);
/* One of n words: words[i] is i. Absent: -1. */
int query_word(struct query *q, const char *name, const char *const *words, size_t n);
/* The cursor of this list, if there is one. */
bool query_cursor(struct query *q, struct cursor *ret);
/* Another rule is broken. */
void query_bad(struct query *q, const char *name, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What an edit may have: dryRun=true looks at all rules and changes nothing. The whole query;
 * false: answered. */
MUST_CHECK bool query_dry_run(struct web_call *call, bool *ret);

/* What every list has: rows of a page (1 to 500, default 50). */
int64_t query_limit(struct query *q);

#endif
