/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers in child processes: real ones, that end in every way there is. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/process/isolate.h"
#include "executor/process/isolate_internal.h"
#include "executor/run/run.h"
#include "peal/executor.h"
#include "wire/executor_side.h"

enum { GRACE_MS = 400, PATIENCE_MS = 60000, HUGE_LINES = 3000, THREADS = 16, RUNS = 10 };

/* --- handlers --- */

_Noreturn static void for_ever(void)
{
    for (;;)
        pause();
}

static int facts(struct peal_run *run)
{
    peal_log(run,
             "job %lld log %lld moment %lld shard %d/%d attempt %d deadline %lld "
             "trace %s arg %s",
             (long long)peal_job_id(run), (long long)peal_log_id(run),
             (long long)peal_moment_ms(run), peal_shard_index(run), peal_shard_total(run),
             peal_attempt(run), (long long)peal_deadline_ms(run), peal_traceparent(run),
             (const char *)peal_arg(run));
    peal_progress(run, 40, "on the way");
    peal_result(run, 200, "done with %zu bytes", peal_param_size(run));
    return 0;
}

static int parameter(struct peal_run *run)
{
    const char *p = peal_param(run);
    size_t n = peal_param_size(run), wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += p[i] != (char)(i % 251);
    peal_result(run, 200, "%zu bytes, %zu wrong, then %d", n, wrong, p[n]);
    return 0;
}

static int long_message(struct peal_run *run)
{
    char *text = mem_new(60001);
    memset(text, 'x', 60000);
    peal_result(run, 201, "%s", text);
    free(text);
    return 0;
}

static int crash(struct peal_run *run)
{
    (void)run;
    raise(SIGSEGV);
    return 0;
}

#ifdef PEAL_SANITIZED
static int exit_status;

/* before the search for leaks: memory that the server had when it forked is none */
static void leave(void)
{
    fflush(stdout);
    _exit(exit_status);
}
#endif

static int ends_process(struct peal_run *run)
{
    printf("last words");
#ifdef PEAL_SANITIZED
    exit_status = peal_param(run)[0] - '0';
    atexit(leave);
#endif
    exit(peal_param(run)[0] - '0');
}

static int returns_seven(struct peal_run *run)
{
    (void)run;
    return 7;
}

static int deaf(struct peal_run *run)
{
    signal(SIGTERM, SIG_IGN);
    peal_log(run, "ready");
    for_ever();
}

static int slow(struct peal_run *run)
{
    peal_log(run, "ready");
    for_ever(); /* the signal's default ends it */
}

static int polite(struct peal_run *run)
{
    struct pollfd p = { .fd = peal_stop_fd(run), .events = POLLIN };
    peal_log(run, "ready");
    poll(&p, 1, -1);
    peal_result(run, 200, "stopped by %d, %d", peal_stopping(run), peal_wait(run, 100000));
    return 0;
}

static int leaves_children(struct peal_run *run)
{
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            signal(SIGTERM, SIG_IGN);
            if (i == 1 && fork() == 0)
                for_ever();
            for_ever();
        }
        peal_log(run, "%d", (int)pid);
    }
    return 0;
}

static int loud(struct peal_run *run)
{
    char line[1024];
    memset(line, 'a', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    for (int i = 0; i < HUGE_LINES; i++) {
        fwrite(line, 1, sizeof(line), i % 2 ? stdout : stderr);
        peal_log_raw(run, line, sizeof(line));
    }
    return 0;
}

static int junk(struct peal_run *run)
{
    (void)run;
    for (int fd = 3; fd < 64; fd++) {
        int type = 0;
        socklen_t n = sizeof(type);
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0)
            send(fd, peal_param(run), peal_param_size(run), 0);
    }
    for_ever();
}

static int descriptors(struct peal_run *run)
{
    char text[64];
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) != dirfd(d);
    closedir(d);
    ssize_t size = readlink("/proc/self/fd/0", text, sizeof(text) - 1);
    text[size > 0 ? size : 0] = '\0';
    peal_result(run, 200, "%d %s", n, text);
    return 0;
}

static int lingers(struct peal_run *run)
{
    pid_t left = fork();
    if (left == 0) {
        signal(SIGTERM, SIG_IGN);
        for_ever();
    }
    peal_log(run, "pids %d %d %d", (int)getpid(), (int)getppid(), (int)left);
    for_ever();
}

static int kills_server(struct peal_run *run)
{
    pid_t left = fork();
    if (left == 0)
        for_ever();
    peal_log(run, "%d", (int)left);
    kill(getppid(), SIGKILL);
    for_ever();
}

static int init_state(void *arg, void **state)
{
    printf("init %s\n", (const char *)arg);
    *state = arg;
    return strcmp(arg, "bad") == 0 ? 9 : 0;
}

static int uses_state(struct peal_run *run)
{
    printf("run %s\n", (const char *)peal_state(run));
    return 0;
}

static void destroy_state(void *arg, void *state)
{
    printf("destroy %s\n", (const char *)(arg == state ? state : "?"));
}

enum {
    FACTS,
    PARAMETER,
    LONG_MESSAGE,
    CRASH,
    ENDS_PROCESS,
    RETURNS_SEVEN,
    DEAF,
    SLOW,
    POLITE,
    LEAVES_CHILDREN,
    LOUD,
    JUNK,
    DESCRIPTORS,
    LINGERS,
    KILLS_SERVER,
    LIFE,
    BAD_LIFE,
    HANDLERS
};

static const struct peal_handler table[HANDLERS] = {
    [FACTS] = { .name = "facts", .run = facts, .arg = (void *)"mine" },
    [PARAMETER] = { .name = "parameter", .run = parameter },
    [LONG_MESSAGE] = { .name = "long", .run = long_message },
    [CRASH] = { .name = "crash", .run = crash },
    [ENDS_PROCESS] = { .name = "ends", .run = ends_process },
    [RETURNS_SEVEN] = { .name = "seven", .run = returns_seven },
    [DEAF] = { .name = "deaf", .run = deaf },
    [SLOW] = { .name = "slow", .run = slow },
    [POLITE] = { .name = "polite", .run = polite },
    [LEAVES_CHILDREN] = { .name = "leaves", .run = leaves_children },
    [LOUD] = { .name = "loud", .run = loud },
    [JUNK] = { .name = "junk", .run = junk },
    [DESCRIPTORS] = { .name = "descriptors", .run = descriptors },
    [LINGERS] = { .name = "lingers", .run = lingers },
    [KILLS_SERVER] = { .name = "kills", .run = kills_server },
    [LIFE] = { .name = "life",
               .run = uses_state,
               .init = init_state,
               .destroy = destroy_state,
               .arg = (void *)"good" },
    [BAD_LIFE] = { .name = "badlife",
                   .run = uses_state,
                   .init = init_state,
                   .destroy = destroy_state,
                   .arg = (void *)"bad" },
};

/* --- a run, and what is heard of it --- */

struct heard {
    struct buf lines, raw;
    int into;               /* >= 0: lines go there too */
    enum run_stop on_ready; /* what the line "ready" leads to */
    pid_t pids[8];
    int npids;
};

static void hear_line(struct peal_run *r, const char *function, int line, struct slice text)
{
    struct heard *h = r->arg;
    int64_t pid;
    assert_true(line > 0 && function[0]);
    buf_slice(&h->lines, text);
    buf_char(&h->lines, '\n');
    if (parse_i64(text, &pid) && h->npids < 8)
        h->pids[h->npids++] = (pid_t)pid;
    if (slice_eq(text, "ready") && h->on_ready)
        atomic_store(&r->stop, (int)h->on_ready);
    if (h->into >= 0)
        assert_int_equal(write(h->into, text.p, text.n), text.n);
}

static void hear_raw(struct peal_run *r, const char *p, size_t n)
{
    buf_add(&((struct heard *)r->arg)->raw, p, n);
}

static const struct run_io io_heard = { hear_line, hear_raw, NULL };

static struct peal_run *make(struct heard *h, struct slice params)
{
    struct wire_run_request q = {
        .job_id = 7, .log_id = 8, .log_date_ms = 9, .params = params, .shard = 1, .shard_total = 3
    };
    *h = (struct heard){ .lines = BUF_INIT(1 << 20), .raw = BUF_INIT(64 << 20), .into = -1 };
    static const struct run_context none = { .logpath = "" };
    struct peal_run *r = run_make(&q, &none, false);
    r->io = &io_heard;
    r->arg = h;
    r->attempt = 2;
    r->deadline_ms = 11;
    snprintf(r->trace, sizeof(r->trace), "00-a-trace");
    r->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return r;
}

static void drop(struct peal_run *r)
{
    struct heard *h = r->arg;
    close(r->bell);
    buf_done(&h->lines);
    buf_done(&h->raw);
    run_drop(r);
}

static struct isolate *server(int grace_ms)
{
    static const struct peal_handler *handlers[HANDLERS];
    struct why why = { { 0 } };
    struct isolate *i = NULL;
    for (int n = 0; n < HANDLERS; n++)
        handlers[n] = &table[n];
    assert_int_equal(isolate_new(handlers, HANDLERS, grace_ms, &i, &why), OK);
    return i;
}

static int make_server(void **state)
{
    *state = server(GRACE_MS);
    return 0;
}

static int free_server(void **state)
{
    isolate_free(*state);
    return 0;
}

static void check(struct isolate *i, int handler, const char *params, int code, const char *message)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text(params));
    isolate_run(i, r, (size_t)handler);
    assert_string_equal(buf_str(&r->msg), message);
    assert_int_equal(r->code, code);
    drop(r);
}

static void assert_gone(const struct heard *h, int n)
{
    assert_int_equal(h->npids, n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(kill(h->pids[i], 0), -1);
        assert_int_equal(errno, ESRCH);
    }
}

/* --- tests --- */

static void a_handler_sees_its_run_and_says_its_result(void **state)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text("four"));
    isolate_run(*state, r, FACTS);
    assert_string_equal(buf_str(&h.lines),
                        "job 7 log 8 moment 9 shard 1/3 attempt 2 deadline 11 trace 00-a-trace arg "
                        "mine\nprogress 40 %: on the way\n");
    assert_string_equal(buf_str(&r->msg), "done with 4 bytes");
    assert_int_equal(r->code, 200);
    assert_int_equal(r->percent, 40);
    assert_string_equal(r->progress, "on the way");
    drop(r);
}

static void a_large_parameter_arrives_whole(void **state)
{
    struct heard h;
    enum { SIZE = 5 << 20 };
    char *text = mem_new(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = (char)(i % 251);
    struct peal_run *r = make(&h, slice_of(text, SIZE));
    isolate_run(*state, r, PARAMETER);
    assert_string_equal(buf_str(&r->msg), "5242880 bytes, 0 wrong, then 0");
    drop(r);
    free(text);
}

static void a_long_message_is_cut_as_in_a_thread(void **state)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text(""));
    isolate_run(*state, r, LONG_MESSAGE);
    assert_int_equal(r->code, 201);
    assert_int_equal(r->msg.len, 50003);
    assert_string_equal(buf_str(&r->msg) + 49999, "x...");
    drop(r);
}

static void ends_that_are_failures(void **state)
{
    check(*state, CRASH, "", 500, "ended by signal 11 (Segmentation fault)");
    check(*state, ENDS_PROCESS, "3", 500, "the handler ended its process, with exit status 3");
    check(*state, ENDS_PROCESS, "0", 500, "the handler ended its process, with exit status 0");
    check(*state, RETURNS_SEVEN, "", 500, "the handler returned 7");
}

static void what_is_printed_before_an_exit_is_in_the_log(void **state)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text("1"));
    isolate_run(*state, r, ENDS_PROCESS);
    assert_string_equal(buf_str(&h.raw), "last words");
    drop(r);
}

static void check_stop(struct isolate *i, int handler, int code, const char *message)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text(""));
    h.on_ready = RUN_KILLED;
    isolate_run(i, r, (size_t)handler);
    assert_string_equal(buf_str(&r->msg), message);
    assert_int_equal(r->code, code);
    drop(r);
}

static void a_stop_is_felt_then_a_signal_then_the_last_one(void **state)
{
    struct isolate *patient = server(PATIENCE_MS); /* a slow machine must not send the signal */
    check_stop(patient, POLITE, 200, "stopped by 1, 1");
    isolate_free(patient);
    check_stop(*state, SLOW, 500, "ended by signal 15 (Terminated)");
    check_stop(*state, DEAF, 500, "ended by signal 9 (Killed)");
}

static void what_a_handler_leaves_behind_is_gone_when_the_run_is_over(void **state)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text(""));
    isolate_run(*state, r, LEAVES_CHILDREN);
    assert_int_equal(r->code, 200);
    assert_gone(&h, 3);
    drop(r);
}

static void everything_printed_arrives(void **state)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text(""));
    isolate_run(*state, r, LOUD);
    assert_int_equal(r->code, 200);
    assert_int_equal(h.raw.len, 2 * HUGE_LINES * 1024);
    drop(r);
}

static void garbage_is_a_failed_run(void **state)
{
    static const struct {
        uint32_t kind, number, split;
    } frames[] = {
        { 99, 0, 0 },         /* no such kind */
        { 0, 0, 0 },          /* one of the other direction */
        { 3, 1, 4000000000 }, /* a line whose function is longer than the packet */
        { 5, 101, 0 },        /* progress beyond 100 */
        { 7, 0, 0 },          /* a result without a code */
    };
    const char *message = "ended: the handler's process wrote into the executor's socket";
    check(*state, JUNK, "x", 500, message);
    for (size_t i = 0; i < countof(frames); i++) {
        struct heard h;
        struct peal_run *r = make(&h, slice_of((const char *)&frames[i], sizeof(frames[i])));
        isolate_run(*state, r, JUNK);
        assert_string_equal(buf_str(&r->msg), message);
        drop(r);
    }
    char *big = mem_new(100000);
    struct heard h;
    struct peal_run *r = make(&h, slice_of(big, 100000));
    isolate_run(*state, r, JUNK);
    assert_string_equal(buf_str(&r->msg), message);
    drop(r);
    free(big);
    check(*state, FACTS, "", 200, "done with 0 bytes");
}

static void no_descriptor_of_the_executor_is_inherited(void **state)
{
    (void)state;
    int open_here[] = { open("/dev/null", O_RDONLY), eventfd(0, 0),
                        socket(AF_INET, SOCK_STREAM, 0) };
    struct isolate *i = server(GRACE_MS);
    /* standard input, output, error, frames, bell */
    check(i, DESCRIPTORS, "", 200, "5 /dev/null");
    isolate_free(i);
    for (size_t n = 0; n < countof(open_here); n++)
        close(open_here[n]);
}

static void init_and_destroy_are_around_each_run(void **state)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text(""));
    isolate_run(*state, r, LIFE);
    assert_string_equal(buf_str(&h.raw), "init good\nrun good\ndestroy good\n");
    drop(r);
    check(*state, BAD_LIFE, "", 500, "the handler's init returned 9");
}

static void *many(void *arg)
{
    for (int i = 0; i < RUNS; i++) {
        char text[RUNS + 1] = "xxxxxxxxxx", message[64];
        text[i] = '\0';
        snprintf(message, sizeof(message), "done with %d bytes", i);
        check(arg, FACTS, text, 200, message);
        check(arg, CRASH, "", 500, "ended by signal 11 (Segmentation fault)");
    }
    return NULL;
}

static void many_runs_at_once(void **state)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many, *state), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void await_end(pid_t pid)
{
    struct pollfd p = { .fd = pidfd_open(pid, 0), .events = POLLIN };
    if (p.fd < 0)
        return; /* it has ended */
    assert_int_equal(poll(&p, 1, 60000), 1);
    close(p.fd);
}

static void check_killed_server(struct isolate *i, const char *message)
{
    struct heard h;
    struct peal_run *r = make(&h, slice_text(""));
    isolate_run(i, r, KILLS_SERVER);
    assert_string_equal(buf_str(&r->msg), message);
    assert_int_equal(r->code, 500);
    assert_int_equal(h.npids, 1);
    await_end(h.pids[0]);
    drop(r);
}

static void a_dead_server_fails_its_run_and_another_takes_its_place(void **state)
{
    (void)state;
    struct isolate *i = server(GRACE_MS);
    for (int n = 0; n < 3; n++) {
        check_killed_server(i, "the process that started it has died, and took it along");
        check(i, FACTS, "", 200, "done with 0 bytes");
    }
    isolate_free(i);
}

static void without_its_watch_a_dead_server_is_missed_and_leaves_nothing(void **state)
{
    (void)state;
    static const char message[] =
        "the process that starts isolated handlers, scripts and commands has died";
    struct isolate *i = server(GRACE_MS);
    check(i, FACTS, "", 200, "done with 0 bytes");
    kill(i->pid, SIGKILL);
    waitpid(i->pid, NULL, 0);
    check(i, FACTS, "", 200, "done with 0 bytes");
    check_killed_server(i, message);
    check(i, FACTS, "", 500, message);
    isolate_free(i);
}

/* What a host does about its children is nothing to ours. */
static void how_a_process_ended_is_known_whatever_the_host_does_about_sigchld(void **state)
{
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    struct isolate *i = server(GRACE_MS);
    check(i, ENDS_PROCESS, "3", 500, "the handler ended its process, with exit status 3");
    check(i, CRASH, "", 500, "ended by signal 11 (Segmentation fault)");
    signal(SIGCHLD, SIG_DFL);
    isolate_free(i);
}

/* An executor of its own, that says which processes there are. */
_Noreturn static void be_executor(int into)
{
    struct heard h;
    struct isolate *i = server(GRACE_MS);
    struct peal_run *r = make(&h, slice_text(""));
    h.into = into;
    isolate_run(i, r, LINGERS);
    _exit(0);
}

static void an_executor_killed_leaves_no_process_behind(void **state)
{
    (void)state;
    int ends[2], watched[3];
    char text[128];
    long pids[3];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t executor = fork();
    if (executor == 0)
        be_executor(ends[1]);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    assert_memory_equal(text, "pids ", 5);
    char *at = text + 5;
    for (int i = 0; i < 3; i++) {
        pids[i] = strtol(at, &at, 10);
        assert_true(pids[i] > 1);
    }
    for (int i = 0; i < 3; i++)
        assert_true((watched[i] = pidfd_open((pid_t)pids[i], 0)) >= 0);
    kill(executor, SIGKILL);
    waitpid(executor, NULL, 0);
    for (int i = 0; i < 3; i++) {
        struct pollfd p = { .fd = watched[i], .events = POLLIN };
        assert_int_equal(poll(&p, 1, 60000), 1);
        close(watched[i]);
    }
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_sees_its_run_and_says_its_result),
        cmocka_unit_test(a_large_parameter_arrives_whole),
        cmocka_unit_test(a_long_message_is_cut_as_in_a_thread),
        cmocka_unit_test(ends_that_are_failures),
        cmocka_unit_test(what_is_printed_before_an_exit_is_in_the_log),
        cmocka_unit_test(a_stop_is_felt_then_a_signal_then_the_last_one),
        cmocka_unit_test(what_a_handler_leaves_behind_is_gone_when_the_run_is_over),
        cmocka_unit_test(everything_printed_arrives),
        cmocka_unit_test(garbage_is_a_failed_run),
        cmocka_unit_test(no_descriptor_of_the_executor_is_inherited),
        cmocka_unit_test(init_and_destroy_are_around_each_run),
        cmocka_unit_test(many_runs_at_once),
        cmocka_unit_test(a_dead_server_fails_its_run_and_another_takes_its_place),
        cmocka_unit_test(without_its_watch_a_dead_server_is_missed_and_leaves_nothing),
        cmocka_unit_test(how_a_process_ended_is_known_whatever_the_host_does_about_sigchld),
        cmocka_unit_test(an_executor_killed_leaves_no_process_behind),
    };
    return cmocka_run_group_tests(tests, make_server, free_server);
}
