/* SPDX-License-Identifier: Apache-2.0 */
/* demo_view.h - what the demo shows: a line for each run that has ended, and now and then a sum.
 *
 * It is fed with the pages of the log list and with /metrics, knows which runs it has shown, and
 * prints to standard output. One thread. */
#ifndef PEAL_CLI_DEMO_VIEW_H
#define PEAL_CLI_DEMO_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include "base/map.h"
#include "base/str.h"

struct json_t; /* jansson's value */

struct view_job {
    int64_t id;
    const char *name;
    int retries;
};

struct view_late { /* what left in one second */
    int64_t second;
    double sum_s, runs;
};

struct view {
    const struct view_job *jobs;
    int njobs;
    bool colours;
    struct map shown; /* log ids */
    int succeeded, failed, refused;
    double late_sum_s, late_runs; /* as /metrics had it last */
    double unaccounted;
    struct view_late late[16]; /* a circle by second */
    int64_t sum_at_ms;         /* boot: when the next sum is shown */
    int since_sum;
};

void view_init(struct view *v, const struct view_job *jobs, int njobs);
void view_done(struct view *v);
/* The text of /metrics, read at now_ms of the wall. */
void view_metrics(struct view *v, struct slice text, int64_t now_ms);
/* A page of the log list in release 3.3's shape, newest first. */
void view_page(struct view *v, const struct json_t *page, int64_t now_ms, int64_t boot_ms);
/* One line: how many, how late, nothing lost. */
void view_sum(struct view *v);

#endif
