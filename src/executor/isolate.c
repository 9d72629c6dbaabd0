/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's side of isolate_parts.h: a worker that waits for its child, passes on what it says
 * and sees to it that it ends. Whatever comes from a child is looked at as if a stranger sent it.
 */
#include "executor/isolate.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "executor/isolate_parts.h"
#include "executor/run.h"
#include "wire/texts.h"

enum {
    TURN_PIECES =
        64, /* of output in a row: who never stops writing must not keep us from the rest */
    LAST_PIECES = 512, /* after the end: more than pipe and socket can hold */
    NO_MEM_MS = 10,
};

struct isolate {
    pid_t pid;
    int orders, grace_ms;
    _Atomic uint64_t number; /* of the youngest run */
};

/*  RUNNING --the run shall end--> ASKED --half the grace--> TERMED --the whole--> KILLED
 *     +-------------------------garbage from the child-------------------------------^  */
enum ending { RUNNING, ASKED, TERMED, KILLED };

struct visit { /* one run in a child */
    struct isolate *isolate;
    struct peal_run *run;
    uint64_t number;
    int frames, output, notes; /* -1: closed */
    size_t params_sent;
    bool facts_sent, stop_sent;
    bool deaf;   /* it reads no more, but may still speak */
    bool no_mem; /* the kernel's: what could not be sent is tried again in a moment */
    enum ending ending;
    int64_t stop_ms; /* boot: when it was asked */
    pid_t pid;       /* 0: not known yet */
    bool over, failed, garbage, has_result;
    int status, code;
    struct buf msg;
    struct frame frame;
};

/* --- the server --- */

static enum err cannot(struct why *why, int ends[2], int parent)
{
    why_set(why, "the process for isolated handlers cannot be made: %s", strerror(errno));
    enum err err = errno == ENOMEM ? ERR_NOMEM : ERR_IO;
    if (ends) {
        close(ends[0]);
        close(ends[1]);
    }
    if (parent >= 0)
        close(parent);
    return err;
}

enum err isolate_new(const struct peal_handler *const *handlers, size_t n, int grace_ms,
                     struct isolate **ret, struct why *why)
{
    int ends[2];
    struct isolate *i = try_alloc(sizeof(*i));
    if (!i)
        return ERR_NOMEM;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        free(i);
        return cannot(why, NULL, -1);
    }
    /* orders end with the executor, unless the host has forked and so holds them open: its pidfd
     * tells in that case too. Without one (-1) poll skips it. */
    int parent = pidfd_open(getpid(), 0);
    i->pid = fork();
    if (i->pid == 0) {
        close(ends[0]);
        isolate_serve(ends[1], parent, handlers, n);
    }
    if (i->pid < 0) {
        free(i);
        return cannot(why, ends, parent);
    }
    close(ends[1]);
    if (parent >= 0)
        close(parent);
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
    while (waitpid(i->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(i);
}

/* --- orders --- */

static bool send_order(const struct isolate *i, enum order_kind kind, uint64_t number, size_t index,
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

void isolate_hold(struct isolate *i, pid_t group)
{
    if (i)
        send_order(i, ORDER_HOLD, (uint64_t)group, 0, NULL);
}

void isolate_release(struct isolate *i, pid_t group)
{
    if (i)
        send_order(i, ORDER_RELEASE, (uint64_t)group, 0, NULL);
}

static void close_pair(const int *pair)
{
    close(pair[0]);
    close(pair[1]);
}

/* The three ways to the child: ours in v, the others in fds. False with errno. */
static bool open_ways(struct visit *v, int *fds)
{
    int frames[2], output[2], notes[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, frames) < 0)
        return false;
    if (pipe2(output, O_CLOEXEC) < 0)
        goto no_output;
    if (pipe2(notes, O_CLOEXEC) < 0)
        goto no_notes;
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    v->frames = frames[0];
    v->output = output[0];
    v->notes = notes[0];
    fds[ORDER_FRAMES] = frames[1];
    fds[ORDER_OUTPUT] = output[1];
    fds[ORDER_NOTES] = notes[1];
    return true;
no_notes:
    close_pair(output);
no_output:
    close_pair(frames);
    return false;
}

/* --- what the child is told --- */

static bool send_facts(const struct visit *v)
{
    const struct peal_run *r = v->run;
    struct run_facts q = {
        .log_id = r->log_id,
        .log_date_ms = r->log_date_ms,
        .job_id = r->job_id,
        .glue_update_ms = r->glue_update_ms,
        .timeout_s = r->timeout_s,
        .moment_ms = r->moment_ms,
        .deadline_ms = r->deadline_ms,
        .shard = r->shard,
        .shard_total = r->shard_total,
        .attempt = r->attempt,
        .params = r->params.n,
    };
    return frame_send(v->frames, FRAME_FACTS, 0, slice_of((const char *)&q, sizeof(q)),
                      slice_of(NULL, 0), MSG_DONTWAIT);
}

static bool all_told(const struct visit *v)
{
    return v->frames < 0 || v->deaf ||
           (v->facts_sent && v->params_sent == v->run->params.n &&
            (v->ending == RUNNING || v->stop_sent));
}

/* The next thing that it has to know. False with errno. */
static bool tell_one(struct visit *v)
{
    const struct slice none = { NULL, 0 }, params = v->run->params;
    if (!v->facts_sent)
        return v->facts_sent = send_facts(v);
    if (v->params_sent == params.n)
        return v->stop_sent = frame_send(v->frames, FRAME_STOP, (int)peal_stopping(v->run), none,
                                         none, MSG_DONTWAIT);
    size_t n = params.n - v->params_sent;
    n = n < FRAME_PIECE ? n : FRAME_PIECE;
    if (!frame_send(v->frames, FRAME_PARAMS, 0, slice_of(params.p + v->params_sent, n), none,
                    MSG_DONTWAIT))
        return false;
    v->params_sent += n;
    return true;
}

/* As much as goes without waiting; a child that does not listen is ended by signals. Its socket,
 * and one that the kernel has no memory for, are ready all the time, for the next refusal: a poll
 * that waits for them would not sleep. */
static void tell(struct visit *v)
{
    v->no_mem = false;
    while (!all_told(v))
        if (!tell_one(v)) {
            v->no_mem = errno == ENOBUFS || errno == ENOMEM;
            v->deaf = !v->no_mem && errno != EAGAIN;
            return;
        }
}

/* --- what it says --- */

static void close_way(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void take_line(struct visit *v, struct slice text)
{
    char function[FUNCTION_MAX + 1];
    uint32_t split = v->frame.split;
    if (split > FUNCTION_MAX || split > text.n) {
        v->garbage = true;
        return;
    }
    text_copy(function, sizeof(function), slice_of(text.p, split));
    v->run->io->line(v->run, function, v->frame.number, slice_of(text.p + split, text.n - split));
}

static void take_progress(struct visit *v, struct slice text)
{
    struct peal_run *r = v->run;
    if (v->frame.number < 0 || v->frame.number > 100 || text.n >= sizeof(r->progress)) {
        v->garbage = true;
        return;
    }
    run_set_progress(r, v->frame.number, text);
}

static void take_frame(struct visit *v, struct slice text)
{
    switch (v->frame.kind) {
    case FRAME_LINE:
        take_line(v, text);
        break;
    case FRAME_RAW:
        run_output(v->run, text.p, text.n);
        break;
    case FRAME_PROGRESS:
        take_progress(v, text);
        break;
    case FRAME_MESSAGE:
        buf_slice(&v->msg, text);
        v->garbage |= v->msg.failed;
        break;
    case FRAME_RESULT:
        v->garbage |= v->has_result || v->frame.number <= 0;
        v->has_result = true;
        v->code = v->frame.number;
        break;
    default:
        v->garbage = true;
    }
}

/* False: there is nothing more for now. */
static bool take_packet(struct visit *v)
{
    ssize_t n = recv(v->frames, &v->frame, sizeof(v->frame), MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n >= (ssize_t)FRAME_HEAD && n <= (ssize_t)sizeof(v->frame))
        take_frame(v, slice_of(v->frame.text, (size_t)n - FRAME_HEAD));
    else if (n > 0)
        v->garbage = true;
    if (n <= 0 || v->garbage)
        close_way(&v->frames);
    return v->frames >= 0;
}

static bool take_piece(struct visit *v)
{
    char piece[16384];
    ssize_t n = read(v->output, piece, sizeof(piece));
    if (n > 0)
        run_output(v->run, piece, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_way(&v->output);
    return n > 0;
}

static void take_all(struct visit *v, int pieces)
{
    for (int i = 0; i < pieces && v->output >= 0 && take_piece(v); i++)
        ;
    for (int i = 0; i < pieces && v->frames >= 0 && take_packet(v); i++)
        ;
}

/* --- how it ends --- */

/* The group of number 1 would be every process there is. */
static bool is_note(const struct note *note)
{
    return note->kind == NOTE_BORN ? note->value > 1
                                   : note->kind == NOTE_ENDED || note->kind == NOTE_FAILED;
}

static void take_note(struct visit *v)
{
    struct note note;
    ssize_t n = read(v->notes, &note, sizeof(note));
    if (n < 0 && errno == EINTR)
        return;
    if (n != (ssize_t)sizeof(note) || !is_note(&note)) {
        /* the server died or lost its mind; its children by that too, but not theirs */
        if (v->pid > 0)
            kill(-v->pid, SIGKILL);
        close_way(&v->notes);
        v->over = true;
    } else if (note.kind == NOTE_BORN) {
        v->pid = note.value;
    } else {
        v->over = true;
        v->failed = note.kind == NOTE_FAILED;
        v->status = note.value;
    }
}

static void move_on(struct visit *v, enum ending to)
{
    v->ending = to;
    if (to == TERMED || to == KILLED)
        send_order(v->isolate, to == TERMED ? ORDER_TERM : ORDER_KILL, v->number, 0, NULL);
}

static int64_t due_ms(const struct visit *v)
{
    return v->stop_ms + (v->ending == ASKED ? v->isolate->grace_ms / 2 : v->isolate->grace_ms);
}

static void see_to_its_end(struct visit *v)
{
    if (v->garbage && v->ending < KILLED) {
        move_on(v, KILLED);
    } else if (v->ending == RUNNING && run_stopping(v->run)) {
        v->stop_ms = clock_boot_ms();
        move_on(v, ASKED);
    }
    while ((v->ending == ASKED || v->ending == TERMED) && clock_boot_ms() >= due_ms(v))
        move_on(v, v->ending + 1);
}

static int wait_ms(const struct visit *v)
{
    int most = v->no_mem ? NO_MEM_MS : INT32_MAX;
    if (v->ending != ASKED && v->ending != TERMED)
        return v->no_mem ? most : -1;
    int64_t left = due_ms(v) - clock_boot_ms();
    return left < 0 ? 0 : left > most ? most : (int)left;
}

static void watch(struct visit *v)
{
    while (!v->over) {
        tell(v);
        struct pollfd fds[] = {
            { .fd = v->notes, .events = POLLIN },
            { .fd = v->output, .events = POLLIN },
            { .fd = v->frames, .events = POLLIN | (all_told(v) || v->no_mem ? 0 : POLLOUT) },
            /* once it rang it stays readable: it has nothing more to say */
            { .fd = v->ending == RUNNING ? v->run->bell : -1, .events = POLLIN },
        };
        poll(fds, countof(fds), wait_ms(v));
        take_all(v, TURN_PIECES);
        if (fds[0].revents)
            take_note(v);
        if (fds[3].revents && !run_stopping(v->run))
            run_clear_bell(v->run); /* rung for the run before this one */
        see_to_its_end(v);
    }
    take_all(v, LAST_PIECES);
}

/* It leaves this socket when it ends. */
static bool server_lives(const struct isolate *i)
{
    struct pollfd p = { .fd = i->orders, .events = POLLOUT };
    return poll(&p, 1, 0) == 0 || !(p.revents & (POLLHUP | POLLERR));
}

static void set_result(const struct visit *v)
{
    struct peal_run *r = v->run;
    if (v->notes < 0 && server_lives(v->isolate)) {
        run_result(r, WIRE_CODE_FAIL,
                   "no process for the handler: the one that starts them could not take the order "
                   "(%s)",
                   strerror(EMFILE));
    } else if (v->notes < 0) {
        log_error("executor", "the process that starts isolated handlers has died: they fail until "
                              "the executor is started again");
        run_result(r, WIRE_CODE_FAIL, "the process that starts isolated handlers has died");
    } else if (v->failed) {
        run_result(r, WIRE_CODE_FAIL, "no process for the handler: %s", strerror(v->status));
    } else if (v->garbage) {
        run_result(r, WIRE_CODE_FAIL,
                   "ended: the handler's process wrote into the executor's socket");
    } else if (WIFSIGNALED(v->status)) {
        run_result(r, WIRE_CODE_FAIL, "ended by signal %d (%s)", WTERMSIG(v->status),
                   strsignal(WTERMSIG(v->status)));
    } else if (!v->has_result || WEXITSTATUS(v->status)) {
        run_result(r, WIRE_CODE_FAIL, "the handler ended its process, with exit status %d",
                   WEXITSTATUS(v->status));
    } else {
        run_result(r, v->code, "%s", buf_str(&v->msg));
    }
}

static void visit(struct visit *v, size_t index)
{
    int fds[ORDER_FDS];
    if (!open_ways(v, fds)) {
        run_result(v->run, WIRE_CODE_FAIL, "no process for the handler: %s", strerror(errno));
        return;
    }
    if (!send_order(v->isolate, ORDER_START, v->number, index, fds))
        close_way(&v->notes);
    for (size_t i = 0; i < ORDER_FDS; i++)
        close(fds[i]);
    if (v->notes >= 0)
        watch(v);
    set_result(v);
    close_way(&v->frames);
    close_way(&v->output);
    close_way(&v->notes);
}

void isolate_run(struct isolate *i, struct peal_run *r, size_t index)
{
    struct visit *v = try_alloc(sizeof(*v));
    if (!v) {
        run_result(r, WIRE_CODE_FAIL, "no process for the handler: out of memory");
        return;
    }
    v->isolate = i;
    v->run = r;
    v->number = atomic_fetch_add(&i->number, 1);
    v->frames = v->output = v->notes = -1;
    buf_init(&v->msg, (size_t)WIRE_HANDLE_MSG_UNITS * 3 + 16);
    visit(v, index);
    buf_done(&v->msg);
    free(v);
}
