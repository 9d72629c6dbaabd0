/* SPDX-License-Identifier: Apache-2.0 */
/* Tags are compared as text. A weak tag (W/"…", which proxies make) is as good for reading, and no
 * tag for writing. */
#include "api/v1/etag.h"
#include <stdio.h>
#include <string.h>

#define TAG_SIZE 80

static void format(struct etag tag, char to[TAG_SIZE])
{
    snprintf(to, TAG_SIZE, "\"%c%lld-%lld\"", tag.kind, (long long)tag.id, (long long)tag.version);
}

/* What the answer shows stands behind the version, as FNV-1a of its bytes. */
static void format_shown(struct etag tag, const struct buf *body, char to[TAG_SIZE])
{
    uint64_t h = 14695981039346656037U;
    for (size_t i = 0; i < body->len; i++)
        h = (h ^ (unsigned char)body->data[i]) * 1099511628211U;
    snprintf(to, TAG_SIZE, "\"%c%lld-%lld.%016llx\"", tag.kind, (long long)tag.id,
             (long long)tag.version, (unsigned long long)h);
}

static struct slice strong(struct slice one)
{
    bool weak = one.n > 2 && one.p[0] == 'W' && one.p[1] == '/';
    return weak ? slice_of(one.p + 2, one.n - 2) : one;
}

/* Is the tag in the list, or the list an asterisk? */
static bool has(struct slice list, const char *text)
{
    struct slice one;
    while (slice_item(&list, &one))
        if (slice_eq(one, "*") || slice_eq(strong(one), text))
            return true;
    return false;
}

/* Is it the tag of that version, whatever the answer showed? */
static bool is_of(struct slice one, const char *version)
{
    size_t n = strlen(version) - 1; /* without the quote at its end */
    return one.n > n && memcmp(one.p, version, n) == 0 &&
           (slice_eq(one, version) || (one.p[n] == '.' && one.p[one.n - 1] == '"'));
}

static bool has_version(struct slice list, struct etag tag)
{
    char text[TAG_SIZE];
    struct slice one;
    format(tag, text);
    while (slice_item(&list, &one))
        if (slice_eq(one, "*") || is_of(one, text))
            return true;
    return false;
}

static void write_tag(struct web_call *call, const char *text)
{
    buf_printf(&call->headers, "ETag: %s\r\n", text);
}

static bool fresh(struct web_call *call, const char *text)
{
    if (!call->if_none_match.p || !has(call->if_none_match, text))
        return false;
    write_tag(call, text);
    call->status = 304;
    call->content_type = NULL;
    return true;
}

void etag_write(struct web_call *call, struct etag tag)
{
    char text[TAG_SIZE];
    format(tag, text);
    write_tag(call, text);
}

bool etag_fresh(struct web_call *call, struct etag tag)
{
    char text[TAG_SIZE];
    format(tag, text);
    return fresh(call, text);
}

void etag_write_shown(struct web_call *call, struct etag tag)
{
    char text[TAG_SIZE];
    format_shown(tag, &call->output, text);
    write_tag(call, text);
}

void etag_answer(struct web_call *call, struct etag tag)
{
    char text[TAG_SIZE];
    format_shown(tag, &call->output, text);
    if (fresh(call, text))
        buf_reset(&call->output);
    else
        write_tag(call, text);
}

void etag_changed(struct web_call *call, struct etag tag, const char *what)
{
    etag_write(call, tag);
    problem(call, PROBLEM_CHANGED, "%s is at version %lld, the edit was made on another", what,
            (long long)tag.version);
}

bool etag_any(const struct web_call *call)
{
    return slice_eq(slice_trim(call->if_match), "*");
}

bool etag_match(struct web_call *call, struct etag tag, const char *what)
{
    if (!call->if_match.p) {
        problem(call, PROBLEM_NO_IF_MATCH,
                "send the ETag that you read as If-Match, or * to overwrite what is there");
        return false;
    }
    if (has_version(call->if_match, tag))
        return true;
    etag_changed(call, tag, what);
    return false;
}
