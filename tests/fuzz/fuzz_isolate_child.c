/* SPDX-License-Identifier: Apache-2.0 */
/* What a child hears before its handler begins, and while it runs: any packets. It ends, or it has
 * a parameter of exactly the announced bytes and later a reason to stop that there is.
 *
 * Input: packets: the kind (an unknown one: bytes without a head), number, length, text. Facts have
 * their bytes in the order of struct run_facts. */
#include <setjmp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/mem.h"
#include "fuzz.h"
#include "wire/executor_side.h"

static jmp_buf end_of_process;
static void *kept[4]; /* what a process that ends needs not give back */
static int nkept;

static void *keep(void *p)
{
    CHECK(nkept < 4);
    return kept[nkept++] = p;
}

static void forget(void *p)
{
    for (int i = 0; i < nkept; i++)
        if (kept[i] == p)
            kept[i] = NULL;
    free(p);
}

#define _exit(status) longjmp(end_of_process, 1)
#define mem_new(size) keep(try_alloc(size))
#define free(p) forget(p)
#include "executor/process/isolate_child.c" /* NOLINT(bugprone-suspicious-include): see above */
#undef _exit
#undef mem_new
#undef free

enum { PACKETS = 128 };

static struct buf sent = BUF_INIT(8 << 20); /* texts of FRAME_PARAMS, in their order */

static unsigned take(const uint8_t **p, size_t *n, int bytes)
{
    unsigned v = 0;
    for (; bytes-- > 0 && *n; (*n)--)
        v = v << 8 | *(*p)++;
    return v;
}

/* As many as the socket holds; the child reads them when all are sent. */
static void send_all(int fd, const uint8_t *p, size_t n)
{
    static struct frame f;
    for (int i = 0; i < PACKETS && n; i++) {
        f.kind = take(&p, &n, 1);
        f.number = (int32_t)take(&p, &n, 1) - 1;
        size_t size = take(&p, &n, 3) % (sizeof(f.text) + 64), have = size < n ? size : n;
        static char text[sizeof(f.text) + 64];
        memset(text, 'x', size);
        memcpy(text, p, have);
        p += have;
        n -= have;
        struct iovec pieces[] = { { &f, f.kind <= FRAME_RESULT ? FRAME_HEAD : 0 }, { text, size } };
        struct msghdr m = { .msg_iov = pieces, .msg_iovlen = countof(pieces) };
        if (sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            return;
        if (f.kind == FRAME_PARAMS)
            buf_add(&sent, text, size);
    }
}

static void hear_all(int fd)
{
    struct child *c = hear_run(fd);
    struct slice params = c->run.params;
    CHECK(params.n <= WIRE_REQUEST_MAX && params.n <= sent.len && params.p[params.n] == '\0');
    CHECK(params.n == 0 || memcmp(params.p, sent.data, params.n) == 0);
    close(c->run.bell);
    c->run.bell = -1;
    listen_for_stop(c);
    int why = atomic_load(&c->run.stop);
    CHECK(why >= PEAL_KILLED && why <= PEAL_TIMED_OUT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    nkept = 0;
    buf_reset(&sent);
    send_all(ends[0], data, size);
    close(ends[0]);
    if (setjmp(end_of_process) == 0)
        hear_all(ends[1]);
    for (int i = 0; i < nkept; i++)
        free(kept[i]);
    close(ends[1]);
    return 0;
}
