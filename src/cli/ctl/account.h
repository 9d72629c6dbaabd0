/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - which center, and by what right: options, then the environment, then the file that
 * `peal ctl login` writes, $XDG_CONFIG_HOME/peal/ctl.json or ~/.config/peal/ctl.json.
 *
 * The file's token goes to the file's center only. A file that others may read is refused. */
#ifndef PEAL_CLI_CTL_ACCOUNT_H
#define PEAL_CLI_CTL_ACCOUNT_H

#include "cli/ctl/ctl.h"

/* Set c->url, token and ca. need_token false: of a login, which has none yet. */
enum ctl_exit ctl_account(struct ctl *c, bool need_token);
/* Keep c->url, token and ca. False behind a complaint. *ret_path owned. */
bool ctl_account_keep(const struct ctl *c, char **ret_path);
/* Forget the file. False behind a complaint; *ret: there was one. */
bool ctl_account_forget(const struct ctl *c, bool *ret);
/* An address without slashes at its end; owned. */
char *ctl_account_url(const char *url);

#endif
