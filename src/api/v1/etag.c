/* SPDX-License-Identifier: Apache-2.0 */
/* Tags are compared as text. A weak tag (W/"…", which proxies make) is as good for reading, and no
 * tag for writing. */
#include "api/v1/etag.h"
#include <stdio.h>

#define TAG_SIZE 64

static void format(struct etag tag, char to[TAG_SIZE])
{
    snprintf(to, TAG_SIZE, "\"%c%lld-%lld\"", tag.kind, (long long)tag.id, (long long)tag.version);
}

static struct slice strong(struct slice one)
{
    bool weak = one.n > 2 && one.p[0] == 'W' && one.p[1] == '/';
    return weak ? slice_of(one.p + 2, one.n - 2) : one;
}

/* Is the tag in the list of a header, or the list an asterisk? */
static bool listed(struct slice list, struct etag tag, bool weak)
{
    char text[TAG_SIZE];
    struct slice one;
    format(tag, text);
    while (slice_item(&list, &one))
        if (slice_eq(one, "*") || slice_eq(weak ? strong(one) : one, text))
            return true;
    return false;
}

void etag_write(struct web_call *call, struct etag tag)
{
    char text[TAG_SIZE];
    format(tag, text);
    buf_printf(&call->headers, "ETag: %s\r\n", text);
}

bool etag_fresh(struct web_call *call, struct etag tag)
{
    if (!call->if_none_match.p || !listed(call->if_none_match, tag, true))
        return false;
    etag_write(call, tag);
    call->status = 304;
    call->content_type = NULL;
    return true;
}

void etag_changed(struct web_call *call, struct etag tag, const char *what)
{
    etag_write(call, tag);
    problem(call, PROBLEM_CHANGED, "%s is at version %lld, the edit was made on another", what,
            (long long)tag.version);
}

bool etag_match(struct web_call *call, struct etag tag, const char *what)
{
    if (!call->if_match.p) {
        problem(call, PROBLEM_NO_IF_MATCH,
                "send the ETag that you read as If-Match, or * to overwrite what is there");
        return false;
    }
    if (listed(call->if_match, tag, false))
        return true;
    etag_changed(call, tag, what);
    return false;
}
