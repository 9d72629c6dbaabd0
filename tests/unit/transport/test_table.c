/* SPDX-License-Identifier: Apache-2.0 */
/* Which transport an address means, and that each is made and freed once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "transport/transport.h"

static int alive, made, swept, warmed;
static bool fails;

static const struct transport_ops one, two;

static enum err make(const struct transport_ops *ops, struct transport **ret)
{
    made++;
    alive++;
    *ret = mem_new(sizeof(**ret));
    (*ret)->ops = ops;
    return OK;
}

static enum err make_one(struct loop *l, const struct transport_config *config,
                         struct transport **ret, struct why *why)
{
    (void)l;
    (void)why;
    assert_string_equal(config->token, "secret");
    return make(&one, ret);
}

static enum err make_two(struct loop *l, const struct transport_config *config,
                         struct transport **ret, struct why *why)
{
    (void)l;
    (void)config;
    if (!fails)
        return make(&two, ret);
    why_set(why, "there is no broker");
    return ERR_NET;
}

static void destroy(struct transport *t)
{
    alive--;
    free(t);
}

static void call(struct transport *t, const struct call *what, struct transport_call *c)
{
    (void)what;
    assert_ptr_equal(c->transport, t);
    c->own = t;
}

static void warm(struct transport *t, const char *address, int connections)
{
    (void)t;
    assert_string_equal(address, "two://x");
    warmed += connections;
}

static void sweep(struct transport *t, int64_t boot_ms)
{
    (void)t;
    assert_int_equal(boot_ms, 5);
    swept++;
}

static const struct transport_ops one = {
    .make = make_one, .free = destroy, .call = call, .sweep = sweep
};
static const struct transport_ops two = {
    .make = make_two, .free = destroy, .call = call, .warm = warm, .sweep = sweep
};

static const struct transport_row rows[] = {
    { "one", &one }, { "ones", &one }, { "two", &two }, { NULL, NULL }
};

static struct transports *all(void)
{
    static const struct transport_config config = { .token = "secret" };
    struct transports *s;
    made = swept = warmed = 0;
    assert_int_equal(transports_new(rows, NULL, &config, &s, NULL), OK);
    return s;
}

static const struct transport_ops *means(struct transports *s, const char *address)
{
    struct transport_call c = { .own = NULL };
    struct call what = { .kind = CALL_BEAT, .address = address };
    transports_call(s, &what, &c);
    assert_ptr_equal(c.own, transport_of(s, address));
    return c.transport->ops;
}

static void the_scheme_says_which(void **state)
{
    (void)state;
    struct transports *s = all();
    assert_ptr_equal(means(s, "one://x"), &one);
    assert_ptr_equal(means(s, "two://x"), &two);
    assert_ptr_equal(means(s, "TWO://x"), &two);
    assert_ptr_equal(transport_of(s, "one://x"), transport_of(s, "ones://x"));
    /* the first one's: it says what is wrong with them */
    static const char *const others[] = { "",          "x",        "two",
                                          "two:",      "two:/x",   "twos://x",
                                          "three://x", " two://x", "10.0.0.1:9999" };
    for (size_t i = 0; i < countof(others); i++)
        assert_ptr_equal(means(s, others[i]), &one);
    transports_free(s);
}

static void each_is_made_once(void **state)
{
    (void)state;
    struct transports *s = all();
    assert_int_equal(made, 2);
    transports_sweep(s, 5);
    assert_int_equal(swept, 2);
    transports_warm(s, "two://x", 9);
    assert_int_equal(warmed, 9);
    transports_free(s);
    assert_int_equal(alive, 0);
}

static void one_that_cannot_be_made_ends_all(void **state)
{
    (void)state;
    static const struct transport_config config = { .token = "secret" };
    struct transports *s = NULL;
    struct why why = { "" };
    fails = true;
    assert_int_equal(transports_new(rows, NULL, &config, &s, &why), ERR_NET);
    fails = false;
    assert_string_equal(why.text, "there is no broker");
    assert_null(s);
    assert_int_equal(alive, 0);
    transports_free(NULL);
}

static void the_table_has_http(void **state)
{
    (void)state;
    assert_string_equal(transport_rows[0].scheme, "http");
    int n = 0;
    for (const struct transport_row *r = transport_rows; r->scheme; r++, n++) {
        assert_non_null(r->ops->make);
        assert_non_null(r->ops->free);
        assert_non_null(r->ops->call);
        assert_non_null(r->ops->abort);
        assert_non_null(r->ops->warm);
        assert_non_null(r->ops->sweep);
        assert_non_null(r->ops->check);
    }
    assert_true(n >= 2);
}

/* HTTP's own rules, for what is no other's. */
static void the_transport_says_what_an_address_is(void **state)
{
    (void)state;
    static const struct {
        const char *address, *fault;
    } cases[] = {
        { "http://10.0.0.1:9999/", NULL },
        { "HTTPS://host/path", NULL },
        { "10.0.0.1:9999", NULL },
        { "http://", "the host is missing or wrong" },
        { "queue://name", "the port must be a number" },
        { "", "must not be blank" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct why why = { "" };
        enum err err = transport_address_check(slice_text(cases[i].address), "registryValue", &why);
        assert_int_equal(err, cases[i].fault ? ERR_INVALID : OK);
        if (cases[i].fault && !strstr(why.text, cases[i].fault))
            fail_msg("%s: %s", cases[i].address, why.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scheme_says_which),
        cmocka_unit_test(each_is_made_once),
        cmocka_unit_test(one_that_cannot_be_made_ends_all),
        cmocka_unit_test(the_table_has_http),
        cmocka_unit_test(the_transport_says_what_an_address_is),
    };
    return cmocka_run_group_tests_name("transport.table", tests, NULL, NULL);
}
