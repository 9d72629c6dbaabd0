/* SPDX-License-Identifier: Apache-2.0 */
/* json_mend.h - damaged text inside of JSON, as programs send it that cut strings at a number of
 * bytes, or write them in another character set. Pure. */
#ifndef PEAL_WIRE_JSON_MEND_H
#define PEAL_WIRE_JSON_MEND_H

#include "base/buf.h"

/* Copies text to out, its string literals mended, so that a strict reader takes them: what is no
 * character becomes U+FFFD (bytes that are no UTF-8, a lone half of a surrogate pair, NUL), a pair
 * of surrogates in UTF-8 (CESU-8) becomes its character, a control character is escaped, and a
 * backslash before anything else than an escape stands for itself. What is outside of literals
 * stays as it is. At most six bytes for each of text; out fails beyond its limit. Returns what was
 * mended: 0, and the text is as it was. */
size_t json_mend(struct slice text, struct buf *out);

#endif
