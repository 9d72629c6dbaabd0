/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into each test program: one that hangs fails, however it was started. */
#include <signal.h>
#include <unistd.h>

#ifdef PEAL_SANITIZED
enum { LIMIT_S = 280 };
#else
enum { LIMIT_S = 120 };
#endif

static const char said[] =
    "this test program hangs: it has taken longer than tests/unit/limit.c allows\n";

static void too_long(int number)
{
    (void)number;
    if (write(STDERR_FILENO, said, sizeof(said) - 1) < 0)
        _exit(124);
    _exit(124);
}

__attribute__((constructor)) static void set_limit(void)
{
    signal(SIGALRM, too_long);
    alarm(LIMIT_S);
}
