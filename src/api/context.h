/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - what may stand before a path: nothing, "/xxl-job-admin", or the prefix that the
 * setting http.prefix names. Private to src/api.
 *
 * Everything is served under each of them, so a proxy may pass the prefix on or take it away: pages
 * and addresses that the server writes begin with the prefix in either case. */
#ifndef PEAL_API_CONTEXT_H
#define PEAL_API_CONTEXT_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

#define CONTEXT_MAX 100 /* bytes of the prefix */

/* The setting as it is used: "/a/b", or "" for none. ERR_INVALID: why says the rule. */
MUST_CHECK enum err context_check(struct slice setting, char ret[CONTEXT_MAX + 1], struct why *why);
/* That prefix is the server's, checked. Before there are threads. */
void context_set(const char *prefix);

/* The path behind a doubled slash and what may stand before it; always begins with '/'. */
struct slice context_cut(struct slice path);
/* What an address that answers this path begins with: "/xxl-job-admin" if it did, else the prefix.
 * Static text. */
const char *context_of(struct slice path);
/* Did the path come with the server's prefix? */
bool context_is_prefix(struct slice path);

#endif
