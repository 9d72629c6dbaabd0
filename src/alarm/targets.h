/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - where requests of channels may go: to public addresses, or only where a list of the
 * operator's says. Pure. */
#ifndef PEAL_ALARM_TARGETS_H
#define PEAL_ALARM_TARGETS_H

#include <sys/socket.h>
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

/* Names of hosts, addresses and networks (10.0.0.0/8), comma separated; empty: any public address.
 * ERR_INVALID: why names the item. */
MUST_CHECK enum err targets_check(struct slice list, struct why *why);
/* May a request to that host, as its URL names it, go to that address? A host or an address in the
 * list need not be public. */
bool targets_allow(struct slice list, const char *host, const struct sockaddr *a);

#endif
