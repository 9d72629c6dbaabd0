/* SPDX-License-Identifier: Apache-2.0 */
/* reload.h - what a running server reads again on SIGHUP: certificates, and some settings.
 *
 * The signal is taken by a thread of its own, so that reading files holds up nothing. A bad file or
 * setting changes nothing, and the log says what is wrong. */
#ifndef PEAL_CLI_RELOAD_H
#define PEAL_CLI_RELOAD_H

#include "base/config.h"

struct reload; /* opaque */
struct tls_client;
struct tls_server;

/* Of tls.cert, tls.key and tls.client-ca: are they given together? */
MUST_CHECK enum err reload_tls_check(const struct config *c, struct why *why);
/* What they name; *ret stays NULL without them. ERR_INVALID: why names setting and file. */
MUST_CHECK enum err reload_tls_open(const struct config *c, struct tls_server **ret,
                                    struct why *why);

/* What executor.ca names. ERR_INVALID: why names setting and file. */
MUST_CHECK enum err reload_trust_open(const struct config *c, struct tls_client **ret,
                                      struct why *why);

/* Block SIGHUP until reload_start; before other threads start. */
void reload_hold(void);
struct reload_ops {
    /* Read the settings, as at start. */
    enum err (*read)(const struct config_table *table, int argc, char **argv, struct config *ret,
                     struct why *why);
    enum err (*check)(const struct config *c, struct why *why); /* values that are words */
    void (*apply)(const struct config *c); /* those that count at once; they have been checked */
    void (*busy)(bool reading);            /* before and after; on the thread that reads */
};

/* Everything is borrowed until reload_stop. tls: NULL without. NULL: no thread, as the log says. */
struct reload *reload_start(const struct config *started, int argc, char **argv,
                            const struct reload_ops *ops, struct tls_server *tls,
                            struct tls_client *trust);
void reload_stop(struct reload *r);

#endif
