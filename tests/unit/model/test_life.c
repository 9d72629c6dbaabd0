/* SPDX-License-Identifier: Apache-2.0 */
/* When a server that shares a database counts as dead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "model/life.h"

static void a_life_is_over_after_3_s_that_were_seen(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int64_t gap_ms[16], beat[16];
        enum life_sign last;
    } cases[] = {
        { "one look", { 0 }, { 1 }, LIFE_MOVES },
        { "short of it", { 0, 600, 600, 600, 600, 599 }, { 1, 1, 1, 1, 1, 1 }, LIFE_QUIET },
        { "enough", { 0, 600, 600, 600, 600, 600 }, { 1, 1, 1, 1, 1, 1 }, LIFE_OVER },
        { "the watcher was away", { 0, 9000, 600, 600, 600 }, { 1, 1, 1, 1, 1 }, LIFE_QUIET },
        { "it moved", { 0, 600, 600, 600, 600, 600 }, { 1, 1, 1, 2, 2, 2 }, LIFE_QUIET },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct life_watch w = { 0 };
        int64_t now_ms = 77000;
        enum life_sign sign = LIFE_OVER;
        for (int k = 0; k < 16 && cases[i].beat[k]; k++) {
            now_ms += cases[i].gap_ms[k];
            sign = life_look(&w, now_ms, LIFE_LEASE_MS, 5, cases[i].beat[k], 0);
        }
        if (sign != cases[i].last)
            fail_msg("%s: %d", cases[i].what, sign);
    }
}

static void each_of_its_numbers_shows_that_it_moves(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int64_t epoch, beat, commits;
        enum life_sign sign;
    } cases[] = {
        { "the same", 5, 40, 900, LIFE_QUIET },
        { "a beat", 5, 41, 900, LIFE_MOVES },
        { "a commit", 5, 40, 901, LIFE_MOVES },
        { "another life", 6, 40, 900, LIFE_MOVES },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct life_watch w = { 0 };
        life_look(&w, 77000, LIFE_LEASE_MS, 5, 40, 900);
        enum life_sign sign =
            life_look(&w, 77200, LIFE_LEASE_MS, cases[i].epoch, cases[i].beat, cases[i].commits);
        if (sign != cases[i].sign)
            fail_msg("%s: %d", cases[i].what, sign);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_over_after_3_s_that_were_seen),
        cmocka_unit_test(each_of_its_numbers_shows_that_it_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
