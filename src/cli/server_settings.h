/* SPDX-License-Identifier: Apache-2.0 */
/* server_settings.h - the settings of `peal server` as what they are given to. Private to
 * server*.c; other commands include server.h. */
#ifndef PEAL_CLI_SERVER_SETTINGS_H
#define PEAL_CLI_SERVER_SETTINGS_H

#include "api/api.h"
#include "base/config.h"
#include "base/log.h"
#include "cli/server.h"
#include "server/center.h"

struct server_settings { /* what is not a number or a text as it stands */
    enum log_level level;
    enum log_format format;
    enum wire_lang lang;
    enum api_per_job per_job;
    char prefix[API_PREFIX_MAX + 1];
    struct proxies proxies, metrics_allow;
};

/* ERR_INVALID: why names the setting. */
MUST_CHECK enum err server_settings_read(const struct config *c, struct server_settings *ret,
                                         struct why *why);
/* Which addresses executors are called at. ERR_INVALID: why names the setting. */
MUST_CHECK enum err server_targets(const struct config *c, struct targets *ret, struct why *why);
/* How long rows of the log stay; a warning says if that is for ever. */
struct retention_rules server_retention(const struct config *c);
struct backups_config server_backups(const struct config *c); /* borrows */

/* ---- server_token.c -------------------------------------------------------------------------- */

#define SERVER_TOKEN_FILE "token" /* in the data folder */
#define SERVER_TOKEN_MAX 256

/* The token in force into to: the setting, or that of the file, which is made when there is none;
 * *ret_made: it was made just now. ERR_INVALID, ERR_IO. */
MUST_CHECK enum err server_token_choose(const struct config *c, char to[SERVER_TOKEN_MAX + 1],
                                        bool *ret_made, struct why *why);

#endif
