/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's side of isolate_internal.h against a fork server and a child that say anything, in
 * any order, or stop speaking. The run ends, with a result that somebody has really given or with
 * code 500; what goes into the log is not more than what came; it kills no group that could be
 * everybody's; no descriptor is left; and no turn of its loop finds something to do and does
 * nothing.
 *
 * The files themselves are built in, with a clock that we set, and with a poll() that plays the
 * next step of the input whenever the worker would sleep: one thread, and every input replays
 * exactly.
 *
 * Input: flags (1: the server is dead from the start), size of the parameter (index of sizes), then
 * steps: the kind, its arguments. A text's length is given, its bytes are what follows, or 'x'. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "fuzz.h"

static int play(struct pollfd *fds, nfds_t n, int wait);
static int64_t now_here(void);
static int kill_here(pid_t pid, int signo);
#define poll(fds, n, wait) play(fds, n, wait)
#define clock_boot_ms() now_here()
#define kill(pid, signo) kill_here(pid, signo)
#include "executor/process/isolate.c"       /* NOLINT(bugprone-suspicious-include): see above */
#include "executor/process/isolate_order.c" /* NOLINT(bugprone-suspicious-include): the same */
#undef poll
#undef clock_boot_ms
#undef kill

enum { IDLE_ITERATIONS = 100, CODES = 64, ORDERS_MOST = 8 };

static const size_t sizes[] = { 0, 1, FRAME_PIECE, FRAME_PIECE + 1, 3 << 20 };

static struct {
    const uint8_t *p;
    size_t n;
    int64_t now;
    int orders; /* the server's end; -1: it is dead */
    int ways[ORDER_FDS];
    struct peal_run *run;
    int idle; /* turns since the last step */
    bool asked;
    int codes[CODES], ncodes;
    size_t sent_text, sent_lines, got_text, got_lines, params_heard;
    struct order heard[ORDERS_MOST];
    int nheard;
} world;

/* --- the input --- */

static unsigned take(int bytes)
{
    unsigned v = 0;
    for (; bytes-- > 0 && world.n; world.n--)
        v = v << 8 | *world.p++;
    return v;
}

static size_t take_text(char *to, size_t most)
{
    size_t n = take(3) % (most + 1), have = n < world.n ? n : world.n;
    memset(to, 'x', n);
    memcpy(to, world.p, have);
    world.p += have;
    world.n -= have;
    return n;
}

/* --- the server and the child --- */

static void hear_orders(void)
{
    struct order o;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int[ORDER_FDS]))];
    for (;;) {
        struct iovec piece = { &o, sizeof(o) };
        struct msghdr m = { .msg_iov = &piece,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof(control) };
        ssize_t n = world.orders < 0 ? -1 : recvmsg(world.orders, &m, MSG_DONTWAIT);
        if (n < 0)
            return;
        CHECK(n == (ssize_t)sizeof(o) && world.nheard < ORDERS_MOST);
        world.heard[world.nheard++] = o;
        if (o.kind != ORDER_START)
            continue;
        CHECK(CMSG_FIRSTHDR(&m) && CMSG_FIRSTHDR(&m)->cmsg_len == CMSG_LEN(sizeof(world.ways)));
        memcpy(world.ways, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(world.ways));
        fcntl(world.ways[ORDER_OUTPUT], F_SETFL, O_NONBLOCK);
    }
}

static void drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void send_frame(void)
{
    static struct frame f;
    f.kind = take(1);
    f.number = (int32_t)take(2);
    if (f.number & 0x8000)
        f.number -= 0x10000;
    f.split = take(2);
    size_t n = take_text(f.text, sizeof(f.text));
    if (send(world.ways[ORDER_FRAMES], &f, FRAME_HEAD + n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return;
    world.sent_text += n;
    world.sent_lines += f.kind == FRAME_LINE;
    if (f.kind == FRAME_RESULT && world.ncodes < CODES)
        world.codes[world.ncodes++] = f.number;
}

static void send_bytes(int fd, bool packet)
{
    static char bytes[70000];
    size_t n = take_text(bytes, sizeof(bytes));
    ssize_t done = packet ? send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) : write(fd, bytes, n);
    if (done > 0)
        world.sent_text += (size_t)done;
    if (packet)
        world.sent_lines++; /* it may look like one, and like a result */
    if (packet && n >= FRAME_HEAD && world.ncodes < CODES) {
        struct frame f;
        memcpy(&f, bytes, FRAME_HEAD);
        world.codes[world.ncodes++] = f.number;
    }
}

static void send_bad_note(void)
{
    char bytes[16];
    size_t n = take_text(bytes, sizeof(bytes));
    ssize_t done = write(world.ways[ORDER_NOTES], bytes, n);
    (void)done;
}

static void send_a_note(uint32_t kind, int32_t value)
{
    struct note note = { .kind = kind, .value = value };
    ssize_t n = write(world.ways[ORDER_NOTES], &note, sizeof(note));
    (void)n;
}

/* Facts, the parameter in order and once, then perhaps the request to stop. */
static void hear_frames(void)
{
    static struct frame f;
    struct slice params = world.run->params;
    for (ssize_t n; (n = recv(world.ways[ORDER_FRAMES], &f, sizeof(f), MSG_DONTWAIT)) > 0;) {
        CHECK(n >= (ssize_t)FRAME_HEAD);
        size_t text = (size_t)n - FRAME_HEAD;
        if (f.kind == FRAME_PARAMS) {
            CHECK(text <= params.n - world.params_heard);
            CHECK(memcmp(f.text, params.p + world.params_heard, text) == 0);
            world.params_heard += text;
        } else if (f.kind == FRAME_STOP) {
            CHECK(world.asked && world.params_heard == params.n);
        } else {
            CHECK(f.kind == FRAME_FACTS && world.params_heard == 0);
        }
    }
}

static void ask_to_stop(void)
{
    uint64_t one = 1;
    int why = (int)take(1) % PEAL_TIMED_OUT + PEAL_KILLED, none = PEAL_GOES_ON;
    if (atomic_compare_exchange_strong(&world.run->stop, &none, why))
        world.asked = true;
    ssize_t n = write(world.run->bell, &one, sizeof(one));
    (void)n;
}

static void ring_for_another(void)
{
    uint64_t one = 1;
    ssize_t n = write(world.run->bell, &one, sizeof(one));
    (void)n;
}

/* A step on a way that is closed does nothing. */
static void step(void)
{
    switch (take(1) % 13) {
    case 0:
        send_frame();
        break;
    case 1:
        send_bytes(world.ways[ORDER_FRAMES], true);
        break;
    case 2:
        send_bytes(world.ways[ORDER_OUTPUT], false);
        break;
    case 3:
        send_a_note(NOTE_BORN, (int32_t)take(4));
        break;
    case 4:
        send_a_note(take(1), (int32_t)take(4));
        break;
    case 5:
        send_bad_note();
        break;
    case 6:
        drop(&world.ways[take(1) % ORDER_FDS]);
        break;
    case 7:
        shutdown(world.ways[ORDER_FRAMES], SHUT_RD);
        break;
    case 8:
        shutdown(world.ways[ORDER_FRAMES], SHUT_WR);
        break;
    case 9:
        world.now += take(2);
        break;
    case 10:
        ask_to_stop();
        break;
    case 11:
        hear_frames();
        break;
    default:
        ring_for_another();
    }
}

/* --- the system calls --- */

static int64_t now_here(void)
{
    return world.now;
}

static int kill_here(pid_t pid, int signo)
{
    CHECK(pid < -1 && signo == SIGKILL);
    return 0;
}

/* Whoever is called with something to do, or when its time has come, must get somewhere. */
static int play(struct pollfd *fds, nfds_t n, int wait)
{
    int ready = poll(fds, n, 0);
    hear_orders();
    CHECK(world.idle++ < IDLE_ITERATIONS);
    if (ready || wait == 0)
        return ready;
    world.idle = 0;
    if (world.n)
        step();
    else if (world.ways[ORDER_NOTES] >= 0)
        send_a_note(NOTE_ENDED, 0);
    return poll(fds, n, 0);
}

/* --- the log --- */

static void take_a_line(struct peal_run *r, const char *function, int line, struct slice text)
{
    (void)r, (void)line;
    CHECK(strlen(function) <= FUNCTION_MAX && text.n <= FRAME_TEXT);
    world.got_lines++;
    world.got_text += text.n;
}

static void take_bytes(struct peal_run *r, const char *p, size_t n)
{
    (void)r;
    CHECK(p || !n);
    world.got_text += n;
}

static void be_silent(void *arg, enum log_level level, const char *module, const char *text)
{
    (void)arg, (void)level, (void)module, (void)text;
}

/* --- the check --- */

static void check_orders(void)
{
    unsigned seen = 0;
    for (int i = 0; i < world.nheard; i++) {
        CHECK(world.heard[i].number == 0 && (world.heard[i].kind == ORDER_START) == (i == 0));
        CHECK(world.heard[i].kind <= ORDER_KILL && !(seen >> world.heard[i].kind));
        seen |= 1u << world.heard[i].kind;
    }
}

static void check_result(const struct peal_run *r)
{
    bool said = r->code == WIRE_CODE_FAIL;
    for (int i = 0; i < world.ncodes; i++)
        said |= r->code == world.codes[i] && r->code > 0;
    CHECK(r->has_result && said && r->percent >= -1 && r->percent <= 100);
    CHECK(memchr(r->progress, '\0', sizeof(r->progress)));
    CHECK(world.got_text <= world.sent_text && world.got_lines <= world.sent_lines);
}

static void run_one(struct isolate *i, size_t params)
{
    static char text[3 << 20];
    static const struct run_io io = { take_a_line, take_bytes, NULL };
    struct peal_run r = { .io = &io,
                          .params = slice_of(text, params),
                          .percent = -1,
                          .code = WIRE_CODE_OK,
                          .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    for (size_t k = 0; !text[0] && k < sizeof(text); k++)
        text[k] = (char)('a' + k % 23);
    pthread_mutex_init(&r.lock, NULL);
    buf_init(&r.msg, (size_t)WIRE_HANDLE_MSG_UNITS * 3 + 16);
    world.run = &r;
    isolate_run(i, &r, 0);
    hear_orders(); /* those after its last sleep */
    check_orders();
    check_result(&r);
    pthread_mutex_destroy(&r.lock);
    buf_done(&r.msg);
    close(r.bell);
}

static int lowest_free(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct log_sink sink = { be_silent, NULL, PTHREAD_MUTEX_INITIALIZER };
    if (size < 2)
        return 0;
    log_to(&sink);
    signal(SIGPIPE, SIG_IGN); /* ours: the server's writes go to an executor that closed */
    int before = lowest_free(), ends[2];
    memset(&world, 0, sizeof(world));
    world.p = data + 2;
    world.n = size - 2;
    world.now = 1000;
    memset(world.ways, -1, sizeof(world.ways));
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    world.orders = ends[1];
    if (data[0] & 1)
        drop(&world.orders);
    struct isolate i = { .orders = ends[0], .grace_ms = 400 };
    run_one(&i, sizes[data[1] % countof(sizes)]);
    for (int k = 0; k < ORDER_FDS; k++)
        drop(&world.ways[k]);
    drop(&world.orders);
    close(ends[0]);
    CHECK(lowest_free() == before);
    return 0;
}
