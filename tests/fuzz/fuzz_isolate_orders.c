/* SPDX-License-Identifier: Apache-2.0 */
/* The fork server on orders of any kind, size and order, with any number of descriptors, and on
 * children that die, linger or cannot be made. Each run that got its three descriptors hears how it
 * ended, once; no signal goes to a group whose number could be another's by then, nor to one that
 * is everybody; the server ends with its orders, and no descriptor is left.
 *
 * The file itself is built in, with a kernel of ours below it: processes are entries of a table,
 * and poll() plays the next step of the input. Nothing is ever forked.
 *
 * Input: steps: the kind, its arguments. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "executor/process/limits.h"
#include "executor/process/spawn.h"
#include "fuzz.h"

static int play(struct pollfd *fds, nfds_t n, int wait);
static int64_t now_here(void);
static int kill_here(pid_t pid, int signo);
static pid_t fork_here(void);
static int spawn_here(const struct spawn *s, int output, void (*born)(void *, pid_t), void *arg,
                      pid_t *ret, enum spawn_stage *stage);
static int waitid_here(siginfo_t *info);
static pid_t waitpid_here(pid_t pid, int *status);
#define poll(fds, n, wait) play(fds, n, wait)
#define clock_boot_ms() now_here()
#define kill(pid, signo) kill_here(pid, signo)
#define fork() fork_here()
#define spawn(s, output, born, arg, ret, stage) spawn_here(s, output, born, arg, ret, stage)
#define waitid(type, id, info, options) waitid_here(info)
#define waitpid(pid, status, options) waitpid_here(pid, status)
#define setpgid(pid, group) ((void)0)
#include "executor/process/isolate_server.c" /* NOLINT(bugprone-suspicious-include): see above */
#undef poll
#undef clock_boot_ms
#undef kill
#undef fork
#undef spawn
#undef waitid
#undef waitpid
#undef setpgid

enum { KIDS = 64, HANDLERS = 3, IDLE_ITERATIONS = 2 * KIDS + 10, FIRST_PID = 1000, FDS_MOST = 8 };

struct process {
    bool dead, reaped;
    bool stranger; /* left behind by a child, adopted by the server */
    bool stubborn; /* its group has somebody whom only time takes away */
    int status;
};

static struct {
    const uint8_t *p;
    size_t n;
    int64_t now;
    int orders; /* the executor's end */
    struct process table[KIDS];
    int processes, fork_errno;
    int notes[KIDS], nnotes; /* the executor's ends, of orders that were whole */
    int expected[KIDS];      /* errno of those that cannot begin; 0: any */
    struct server server;
    int idle;
} world;

static unsigned take(int bytes)
{
    unsigned v = 0;
    for (; bytes-- > 0 && world.n; world.n--)
        v = v << 8 | *world.p++;
    return v;
}

/* --- the kernel --- */

static int64_t now_here(void)
{
    return world.now;
}

static pid_t fork_here(void)
{
    int failed = world.fork_errno ? world.fork_errno : world.processes == KIDS ? EAGAIN : 0;
    world.fork_errno = 0;
    errno = failed;
    return failed ? -1 : FIRST_PID + world.processes++;
}

static int spawn_here(const struct spawn *s, int output, void (*born)(void *, pid_t), void *arg,
                      pid_t *ret, enum spawn_stage *stage)
{
    (void)born, (void)arg;
    CHECK(s->path && s->argv[0] && s->limits && output >= 0);
    *stage = SPAWN_PROCESS;
    *ret = fork_here();
    return *ret < 0 ? errno : 0;
}

static struct process *find(pid_t pid)
{
    return pid >= FIRST_PID && pid < FIRST_PID + world.processes ? &world.table[pid - FIRST_PID]
                                                                 : NULL;
}

static int kill_here(pid_t pid, int signo)
{
    CHECK(pid < -1);
    struct process *p = find(-pid);
    if (signo == 0)
        return p && p->stubborn ? 0 : -1;
    CHECK(p && !p->reaped && !p->stranger);
    if (p && !p->dead && signo == SIGKILL) {
        p->dead = true;
        p->status = SIGKILL;
    }
    return 0;
}

static int waitid_here(siginfo_t *info)
{
    for (int i = 0; i < world.processes; i++)
        if (world.table[i].dead && !world.table[i].reaped) {
            info->si_pid = FIRST_PID + i;
            return 0;
        }
    return 0;
}

static pid_t waitpid_here(pid_t pid, int *status)
{
    struct process *p = find(pid);
    CHECK(p && p->dead && !p->reaped && (status != NULL) == !p->stranger);
    p->reaped = true;
    if (status)
        *status = p->status;
    return pid;
}

/* --- the executor --- */

static void send_something(const void *bytes, size_t size, const int *fds, size_t nfds)
{
    struct iovec piece = { (void *)bytes, size };
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int[FDS_MOST]))] = { 0 };
    struct msghdr m = { .msg_iov = &piece, .msg_iovlen = 1 };
    if (nfds) {
        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
    }
    CHECK(sendmsg(world.orders, &m, MSG_NOSIGNAL) == (ssize_t)size);
}

/* A whole program, one that is cut, or no program at all; the errno of the last two. */
static int program(int *ret)
{
    static char path[] = "/bin/true", *argv[] = { path, NULL };
    const struct limits limits = { .home = NULL };
    const struct spawn s = { path, argv, argv, &limits };
    unsigned how = take(1) % 4;
    *ret = spawn_pack(&s);
    CHECK(*ret >= 0);
    if (how > 1)
        return 0;
    CHECK(ftruncate(*ret, how ? take(1) % 60 : 0) == 0);
    return EINVAL;
}

/* The first ORDER_FDS are what START and SPAWN need; the notes are kept if somebody must be told.
 */
static void send_order(size_t cut)
{
    struct order o[2] = { { .kind = take(1), .index = take(1), .number = take(1) }, { 0 } };
    if (take(1) % 4 == 0)
        o[0].number = (uint64_t)(int64_t)(int32_t)take(4); /* groups that would be dangerous */
    size_t nfds = take(1) % (FDS_MOST + 1);
    int fds[FDS_MOST], notes[2], spec;
    bool starts = o[0].kind == ORDER_START, spawns = o[0].kind == ORDER_SPAWN;
    bool told = (starts || spawns) && nfds > ORDER_NOTES && cut == sizeof(*o);
    if (world.nnotes == KIDS || pipe2(notes, O_CLOEXEC) < 0)
        return;
    int broken = program(&spec);
    for (size_t i = 0; i < nfds; i++)
        fds[i] = i == ORDER_NOTES ? notes[1] : i == ORDER_PROGRAM ? spec : STDERR_FILENO;
    send_something(o, cut, fds, nfds);
    close(notes[1]);
    close(spec);
    if (told) {
        world.expected[world.nnotes] = nfds != ORDER_FDS                  ? EMFILE
                                       : spawns                           ? broken
                                       : starts && o[0].index >= HANDLERS ? EINVAL
                                                                          : 0;
        world.notes[world.nnotes++] = notes[0];
    } else {
        close(notes[0]);
    }
}

static void play_step(void)
{
    int which = 0;
    switch (take(1) % 7) {
    case 0:
        send_order(sizeof(struct order));
        break;
    case 1:
        send_order(1 + take(1) % (2 * sizeof(struct order)));
        break;
    case 2:
        world.fork_errno = take(1) % 2 ? EAGAIN : ENOMEM;
        break;
    case 3: /* somebody dies */
        which = (int)take(1) % KIDS;
        if (which < world.processes && !world.table[which].dead) {
            world.table[which].stubborn = take(1) % 2;
            world.table[which].status = (int)take(2);
            world.table[which].dead = true;
        }
        break;
    case 4: /* an orphan comes */
        if (world.processes < KIDS)
            world.table[world.processes++].stranger = true;
        break;
    case 5: /* and the last of a group goes */
        world.table[take(1) % KIDS].stubborn = false;
        break;
    default:
        world.now += take(2);
    }
}

static bool somebody_died(void)
{
    siginfo_t info = { .si_pid = 0 };
    waitid_here(&info);
    return info.si_pid != 0;
}

/* fds: orders, children, parent; or, at the server's end, children. */
static int play(struct pollfd *fds, nfds_t n, int wait)
{
    CHECK(world.idle++ < IDLE_ITERATIONS);
    struct pollfd *children = n == 1 ? fds : fds + 1;
    int ready = n == 1 ? 0 : poll(fds, 1, 0);
    if (!ready && !somebody_died() && wait != 0) {
        world.idle = n == 1 ? world.idle : 0;
        if (n == 1)
            world.now += wait > 0 ? wait : 0;
        else if (world.n)
            play_step();
        else if (world.orders >= 0)
            close(world.orders), world.orders = -1;
        ready = n == 1 ? 0 : poll(fds, 1, 0);
    }
    children->revents = somebody_died() ? POLLIN : 0;
    if (n > 1)
        fds[2].revents = 0;
    return ready + (children->revents != 0);
}

/* --- the check --- */

static bool is_status(int status)
{
    for (int i = 0; i < world.processes; i++)
        if (world.table[i].reaped && !world.table[i].stranger && world.table[i].status == status)
            return true;
    return false;
}

/* FAILED, or ENDED (a child would have said BORN itself); then the end of the pipe. */
static void check_notes(int fd, int expected)
{
    struct note note;
    CHECK(read(fd, &note, sizeof(note)) == (ssize_t)sizeof(note));
    if (note.kind == NOTE_FAILED)
        CHECK(expected ? note.value == expected : note.value == EAGAIN || note.value == ENOMEM);
    else
        CHECK(note.kind == NOTE_ENDED && !expected && is_status(note.value));
    CHECK(read(fd, &note, sizeof(note)) == 0);
    close(fd);
}

static void let_go(struct server *s)
{
    CHECK(list_empty(&s->kids));
}

static int lowest_free(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct peal_handler *none[HANDLERS];
    int before = lowest_free(), ends[2];
    memset(&world, 0, sizeof(world));
    world.p = data;
    world.n = size;
    world.now = 1000;
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    world.orders = ends[0];
    world.server = (struct server){
        .orders = ends[1], .children = -1, .parent = -1, .handlers = none, .n = HANDLERS
    };
    list_init(&world.server.kids);
    serve(&world.server);
    CHECK(world.orders < 0);
    for (int i = 0; i < world.nnotes; i++)
        check_notes(world.notes[i], world.expected[i]);
    let_go(&world.server);
    close(ends[1]);
    CHECK(lowest_free() == before);
    return 0;
}
