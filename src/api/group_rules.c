/* SPDX-License-Identifier: Apache-2.0 */
/* As in job_rules.c: in the original's order, each fault by its field, for whoever names it. */
#include "api/group_rules.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "transport/transport.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define APP_MIN 4
#define APP_MAX 64
#define TITLE_MAX 64
#define LIST_MAX 65535 /* bytes of the column */

struct checking {
    struct group_in *in;
    group_fault_fn *fn;
    void *ctx;
    enum err first;
    bool enough;
};

static void fault(struct checking *k, enum group_field field, enum err err, const char *rule,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
static void fault(struct checking *k, enum group_field field, enum err err, const char *rule,
                  const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    const struct group_fault f = { field, err, rule, text };
    k->in->told |= 1u << field;
    if (!k->first)
        k->first = err;
    k->enough = !k->fn(k->ctx, &f);
}

static bool open_to(const struct checking *k, enum group_field field)
{
    return !k->enough && !(k->in->told & 1u << field);
}

static void no_markup(struct checking *k, enum group_field field, const char *text)
{
    if (open_to(k, field) && text && strpbrk(text, "<>"))
        fault(k, field, ERR_INVALID, "text.markup", "must not contain < or >");
}

static void check_app(struct checking *k)
{
    const char *app = k->in->g->app;
    size_t n = app ? utf8_units(app, strlen(app)) : 0;
    if (open_to(k, GROUP_APP) && (n < APP_MIN || n > APP_MAX))
        fault(k, GROUP_APP, ERR_INVALID, "text.length", "must have %d-%d characters", APP_MIN,
              APP_MAX);
    no_markup(k, GROUP_APP, app);
}

static void check_title(struct checking *k)
{
    const char *title = k->in->g->title;
    if (!open_to(k, GROUP_TITLE))
        return;
    if (slice_trim(slice_text(title)).n == 0)
        fault(k, GROUP_TITLE, ERR_INVALID, "text.empty", "must not be empty");
    else if (utf8_units(title, strlen(title)) > TITLE_MAX)
        fault(k, GROUP_TITLE, ERR_TOOBIG, "text.length", "at most %d characters", TITLE_MAX);
    no_markup(k, GROUP_TITLE, title);
}

static void check_type(struct checking *k)
{
    int type = k->in->g->address_type;
    if (!open_to(k, GROUP_TYPE))
        return;
    if (k->in->type_fault)
        fault(k, GROUP_TYPE, ERR_INVALID, "type.integer", "%s", k->in->type_fault);
    else if (type != 0 && type != 1)
        fault(k, GROUP_TYPE, ERR_INVALID, "word", "must be 0 (by registration) or 1 (by hand)");
}

/* The text of transport_address_check begins with a name that is not the asker's. */
static void check_address(struct checking *k, struct slice address)
{
    static const char name[] = "addressList";
    struct why why = { "" };
    if (address.n && memchr(address.p, ';', address.n)) { /* else one address with an odd path */
        fault(k, GROUP_LIST, ERR_INVALID, "address", "commas separate addresses, not semicolons");
        return;
    }
    enum err err = transport_address_check(address, name, &why);
    if (err)
        fault(k, GROUP_LIST, err, "address", "%s", why.text + strlen(name) + 2);
}

static void check_list(struct checking *k)
{
    struct slice rest = slice_text(k->in->g->address_list);
    if (!open_to(k, GROUP_LIST))
        return;
    if (rest.n == 0) {
        fault(k, GROUP_LIST, ERR_INVALID, "list.empty",
              "addressType 1 needs addresses, separated by commas");
        return;
    }
    if (rest.n > LIST_MAX) {
        fault(k, GROUP_LIST, ERR_TOOBIG, "text.bytes", "at most %d bytes", LIST_MAX);
        return;
    }
    for (bool more = true; more && open_to(k, GROUP_LIST);) {
        const char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        check_address(k, slice_of(rest.p, n));
        more = comma != NULL;
        if (more)
            rest = slice_of(comma + 1, rest.n - n - 1);
    }
}

enum err group_rules_check(struct group_in *in, group_fault_fn *fn, void *ctx)
{
    struct checking k = { .in = in, .fn = fn, .ctx = ctx };
    check_app(&k);
    check_title(&k);
    check_type(&k);
    if (!k.enough && in->g->address_type == 1) /* else the list is the registry's */
        check_list(&k);
    return k.first;
}
