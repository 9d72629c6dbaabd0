/* SPDX-License-Identifier: Apache-2.0 */
/* How answers of /api/v1 write what every resource has: an instant is a pair of members, so that a
 * program needs no parser of dates and a person no calculator. */
#include "api/v1/v1.h"
#include "cron/rfc3339.h"
#include <stdio.h>
#include <string.h>

char *v1_instant_text(int64_t ms, char to[V1_INSTANT_SIZE])
{
    char wall[RFC3339_SIZE];
    walltime_format(ms, zone_utc(), wall); /* "yyyy-MM-dd HH:mm:ss" */
    snprintf(to, V1_INSTANT_SIZE, "%.10sT%.8s.%03dZ", wall, wall + 11, (int)(ms % 1000));
    return to;
}

void v1_instant(struct jsonw *w, const char *name, int64_t ms)
{
    char key[64], text[V1_INSTANT_SIZE];
    snprintf(key, sizeof(key), "%sAt", name);
    jsonw_text(w, key, v1_instant_text(ms, text));
    snprintf(key, sizeof(key), "%sMs", name);
    jsonw_i64(w, key, ms);
}

void v1_time(struct jsonw *w, const char *key, int64_t ms)
{
    char text[V1_INSTANT_SIZE];
    jsonw_text(w, key, ms > 0 ? v1_instant_text(ms, text) : NULL);
}

void v1_instant_or_null(struct jsonw *w, const char *name, int64_t ms)
{
    char key[64];
    if (ms > 0) {
        v1_instant(w, name, ms);
        return;
    }
    snprintf(key, sizeof(key), "%sAt", name);
    jsonw_null(w, key);
    snprintf(key, sizeof(key), "%sMs", name);
    jsonw_null(w, key);
}

void v1_group_named(struct jsonw *w, struct store *db, int64_t group_id)
{
    struct group_record g;
    struct why why = { "" };
    jsonw_object(w, "group");
    jsonw_i64(w, "id", group_id);
    if (db->ops->catalog->group_get(db, group_id, &g, &why)) {
        jsonw_null(w, "app");
        jsonw_null(w, "title");
    } else {
        jsonw_text(w, "app", g.app);
        jsonw_text(w, "title", g.title);
        group_record_done(&g);
    }
    jsonw_object_end(w);
}

void v1_preferences(struct jsonw *w, const char *key, const char *text)
{
    if (text) {
        jsonw_raw(w, key, slice_text(text));
        return;
    }
    jsonw_object(w, key);
    jsonw_object_end(w);
}

/* ---- statuses ----------------------------------------------------------------------------------
 */

void v1_empty(struct web_call *call)
{
    call->status = 204;
    call->content_type = NULL;
}

void v1_created(struct web_call *call, const char *path, int64_t id)
{
    call->status = 201;
    buf_printf(&call->headers, "Location: %s/api/v1%s/%lld\r\n", call->context, path,
               (long long)id);
}

void v1_refuse_field(struct web_call *call, const char *pointer, const char *rule,
                     const char *detail)
{
    struct problem_errors errors;
    problem_errors_init(&errors);
    problem_error(&errors, pointer, rule, NULL, "%s: %s", pointer + 1, detail);
    problem_fields(call, PROBLEM_INVALID, &errors);
    problem_errors_done(&errors);
}

/* ---- lists -------------------------------------------------------------------------------------
 */

void v1_list_begin(struct jsonw *w)
{
    jsonw_object(w, NULL);
    jsonw_array(w, "items");
}

/* The same request with the cursor; a client need not put it together. */
static void write_link(struct web_call *call, const char *cursor)
{
    struct slice rest = call->query, one;
    struct buf query = BUF_INIT(8192);
    while (slice_cut(&rest, '&', &one)) {
        if (one.n == 0 || (one.n >= 7 && memcmp(one.p, "cursor=", 7) == 0))
            continue;
        buf_slice(&query, one);
        buf_char(&query, '&');
    }
    if (!query.failed)
        buf_printf(&call->headers, "Link: <%s%.*s?%scursor=%s>; rel=\"next\"\r\n", call->context,
                   (int)call->path.n, call->path.p, buf_str(&query), cursor);
    buf_done(&query);
}

void v1_list_end(struct web_call *call, struct jsonw *w, const struct cursor *last, int64_t total,
                 bool exact)
{
    char next[CURSOR_SIZE];
    if (last) {
        cursor_write(last, cursor_filter(call->path, &call->form), call->config->cursor_key, next);
        write_link(call, next);
    }
    jsonw_array_end(w);
    jsonw_object(w, "page");
    jsonw_text(w, "next", last ? next : NULL);
    jsonw_object(w, "total");
    jsonw_i64(w, "value", total);
    jsonw_bool(w, "exact", exact);
    jsonw_object_end(w);
    jsonw_object_end(w);
    jsonw_object_end(w);
}
