/* SPDX-License-Identifier: Apache-2.0 */
/* A front that has no room: whose connection, and whose large body, yields to whom; and heads of
 * large requests, which are judged before their bodies are read. */
#include "support_net.h"
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "base/mem.h"
#include "net/httpd.h"
#include "net/sources.h"

#define FLOOD "127.0.0.2"
#define OWN "127.0.0.1"
#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define TRICKLE "GET / HT"

struct fixture {
    struct loop *l;
    struct httpd *h;
    struct httpd_request *kept;
    struct httpd_moved *moved; /* of a path that begins with /move, by its head */
    int requests, heads;
};

static bool begins(struct slice s, const char *text)
{
    size_t n = strlen(text);
    return s.n >= n && memcmp(s.p, text, n) == 0;
}

static void on_request(struct httpd_request *q, void *arg)
{
    struct fixture *f = arg;
    f->requests++;
    if (begins(q->path, "/token"))
        httpd_proved(q);
    if (begins(q->path, "/token/keep"))
        f->kept = q;
    else
        httpd_reply(q, 200, "text/plain", slice_text(""), q->path);
}

static size_t on_head(struct httpd_request *q, void *arg)
{
    struct fixture *f = arg;
    f->heads++;
    assert_int_equal(q->body.n, 0);
    if (begins(q->path, "/refuse"))
        httpd_reply(q, 200, "text/plain", slice_text(""), slice_text("no token"));
    else if (begins(q->path, "/move"))
        f->moved = httpd_detach(q);
    return begins(q->path, "/small") ? 20000 : 1 << 20;
}

static struct fixture *open_front(int connections, size_t bodies)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct httpd_config cf = { .on_request = on_request,
                               .on_head = on_head,
                               .max_connections = connections,
                               .bodies_max = bodies,
                               .arg = f };
    f->l = loop_new();
    f->h = httpd_new(f->l, &cf);
    listen_quietly(f->h);
    return f;
}

static void close_front(struct fixture *f)
{
    httpd_free(f->h);
    loop_free(f->l);
    free(f);
}

static struct httpd_stats stats(struct fixture *f)
{
    struct httpd_stats st;
    httpd_stats(f->h, &st);
    return st;
}

struct wanted {
    struct fixture *f;
    uint64_t n;
};

static bool has_accepted(void *arg)
{
    struct wanted *w = arg;
    return stats(w->f).accepted >= w->n;
}

/* A connection that the front has taken; what it sent first has been read with it. */
static void come(struct fixture *f, struct raw *r, const char *from, const char *text)
{
    struct wanted w = { f, stats(f).accepted + 1 };
    raw_open_from(r, from, httpd_port(f->h));
    raw_send(r, f->l, text);
    iterate_until(f->l, has_accepted, &w);
    loop_iterate(f->l, 0);
}

/* It is there still, and gets an answer. */
static void ask(struct fixture *f, struct raw *r, const char *path)
{
    char text[100], want[60];
    snprintf(text, sizeof(text), GET("%s"), path);
    snprintf(want, sizeof(want), "\r\n\r\n%s", path);
    raw_send(r, f->l, text);
    raw_until(r, f->l, want);
}

static int ended(struct raw *r, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found += raw_has_ended(&r[i]);
    return found;
}

enum { ROOM = 8, CROWD = 40 };

static void a_flood_of_one_address_yields_to_others(void **state)
{
    (void)state;
    struct fixture *f = open_front(ROOM, 0);
    struct raw flood[CROWD], old, young;
    come(f, &old, OWN, GET("/old"));
    raw_until(&old, f->l, "/old");
    for (int i = 0; i < CROWD; i++)
        come(f, &flood[i], FLOOD, i % 2 ? TRICKLE : GET("/x"));
    come(f, &young, OWN, "");
    ask(f, &young, "/young");
    ask(f, &old, "/again"); /* idle all the time, but its address had one connection only */
    assert_int_equal(stats(f).refused_full, 0);
    assert_int_equal(stats(f).connections, ROOM);
    assert_int_equal(ended(flood, CROWD), CROWD + 2 - ROOM);
    for (int i = 0; i < CROWD; i++)
        raw_close(&flood[i]);
    raw_close(&old);
    raw_close(&young);
    close_front(f);
}

static void of_one_address_the_slowest_yields(void **state)
{
    (void)state;
    struct fixture *f = open_front(3, 0);
    struct raw slow, busy, idle, next;
    come(f, &slow, OWN, TRICKLE);
    come(f, &busy, OWN, GET("/busy"));
    come(f, &idle, OWN, "");
    ask(f, &busy, "/again");
    raw_send(&slow, f->l, "T"); /* a byte now and then does not make it faster */
    come(f, &next, OWN, "");
    ask(f, &next, "/next");
    raw_until_end(&slow, f->l);
    assert_false(raw_has_ended(&busy) || raw_has_ended(&idle));
    raw_close(&slow);
    come(f, &slow, OWN, TRICKLE);
    raw_until_end(&idle, f->l);
    ask(f, &busy, "/busy2");
    raw_close(&slow);
    raw_close(&busy);
    raw_close(&idle);
    raw_close(&next);
    close_front(f);
}

static void what_has_proved_itself_stays_and_its_address_gets_in(void **state)
{
    (void)state;
    struct fixture *f = open_front(ROOM, 0);
    struct raw executor[ROOM], flood[CROWD], again;
    for (int i = 0; i < ROOM / 2; i++) { /* and the flood comes from the same address */
        come(f, &executor[i], OWN, "");
        ask(f, &executor[i], "/token");
    }
    for (int i = 0; i < CROWD; i++)
        come(f, &flood[i], OWN, TRICKLE);
    for (int i = 0; i < ROOM / 2; i++)
        ask(f, &executor[i], "/token/more");
    come(f, &again, OWN, "");
    ask(f, &again, "/token");
    assert_int_equal(stats(f).refused_full, 0);
    for (int i = 0; i < CROWD; i++)
        raw_close(&flood[i]);
    for (int i = 0; i < ROOM / 2; i++)
        raw_close(&executor[i]);
    raw_close(&again);
    close_front(f);
}

static bool is_kept(void *arg)
{
    return ((struct fixture *)arg)->kept != NULL;
}

static void places_of_a_known_address_go_to_known_addresses_only(void **state)
{
    (void)state;
    struct fixture *f = open_front(3, 0);
    struct raw works, waits, flood, stranger, known;
    come(f, &works, OWN, GET("/token/keep"));
    iterate_until(f->l, is_kept, f);
    come(f, &waits, OWN, TRICKLE); /* has proved nothing itself */
    come(f, &flood, FLOOD, TRICKLE);
    come(f, &stranger, "127.0.0.3", ""); /* takes the flood's place */
    ask(f, &stranger, "/stranger");
    raw_until_end(&flood, f->l);
    raw_close(&flood);
    come(f, &flood, FLOOD, ""); /* and the flood the stranger's, not the known one's */
    raw_until_end(&stranger, f->l);
    come(f, &known, OWN, "");
    ask(f, &known, "/known");
    raw_until_end(&flood, f->l);
    assert_false(raw_has_ended(&waits));
    raw_close(&flood);
    come(f, &flood, FLOOD, "");
    raw_until(&flood, f->l, " 503 "); /* all three are of a known address */
    raw_until_end(&flood, f->l);
    raw_close(&known);
    come(f, &known, OWN, "");
    ask(f, &known, "/known");
    httpd_reply(f->kept, 200, "text/plain", slice_text(""), slice_text("kept"));
    raw_until(&works, f->l, "kept");
    raw_close(&works);
    raw_close(&waits);
    raw_close(&flood);
    raw_close(&stranger);
    raw_close(&known);
    close_front(f);
}

/* --- large bodies --- */

static void send_body(struct fixture *f, struct raw *r, const char *path, int length, int sent)
{
    struct buf b = BUF_INIT(4 << 20);
    buf_printf(&b, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", path, length);
    for (int i = 0; i < sent; i++)
        buf_char(&b, 'x');
    raw_send(r, f->l, buf_str(&b));
    buf_done(&b);
}

static void half_sent_bodies_of_one_address_yield_to_others(void **state)
{
    (void)state;
    struct fixture *f = open_front(0, 2 << 20);
    struct raw flood[4], own;
    for (int i = 0; i < 4; i++) {
        raw_open_from(&flood[i], FLOOD, httpd_port(f->h));
        send_body(f, &flood[i], "/half", 1000000, 900000);
    }
    for (int i = 0; i < 3; i++) {
        raw_open(&own, httpd_port(f->h));
        send_body(f, &own, "/whole", 1000000, 1000000);
        raw_until(&own, f->l, "\r\n\r\n/whole");
        raw_close(&own);
    }
    int refused = 0;
    for (int i = 0; i < 4; i++) {
        raw_has_ended(&flood[i]);
        refused += strstr(buf_str(&flood[i].got), " 503 ") != NULL;
        raw_close(&flood[i]);
    }
    assert_true(refused >= 3);
    close_front(f);
}

static void a_large_request_is_judged_by_its_head(void **state)
{
    (void)state;
    struct fixture *f = open_front(0, 0);
    struct raw r;
    raw_open(&r, httpd_port(f->h));
    send_body(f, &r, "/refuse", 900000, 5000);
    raw_until_end(&r, f->l);
    assert_non_null(strstr(buf_str(&r.got), "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(buf_str(&r.got), "Connection: close\r\n"));
    assert_non_null(strstr(buf_str(&r.got), "\r\n\r\nno token"));
    raw_close(&r);
    raw_open(&r, httpd_port(f->h));
    send_body(f, &r, "/small", 20001, 1);
    raw_until_end(&r, f->l);
    assert_non_null(strstr(buf_str(&r.got), "HTTP/1.1 413 "));
    raw_close(&r);
    assert_int_equal(f->heads, 2);
    assert_int_equal(f->requests, 0);
    raw_open(&r, httpd_port(f->h));
    send_body(f, &r, "/small", 20000, 20000);
    raw_until(&r, f->l, "\r\n\r\n/small");
    send_body(f, &r, "/few", HTTPD_HEAD_FIRST, HTTPD_HEAD_FIRST); /* few bytes: not asked */
    raw_until(&r, f->l, "\r\n\r\n/few");
    send_body(f, &r, "/many", 100000, 100000); /* once a request */
    raw_until(&r, f->l, "\r\n\r\n/many");
    assert_int_equal(f->heads, 4);
    assert_int_equal(f->requests, 3);
    raw_close(&r);
    close_front(f);
}

static void send_chunks(struct fixture *f, struct raw *r, const char *path, int n)
{
    struct buf b = BUF_INIT(4 << 20);
    buf_printf(&b, "POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", path);
    raw_send(r, f->l, buf_str(&b));
    buf_reset(&b);
    buf_text(&b, "3e8\r\n");
    for (int i = 0; i < 1000; i++)
        buf_char(&b, 'x');
    buf_text(&b, "\r\n");
    for (int i = 0; i < n; i++)
        raw_send(r, f->l, buf_str(&b));
    buf_done(&b);
}

static void a_body_of_unknown_length_is_judged_when_it_is_large(void **state)
{
    (void)state;
    struct fixture *f = open_front(0, 0);
    struct raw r;
    raw_open(&r, httpd_port(f->h));
    send_chunks(f, &r, "/refuse", 10);
    raw_send(&r, f->l, "0\r\n\r\n");
    raw_until(&r, f->l, "\r\n\r\n/refuse"); /* by the request: it has few bytes */
    assert_int_equal(f->heads, 0);
    send_chunks(f, &r, "/refuse", 40);
    raw_until_end(&r, f->l);
    assert_non_null(strstr(buf_str(&r.got), "no token"));
    raw_close(&r);
    raw_open(&r, httpd_port(f->h));
    send_chunks(f, &r, "/small", 40);
    raw_until_end(&r, f->l);
    assert_non_null(strstr(buf_str(&r.got), "HTTP/1.1 413 "));
    assert_int_equal(f->heads, 2);
    raw_close(&r);
    close_front(f);
}

static bool is_moved(void *arg)
{
    return ((struct fixture *)arg)->moved != NULL;
}

static void a_large_request_moves_before_its_body_is_read(void **state)
{
    (void)state;
    struct fixture *f = open_front(0, 0);
    struct fixture g = { .l = f->l };
    struct httpd_config cf = { .on_request = on_request, .arg = &g, .body_max = 1 << 20 };
    g.h = httpd_new(f->l, &cf);
    struct raw r, gone;
    for (int i = 0; i < 2; i++) { /* the second one comes back, and moves once more */
        raw_open(&r, httpd_port(f->h));
        send_body(f, &r, "/move", 100000, 5000);
        iterate_until(f->l, is_moved, f);
        assert_int_equal(stats(f).connections, 0);
        assert_int_equal(stats(f).open_requests, 0);
        httpd_attach(i ? f->h : g.h, f->moved);
        if (i) {
            assert_int_equal(f->heads, 3);
            httpd_attach(g.h, f->moved);
        }
        f->moved = NULL;
        for (int k = 0; k < 95; k++) {
            char part[1001];
            memset(part, 'y', 1000);
            part[1000] = '\0';
            raw_send(&r, f->l, part);
        }
        raw_until(&r, f->l, "\r\n\r\n/move");
        assert_int_equal(stats(&g).connections, 1);
        raw_close(&r);
    }
    assert_int_equal(g.requests, 2);
    raw_open(&gone, httpd_port(f->h));
    send_body(f, &gone, "/move", 100000, 5000);
    iterate_until(f->l, is_moved, f);
    raw_close(&gone);
    httpd_attach(g.h, f->moved);
    httpd_free(g.h);
    close_front(f);
}

/* --- the addresses by themselves --- */

static struct sockaddr_storage peer(const char *text)
{
    struct sockaddr_storage a;
    socklen_t n;
    assert_true(addr_numeric(text, 1, &a, &n));
    return a;
}

static uint64_t key(const char *text)
{
    struct sockaddr_storage a = peer(text);
    return addr_key(&a);
}

static void an_ipv6_network_is_one_source(void **state)
{
    (void)state;
    assert_true(key("10.0.0.1") != key("10.0.0.2"));
    assert_true(key("::ffff:10.0.0.1") == key("10.0.0.1"));
    assert_true(key("2001:db8::1") == key("2001:db8::ffff:1"));
    assert_true(key("2001:db8::1") != key("2001:db8:0:1::1"));
    assert_true(key("::1") != key("0.0.0.1"));
}

static void a_source_is_known_for_ten_minutes(void **state)
{
    (void)state;
    struct sources t;
    struct sockaddr_storage a = peer("10.0.0.1"), b = peer("10.0.0.2");
    sources_init(&t);
    struct source *s = source_get(&t, &a, 0);
    source_proved(&t, s, 0);
    source_put(&t, s);
    s = source_get(&t, &a, SOURCE_KNOWN_MS - 1);
    assert_true(s->known);
    source_proved(&t, s, SOURCE_KNOWN_MS - 1);
    source_put(&t, s);
    source_put(&t, source_get(&t, &b, SOURCE_KNOWN_MS));
    assert_int_equal(t.by_key.len, 1); /* what is neither held nor known takes no memory */
    s = source_get(&t, &a, 2 * SOURCE_KNOWN_MS);
    assert_false(s->known);
    source_put(&t, s);
    assert_int_equal(t.by_key.len, 0);
    for (uint32_t i = 0; i < SOURCES_KNOWN_MAX + 10; i++) { /* and there is a bound */
        ((struct sockaddr_in *)&a)->sin_addr.s_addr = i;
        s = source_get(&t, &a, 0);
        source_proved(&t, s, 0);
        source_put(&t, s);
    }
    assert_int_equal(t.by_key.len, SOURCES_KNOWN_MAX);
    sources_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_of_one_address_yields_to_others),
        cmocka_unit_test(of_one_address_the_slowest_yields),
        cmocka_unit_test(what_has_proved_itself_stays_and_its_address_gets_in),
        cmocka_unit_test(places_of_a_known_address_go_to_known_addresses_only),
        cmocka_unit_test(half_sent_bodies_of_one_address_yield_to_others),
        cmocka_unit_test(a_large_request_is_judged_by_its_head),
        cmocka_unit_test(a_body_of_unknown_length_is_judged_when_it_is_large),
        cmocka_unit_test(a_large_request_moves_before_its_body_is_read),
        cmocka_unit_test(an_ipv6_network_is_one_source),
        cmocka_unit_test(a_source_is_known_for_ten_minutes),
    };
    return cmocka_run_group_tests_name("net.httpd_yield", tests, NULL, NULL);
}
