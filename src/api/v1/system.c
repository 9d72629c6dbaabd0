/* SPDX-License-Identifier: Apache-2.0 */
/* The center itself as a resource. Its state is for every user; reasons can name files and warnings
 * name weak settings, so they are for users with system:admin, as the settings are. */
#include "api/v1/v1.h"
#include "base/config.h"
#include "base/mem.h"
#include <string.h>

static bool administers(const struct web_call *call)
{
    return actor_may(call->actor, PERM_SYSTEM_ADMIN, 0);
}

/* ---- state --------------------------------------------------------------------------------------
 */

static void write_check(struct jsonw *w, const char *name, bool ok, const char *detail)
{
    jsonw_object(w, NULL);
    jsonw_text(w, "name", name);
    jsonw_bool(w, "ok", ok);
    jsonw_text(w, "detail", ok ? NULL : detail);
    jsonw_object_end(w);
}

/* What /readyz says, one by one. The reason is that of the first check that fails. */
static void write_checks(struct web_call *call, struct jsonw *w)
{
    struct center_health h;
    center_health(call->center, &h);
    const char *reason = administers(call) && h.reason[0] ? h.reason : NULL;
    jsonw_bool(w, "ready", h.store_ok && h.fires && !h.draining);
    jsonw_array(w, "checks");
    write_check(w, "commit", h.store_ok, reason);
    write_check(w, "schedule", h.fires, h.store_ok ? reason : NULL);
    write_check(w, "running", !h.draining, h.store_ok && h.fires ? reason : NULL);
    jsonw_array_end(w);
}

static void write_database(struct jsonw *w, const char *kind, const struct store_facts *f)
{
    jsonw_object(w, "database");
    jsonw_text(w, "kind", kind);
    jsonw_i64(w, "bytes", f->bytes);
    if (strcmp(kind, "sqlite") == 0) /* a server's log is of all its databases */
        jsonw_i64(w, "walBytes", f->log_bytes);
    if (f->oldest_ms >= 0)
        jsonw_i64(w, "oldestLogMs", f->oldest_ms);
    else
        jsonw_null(w, "oldestLogMs");
    jsonw_object_end(w);
}

static bool only_this_machine(struct slice listen)
{
    static const char *const hosts[] = { "127.", "localhost:", "[::1]:" };
    for (size_t i = 0; i < countof(hosts); i++)
        if (listen.n >= strlen(hosts[i]) && memcmp(listen.p, hosts[i], strlen(hosts[i])) == 0)
            return true;
    return false;
}

static void write_warnings(struct web_call *call, struct jsonw *w)
{
    const struct config *c = call->config->settings;
    jsonw_array(w, "warnings");
    if (!center_token(call->center)[0])
        jsonw_text(w, NULL, "executors need no access token");
    if (c && !config_text(c, "tls.cert") &&
        !only_this_machine(slice_text(config_text(c, "listen"))))
        jsonw_text(w, NULL, "the port is open to other machines without TLS");
    if (call->config->get_changes)
        jsonw_text(w, NULL,
                   "GET requests of the form API may change something: a link on any page can act "
                   "for a user who is logged in");
    jsonw_array_end(w);
}

static void write_limits(const struct web_call *call, struct jsonw *w)
{
    jsonw_object(w, "limits");
    jsonw_i64(w, "viewers", call->max_streams);
    jsonw_i64(w, "viewersNow", call->streams);
    jsonw_object_end(w);
}

void v1_system_get(struct web_call *call)
{
    struct store_facts facts;
    struct why why = { "" };
    enum err err = call->db->ops->pages->facts(call->db, &facts, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "version", PEAL_VERSION);
    v1_instant(&w, "started", center_metrics(call->center)->started_ms);
    write_checks(call, &w);
    write_database(&w, call->db->ops->name, &facts);
    write_limits(call, &w);
    jsonw_text(&w, "zone", center_zone_name(call->center));
    if (administers(call))
        write_warnings(call, &w);
    jsonw_object_end(&w);
}

/* ---- settings -----------------------------------------------------------------------------------
 */

/* The help of the command line, in one line. */
static void write_help(struct jsonw *w, const char *help)
{
    struct buf b = BUF_INIT(4096);
    for (const char *p = help; *p; p++)
        buf_char(&b, *p == '\n' ? ' ' : *p);
    jsonw_slice(w, "help", slice_of(b.data, b.len));
    buf_done(&b);
}

static void write_setting(struct jsonw *w, const struct config *c, int i)
{
    const struct config_row *row = &c->table->rows[i];
    const char *value = c->values[i] ? c->values[i] : "";
    bool secret = config_hides(row, value);
    jsonw_object(w, NULL);
    jsonw_text(w, "key", row->key);
    if (secret)
        jsonw_null(w, "value");
    else
        jsonw_text(w, "value", value);
    jsonw_text(w, "origin", config_place(c, row->key));
    jsonw_bool(w, "secret", secret);
    write_help(w, row->help);
    jsonw_object_end(w);
}

void v1_settings_list(struct web_call *call)
{
    const struct config *c = call->config->settings;
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_array(&w, "items");
    for (int i = 0; c && i < c->table->n; i++)
        write_setting(&w, c, i);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
}
