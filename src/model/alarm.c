/* SPDX-License-Identifier: Apache-2.0 */
/* alarm.c - who frees the texts of an alarm and of a delivery. */
#include "model/alarm.h"
#include <stdlib.h>
#include <string.h>

void alarm_record_done(struct alarm_record *r)
{
    free(r->cause);
    free(r->channel);
    free(r->targets);
    memset(r, 0, sizeof(*r));
}

void delivery_record_done(struct delivery_record *r)
{
    free(r->target);
    free(r->said);
    memset(r, 0, sizeof(*r));
}
