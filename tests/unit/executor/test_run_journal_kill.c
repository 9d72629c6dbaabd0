/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's journal: what was acknowledged survives kill -9. */
#include "support_journal.h"
#include "base/mem.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

struct note { /* acknowledged: the change is on disk */
    int64_t seq;
    int what;
};

/* Runs through all their states, 64 at a time, and each answer written down, until we are killed.
 */
static void live_until_killed(int notes)
{
    enum { OPEN = 64 };
    static struct run_journal_op ops[OPEN];
    static int64_t seqs[OPEN];
    struct journal j;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing behind */
    journal_open(&j);
    int64_t next = run_journal_first_seq(j.store);
    for (int i = 0; i < OPEN; i++) {
        ops[i] = accept_op(next++, i % 2 ? RUN_JOURNAL_STARTED : RUN_JOURNAL_ACCEPTED, "{}");
        run_journal_send(j.store, &ops[i]);
    }
    for (;;) {
        struct run_journal_op *op = journal_answer(&j);
        int64_t *seq = &seqs[op - ops];
        *seq = op->what == RUN_JOURNAL_TELL ? *seq : op->row.seq;
        struct note note = { *seq, (int)op->what };
        if (op->err || write(notes, &note, sizeof(note)) != sizeof(note))
            _exit(1);
        if (op->what == RUN_JOURNAL_ACCEPT && *seq % 7 == 0)
            *op = seq_op(RUN_JOURNAL_FORGET, *seq);
        else if (op->what == RUN_JOURNAL_ACCEPT && op->row.state == RUN_JOURNAL_ACCEPTED)
            *op = seq_op(RUN_JOURNAL_START, *seq);
        else if (op->what == RUN_JOURNAL_ACCEPT || op->what == RUN_JOURNAL_START)
            *op = result_op(*seq, "done");
        else if (op->what == RUN_JOURNAL_RESULT && *seq % 5)
            *op = tell_op(seq, 1);
        else
            *op = accept_op(next++, *seq % 3 ? RUN_JOURNAL_STARTED : RUN_JOURNAL_ACCEPTED, "{}");
        run_journal_send(j.store, op);
    }
}

/* The state that must be there at least: what comes next may have been written and not heard. */
static enum run_journal_state at_least(int what)
{
    return what == RUN_JOURNAL_TELL     ? RUN_JOURNAL_TOLD
           : what == RUN_JOURNAL_RESULT ? RUN_JOURNAL_ENDED
           : what == RUN_JOURNAL_START  ? RUN_JOURNAL_STARTED
                                        : RUN_JOURNAL_ACCEPTED;
}

static const struct seen_row *seen_of(int64_t seq)
{
    for (int i = 0; i < seen.n; i++)
        if (seen.row[i].seq == seq)
            return &seen.row[i];
    return NULL;
}

static void check_notes(const struct note *last, int64_t n)
{
    for (int64_t seq = 1; seq < n; seq++) {
        const struct seen_row *r = seen_of(seq);
        int what = last[seq].what;
        if (what < 0)
            continue;
        if (what == RUN_JOURNAL_FORGET)
            assert_null(r);
        else if (what == RUN_JOURNAL_ACCEPT && seq % 7 == 0 && !r)
            continue; /* forgotten, unheard */
        else
            assert_true(r && r->state >= at_least(what) && r->log_id == 1000 + seq);
    }
}

static void everything_acknowledged_survives_kill(void **state)
{
    (void)state;
    enum { ROUNDS = 8, ACKS = 3000, BLOCK = 1 << 20 };
    unsigned dice = 12345;
    for (int round = 0; round < ROUNDS; round++) {
        static struct note last[ACKS * 8];
        struct journal j;
        int notes[2];
        journal_clear();
        for (size_t i = 0; i < countof(last); i++)
            last[i].what = -1;
        assert_int_equal(pipe(notes), 0);
        pid_t child = fork();
        if (child == 0)
            live_until_killed(notes[1]);
        close(notes[1]);
        dice = dice * 1103515245 + 12345;
        int kill_after = (int)(dice >> 8) % ACKS;
        struct note note;
        for (int n = 0; read(notes[0], &note, sizeof(note)) == sizeof(note); n++) {
            assert_true(note.seq > 0 && note.seq < (int64_t)countof(last));
            last[note.seq] = note;
            if (n == kill_after)
                kill(child, SIGKILL);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        close(notes[0]);
        journal_open(&j);
        check_notes(last, countof(last));
        journal_close(&j);
        journal_open(&j); /* and once more */
        check_notes(last, countof(last));
        journal_close(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, journal_setup, journal_teardown)
        T(everything_acknowledged_survives_kill),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
