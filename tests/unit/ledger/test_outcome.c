/* SPDX-License-Identifier: Apache-2.0 */
/* A commit whose answer got lost: the batch waits for what became of it, and comes to the same in
 * both cases. */
#include "base/mem.h"
#include "support_ledger.h"
#include <stdlib.h>
#include <string.h>

static struct link {
    bool commits; /* what the server does with the commit that is not heard */
    int silent;   /* so many questions are not answered */
    bool ended;   /* and then: the epoch is over */
    int questions;
    struct bench *b;
} link;

static enum err unheard_commit(struct store *s, const struct commit *c, struct why *why)
{
    link.b->txn.commit = link.b->engine->txn->commit; /* the next one is heard */
    if (link.commits)
        assert_int_equal(link.b->engine->txn->commit(s, c, why), OK);
    why_set(why, "the connection was lost");
    return ERR_UNHEARD;
}

static enum err outcome(struct store *s, bool *ret_done, struct why *why)
{
    (void)s;
    link.questions++;
    if (link.silent-- > 0) {
        why_set(why, "the server is away");
        return ERR_STORE;
    }
    if (link.ended) {
        why_set(why, "another server is here");
        return ERR_FENCED;
    }
    *ret_done = link.commits;
    return OK;
}

static void cut(struct bench *b, bool commits, int silent, bool ended)
{
    link = (struct link){ .commits = commits, .silent = silent, .ended = ended, .b = b };
    b->txn.commit = unheard_commit;
    b->txn.outcome = outcome;
    b->s->ops = &b->ops;
}

static struct batch *group_batch(void)
{
    struct edit *e = edit_new(EDIT_GROUP_INSERT);
    e->group.app = mem_dup("tests");
    e->group.title = mem_dup("a group");
    return bench_edit(e);
}

static void settle(struct bench *b, struct batch *batch)
{
    txn_settle(b->s, b->planner, NULL, batch);
}

static void what_was_committed_counts_once(void **state)
{
    struct bench *b = *state;
    struct batch *batch = group_batch();
    cut(b, true, 2, false);
    assert_int_equal(bench_run(b, batch), ERR_UNHEARD);
    assert_true(batch->edits[0]->id > 0);
    for (int i = 0; i < 2; i++) {
        settle(b, batch);
        assert_int_equal(batch->err, ERR_UNHEARD);
        assert_string_equal(batch->why.text, "the server is away");
    }
    settle(b, batch);
    assert_int_equal(batch->err, OK);
    assert_true(batch->edits[0]->id > 0);
    assert_int_equal(link.questions, 3);
    assert_int_equal(bench_groups(b), 1);
    batch_free(batch);
}

static void what_was_not_committed_is_given_again(void **state)
{
    struct bench *b = *state;
    struct batch *batch = group_batch();
    cut(b, false, 1, false);
    assert_int_equal(bench_run(b, batch), ERR_UNHEARD);
    settle(b, batch);
    assert_int_equal(batch->err, ERR_UNHEARD);
    settle(b, batch);
    assert_int_equal(batch->err, ERR_STORE);
    assert_int_equal(batch->edits[0]->id, 0);
    assert_int_equal(bench_groups(b), 0);
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(bench_groups(b), 1);
    batch_free(batch);
}

static void an_epoch_that_has_ended_gives_the_batch_up(void **state)
{
    struct bench *b = *state;
    struct batch *batch = group_batch();
    cut(b, false, 0, true);
    assert_int_equal(bench_run(b, batch), ERR_UNHEARD);
    settle(b, batch);
    assert_int_equal(batch->err, ERR_FENCED);
    assert_string_equal(batch->why.text, "another server is here");
    batch_free(batch);
}

static void an_engine_in_this_process_knows_that_nothing_happened(void **state)
{
    struct bench *b = *state;
    bool done = true;
    assert_int_equal(b->engine->txn->outcome(b->s, &done, NULL), OK);
    assert_false(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(what_was_committed_counts_once),
        BOTH(what_was_not_committed_is_given_again),
        BOTH(an_epoch_that_has_ended_gives_the_batch_up),
        BOTH(an_engine_in_this_process_knows_that_nothing_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
