/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - what other commands know of the server's settings. */
#ifndef PEAL_CLI_SERVER_H
#define PEAL_CLI_SERVER_H

#include "base/config.h"

#define SERVER_RETENTION_DAYS_MIN                                                                  \
    3 /* fewer mean never, as in XXL-JOB: a typing error deletes                                   \
         nothing */

/* The table of `peal server`. The caller frees the rows, which it borrows, behind it. */
struct config_row *server_options(struct config_table *ret);
/* The settings by that table, and by this process's environment; as config_read. */
MUST_CHECK enum err server_config_read(const struct config_table *table, int argc, char **argv,
                                       struct config *ret, struct why *why);
/* Puts into the table what an XXL-JOB center's file may hold beside. */
void server_foreign(struct config_table *ret);
/* Settings whose values are words, a path and the like. ERR_INVALID: why names the setting. */
MUST_CHECK enum err server_settings_check(const struct config *c, struct why *why);
/* A center by these settings, without what is the server's own: token, tls, alarms. Borrows. */
struct center_config;
void server_center(const struct config *c, struct center_config *ret);
/* Does the token stand in XXL-JOB's configuration files and on its pages? */
bool server_token_known(const char *token);

#endif
