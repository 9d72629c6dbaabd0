/* SPDX-License-Identifier: Apache-2.0 */
/* The fork server: one thread, no descriptors but its own, children by order. It is the parent of
 * the processes of handlers, scripts and commands and adopts what they leave behind (it is their
 * subreaper), so the number of a group is never signalled after it could have become another's, and
 * "ended" means that the whole group has. It ends when no process can give it orders any more.
 *
 * A script may kill its parent, and the kernel may, without memory: so the server is a child of a
 * watch, which does nothing but fork another server then. Orders that came meanwhile wait in the
 * socket. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/list.h"
#include "base/mem.h"
#include "executor/process/isolate_internal.h"
#include "executor/process/spawn.h"

enum {
    WATCH_PAUSE_NS = 50000000,
    DRAIN_MS = 2000, /* for a group that was killed to be gone: its parent may be another process */
    /* descriptors that the room for ORDER_FDS can hold: it is rounded up */
    ORDER_MOST = (CMSG_SPACE(sizeof(int[ORDER_FDS])) - CMSG_LEN(0)) / sizeof(int),
};

struct kid {
    struct list_node node;
    uint64_t number;
    pid_t pid; /* also of its group */
    int notes;
    int status;
    bool lost;              /* the status is not known */
    int64_t drain_until_ms; /* boot; 0: it lives */
};

struct server {
    int orders, children, parent; /* orders; signalfd; pidfd of the executor, or -1 */
    const struct peal_handler *const *handlers;
    size_t n;
    struct list kids;
};

static void close_all(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        close(fds[i]);
}

static void send_note(int fd, enum note_kind kind, int value, uint32_t stage)
{
    struct note note = { kind, value, stage };
    ssize_t n = write(fd, &note, sizeof(note)); /* two of them fit into any pipe */
    (void)n;
}

/* --- children --- */

/* In the new child. A server that died before the request for its signal sends none. */
_Noreturn static void become_child(const struct server *s, uint32_t index, const int *fds,
                                   pid_t server)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server)
        _exit(EXIT_FAILURE);
    /* before the handler can do anything, and so that the executor knows whom to end even if that
     * is to kill the server */
    send_note(fds[ORDER_NOTES], NOTE_BORN, getpid(), 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    isolate_child(s->handlers[index], fds[ORDER_FRAMES], fds[ORDER_OUTPUT]);
}

/* Its number, or -1 with the errno of what failed. */
static pid_t start_handler(struct server *s, const struct order *o, const int *fds, int *failed)
{
    pid_t server = getpid();
    if (o->index >= s->n) {
        *failed = EINVAL;
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        become_child(s, o->index, fds, server);
    *failed = errno;
    if (pid > 0)
        setpgid(pid, pid); /* parent or child, the first of the two counts */
    return pid;
}

/* In the child, which shares our memory: a system call and no more. */
static void say_born(void *arg, pid_t pid)
{
    const int *fds = arg;
    send_note(fds[ORDER_NOTES], NOTE_BORN, pid, 0);
}

static pid_t start_program(int *fds, int *failed, enum spawn_stage *stage)
{
    pid_t pid = -1;
    struct spawn *program = spawn_unpack(fds[ORDER_PROGRAM]);
    *failed = program ? spawn(program, fds[ORDER_OUTPUT], say_born, fds, &pid, stage) : errno;
    free(program);
    return *failed ? -1 : pid;
}

/* Takes the descriptors. */
static void start(struct server *s, const struct order *o, int *fds)
{
    enum spawn_stage stage = SPAWN_PROCESS;
    int failed = ENOMEM;
    pid_t pid = -1;
    struct kid *k = try_alloc(sizeof(*k));
    if (k)
        pid = o->kind == ORDER_START ? start_handler(s, o, fds, &failed)
                                     : start_program(fds, &failed, &stage);
    close(fds[ORDER_FRAMES]);
    close(fds[ORDER_OUTPUT]);
    if (pid < 0) {
        send_note(fds[ORDER_NOTES], NOTE_FAILED, failed, stage);
        close(fds[ORDER_NOTES]);
        free(k);
        return;
    }
    *k = (struct kid){ .number = o->number, .pid = pid, .notes = fds[ORDER_NOTES] };
    list_push(&s->kids, &k->node);
}

static struct kid *kid_by_pid(struct server *s, pid_t pid)
{
    list_each(&s->kids, n, tmp)
    {
        struct kid *k = container_of(n, struct kid, node);
        if (k->pid == pid && !k->drain_until_ms)
            return k;
    }
    return NULL;
}

static void signal_kid(struct server *s, uint64_t number, int signo)
{
    list_each(&s->kids, n, tmp)
    {
        const struct kid *k = container_of(n, struct kid, node);
        if (k->number == number && !k->drain_until_ms)
            kill(-k->pid, signo);
    }
}

/* A leader that is dead but not waited for still holds the group's number: kill, then wait. */
static void reap(struct server *s)
{
    for (;;) {
        siginfo_t info = { .si_pid = 0 };
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
            return;
        struct kid *k = kid_by_pid(s, info.si_pid);
        if (k) {
            kill(-k->pid, SIGKILL);
            k->drain_until_ms = clock_boot_ms() + DRAIN_MS;
        }
        pid_t pid = waitpid(info.si_pid, k ? &k->status : NULL, 0);
        if (k)
            k->lost = pid != info.si_pid;
    }
}

/* Note the end of those whose group is empty. The ms to wait for others, or -1. */
static int bury(struct server *s)
{
    int64_t now = clock_boot_ms(), wait = -1;
    list_each(&s->kids, n, tmp)
    {
        struct kid *k = container_of(n, struct kid, node);
        if (!k->drain_until_ms)
            continue;
        int64_t left = k->drain_until_ms - now;
        if (left > 0 && kill(-k->pid, 0) == 0) {
            wait = wait < 0 || left < wait ? left : wait;
            continue;
        }
        send_note(k->notes, k->lost ? NOTE_LOST : NOTE_ENDED, k->status, 0);
        close(k->notes);
        list_remove(&k->node);
        free(k);
    }
    return (int)wait;
}

/* --- orders --- */

/* Takes the descriptors; only START and SPAWN have some. */
static void obey(struct server *s, const struct order *o, int *fds, size_t n)
{
    bool starts = o->kind == ORDER_START || o->kind == ORDER_SPAWN;
    if (starts && n == ORDER_FDS) {
        start(s, o, fds);
        return;
    }
    if (starts && n > ORDER_NOTES) /* what there was no room for is dropped */
        send_note(fds[ORDER_NOTES], NOTE_FAILED, EMFILE, SPAWN_FILES);
    close_all(fds, n);
    if (o->kind == ORDER_TERM)
        signal_kid(s, o->number, SIGTERM);
    else if (o->kind == ORDER_KILL)
        signal_kid(s, o->number, SIGKILL);
}

/* The descriptors that came with a message, ORDER_MOST at most. */
static size_t take_fds(struct msghdr *m, int *fds)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(m); /* of this kind there is never a second one */
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return 0;
    size_t bytes = c->cmsg_len - CMSG_LEN(0);
    memcpy(fds, CMSG_DATA(c), bytes);
    return bytes / sizeof(*fds);
}

/* False: there will be no more. A broken order is passed over. */
static bool take_order(struct server *s)
{
    struct order o;
    int fds[ORDER_MOST];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int[ORDER_FDS]))];
    struct iovec piece = { &o, sizeof(o) };
    struct msghdr m = { .msg_iov = &piece,
                        .msg_iovlen = 1,
                        .msg_control = control,
                        .msg_controllen = sizeof(control) };
    ssize_t n = recvmsg(s->orders, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    size_t nfds = take_fds(&m, fds);
    if (n == (ssize_t)sizeof(o))
        obey(s, &o, fds, nfds);
    else
        close_all(fds, nfds);
    return true;
}

/* --- the server --- */

/* What the host does about signals is nothing for its handlers' processes; a SIGPIPE that it
 * ignores stays ignored, because code is written to rely on it. */
static void own_signals(void)
{
    sigset_t all;
    struct sigaction before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &before) == 0 && !(i == SIGPIPE && before.sa_handler == SIG_IGN))
            signal(i, SIG_DFL);
}

/* Its own session: what a terminal sends to the host's group does not come here. Text that the host
 * has not written yet must not be written again by a child. */
static void own_everything(const char *name, const int *keep, size_t nkeep)
{
    own_signals();
    setsid();
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    __fpurge(stdout);
    __fpurge(stderr);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        if (fcntl(STDERR_FILENO, F_GETFD) < 0) /* else a descriptor of ours would be taken for it */
            dup2(nothing, STDERR_FILENO);
    }
    close_all_but(keep, nkeep);
}

static int watch_children(void)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void empty_signals(int fd)
{
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        ;
}

static void end_all(struct server *s)
{
    list_each(&s->kids, n, tmp)
    {
        const struct kid *k = container_of(n, struct kid, node);
        if (!k->drain_until_ms) /* else it was killed, and the number may be another's now */
            kill(-k->pid, SIGKILL);
    }
    for (;;) {
        struct pollfd p = { .fd = s->children, .events = POLLIN };
        reap(s);
        int wait = bury(s);
        if (list_empty(&s->kids))
            return;
        if (poll(&p, 1, wait) > 0)
            empty_signals(s->children);
    }
}

/* Until there are no orders any more. */
static void serve(struct server *s)
{
    for (bool go = true; go;) {
        struct pollfd fds[] = {
            { .fd = s->orders, .events = POLLIN },
            { .fd = s->children, .events = POLLIN },
            { .fd = s->parent, .events = POLLIN },
        };
        poll(fds, countof(fds), bury(s));
        if (fds[1].revents)
            empty_signals(s->children);
        reap(s);
        go = !fds[2].revents && (!fds[0].revents || take_order(s));
    }
    end_all(s);
}

void isolate_serve(int orders, int parent, const struct peal_handler *const *handlers, size_t n)
{
    struct server s = { .orders = orders, .parent = parent, .handlers = handlers, .n = n };
    list_init(&s.kids);
    prctl(PR_SET_NAME, "peal-fork");
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* fork does not hand it down */
    s.children = watch_children();
    if (s.children < 0)
        _exit(EXIT_FAILURE);
    serve(&s);
    _exit(EXIT_SUCCESS);
}

/* --- the watch --- */

/* Until the server has ended; what a dead one has left behind comes here meanwhile. */
static bool ended_well(pid_t server)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid == server)
            return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
        if (pid < 0 && errno != EINTR)
            return false;
    }
}

/* Can there still be orders? */
static bool wanted(int orders, int parent)
{
    struct pollfd fds[] = { { .fd = orders }, { .fd = parent, .events = POLLIN } };
    return poll(fds, countof(fds), 0) <= 0;
}

void isolate_watch(int orders, int parent, const struct peal_handler *const *handlers, size_t n)
{
    const int keep[] = { orders, parent };
    const struct timespec pause = { .tv_nsec = WATCH_PAUSE_NS };
    own_everything("peal-fork-watch", keep, countof(keep));
    for (;;) {
        pid_t server = fork();
        if (server == 0)
            isolate_serve(orders, parent, handlers, n);
        if (server > 0 && ended_well(server))
            break;
        nanosleep(&pause, NULL); /* no server can take all of a machine by dying */
        if (server < 0 && !wanted(orders, parent))
            break;
    }
    _exit(EXIT_SUCCESS);
}
