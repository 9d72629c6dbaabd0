/* SPDX-License-Identifier: Apache-2.0 */
/* made.c - a row of the table of channels as what a sender sends by. */
#include "alarm/made.h"
#include <curl/curl.h>
#include <stdlib.h>
#include "alarm/settings.h"
#include "base/clock.h"
#include "base/mem.h"

struct made {
    struct channel channel;
    struct settings settings;
    struct made_rules rules;
};

/* A test names no target: it goes to the first address. */
static enum delivery_outcome mail_try(const struct made *h, const struct alarm_message *m,
                                      const _Atomic bool *stop, struct why *said)
{
    struct alarm_message copy = *m;
    struct slice rest = slice_text(h->settings.values.v[CHANNEL_TO]), first = { "", 0 };
    struct channel *mail = h->rules.mail;
    if (!mail) {
        why_set(said, "the center has no mail server: mail.host");
        return DELIVERY_NEVER;
    }
    (void)!slice_item(&rest, &first);
    char *to = mem_dupn(first.p, first.n);
    if (!copy.target[0])
        copy.target = to;
    enum delivery_outcome outcome = mail->ops->send(mail, &copy, stop, said);
    free(to);
    return outcome;
}

enum delivery_outcome made_try(struct channel *c, const struct alarm_message *m, int try_ms,
                               const _Atomic bool *stop, struct why *said)
{
    const struct made *h = (const struct made *)c;
    if (h->settings.kind->by_mail)
        return mail_try(h, m, stop, said);
    const struct kind_try t = {
        .values = &h->settings.values,
        .ca = h->rules.ca,
        .targets = slice_text(h->rules.targets),
        .refused = "the channel leads to an address that is not public, and that alarm.targets "
                   "does not allow",
        .try_ms = try_ms,
        .stop = stop,
    };
    return kind_send(h->settings.kind, &t, m, clock_wall_ms(), said);
}

static enum delivery_outcome made_send(struct channel *c, const struct alarm_message *m,
                                       const _Atomic bool *stop, struct why *said)
{
    return made_try(c, m, CHANNEL_TRY_MS, stop, said);
}

static void made_close(struct channel *c)
{
    struct made *h = (struct made *)c;
    settings_free(&h->settings);
    free(h);
    curl_global_cleanup();
}

static const struct channel_ops ops = { .send = made_send, .close = made_close };

enum err made_open(const struct channel_record *r, const struct made_rules *rules,
                   struct channel **ret, struct why *why)
{
    struct settings settings;
    enum err err = settings_read(r->kind, r->settings, &settings, why);
    if (err)
        return err;
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
        settings_free(&settings);
        return ERR_NOMEM;
    }
    struct made *h = mem_new(sizeof(*h));
    *h = (struct made){ { &ops }, settings, *rules };
    *ret = &h->channel;
    return OK;
}
