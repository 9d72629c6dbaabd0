/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers to try things out and to test with, as XXL-JOB's sample executors have. */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "executor/agent/builtin_internal.h"

enum { DEMO_LINES = 5, DEMO_PAUSE_MS = 200, SLEEP_MAX_MS = 86400000, SHOWN_MAX = 1000 };

static struct slice param_of(const struct peal_run *run)
{
    return slice_of(peal_param(run), peal_param_size(run));
}

static int shown(struct slice s)
{
    return (int)utf8_cut(s.p, s.n, SHOWN_MAX);
}

int builtin_demo(struct peal_run *run)
{
    struct slice p = param_of(run);
    peal_log(run, "hello; the parameter is: %.*s", shown(p), p.p);
    for (int i = 1; i <= DEMO_LINES; i++) {
        peal_log(run, "beat %d of %d", i, DEMO_LINES);
        if (peal_wait(run, DEMO_PAUSE_MS))
            break;
    }
    return 0;
}

int builtin_sharding(struct peal_run *run)
{
    int index = peal_shard_index(run), total = peal_shard_total(run);
    peal_log(run, "this is shard %d of %d", index, total);
    for (int i = 0; i < total && i < 1000; i++)
        if (i == index)
            peal_log(run, "item %d: mine", i);
        else
            peal_log(run, "item %d: another's", i);
    return 0;
}

int builtin_fail(struct peal_run *run)
{
    struct slice p = param_of(run);
    peal_log(run, "about to fail, as asked");
    if (p.n)
        peal_result(run, 500, "%.*s", shown(p), p.p);
    else
        peal_result(run, 500, "failed on purpose");
    return 0;
}

int builtin_sleep(struct peal_run *run)
{
    int64_t ms = 0;
    if (!parse_i64(slice_trim(param_of(run)), &ms) || ms < 0 || ms > SLEEP_MAX_MS) {
        peal_result(run, 500, "sleepJobHandler: the parameter must be 0-%d milliseconds",
                    SLEEP_MAX_MS);
        return 0;
    }
    peal_log(run, "sleeping for %lld ms", (long long)ms);
    if (!peal_wait(run, ms))
        peal_log(run, "awake");
    return 0;
}

/* --- lifecycle --- */

struct life {
    int64_t born_ms;
    long long runs;
};

int builtin_lifecycle_init(void *arg, void **state)
{
    (void)arg;
    struct life *l = mem_new(sizeof(*l));
    l->born_ms = clock_boot_ms();
    *state = l;
    log_info("executor", "lifecycleJobHandler: init");
    return 0;
}

int builtin_lifecycle(struct peal_run *run)
{
    struct life *l = peal_state(run);
    if (!l)
        return 1; /* cannot be: init comes first */
    l->runs++;
    peal_log(run, "init was %lld ms ago; this is run %lld since",
             (long long)(clock_boot_ms() - l->born_ms), l->runs);
    return 0;
}

void builtin_lifecycle_destroy(void *arg, void *state)
{
    struct life *l = state;
    (void)arg;
    log_info("executor", "lifecycleJobHandler: destroy, after %lld runs", l ? l->runs : 0);
    free(l);
}
