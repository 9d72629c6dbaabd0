/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - a way to tell people of alarms that was made through the API: a row of peal_channel.
 * Plain data. Times are epoch milliseconds. */
#ifndef PEAL_MODEL_CHANNEL_H
#define PEAL_MODEL_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#define CHANNELS_MAX 100 /* of a database */
#define CHANNEL_PER_MINUTE_MAX 1000
#define CHANNEL_NAME_MAX 64 /* bytes; no comma, because lists of them are comma separated */

struct channel_record { /* texts owned */
    int64_t id, version;
    char *name;     /* unique */
    char *kind;     /* "dingtalk" */
    char *settings; /* JSON: an object of texts. Secrets are among them */
    bool enabled;
    int per_minute; /* at most so many messages; 0: no limit */
    int64_t created_ms, updated_ms;
};

void channel_record_done(struct channel_record *r);
void channel_record_copy(struct channel_record *to, const struct channel_record *from);

#endif
