/* SPDX-License-Identifier: Apache-2.0 */
/* What the center keeps of an address lasts as long as there is a connection to it: addresses of
 * containers come and go for ever, and memory must not follow them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/mem.h"
#include "server/state.h"

static int set_up(void **state)
{
    struct center *c = mem_new(sizeof(*c));
    struct httpc_config config = { .token = "" };
    c->loop = loop_new();
    textmap_init(&c->peers);
    assert_int_equal(httpc_new(c->loop, &config, &c->client, NULL), OK);
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    struct center *c = *state;
    httpc_free(c->client);
    textmap_done(&c->peers);
    loop_free(c->loop);
    free(c);
    return 0;
}

static struct httpc_peer *peer_of(struct center *c, const char *address)
{
    struct why why = { "" };
    struct httpc_peer *p = calls_peer(c, address, &why);
    assert_non_null(p);
    return p;
}

static int kept(const struct center *c)
{
    int n = 0;
    void *value;
    for (size_t i = 0; textmap_next(&c->peers, &i, &value);)
        n++;
    return n;
}

static void addresses_without_a_connection_are_forgotten(void **state)
{
    struct center *c = *state;
    char address[64];
    for (int i = 0; i < 1000; i++) {
        snprintf(address, sizeof(address), "http://10.0.%d.%d:9999/", i / 250, i % 250);
        peer_of(c, address);
    }
    assert_int_equal(kept(c), 1000);
    for (int64_t minute = 0; kept(c); minute++) {
        int before = kept(c);
        calls_sweep(c, minute * 60000);
        assert_true(kept(c) < before);
    }
}

static void the_look_comes_once_a_minute(void **state)
{
    struct center *c = *state;
    calls_sweep(c, 5000);
    peer_of(c, "http://10.0.0.1:9999/");
    calls_sweep(c, 64999);
    assert_int_equal(kept(c), 1);
    calls_sweep(c, 65000);
    assert_int_equal(kept(c), 0);
}

static void an_address_with_a_connection_stays(void **state)
{
    struct center *c = *state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    char address[64];
    snprintf(address, sizeof(address), "http://127.0.0.1:%u/", ntohs(at.sin_port));
    struct httpc_peer *p = peer_of(c, address);
    httpc_warm(p, 1);
    peer_of(c, "http://10.0.0.1:9999/");
    calls_sweep(c, 0);
    calls_sweep(c, 60000);
    assert_int_equal(kept(c), 1);
    assert_ptr_equal(peer_of(c, address), p);
    close(listener);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(addresses_without_a_connection_are_forgotten),
        T(the_look_comes_once_a_minute),
        T(an_address_with_a_connection_stays),
    };
    return cmocka_run_group_tests_name("server.dispatch", tests, NULL, NULL);
}
