/* SPDX-License-Identifier: Apache-2.0 */
/* What executor, fork server and children have in common: sending a frame, and letting go of the
 * descriptors that a process was born with. No memory is allocated: a child of a process with
 * threads may call these. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/mem.h"
#include "executor/process/isolate_internal.h"

bool frame_send(int fd, enum frame_kind kind, int number, struct slice first, struct slice second,
                int flags)
{
    struct frame head = { .kind = kind, .number = number, .split = (uint32_t)first.n };
    struct iovec pieces[] = {
        { &head, FRAME_HEAD },
        { (char *)first.p, first.n },
        { (char *)second.p, second.n },
    };
    struct msghdr m = { .msg_iov = pieces, .msg_iovlen = countof(pieces) };
    ssize_t n;
    do
        n = sendmsg(fd, &m, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n >= 0;
}

static void close_between(int first, int last)
{
    if (first > last || close_range((unsigned)first, (unsigned)last, 0) == 0)
        return;
    long most = sysconf(_SC_OPEN_MAX); /* a kernel before 5.9 */
    for (int fd = first; fd <= last && fd < most; fd++)
        close(fd);
}

void close_all_but(const int *keep, size_t n)
{
    int from = 3;
    for (;;) {
        int next = -1;
        for (size_t i = 0; i < n; i++)
            if (keep[i] >= from && (next < 0 || keep[i] < next))
                next = keep[i];
        if (next < 0)
            break;
        close_between(from, next - 1);
        from = next + 1;
    }
    close_between(from, INT32_MAX);
}
