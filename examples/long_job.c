/* SPDX-License-Identifier: Apache-2.0 */
/* long_job.c - a job that takes hours, can be watched, stopped, and knows how long it may take.
 *
 * - peal_progress: how far it is. The console shows it, and if the run is stopped it is in the
 *   message of the result.
 * - peal_wait: sleep, but wake as soon as the run shall end (a user's kill, the job's timeout, a
 *   newer run, the executor's stop). A handler that computes asks peal_stopping now and then; one
 *   that waits in poll() adds peal_stop_fd to what it waits for.
 * - peal_deadline_ms: when the job's timeout strikes, for handlers that can do less.
 * - init and destroy: what the runs of a job share. Here it is the number of steps done so far: the
 *   next run goes on where the stopped one was. It lives as long as the job is busy; what must
 *   outlive that belongs into a file.
 *
 * The parameter is "STEPS MILLISECONDS", of all steps and of one step.
 *
 *     cc long_job.c $(pkg-config --cflags --libs peal) -o long_job
 *     PEAL_ACCESS_TOKEN=... ./long_job --centers http://127.0.0.1:8080 --app long */
#include <peal/executor.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

struct journey {
    int done; /* steps; runs of one job never overlap, so this needs no lock */
};

static int journey_begin(void *arg, void **state)
{
    (void)arg;
    *state = calloc(1, sizeof(struct journey));
    return *state ? 0 : -1; /* not 0: this run fails, the next one tries again */
}

static void journey_end(void *arg, void *state)
{
    (void)arg;
    free(state);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* 0 if the text is two numbers that make sense. */
static int parse(const char *text, long *steps, long *ms)
{
    char *middle, *end;
    *steps = strtol(text, &middle, 10);
    *ms = strtol(middle, &end, 10);
    return end == middle || *end || *steps < 1 || *steps > 1000000 || *ms < 0;
}

PEAL_HANDLER(longJobHandler, .init = journey_begin, .destroy = journey_end)
{
    struct journey *journey = peal_state(run);
    long steps, ms;
    if (parse(peal_param(run), &steps, &ms)) {
        peal_result(run, 500, "the parameter is STEPS MILLISECONDS, not \"%.100s\"",
                    peal_param(run));
        return 0;
    }
    if (peal_deadline_ms(run))
        peal_log(run, "%" PRId64 " ms until the timeout", peal_deadline_ms(run) - now_ms());
    if (journey->done)
        peal_log(run, "going on after step %d", journey->done);
    while (journey->done < steps) {
        if (peal_wait(run, ms)) /* stands for the work of a step */
            return 0;           /* the reason to stop is the result */
        journey->done++;
        peal_progress(run, (int)(journey->done * 100LL / steps), "step %d of %ld", journey->done,
                      steps);
    }
    journey->done = 0;
    peal_result(run, 200, "%ld steps", steps);
    return 0;
}

int main(int argc, char **argv)
{
    return peal_executor_main(argc, argv);
}
