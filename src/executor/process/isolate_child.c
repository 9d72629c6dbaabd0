/* SPDX-License-Identifier: Apache-2.0 */
/* The child: one handler, one run. It looks to the handler as a thread of the executor would: the
 * same functions, but the run's io writes frames, and a thread listens for the request to stop. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/thread.h"
#include "executor/process/isolate_internal.h"
#include "executor/run/run.h"
#include "wire/executor_side.h"
#include "wire/texts.h"

struct child {
    int frames;
    struct peal_run run; /* the parameter follows */
};

/* --- frames to the executor --- */

/* A parent that is gone takes this process along; nothing here needs to hear of it. */
static void say(const struct peal_run *r, enum frame_kind kind, int number, struct slice first,
                struct slice second)
{
    frame_send(container_of(r, struct child, run)->frames, kind, number, first, second, 0);
}

static void say_line(struct peal_run *r, const char *function, int line, struct slice text)
{
    struct slice name = slice_text(function);
    name.n = utf8_cut(name.p, name.n, FUNCTION_MAX);
    text.n = utf8_cut(text.p, text.n, FRAME_TEXT - FUNCTION_MAX);
    say(r, FRAME_LINE, line, name, text);
}

static void say_pieces(const struct peal_run *r, enum frame_kind kind, const char *p, size_t n)
{
    for (size_t piece; n > 0; p += piece, n -= piece) {
        piece = n < FRAME_PIECE ? n : FRAME_PIECE;
        say(r, kind, 0, slice_of(NULL, 0), slice_of(p, piece));
    }
}

static void say_raw(struct peal_run *r, const char *p, size_t n)
{
    say_pieces(r, FRAME_RAW, p, n);
}

static void say_progress(struct peal_run *r)
{
    say(r, FRAME_PROGRESS, r->percent, slice_of(NULL, 0), slice_text(r->progress));
}

static void say_result(const struct peal_run *r)
{
    say_pieces(r, FRAME_MESSAGE, buf_str(&r->msg), r->msg.len);
    say(r, FRAME_RESULT, r->code, slice_of(NULL, 0), slice_of(NULL, 0));
}

static const struct run_io io_frames = { say_line, say_raw, say_progress };

/* --- frames from the executor --- */

/* The next frame; the bytes of its text. The other end closed or not ours: the run is over. */
static size_t hear(int fd, struct frame *f)
{
    ssize_t n;
    do
        n = recv(fd, f, sizeof(*f), MSG_TRUNC);
    while (n < 0 && errno == EINTR);
    if (n < (ssize_t)FRAME_HEAD || n > (ssize_t)sizeof(*f))
        _exit(EXIT_FAILURE);
    return (size_t)n - FRAME_HEAD;
}

static struct child *hear_run(int fd)
{
    struct run_facts q;
    struct frame *f = mem_new(sizeof(*f));
    if (hear(fd, f) != sizeof(q) || f->kind != FRAME_FACTS)
        _exit(EXIT_FAILURE);
    memcpy(&q, f->text, sizeof(q));
    if (q.params > WIRE_REQUEST_MAX)
        _exit(EXIT_FAILURE);
    struct child *c = mem_new(sizeof(*c) + q.params + 1);
    char *params = (char *)(c + 1);
    for (size_t have = 0, n; have < q.params; have += n) {
        n = hear(fd, f);
        if (f->kind != FRAME_PARAMS || n > q.params - have)
            _exit(EXIT_FAILURE);
        memcpy(params + have, f->text, n);
    }
    free(f);
    c->frames = fd;
    c->run = (struct peal_run){
        .io = &io_frames,
        .log_id = q.log_id,
        .log_date_ms = q.log_date_ms,
        .job_id = q.job_id,
        .glue_update_ms = q.glue_update_ms,
        .timeout_s = q.timeout_s,
        .scheduled_ms = q.scheduled_ms,
        .deadline_ms = q.deadline_ms,
        .shard = q.shard,
        .shard_total = q.shard_total,
        .attempt = q.attempt,
        .percent = -1,
        .params = slice_of(params, q.params),
        .code = WIRE_CODE_OK,
        .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        .log.fd = -1,
    };
    memcpy(c->run.trace, q.trace, sizeof(q.trace));
    pthread_mutex_init(&c->run.lock, NULL);
    buf_init(&c->run.msg, WIRE_HANDLE_MSG_UNITS * 3 + 16);
    return c;
}

static void *listen_for_stop(void *arg)
{
    struct child *c = arg;
    struct frame f;
    uint64_t one = 1;
    do
        hear(c->frames, &f);
    while (f.kind != FRAME_STOP || f.number < PEAL_KILLED || f.number > PEAL_TIMED_OUT);
    atomic_store(&c->run.stop, f.number);
    ssize_t n = write(c->run.bell, &one, sizeof(one));
    (void)n;
    return NULL;
}

/* Without it the run is only stopped by its signals. */
static void start_listening(struct child *c)
{
    pthread_t thread;
    if (thread_start(&thread, "peal-stop", 0, listen_for_stop, c) == 0)
        pthread_detach(thread);
}

/* --- the whole --- */

static void run_handler(struct peal_run *r, const struct peal_handler *h)
{
    int code = h->init ? h->init(h->arg, &r->state) : 0;
    if (code) {
        run_result(r, WIRE_CODE_FAIL, "the handler's init returned %d", code);
        return;
    }
    code = h->run(r);
    if (code && !r->has_result)
        run_result(r, WIRE_CODE_FAIL, "the handler returned %d", code);
    if (h->destroy)
        h->destroy(h->arg, r->state);
}

/* Text appears in the log as it is printed, not when a buffer is full: what was printed before a
 * crash is often what explains it. */
static void own_output(int frames, int output)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close_all_but(&frames, 1);
    setvbuf(stdout, NULL, _IONBF, 0);
}

/* Not exit(): what the host wanted done at its end is not for a child to do. */
void isolate_child(const struct peal_handler *handler, int frames, int output)
{
    own_output(frames, output);
    struct child *c = hear_run(frames);
    c->run.arg = handler->arg;
    start_listening(c);
    run_handler(&c->run, handler);
    fflush(stdout);
    fflush(stderr);
    say_result(&c->run);
    _exit(EXIT_SUCCESS);
}
