/* SPDX-License-Identifier: Apache-2.0 */
/* cron_batch.h - `peal cron next --batch`: many expressions from one stream to another. */
#ifndef PEAL_CLI_CRON_BATCH_H
#define PEAL_CLI_CRON_BATCH_H

#include "base/err.h"
#include "base/why.h"
#include "cron/cron.h"

/* For each line `expression TAB zone TAB start [TAB ...]` of file in, write one line to out: up to
 * count scheduled times as epoch ms with commas, `-` for never, `INVALID` for what cannot be read.
 * What has been answered is written before in is waited for. ERR_IO when in or out fails. */
MUST_CHECK enum err cron_batch(int in, int out, int count, enum dst_policy dst, struct why *why);

#endif
