/* SPDX-License-Identifier: Apache-2.0 */
/* alarms.h - the durable way of an alarm: which failures leave a row of peal_alarm, in the
 * transaction that ends the run, and what tries to send it come to.
 *
 * As XXL-JOB: every log row that fails alarms, also one whose retry follows, if the job has an
 * alarm_email. What a user stopped before it ran (skipped, withdrawn, ended with its job) does not.
 * A run that fails twice (lost, then its late result) alarms once. */
#ifndef PEAL_LEDGER_ALARMS_H
#define PEAL_LEDGER_ALARMS_H

#include "ledger/write.h"

#define ALARMS_REPORT_MAX 200 /* tries of one write */
#define ALARMS_KEPT_MS (INT64_C(30) * 86400000)

struct alarm_report {
    struct delivery_record tried;
    /* Not ALARM_CLAIMED: this was the alarm's last try, and what it comes to as a whole. */
    enum alarm_status closes;
};

struct alarm_reports {
    int64_t now_ms;
    int n; /* at most ALARMS_REPORT_MAX */
    struct alarm_report *reports;
};

/* The write of a struct alarm_reports, which it frees with all texts: the log of deliveries, and
 * the end of alarms. A try that is there already, and an alarm that is closed, are left as they
 * are: the same write may be made again. */
extern const struct ledger_write alarm_reports_write;

#endif
