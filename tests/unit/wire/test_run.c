/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to executors, from both ends: what we write has the form that the strictest client
 * needs, and what any center ever sent is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "support_wire.h"
#include "wire/executor_api.h"
#include "wire/executor_side.h"
#include "wire/open_api.h"
#include "wire/texts.h"

static const struct wire_job plain_job = {
    .job_id = 1,
    .handler = { "demoJobHandler", 14 },
    .block = { "SERIAL_EXECUTION", 16 },
    .glue_type = { "BEAN", 4 },
    .glue_update_ms = 1541254891000,
};

static void body_of(struct buf *out, const struct wire_job *job, const struct wire_run *run)
{
    struct wire_run_form form;
    assert_int_equal(wire_run_form_init(&form, job, 1 << 20), OK);
    wire_run_body(out, &form, run);
    wire_run_form_done(&form);
    assert_false(out->failed);
}

static void a_run_has_every_member_in_the_original_order(void **state)
{
    (void)state;
    struct wire_job job = plain_job;
    struct wire_run run = { .log_id = 7, .log_date_ms = 1700000000000, .shard_total = 1 };
    struct buf b = BUF_INIT(4096);
    job.params = slice_text("p");
    body_of(&b, &job, &run);
    assert_string_equal(
        buf_str(&b),
        "{\"jobId\":1,\"executorHandler\":\"demoJobHandler\",\"executorParams\":\"p\","
        "\"executorBlockStrategy\":\"SERIAL_EXECUTION\",\"executorTimeout\":0,\"logId\":7,"
        "\"logDateTime\":1700000000000,\"glueType\":\"BEAN\",\"glueSource\":\"\","
        "\"glueUpdatetime\":1541254891000,\"broadcastIndex\":0,\"broadcastTotal\":1}");
    buf_reset(&b);
    struct slice own = slice_text("");
    run = (struct wire_run){ INT64_MAX, 1, 3, 4, &own };
    body_of(&b, &job, &run);
    assert_non_null(strstr(buf_str(&b), "\"executorParams\":\"\","));
    assert_non_null(strstr(buf_str(&b), "\"logId\":9223372036854775807,"));
    assert_non_null(strstr(buf_str(&b), "\"broadcastIndex\":3,\"broadcastTotal\":4}"));
    buf_done(&b);
}

static void numbers_are_never_negative_and_texts_never_missing(void **state)
{
    (void)state;
    struct wire_job job = { .job_id = -1, .timeout_s = -5, .glue_update_ms = INT64_MIN };
    struct wire_run run = { -1, -1, -1, 0, NULL };
    struct buf b = BUF_INIT(4096);
    body_of(&b, &job, &run);
    assert_string_equal(
        buf_str(&b),
        "{\"jobId\":0,\"executorHandler\":\"\",\"executorParams\":\"\",\"executorBlockStrategy\":"
        "\"\",\"executorTimeout\":0,\"logId\":0,\"logDateTime\":0,\"glueType\":\"\",\"glueSource\":"
        "\"\",\"glueUpdatetime\":0,\"broadcastIndex\":0,\"broadcastTotal\":1}");
    buf_done(&b);
}

static void the_word_that_splits_requests_of_some_go_clients_is_masked(void **state)
{
    (void)state;
    struct wire_job job = plain_job;
    struct slice params = slice_text("POST \"POSTPOST\" OST P");
    struct wire_run run = { 1, 1, 0, 1, &params };
    struct buf b = BUF_INIT(4096);
    job.glue_source = slice_text("curl -X POST x");
    body_of(&b, &job, &run);
    assert_null(strstr(buf_str(&b), "POST"));
    struct wire_run_request r;
    assert_int_equal(wire_run_request_parse(slice_of(b.data, b.len), &r, NULL), OK);
    assert_true(slice_eq(r.params, "POST \"POSTPOST\" OST P"));
    assert_true(slice_eq(r.glue_source, "curl -X POST x"));
    wire_run_request_done(&r);
    buf_done(&b);
}

static void a_form_beyond_its_limit_is_refused(void **state)
{
    (void)state;
    struct wire_job job = plain_job;
    struct wire_run_form form;
    static char big[100000];
    memset(big, 'x', sizeof(big));
    job.glue_source = slice_of(big, sizeof(big));
    assert_int_equal(wire_run_form_init(&form, &job, 1000), ERR_TOOBIG);
    assert_int_equal(wire_run_form_init(&form, &job, 200000), OK);
    struct wire_run run = { 1, 1, 0, 1, NULL };
    struct buf b = BUF_INIT(1000);
    wire_run_body(&b, &form, &run);
    assert_true(b.failed);
    buf_done(&b);
    wire_run_form_done(&form);
}

static size_t runs;

/* A captured /run, read by our executor's side and written again by the center's, means the same.
 */
static void check_capture(const struct line *line)
{
    if (line->field[2].n < 100 || !memmem(line->field[2].p, line->field[2].n, "glueType", 8))
        return;
    runs++;
    struct wire_run_request r;
    assert_int_equal(wire_run_request_parse(line->field[2], &r, NULL), OK);
    struct wire_job job = { r.job_id,    r.handler,   slice_text("job's own"), { NULL, 0 },
                            r.timeout_s, r.glue_type, r.glue_source,           r.glue_update_ms };
    static const char *const blocks[] = { "SERIAL_EXECUTION", "DISCARD_LATER", "COVER_EARLY" };
    job.block = slice_text(blocks[r.block]);
    struct wire_run run = { r.log_id, r.log_date_ms, r.shard, r.shard_total, &r.params };
    struct buf b = BUF_INIT(1 << 20);
    body_of(&b, &job, &run);
    json_t *ours = json_loadb(b.data, b.len, 0, NULL);
    json_t *theirs = json_loadb(line->field[2].p, line->field[2].n, 0, NULL);
    if (!json_object_get(theirs, "executorParams"))
        json_object_set_new(theirs, "executorParams", json_string(""));
    assert_true(json_equal(ours, theirs));
    json_decref(ours);
    json_decref(theirs);
    buf_done(&b);
    wire_run_request_done(&r);
}

static void what_real_centers_sent_is_read_and_written_again(void **state)
{
    (void)state;
    each_line("exchanges.tsv", check_capture);
    assert_true(runs >= 39);
}

static void a_run_is_read_leniently(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"jobId\":\"1\",\"logId\":\"9007199254740993\",\"executorParams\":null,\"glueType\":"
        "\"BEAN\"}",
        "{\"jobId\":1.0,\"logId\":9007199254740993,\"glueType\":\"BEAN\",\"unknown\":[{}],"
        "\"executorBlockStrategy\":\"NOBODY_KNOWS\"}",
        " {\"glueType\":\"\\u0042EAN\",\"logId\":9007199254740993,\"jobId\":1,\"broadcastTotal\":0,"
        "\"broadcastIndex\":0,\"executorTimeout\":null} ",
    };
    for (size_t i = 0; i < countof(bodies); i++) {
        struct wire_run_request r;
        assert_int_equal(wire_run_request_parse(slice_text(bodies[i]), &r, NULL), OK);
        assert_int_equal(r.job_id, 1);
        assert_int_equal(r.log_id, 9007199254740993);
        assert_int_equal(r.params.n, 0);
        assert_int_equal(r.block, WIRE_BLOCK_SERIAL);
        assert_int_equal(r.shard, 0);
        assert_int_equal(r.shard_total, 1);
        assert_true(slice_eq(r.glue_type, "BEAN"));
        wire_run_request_done(&r);
    }
}

static bool same_text(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Whether the body is a run or not, both readers say the same about it. */
static void read_both_ways(struct slice body)
{
    struct wire_run_request a, b;
    struct why why_a = { "" }, why_b = { "" };
    enum err err = wire_run_request_parse_slowly(body, &b, &why_b);
    assert_int_equal(wire_run_request_parse(body, &a, &why_a), err);
    assert_string_equal(why_a.text, why_b.text);
    if (err)
        return;
    assert_true(a.job_id == b.job_id && a.timeout_s == b.timeout_s && a.log_id == b.log_id);
    assert_true(a.log_date_ms == b.log_date_ms && a.glue_update_ms == b.glue_update_ms);
    assert_true(a.block == b.block && a.shard == b.shard && a.shard_total == b.shard_total);
    assert_true(same_text(a.handler, b.handler) && same_text(a.params, b.params));
    assert_true(same_text(a.glue_type, b.glue_type) && same_text(a.glue_source, b.glue_source));
    wire_run_request_done(&a);
    wire_run_request_done(&b);
}

static void check_capture_both_ways(const struct line *line)
{
    read_both_ways(line->field[2]);
}

static void the_short_cut_reads_what_the_long_way_reads(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{}",
        "{\"jobId\":1}",
        " { \"jobId\" : 1 , \"logId\":2\n} ",
        "{\"jobId\":1}x",
        "{\"jobId\":1,}",
        "{\"jobId\":1,\"jobId\":2}",
        "{\"jobId\":01}",
        "{\"jobId\":null,\"executorParams\":null,\"broadcastTotal\":null}",
        "{\"logId\":9223372036854775807}",
        "{\"logId\":-9223372036854775808}",
        "{\"logId\":-0}",
        "{\"glueType\":\"BEAN\",\"executorParams\":\"a\\u0000\\ud83d\\ude00\\n\\/\"}",
        "{\"executorParams\":\"\\ud83d\"}",
        "{\"executorParams\":\"\\x\"}",
        "{\"executorParams\":\"\x01\"}",
        "{\"executorParams\":\"\xff\"}",
        "{\"executorParams\":\"\xe4\xb8\xad\",\"executorBlockStrategy\":\"COVER_EARLY\"}",
        "{\"executorParams\":12,\"glueSource\":true}",
        "{\"broadcastIndex\":1,\"broadcastTotal\":3,\"executorTimeout\":-5}",
        "{\"broadcastIndex\":4294967296,\"broadcastTotal\":3}",
        "{\"broadcastIndex\":0,\"broadcastTotal\":0}",
        "{\"executorBlockStrategy\":\"DISCARD_LATER\",\"more\":1}",
        "\xEF\xBB\xBF{\"jobId\":1}",
        "[1]",
        "{\"jobId\":1",
        "{\"jobId\":nul}",
        "{\"job\":1}",
    };
    for (size_t i = 0; i < countof(bodies); i++)
        read_both_ways(slice_text(bodies[i]));
    each_line("exchanges.tsv", check_capture_both_ways);
}

static void a_wrong_request_names_field_and_rule(void **state)
{
    (void)state;
    static const struct {
        const char *body, *why;
    } cases[] = {
        { "", "run body is empty" },
        { "\"\"", "run body must be a JSON object" },
        { "{\"jobId\":", "run body is not valid JSON" },
        { "{\"jobId\":1}{", "run body is not valid JSON" },
        { "{\"jobId\":\"one\"}", "jobId: must be a whole number" },
        { "{\"jobId\":1,\"logId\":1.5}", "logId: must be a whole number" },
        { "{\"jobId\":-1}", "jobId: must not be negative" },
        { "{\"logId\":-1}", "logId: must not be negative" },
        { "{\"executorParams\":{}}", "executorParams: must be text" },
        { "{\"broadcastIndex\":2,\"broadcastTotal\":2}", "broadcastIndex: must be" },
        { "{\"broadcastIndex\":-1,\"broadcastTotal\":2}", "broadcastIndex: must be" },
        { "{\"broadcastTotal\":-2}", "broadcastIndex: must be" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct wire_run_request r;
        struct why why = { "" };
        assert_int_equal(wire_run_request_parse(slice_text(cases[i].body), &r, &why), ERR_INVALID);
        if (!strstr(why.text, cases[i].why))
            fail_msg("%s: %s", cases[i].body, why.text);
    }
}

static void checks_stand_in_the_original_order(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target;
        bool token_ok;
        enum wire_action action;
        const char *text;
    } cases[] = {
        { "POST", "/beat", true, WIRE_BEAT, NULL },
        { "POST", "/idleBeat", true, WIRE_IDLE_BEAT, NULL },
        { "POST", "/run", true, WIRE_RUN, NULL },
        { "POST", "/kill", true, WIRE_KILL, NULL },
        { "POST", "/log", true, WIRE_LOG, NULL },
        { "GET", "/beat", false, WIRE_REFUSED, "invalid request, HttpMethod not support." },
        { "post", "/beat", true, WIRE_REFUSED, "invalid request, HttpMethod not support." },
        { "POST", "", false, WIRE_REFUSED, "invalid request, uri-mapping empty." },
        { "POST", "/nosuch", false, WIRE_REFUSED, "The access token is wrong." },
        { "POST", "/beat/", true, WIRE_REFUSED, "invalid request, uri-mapping(/beat/) not found." },
        { "POST", "/beat?x=1", true, WIRE_REFUSED,
          "invalid request, uri-mapping(/beat?x=1) not found." },
        { "POST", "//beat", true, WIRE_REFUSED, "invalid request, uri-mapping(//beat) not found." },
        { "POST", "/idlebeat", true, WIRE_REFUSED,
          "invalid request, uri-mapping(/idlebeat) not found." },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct buf b = BUF_INIT(4096);
        assert_int_equal(wire_action_of(slice_text(cases[i].method), slice_text(cases[i].target),
                                        cases[i].token_ok, &b),
                         cases[i].action);
        assert_int_equal(b.len == 0, cases[i].text == NULL);
        if (cases[i].text) {
            struct wire_reply r;
            wire_reply_parse(200, slice_of(b.data, b.len), &r);
            assert_int_equal(r.code, 500);
            assert_true(slice_eq(r.msg, cases[i].text));
            wire_reply_done(&r);
        }
        buf_done(&b);
    }
}

static void small_requests_go_both_ways(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(4096);
    int64_t id = 0;
    wire_job_body(&b, 6);
    assert_string_equal(buf_str(&b), "{\"jobId\":6}");
    assert_int_equal(wire_job_request_parse(slice_of(b.data, b.len), &id, NULL), OK);
    assert_int_equal(id, 6);
    assert_int_equal(wire_job_request_parse(slice_text("{\"jobId\":\"21\"}"), &id, NULL), OK);
    assert_int_equal(id, 21);
    assert_int_equal(wire_job_request_parse(slice_text("{}"), &id, NULL), OK);
    assert_int_equal(id, 0);
    assert_int_equal(wire_job_request_parse(slice_text(""), &id, NULL), ERR_INVALID);
    buf_reset(&b);
    wire_log_body(&b, 101, 1795164424698, 1);
    assert_string_equal(buf_str(&b),
                        "{\"logDateTim\":1795164424698,\"logId\":101,\"fromLineNum\":1}");
    struct wire_log_request r;
    assert_int_equal(wire_log_request_parse(slice_of(b.data, b.len), &r, NULL), OK);
    assert_int_equal(r.log_id, 101);
    assert_int_equal(r.log_date_ms, 1795164424698);
    assert_int_equal(r.from_line, 1);
    buf_done(&b);
}

static void a_log_page_is_found_by_every_release(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(4096);
    wire_log_page_reply(&b, 1, 2, slice_text("a\nb\n"), false);
    assert_string_equal(
        buf_str(&b),
        "{\"code\":200,\"msg\":null,\"content\":{\"fromLineNum\":1,\"toLineNum\":2,\"logContent\":"
        "\"a\\nb\\n\",\"isEnd\":false},\"data\":{\"fromLineNum\":1,\"toLineNum\":2,\"logContent\":"
        "\"a\\nb\\n\",\"isEnd\":false}}");
    buf_reset(&b);
    wire_reply_note(&b, slice_text(WIRE_TEXT_ALREADY_KILLED));
    json_t *doc = json_loadb(b.data, b.len, 0, NULL);
    static const char *const names[] = { "msg", "content", "data" };
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(json_string_value(json_object_get(doc, names[i])),
                            "job thread already killed.");
    json_decref(doc);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_every_member_in_the_original_order),
        cmocka_unit_test(numbers_are_never_negative_and_texts_never_missing),
        cmocka_unit_test(the_word_that_splits_requests_of_some_go_clients_is_masked),
        cmocka_unit_test(a_form_beyond_its_limit_is_refused),
        cmocka_unit_test(what_real_centers_sent_is_read_and_written_again),
        cmocka_unit_test(a_run_is_read_leniently),
        cmocka_unit_test(the_short_cut_reads_what_the_long_way_reads),
        cmocka_unit_test(a_wrong_request_names_field_and_rule),
        cmocka_unit_test(checks_stand_in_the_original_order),
        cmocka_unit_test(small_requests_go_both_ways),
        cmocka_unit_test(a_log_page_is_found_by_every_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
