/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the other nodes, and the address that a node gives to these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/lives.h"
#include <string.h>
#include <stdio.h>
#include <unistd.h>

static void a_node_that_cannot_be_called_is_left_out(void **state)
{
    (void)state;
    struct live_nodes l = { NULL, 0 };
    live_nodes_add(&l, 1, 10, "a:1");
    live_nodes_add(&l, 2, 20, "");
    live_nodes_add(&l, 3, 30, NULL);
    live_nodes_add(&l, 4, 40, "b:1");
    assert_int_equal(l.n, 2);
    assert_int_equal(l.items[1].node, 4);
    live_nodes_done(&l);
    assert_int_equal(l.n, 0);
}

static void lists_differ_in_anything(void **state)
{
    (void)state;
    static const struct {
        int64_t node, epoch;
        const char *address;
    } others[] = { { 3, 20, "b:1" }, { 2, 21, "b:1" }, { 2, 20, "b:2" } };
    struct live_nodes a = { NULL, 0 }, b = { NULL, 0 };
    live_nodes_add(&a, 1, 10, "a:1");
    assert_false(live_nodes_same(&a, &b));
    live_nodes_add(&a, 2, 20, "b:1");
    live_nodes_copy(&b, &a);
    assert_true(live_nodes_same(&a, &b));
    for (int i = 0; i < 3; i++) {
        live_nodes_done(&b);
        live_nodes_add(&b, 1, 10, "a:1");
        live_nodes_add(&b, others[i].node, others[i].epoch, others[i].address);
        assert_false(live_nodes_same(&a, &b));
    }
    live_nodes_done(&a);
    live_nodes_done(&b);
}

static void chosen(const char *given, const char *listen, uint16_t port, bool tls,
                   const char *wanted)
{
    char address[NODE_ADDRESS_SIZE];
    struct why why = { "" };
    assert_int_equal(node_address_choose(given, listen, port, tls, address, &why), OK);
    assert_string_equal(address, wanted);
}

static void a_node_is_reached_where_it_listens_or_where_it_says(void **state)
{
    (void)state;
    char host[65] = "", wanted[100];
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    chosen(NULL, "10.0.0.1:8080", 0, false, "10.0.0.1:8080");
    chosen("", "10.0.0.1:0", 1234, true, "https://10.0.0.1:1234"); /* the one that was bound */
    chosen("", "[::1]:8080", 0, false, "[::1]:8080");
    static const char *const every[] = { "0.0.0.0:8080", "[::]:8080", ":8080" };
    (void)snprintf(wanted, sizeof(wanted), "%s:8080", host);
    for (int i = 0; i < 3; i++)
        chosen("", every[i], 0, false, wanted);
    chosen("front:80", "10.0.0.1:8080", 1234, true, "front:80"); /* as it says, without more */
    chosen("https://front:80", "10.0.0.1:8080", 0, false, "https://front:80");
}

static void an_address_without_use_is_refused(void **state)
{
    (void)state;
    char address[NODE_ADDRESS_SIZE], host[400];
    struct why why;
    memset(host, 'h', sizeof(host));
    (void)snprintf(host + 250, sizeof(host) - 250, ":12345");
    const char *const wrong[] = { "front:80/path", "ftp://front:80", "front:", "http://", host };
    for (int i = 0; i < 5; i++) {
        why = (struct why){ "" };
        assert_int_equal(node_address_choose(wrong[i], "10.0.0.1:8080", 0, false, address, &why),
                         ERR_INVALID);
        assert_ptr_equal(strstr(why.text, "node.address: "), why.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_cannot_be_called_is_left_out),
        cmocka_unit_test(lists_differ_in_anything),
        cmocka_unit_test(a_node_is_reached_where_it_listens_or_where_it_says),
        cmocka_unit_test(an_address_without_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
