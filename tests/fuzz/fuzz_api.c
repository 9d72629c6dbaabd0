/* SPDX-License-Identifier: Apache-2.0 */
/* A request for the JSON API: first line method, path and Accept, separated by blanks; then the
 * body. Whatever it is, a row that is found fits the path, parameters are bounded text, and what is
 * wrong with a body can be told as JSON that reads back. */
#include <stddef.h>
#include <string.h>
#include "fuzz.h"
#include "api/body.h"
#include "api/gate.h"
#include "api/router.h"
#include "base/mem.h"
#include "wire/json.h"

#define ROW(methods, path)                                                                         \
    {                                                                                              \
        methods, path, 0, 0, 0, 0, 0, NULL, NULL                                                   \
    }

static const struct web_route rows[] = {
    ROW(METHOD_GET, "/jobs"),           ROW(METHOD_POST, "/jobs/batch"),
    ROW(METHOD_GET, "/jobs/{id}"),      ROW(METHOD_DELETE, "/jobs/{id}"),
    ROW(METHOD_GET, "/{key}/x/{name}"), ROW(METHOD_PUT, "/"),
};

static const struct router_table table = { "/api/v1", rows, countof(rows), true, NULL };

struct thing {
    struct slice name;
    int64_t count;
    bool on;
};

static const struct body_field fields[] = {
    { "name", FIELD_TEXT, offsetof(struct thing, name), true, 1, 64 },
    { "count", FIELD_I64, offsetof(struct thing, count), false, 1, 100 },
    { "on", FIELD_BOOL, offsetof(struct thing, on), false, 0, 0 },
};

static size_t slashes(struct slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '/';
    return n;
}

static void route(struct slice method, struct slice path)
{
    struct router_match m = router_find(&table, method, path);
    struct router_params p;
    struct why why = { "" };
    CHECK(!m.row || m.row == m.near);
    CHECK((m.near == NULL) == (m.methods == 0));
    if (!m.near)
        return;
    CHECK(router_under(&table, path));
    CHECK(slashes(slice_text(m.near->path)) + 2 == slashes(path));
    CHECK(!m.row || (m.row->methods & router_method(method) & m.methods));
    if (router_params(&table, m.near, path, &p, &why)) {
        CHECK(why.text[0] && p.bad_name.n && p.bad_rule);
        return;
    }
    CHECK(p.n == (strchr(m.near->path, '{') != NULL) + (strstr(m.near->path, "{name}") != NULL));
    for (int i = 0; i < p.n; i++) {
        const struct router_param *one = &p.items[i];
        CHECK(utf8_valid(one->text, strlen(one->text)) && strlen(one->text) <= ROUTER_PARAM_BYTES);
        CHECK(!slice_eq(one->name, "id") || (one->number > 0 && one->number <= ROUTER_ID_MAX));
    }
}

static void told(const struct problem_errors *errors)
{
    struct buf out = BUF_INIT(1 << 20);
    struct json_t *doc;
    problem_write(&out, PROBLEM_INVALID, "ID", errors->first, errors, 5);
    CHECK(!out.failed && !errors->list.failed);
    CHECK(wire_json_parse(slice_of(out.data, out.len), 1 << 20, "problem", &doc, NULL) == OK);
    wire_json_free(doc);
    buf_done(&out);
}

static void body(struct slice text)
{
    struct problem_errors errors;
    struct thing t = { .count = 1 };
    struct json_t *doc;
    struct why why = { "" };
    if (body_parse(text, &doc, &why)) {
        CHECK(why.text[0]);
        return;
    }
    problem_errors_init(&errors);
    body_fields(doc, fields, countof(fields), &t, &errors);
    CHECK(errors.n > 0 || (t.name.n >= 1 && t.name.n <= 4 * 64));
    CHECK(t.count >= 1 && t.count <= 100);
    CHECK(strlen(t.name.n ? t.name.p : "") == t.name.n);
    told(&errors);
    problem_errors_done(&errors);
    wire_json_free(doc);
}

/* The first word of *rest, or nothing. */
static struct slice word(struct slice *rest)
{
    struct slice one = { NULL, 0 };
    (void)!slice_cut(rest, ' ', &one);
    return one;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data;
    const char *end = size ? memchr(p, '\n', size) : NULL;
    size_t n = end ? (size_t)(end - p) : size;
    struct slice head = slice_of(p, n);
    struct slice method = word(&head), path = word(&head);
    route(method, path);
    bool takes = gate_accepts(head, "application/json");
    CHECK(takes || slice_trim(head).n);
    if (end)
        body(slice_of(end + 1, size - n - 1));
    return 0;
}
