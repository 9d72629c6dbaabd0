/* SPDX-License-Identifier: Apache-2.0 */
/* Writes from other threads through a whole center: which caller is told, on which thread, how
 * often. */
#include "base/mem.h"
#include "server/center.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    char folder[64];
    struct center *c;
    pthread_t loop;
    bool joined;
};

static void *turn(void *arg)
{
    center_run(((struct bench *)arg)->c);
    return NULL;
}

static int set_up(void **state)
{
    struct bench *b = mem_new(sizeof(*b));
    struct why why = { "" };
    snprintf(b->folder, sizeof(b->folder), "/tmp/peal-unit-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    const struct center_config config = {
        .listen = "127.0.0.1:0",
        .data = b->folder,
        .recorder = "none",
        .zone = "UTC",
        .misfire_threshold_ms = 5000,
        .start_deadline_ms = 60000,
        .lane_connections = 8,
        .lane_queue = 100,
    };
    if (center_new(&config, &b->c, &why))
        fail_msg("%s", why.text);
    assert_int_equal(pthread_create(&b->loop, NULL, turn, b), 0);
    *state = b;
    return 0;
}

static void stop(struct bench *b)
{
    if (b->joined)
        return;
    center_stop(b->c);
    assert_int_equal(pthread_join(b->loop, NULL), 0);
    b->joined = true;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    static const char *const files[] = {
        "peal.db",      "peal.db-wal",       "peal.db-shm",
        "peal.db.lock", "callbacks.journal", "callbacks.journal.2"
    };
    stop(b);
    center_free(b->c);
    for (size_t i = 0; i < countof(files); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", b->folder, files[i]);
        remove(path);
    }
    remove(b->folder);
    free(b);
    return 0;
}

struct probe {
    char name[32];
    int sessions; /* that it writes, one a call, before the user */
    _Atomic int dones;
    enum err err;
    pthread_t told_on;
};

static enum err probe_run(struct store *s, void *arg, struct why *why)
{
    const struct probe *p = arg;
    for (int i = 0; i < p->sessions; i++) {
        struct session_record r = { .user_id = 1, .expires_ms = INT64_MAX }, old;
        snprintf(r.digest, sizeof(r.digest), "%s-%d", p->name, i);
        if (s->ops->users->session_find(s, r.digest, &old, NULL) == OK)
            continue;
        enum err err = s->ops->users->session_put(s, &r, why);
        return err ? err : ERR_MORE;
    }
    struct user_record u = { .username = (char *)p->name, .password = "" };
    return s->ops->users->user_insert(s, &u, why);
}

static void probe_done(void *arg, enum err err, const struct why *why)
{
    (void)why;
    struct probe *p = arg;
    p->err = err;
    p->told_on = pthread_self();
    p->dones++;
}

static const struct ledger_write probe_write = { probe_run, probe_done };

static bool is_user(struct bench *b, const char *name)
{
    struct store *s;
    struct user_record u = { 0 };
    assert_int_equal(center_reader(b->c, &s, NULL), OK);
    bool yes = s->ops->users->user_find(s, name, &u, NULL) == OK;
    user_record_done(&u);
    store_close(s);
    return yes;
}

static void an_asker_is_told_once_on_its_own_thread(void **state)
{
    struct bench *b = *state;
    struct why why = { "" };
    struct probe p = { .name = "ann" }, q = { .name = "ann", .sessions = 2 },
                 parts = { .name = "bob", .sessions = 3 };
    assert_int_equal(center_write(b->c, &probe_write, &p, &why), OK);
    assert_int_equal(p.dones, 1);
    assert_int_equal(p.err, OK);
    assert_true(pthread_equal(p.told_on, pthread_self()));
    assert_true(is_user(b, "ann"));
    assert_int_equal(center_write(b->c, &probe_write, &q, &why), ERR_EXISTS);
    assert_non_null(strstr(why.text, "exists already"));
    assert_int_equal(q.dones, 1);
    assert_int_equal(q.err, ERR_EXISTS);
    assert_int_equal(center_write(b->c, &probe_write, &parts, &why), OK);
    assert_int_equal(parts.dones, 1);
    assert_true(is_user(b, "bob"));
}

#define THREADS 4
#define WRITES 25

struct asker {
    struct bench *b;
    int number;
    pthread_t thread;
    struct probe probes[WRITES];
};

static void *ask(void *arg)
{
    struct asker *a = arg;
    for (int i = 0; i < WRITES; i++) {
        struct why why = { "" };
        struct probe *p = &a->probes[i];
        snprintf(p->name, sizeof(p->name), "%d-%d", a->number, i);
        p->sessions = i % 3;
        if (center_write(a->b->c, &probe_write, p, &why) != p->err)
            p->dones = -1; /* seen by the test's thread */
    }
    return NULL;
}

static void many_askers_do_not_hear_each_others_answers(void **state)
{
    struct bench *b = *state;
    struct asker *askers = mem_new(THREADS * sizeof(*askers));
    for (int i = 0; i < THREADS; i++) {
        askers[i].b = b;
        askers[i].number = i;
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
        for (int k = 0; k < WRITES; k++) {
            const struct probe *p = &askers[i].probes[k];
            assert_int_equal(p->dones, 1);
            assert_int_equal(p->err, OK);
            assert_true(pthread_equal(p->told_on, askers[i].thread));
            assert_true(is_user(b, p->name));
        }
    }
    free(askers);
}

/* A caller of a center that has stopped is told so, and its argument comes back by then or with
 * the center's end. */
static void what_comes_after_the_end_is_refused(void **state)
{
    struct bench *b = *state;
    struct why why = { "" };
    static struct probe p;
    p = (struct probe){ .name = "late" };
    stop(b);
    assert_int_equal(center_write(b->c, &probe_write, &p, &why), ERR_STOPPING);
    assert_false(is_user(b, "late"));
    tear_down(state);
    *state = NULL;
    assert_int_equal(p.dones, 1);
    assert_true(p.err == ERR_STOPPING || p.err == ERR_TIMEOUT);
}

static int tear_down_rest(void **state)
{
    return *state ? tear_down(state) : 0;
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down_rest)
    const struct CMUnitTest tests[] = {
        T(an_asker_is_told_once_on_its_own_thread),
        T(many_askers_do_not_hear_each_others_answers),
        T(what_comes_after_the_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
