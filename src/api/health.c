/* SPDX-License-Identifier: Apache-2.0 */
/* Probes are answered on the scheduler's loop: a loop that no longer turns answers none, which is
 * what a liveness probe must find out. They read memory only; the metrics read the ledger's totals
 * and run on a worker. */
#include "api/health.h"
#include "api/client.h"
#include "api/context.h"
#include "api/job_metrics.h"
#include "api/node_metrics.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include "net/addr.h"
#include <string.h>
#include <strings.h>

enum probe { PROBE_LIVE, PROBE_READY, PROBE_STARTED };
enum form_of_answer { AS_TEXT, AS_JSON }; /* as Kubernetes' own probes, or as Spring's actuator */

static const struct row {
    const char *path;
    enum probe probe;
    enum form_of_answer form;
} rows[] = {
    { "/livez", PROBE_LIVE, AS_TEXT },
    { "/readyz", PROBE_READY, AS_TEXT },
    { "/startupz", PROBE_STARTED, AS_TEXT },
    { "/healthz", PROBE_READY, AS_JSON },
    { "/health", PROBE_READY, AS_JSON },
    { "/actuator/health", PROBE_READY, AS_JSON },
    { "/actuator/health/liveness", PROBE_LIVE, AS_JSON },
    { "/actuator/health/readiness", PROBE_READY, AS_JSON },
};

static const struct row *find(struct slice path)
{
    for (size_t i = 0; i < countof(rows); i++)
        if (slice_eq(path, rows[i].path))
            return &rows[i];
    return NULL;
}

bool health_path(struct slice path)
{
    return find(path) != NULL;
}

struct findings {
    struct center_health health;
    bool started, up;
};

static void look(struct center *c, bool started, enum probe probe, struct findings *f)
{
    center_health(c, &f->health);
    f->started = started;
    bool ready = started && f->health.store_ok && f->health.fires && !f->health.draining;
    f->up = probe == PROBE_LIVE || (probe == PROBE_STARTED ? started : ready);
    if (!started && f->health.store_ok && !f->health.draining)
        text_copy(f->health.reason, sizeof(f->health.reason), slice_text("starting"));
}

static void text_check(struct buf *b, const char *name, bool ok)
{
    buf_printf(b, "%s %s\n", ok ? "[+]" : "[-]", name);
}

static void write_text(struct buf *b, const struct findings *f, bool verbose)
{
    if (verbose) {
        text_check(b, "started", f->started);
        text_check(b, "database takes writes", f->health.store_ok);
        text_check(b, "schedule fires", f->health.fires);
        text_check(b, "not stopping", !f->health.draining);
        if (f->health.reason[0])
            buf_printf(b, "%s\n", f->health.reason);
        if (f->health.note[0])
            buf_printf(b, "%s\n", f->health.note);
    }
    buf_text(b, f->up ? "ok\n" : "not ready\n");
}

static void json_check(struct jsonw *w, const char *name, bool ok)
{
    jsonw_object(w, name);
    jsonw_text(w, "status", ok ? "UP" : "DOWN");
    jsonw_object_end(w);
}

static void write_json(struct buf *b, const struct findings *f, bool verbose)
{
    struct jsonw w = jsonw_on(b);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "status", f->up ? "UP" : "DOWN");
    if (verbose) {
        jsonw_object(&w, "components");
        json_check(&w, "db", f->health.store_ok);
        json_check(&w, "schedule", f->health.fires);
        jsonw_object_end(&w);
        if (f->health.reason[0])
            jsonw_text(&w, "reason", f->health.reason);
        if (f->health.note[0])
            jsonw_text(&w, "note", f->health.note);
    }
    jsonw_object_end(&w);
}

/* Reasons can hold file names: for this machine's own people only. */
static bool from_here(const struct httpd_request *q)
{
    struct client client;
    client_of(q, &client);
    return strncmp(client.address, "127.", 4) == 0 || strcmp(client.address, "::1") == 0;
}

void health_serve(struct center *c, bool started, struct httpd_request *q)
{
    if (!slice_eq(q->method, "GET") && !slice_eq(q->method, "HEAD")) {
        httpd_reply_error(q, 405, "GET is wanted");
        return;
    }
    const struct row *row = find(context_cut(q->path));
    struct findings f;
    look(c, started, row->probe, &f);
    bool asked = slice_eq(q->query, "verbose") || slice_eq(q->query, "verbose=true");
    bool verbose = from_here(q) && (asked || row->form == AS_JSON);
    struct buf b = BUF_INIT(4096);
    if (row->form == AS_JSON)
        write_json(&b, &f, verbose);
    else
        write_text(&b, &f, verbose);
    httpd_reply(q, f.up ? 200 : 503,
                row->form == AS_JSON ? "application/json" : "text/plain;charset=UTF-8",
                slice_text("Cache-Control: no-store\r\n"), slice_of(b.data, b.len));
    buf_done(&b);
}

/* Names of jobs, groups and owners are in it: not for everybody, where the settings say for whom.
 */
static bool metrics_may(const struct web_call *call)
{
    const struct api_config *c = call->config;
    struct slice given = call->authorization;
    struct sockaddr_storage at;
    socklen_t len;
    bool bearer = given.n > 7 && strncasecmp(given.p, "Bearer ", 7) == 0;
    bool token = c->metrics_token && c->metrics_token[0];
    if (!token && !c->metrics_allow.n)
        return true;
    if (token && bearer &&
        secret_equal(slice_trim(slice_of(given.p + 7, given.n - 7)), slice_text(c->metrics_token)))
        return true;
    return addr_numeric(call->peer, 0, &at, &len) && proxies_has(&c->metrics_allow, &at);
}

void health_metrics(struct web_call *call)
{
    if (!metrics_may(call)) {
        call->status = 401;
        call->content_type = "text/plain;charset=UTF-8";
        buf_text(&call->headers, "WWW-Authenticate: Bearer realm=\"peal metrics\"\r\n");
        buf_text(&call->output, "metrics.allow and metrics.token say who may read this\n");
        return;
    }
    struct totals t;
    int64_t open = 0;
    struct why why = { "" };
    enum err err = call->db ? call->db->ops->txn->totals_get(call->db, &t, &open, &why) : ERR_STORE;
    if (err) {
        call->status = 503;
        call->content_type = "text/plain;charset=UTF-8";
        buf_printf(&call->output, "the ledger cannot be read: %s\n",
                   why.text[0] ? why.text : err_text(err));
        return;
    }
    call->content_type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(center_metrics(call->center), &t, totals_unaccounted(&t, open), &call->output);
    if (node_metrics_write(call, &call->output, &why))
        log_warn("api", "metrics of the servers of the database cannot be read: %s", why.text);
    if (job_metrics_write(call, &call->output, &why)) /* the others are worth more than none */
        log_warn("api", "metrics of single jobs cannot be read: %s", why.text);
}
