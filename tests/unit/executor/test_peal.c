/* SPDX-License-Identifier: Apache-2.0 */
/* The library as a program sees it: peal/executor.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <ftw.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>
#include "peal/executor.h"
#include "support_center.h"

/* --- handlers --- */

static sem_t entered, may_go;
static _Atomic int inits, destroys;

static int echo(struct peal_run *run)
{
    assert_string_equal(peal_traceparent(run), CENTER_TRACE);
    peal_result(run, 200, "%s of %lld, attempt %d, moment %lld", peal_param(run),
                (long long)peal_job_id(run), peal_attempt(run), (long long)peal_moment_ms(run));
    return 0;
}

static int seven(struct peal_run *run)
{
    (void)run;
    return 7;
}

/* Does not look whether it shall end. */
static int stubborn(struct peal_run *run)
{
    peal_progress(run, 40, "half of it");
    sem_post(&entered);
    sem_wait(&may_go);
    return 0;
}

static int patient(struct peal_run *run)
{
    sem_post(&entered);
    peal_wait(run, 3600000);
    return 0;
}

static int quick(struct peal_run *run)
{
    (void)run;
    return 0;
}

static int begin_state(void *arg, void **state)
{
    if (*state)
        return 1;
    *state = arg;
    return atomic_fetch_add(&inits, 1) < 1 ? 3 : 0;
}

static void end_state(void *arg, void *state)
{
    if (arg == state)
        destroys++;
    sem_post(&entered);
}

static int uses_state(struct peal_run *run)
{
    peal_result(run, peal_state(run) == peal_arg(run) ? 200 : 500, "state");
    return 0;
}

static const struct peal_handler handlers[] = {
    { .name = "echo", .run = echo },
    { .name = "seven", .run = seven },
    { .name = "stubborn", .run = stubborn },
    { .name = "patient", .run = patient },
    { .name = "again", .run = patient, .flags = PEAL_IDEMPOTENT },
    { .name = "quick", .run = quick },
    { .name = "keeps",
      .run = uses_state,
      .init = begin_state,
      .destroy = end_state,
      .arg = &inits },
};

/* --- an executor in a folder of its own --- */

struct world {
    struct center center;
    char folder[64];
    struct peal_executor *e;
};

static struct peal_executor *make(struct world *w, const char *logs)
{
    char path[128];
    struct peal_executor *e = peal_executor_new();
    snprintf(path, sizeof(path), "%s/%s", w->folder, logs);
    const char *const settings[][2] = {
        { "xxl.job.admin.addresses", w->center.url },
        { "app", "tests" },
        { "insecure-no-token", "true" },
        { "listen", "127.0.0.1" },
        { "xxl.job.executor.port", "0" },
        { "xxl.job.executor.logpath", path },
        { "peal.executor.stop.grace", "50ms" },
        { "peal.executor.stop.timeout", "0" },
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        assert_int_equal(peal_executor_set(e, settings[i][0], settings[i][1]), PEAL_OK);
    for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++)
        assert_int_equal(peal_executor_add(e, &handlers[i]), PEAL_OK);
    return e;
}

static void start(struct peal_executor *e)
{
    if (peal_executor_start(e))
        fail_msg("%s", peal_executor_why(e));
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    snprintf(w->folder, sizeof(w->folder), "/tmp/peal-unit-XXXXXX");
    if (!w || !mkdtemp(w->folder))
        return -1;
    sem_init(&entered, 0, 0);
    sem_init(&may_go, 0, 0);
    inits = destroys = 0;
    center_start(&w->center);
    w->e = make(w, "logs");
    *state = w;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int tear_down(void **state)
{
    struct world *w = *state;
    peal_executor_free(w->e);
    center_stop(&w->center);
    nftw(w->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(w);
    return 0;
}

static void assert_result(struct world *w, int64_t log, const char *text)
{
    char *said = center_result(&w->center, log);
    if (!strstr(said, text))
        fail_msg("result of %lld: %s; wanted %s", (long long)log, said, text);
    free(said);
}

static struct peal_status status_of(const struct world *w)
{
    struct peal_status status = { .size = sizeof(status) };
    peal_executor_status(w->e, &status);
    return status;
}

/* --- before the start --- */

static int do_nothing(struct peal_run *run)
{
    (void)run;
    return 0;
}

static void a_handler_needs_a_name_of_its_own_and_a_function(void **state)
{
    struct world *w = *state;
    char longest[257];
    memset(longest, 'x', 256);
    longest[256] = '\0';
    const struct {
        struct peal_handler handler;
        const char *rule;
    } cases[] = {
        { { .name = NULL, .run = do_nothing }, "blank" },
        { { .name = " ", .run = do_nothing }, "blank" },
        { { .name = "x ", .run = do_nothing }, "blank" },
        { { .name = longest, .run = do_nothing }, "255" },
        { { .name = "\xff", .run = do_nothing }, "UTF-8" },
        { { .name = "none" }, "no function" },
        { { .name = "new", .run = do_nothing, .flags = 64 }, "flags" },
        { { .name = "echo", .run = do_nothing }, "already" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(peal_executor_add(w->e, &cases[i].handler), PEAL_INVALID);
        assert_non_null(strstr(peal_executor_why(w->e), cases[i].rule));
    }
    const struct peal_handler good = { .name = longest + 1, .run = do_nothing };
    assert_int_equal(peal_executor_add(w->e, &good), PEAL_OK);
    assert_string_equal(peal_executor_why(w->e), "");
}

static void settings_are_checked_when_they_are_set(void **state)
{
    struct world *w = *state;
    assert_int_equal(peal_executor_set(w->e, "peal.executor.worker", "1"), PEAL_INVALID);
    assert_non_null(strstr(peal_executor_why(w->e), "peal.executor.workers"));
    assert_int_equal(peal_executor_set(w->e, "peal.executor.workers", "0"), PEAL_INVALID);
    assert_int_equal(peal_executor_set(w->e, "peal.executor.commands", "*"), PEAL_INVALID);
    assert_int_equal(peal_executor_read(w->e, "/nonexistent"), PEAL_IO);
    assert_non_null(strstr(peal_executor_why(w->e), "/nonexistent"));
}

static void a_start_that_failed_may_be_tried_again(void **state)
{
    struct world *w = *state;
    struct peal_status status = { .size = sizeof(status) };
    assert_int_equal(peal_executor_fd(w->e), -1);
    assert_int_equal(peal_executor_wait(w->e, 0), PEAL_BUSY);
    peal_executor_set(w->e, "insecure-no-token", "false");
    assert_int_equal(peal_executor_start(w->e), PEAL_INVALID);
    assert_non_null(strstr(peal_executor_why(w->e), "token"));
    peal_executor_set(w->e, "insecure-no-token", "true");
    peal_executor_set(w->e, "xxl.job.executor.logpath", "/proc/nowhere");
    assert_int_equal(peal_executor_start(w->e), PEAL_IO);
    assert_non_null(strstr(peal_executor_why(w->e), "/proc/nowhere"));
    peal_executor_set(w->e, "xxl.job.executor.logpath", w->folder);
    peal_executor_set(w->e, "xxl.job.executor.port", "1");
    peal_executor_set(w->e, "listen", "192.0.2.1");
    assert_int_equal(peal_executor_start(w->e), PEAL_NET);
    peal_executor_set(w->e, "listen", "127.0.0.1");
    peal_executor_set(w->e, "xxl.job.executor.port", "0");
    start(w->e);
    assert_int_equal(peal_executor_start(w->e), PEAL_BUSY);
    assert_int_equal(peal_executor_set(w->e, "app", "x"), PEAL_BUSY);
    peal_executor_status(w->e, &status);
    assert_int_equal(status.running, 0);
}

/* A center that takes no results for days must not take the program down. */
static void results_that_no_center_takes_have_a_bound(void **state)
{
    enum { TEXT = 30000, ROOM = 1 << 20 };
    struct world *w = *state;
    char text[TEXT + 1];
    int64_t n = 0;
    memset(text, 'x', TEXT);
    text[TEXT] = '\0';
    w->center.refuses = true;
    assert_int_equal(peal_executor_set(w->e, "peal.executor.memory", "1"), PEAL_OK);
    start(w->e);
    while (n < 2 * ROOM / TEXT &&
           center_run(peal_executor_address(w->e), 1, n + 1, "echo", text, 0))
        for (n++; status_of(w).results_pending < n;) /* none is at work when the next one comes */
            poll(NULL, 0, 1);
    assert_in_range(n, ROOM / TEXT / 2, ROOM / TEXT);
    assert_int_equal(status_of(w).refused, 1);
    w->center.refuses = false;
    for (int64_t log = 1; log <= n; log++)
        assert_result(w, log, "xxx");
    while (status_of(w).results_pending)
        poll(NULL, 0, 10);
    assert_true(center_run(peal_executor_address(w->e), 1, n + 1, "echo", "room again", 0));
    assert_result(w, n + 1, "room again");
}

static void two_executors_of_a_process_have_journals_of_their_own(void **state)
{
    struct world *w = *state;
    start(w->e);
    struct peal_executor *other = make(w, "logs");
    assert_int_equal(peal_executor_start(other), PEAL_BUSY);
    assert_non_null(strstr(peal_executor_why(other), "journal"));
    char path[128];
    snprintf(path, sizeof(path), "%s/others", w->folder);
    assert_int_equal(peal_executor_set(other, "logs", path), PEAL_OK);
    start(other);
    assert_true(center_run(peal_executor_address(w->e), 1, 1, "echo", "first", 0));
    assert_true(center_run(peal_executor_address(other), 1, 2, "echo", "second", 0));
    assert_result(w, 1, "first of 1, attempt 2, moment 1700000000123");
    assert_result(w, 2, "second of 1");
    peal_executor_free(other);
}

/* --- runs --- */

static void what_a_handler_returns_is_its_result(void **state)
{
    struct world *w = *state;
    start(w->e);
    assert_true(center_run(peal_executor_address(w->e), 1, 1, "seven", "", 0));
    assert_result(w, 1, "the handler returned 7");
    assert_false(center_run(peal_executor_address(w->e), 1, 2, "eight", "", 0));
}

static void a_state_is_made_once_a_job_and_ended_with_another_handler(void **state)
{
    struct world *w = *state;
    start(w->e);
    const char *at = peal_executor_address(w->e);
    assert_true(center_run(at, 1, 1, "keeps", "", 0));
    assert_result(w, 1, "init returned 3");
    for (int64_t log = 2; log < 5; log++) {
        assert_true(center_run(at, 1, log, "keeps", "", 0));
        assert_result(w, log, "\"handleCode\":200");
    }
    assert_int_equal(inits, 2);
    assert_int_equal(destroys, 0);
    assert_true(center_run(at, 1, 5, "quick", "", 0));
    assert_result(w, 5, "\"handleCode\":200");
    assert_int_equal(destroys, 1);
    assert_true(center_run(at, 2, 6, "keeps", "", 0));
    assert_result(w, 6, "\"handleCode\":200");
    peal_executor_stop(w->e);
    assert_int_equal(peal_executor_wait(w->e, -1), PEAL_OK);
    assert_int_equal(inits, 3);
    assert_int_equal(destroys, 2);
}

static void a_handler_that_does_not_stop_is_reported_and_keeps_its_job(void **state)
{
    struct world *w = *state;
    struct peal_status status = { .size = sizeof(status) };
    start(w->e);
    const char *at = peal_executor_address(w->e);
    assert_true(center_run(at, 1, 1, "stubborn", "", 0));
    sem_wait(&entered);
    assert_true(center_run(at, 1, 2, "stubborn", "", 0));
    center_kill(at, 1);
    assert_result(w, 2, "not executed");
    assert_result(w, 1, "would not stop; last progress: 40 % half of it");
    assert_true(center_run(at, 1, 3, "stubborn", "", 0)); /* and waits */
    char *reply = center_post(at, "peal/status", "", "");
    assert_non_null(strstr(reply, "\"wouldNotStop\":1"));
    free(reply);
    peal_executor_status(w->e, &status);
    assert_int_equal(status.running, 1);
    assert_int_equal(status.waiting, 1);
    sem_post(&may_go);
    sem_wait(&entered); /* the third one is in */
    sem_post(&may_go);
    assert_result(w, 3, "\"handleCode\":200");
    assert_int_equal(center_count(&w->center, 1), 1);
}

static void a_timeout_of_one_that_does_not_stop_is_a_502(void **state)
{
    struct world *w = *state;
    start(w->e);
    assert_true(center_run(peal_executor_address(w->e), 1, 1, "stubborn", "", 1));
    assert_result(w, 1, "\"handleCode\":502");
    sem_post(&may_go);
}

/* --- stopping --- */

static void a_stop_hands_back_what_waits_and_rings(void **state)
{
    struct world *w = *state;
    start(w->e);
    const char *at = peal_executor_address(w->e);
    assert_true(center_run(at, 1, 1, "patient", "", 0));
    sem_wait(&entered);
    assert_true(center_run(at, 1, 2, "patient", "", 0));
    assert_int_equal(peal_executor_wait(w->e, 0), PEAL_TIMEOUT);
    peal_executor_stop(w->e);
    struct pollfd p = { .fd = peal_executor_fd(w->e), .events = POLLIN };
    assert_int_equal(poll(&p, 1, -1), 1);
    assert_int_equal(peal_executor_wait(w->e, 0), PEAL_OK);
    assert_result(w, 1, "shutting down. [job running, killed]");
    assert_result(w, 2, "shutting down. [job not executed");
    start(w->e);
    assert_false(center_run(peal_executor_address(w->e), 1, 2, "patient", "", 0));
}

static void a_handler_that_does_not_stop_does_not_hold_up_the_stop(void **state)
{
    struct world *w = *state;
    start(w->e);
    assert_true(center_run(peal_executor_address(w->e), 1, 1, "stubborn", "", 0));
    sem_wait(&entered);
    peal_executor_stop(w->e);
    assert_int_equal(peal_executor_wait(w->e, -1), PEAL_OK);
    assert_result(w, 1, "would not stop");
    sem_post(&may_go); /* else free would wait for it */
}

/* Its settings are still in use: to change them would be a use after free. */
static void while_a_handler_would_not_stop_nothing_can_be_set(void **state)
{
    struct world *w = *state;
    struct peal_handler more = { .name = "more", .run = quick };
    start(w->e);
    assert_true(center_run(peal_executor_address(w->e), 1, 1, "stubborn", "", 0));
    sem_wait(&entered);
    peal_executor_stop(w->e);
    assert_int_equal(peal_executor_wait(w->e, -1), PEAL_OK);
    assert_int_equal(peal_executor_set(w->e, "xxl.job.accessToken", "other"), PEAL_BUSY);
    assert_non_null(strstr(peal_executor_why(w->e), "1 of its handlers"));
    assert_int_equal(peal_executor_read(w->e, "/dev/null"), PEAL_BUSY);
    assert_int_equal(peal_executor_add(w->e, &more), PEAL_BUSY);
    assert_int_equal(peal_executor_start(w->e), PEAL_BUSY);
    sem_post(&may_go);
    const struct timespec moment = { .tv_nsec = 1000000 };
    while (peal_executor_set(w->e, "peal.executor.queue", "7") == PEAL_BUSY)
        nanosleep(&moment, NULL);
    assert_int_equal(peal_executor_add(w->e, &more), PEAL_OK);
    start(w->e);
}

static void free_keeps_what_waits_for_the_next_start(void **state)
{
    struct world *w = *state;
    start(w->e);
    const char *at = peal_executor_address(w->e);
    assert_true(center_run(at, 1, 1, "again", "", 0));
    sem_wait(&entered);
    assert_true(center_run(at, 1, 2, "again", "", 0));
    peal_executor_free(w->e);
    w->e = make(w, "logs");
    start(w->e);
    assert_result(w, 1, "shutting down. [job running, killed]");
    sem_wait(&entered); /* the second one is in */
    center_kill(peal_executor_address(w->e), 1);
    assert_result(w, 2, "kill job. [job running");
    assert_int_equal(center_count(&w->center, 1), 1);
    assert_int_equal(center_count(&w->center, 2), 1);
}

static void a_drained_executor_takes_nothing_until_it_is_undrained(void **state)
{
    struct world *w = *state;
    struct peal_status status = { .size = sizeof(status) };
    start(w->e);
    const char *at = peal_executor_address(w->e);
    peal_executor_drain(w->e, 1);
    while (!status.draining)
        peal_executor_status(w->e, &status);
    assert_false(center_run(at, 1, 1, "echo", "", 0));
    peal_executor_drain(w->e, 0);
    while (status.draining)
        peal_executor_status(w->e, &status);
    assert_true(center_run(at, 1, 1, "echo", "", 0));
    assert_result(w, 1, "\"handleCode\":200");
    peal_executor_status(w->e, &status);
    assert_int_equal(status.refused, 1);
    assert_int_equal(status.accepted, 1);
}

static void hear(void *arg, enum peal_log_level level, const char *text)
{
    sem_t *heard = arg;
    if (level == PEAL_INFO && strstr(text, "registered at"))
        sem_post(heard);
}

static void it_says_what_it_does_to_its_host(void **state)
{
    struct world *w = *state;
    sem_t heard;
    sem_init(&heard, 0, 0);
    peal_executor_on_say(w->e, hear, &heard);
    start(w->e);
    sem_wait(&heard);
    peal_executor_stop(w->e);
    assert_int_equal(peal_executor_wait(w->e, -1), PEAL_OK);
}

#define IN_A_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(a_handler_needs_a_name_of_its_own_and_a_function),
        IN_A_WORLD(settings_are_checked_when_they_are_set),
        IN_A_WORLD(a_start_that_failed_may_be_tried_again),
        IN_A_WORLD(results_that_no_center_takes_have_a_bound),
        IN_A_WORLD(two_executors_of_a_process_have_journals_of_their_own),
        IN_A_WORLD(what_a_handler_returns_is_its_result),
        IN_A_WORLD(a_state_is_made_once_a_job_and_ended_with_another_handler),
        IN_A_WORLD(a_handler_that_does_not_stop_is_reported_and_keeps_its_job),
        IN_A_WORLD(a_timeout_of_one_that_does_not_stop_is_a_502),
        IN_A_WORLD(a_stop_hands_back_what_waits_and_rings),
        IN_A_WORLD(a_handler_that_does_not_stop_does_not_hold_up_the_stop),
        IN_A_WORLD(while_a_handler_would_not_stop_nothing_can_be_set),
        IN_A_WORLD(free_keeps_what_waits_for_the_next_start),
        IN_A_WORLD(a_drained_executor_takes_nothing_until_it_is_undrained),
        IN_A_WORLD(it_says_what_it_does_to_its_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
