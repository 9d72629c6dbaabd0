/* SPDX-License-Identifier: Apache-2.0 */
/* Groups in the words of XXL-JOB's forms. The addresses of a group with addressType 0 come from
 * registrations, so a form cannot set them. */
#include "api/xxl/groups.h"
#include "api/edits.h"
#include "api/xxl/fields.h"
#include "api/xxl/login.h"
#include "api/xxl/reply.h"
#include "base/mem.h"
#include "cron/zone.h"
#include "transport/transport.h"
#include <stdlib.h>
#include <string.h>

#define APP_MIN 4
#define APP_MAX 64
#define TITLE_MAX 64
#define LIST_MAX 65535 /* bytes of the column */

/* ---- output ------------------------------------------------------------------------------------
 */

struct writing {
    struct page page;
    struct zone *zone;
};

/* Elements of a comma separated list; null for none, as the original. */
static void write_list(struct jsonw *w, const char *key, const char *list)
{
    struct slice rest = slice_text(list);
    if (rest.n == 0) {
        jsonw_null(w, key);
        return;
    }
    jsonw_array(w, key);
    for (struct slice address; slice_cut(&rest, ',', &address);)
        if (address.n)
            jsonw_slice(w, NULL, address);
    jsonw_array_end(w);
}

static void write_group(struct jsonw *w, enum shape shape, const struct zone *zone,
                        const struct group_record *g)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", g->id);
    jsonw_text(w, "appname", g->app);
    jsonw_text(w, "title", g->title);
    jsonw_i64(w, "addressType", g->address_type);
    jsonw_text(w, "addressList", g->address_list);
    reply_date(w, shape, zone, "updateTime", g->updated_ms > 0 ? g->updated_ms : -1);
    write_list(w, "registryList", g->address_list);
    jsonw_object_end(w);
}

static bool add_row(void *ctx, const struct group_record *g)
{
    struct writing *out = ctx;
    write_group(&out->page.w, out->page.shape, out->zone, g);
    return !out->page.rows.failed;
}

void groups_list(struct web_call *call)
{
    struct writing out;
    struct why why = { "" };
    enum err err = page_begin(call, &out.page, &why);
    if (err) {
        reply_err(call, err, &why);
        return;
    }
    out.zone = call_zone(call);
    int64_t total = 0;
    const char *app = form_get(&call->form, "appname");
    struct groups_filter f = { .app = app ? app : form_get(&call->form, "appName"),
                               .title = form_get(&call->form, "title"),
                               .scope = actor_scope(call->actor, PERM_READ),
                               .offset = out.page.offset,
                               .limit = out.page.limit };
    err = call->db->ops->pages->groups_page(call->db, &f, add_row, &out, &total, &why);
    if (err)
        reply_err(call, err, &why);
    else
        page_reply(call, &out.page, total);
    page_done(&out.page);
    zone_unref(out.zone);
}

void groups_load(struct web_call *call)
{
    int64_t id;
    struct why why = { "" };
    struct group_record g = { 0 };
    enum err err = field_id(&call->form, &id, &why);
    if (!err)
        err = login_may(call, PERM_READ, id, &why);
    if (!err)
        err = call->db->ops->catalog->group_get(call->db, id, &g, &why);
    if (err) {
        reply_err(call, err, &why);
        return;
    }
    struct zone *zone = call_zone(call);
    struct buf b = BUF_INIT(1 << 20);
    struct jsonw w = jsonw_on(&b);
    write_group(&w, call_shape(call), zone, &g);
    reply_json(call, slice_of(b.data, b.len));
    buf_done(&b);
    zone_unref(zone);
    group_record_done(&g);
}

/* ---- input -------------------------------------------------------------------------------------
 */

static enum err no_markup(const char *name, const char *text, struct why *why)
{
    if (!text || !strpbrk(text, "<>"))
        return OK;
    why_set(why, "%s: must not contain < or >", name);
    return ERR_INVALID;
}

static enum err check_app(const char *app, struct why *why)
{
    size_t n = app ? utf8_units(app, strlen(app)) : 0;
    if (n < APP_MIN || n > APP_MAX) {
        why_set(why, "appname: must have %d-%d characters", APP_MIN, APP_MAX);
        return ERR_INVALID;
    }
    return no_markup("appname", app, why);
}

static enum err check_title(const char *title, struct why *why)
{
    if (field_blank(title)) {
        why_set(why, "title: must not be empty");
        return ERR_INVALID;
    }
    enum err err = field_width("title", title, TITLE_MAX, why);
    return err ? err : no_markup("title", title, why);
}

static enum err check_list(const char *list, struct why *why)
{
    struct slice rest = slice_text(list);
    if (rest.n == 0) {
        why_set(why, "addressList: addressType 1 needs addresses, separated by commas");
        return ERR_INVALID;
    }
    if (rest.n > LIST_MAX) {
        why_set(why, "addressList: at most %d bytes", LIST_MAX);
        return ERR_TOOBIG;
    }
    for (bool more = true; more;) {
        const char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        enum err err = transport_address_check(slice_of(rest.p, n), "addressList", why);
        if (err)
            return err;
        more = comma != NULL;
        if (more)
            rest = slice_of(comma + 1, rest.n - n - 1);
    }
    return OK;
}

enum err group_read(const struct form *f, struct group_record *g, struct why *why)
{
    const char *app = form_get(f, "appname"), *title = form_get(f, "title");
    const char *list = form_get(f, "addressList");
    if (!app)
        app = form_get(f, "appName"); /* 2.1 */
    if (app)
        field_trimmed(&g->app, app);
    if (title)
        field_trimmed(&g->title, title);
    enum err err = check_app(g->app, why);
    if (!err)
        err = check_title(g->title, why);
    if (!err)
        err = form_int(f, "addressType", &g->address_type, why);
    if (err)
        return err;
    if (g->address_type != 0 && g->address_type != 1) {
        why_set(why, "addressType: must be 0 (by registration) or 1 (by hand)");
        return ERR_INVALID;
    }
    if (g->address_type == 0)
        return OK; /* the list is the registry's */
    if (list)
        field_trimmed(&g->address_list, list);
    return check_list(g->address_list, why);
}

void groups_insert(struct web_call *call)
{
    struct why why = { "" };
    struct edit *e = edit_new(EDIT_GROUP_INSERT);
    enum err err = group_read(&call->form, &e->group, &why);
    field_finish(call, e, err, &why);
}

/* The form is read on top of the group as it is now. */
static enum err update(struct web_call *call, struct why *why)
{
    struct edit *e = edit_new(EDIT_GROUP_UPDATE);
    enum err err = field_id(&call->form, &e->id, why);
    if (!err)
        err = call->db->ops->catalog->group_get(call->db, e->id, &e->group, why);
    if (!err) {
        group_record_copy(&e->was, &e->group);
        err = group_read(&call->form, &e->group, why);
    }
    if (!err)
        return edit_make(call, e, NULL, why);
    edit_free(e);
    return err;
}

void groups_update(struct web_call *call)
{
    field_update(call, update);
}

void groups_delete(struct web_call *call)
{
    struct why why = { "" };
    struct edit *e = edit_new(EDIT_GROUP_DELETE);
    enum err err = field_id(&call->form, &e->id, &why);
    field_finish(call, e, err, &why);
}
