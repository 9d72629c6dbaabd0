/* SPDX-License-Identifier: Apache-2.0 */
/* peal ctl apply: all files as one import. The center says what it would do, then does just that,
 * in one transaction, or nothing. */
#include "cli/ctl/desired.h"
#include "cli/ctl/http.h"
#include "cli/ctl/value.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRINGS_SHOWN = 5 };

/* ---- one document ---------------------------------------------------------------------------- */

static json_t *list_of(const struct desired_item *items, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append(list, (json_t *)items[i].want);
    return list;
}

static json_t *document_of(const struct desired *d)
{
    json_t *doc = json_pack("{si}", "peal", 1);
    for (int list = 0; list < DESIRED_LISTS; list++)
        json_object_set_new(doc, desired_lists[list], list_of(d->items[list], d->n[list]));
    return doc;
}

/* The item of "/jobs/17/schedule/conf", and the rest of it; NULL: it names none. */
static const struct desired_item *item_of(const struct desired *d, const char *field,
                                          const char **ret_rest)
{
    for (int list = 0; list < DESIRED_LISTS; list++) {
        size_t n = strlen(desired_lists[list]);
        const char *number = field + n + 2;
        char *end;
        if (*field != '/' || strncmp(field + 1, desired_lists[list], n) != 0 ||
            field[n + 1] != '/' || *number < '0' || *number > '9')
            continue;
        unsigned long i = strtoul(number, &end, 10);
        *ret_rest = end;
        return i < d->n[list] ? &d->items[list][i] : NULL;
    }
    return NULL;
}

/* ---- refused --------------------------------------------------------------------------------- */

/* "FILE: /jobs/3/schedule/conf: …"; the detail may begin with the member. */
static void add_fault(struct buf *text, const struct desired *d, const json_t *e)
{
    const char *field = ctl_text(e, "field"), *detail = ctl_text(e, "detail"), *rest = "";
    const struct desired_item *item = item_of(d, field, &rest);
    size_t n = strlen(rest);
    bool says = n > 1 && strncmp(detail, rest + 1, n - 1) == 0 && detail[n - 1] == ':';
    buf_text(text, text->len ? "\n" : "");
    if (item)
        buf_printf(text, "%.300s%.200s: %.300s", item->where, rest,
                   says ? detail + n + (detail[n] == ' ') : detail);
    else
        buf_printf(text, "%.300s", detail);
}

/* A name that leads nowhere is "not found", whatever else is wrong. */
static enum ctl_exit meaning_of(const json_t *errors, enum ctl_exit status)
{
    const char *rule = ctl_text(json_array_get(errors, 0), "rule");
    bool missing = strcmp(rule, "group.exists") == 0 || strcmp(rule, "child.exists") == 0 ||
                   strcmp(rule, "job.exists") == 0;
    return missing ? CTL_NOT_FOUND : status;
}

static enum ctl_exit tell_refusal(const struct ctl *c, const struct ctl_answer *a,
                                  enum ctl_exit status, const void *ctx)
{
    const json_t *errors = json_object_get(a->body, "errors"), *one;
    struct buf text = BUF_INIT(1 << 16);
    size_t i;
    json_array_foreach(errors, i, one)
    {
        add_fault(&text, ctx, one);
    }
    if (!text.len)
        buf_printf(&text, "%.600s", ctl_text(a->body, "detail"));
    if (a->status == 413)
        buf_text(&text, "\nAll files together are more than one import takes (16 MiB, and packed "
                        "by gzip 2 MiB): apply them group by group");
    if (a->status == 412)
        buf_text(&text, "\nThe center has changed meanwhile: apply again");
    status = ctl_say(c, meaning_of(errors, status), "%s", buf_str(&text));
    buf_done(&text);
    return ctl_say(c, status, "nothing was changed");
}

/* ---- told ------------------------------------------------------------------------------------ */

static void print_json(const json_t *result)
{
    json_t *doc = json_pack("{sO sO}", "steps", json_object_get(result, "steps"), "same",
                            json_object_get(result, "same"));
    json_dumpf(doc, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(doc);
}

static void add_changes(struct buf *text, const json_t *changes)
{
    size_t i;
    const json_t *one;
    json_array_foreach(changes, i, one)
    {
        buf_printf(text, "%s%s", i ? ", " : ": ", json_string_value(one) + 1);
    }
}

static void print_firings(const json_t *f)
{
    size_t i;
    const json_t *one;
    if (!json_is_object(f))
        return;
    printf("    firings of the next 24 h: %" PRId64 " vanish, %" PRId64 " appear, %" PRId64
           " move\n",
           ctl_i64(f, "vanish"), ctl_i64(f, "appear"), ctl_i64(f, "move"));
    json_array_foreach(json_object_get(f, "items"), i, one)
    {
        char from[40], to[40];
        if (i == FIRINGS_SHOWN)
            break;
        printf("      %.10s %s%s%s\n", ctl_text(one, "what"), ctl_instant(ctl_i64(one, "ms"), from),
               ctl_i64(one, "toMs") ? " to " : "",
               ctl_i64(one, "toMs") ? ctl_instant(ctl_i64(one, "toMs"), to) : "");
    }
}

/* A user that is made without a password cannot log in. */
static bool has_no_password(const struct desired *d, const json_t *step)
{
    const char *rest;
    const struct desired_item *item = item_of(d, ctl_text(step, "path"), &rest);
    return strcmp(ctl_text(step, "kind"), "user") == 0 &&
           strcmp(ctl_text(step, "action"), "make") == 0 && item &&
           !json_object_get(item->want, "password");
}

static void print_step(const struct desired *d, const json_t *s)
{
    const char *action = ctl_text(s, "action"), *name = ctl_text(s, "name");
    const char *group = ctl_text(s, "group");
    struct buf text = BUF_INIT(1 << 20);
    buf_printf(&text, "%s %s%s%s%s%s", action, ctl_text(s, "kind"), *group ? " " : "", group,
               *name ? " " : "", name);
    if (strcmp(action, "change") == 0)
        add_changes(&text, json_object_get(s, "changes"));
    else if (json_is_true(json_object_get(s, "scheduled")))
        buf_text(&text, ", and start it");
    if (has_no_password(d, s))
        buf_text(&text, ", which has no password: an administrator sets one");
    ctl_put(stdout, buf_str(&text));
    buf_done(&text);
    print_firings(json_object_get(s, "firings"));
}

static void print(const struct ctl *c, const struct desired *d, const json_t *result)
{
    const json_t *steps = json_object_get(result, "steps"), *one;
    size_t i;
    if (c->output == CTL_JSON) {
        print_json(result);
        return;
    }
    json_array_foreach(steps, i, one)
    {
        print_step(d, one);
    }
    printf("%zu to do, %" PRId64 " as they are to be\n", json_array_size(steps),
           ctl_i64(result, "same"));
}

/* ---- the verb -------------------------------------------------------------------------------- */

/* etag NULL: a dry run. */
static enum ctl_exit import(struct ctl *c, const struct desired *d, const json_t *doc,
                            const char *etag, struct ctl_answer *ret)
{
    struct buf path = BUF_INIT(400);
    buf_text(&path, "/import");
    ctl_query(&path, "remark", c->program ? "peal import" : "peal ctl apply");
    ctl_query(&path, "dryRun", etag ? NULL : "true");
    ctl_query(&path, "prune", ctl_flag(c, "--prune") ? "true" : NULL);
    struct ctl_ask ask = { .method = "POST",
                           .path = buf_str(&path),
                           .body = doc,
                           .packed = true,
                           .if_match = etag,
                           .again = !etag,
                           .refused = tell_refusal,
                           .ctx = d };
    enum ctl_exit status = ctl_ask(c, &ask, ret);
    buf_done(&path);
    return status;
}

static enum ctl_exit apply(struct ctl *c, const struct desired *d)
{
    json_t *doc = document_of(d);
    struct ctl_answer told, done = { .body = NULL };
    enum ctl_exit status = import(c, d, doc, NULL, &told);
    if (status == CTL_DONE) {
        print(c, d, told.body);
        fflush(stdout);
        if (json_array_size(json_object_get(told.body, "steps")) && !ctl_flag(c, "--dry-run"))
            status = ctl_confirm(c, "Do it?") ? import(c, d, doc, told.etag, &done) : CTL_USAGE;
    }
    ctl_answer_done(&told);
    ctl_answer_done(&done);
    json_decref(doc);
    return status;
}

enum ctl_exit ctl_apply_files(struct ctl *c, const char *path)
{
    struct desired d;
    enum ctl_exit status = desired_read(c, path, &d);
    if (status == CTL_DONE)
        status = apply(c, &d);
    desired_done(&d);
    return status;
}

enum ctl_exit ctl_apply(struct ctl *c)
{
    const char *path = ctl_option(c, "--file");
    if (!path)
        return ctl_say(c, CTL_USAGE, "--file is missing: a file or a folder");
    return ctl_apply_files(c, path);
}
