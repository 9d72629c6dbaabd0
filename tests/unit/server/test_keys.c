/* SPDX-License-Identifier: Apache-2.0 */
/* Which access token serves for which group, and which one a call carries. */
#include "server/keys.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define HERE "http://10.0.0.1:9999/"
#define THERE "http://10.0.0.2:9999/"

static struct slice text(const char *s)
{
    return slice_text(s);
}

static int told; /* moves, all of group 1 */

static void on_moved(void *ctx, int64_t group_id, int64_t since_ms, struct slice address)
{
    (void)ctx;
    assert_int_equal(group_id, 1);
    assert_int_equal(since_ms, 1);
    assert_true(address.n > 0);
    told++;
}

static void heard(struct keys *k, const char *app, const char *address, const char *token)
{
    keys_heard(k, text(app), text(address), text(token), on_moved, NULL);
}

static void put(struct keys *k, int64_t id, const char *token, const char *next)
{
    const struct group_token t = { id, (char *)token, (char *)next, 1 };
    keys_put(k, &t);
}

/* Groups 1 and 2, a team each. */
static struct keys *two_teams(const char *server)
{
    struct keys *k = keys_new(server);
    keys_group(k, 1, "billing");
    keys_group(k, 2, "shipping");
    return k;
}

static void assert_sent(struct keys *k, int64_t id, const char *address, const char *want)
{
    struct key_sent sent;
    const char *got = keys_for(k, id, address, &sent);
    if (want)
        assert_string_equal(got, want);
    else
        assert_null(got);
}

static void without_tokens_of_groups_the_servers_serves_for_all(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    assert_false(keys_any(k));
    assert_true(keys_known(k, text("server")));
    assert_false(keys_known(k, text("serve")));
    assert_false(keys_known(k, slice_of(NULL, 0)));
    assert_true(keys_serve_app(k, text("billing"), text("server")));
    assert_true(keys_serve_app(k, text("nobody"), text("server")));
    assert_false(keys_serve_app(k, text("billing"), text("other")));
    assert_true(keys_serve_group(k, 1, text("server")));
    assert_true(keys_serve_group(k, 99, text("server")));
    assert_sent(k, 1, HERE, NULL);
    keys_free(k);
    k = two_teams("");
    assert_true(keys_known(k, slice_of(NULL, 0)));
    assert_true(keys_serve_app(k, text("billing"), slice_of(NULL, 0)));
    assert_true(keys_serve_group(k, 2, text("anything")));
    keys_free(k);
}

static void a_groups_token_serves_for_it_alone(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    put(k, 1, "one", NULL);
    assert_true(keys_any(k));
    assert_true(keys_known(k, text("one")));
    assert_true(keys_known(k, text("server")));
    assert_false(keys_known(k, text("two")));
    assert_false(keys_known(k, text("")));
    assert_true(keys_serve_app(k, text("billing"), text("one")));
    assert_false(keys_serve_app(k, text("billing"), text("server")));
    assert_false(keys_serve_app(k, text("shipping"), text("one")));
    assert_false(keys_serve_app(k, text("nobody"), text("one")));
    assert_true(keys_serve_app(k, text("shipping"), text("server")));
    assert_true(keys_serve_group(k, 1, text("one")));
    assert_false(keys_serve_group(k, 1, text("server")));
    assert_false(keys_serve_group(k, 1, slice_of(NULL, 0)));
    assert_false(keys_serve_group(k, 2, text("one")));
    assert_false(keys_serve_group(k, 99, text("one")));
    assert_sent(k, 1, HERE, "one");
    assert_sent(k, 2, HERE, NULL);
    put(k, 1, NULL, NULL);
    assert_false(keys_any(k));
    assert_false(keys_known(k, text("one")));
    assert_true(keys_serve_group(k, 1, text("server")));
    keys_free(k);
}

static void a_server_that_asks_for_none_still_guards_the_groups_that_do(void **state)
{
    (void)state;
    struct keys *k = two_teams("");
    put(k, 1, "one", NULL);
    assert_false(keys_serve_app(k, text("billing"), slice_of(NULL, 0)));
    assert_false(keys_serve_group(k, 1, text("")));
    assert_true(keys_serve_group(k, 1, text("one")));
    assert_true(keys_serve_app(k, text("shipping"), slice_of(NULL, 0)));
    keys_free(k);
}

static void during_a_change_both_serve(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    put(k, 1, NULL, "one");
    assert_true(keys_serve_app(k, text("billing"), text("server")));
    assert_true(keys_serve_app(k, text("billing"), text("one")));
    assert_true(keys_serve_group(k, 1, text("server")));
    put(k, 1, "one", "next");
    assert_false(keys_serve_group(k, 1, text("server")));
    assert_true(keys_serve_group(k, 1, text("one")));
    assert_true(keys_serve_group(k, 1, text("next")));
    put(k, 1, "next", NULL);
    assert_false(keys_serve_group(k, 1, text("one")));
    assert_false(keys_known(k, text("one")));
    assert_true(keys_known(k, text("next")));
    keys_free(k);
}

static void each_address_is_called_with_what_it_registered_with_last(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    told = 0;
    put(k, 1, NULL, "one");
    assert_int_equal(keys_used(k, 1, HERE), KEY_UNKNOWN);
    assert_sent(k, 1, HERE, NULL);
    heard(k, "billing", HERE, "one");
    heard(k, "billing", THERE, "server");
    assert_int_equal(told, 1);
    assert_sent(k, 1, HERE, "one");
    assert_sent(k, 1, THERE, NULL);
    assert_int_equal(keys_used(k, 1, HERE), KEY_NEXT);
    assert_int_equal(keys_used(k, 1, THERE), KEY_OLD);
    heard(k, "shipping", THERE, "one"); /* another app: says nothing here */
    assert_sent(k, 1, THERE, NULL);
    heard(k, "billing", HERE, "server"); /* its restart was taken back */
    assert_sent(k, 1, HERE, NULL);
    heard(k, "billing", HERE, "one");
    keys_left(k, text("billing"), text(HERE));
    assert_int_equal(keys_used(k, 1, HERE), KEY_UNKNOWN);
    heard(k, "billing", HERE, "one");
    put(k, 1, "one", NULL);
    assert_sent(k, 1, HERE, "one");
    assert_sent(k, 1, THERE, "one");
    assert_int_equal(keys_used(k, 1, HERE), KEY_UNKNOWN);
    keys_free(k);
}

static bool refused(struct keys *k, const struct key_sent *sent, bool trusted)
{
    return keys_refused(k, 1, HERE, sent, trusted);
}

/* An address that an administrator has listed need not register: its refusal says it. */
static void a_refusal_during_a_change_tries_the_other_once(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    struct key_sent old, next, again;
    put(k, 1, "one", NULL);
    keys_for(k, 1, HERE, &old);
    assert_false(refused(k, &old, true)); /* there is no other */
    put(k, 1, "one", "next");
    assert_true(refused(k, &old, true)); /* what was sent is not what would be sent now */
    keys_for(k, 1, HERE, &old);
    assert_true(refused(k, &old, true));
    assert_string_equal(keys_for(k, 1, HERE, &next), "next");
    assert_true(refused(k, &old, true)); /* another call that was under way */
    assert_string_equal(keys_for(k, 1, HERE, &again), "next");
    assert_false(refused(k, &next, true)); /* it takes neither */
    keys_taken(k, 1, HERE, &next);
    assert_true(refused(k, &next, true));
    assert_sent(k, 1, HERE, "one");
    assert_false(keys_refused(k, 7, HERE, &(struct key_sent){ 0, KEY_OLD }, true));
    put(k, 1, NULL, NULL);
    assert_true(refused(k, &next, true));
    keys_for(k, 1, HERE, &again);
    assert_false(refused(k, &again, true));
    keys_free(k);
}

/* Who knows the old token could register an address and refuse what comes. */
static void the_next_token_is_told_to_nobody_who_has_not_shown_it(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    struct key_sent sent;
    put(k, 1, "one", "next");
    keys_for(k, 1, HERE, &sent);
    assert_false(refused(k, &sent, false));
    heard(k, "billing", HERE, "one");
    assert_false(refused(k, &sent, false));
    assert_sent(k, 1, HERE, "one");
    heard(k, "billing", HERE, "next");
    keys_for(k, 1, HERE, &sent);
    assert_true(refused(k, &sent, false)); /* it was put back to the old one */
    assert_sent(k, 1, HERE, "one");
    keys_taken(k, 1, HERE, &(struct key_sent){ sent.change, KEY_OLD });
    keys_for(k, 1, HERE, &sent);
    assert_true(refused(k, &sent, false));
    assert_sent(k, 1, HERE, "next");
    heard(k, "billing", HERE, "one");
    keys_for(k, 1, HERE, &sent);
    assert_false(refused(k, &sent, false));
    put(k, 1, "next", "third");
    keys_moved(k, 1, HERE);
    assert_sent(k, 1, HERE, "third");
    assert_true(keys_finished(k, &(struct group_token){ 1, (char *)"third", NULL, 2 }));
    assert_false(keys_finished(k, &(struct group_token){ 1, (char *)"next", NULL, 2 }));
    keys_free(k);
}

static void a_barred_address_gets_no_token_until_it_shows_one(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    put(k, 1, "one", NULL);
    keys_bar(k, 1, HERE);
    keys_bar(k, 2, HERE);
    assert_sent(k, 1, HERE, "");
    assert_sent(k, 1, THERE, "one");
    assert_sent(k, 2, HERE, NULL);
    heard(k, "billing", HERE, "server");
    assert_sent(k, 1, HERE, "");
    heard(k, "billing", HERE, "one");
    assert_sent(k, 1, HERE, "one");
    /* another server took it, with the token that serves now: not what came before that did */
    keys_bar(k, 1, HERE);
    keys_registered(k, text("billing"), text(HERE), 1);
    assert_sent(k, 1, HERE, "");
    keys_registered(k, text("billing"), text(HERE), 60000);
    assert_sent(k, 1, HERE, "one");
    keys_free(k);
}

static void what_another_server_says_of_a_token_is_known_or_not(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    put(k, 1, "one", "next");
    assert_true(keys_same(k, &(struct group_token){ 1, (char *)"one", (char *)"next", 1 }));
    assert_false(keys_same(k, &(struct group_token){ 1, (char *)"one", (char *)"next", 2 }));
    assert_false(keys_same(k, &(struct group_token){ 1, (char *)"one", NULL, 1 }));
    assert_false(keys_same(k, &(struct group_token){ 1, NULL, (char *)"next", 1 }));
    assert_true(keys_same(k, &(struct group_token){ 2, NULL, NULL, 0 }));
    assert_true(keys_same(k, &(struct group_token){ 9, NULL, NULL, 0 }));
    assert_false(keys_same(k, &(struct group_token){ 9, (char *)"nine", NULL, 1 }));
    /* a change that began and ended unheard has ended; one that was withdrawn has not */
    assert_true(keys_finished(k, &(struct group_token){ 2, (char *)"two", NULL, 2 }));
    assert_false(keys_finished(k, &(struct group_token){ 1, (char *)"one", NULL, 2 }));
    assert_false(keys_finished(k, &(struct group_token){ 1, NULL, NULL, 0 }));
    keys_free(k);
}

static void groups_of_one_app_share_their_executors(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    keys_group(k, 3, "billing");
    put(k, 1, "one", NULL);
    assert_true(keys_serve_app(k, text("billing"), text("one")));
    assert_false(keys_serve_app(k, text("billing"), text("server")));
    assert_true(keys_serve_group(k, 3, text("server")));
    put(k, 3, "three", NULL);
    assert_true(keys_serve_app(k, text("billing"), text("three")));
    keys_free(k);
}

static void a_group_is_renamed_and_goes(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    put(k, 1, "one", NULL);
    keys_group(k, 1, "invoices");
    assert_true(keys_serve_app(k, text("invoices"), text("one")));
    assert_true(keys_serve_app(k, text("billing"), text("server")));
    keys_group(k, 1, NULL);
    keys_group(k, 1, NULL);
    assert_false(keys_any(k));
    assert_false(keys_known(k, text("one")));
    assert_true(keys_serve_app(k, text("invoices"), text("server")));
    put(k, 4, "four", NULL); /* its name is told later */
    keys_group(k, 4, "late");
    assert_true(keys_serve_app(k, text("late"), text("four")));
    keys_free(k);
}

static void two_groups_may_have_one_token(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    put(k, 1, "same", NULL);
    put(k, 2, "same", NULL);
    put(k, 1, NULL, NULL);
    assert_true(keys_known(k, text("same")));
    assert_true(keys_serve_group(k, 2, text("same")));
    assert_false(keys_serve_group(k, 1, text("same")));
    keys_free(k);
}

static void a_claim_is_what_the_token_serves_for_then(void **state)
{
    (void)state;
    struct keys *k = two_teams("server");
    put(k, 1, "one", NULL);
    struct claim *of_one = keys_claim(k, text("one")), *of_all = keys_claim(k, text("server"));
    put(k, 1, NULL, NULL);
    assert_true(claim_has(of_one, 1));
    assert_false(claim_has(of_one, 2));
    assert_false(claim_has(of_one, 99));
    assert_false(claim_has(of_all, 1));
    assert_true(claim_has(of_all, 2));
    assert_true(claim_has(of_all, 99));
    assert_true(claim_has(NULL, 1));
    claim_unref(claim_ref(of_one));
    claim_unref(of_one);
    claim_unref(of_all);
    keys_free(k);
}

static void many_tokens_come_and_go(void **state)
{
    (void)state;
    struct keys *k = keys_new("server");
    char token[40], app[40];
    for (int i = 1; i <= 500; i++) {
        snprintf(token, sizeof(token), "token-%d", i);
        snprintf(app, sizeof(app), "app-%d", i % 100);
        keys_group(k, i, app);
        put(k, i, i % 3 ? token : NULL, i % 2 ? "next" : NULL);
    }
    for (int i = 1; i <= 500; i++) {
        snprintf(token, sizeof(token), "token-%d", i);
        assert_int_equal(keys_serve_group(k, i, text(token)), i % 3 != 0);
        assert_int_equal(keys_serve_group(k, i, text("next")), i % 2 != 0);
        if (i % 5 == 0)
            keys_group(k, i, NULL);
        assert_int_equal(keys_known(k, text(token)), i % 3 != 0 && i % 5 != 0);
    }
    keys_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_tokens_of_groups_the_servers_serves_for_all),
        cmocka_unit_test(a_groups_token_serves_for_it_alone),
        cmocka_unit_test(a_server_that_asks_for_none_still_guards_the_groups_that_do),
        cmocka_unit_test(during_a_change_both_serve),
        cmocka_unit_test(each_address_is_called_with_what_it_registered_with_last),
        cmocka_unit_test(a_refusal_during_a_change_tries_the_other_once),
        cmocka_unit_test(the_next_token_is_told_to_nobody_who_has_not_shown_it),
        cmocka_unit_test(a_barred_address_gets_no_token_until_it_shows_one),
        cmocka_unit_test(what_another_server_says_of_a_token_is_known_or_not),
        cmocka_unit_test(groups_of_one_app_share_their_executors),
        cmocka_unit_test(a_group_is_renamed_and_goes),
        cmocka_unit_test(two_groups_may_have_one_token),
        cmocka_unit_test(a_claim_is_what_the_token_serves_for_then),
        cmocka_unit_test(many_tokens_come_and_go),
    };
    return cmocka_run_group_tests_name("server.keys", tests, NULL, NULL);
}
