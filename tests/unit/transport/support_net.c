/* SPDX-License-Identifier: Apache-2.0 */
/* The scripted peers of the net tests, for the transports' too. */
#include "../net/support_net.c" /* NOLINT(bugprone-suspicious-include): one source for both */
