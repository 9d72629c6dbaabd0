/* SPDX-License-Identifier: Apache-2.0 */
/* channels.c - the table of alarm channels, one row each. */
#include "alarm/channel.h"

#define TABLE(ROW)                                                                                 \
    ROW(channel_mail)                                                                              \
    ROW(channel_webhook)

#define DECLARED(ops) extern const struct channel_ops ops;
TABLE(DECLARED)

#define IN_THE_TABLE(ops) &ops,
const struct channel_ops *const channel_table[] = { TABLE(IN_THE_TABLE) NULL };
