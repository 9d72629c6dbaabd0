/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's side of isolate_internal.h: a worker that waits for its child, passes on what it
 * says and sees to it that it ends. Whatever comes from a child is looked at as if a stranger sent
 * it.
 */
#include "executor/process/isolate.h"
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
#include "executor/process/isolate_internal.h"
#include "executor/run/run.h"
#include "wire/texts.h"

enum {
    ITERATION_PIECES = 64, /* of output in a row: endless output must not hold up the rest */
    LAST_PIECES = 512,     /* after the end: more than pipe and socket can hold */
    NO_MEM_MS = 10,
};

/*  RUNNING --the run shall end--> ASKED --half the grace--> TERMED --the whole--> KILLED
 *     +-------------------------garbage from the child-------------------------------^  */
enum ending { RUNNING, ASKED, TERMED, KILLED };

struct visit { /* one run in a child */
    struct isolate_process process;
    struct peal_run *run;
    int frames, output; /* -1: closed */
    size_t params_sent;
    bool facts_sent, stop_sent;
    bool deaf;   /* it reads no more, but may still speak */
    bool no_mem; /* the kernel's: what could not be sent is tried again soon */
    enum ending ending;
    int64_t stop_ms; /* boot: when it was asked */
    bool garbage, has_result;
    int code;
    struct buf msg;
    struct frame frame;
};

/* --- the ways to the child --- */

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
    v->process.notes = notes[0];
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

/* --- frames to the child --- */

static bool send_facts(const struct visit *v)
{
    const struct peal_run *r = v->run;
    struct run_facts q = {
        .log_id = r->log_id,
        .log_date_ms = r->log_date_ms,
        .job_id = r->job_id,
        .glue_update_ms = r->glue_update_ms,
        .timeout_s = r->timeout_s,
        .scheduled_ms = r->scheduled_ms,
        .deadline_ms = r->deadline_ms,
        .shard = r->shard,
        .shard_total = r->shard_total,
        .attempt = r->attempt,
        .params = r->params.n,
    };
    memcpy(q.trace, r->trace, sizeof(q.trace));
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
        return v->stop_sent = frame_send(v->frames, FRAME_STOP, (int)run_stop_reason(v->run), none,
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

/* --- frames and output of the child --- */

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

static void move_on(struct visit *v, enum ending to)
{
    v->ending = to;
    if (to == TERMED || to == KILLED)
        isolate_signal(&v->process, to == TERMED ? SIGTERM : SIGKILL);
}

static int64_t due_ms(const struct visit *v)
{
    int grace_ms = v->process.isolate->grace_ms;
    return v->stop_ms + (v->ending == ASKED ? grace_ms / 2 : grace_ms);
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
    while (!v->process.over) {
        tell(v);
        struct pollfd fds[] = {
            { .fd = v->process.notes, .events = POLLIN },
            { .fd = v->output, .events = POLLIN },
            { .fd = v->frames, .events = POLLIN | (all_told(v) || v->no_mem ? 0 : POLLOUT) },
            /* once it rang it stays readable: it has nothing more to say */
            { .fd = v->ending == RUNNING ? v->run->bell : -1, .events = POLLIN },
        };
        poll(fds, countof(fds), wait_ms(v));
        take_all(v, ITERATION_PIECES);
        if (fds[0].revents)
            isolate_hear(&v->process);
        if (fds[3].revents && !run_stopping(v->run))
            run_clear_bell(v->run); /* rung for the run before this one */
        see_to_its_end(v);
    }
    take_all(v, LAST_PIECES);
}

static void set_result(const struct visit *v)
{
    struct peal_run *r = v->run;
    int status = v->process.status;
    if (v->process.notes < 0) {
        run_result(r, WIRE_CODE_FAIL, "%s", isolate_lost_text(&v->process));
    } else if (v->process.failed) {
        run_result(r, WIRE_CODE_FAIL, "no process for the handler: %s",
                   strerror(v->process.failed));
    } else if (v->garbage) {
        run_result(r, WIRE_CODE_FAIL,
                   "ended: the handler's process wrote into the executor's socket");
    } else if (v->process.lost) {
        run_result(r, WIRE_CODE_FAIL, "it has ended, and how is not known");
    } else if (WIFSIGNALED(status)) {
        run_result(r, WIRE_CODE_FAIL, "ended by signal %d (%s)", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    } else if (!v->has_result || WEXITSTATUS(status)) {
        run_result(r, WIRE_CODE_FAIL, "the handler ended its process, with exit status %d",
                   WEXITSTATUS(status));
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
    if (!isolate_send(v->process.isolate, ORDER_START, v->process.number, index, fds))
        close_way(&v->process.notes);
    for (size_t i = 0; i < ORDER_FDS; i++)
        close(fds[i]);
    if (v->process.notes >= 0)
        watch(v);
    set_result(v);
    close_way(&v->frames);
    close_way(&v->output);
    isolate_forget(&v->process);
}

void isolate_run(struct isolate *i, struct peal_run *r, size_t index)
{
    struct visit *v = try_alloc(sizeof(*v));
    if (!v) {
        run_result(r, WIRE_CODE_FAIL, "no process for the handler: out of memory");
        return;
    }
    v->process = (struct isolate_process){
        .isolate = i,
        .number = atomic_fetch_add(&i->number, 1),
        .notes = -1,
    };
    v->run = r;
    v->frames = v->output = -1;
    buf_init(&v->msg, (size_t)WIRE_HANDLE_MSG_UNITS * 3 + 16);
    visit(v, index);
    buf_done(&v->msg);
    free(v);
}
