/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - which addresses no request that users choose should reach. Any thread. */
#ifndef PEAL_BASE_ADDRESS_H
#define PEAL_BASE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Is it an address that is not public, or of no use: private, loopback, link-local (clouds'
 * metadata are there), shared, multicast, reserved; also inside an IPv6 address? */
bool address_private(const struct sockaddr *a);

#endif
