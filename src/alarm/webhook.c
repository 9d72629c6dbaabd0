/* SPDX-License-Identifier: Apache-2.0 */
/* webhook.c - the channel "webhook": each failed run is a POST of JSON to one URL.
 *
 * The body and the second at which it was sent are signed with a secret that both sides have, so
 * the receiver can tell who speaks, and that it is no old message: as the kind webhook of channels
 * that are made through the API. */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include "alarm/http.h"
#include "alarm/kind.h"
#include "alarm/setting.h"
#include "base/clock.h"
#include "base/mem.h"

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
    enum err err = http_url_check("webhook.url", url, why);
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

static enum delivery_outcome webhook_send(struct channel *c, const struct alarm_message *m,
                                          const _Atomic bool *stop, struct why *said)
{
    const struct webhook *h = (const struct webhook *)c;
    const struct channel_values values = {
        { [CHANNEL_URL] = h->url, [CHANNEL_SECRET] = h->secret }
    };
    const struct kind_try t = {
        .values = &values,
        .ca = h->ca,
        .private_too = h->private_too,
        .refused = "webhook.url leads to an address that is not public, and webhook.private is "
                   "not set",
        .try_ms = CHANNEL_TRY_MS,
        .stop = stop,
    };
    return kind_send(&kind_webhook, &t, m, clock_wall_ms(), said);
}

const struct channel_ops channel_webhook = {
    .name = "webhook",
    .options = options,
    .noptions = countof(options),
    .open = webhook_open,
    .send = webhook_send,
    .close = webhook_close,
};
