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
/* Does the token stand in XXL-JOB's configuration files and on its pages? */
bool server_token_known(const char *token);

#endif
