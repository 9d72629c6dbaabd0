/* SPDX-License-Identifier: Apache-2.0 */
/* webhook.c - the channel "webhook": each failed run is a POST of JSON to one URL.
 *
 * The body and the second at which it was sent are signed with a secret that both sides have, so
 * the receiver can tell who speaks, and that it is no old message. The address is looked at when
 * the connection is about to be made, after the name was resolved: there is no second look-up that
 * could say something else. Redirects are not followed. */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "alarm/channel.h"
#include "alarm/setting.h"
#include "base/address.h"
#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/secret.h"

#define CONNECT_MS 10000
#define BODY_MAX (1u << 20)
#define MESSAGE_MAX 20000 /* bytes of a message in the body */

static const struct config_row options[] = {
    { "webhook.url", NULL, CONFIG_TEXT, NULL, "URL",
      "http(s) address that gets a POST for each failed run of any job; without it none is sent", 0,
      0 },
    { "webhook.secret-file", NULL, CONFIG_TEXT, NULL, "FILE",
      "file whose first line is the secret that requests are signed with", 0, 0 },
    { "webhook.ca", NULL, CONFIG_TEXT, NULL, "FILE",
      "certificates (PEM) that the receiver's is checked with (default: the system's)", 0, 0 },
    { "webhook.private", NULL, CONFIG_FLAG, "false", NULL,
      "let webhook.url lead to an address that is not public (this machine, 10.0.0.0/8, …)", 0, 0 },
};

struct webhook {
    struct channel channel;
    char *url, *secret, *ca; /* NULL: none */
    bool private_too;
};

extern const struct channel_ops channel_webhook;

/* ---- settings -------------------------------------------------------------------------------- */

static enum err url_check(const char *url, struct why *why)
{
    char *scheme = NULL, *host = NULL, *user = NULL;
    CURLU *u = curl_url();
    bool good = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
                curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_USER, &user, 0) != CURLUE_OK;
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(u);
    if (good)
        return OK;
    why_set(why, "webhook.url must be http://HOST/… or https://HOST/…, without a user");
    return ERR_INVALID;
}

static void webhook_close(struct channel *c)
{
    struct webhook *h = (struct webhook *)c;
    if (h->secret)
        explicit_bzero(h->secret, strlen(h->secret));
    free(h->url);
    free(h->secret);
    free(h->ca);
    free(h);
    curl_global_cleanup();
}

static enum err webhook_open(const struct config *config, struct channel **ret, struct why *why)
{
    const char *url = config_text(config, "webhook.url");
    const char *file = config_text(config, "webhook.secret-file");
    const char *ca = config_text(config, "webhook.ca");
    if (!url || !*url)
        return OK;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return ERR_NOMEM;
    struct webhook *h = mem_new(sizeof(*h));
    h->channel.ops = &channel_webhook;
    h->url = mem_dup(url);
    h->ca = mem_dup(ca);
    h->private_too = config_flag(config, "webhook.private");
    enum err err = url_check(url, why);
    if (!err && file)
        err = setting_secret("webhook.secret-file", file, &h->secret, why);
    if (!err)
        err = setting_readable("webhook.ca", ca, why);
    if (err)
        webhook_close(&h->channel);
    else
        *ret = &h->channel;
    return err;
}

/* ---- the request ----------------------------------------------------------------------------- */

static void text_member(struct jsonw *w, const char *key, const char *text)
{
    jsonw_slice(w, key, slice_of(text, utf8_cut(text, strlen(text), MESSAGE_MAX)));
}

static void body_of_run(struct jsonw *w, const struct alarm_message *m)
{
    jsonw_i64(w, "runId", m->log_id);
    jsonw_i64(w, "jobId", m->job_id);
    text_member(w, "job", m->job);
    text_member(w, "handler", m->handler);
    jsonw_i64(w, "groupId", m->group_id);
    text_member(w, "group", m->group);
    text_member(w, "app", m->app);
    jsonw_text(w, "outcome", m->outcome);
    jsonw_text(w, "scheduledFor", m->when);
    text_member(w, "executor", m->address);
    jsonw_i64(w, "code", m->code);
    text_member(w, "cause", m->cause);
    text_member(w, "triggerMsg", m->trigger_msg);
    text_member(w, "handleMsg", m->handle_msg);
}

static void item(struct jsonw *w, const struct alarm_item *i)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "jobId", i->job_id);
    text_member(w, "job", i->job);
    jsonw_i64(w, "runId", i->log_id);
    jsonw_text(w, "since", i->since);
    jsonw_i64(w, "failures", i->failures);
    jsonw_i64(w, "tookMs", i->took_ms);
    text_member(w, "cause", i->cause);
    jsonw_bool(w, "open", i->open);
    jsonw_object_end(w);
}

/* What a rule has found, or the center. */
static void body_of_alarm(struct jsonw *w, const struct alarm_message *m)
{
    jsonw_text(w, "key", m->key);
    jsonw_text(w, "level", m->level);
    jsonw_text(w, "state", m->state);
    text_member(w, "title", m->title);
    jsonw_i64(w, "alarmId", m->alarm_id);
    jsonw_i64(w, "ruleId", m->rule_id);
    text_member(w, "rule", m->rule);
    jsonw_i64(w, "groupId", m->group_id);
    text_member(w, "group", m->group);
    text_member(w, "app", m->app);
    text_member(w, "executor", m->address);
    text_member(w, "cause", m->cause);
    jsonw_i64(w, "sinceMs", m->since_ms);
    jsonw_i64(w, "closedMs", m->closed_ms);
    jsonw_i64(w, "jobs", m->jobs);
    jsonw_i64(w, "open", m->open);
    jsonw_array(w, "items");
    for (int i = 0; i < m->nitems; i++)
        item(w, &m->items[i]);
    jsonw_array_end(w);
}

static void body(struct buf *out, const struct alarm_message *m)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "event", m->event);
    jsonw_text(&w, "id", m->id);
    if (strcmp(m->event, ALARM_RUN_FAILED) == 0)
        body_of_run(&w, m);
    else
        body_of_alarm(&w, m);
    jsonw_object_end(&w);
}

static struct curl_slist *header(struct curl_slist *list, const char *name, const char *value)
{
    char line[256];
    snprintf(line, sizeof(line), "%s: %s", name, value);
    struct curl_slist *more = curl_slist_append(list, line);
    return more ? more : list;
}

/* The signature is of "TIME.BODY". */
static void sign(const struct webhook *h, const char *time, const struct buf *json, char ret[65])
{
    unsigned char mac[32];
    struct buf b = BUF_INIT(BODY_MAX + 64);
    buf_printf(&b, "%s.", time);
    buf_add(&b, json->data, json->len);
    hmac_sha256(slice_text(h->secret), b.data, b.len, mac);
    hex_text(mac, sizeof(mac), ret);
    buf_done(&b);
}

static struct curl_slist *headers(const struct webhook *h, const struct alarm_message *m,
                                  const struct buf *json)
{
    char time[24], signature[3 + 65] = "v1=";
    snprintf(time, sizeof(time), "%lld", (long long)(clock_wall_ms() / 1000));
    struct curl_slist *list = header(NULL, "Content-Type", "application/json");
    list = header(list, "Peal-Alarm-Id", m->id);
    list = header(list, "Peal-Time", time);
    if (h->secret) {
        sign(h, time, json, signature + 3);
        list = header(list, "Peal-Signature", signature);
    }
    struct curl_slist *more = curl_slist_append(list, "Expect:"); /* no waiting for a 100 */
    return more ? more : list;
}

/* ---- the connection -------------------------------------------------------------------------- */

struct call {
    const struct webhook *h;
    bool refused;
};

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct call *c = arg;
    if (purpose != CURLSOCKTYPE_IPCXN || (!c->h->private_too && address_private(&a->addr))) {
        c->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static size_t ignore(char *p, size_t size, size_t n, void *arg)
{
    (void)p, (void)arg;
    return size * n;
}

static int look(void *stop, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return *(const _Atomic bool *)stop;
}

static void set_up(CURL *curl, struct call *c, const struct buf *json, const _Atomic bool *stop)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_URL, c->h->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* none of the environment's either */
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "peal/" PEAL_VERSION);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)json->len);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json->data);
    if (c->h->ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, c->h->ca);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, c);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)CHANNEL_TRY_MS);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    /* else the end of a try waits for the end of its look-up, which nothing can cut short */
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, (void *)stop);
}

/* What the receiver says of this message, for good; other refusals may be mended within the hour.
 */
static bool final(long status)
{
    return status == 400 || status == 410 || status == 413 || status == 415 || status == 422;
}

static enum delivery_outcome perform(CURL *curl, const struct call *c, struct why *said)
{
    char error[CURL_ERROR_SIZE] = "";
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    if (c->refused && code != CURLE_OK) {
        why_set(said, "webhook.url leads to an address that is not public, and webhook.private is "
                      "not set");
        return DELIVERY_NEVER;
    }
    if (code != CURLE_OK) {
        why_set(said, "%s", error[0] ? error : curl_easy_strerror(code));
        return DELIVERY_AGAIN;
    }
    why_set(said, "HTTP %ld", status);
    if (status >= 200 && status <= 299)
        return DELIVERY_SENT;
    return final(status) ? DELIVERY_NEVER : DELIVERY_AGAIN;
}

static enum delivery_outcome webhook_send(struct channel *c, const struct alarm_message *m,
                                          const _Atomic bool *stop, struct why *said)
{
    struct call call = { .h = (struct webhook *)c };
    struct buf json = BUF_INIT(BODY_MAX);
    enum delivery_outcome outcome = DELIVERY_AGAIN;
    CURL *curl = curl_easy_init();
    body(&json, m);
    if (curl && !json.failed) {
        struct curl_slist *list = headers(call.h, m, &json);
        set_up(curl, &call, &json, stop);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
        outcome = perform(curl, &call, said);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
        curl_slist_free_all(list);
    } else {
        why_set(said, "%s", err_text(ERR_NOMEM));
    }
    curl_easy_cleanup(curl);
    buf_done(&json);
    return outcome;
}

const struct channel_ops channel_webhook = {
    .name = "webhook",
    .options = options,
    .noptions = countof(options),
    .open = webhook_open,
    .send = webhook_send,
    .close = webhook_close,
};
