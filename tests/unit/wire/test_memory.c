/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation of the JSON library fails, for every n: a result is never lost or bent by it,
 * the request is refused as a whole and can be sent again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "wire/executor_api.h"
#include "wire/executor_side.h"
#include "wire/open_api.h"

static long left; /* allocations until one fails; negative = none */

static void *failing(size_t n)
{
    if (left == 0)
        return NULL;
    if (left > 0)
        left--;
    return malloc(n);
}

static const char callbacks[] =
    "[{\"logId\":\"1\",\"handleCode\":200,\"handleMsg\":{\"a\":[1,2.5,null,\"text\"]}},"
    "{\"logId\":2,\"x\":[{}],\"executeResult\":{\"code\":500,\"msg\":17}}]";

static void callbacks_are_whole_or_refused(void **state)
{
    (void)state;
    enum err err = ERR_NOMEM;
    for (long n = 0; err; n++) {
        struct wire_callbacks c;
        left = n;
        err = wire_callbacks_parse(slice_text(callbacks), &c, NULL);
        left = -1;
        assert_true(err == OK || err == ERR_NOMEM);
        assert_true(n < 10000);
        if (err)
            continue;
        assert_int_equal(c.nfault, 0);
        assert_true(slice_eq(c.items[0].msg, "{\"a\":[1,2.5,null,\"text\"]}"));
        assert_true(slice_eq(c.items[1].msg, "17"));
        wire_callbacks_done(&c);
        assert_true(n > 10);
    }
}

static void a_run_is_whole_or_refused(void **state)
{
    (void)state;
    enum err err = ERR_NOMEM;
    for (long n = 0; err; n++) {
        struct wire_run_request r;
        left = n;
        err = wire_run_request_parse(
            slice_text("{\"jobId\":1,\"executorParams\":12,\"glueType\":\"BEAN\",\"logId\":7}"), &r,
            NULL);
        left = -1;
        assert_true(err == OK || err == ERR_NOMEM);
        if (err)
            continue;
        assert_true(slice_eq(r.params, "12"));
        wire_run_request_done(&r);
    }
}

static void an_answer_is_understood_or_unclear(void **state)
{
    (void)state;
    bool clear = false;
    for (long n = 0; !clear; n++) {
        struct wire_reply r;
        left = n;
        wire_reply_parse(200, slice_text("{\"code\":500,\"msg\":\"repeate trigger job\"}"), &r);
        left = -1;
        assert_int_equal(r.code, 500);
        assert_int_equal(r.repeat, r.clear);
        clear = r.clear;
        wire_reply_done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_are_whole_or_refused),
        cmocka_unit_test(a_run_is_whole_or_refused),
        cmocka_unit_test(an_answer_is_understood_or_unclear),
    };
    left = -1;
    json_object_seed(1);
    json_set_alloc_funcs(failing, free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
