/* SPDX-License-Identifier: Apache-2.0 */
/* hello.c - a whole executor.
 *
 * PEAL_HANDLER defines a handler and enters it in a table; peal_executor_main reads options, runs
 * what the table holds until SIGTERM, and returns the exit status. The job in the center names the
 * handler: helloJobHandler. What peal_log writes is the run's log, to be seen in the console while
 * the run goes on.
 *
 *     cc hello.c $(pkg-config --cflags --libs peal) -o hello
 *     PEAL_ACCESS_TOKEN=... ./hello --centers http://127.0.0.1:8080 --app hello */
#include <peal/executor.h>

PEAL_HANDLER(helloJobHandler)
{
    peal_log(run, "hello, %s", peal_param(run));
    return 0;
}

int main(int argc, char **argv)
{
    return peal_executor_main(argc, argv);
}
