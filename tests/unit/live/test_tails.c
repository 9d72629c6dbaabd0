/* SPDX-License-Identifier: Apache-2.0 */
/* Tails over a real front, against a test that plays the executors: who asks when, what viewers get
 * of pages, bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "live/tails.h"

#define WAIT_MS 30000
#define ASKS 300

struct fixture {
    struct loop *l;
    struct httpd *h;
    struct viewers *viewers;
    struct tails *tails;
    struct center_log_ask *asks[ASKS]; /* not answered yet */
    int n;
    enum err last; /* of tails_watch */
    int64_t users; /* each viewer is another */
};

static void on_ask(void *arg, struct center_log_ask *a)
{
    struct fixture *f = arg;
    assert_true(f->n < ASKS);
    f->asks[f->n++] = a;
}

/* GET /RUN/LINE/HOST */
static void on_request(struct httpd_request *q, void *arg)
{
    struct fixture *f = arg;
    int64_t run;
    int line;
    char host[50];
    struct slice rest = slice_of(q->path.p + 1, q->path.n - 1), part;
    assert_true(slice_cut(&rest, '/', &part) && parse_i64(part, &run));
    assert_true(slice_cut(&rest, '/', &part) && parse_int(part, &line));
    text_copy(host, sizeof(host), rest);
    struct viewer_who who = { .user_id = ++f->users, .ends_ms = INT64_MAX };
    const struct tail_wish wish = {
        .log_id = run, .trigger_ms = 1, .address = host, .from_line = line
    };
    f->last = tails_watch(f->tails, q, slice_text(""), &wish, &who);
    if (f->last)
        httpd_reply_error(q, 503, "full");
}

static struct fixture *begin(void)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct httpd_config cf = { .on_request = on_request, .arg = f };
    struct addr_listen at;
    struct why why;
    f->l = loop_new();
    f->h = httpd_new(f->l, &cf);
    assert_int_equal(addr_listen_parse(slice_text("127.0.0.1:0"), &at, &why), OK);
    assert_int_equal(httpd_listen(f->h, &at, &why), OK);
    f->viewers = viewers_new(f->l, 0, NULL, NULL);
    struct tails_config tc = { .loop = f->l, .viewers = f->viewers, .ask = on_ask, .arg = f };
    f->tails = tails_new(&tc);
    return f;
}

static void end(struct fixture *f)
{
    viewers_free(f->viewers);
    tails_free(f->tails);
    for (int i = 0; i < f->n; i++)
        center_log_ask_free(f->asks[i]);
    httpd_free(f->h);
    loop_free(f->l);
    free(f);
}

/* ---- clients -----------------------------------------------------------------------------------
 */

struct client {
    int fd;
    struct buf got;
};

static void watch(struct fixture *f, struct client *c, long long run, int line, const char *host)
{
    char text[200];
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(httpd_port(f->h)) };
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    buf_init(&c->got, 64 << 20);
    assert_int_equal(connect(c->fd, (struct sockaddr *)&a, sizeof(a)), 0);
    int n = snprintf(text, sizeof(text), "GET /%lld/%d/%s HTTP/1.0\r\n\r\n", run, line, host);
    assert_int_equal(send(c->fd, text, (size_t)n, MSG_NOSIGNAL), n);
}

static void take(struct client *c)
{
    ssize_t n;
    do {
        char *room = buf_room(&c->got, 65536);
        n = recv(c->fd, room, 65536, MSG_DONTWAIT);
        c->got.len += n > 0 ? (size_t)n : 0;
        c->got.data[c->got.len] = '\0';
    } while (n > 0);
}

static void until(struct fixture *f, struct client *c, const char *text)
{
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    for (take(c); !strstr(buf_str(&c->got), text); take(c)) {
        if (clock_boot_ms() > end_ms)
            fail_msg("no \"%s\" in: %s", text, buf_str(&c->got));
        loop_iterate(f->l, 20);
    }
}

static void leave(struct client *c)
{
    close(c->fd);
    buf_done(&c->got);
}

static void until_asks(struct fixture *f, int n)
{
    int64_t end_ms = clock_boot_ms() + WAIT_MS;
    while (f->n < n) {
        assert_true(clock_boot_ms() < end_ms);
        loop_iterate(f->l, 20);
    }
}

/* Answer the oldest ask with lines from..to, or without any. */
static void answer_with(struct fixture *f, bool open, bool is_end, int to, const char *content)
{
    struct center_log_ask *a = f->asks[0];
    memmove(f->asks, f->asks + 1, (size_t)--f->n * sizeof(*f->asks));
    a->run_open = open;
    a->log = (struct center_log){ .from_line = a->from_line,
                                  .to_line = to,
                                  .content = mem_dup(content),
                                  .n = strlen(content),
                                  .is_end = is_end };
    tails_answered(f->tails, a);
}

static void answer(struct fixture *f, bool open, int to, const char *content)
{
    answer_with(f, open, false, to, content);
}

static void answer_end(struct fixture *f, bool open, int to, const char *content)
{
    answer_with(f, open, true, to, content);
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void pauses_grow_while_nothing_comes(void **state)
{
    (void)state;
    assert_int_equal(tail_pause(0, false, 0), 500);
    assert_int_equal(tail_pause(500, false, 1), 750);
    assert_int_equal(tail_pause(750, false, 1), 1125);
    assert_int_equal(tail_pause(2900, false, 1), 3000);
    assert_int_equal(tail_pause(3000, true, 1), 500);
    assert_int_equal(tail_pause(500, true, 80), 800);     /* ten times what the executor takes */
    assert_int_equal(tail_pause(3000, false, 900), 9000); /* also above the longest pause */
    assert_int_equal(tail_pause(500, true, 100000), 60000);
}

static void many_viewers_are_one_ask(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client c[20];
    for (int i = 0; i < 20; i++)
        watch(f, &c[i], 7, 1, "http://a/");
    for (int i = 0; i < 20; i++)
        until(f, &c[i], "retry: ");
    until_asks(f, 1);
    assert_int_equal(f->asks[0]->from_line, 1);
    answer(f, true, 2, "one\ntwo\n");
    for (int i = 0; i < 20; i++)
        until(f, &c[i],
              "id: 2\nevent: lines\ndata: {\"fromLine\":1,\"lines\":[\"one\",\"two\"]}\n\n");
    until_asks(f, 1);
    assert_int_equal(f->n, 1);
    assert_int_equal(f->asks[0]->from_line, 3);
    answer(f, false, 2, "");
    for (int i = 0; i < 20; i++) {
        until(f, &c[i], "data: {\"state\":\"finished\",\"end\":true,\"detail\":null}\n\n");
        leave(&c[i]);
    }
    end(f);
}

static void an_event_is_cut_for_one_who_has_its_beginning(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client first, second;
    watch(f, &first, 7, 1, "http://a/");
    until_asks(f, 1);
    answer(f, true, 4, "say \"x\",\n\\\\\",\n]}\nlast\n");
    until(f, &first, "\"last\"]}\n\n");
    watch(f, &second, 7, 3, "http://a/");
    until(f, &second,
          "id: 4\nevent: lines\ndata: {\"fromLine\":3,\"lines\":[\"]}\",\"last\"]}\n\n");
    leave(&first);
    leave(&second);
    end(f);
}

/* The lines that came count. One who comes in the middle of what was only said is sent nothing of
 * it: once, that read beyond the event's end. */
static void pages_with_other_lines_than_they_say_are_counted(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client c, gap;
    watch(f, &c, 7, 1, "http://a/");
    until_asks(f, 1);
    answer(f, true, 1000, "one\ntwo\n");
    until(f, &c, "id: 2\nevent: lines\ndata: {\"fromLine\":1,\"lines\":[\"one\",\"two\"]}\n\n");
    watch(f, &gap, 7, 500, "http://a/");
    until(f, &gap, "retry: ");
    until_asks(f, 1);
    assert_int_equal(f->asks[0]->from_line, 3);
    answer(f, true, 4, "three\nfour\nfive\n"); /* more than it says */
    until(f, &c, "id: 5\nevent: lines\ndata: {\"fromLine\":3,\"lines\":[\"three\",");
    until_asks(f, 1);
    assert_int_equal(f->asks[0]->from_line, 6);
    answer(f, true, 5, "from long ago\n"); /* a page before what was asked for */
    until_asks(f, 1);
    assert_int_equal(f->asks[0]->from_line, 6);
    answer(f, true, INT32_MAX, "far away\n");
    until_asks(f, 1);
    assert_int_equal(f->asks[0]->from_line, 6);
    take(&c);
    assert_null(strstr(buf_str(&c.got), "long ago"));
    assert_null(strstr(buf_str(&c.got), "far away"));
    take(&gap);
    assert_null(strstr(buf_str(&gap.got), "event: lines"));
    leave(&c);
    leave(&gap);
    end(f);
}

/* It gives the same lines for ever otherwise. */
static void an_executor_that_numbers_otherwise_is_believed_after_three_pages(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client c;
    watch(f, &c, 7, 1, "http://a/");
    for (int i = 0; i < 3; i++) {
        until_asks(f, 1);
        assert_int_equal(f->asks[0]->from_line, i + 1);
        answer(f, true, 10, "x\n");
    }
    until_asks(f, 1);
    assert_int_equal(f->asks[0]->from_line, 11);
    answer(f, true, 11, "eleven\n");
    until(f, &c, "id: 11\nevent: lines\ndata: {\"fromLine\":11,");
    leave(&c);
    end(f);
}

/* isEnd is what the file has now: some executors say it each time. */
static void the_end_of_the_file_is_not_the_end_of_an_open_run(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client c;
    watch(f, &c, 7, 1, "http://a/");
    until_asks(f, 1);
    answer_end(f, true, 0, "");
    until(f, &c, "data: {\"state\":\"running\",\"end\":false,\"detail\":null}\n\n");
    until_asks(f, 1);
    answer_end(f, true, 1, "one\n");
    until(f, &c, "\"lines\":[\"one\"]}\n\n");
    until_asks(f, 1);
    answer_end(f, false, 1, "");
    until(f, &c, "data: {\"state\":\"finished\",\"end\":true,\"detail\":null}\n\n");
    leave(&c);
    end(f);
}

static void an_address_has_four_asks_at_most(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client c[7];
    for (int i = 0; i < 6; i++)
        watch(f, &c[i], i + 1, 1, "http://a/");
    for (int i = 0; i < 6; i++)
        until(f, &c[i], "retry: ");
    until_asks(f, 4);
    watch(f, &c[6], 7, 1, "http://b/"); /* another one has its own four */
    until_asks(f, 5);
    assert_string_equal(f->asks[4]->address, "http://b/");
    answer(f, true, 1, "x\n");
    assert_int_equal(f->n, 5); /* the next one's turn, at once */
    assert_int_not_equal(f->asks[4]->log_id, f->asks[0]->log_id);
    for (int i = 0; i < 7; i++)
        leave(&c[i]);
    end(f);
}

static void nobody_watches_and_nobody_asks(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client c;
    watch(f, &c, 7, 1, "http://a/");
    until_asks(f, 1);
    leave(&c);
    while (viewers_count(f->viewers))
        loop_iterate(f->l, 20);
    answer(f, true, 1, "x\n");
    int64_t end_ms = clock_boot_ms() + 700; /* longer than the pause after lines */
    while (clock_boot_ms() < end_ms)
        loop_iterate(f->l, 20);
    assert_int_equal(f->n, 0);
    assert_int_equal(tails_count(f->tails), 1); /* kept for those who come back */
    watch(f, &c, 7, 1, "http://a/");
    until_asks(f, 1);
    assert_int_equal(f->asks[0]->from_line, 1); /* what came for nobody was not kept */
    leave(&c);
    end(f);
}

static void a_line_that_is_never_reached_keeps_nobody_waiting(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client far, near;
    watch(f, &far, 7, 2000000000, "http://a/");
    until_asks(f, 1);
    answer(f, true, 2, "");
    watch(f, &near, 7, 1, "http://a/");
    until(f, &near, "retry: ");
    until_asks(f, 1);
    if (f->asks[0]->from_line != 1) { /* it was on its way when the second came */
        answer(f, true, 2, "");
        until_asks(f, 1);
    }
    assert_int_equal(f->asks[0]->from_line, 1);
    answer(f, true, 2, "one\ntwo\n");
    until(f, &near, "{\"fromLine\":1,\"lines\":[\"one\",\"two\"]}\n\n");
    take(&far);
    assert_null(strstr(buf_str(&far.got), "\"one\""));
    leave(&far);
    leave(&near);
    end(f);
}

static void so_many_logs_and_no_more(void **state)
{
    (void)state;
    struct fixture *f = begin();
    static struct client c[TAILS_MAX + 1];
    for (int i = 0; i < TAILS_MAX; i++) {
        watch(f, &c[i], i + 1, 1, "http://a/");
        until(f, &c[i], "retry: ");
    }
    watch(f, &c[TAILS_MAX], TAILS_MAX + 1, 1, "http://a/");
    until(f, &c[TAILS_MAX], "HTTP/1.1 503 ");
    assert_int_equal(f->last, ERR_FULL);
    leave(&c[TAILS_MAX]);
    leave(&c[TAILS_MAX - 1]); /* waits for its turn: its place is free when it has gone */
    while (viewers_count(f->viewers) == TAILS_MAX)
        loop_iterate(f->l, 20);
    watch(f, &c[TAILS_MAX], TAILS_MAX + 1, 1, "http://a/");
    until(f, &c[TAILS_MAX], "retry: ");
    assert_int_equal(tails_count(f->tails), TAILS_MAX);
    for (int i = 0; i <= TAILS_MAX; i++)
        if (i != TAILS_MAX - 1)
            leave(&c[i]);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_grow_while_nothing_comes),
        cmocka_unit_test(many_viewers_are_one_ask),
        cmocka_unit_test(an_event_is_cut_for_one_who_has_its_beginning),
        cmocka_unit_test(pages_with_other_lines_than_they_say_are_counted),
        cmocka_unit_test(an_executor_that_numbers_otherwise_is_believed_after_three_pages),
        cmocka_unit_test(the_end_of_the_file_is_not_the_end_of_an_open_run),
        cmocka_unit_test(an_address_has_four_asks_at_most),
        cmocka_unit_test(nobody_watches_and_nobody_asks),
        cmocka_unit_test(a_line_that_is_never_reached_keeps_nobody_waiting),
        cmocka_unit_test(so_many_logs_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
