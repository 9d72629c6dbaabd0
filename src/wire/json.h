/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - reads JSON that a stranger wrote: bounded before it is parsed, lenient in its types.
 *
 * The text is measured first (size, depth, number of values; strings skipped), so that the parser
 * behind it (jansson: exact 64-bit integers) cannot be made to recurse or to allocate out of
 * proportion. Refused: trailing text, invalid UTF-8, anything that is not RFC 8259. Accepted:
 * a byte order mark, surrounding blanks; repeated members (the last counts) and \u0000 in text
 * unless the rules are strict, as they are for our own API, which no Java peer writes to. What
 * reports of a run say is taken even if its texts are damaged (json_mend.h), for what else stands
 * there counts.
 *
 * The readers take what Gson, the library of the Java peers, takes: numbers in quotes, 1.0 for an
 * integer, text from numbers and booleans, null as if the member were absent. Names are
 * case-sensitive. Pure; a document belongs to one thread at a time. */
#ifndef PEAL_WIRE_JSON_H
#define PEAL_WIRE_JSON_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

struct json_t; /* jansson's value */

#define WIRE_JSON_DEPTH 32
#define WIRE_JSON_VALUES 100000

struct wire_json_rules {
    size_t max;    /* bytes */
    int depth;     /* levels, at most WIRE_JSON_DEPTH */
    bool strict;   /* refuse repeated members and \u0000 as well */
    size_t values; /* at most; 0: WIRE_JSON_VALUES */
    bool mend;     /* not with strict: damaged text is mended, also \u0000 */
};

/* Parse text within the rules. what names the document in why ("callback body").
 * ERR_TOOBIG for a limit, ERR_INVALID for bad JSON, ERR_NOMEM. The caller owns *ret_doc. */
MUST_CHECK enum err wire_json_read(struct slice text, const struct wire_json_rules *rules,
                                   const char *what, struct json_t **ret_doc, struct why *why);
/* The same, lenient, with WIRE_JSON_DEPTH levels and at most max bytes. */
MUST_CHECK enum err wire_json_parse(struct slice text, size_t max, const char *what,
                                    struct json_t **ret_doc, struct why *why);
/* The same, and damaged text is mended. */
MUST_CHECK enum err wire_json_parse_mended(struct slice text, size_t max, const char *what,
                                           struct json_t **ret_doc, struct why *why);
void wire_json_free(struct json_t *doc); /* NULL is fine */
bool wire_json_is_object(const struct json_t *doc);

/* The members of o. Absent and null leave *ret as it is (give it the default first) and are OK.
 * ERR_INVALID names the member and the rule. o that is not an object has no members. */
MUST_CHECK enum err wire_json_i64(const struct json_t *o, const char *name, int64_t *ret,
                                  struct why *why);
MUST_CHECK enum err wire_json_int(const struct json_t *o, const char *name, int *ret,
                                  struct why *why);
MUST_CHECK enum err wire_json_bool(const struct json_t *o, const char *name, bool *ret,
                                   struct why *why);
/* Text borrowed from the document; objects and arrays are refused. Takes the document writable:
 * a number or boolean is replaced by its text there, so that the slice lives as long as it. */
MUST_CHECK enum err wire_json_text(struct json_t *o, const char *name, struct slice *ret,
                                   struct why *why);
/* The same, but objects and arrays become their compact JSON text. */
MUST_CHECK enum err wire_json_any(struct json_t *o, const char *name, struct slice *ret,
                                  struct why *why);

/* The integer that a Java peer would read from text: decimal digits, or a whole number with ".0".
 */
bool wire_lenient_i64(struct slice text, int64_t *ret);

#endif
