/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a later release, in place of src/store/release.c. */
#include "store/release.h"

const struct store_release store_release = { .protocol = LATER_PROTOCOL,
                                             .oldest = LATER_OLDEST,
                                             .version = LATER_VERSION };
