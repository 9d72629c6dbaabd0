/* SPDX-License-Identifier: Apache-2.0 */
/* jobcode.h - /jobcode: the scripts of GLUE jobs. Private to src/api. */
#ifndef PEAL_API_XXL_JOBCODE_H
#define PEAL_API_XXL_JOBCODE_H

#include "api/front.h"

void jobcode_save(struct web_call *call); /* POST /jobcode/save */

#endif
