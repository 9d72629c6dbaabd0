/* SPDX-License-Identifier: Apache-2.0 */
/* What the transport keeps of an address lasts as long as there is a connection to it: addresses of
 * containers come and go for ever, and memory must not follow them. The file is included, because
 * nothing outside needs to know how many it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "net/loop.h"
#include "transport/http.c" /* NOLINT(bugprone-suspicious-include): see above */

struct fixture {
    struct loop *l;
    struct transport *t;
};

static int set_up(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct transport_config config = { .token = "", .connections = 4 };
    f->l = loop_new();
    assert_int_equal(make(f->l, &config, &f->t, NULL), OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    destroy(f->t);
    loop_free(f->l);
    free(f);
    return 0;
}

static struct httpc_peer *peer(struct fixture *f, const char *address)
{
    struct why why = { "" };
    struct httpc_peer *p;
    assert_int_equal(peer_of(http_of(f->t), address, &p, &why), OK);
    return p;
}

static int kept(const struct fixture *f)
{
    int n = 0;
    void *value;
    for (size_t i = 0; textmap_next(&http_of(f->t)->peers, &i, &value);)
        n++;
    return n;
}

static void addresses_without_a_connection_are_forgotten(void **state)
{
    struct fixture *f = *state;
    char address[64];
    for (int i = 0; i < 1000; i++) {
        snprintf(address, sizeof(address), "http://10.0.%d.%d:9999/", i / 250, i % 250);
        peer(f, address);
    }
    assert_int_equal(kept(f), 1000);
    for (int64_t minute = 0; kept(f); minute++) {
        int before = kept(f);
        sweep(f->t, minute * 60000);
        assert_true(kept(f) < before);
    }
}

static void the_look_comes_once_a_minute(void **state)
{
    struct fixture *f = *state;
    sweep(f->t, 5000);
    peer(f, "http://10.0.0.1:9999/");
    sweep(f->t, 64999);
    assert_int_equal(kept(f), 1);
    sweep(f->t, 65000);
    assert_int_equal(kept(f), 0);
}

static void an_address_with_a_connection_stays(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    char address[64];
    snprintf(address, sizeof(address), "http://127.0.0.1:%u/", ntohs(at.sin_port));
    struct httpc_peer *p = peer(f, address);
    warm(f->t, address, 1);
    peer(f, "http://10.0.0.1:9999/");
    sweep(f->t, 0);
    sweep(f->t, 60000);
    assert_int_equal(kept(f), 1);
    assert_ptr_equal(peer(f, address), p);
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
    return cmocka_run_group_tests_name("transport.http_sweep", tests, NULL, NULL);
}
