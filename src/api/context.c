/* SPDX-License-Identifier: Apache-2.0 */
/* The prefix is one of the process, as the port is: it is set once, at start. */
#include "api/context.h"
#include <string.h>

#define OLD "/xxl-job-admin" /* the context path of XXL-JOB's releases before 3.4.1 */

static char prefix[CONTEXT_MAX + 1];

/* ---- the setting -------------------------------------------------------------------------------
 */

static bool is_unreserved(char c) /* RFC 3986 */
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static bool segment_ok(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_unreserved(s.p[i]))
            return false;
    return s.n && !slice_eq(s, ".") && !slice_eq(s, "..");
}

enum err context_check(struct slice setting, char ret[CONTEXT_MAX + 1], struct why *why)
{
    struct slice rest = slice_trim(setting), one;
    if (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    text_copy(ret, CONTEXT_MAX + 1, rest);
    if (rest.n > CONTEXT_MAX) {
        why_set(why, "http.prefix must have at most %d bytes", CONTEXT_MAX);
        return ERR_INVALID;
    }
    if (rest.n && rest.p[0] != '/') {
        why_set(why, "http.prefix must begin with a slash, as in /peal");
        return ERR_INVALID;
    }
    bool first = true, good = rest.n != 1;
    if (rest.n)
        rest = slice_of(rest.p + 1, rest.n - 1);
    for (; good && slice_cut(&rest, '/', &one); first = false) {
        good = segment_ok(one);
        if (first && slice_eq(one, "api")) {
            why_set(why, "http.prefix must not begin with /api, where executors call");
            return ERR_INVALID;
        }
    }
    if (!good)
        why_set(why, "http.prefix must be segments of letters, digits, - . _ ~ between single "
                     "slashes");
    return good ? OK : ERR_INVALID;
}

void context_set(const char *checked)
{
    text_copy(prefix, sizeof(prefix), slice_text(checked));
}

/* ---- paths -------------------------------------------------------------------------------------
 */

/* Clients whose base address ends in a slash double it. */
static struct slice one_slash(struct slice path)
{
    while (path.n > 1 && path.p[0] == '/' && path.p[1] == '/')
        path = slice_of(path.p + 1, path.n - 1);
    return path;
}

static bool has(struct slice path, const char *context)
{
    size_t n = strlen(context);
    return n && path.n >= n && memcmp(path.p, context, n) == 0 && (path.n == n || path.p[n] == '/');
}

static struct slice without(struct slice path, const char *context)
{
    size_t n = strlen(context);
    return path.n == n ? slice_text("/") : one_slash(slice_of(path.p + n, path.n - n));
}

struct slice context_cut(struct slice path)
{
    path = one_slash(path);
    if (has(path, prefix))
        return without(path, prefix);
    return has(path, OLD) ? without(path, OLD) : path;
}

bool context_is_prefix(struct slice path)
{
    return has(one_slash(path), prefix);
}

const char *context_of(struct slice path)
{
    path = one_slash(path);
    return !has(path, prefix) && has(path, OLD) ? OLD : prefix;
}
