/* SPDX-License-Identifier: Apache-2.0 */
/* Signals are blocked before the thread exists, because it inherits the mask of its creator. */
#include "base/thread.h"
#include <signal.h>
#include "base/str.h"

/* Those of a fault are for the thread that makes it: blocked, they would end the process past the
 * host's crash reporter. */
static void leave_out_faults(sigset_t *set)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        sigdelset(set, faults[i]);
}

/* The mask is inherited, so there is no moment in which it could take a signal. */
static int start_masked(pthread_t *ret, const pthread_attr_t *attr, void *(*main)(void *),
                        void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    leave_out_faults(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(ret, attr, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

int thread_start(pthread_t *ret, const char *name, size_t stack, void *(*main)(void *), void *arg)
{
    pthread_attr_t attr;
    char cut[16];
    int failed = pthread_attr_init(&attr);
    if (failed)
        return failed;
    if (stack)
        pthread_attr_setstacksize(&attr, stack);
    failed = start_masked(ret, &attr, main, arg);
    pthread_attr_destroy(&attr);
    if (failed)
        return failed;
    text_copy(cut, sizeof(cut), slice_text(name));
    pthread_setname_np(*ret, cut);
    return 0;
}
