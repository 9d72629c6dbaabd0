/* SPDX-License-Identifier: Apache-2.0 */
/* Events over a real front, against a test that plays the feed: what a viewer sees of one change
 * and of many, one who is too far behind, a feed that begins anew, bounds of the ring. */
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
#include "live/events.h"

#define WAIT_MS 30000

struct fixture {
    struct loop *l;
    struct httpd *h;
    struct viewers *viewers;
    struct events *events;
    struct feed_reader *reader;
    int64_t users;
};

/* GET /GROUP/JOB: of that group and job; 0: of all. */
static void on_request(struct httpd_request *q, void *arg)
{
    struct fixture *f = arg;
    char after[65];
    int64_t group, job;
    struct slice rest = slice_of(q->path.p + 1, q->path.n - 1), part;
    assert_true(slice_cut(&rest, '/', &part) && parse_i64(part, &group));
    assert_true(parse_i64(rest, &job));
    text_copy(after, sizeof(after), httpd_header(q, "Last-Event-ID"));
    int64_t ids[] = { group }, jobs[] = { job };
    struct viewer_who who = { .user_id = ++f->users, .ends_ms = INT64_MAX };
    const struct events_wish wish = { .topics = EVENTS_ALL,
                                      .scope = { .all = group == 0, .ids = ids, .n = group != 0 },
                                      .jobs = jobs,
                                      .njobs = job != 0,
                                      .after = after };
    events_watch(f->events, q, slice_text(""), &wish, &who);
}

static void vitals(void *arg, struct jsonw *w)
{
    (void)arg;
    jsonw_bool(w, "ok", true);
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
    struct events_config ec = { .loop = f->l, .viewers = f->viewers, .vitals = vitals };
    f->events = events_new(&ec);
    f->reader = events_reader(f->events);
    f->reader->begin(f->reader, NULL, 0);
    return f;
}

static void end(struct fixture *f)
{
    viewers_free(f->viewers);
    events_free(f->events);
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

static void watch(struct fixture *f, struct client *c, int group, int job, const char *after)
{
    char text[200];
    int small = 4096;
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(httpd_port(f->h)) };
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    buf_init(&c->got, 64 << 20);
    assert_int_equal(connect(c->fd, (struct sockaddr *)&a, sizeof(a)), 0);
    int n = snprintf(text, sizeof(text), "GET /%d/%d HTTP/1.0\r\n%s%s\r\n\r\n", group, job,
                     after ? "Last-Event-ID: " : "X: y", after ? after : "");
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

/* The id of the last event that came. */
static void last_id(struct client *c, char to[65])
{
    const char *at = buf_str(&c->got), *next;
    while ((next = strstr(at, "id: ")))
        at = next + 4;
    text_copy(to, 65, slice_of(at, strcspn(at, "\n")));
}

/* ---- the feed ----------------------------------------------------------------------------------
 */

static void edits(struct fixture *f, int from, int n)
{
    for (int i = from; i < from + n; i++) {
        const struct feed_edit e = {
            .kind = EDIT_JOB_UPDATE, .id = i, .version = 1, .group_id = 1, .enabled = true
        };
        f->reader->edits(f->reader, &e, 1);
    }
}

static void runs(struct fixture *f, int group, int job, int n)
{
    for (int i = 1; i <= n; i++) {
        const struct run_seen r = { .log_id = i,
                                    .job_id = job,
                                    .group_id = group,
                                    .scheduled_ms = 1000,
                                    .phase = PHASE_ACCEPTED };
        f->reader->runs(f->reader, &r, 1);
    }
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void one_change_is_told_to_those_who_may_see_it(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client all, mine, other, job;
    watch(f, &all, 0, 0, NULL);
    watch(f, &mine, 1, 0, NULL);
    watch(f, &other, 2, 0, NULL);
    watch(f, &job, 0, 7, NULL);
    until(f, &all, "retry: ");
    until(f, &mine, "retry: ");
    until(f, &other, "retry: ");
    until(f, &job, "retry: ");
    runs(f, 1, 7, 1);
    runs(f, 1, 8, 1);
    runs(f, 2, 9, 1);
    static const char seventh[] =
        "\nevent: run\ndata: {\"id\":1,\"jobId\":7,\"groupId\":1,"
        "\"phase\":\"accepted\",\"outcome\":\"open\",\"scheduledMs\":1000,"
        "\"endedMs\":null,\"tookMs\":null}\n\n";
    until(f, &all, seventh);
    until(f, &all, "\"jobId\":9");
    until(f, &mine, "\"jobId\":8");
    until(f, &other, "\"jobId\":9");
    until(f, &job, seventh);
    assert_non_null(strstr(buf_str(&mine.got), seventh));
    assert_null(strstr(buf_str(&mine.got), "\"jobId\":9"));
    assert_null(strstr(buf_str(&other.got), "\"jobId\":7"));
    assert_null(strstr(buf_str(&job.got), "\"jobId\":8"));
    leave(&all);
    leave(&mine);
    leave(&other);
    leave(&job);
    end(f);
}

static void many_changes_are_counted_for_each_viewer(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client all, mine, job, none;
    watch(f, &all, 0, 0, NULL);
    watch(f, &mine, 1, 0, NULL);
    watch(f, &job, 0, 8, NULL);
    watch(f, &none, 3, 0, NULL);
    until(f, &all, "retry: ");
    until(f, &mine, "retry: ");
    until(f, &job, "retry: ");
    until(f, &none, "retry: ");
    runs(f, 1, 7, EVENTS_SINGLE); /* told one by one */
    runs(f, 1, 7, 100);
    runs(f, 1, 8, 30);
    runs(f, 2, 9, 20);
    until(f, &all, "\"counts\":{\"open\":150},\"jobs\":[7,8,9]}");
    until(f, &mine, "\"counts\":{\"open\":130},\"jobs\":[7,8]}");
    until(f, &job, "\"counts\":{\"open\":30},\"jobs\":[8]}");
    assert_non_null(strstr(buf_str(&all.got), "event: run\n"));
    for (int i = 1; i <= 300; i++) /* the next window is told as a whole, with more jobs than fit */
        runs(f, 1, i, 1);
    until(f, &mine, "\"counts\":{\"open\":300},\"jobs\":[]}");
    take(&none);
    assert_null(strstr(buf_str(&none.got), "event: run"));
    leave(&all);
    leave(&mine);
    leave(&job);
    leave(&none);
    end(f);
}

static void what_leaves_a_group_is_told_to_those_who_saw_it(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client mine, other;
    watch(f, &mine, 1, 0, NULL);
    watch(f, &other, 2, 0, NULL);
    until(f, &mine, "retry: ");
    until(f, &other, "retry: ");
    const struct feed_edit moved = {
        .kind = EDIT_JOB_UPDATE, .id = 71, .version = 2, .group_id = 2, .was_group_id = 1
    };
    const struct feed_edit hidden = {
        .kind = EDIT_JOB_DELETE, .id = 72, .group_id = 2, .was_group_id = 2
    };
    f->reader->edits(f->reader, &moved, 1);
    f->reader->edits(f->reader, &hidden, 1);
    struct feed_executor *x = mem_new(sizeof(*x) + 2 * sizeof(*x->groups));
    x->address = "http://h:1/";
    x->state = EXECUTOR_STATES;
    x->ngroups = 2;
    x->groups[0] = 2;
    x->groups[1] = 3;
    f->reader->executor(f->reader, x);
    free(x);
    edits(f, 99, 1); /* of group 1 */
    until(f, &mine, "\"id\":99,");
    until(f, &other,
          "event: executor\ndata: {\"key\":\"aHR0cDovL2g6MS8\","
          "\"address\":\"http://h:1/\",\"state\":\"gone\"}\n\n");
    assert_non_null(strstr(buf_str(&mine.got), "\"id\":71,"));
    assert_non_null(strstr(buf_str(&other.got), "\"id\":71,"));
    assert_non_null(strstr(buf_str(&other.got), "\"id\":72,"));
    assert_null(strstr(buf_str(&mine.got), "\"id\":72,"));
    assert_null(strstr(buf_str(&mine.got), "event: executor"));
    leave(&mine);
    leave(&other);
    end(f);
}

static void one_who_is_far_behind_is_set_to_the_end(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client slow, quick;
    watch(f, &slow, 0, 0, NULL);
    watch(f, &quick, 0, 0, NULL);
    until(f, &slow, "retry: ");
    until(f, &quick, "retry: ");
    for (int i = 0; i < 200; i++) {
        edits(f, 1 + i * 100, 100);
        for (int k = 0; k < 4; k++)
            loop_iterate(f->l, 0);
        take(&quick);
    }
    edits(f, 777777, 1);
    until(f, &quick, "\"id\":777777,");
    assert_null(strstr(buf_str(&quick.got), "event: reset"));
    until(f, &slow, "event: reset\ndata: {}\n\n");
    edits(f, 888888, 1);
    until(f, &slow, "\"id\":888888,");
    assert_null(strstr(buf_str(&slow.got), "\"id\":777777,")); /* it was set behind that */
    leave(&slow);
    leave(&quick);
    end(f);
}

static void places_are_kept_for_so_many_events(void **state)
{
    (void)state;
    struct fixture *f = begin();
    struct client c;
    char id[65];
    watch(f, &c, 0, 0, NULL);
    until(f, &c, "retry: ");
    edits(f, 1, 1);
    until(f, &c, "\"id\":1,");
    last_id(&c, id);
    leave(&c);
    edits(f, 2, 1000);
    watch(f, &c, 0, 0, id); /* nothing is missed */
    until(f, &c, "\"id\":2,");
    until(f, &c, "\"id\":1001,");
    assert_null(strstr(buf_str(&c.got), "reset"));
    assert_null(strstr(buf_str(&c.got), "\"id\":1,"));
    leave(&c);
    edits(f, 1002, EVENTS_KEPT);
    watch(f, &c, 0, 0, id);
    until(f, &c, "event: reset");
    last_id(&c, id);
    leave(&c);
    edits(f, 9001, 1);
    watch(f, &c, 0, 0, id); /* the reset was a place, too */
    until(f, &c, "\"id\":9001,");
    assert_null(strstr(buf_str(&c.got), "reset"));
    f->reader->begin(f->reader, NULL, 0); /* the feed begins anew: all is to be read again */
    until(f, &c, "event: reset");
    edits(f, 9002, 1);
    until(f, &c, "\"id\":9002,");
    leave(&c);
    watch(f, &c, 0, 0, id);
    until(f, &c, "event: reset");
    leave(&c);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_change_is_told_to_those_who_may_see_it),
        cmocka_unit_test(what_leaves_a_group_is_told_to_those_who_saw_it),
        cmocka_unit_test(many_changes_are_counted_for_each_viewer),
        cmocka_unit_test(one_who_is_far_behind_is_set_to_the_end),
        cmocka_unit_test(places_are_kept_for_so_many_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
