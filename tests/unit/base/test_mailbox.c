/* SPDX-License-Identifier: Apache-2.0 */
/* The mailbox between threads: no message is lost or doubled, each sender's order is kept. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/mailbox.h"
#include "base/mem.h"
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

enum { POSTERS = 3, MESSAGES = 5000 };

struct note {
    struct message message;
    int poster, number;
};

struct poster {
    struct mailbox *to;
    int id;
};

static void *post_all(void *arg)
{
    const struct poster *p = arg;
    struct list some;
    list_init(&some);
    for (int i = 0; i < MESSAGES; i++) {
        struct note *n = mem_new(sizeof(*n));
        n->poster = p->id;
        n->number = i;
        if (p->id == 0)
            list_push(&some, &n->message.node); /* this one posts a hundred together */
        else
            mailbox_send(p->to, &n->message);
        if (i % 100 == 99)
            mailbox_send_all(p->to, &some);
    }
    return NULL;
}

static struct note *note_of(struct list_node *node)
{
    return container_of(container_of(node, struct message, node), struct note, message);
}

static bool readable(const struct mailbox *m)
{
    struct pollfd p = { .fd = mailbox_fd(m), .events = POLLIN };
    return poll(&p, 1, 0) == 1;
}

static void every_message_arrives_once_and_in_its_senders_order(void **state)
{
    (void)state;
    struct mailbox *m = mailbox_new();
    struct poster posters[POSTERS];
    pthread_t threads[POSTERS];
    for (int i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){ m, i };
        assert_int_equal(pthread_create(&threads[i], NULL, post_all, &posters[i]), 0);
    }
    int next[POSTERS] = { 0 };
    struct list incoming;
    list_init(&incoming);
    for (int got = 0; got < POSTERS * MESSAGES;) {
        mailbox_wait(m, -1);
        mailbox_take(m, &incoming);
        for (struct list_node *node; (node = list_pop(&incoming)); got++) {
            struct note *n = note_of(node);
            assert_int_equal(n->number, next[n->poster]++);
            free(n);
        }
    }
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    assert_false(mailbox_take(m, &incoming));
    mailbox_free(m);
}

static void the_descriptor_is_readable_while_messages_wait(void **state)
{
    (void)state;
    struct mailbox *m = mailbox_new();
    struct note a = { .number = 1 }, b = { .number = 2 };
    struct list incoming;
    list_init(&incoming);
    assert_false(readable(m));
    mailbox_send(m, &a.message);
    mailbox_send(m, &b.message);
    assert_true(readable(m));
    assert_true(mailbox_take(m, &incoming));
    assert_false(readable(m));
    assert_int_equal(note_of(list_pop(&incoming))->number, 1);
    assert_int_equal(note_of(list_pop(&incoming))->number, 2);
    assert_null(list_pop(&incoming));
    mailbox_send(m, &a.message);
    assert_true(readable(m));
    mailbox_take(m, &incoming);
    mailbox_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_arrives_once_and_in_its_senders_order),
        cmocka_unit_test(the_descriptor_is_readable_while_messages_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
