/* SPDX-License-Identifier: Apache-2.0 */
/* two_executors.c - two executors in one process: two groups, two sets of settings, one program.
 *
 * An executor is an object. Each has its own port, journal, log folder, threads and handlers, and
 * says what it has to say to its own function; the library has no state besides. Useful where one
 * process serves two centers, or two groups whose queues must not be in each other's way.
 *
 * Both have a handler of the same name; its arg tells them apart.
 *
 *     cc two_executors.c $(pkg-config --cflags --libs peal) -o two_executors
 *     PEAL_ACCESS_TOKEN=... ./two_executors http://127.0.0.1:8080 FOLDER */
#include <peal/executor.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int whose(struct peal_run *run)
{
    peal_result(run, 200, "of %s", (const char *)peal_arg(run));
    return 0;
}

static void say(void *arg, enum peal_log_level level, const char *text)
{
    if (level <= PEAL_WARN)
        fprintf(stderr, "%s: %s\n", (const char *)arg, text);
}

/* The settings of one of them, in order; the first that is refused ends it. */
static enum peal_err configure(struct peal_executor *e, const char *app, const char *center,
                               const char *folder)
{
    const char *token = getenv("PEAL_ACCESS_TOKEN");
    char logs[4096], journal[4096];
    snprintf(logs, sizeof(logs), "%s/%s-logs", folder, app);
    snprintf(journal, sizeof(journal), "%s/%s.journal", folder, app);
    const char *const settings[][2] = {
        { "xxl.job.admin.addresses", center }, { "xxl.job.accessToken", token ? token : "" },
        { "xxl.job.executor.appname", app },   { "xxl.job.executor.logpath", logs },
        { "xxl.job.executor.port", "0" }, /* the first free one from 9999 on */
        { "peal.executor.journal", journal },
    };
    enum peal_err err = PEAL_OK;
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings) && !err; i++)
        err = peal_executor_set(e, settings[i][0], settings[i][1]);
    return err;
}

/* NULL after a line on standard error. */
static struct peal_executor *begin(char *app, const char *center, const char *folder)
{
    struct peal_handler handler = { .name = "whoseJobHandler", .run = whose, .arg = app };
    struct peal_executor *e = peal_executor_new();
    if (!e)
        return NULL;
    peal_executor_on_say(e, say, app);
    if (!configure(e, app, center, folder) && !peal_executor_add(e, &handler) &&
        !peal_executor_start(e)) {
        printf("%s listens on %s\n", app, peal_executor_address(e));
        return e;
    }
    fprintf(stderr, "%s: %s\n", app, peal_executor_why(e));
    peal_executor_free(e);
    return NULL;
}

int main(int argc, char **argv)
{
    static char green[] = "green", blue[] = "blue";
    if (argc != 3) {
        fprintf(stderr, "usage: two_executors CENTER FOLDER\n");
        return 2;
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL); /* for sigwait, before any thread */

    struct peal_executor *both[] = { begin(green, argv[1], argv[2]),
                                     begin(blue, argv[1], argv[2]) };
    fflush(stdout);
    int signal;
    if (both[0] && both[1])
        sigwait(&set, &signal);
    for (int i = 0; i < 2; i++) /* both at once, then wait for both */
        if (both[i])
            peal_executor_stop(both[i]);
    for (int i = 0; i < 2; i++) {
        if (both[i])
            peal_executor_wait(both[i], -1);
        peal_executor_free(both[i]);
    }
    return both[0] && both[1] ? 0 : 1;
}
