/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the words of the ledger as plain structs: jobs, groups, runs, and the totals of them. A
 * file that needs only one of them includes only that one. */
#ifndef PEAL_MODEL_MODEL_H
#define PEAL_MODEL_MODEL_H

#include "model/group.h"
#include "model/job.h"
#include "model/run.h"
#include "model/totals.h"

#endif
