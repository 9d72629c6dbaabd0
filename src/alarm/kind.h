/* SPDX-License-Identifier: Apache-2.0 */
/* kind.h - a kind of channels that are made through the API: a service that takes requests over
 * HTTP.
 *
 * A kind is one file that defines a struct channel_kind, and its row in kinds.c. It names its
 * settings, composes the request of one message, and says what the answer means. The connection,
 * tries, the log of deliveries and where a request may go are done for it. */
#ifndef PEAL_ALARM_KIND_H
#define PEAL_ALARM_KIND_H

#include "alarm/channel.h"
#include "base/buf.h"
#include "base/mem.h"

enum channel_value {
    CHANNEL_URL,
    CHANNEL_SECRET, /* that requests are signed with */
    CHANNEL_METHOD,
    CHANNEL_HEADERS, /* lines "Name: value" */
    CHANNEL_BODY,    /* a template, template.h */
    CHANNEL_KEY,     /* of the service */
    CHANNEL_TO,      /* addresses, comma separated */
    CHANNEL_VALUES
};

struct channel_values { /* NULL: not set. Borrowed */
    const char *v[CHANNEL_VALUES];
};

struct channel_field {
    const char *name; /* in the settings */
    enum channel_value value;
    bool required;
    bool secret; /* never shown again */
    int max;     /* bytes */
};

struct kind_request {
    struct buf url, headers, body; /* headers: lines, each ended by '\n' */
};

struct channel_kind {
    const char *name; /* stands in the database and the API; never renamed */
    const char *url;  /* where it has no field for one */
    const struct channel_field *fields;
    int nfields;
    /* Beyond lengths and the URL, which are looked at for it. NULL: nothing. ERR_INVALID; *field
     * names what is wrong. */
    enum err (*check)(const struct channel_values *v, const char **field, struct why *why);
    /* It goes to each address of CHANNEL_TO by the mail server of the settings; then there is no
     * compose, and no more than this. */
    bool by_mail;
    /* Every text of m is hostile. url holds that of the values already. now_ms: epoch. */
    void (*compose)(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r);
    /* Of an answer with 2xx: the number that is not 0 where it is a refusal, and its text. NULL:
     * the status says all. */
    const char *code, *text; /* names of members */
};

extern const struct channel_kind kind_webhook;
/* The table; its last row is NULL. */
extern const struct channel_kind *const kind_table[];

const struct channel_kind *kind_of(struct slice name); /* NULL: there is none */

struct kind_try {
    const struct channel_values *values;
    const char *ca;
    bool private_too;
    struct slice targets;
    const char *refused;
    int try_ms;
    const _Atomic bool *stop;
};

/* One try. Blocks; any thread. said has no secret in it. */
enum delivery_outcome kind_send(const struct channel_kind *k, const struct kind_try *t,
                                const struct alarm_message *m, int64_t now_ms, struct why *said);

#endif
