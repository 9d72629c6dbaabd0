/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which the page of a run tells its steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "api/v1/run_story.h"

#define DUE_MS 1700000000000

/* The first letters of the steps, in their order: "due planned sent" is "dps". */
static void assert_steps(const struct story *story, const char *want)
{
    struct log_record r = {
        .id = 7, .trigger_code = 200, .handle_ms = -1, .phase = PHASE_ACCEPTED
    };
    struct buf out = BUF_INIT(4096);
    struct jsonw w = jsonw_on(&out);
    char got[16];
    size_t n = 0;
    jsonw_object(&w, NULL);
    run_story_write(&w, &r, story);
    jsonw_object_end(&w);
    const char *key = "\"step\":\"";
    for (const char *at = strstr(buf_str(&out), key); at; at = strstr(at + 1, key))
        if (n + 1 < sizeof(got))
            got[n++] = at[strlen(key)];
    got[n] = '\0';
    assert_string_equal(got, want);
    buf_done(&out);
}

static struct story story_with(int32_t planned_us, int32_t sent_us, int32_t answered_us)
{
    struct story s = { .due_ms = DUE_MS };
    for (int i = 0; i < STORY_TIMES; i++)
        s.at_us[i] = STORY_UNKNOWN;
    s.at_us[STORY_PLANNED] = planned_us;
    s.at_us[STORY_SENT] = sent_us;
    s.at_us[STORY_ANSWERED] = answered_us;
    return s;
}

static void test_planned_ahead(void **state)
{
    (void)state;
    struct story s = story_with(-4000000, 900, 2000);
    assert_steps(&s, "pdsa");
}

static void test_by_hand(void **state)
{
    (void)state;
    struct story s = story_with(3000, 3000, 5000);
    assert_steps(&s, "dpsa");
}

/* The row was on disk within the millisecond in which the user asked. */
static void test_by_hand_in_one_millisecond(void **state)
{
    (void)state;
    struct story s = story_with(0, 0, 0);
    assert_steps(&s, "dpsa");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planned_ahead),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_by_hand_in_one_millisecond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
