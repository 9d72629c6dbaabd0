/* SPDX-License-Identifier: Apache-2.0 */
/* routes.h - the form API of XXL-JOB's admin, in both generations. Private to src/api. */
#ifndef PEAL_API_XXL_ROUTES_H
#define PEAL_API_XXL_ROUTES_H

#include "api/router.h"

extern const struct router_table xxl_routes;

#endif
