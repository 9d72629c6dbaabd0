/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's side of the fork server: how it is made, the orders to it, its notes about each
 * process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "executor/process/isolate.h"
#include "executor/process/isolate_internal.h"

/* --- the server --- */

static enum err cannot(struct why *why)
{
    why_set(why, "the process for isolated handlers, scripts and commands cannot be made: %s",
            strerror(errno));
    return errno == ENOMEM ? ERR_NOMEM : ERR_IO;
}

/* In a host without standard input, output or error a new descriptor may have their number, which
 * is another thing's in the server. */
static int beyond_stdio(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int to = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int saved = errno;
    close(fd);
    errno = saved;
    return to;
}

static bool open_orders(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    ends[1] = beyond_stdio(ends[1]);
    if (ends[1] < 0)
        close(ends[0]);
    return ends[1] >= 0;
}

enum err isolate_new(const struct peal_handler *const *handlers, size_t n, int grace_ms,
                     struct isolate **ret, struct why *why)
{
    int ends[2];
    struct isolate *i = try_alloc(sizeof(*i));
    if (!i)
        return ERR_NOMEM;
    if (!open_orders(ends)) {
        free(i);
        return cannot(why);
    }
    /* orders end with the executor, unless the host has forked and so holds them open: its pidfd
     * tells in that case too. Without one (-1) poll skips it. */
    int parent = beyond_stdio(pidfd_open(getpid(), 0));
    i->pid = fork();
    if (i->pid == 0) {
        close(ends[0]);
        isolate_watch(ends[1], parent, handlers, n);
    }
    enum err err = i->pid < 0 ? cannot(why) : OK;
    close(ends[1]);
    if (parent >= 0)
        close(parent);
    if (err) {
        close(ends[0]);
        free(i);
        return err;
    }
    i->orders = ends[0];
    i->grace_ms = grace_ms;
    *ret = i;
    return OK;
}

void isolate_free(struct isolate *i)
{
    if (!i)
        return;
    close(i->orders);
    while (waitpid(i->pid, NULL, 0) < 0 && errno == EINTR) /* the host may have been faster */
        ;
    free(i);
}

/* --- orders --- */

bool isolate_send(const struct isolate *i, enum order_kind kind, uint64_t number, size_t index,
                  const int *fds)
{
    struct order o = { .kind = kind, .index = (uint32_t)index, .number = number };
    struct iovec piece = { &o, sizeof(o) };
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int[ORDER_FDS]))] = { 0 };
    struct msghdr m = { .msg_iov = &piece, .msg_iovlen = 1 };
    if (fds) {
        m.msg_control = control;
        m.msg_controllen = sizeof(control);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int[ORDER_FDS]));
        memcpy(CMSG_DATA(c), fds, sizeof(int[ORDER_FDS]));
    }
    ssize_t n;
    do
        n = sendmsg(i->orders, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n >= 0;
}

void isolate_signal(const struct isolate_process *p, int signo)
{
    if (!p->over)
        isolate_send(p->isolate, signo == SIGTERM ? ORDER_TERM : ORDER_KILL, p->number, 0, NULL);
}

/* The descriptors of an order for a program; ours in *notes. False with errno. */
static bool open_order(const struct spawn *s, int output, int *fds, int *notes)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    *notes = ends[0];
    fds[ORDER_NOTES] = ends[1];
    fds[ORDER_PROGRAM] = spawn_pack(s);
    fds[ORDER_OUTPUT] = fds[ORDER_PROGRAM] < 0 ? -1
                        : output < 0           ? open("/dev/null", O_WRONLY | O_CLOEXEC)
                                               : fcntl(output, F_DUPFD_CLOEXEC, 0);
    if (fds[ORDER_OUTPUT] >= 0)
        return true;
    int saved = errno;
    close(ends[0]);
    close(ends[1]);
    if (fds[ORDER_PROGRAM] >= 0)
        close(fds[ORDER_PROGRAM]);
    errno = saved;
    return false;
}

bool isolate_spawn(struct isolate *i, const struct spawn *s, int output, struct isolate_process *p,
                   struct why *why)
{
    int fds[ORDER_FDS];
    *p = (struct isolate_process){ .isolate = i, .notes = -1 };
    if (!open_order(s, output, fds, &p->notes)) {
        why_set(why, "%.300s: %s", errno == E2BIG ? s->path : "its descriptors", strerror(errno));
        return false;
    }
    p->number = atomic_fetch_add(&i->number, 1);
    if (!isolate_send(i, ORDER_SPAWN, p->number, 0, fds)) {
        isolate_forget(p);
        p->over = true;
    }
    for (size_t n = 0; n < ORDER_FDS; n++)
        close(fds[n]);
    return true;
}

/* --- what it says --- */

/* The group of number 1 would be every process there is. */
static bool is_note(const struct note *note)
{
    return note->kind == NOTE_BORN ? note->value > 1 : note->kind <= NOTE_FAILED;
}

static void take_note(struct isolate_process *p, const struct note *note)
{
    if (note->kind == NOTE_BORN) {
        p->pid = note->value;
        return;
    }
    p->over = true;
    p->lost = note->kind == NOTE_LOST;
    if (note->kind == NOTE_FAILED) {
        p->failed = note->value ? note->value : EPERM;
        p->stage = note->stage < SPAWN_STAGES ? (enum spawn_stage)note->stage : SPAWN_PROCESS;
    } else {
        p->status = note->value;
    }
}

void isolate_hear(struct isolate_process *p)
{
    struct note note;
    ssize_t n = read(p->notes, &note, sizeof(note));
    if (n < 0 && errno == EINTR)
        return;
    if (n == (ssize_t)sizeof(note) && is_note(&note)) {
        take_note(p, &note);
        return;
    }
    /* the server died or lost its mind; its children by that too, but not theirs */
    if (p->pid > 0)
        kill(-p->pid, SIGKILL);
    isolate_forget(p);
    p->over = true;
}

void isolate_forget(struct isolate_process *p)
{
    if (p->notes >= 0)
        close(p->notes);
    p->notes = -1;
}

/* Watch and server leave this socket when they end. */
static bool server_lives(const struct isolate *i)
{
    struct pollfd p = { .fd = i->orders, .events = POLLOUT };
    return poll(&p, 1, 0) == 0 || !(p.revents & (POLLHUP | POLLERR));
}

const char *isolate_lost_text(const struct isolate_process *p)
{
    if (!server_lives(p->isolate)) {
        log_error("executor", "the process that starts isolated handlers, scripts and commands has "
                              "died: they fail until the executor is started again");
        return "the process that starts isolated handlers, scripts and commands has died";
    }
    if (p->pid > 0)
        return "the process that started it has died, and took it along";
    return "no process for it: the one that starts them has died, or could not take the order (Too "
           "many open files)";
}
