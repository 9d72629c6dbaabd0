/* SPDX-License-Identifier: Apache-2.0 */
/* sched_check sees a sum that is wrong. */
#include "support_core.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sched/check.h"
#include "sched/group.h"
#include "sched/run.h"

#define A "http://10.0.0.1:9999/"

/* A core with planned runs and a call under way. */
static struct run *a_run_that_is_out(struct core *c)
{
    core_register(c, "app", A);
    core_simple_job(c, "CRON", "* * * * * ?");
    core_run(c, 3000);
    assert_true(c->nsent > 0);
    struct run *r = run_find(c->s, c->sent[0].log_id);
    assert_non_null(r);
    assert_int_equal(r->wait, WAIT_CALL);
    return r;
}

static void nphase(struct run *r, struct sched *s)
{
    (void)r;
    s->nphase[PHASE_PLANNED]++;
}

static void phase(struct run *r, struct sched *s)
{
    (void)s;
    r->phase = PHASE_PLANNED;
}

static void wait_of(struct run *r, struct sched *s)
{
    (void)s;
    r->wait = WAIT_NOTHING;
}

static void place(struct run *r, struct sched *s)
{
    list_push(&s->beyond, &r->place);
}

static void in_flight(struct run *r, struct sched *s)
{
    (void)s;
    r->lane->in_flight--;
}

static void queued(struct run *r, struct sched *s)
{
    (void)s;
    r->lane->nqueue++;
}

static void refs(struct run *r, struct sched *s)
{
    (void)s;
    r->lane->refs++;
}

static void registered(struct run *r, struct sched *s)
{
    (void)s;
    r->lane->registered--;
}

static void dead(struct run *r, struct sched *s)
{
    (void)s;
    r->lane->dead = true;
}

static void ndead_of_group(struct run *r, struct sched *s)
{
    group_of(s, r->job->def->group_id)->ndead++;
}

static void nruns(struct run *r, struct sched *s)
{
    (void)s;
    r->job->nruns++;
}

static void pending(struct run *r, struct sched *s)
{
    run_dirty(s, r);
    list_remove(&r->dirty);
}

static bool found(struct core *c, struct run *r, void (*spoil)(struct run *, struct sched *))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO); /* what assert says */
        if (spoil)
            spoil(r, c->s);
        sched_check(c->s);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void a_sum_that_is_wrong_ends_the_process(void **state)
{
    struct core *c = *state;
    struct run *r = a_run_that_is_out(c);
    static void (*const spoils[])(struct run *, struct sched *) = {
        nphase, phase,      wait_of, place,          in_flight, queued,
        refs,   registered, dead,    ndead_of_group, nruns,     pending,
    };
    assert_false(found(c, r, NULL));
    for (size_t i = 0; i < sizeof(spoils) / sizeof(*spoils); i++)
        if (!found(c, r, spoils[i]))
            fail_msg("the sum that spoils[%zu] changes is not checked", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sum_that_is_wrong_ends_the_process, core_setup,
                                        core_teardown),
    };
    return cmocka_run_group_tests_name("sched.check", tests, NULL, NULL);
}
