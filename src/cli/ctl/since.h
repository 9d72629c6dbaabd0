/* SPDX-License-Identifier: Apache-2.0 */
/* since.h - --since and --until. */
#ifndef PEAL_CLI_CTL_SINCE_H
#define PEAL_CLI_CTL_SINCE_H

#include "cli/ctl/ctl.h"

/* Add from and to: a duration is so long ago, any other text is the API's to read. */
void ctl_since(const struct ctl *c, struct buf *path);

#endif
