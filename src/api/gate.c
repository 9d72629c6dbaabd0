/* SPDX-License-Identifier: Apache-2.0 */
/* One list of checks for every request, and the first that fails answers. A check knows the row and
 * the request; how a refusal looks is the table's (XXL-JOB's envelope, or a problem). The order is
 * a contract: no body is parsed, and no password hashed, before the request is known to
 * be of a kind that this path takes and to come from no other site. */
#include "api/gate.h"
#include "api/accounts.h"
#include "api/body.h"
#include "api/gzip.h"
#include "api/idem.h"
#include "api/session.h"
#include "api/token.h"
#include "base/clock.h"
#include "base/log.h"
#include "wire/catalog.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool refuse(struct web_call *call, enum problem_kind kind, const char *text)
{
    call->match.table->refuse(call, kind, text);
    return false;
}

/* ---- path and method ----------------------------------------------------------------------------
 */

static bool path_ok(struct web_call *call)
{
    return call->match.near || refuse(call, PROBLEM_NOT_FOUND, "there is nothing at this path");
}

/* A link or an image on any page makes a browser send a GET with the user's cookie, so GET does not
 * change anything, unless the settings say so for scripts of old. */
static bool method_ok(struct web_call *call)
{
    struct router_match *m = &call->match;
    bool compat = slice_eq(call->method, "GET") && m->near->flags & WEB_COMPAT_GET;
    if (!m->row && compat && call->config->get_changes)
        m->row = m->near;
    if (m->row)
        return true;
    char allow[48];
    router_allow(m->methods, allow, sizeof(allow));
    buf_printf(&call->headers, "Allow: %s\r\n", allow);
    return refuse(call, PROBLEM_METHOD,
                  compat ? "this path changes something, so it takes POST only; the server's "
                           "setting compat.get-changes allows GET as well"
                         : "this method is not supported here");
}

/* ---- types --------------------------------------------------------------------------------------
 */

static struct slice type_name(struct slice type)
{
    const char *end = type.n ? memchr(type.p, ';', type.n) : NULL;
    return slice_trim(slice_of(type.p, end ? (size_t)(end - type.p) : type.n));
}

/* Tools are known to leave the type out. With parameters in the query a body of another type does
 * not count, as in a servlet container; what a form of that type has said is no parameter there
 * either, but it was meant to be one. */
static bool form_type_ok(struct web_call *call, struct slice type)
{
    if (type.n == 0 || slice_eq_nocase(type, "application/x-www-form-urlencoded"))
        return true;
    if (call->query.n && !slice_eq_nocase(type, "multipart/form-data")) {
        call->body = slice_of(NULL, 0);
        return true;
    }
    return refuse(call, PROBLEM_MEDIA_TYPE, "the body must be application/x-www-form-urlencoded");
}

static bool body_type_ok(struct web_call *call)
{
    struct slice name = type_name(call->type);
    if (call->body.n == 0)
        return true;
    switch (call->match.row->body) {
    case BODY_FORM:
        return form_type_ok(call, name);
    case BODY_JSON: /* a page of another site cannot send this type */
    case BODY_FILE:
        return slice_eq_nocase(name, "application/json") ||
               refuse(call, PROBLEM_MEDIA_TYPE, "the body must be application/json");
    case BODY_MERGE:
        return slice_eq_nocase(name, "application/merge-patch+json") ||
               refuse(call, PROBLEM_MEDIA_TYPE, "the body must be application/merge-patch+json");
    case BODY_NONE:
        break;
    }
    return refuse(call, PROBLEM_MALFORMED, "this request takes no body");
}

/* Is the weight of a media range ("; q=0.5") more than nothing? */
static bool weighs(struct slice params)
{
    struct slice one;
    while (slice_cut(&params, ';', &one)) {
        one = slice_trim(one);
        if (one.n < 2 || (one.p[0] | 0x20) != 'q' || one.p[1] != '=')
            continue;
        for (size_t i = 2; i < one.n; i++)
            if (one.p[i] >= '1' && one.p[i] <= '9')
                return true;
        return false;
    }
    return true;
}

/* How exactly a media range names a type: 0 not at all, 1 by an asterisk for both, to 3. */
static int names(struct slice range, const char *type)
{
    size_t n = (size_t)(strchr(type, '/') - type) + 1; /* "application/" */
    if (slice_eq_nocase(range, type))
        return 3;
    if (range.n == n + 1 && strncasecmp(range.p, type, n) == 0 && range.p[n] == '*')
        return 2;
    return slice_eq(range, "*/*");
}

bool gate_accepts(struct slice accept, const char *type)
{
    int best = 0;
    bool takes = slice_trim(accept).n == 0;
    struct slice one;
    while (slice_item(&accept, &one)) {
        struct slice name = type_name(one);
        int exact = names(name, type);
        if (exact > best) {
            best = exact;
            takes = weighs(slice_of(name.p + name.n, (size_t)(one.p + one.n - name.p) - name.n));
        }
    }
    return takes;
}

/* The form API answers what it answers; its clients are of all kinds. */
static bool answer_type_ok(struct web_call *call)
{
    switch (call->match.row->answer) {
    case ANSWER_JSON:
        return gate_accepts(call->accept, "application/json") ||
               refuse(call, PROBLEM_NOT_ACCEPTABLE, "the answer is application/json");
    case ANSWER_EVENTS:
        return gate_accepts(call->accept, "text/event-stream") ||
               refuse(call, PROBLEM_NOT_ACCEPTABLE, "the answer is text/event-stream");
    case ANSWER_ENVELOPE:
    case ANSWER_TEXT:
    case ANSWER_EMPTY:
        break;
    }
    return true;
}

/* ---- parameters ---------------------------------------------------------------------------------
 */

static bool refuse_err(struct web_call *call, enum err err, const struct why *why)
{
    enum problem_kind kind =
        err == ERR_INVALID || err == ERR_TOOBIG ? PROBLEM_MALFORMED : PROBLEM_UNAVAILABLE;
    return refuse(call, kind, why->text[0] ? why->text : err_text(err));
}

static bool query_ok(struct web_call *call)
{
    bool is_form = call->match.row->body == BODY_FORM;
    struct why why = { "" };
    enum err err =
        form_parse(call->query, is_form ? call->body : slice_of("", 0), &call->form, &why);
    return !err || refuse_err(call, err, &why);
}

static bool params_ok(struct web_call *call)
{
    struct why why = { "" };
    if (!router_params(call->match.table, call->match.row, call->path, &call->params, &why))
        return true;
    if (!call->match.table->problems)
        return refuse(call, PROBLEM_MALFORMED, why.text);
    struct problem_errors errors;
    char name[64];
    problem_errors_init(&errors);
    text_copy(name, sizeof(name), call->params.bad_name);
    problem_error(&errors, name, call->params.bad_rule, NULL, "%s", why.text);
    problem_fields(call, PROBLEM_MALFORMED, &errors);
    problem_errors_done(&errors);
    return false;
}

/* ---- requests that another site's page makes a user's browser send -----------------------------
 */

static struct slice without_suffix(struct slice s, const char *suffix)
{
    size_t n = strlen(suffix);
    bool has = s.n > n && memcmp(s.p + s.n - n, suffix, n) == 0;
    return has ? slice_of(s.p, s.n - n) : s;
}

/* Do the host and port of a URL equal a Host header? Either may leave out the port that the URL's
 * scheme implies. The scheme itself is not compared: a proxy in front of the server may speak TLS.
 * What is no URL ("null") does not. */
bool gate_same_host(struct slice url, struct slice host)
{
    const char *mark = url.n ? memmem(url.p, url.n, "://", 3) : NULL;
    if (!mark)
        return false;
    struct slice scheme = slice_of(url.p, (size_t)(mark - url.p));
    struct slice ours = slice_of(mark + 3, url.n - scheme.n - 3);
    size_t n = 0;
    while (n < ours.n && !strchr("/?#", ours.p[n]))
        n++;
    const char *implied = slice_eq_nocase(scheme, "https") ? ":443" : ":80";
    ours = without_suffix(slice_of(ours.p, n), implied);
    host = without_suffix(host, implied);
    return ours.n && ours.n == host.n && strncasecmp(ours.p, host.p, host.n) == 0;
}

/* Browsers say where a request comes from: Sec-Fetch-Site over https and to this machine, Origin
 * with a POST, Referer unless they were told not to. What is sent must be ours. Scripts send none
 * of them. A page cannot make a browser leave out Origin where it sends one. */
static bool foreign(const struct web_call *call)
{
    struct slice site = call->fetch_site;
    if (site.p && !slice_eq(site, "same-origin") && !slice_eq(site, "none"))
        return true;
    if (call->origin.p)
        return !gate_same_host(call->origin, call->host);
    return call->referer.n && !gate_same_host(call->referer, call->host);
}

/* A token in the Authorization header is not a browser's to send by itself. The form API does not
 * know that header. */
static bool bearer(const struct web_call *call)
{
    return call->match.table->problems && call->authorization.n > 7 &&
           strncasecmp(call->authorization.p, "Bearer ", 7) == 0;
}

static bool site_ok(struct web_call *call)
{
    bool changes = !(call->match.row->methods & METHOD_GET);
    return !changes || bearer(call) || !foreign(call) ||
           refuse(call, PROBLEM_FOREIGN,
                  "cross-site request refused: its Origin or Referer is not the Host that it "
                  "was sent to (a proxy must pass the Host header on unchanged)");
}

/* ---- permission ---------------------------------------------------------------------------------
 */

/* No request is at fault for what the database refuses to this server; nor is its text, with the
 * account and the host in it, for who is not known yet. */
static bool refuse_store(struct web_call *call, const struct why *why)
{
    log_debug("api", "who sends a request cannot be looked up: %s", why->text);
    return refuse(call, PROBLEM_UNAVAILABLE,
                  "the database cannot be read just now: /readyz and this server's log say why");
}

#define USED_EVERY_MS 60000 /* the last use is known to the minute */

static bool by_token(struct web_call *call)
{
    struct why why = { "" };
    struct slice text = slice_of(call->authorization.p + 7, call->authorization.n - 7);
    int64_t now_ms = clock_wall_ms();
    enum err err = token_find(call, slice_trim(text), &why);
    if (err == ERR_NOTFOUND)
        return refuse(call, PROBLEM_UNAUTHENTICATED, "this token is not known, or has ended");
    if (err)
        return refuse_store(call, &why);
    if (now_ms - call->token.used_ms >= USED_EVERY_MS)
        account_token_used(call->center, call->token.id, now_ms);
    return true;
}

static bool by_session(struct web_call *call)
{
    struct why why = { "" };
    int64_t now_ms = clock_wall_ms();
    enum err err = session_find(call, &why);
    if (err == ERR_NOTFOUND)
        return refuse(call, PROBLEM_UNAUTHENTICATED, "no session cookie, or its session has ended");
    if (err)
        return refuse_store(call, &why);
    call->actor = actor_new(call->user.id, &call->user.rights);
    if (now_ms - call->session.used_ms >= USED_EVERY_MS)
        account_session_used(call->center, call->session.digest, now_ms);
    return true;
}

/* Who is asking, and what they may: once a request, so that a change of rights acts at once. */
static bool identify(struct web_call *call)
{
    if (bearer(call))
        return by_token(call);
    return by_session(call);
}

static bool lacks(struct web_call *call, enum permission wanted, const char *where)
{
    char text[120];
    snprintf(text, sizeof(text), "needs the permission %s%s", permission_text(wanted), where);
    return refuse(call, PROBLEM_FORBIDDEN, text);
}

bool gate_has(struct web_call *call, enum permission wanted)
{
    return actor_has(call->actor, wanted) || lacks(call, wanted, "");
}

static bool permission_ok(struct web_call *call)
{
    int wanted = call->match.row->permission;
    if (wanted == PERM_PUBLIC)
        return true;
    if (!identify(call))
        return false;
    if (wanted == PERM_SESSION && call->actor->token_id)
        return refuse(call, PROBLEM_FORBIDDEN, "this is for sessions, not for tokens");
    return wanted == PERM_LOGIN || wanted == PERM_SESSION || wanted == PERM_ACTION ||
           gate_has(call, (enum permission)wanted);
}

bool gate_group_for(struct web_call *call, enum permission wanted, int64_t group_id,
                    const char *what, int64_t id)
{
    char text[120];
    if (actor_may(call->actor, wanted, group_id))
        return true;
    if (actor_may(call->actor, PERM_READ, group_id))
        return lacks(call, wanted, " on its group");
    snprintf(text, sizeof(text), "%s %lld does not exist, or you may not see it", what,
             (long long)id);
    return refuse(call, PROBLEM_NOT_FOUND, text);
}

bool gate_group(struct web_call *call, int64_t group_id, const char *what, int64_t id)
{
    return gate_group_for(call, (enum permission)call->match.row->permission, group_id, what, id);
}

/* ---- JSON ---------------------------------------------------------------------------------------
 */

/* What a stranger sends stays small: a file comes packed, and grows only now, when it is known who
 * sent it and that they may. One at a time is in memory unpacked. */
static _Atomic bool large_taken;

void gate_large_done(struct web_call *call)
{
    if (call->large)
        atomic_store(&large_taken, false);
    call->large = false;
}

static bool read_packed(struct web_call *call)
{
    struct buf text = BUF_INIT(CATALOG_BYTES_MAX);
    struct why why = { "" };
    enum err err = gzip_unpack(call->body, &text, &why);
    bool large = err == ERR_TOOBIG;
    if (!err)
        err = body_parse_file(slice_of(text.data, text.len), &call->json, &why);
    buf_done(&text);
    return !err ||
           (large ? refuse(call, PROBLEM_TOO_LARGE, why.text) : refuse_err(call, err, &why));
}

static bool packed_ok(struct web_call *call)
{
    if (atomic_exchange(&large_taken, true)) {
        problem_wait(call, PROBLEM_TOO_MANY, 1000, "another packed file is read: one at a time");
        return false;
    }
    call->large = true;
    return read_packed(call);
}

static bool json_ok(struct web_call *call)
{
    struct why why = { "" };
    enum body_kind kind = call->match.row->body;
    if (kind != BODY_JSON && kind != BODY_MERGE && kind != BODY_FILE)
        return true;
    if (kind == BODY_FILE && slice_eq_nocase(call->encoding, "gzip"))
        return packed_ok(call);
    if (call->encoding.n && !slice_eq_nocase(call->encoding, "identity"))
        return refuse(call, PROBLEM_MEDIA_TYPE,
                      kind == BODY_FILE ? "the body may be packed by gzip, and by nothing else"
                                        : "the body must not be packed (Content-Encoding)");
    enum err err = body_parse(call->body, &call->json, &why);
    return !err || refuse_err(call, err, &why);
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

void gate_headers(struct web_call *call)
{
    buf_text(&call->headers, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
    if (call->request_id[0])
        buf_printf(&call->headers, "Peal-Request-Id: %s\r\n", call->request_id);
}

void gate_serve(struct web_call *call)
{
    gate_headers(call);
    if (path_ok(call) && method_ok(call) && body_type_ok(call) && answer_type_ok(call) &&
        query_ok(call) && params_ok(call) && site_ok(call) && permission_ok(call) &&
        json_ok(call)) {
        call->match.row->run(call);
        idem_keep(call);
    }
}
