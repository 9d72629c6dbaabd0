/* SPDX-License-Identifier: Apache-2.0 */
/* Groups in the words of XXL-JOB's forms. The addresses of a group with addressType 0 come from
 * registrations, so a form cannot set them. */
#include "api/xxl/groups.h"
#include "api/edits.h"
#include "api/group_rules.h"
#include "api/xxl/fields.h"
#include "api/xxl/login.h"
#include "api/xxl/reply.h"
#include "base/mem.h"
#include "cron/zone.h"
#include <stdlib.h>
#include <string.h>

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

static bool first_fault(void *ctx, const struct group_fault *fault)
{
    static const char *const names[GROUP_FIELDS] = { "appname", "title", "addressType",
                                                     "addressList" };
    why_set(ctx, "%s: %s", names[fault->field], fault->text);
    return false;
}

static const char type_name[] = "addressType";

enum err group_read(const struct form *f, struct group_record *g, struct why *why)
{
    const char *app = form_get(f, "appname"), *title = form_get(f, "title");
    const char *list = form_get(f, "addressList");
    struct group_in in = { .g = g };
    struct why type = { "" };
    if (!app)
        app = form_get(f, "appName"); /* 2.1 */
    if (app)
        field_trimmed(&g->app, app);
    if (title)
        field_trimmed(&g->title, title);
    if (form_int(f, type_name, &g->address_type, &type))
        in.type_fault = type.text + sizeof(type_name) + 1; /* behind "addressType: " */
    if (list && g->address_type == 1)
        field_trimmed(&g->address_list, list);
    return group_rules_check(&in, first_fault, why);
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
