/* SPDX-License-Identifier: Apache-2.0 */
/* peal/executor.h with handlers in processes of their own. A program apart from the other tests of
 * that header, and the stand-in for a center gets its thread last, because TSan's runtime does not
 * live through a fork of a process with threads: here the executor's fork server is split off
 * while there is none, as a host should have it anyway. */
#include "support_center.h"
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "peal/executor.h"

struct world {
    char folder[64];
    struct center center;
    struct peal_executor *e;
};

static int crash(struct peal_run *run)
{
    (void)run;
    raise(SIGKILL);
    return 0;
}

static int leave(struct peal_run *run)
{
    peal_result(run, 200, "not how it ends");
    _Exit(3);
}

static int patient(struct peal_run *run)
{
    peal_wait(run, 3600000);
    return 0;
}

static int echo(struct peal_run *run)
{
    peal_result(run, 200, "%s", peal_param(run));
    return 0;
}

static const struct peal_handler handlers[] = {
    { .name = "crash", .run = crash, .flags = PEAL_PROCESS },
    { .name = "leave", .run = leave, .flags = PEAL_PROCESS },
    { .name = "patient", .run = patient, .flags = PEAL_PROCESS },
    { .name = "echo", .run = echo, .flags = PEAL_PROCESS },
    { .name = "thread", .run = echo },
};

static void configure(struct world *w)
{
    const char *const settings[][2] = {
        { "xxl.job.admin.addresses", w->center.url },
        { "insecure-no-token", "true" },
        { "xxl.job.executor.appname", "unit" },
        { "listen", "127.0.0.1" },
        { "xxl.job.executor.port", "0" },
        { "xxl.job.executor.logpath", w->folder },
        { "peal.executor.stop.grace", "50ms" },
        { "peal.executor.stop.timeout", "0" },
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        assert_int_equal(peal_executor_set(w->e, settings[i][0], settings[i][1]), PEAL_OK);
    for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++)
        assert_int_equal(peal_executor_add(w->e, &handlers[i]), PEAL_OK);
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    if (!w)
        return -1;
    snprintf(w->folder, sizeof(w->folder), "/tmp/peal-unit-XXXXXX");
    if (!mkdtemp(w->folder))
        return -1;
    center_listen(&w->center);
    w->e = peal_executor_new();
    configure(w);
    if (peal_executor_start(w->e))
        fail_msg("%s", peal_executor_why(w->e));
    center_serve(&w->center);
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

static void assert_run(struct world *w, int64_t id, const char *handler, const char *text)
{
    assert_true(center_run(peal_executor_address(w->e), id, id, handler, "still here", 0));
    char *said = center_result(&w->center, id);
    if (!strstr(said, text))
        fail_msg("result of %s: %s; wanted %s", handler, said, text);
    free(said);
}

static void a_handler_in_a_process_may_crash(void **state)
{
    struct world *w = *state;
    assert_run(w, 1, "crash", "ended by signal 9");
    assert_run(w, 2, "leave", "exit status 3");
    assert_run(w, 3, "echo", "still here");
    assert_run(w, 4, "thread", "still here");
}

static void a_handler_in_a_process_is_stopped(void **state)
{
    struct world *w = *state;
    const char *at = peal_executor_address(w->e);
    assert_true(center_run(at, 1, 1, "patient", "", 0));
    center_kill(at, 1);
    char *said = center_result(&w->center, 1);
    assert_non_null(strstr(said, "\"handleCode\":500"));
    free(said);
    assert_run(w, 2, "echo", "still here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_handler_in_a_process_may_crash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_handler_in_a_process_is_stopped, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
