/* SPDX-License-Identifier: Apache-2.0 */
/* channels.h - channels in SQL: a part of store_alarms. Private to src/store. */
#ifndef PEAL_STORE_SQL_CHANNELS_H
#define PEAL_STORE_SQL_CHANNELS_H

#include "store/sql/sql.h"

MUST_CHECK enum err sql_channels_each(struct store *s, channel_row_fn *fn, void *ctx,
                                      struct why *why);
MUST_CHECK enum err sql_channel_get(struct store *s, int64_t id, struct channel_record *ret,
                                    struct why *why);
MUST_CHECK enum err sql_channel_insert(struct store *s, struct channel_record *r, struct why *why);
MUST_CHECK enum err sql_channel_update(struct store *s, const struct channel_record *r,
                                       struct why *why);
MUST_CHECK enum err sql_channel_delete(struct store *s, int64_t id, struct why *why);

#endif
