/* SPDX-License-Identifier: Apache-2.0 */
/* chart.h - /chartInfo: runs a day, by what became of them. Private to src/api. */
#ifndef PEAL_API_XXL_CHART_H
#define PEAL_API_XXL_CHART_H

struct web_call;

void chart_info(struct web_call *call);

#endif
