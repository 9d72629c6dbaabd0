/* SPDX-License-Identifier: Apache-2.0 */
/* What other threads ask a node, and what a node answers to others. The calls and the core are the
 * test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "model/story.h"
#include "server/state.h"
#include <stdlib.h>
#include <string.h>

static struct {
    int64_t epoch; /* of node 2; 0: it cannot be called */
    bool fails;    /* a call cannot be tried */
    struct peer_call *call;
    int64_t called;
    char path[20], body[20];
    int aborted, nudged;
    char said[200];
    size_t nsaid;
} at;

static struct center center;

/* ---- what it asks of others ---- */

int64_t peers_epoch(const struct peers *p, int64_t node)
{
    (void)p;
    return node == 2 ? at.epoch : 0;
}

bool peers_call(struct peers *p, int64_t epoch, const char *path, struct slice body,
                struct peer_call *call)
{
    (void)p;
    at.called = epoch;
    if (at.fails)
        return false;
    text_copy(at.path, sizeof(at.path), slice_text(path));
    text_copy(at.body, sizeof(at.body), body);
    at.call = call;
    return true;
}

void peers_abort(struct peer_call *call)
{
    assert_ptr_equal(call, at.call);
    at.call = NULL;
    at.aborted++;
}

void node_nudge(struct node *n)
{
    (void)n;
    at.nudged++;
}

void peer_answer(struct peer_asked *a, struct slice body)
{
    (void)a;
    at.nsaid = body.n;
    text_copy(at.said, sizeof(at.said), body);
}

bool sched_story(const struct sched *s, int64_t log_id, struct story *ret)
{
    (void)s;
    *ret = (struct story){ .due_ms = log_id };
    return log_id == 17;
}

bool sched_lane_out(const struct sched *s, struct slice address, struct lane_out *ret)
{
    (void)s;
    *ret = (struct lane_out){ 1, 2, 3, 4, 5 };
    return slice_eq(address, "10.0.0.1:9999") || slice_eq(address, "10.0.0.2:9999");
}

void results_peer(struct center *c, struct peer_asked *a)
{
    (void)c;
    peer_answer(a, slice_text("results"));
}

/* ---- the bench ---- */

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    at.epoch = 20;
    memset(&center, 0, sizeof(center));
    list_init(&center.peer_asks);
    center.mailbox = mailbox_new();
    pthread_mutex_init(&center.attention_lock, NULL);
    buf_init(&center.attention, 40);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    peer_asks_refuse(&center);
    mailbox_free(center.mailbox);
    buf_done(&center.attention);
    pthread_mutex_destroy(&center.attention_lock);
    return 0;
}

static struct message *asked(struct peer_ask **ret, int64_t node)
{
    struct list in;
    list_init(&in);
    *ret = center_peer_ask(&center, node, "run/17", slice_text("a body"));
    assert_true(mailbox_take(center.mailbox, &in));
    struct message *m = container_of(list_pop(&in), struct message, node);
    assert_int_equal(m->kind, MESSAGE_PEER_ASK);
    return m;
}

static void ends(const char *said)
{
    struct peer_call *call = at.call;
    at.call = NULL;
    call->answered = said != NULL;
    call->body = slice_text(said ? said : "");
    call->why = "it is busy";
    call->done(call);
}

static void hears(struct peer_ask *a, enum err wanted, const char *text)
{
    char *said;
    size_t n;
    struct why why = { "" };
    assert_int_equal(center_peer_answer(&center, a, &said, &n, &why), wanted);
    assert_string_equal(wanted ? why.text : said, text);
    assert_int_equal(n, wanted ? 0 : strlen(text));
    assert_true(!wanted || !said);
    free(said);
}

static void no_ask_is_open(void)
{
    assert_null(list_first(&center.peer_asks));
}

/* ---- asking ---- */

static void an_ask_is_answered(void **state)
{
    (void)state;
    struct peer_ask *a;
    peer_ask_open(&center, asked(&a, 2));
    assert_int_equal(at.called, 20);
    assert_string_equal(at.path, "run/17");
    assert_string_equal(at.body, "a body");
    ends("what it says");
    no_ask_is_open();
    hears(a, OK, "what it says");
}

static void a_call_that_fails_says_why(void **state)
{
    (void)state;
    struct peer_ask *a;
    peer_ask_open(&center, asked(&a, 2));
    ends(NULL);
    no_ask_is_open();
    hears(a, ERR_NET, "it is busy");
}

static void who_cannot_be_called_is_not_asked(void **state)
{
    (void)state;
    struct peer_ask *a;
    peer_ask_open(&center, asked(&a, 3));
    assert_int_equal(at.called, 0);
    hears(a, ERR_NOTFOUND, "node 3 cannot be asked now");
    at.fails = true;
    peer_ask_open(&center, asked(&a, 2));
    hears(a, ERR_NOTFOUND, "node 2 cannot be asked now");
    no_ask_is_open();
}

static void an_asker_that_gives_up_leaves_the_call_alone(void **state)
{
    (void)state;
    struct peer_ask *a;
    peer_ask_open(&center, asked(&a, 2));
    hears(a, ERR_TIMEOUT, err_text(ERR_TIMEOUT));
    ends("too late");
    no_ask_is_open();
}

static void a_server_that_stops_answers_every_ask(void **state)
{
    (void)state;
    struct peer_ask *open, *unopened, *unread;
    peer_ask_open(&center, asked(&open, 2));
    peer_ask_refuse(asked(&unopened, 2));
    struct message *m = asked(&unread, 2);
    peer_asks_refuse(&center);
    assert_int_equal(at.aborted, 1);
    no_ask_is_open();
    hears(open, ERR_STOPPING, "");
    hears(unopened, ERR_STOPPING, "");
    center.closed = true;
    hears(unread, ERR_STOPPING, err_text(ERR_STOPPING));
    peer_ask_refuse(m);
}

/* ---- answering ---- */

static const struct peer_row *row(const char *path)
{
    const struct peer_row *r = peer_rows;
    while (strcmp(r->path, path) != 0)
        r++;
    return r;
}

static void serve(const char *path, const char *rest, const char *body)
{
    struct peer_asked a = { .rest = slice_text(rest), .body = slice_text(body) };
    memset(at.said, 0, sizeof(at.said));
    row(path)->serve(&center, &a);
}

static void who_is_told_of_news_looks(void **state)
{
    (void)state;
    serve("look", "", "");
    assert_int_equal(at.nudged, 1);
    assert_int_equal(center.metrics.peer_looks, 1);
    assert_int_equal(at.nsaid, 0);
}

static void the_story_of_a_run_is_told_by_its_owner_alone(void **state)
{
    (void)state;
    static const char *const others[] = { "18", "", "x", "17x" };
    struct story story;
    serve("run/", "17", "");
    assert_true(story_get(slice_of(at.said, at.nsaid), &story));
    assert_int_equal(story.due_ms, 17);
    for (size_t i = 0; i < countof(others); i++) {
        serve("run/", others[i], "");
        assert_int_equal(at.nsaid, 0);
    }
}

static void calls_to_addresses_are_told_for_those_that_are_known(void **state)
{
    (void)state;
    serve("lanes", "", "10.0.0.1:9999\n\n10.0.0.9:9999\n10.0.0.2:9999\n");
    assert_string_equal(at.said, "1 2 3 4 5 10.0.0.1:9999\n1 2 3 4 5 10.0.0.2:9999\n");
}

static void what_was_set_last_is_told(void **state)
{
    (void)state;
    serve("attention", "", "");
    assert_int_equal(at.nsaid, 0);
    center_attention_set(&center, slice_text("one job"));
    center_attention_set(&center, slice_text("two jobs"));
    serve("attention", "", "");
    assert_string_equal(at.said, "two jobs");
    center_attention_set(&center,
                         slice_text("more than there is room for, as no server would say"));
    serve("attention", "", "");
    assert_int_equal(at.nsaid, 0); /* it is not known, then */
    center_attention_set(&center, slice_text("no job"));
    serve("attention", "", "");
    assert_string_equal(at.said, "no job");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(an_ask_is_answered),
        CASE(a_call_that_fails_says_why),
        CASE(who_cannot_be_called_is_not_asked),
        CASE(an_asker_that_gives_up_leaves_the_call_alone),
        CASE(a_server_that_stops_answers_every_ask),
        CASE(who_is_told_of_news_looks),
        CASE(the_story_of_a_run_is_told_by_its_owner_alone),
        CASE(calls_to_addresses_are_told_for_those_that_are_known),
        CASE(what_was_set_last_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
