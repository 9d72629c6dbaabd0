/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of this release, and nothing else: tests link a later one in place of this file. */
#include "store/release.h"

const struct store_release store_release = { .protocol = 1, .oldest = 1, .version = PEAL_VERSION };
