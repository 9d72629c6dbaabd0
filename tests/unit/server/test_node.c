/* SPDX-License-Identifier: Apache-2.0 */
/* What a node knows of its jobs before and after they are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/metrics.h"
#include "server/node.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int64_t jobs; /* that the table has; below 0: it cannot be read */

static enum err homes_count(struct store *s, int64_t home, int64_t *ret, struct why *why)
{
    (void)s;
    (void)home;
    (void)why;
    if (jobs < 0)
        return ERR_STORE;
    *ret = jobs;
    return OK;
}

static const struct store_cluster cluster = { .homes_count = homes_count };
static const struct store_ops ops = { .cluster = &cluster };
static struct store store = { .ops = &ops };

static struct metrics metrics;
static struct node *node;
static char folder[] = "/tmp/peal-node-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    struct why why = { "" };
    assert_non_null(mkdtemp(folder));
    assert_int_equal(
        node_new(folder, "mysql://peal@127.0.0.1/peal", "", "a", true, &metrics, &node, &why), OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char path[100];
    node_free(node);
    (void)snprintf(path, sizeof(path), "%s/node.lock", folder);
    (void)unlink(path);
    return rmdir(folder);
}

static int64_t counted(int64_t there)
{
    jobs = there;
    node_count(node, &store);
    return atomic_load(&metrics.jobs);
}

/* A node that begins finds none, because others have yet to move jobs to it: that is not zero. */
static void none_at_first_is_not_zero(void **state)
{
    (void)state;
    assert_int_equal(atomic_load(&metrics.jobs), -1); /* so its first beat says */
    assert_true(node_counts(node));
    assert_int_equal(counted(0), -1);
    assert_int_equal(counted(-1), -1);
    assert_int_equal(counted(0), -1);
    assert_int_equal(counted(3), 3);
    assert_int_equal(counted(0), 0); /* those that it had have gone */
    assert_int_equal(counted(0), 0);
    assert_int_equal(counted(-1), -1);
    assert_false(node_counts(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(none_at_first_is_not_zero, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
