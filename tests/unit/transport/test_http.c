/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as HTTP, against scripted executors: what is on the wire, what an answer means, and which
 * function is asked before the first byte. */
#include "../net/support_net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "transport/transport.h"

#define ANSWER(body) "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n" body
#define CONNECTIONS 3

struct fixture {
    struct loop *l;
    struct transports *all;
    struct script s;
    char address[64];
};

static int set_up(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct transport_config config = { .token = "a token", .connections = CONNECTIONS };
    f->l = loop_new();
    assert_int_equal(transports_new(transport_rows, f->l, &config, &f->all, NULL), OK);
    *state = f;
    return 0;
}

/* An executor that answers one request. */
static void serve(struct script *s, int fd, int nth)
{
    (void)nth;
    if (script_read_request(s, fd))
        script_write(fd, s->arg);
    script_wait_end(s, fd);
}

static void serve_none(struct script *s, int fd, int nth)
{
    (void)nth;
    script_read_request(s, fd);
    script_wait_end(s, fd);
}

static void begin(struct fixture *f, void (*how)(struct script *, int, int), const char *answer)
{
    f->s = (struct script){ .serve = how, .connections = 1, .arg = (void *)answer };
    script_start(&f->s);
    snprintf(f->address, sizeof(f->address), "http://127.0.0.1:%u/job/", f->s.port);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    transports_free(f->all);
    if (f->s.serve)
        script_join(&f->s);
    buf_done(&f->s.got);
    loop_free(f->l);
    free(f);
    return 0;
}

/* Everything ends: the client's connections, then the script; what it has read last. */
static const char *wire(struct fixture *f)
{
    transports_free(f->all);
    f->all = NULL;
    script_join(&f->s);
    f->s.serve = NULL;
    return buf_str(&f->s.got);
}

struct user {
    struct transport_call call;
    struct transport_page page;
    struct call_result r;
    char msg[200], content[64];
    int asked;
    bool yes, ended;
};

static void on_done(struct transport_call *c, struct call_result *r)
{
    struct user *u = container_of(c, struct user, call);
    assert_false(u->ended);
    u->ended = true;
    u->r = *r;
    snprintf(u->msg, sizeof(u->msg), "%.*s", (int)r->msg.n, r->msg.n ? r->msg.p : "");
    if (c->page && u->page.present)
        snprintf(u->content, sizeof(u->content), "%.*s", (int)u->page.content.n, u->page.content.p);
}

static bool on_leaving(void *arg)
{
    struct user *u = arg;
    u->asked++;
    return u->yes;
}

static struct user user(bool yes)
{
    return (struct user){ .yes = yes, .call = { .done = on_done, .leaving = on_leaving } };
}

static void start(struct fixture *f, const struct call *what, struct user *u)
{
    u->call.arg = u;
    transports_call(f->all, what, &u->call);
}

static struct call beat(const struct fixture *f)
{
    return (struct call){ .kind = CALL_BEAT, .address = f->address };
}

/* One call, to its end. */
static struct user call(struct fixture *f, const struct call *what)
{
    struct user u = user(true);
    start(f, what, &u);
    iterate_while_false(f->l, &u.ended);
    return u;
}

/* ---- on the wire ----------------------------------------------------------------------------- */

static enum err only_utc(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    (void)name;
    (void)why;
    *ret = zone_ref(zone_utc());
    return OK;
}

static struct job *a_job(const char *script)
{
    struct job_record r;
    job_record_init(&r);
    r.id = 12;
    r.handler = mem_dup("demo");
    r.param = mem_dup("own");
    r.glue_source = mem_dup(script);
    struct job *j = job_new(&r, only_utc, NULL, 2125);
    job_record_done(&r);
    return j;
}

static struct call run_of(const struct fixture *f, struct job *j)
{
    return (struct call){ .kind = CALL_RUN,
                          .address = f->address,
                          .log_id = 345,
                          .job_id = j->id,
                          .job = j,
                          .param = j->param,
                          .shard_total = 1,
                          .attempt = 2,
                          .scheduled_ms = 1000123,
                          .due_ms = 1000456,
                          .log_time_ms = 1000000 };
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no %s in %s", part, text);
}

static char *yes(void)
{
    static char text[128];
    snprintf(text, sizeof(text), ANSWER("{\"code\":200,\"msg\":null}"),
             strlen("{\"code\":200,\"msg\":null}"));
    return text;
}

static void a_run_says_when_and_which(void **state)
{
    struct fixture *f = *state;
    struct job *j = a_job("");
    begin(f, serve, yes());
    struct call what = run_of(f, j);
    what.trace = (struct trace){ .id = { 1, 0xabc }, .span = 0x10 };
    struct user u = call(f, &what);
    assert_int_equal(u.asked, 1);
    assert_int_equal(u.r.outcome, CALL_ANSWERED);
    assert_int_equal(u.r.code, 200);
    assert_int_equal(u.call.err, OK);
    assert_true(u.call.sent_us > 0);
    const char *text = wire(f);
    has(text, "POST /job/run HTTP/1.1\r\n");
    has(text, "XXL-JOB-ACCESS-TOKEN: a token\r\n");
    has(text, "traceparent: 00-00000000000000010000000000000abc-0000000000000010-01\r\n");
    has(text, "Peal-Moment: 1000123\r\nPeal-Attempt: 2\r\nPeal-Deadline: 1060456\r\n");
    has(text, "\"logId\":345,\"logDateTime\":1000000");
    has(text, "\"executorHandler\":\"demo\",\"executorParams\":\"own\"");
    job_unref(j);
}

static void the_other_kinds(void **state)
{
    (void)state;
    static const struct {
        enum call_kind kind;
        const char *line, *body;
    } rows[] = {
        { CALL_BEAT, "POST /job/beat ", "\r\n\r\n{}" },
        { CALL_IDLE, "POST /job/idleBeat ", "\r\n\r\n{\"jobId\":12}" },
        { CALL_KILL, "POST /job/kill ", "\r\n\r\n{\"jobId\":12}" },
        { CALL_LOG, "POST /job/log ", "\"logId\":345,\"fromLineNum\":1}" },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct fixture *f;
        set_up((void **)&f);
        begin(f, serve, yes());
        struct call what = { .kind = rows[i].kind,
                             .address = f->address,
                             .log_id = 345,
                             .job_id = 12,
                             .log_time_ms = 1000000 };
        struct user u = call(f, &what);
        assert_int_equal(u.r.outcome, CALL_ANSWERED);
        const char *text = wire(f);
        has(text, rows[i].line);
        has(text, rows[i].body);
        assert_null(strstr(text, "Peal-Moment"));
        assert_null(strstr(text, "traceparent")); /* it was given none */
        void *done = f;
        tear_down(&done);
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

static void what_an_answer_means(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum call_outcome run, kill; /* of either kind */
        int code;
        bool repeat;
        const char *msg;
    } rows[] = {
        { "{\"code\":200,\"msg\":null}", CALL_ANSWERED, CALL_ANSWERED, 200, false, "" },
        { "{\"code\":500,\"msg\":\"no such handler\"}", CALL_ANSWERED, CALL_ANSWERED, 500, false,
          "no such handler" },
        { "{\"code\":500,\"msg\":\"repeate trigger job, logId:345\"}", CALL_ANSWERED, CALL_ANSWERED,
          500, true, "repeate trigger" },
        { "<html>Bad Gateway</html>", CALL_IN_DOUBT, CALL_ANSWERED, 500, false, "" },
    };
    for (size_t i = 0; i < 2 * countof(rows); i++) {
        size_t row = i / 2;
        struct fixture *f;
        char answer[256];
        set_up((void **)&f);
        snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
                 strlen(rows[row].body), rows[row].body);
        begin(f, serve, answer);
        struct job *j = a_job("");
        struct call what = run_of(f, j);
        what.kind = i % 2 ? CALL_KILL : CALL_RUN;
        struct user u = call(f, &what);
        assert_int_equal(u.r.outcome, i % 2 ? rows[row].kill : rows[row].run);
        assert_int_equal(u.r.code, rows[row].code);
        assert_int_equal(u.r.repeat, rows[row].repeat);
        has(u.msg, rows[row].msg);
        job_unref(j);
        void *done = f;
        tear_down(&done);
    }
}

static void an_older_executor_is_named(void **state)
{
    struct fixture *f = *state;
    struct job *j = a_job("");
    begin(f, serve, "\x01\x02hessian");
    struct call what = run_of(f, j);
    struct user u = call(f, &what);
    assert_int_equal(u.r.outcome, CALL_FOREIGN);
    has(u.msg, "does not speak HTTP");
    job_unref(j);
}

static void a_log_proves_a_state(void **state)
{
    struct fixture *f = *state;
    static char answer[256];
    static const char body[] = "{\"code\":200,\"msg\":null,\"data\":{\"fromLineNum\":1,"
                               "\"toLineNum\":0,\"logContent\":\"readLog fail, logFile not "
                               "exists\",\"isEnd\":true}}";
    snprintf(answer, sizeof(answer), ANSWER("%s"), sizeof(body) - 1, body);
    begin(f, serve, answer);
    struct call what = { .kind = CALL_LOG, .address = f->address, .log_id = 345 };
    struct user u = call(f, &what);
    assert_int_equal(u.r.outcome, CALL_ANSWERED);
    assert_int_equal(u.r.log, LOG_NONE);
}

static void a_page_of_a_log(void **state)
{
    struct fixture *f = *state;
    static char answer[256];
    static const char body[] = "{\"code\":200,\"msg\":null,\"content\":{\"fromLineNum\":5,"
                               "\"toLineNum\":6,\"logContent\":\"a\\nb\\n\",\"isEnd\":true}}";
    snprintf(answer, sizeof(answer), ANSWER("%s"), sizeof(body) - 1, body);
    begin(f, serve, answer);
    struct call what = { .kind = CALL_LOG, .address = f->address, .log_id = 345 };
    struct user u = user(true);
    u.page.from_line = 5;
    u.call.page = &u.page;
    start(f, &what, &u);
    iterate_while_false(f->l, &u.ended);
    assert_int_equal(u.r.outcome, CALL_ANSWERED);
    assert_int_equal(u.r.code, 200);
    assert_true(u.page.present && u.page.is_end);
    assert_int_equal(u.page.from_line, 5);
    assert_int_equal(u.page.to_line, 6);
    assert_string_equal(u.content, "a\nb\n");
    has(wire(f), "\"fromLineNum\":5}");
}

static void an_executor_without_logs_has_no_page(void **state)
{
    struct fixture *f = *state;
    begin(f, serve, yes());
    struct call what = { .kind = CALL_LOG, .address = f->address, .log_id = 345 };
    struct user u = user(true);
    u.page.from_line = 5;
    u.call.page = &u.page;
    start(f, &what, &u);
    iterate_while_false(f->l, &u.ended);
    assert_int_equal(u.r.code, 200);
    assert_false(u.page.present);
}

/* ---- what does not leave --------------------------------------------------------------------- */

static void a_no_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    begin(f, serve, yes());
    struct call what = beat(f);
    struct user u = user(false);
    start(f, &what, &u);
    iterate_while_false(f->l, &u.ended);
    assert_int_equal(u.asked, 1);
    assert_int_equal(u.r.outcome, CALL_AGAIN);
    assert_int_equal(u.call.sent_us, 0);
    wire(f);
    assert_int_equal(f->s.got.len, 0);
}

static void a_no_on_a_kept_connection_ends_at_once(void **state)
{
    struct fixture *f = *state;
    begin(f, serve, yes());
    struct call what = beat(f);
    call(f, &what);
    struct user u = user(false);
    start(f, &what, &u);
    assert_true(u.ended);
    assert_int_equal(u.asked, 1);
    assert_int_equal(u.r.outcome, CALL_AGAIN);
}

static void who_is_not_asked_may_leave(void **state)
{
    struct fixture *f = *state;
    begin(f, serve, yes());
    struct call what = beat(f);
    struct user u = user(false);
    u.call.leaving = NULL;
    start(f, &what, &u);
    iterate_while_false(f->l, &u.ended);
    assert_int_equal(u.r.outcome, CALL_ANSWERED);
}

static void no_address_ends_at_once(void **state)
{
    struct fixture *f = *state;
    static const char *const addresses[] = { "", "redis://x", "http://", "http://a b/" };
    for (size_t i = 0; i < countof(addresses); i++) {
        struct user u = user(true);
        struct call what = { .kind = CALL_BEAT, .address = addresses[i] };
        start(f, &what, &u);
        assert_true(u.ended);
        assert_int_equal(u.asked, 0);
        assert_int_equal(u.r.outcome, CALL_NOT_SENT);
        assert_int_equal(u.call.err, ERR_INVALID);
        has(u.msg, "address: ");
    }
    transports_warm(f->all, "redis://x", 2); /* says nothing */
}

static void texts_that_are_too_large_fit_nowhere(void **state)
{
    struct fixture *f = *state;
    size_t n = 5 << 20;
    char *script = mem_new(n + 1);
    memset(script, 'x', n);
    struct job *j = a_job(script);
    snprintf(f->address, sizeof(f->address), "http://127.0.0.1:9/");
    struct call what = run_of(f, j);
    struct user u = user(true);
    start(f, &what, &u);
    assert_true(u.ended);
    assert_int_equal(u.asked, 0);
    assert_int_equal(u.r.outcome, CALL_UNFIT);
    has(u.msg, "larger than 4 MiB");
    job_unref(j);
    free(script);
}

static void connections_are_bounded(void **state)
{
    struct fixture *f = *state;
    begin(f, serve_none, NULL);
    struct user u[CONNECTIONS + 1];
    struct call what = beat(f);
    for (int i = 0; i <= CONNECTIONS; i++) {
        u[i] = user(true);
        start(f, &what, &u[i]);
        assert_int_equal(u[i].ended, i == CONNECTIONS);
    }
    assert_int_equal(u[CONNECTIONS].r.outcome, CALL_FULL);
    assert_int_equal(u[CONNECTIONS].asked, 0);
    has(u[CONNECTIONS].msg, "every connection to the executor is in use");
    for (int i = 0; i < CONNECTIONS; i++)
        if (!u[i].asked)
            iterate_while_false(f->l, (bool *)&u[i].asked);
    for (int i = 0; i < CONNECTIONS; i++)
        assert_int_equal(transport_abort(&u[i].call), CALL_IN_DOUBT);
}

/* ---- abort, warm, sweep ---------------------------------------------------------------------- */

static bool asked(void *arg)
{
    return ((struct user *)arg)->asked > 0;
}

static void an_aborted_call_says_what_is_proved(void **state)
{
    struct fixture *f = *state;
    begin(f, serve_none, NULL);
    struct call what = beat(f);
    struct user u = user(true);
    start(f, &what, &u);
    iterate_until(f->l, asked, &u);
    assert_int_equal(transport_abort(&u.call), CALL_IN_DOUBT);
    assert_true(u.call.sent_us > 0);
    assert_false(u.ended);
    struct user early = user(true);
    start(f, &what, &early); /* its connection is being opened */
    assert_int_equal(transport_abort(&early.call), CALL_NOT_SENT);
    assert_int_equal(early.asked, 0);
    assert_false(early.ended);
}

static void serve_counted(struct script *s, int fd, int nth)
{
    atomic_int *accepted = s->arg;
    (void)nth;
    atomic_fetch_add(accepted, 1);
    script_read_request(s, fd);
    script_write(fd, yes());
    script_wait_end(s, fd);
}

static bool accepted_one(void *arg)
{
    return atomic_load((atomic_int *)arg) == 1;
}

static void what_is_warm_carries_the_next_call(void **state)
{
    struct fixture *f = *state;
    static atomic_int accepted;
    accepted = 0;
    begin(f, serve_counted, (char *)&accepted);
    transports_warm(f->all, f->address, 1);
    iterate_until(f->l, accepted_one, &accepted);
    struct call what = beat(f);
    struct user u = call(f, &what);
    assert_int_equal(u.r.outcome, CALL_ANSWERED);
    wire(f);
    assert_int_equal(accepted, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_run_says_when_and_which),
        cmocka_unit_test(the_other_kinds),
        cmocka_unit_test(what_an_answer_means),
        T(an_older_executor_is_named),
        T(a_log_proves_a_state),
        T(a_page_of_a_log),
        T(an_executor_without_logs_has_no_page),
        T(a_no_leaves_nothing),
        T(a_no_on_a_kept_connection_ends_at_once),
        T(who_is_not_asked_may_leave),
        T(no_address_ends_at_once),
        T(texts_that_are_too_large_fit_nowhere),
        T(connections_are_bounded),
        T(an_aborted_call_says_what_is_proved),
        T(what_is_warm_carries_the_next_call),
    };
    return cmocka_run_group_tests_name("transport.http", tests, NULL, NULL);
}
