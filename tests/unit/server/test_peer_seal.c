/* SPDX-License-Identifier: Apache-2.0 */
/* What a node takes for a call, or an answer, of another one of its cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "server/lives.h"
#include "server/peer_seal.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char token[] = "a token", path[] = "results";

static struct slice text(const char *s)
{
    return slice_of(s, strlen(s));
}

static void sealed(const char *body, struct peer_seal *seal, char *value, size_t size)
{
    struct buf b = BUF_INIT(size - 1);
    *seal = (struct peer_seal){ .from = 3, .to = 7, .nonce = 12345 };
    peer_seal_make(text(token), text(path), text(body), seal);
    peer_seal_write(&b, seal);
    text_copy(value, size, slice_of(b.data, b.len));
    buf_done(&b);
}

static void a_call_is_read_as_it_was_sealed(void **state)
{
    (void)state;
    struct peer_seal seal, got;
    char value[300];
    sealed("the body", &seal, value, sizeof(value));
    assert_true(peer_seal_read(text(token), text(path), text(value), &got));
    assert_int_equal(got.from, 3);
    assert_int_equal(got.to, 7);
    assert_int_equal(got.nonce, 12345);
    assert_true(peer_seal_body(&got, text("the body")));
    assert_false(peer_seal_body(&got, text("the Body")));
    assert_false(peer_seal_body(&got, text("")));
    sealed("", &seal, value, sizeof(value));
    assert_true(peer_seal_read(text(token), text(path), text(value), &got));
    assert_true(peer_seal_body(&got, slice_of(NULL, 0)));
}

static void any_other_token_path_or_value_is_refused(void **state)
{
    (void)state;
    struct peer_seal seal, got;
    char value[300];
    sealed("the body", &seal, value, sizeof(value));
    assert_false(peer_seal_read(text("a tokem"), text(path), text(value), &got));
    assert_false(peer_seal_read(text(""), text(path), text(value), &got));
    assert_false(peer_seal_read(text(token), text("look"), text(value), &got));
    assert_false(peer_seal_read(text(token), text(path), slice_of(NULL, 0), &got));
    for (size_t i = 0; value[i]; i++) { /* no byte of it is without meaning */
        char other[300];
        memcpy(other, value, sizeof(other));
        other[i] = other[i] == '1' ? '2' : '1';
        if (other[i] == value[i])
            continue;
        assert_false(peer_seal_read(text(token), text(path), text(other), &got));
    }
    for (size_t n = 0; n < strlen(value); n++)
        assert_false(peer_seal_read(text(token), text(path), slice_of(value, n), &got));
    char more[310];
    (void)snprintf(more, sizeof(more), "%s x", value);
    assert_false(peer_seal_read(text(token), text(path), text(more), &got));
    char long_path[2000]; /* longer than any call's: nothing fits it */
    memset(long_path, 'a', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    assert_false(peer_seal_read(text(token), text(long_path), text(value), &got));
}

static void an_answer_is_of_its_call(void **state)
{
    (void)state;
    struct peer_seal seal, other;
    char value[300];
    struct buf b = BUF_INIT(1000);
    struct slice body;
    sealed("the body", &seal, value, sizeof(value));
    sealed("another", &other, value, sizeof(value));
    peer_answer_write(&b, text(token), &seal, text("17 18"));
    struct slice answer = slice_of(b.data, b.len);
    assert_true(peer_answer_read(text(token), &seal, answer, &body));
    assert_true(slice_eq(body, "17 18"));
    assert_false(peer_answer_read(text(token), &other, answer, &body));
    assert_false(peer_answer_read(text("x"), &seal, answer, &body));
    for (size_t n = 0; n < answer.n; n++)
        assert_false(peer_answer_read(text(token), &seal, slice_of(answer.p, n), &body));
    assert_false(peer_answer_read(text(token), &seal, text("{\"code\":200}"), &body));
    b.data[b.len - 1] = '9';
    assert_false(peer_answer_read(text(token), &seal, answer, &body));
    buf_reset(&b);
    peer_answer_write(&b, text(token), &seal, slice_of(NULL, 0));
    assert_true(peer_answer_read(text(token), &seal, slice_of(b.data, b.len), &body));
    assert_int_equal(body.n, 0);
    buf_done(&b);
}

static void a_refusal_is_of_its_call_and_its_status(void **state)
{
    (void)state;
    struct peer_seal seal, other;
    char value[300];
    struct buf b = BUF_INIT(1000);
    struct slice body;
    sealed("the body", &seal, value, sizeof(value));
    sealed("another", &other, value, sizeof(value));
    peer_refusal_write(&b, text(token), &seal, 404);
    struct slice said = slice_of(b.data, b.len);
    assert_true(peer_refusal_read(text(token), &seal, 404, said));
    assert_false(peer_refusal_read(text(token), &seal, 503, said));
    assert_false(peer_refusal_read(text(token), &other, 404, said));
    assert_false(peer_refusal_read(text("x"), &seal, 404, said));
    assert_false(peer_refusal_read(text(token), &seal, 404, slice_of(NULL, 0)));
    assert_false(peer_refusal_read(text(token), &seal, 404, slice_of(said.p, said.n - 1)));
    /* neither stands for the other: a refusal with a changed status is no empty answer */
    buf_char(&b, '\n');
    assert_false(peer_answer_read(text(token), &seal, slice_of(b.data, b.len), &body));
    buf_reset(&b);
    peer_answer_write(&b, text(token), &seal, slice_of(NULL, 0));
    assert_false(peer_refusal_read(text(token), &seal, 200, slice_of(b.data, PEER_HEX)));
    buf_done(&b);
}

/* ---- addresses ---- */

static const char *address(const char *given, const char *listen, uint16_t port, bool tls)
{
    static char ret[NODE_ADDRESS_SIZE];
    struct why why = { "" };
    return node_address_choose(given, listen, port, tls, ret, &why) ? "refused" : ret;
}

static void the_address_of_a_node_is_one_that_others_reach(void **state)
{
    (void)state;
    char host[65] = "", every[100], every_tls[100];
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    (void)snprintf(every, sizeof(every), "%s:9000", host);
    (void)snprintf(every_tls, sizeof(every_tls), "https://%s:9000", host);
    assert_string_equal(address(NULL, "127.0.0.1:8080", 8080, false), "127.0.0.1:8080");
    assert_string_equal(address("", "127.0.0.1:0", 4711, false), "127.0.0.1:4711");
    assert_string_equal(address(NULL, "[fd00::1]:80", 80, true), "https://[fd00::1]:80");
    assert_string_equal(address(NULL, ":9000", 9000, false), every);
    assert_string_equal(address(NULL, "*:9000", 9000, true), every_tls);
    assert_string_equal(address(NULL, "0.0.0.0:9000", 9000, false), every);
    assert_string_equal(address(NULL, "[::]:9000", 9000, false), every);
    assert_string_equal(address("a.example:1", ":9000", 9000, true), "a.example:1");
    assert_string_equal(address("https://a.example:1", ":9000", 9000, true), "https://a.example:1");
    assert_string_equal(address("a.example:1/x", ":9000", 9000, false), "refused");
    assert_string_equal(address("a b", ":9000", 9000, false), "refused");
    assert_string_equal(address("ftp://a", ":9000", 9000, false), "refused");
}

static void lists_of_nodes_are_compared_by_life_and_address(void **state)
{
    (void)state;
    struct live_nodes a = { NULL, 0 }, b = { NULL, 0 };
    assert_true(live_nodes_same(&a, &b));
    live_nodes_add(&a, 1, 5, "a:1");
    live_nodes_add(&a, 2, 6, "");
    assert_int_equal(a.n, 1);
    assert_false(live_nodes_same(&a, &b));
    live_nodes_copy(&b, &a);
    assert_true(live_nodes_same(&a, &b));
    b.items[0].epoch = 6;
    assert_false(live_nodes_same(&a, &b));
    b.items[0].epoch = 5;
    b.items[0].address[0] = 'b';
    assert_false(live_nodes_same(&a, &b));
    live_nodes_done(&a);
    live_nodes_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_read_as_it_was_sealed),
        cmocka_unit_test(any_other_token_path_or_value_is_refused),
        cmocka_unit_test(an_answer_is_of_its_call),
        cmocka_unit_test(a_refusal_is_of_its_call_and_its_status),
        cmocka_unit_test(the_address_of_a_node_is_one_that_others_reach),
        cmocka_unit_test(lists_of_nodes_are_compared_by_life_and_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
