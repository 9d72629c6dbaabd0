/* SPDX-License-Identifier: Apache-2.0 */
/* What JSON makes of a job: all faults at once under their pointers, patches, and that it is the
 * form's book of rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/body.h"
#include "api/v1/job_json.h"
#include "api/xxl/job_form.h"
#include "base/mem.h"
#include "wire/json.h"

struct fixture {
    struct store *s;
    struct zones *zones;
    struct job_rules rules;
    struct problem_errors errors;
    struct job_record r;
    struct why why;
    uint64_t said;
};

static bool may(const void *ctx, int64_t group_id)
{
    (void)ctx;
    (void)group_id;
    return true;
}

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct store_options options = { .node = 1, .epoch = 1 };
    struct group_record g = { .app = mem_dup("app-one"), .title = mem_dup("t") };
    f->s = store_memory_new(&options);
    f->zones = zones_new(NULL);
    assert_int_equal(f->s->ops->txn->begin(f->s, NULL), OK);
    assert_int_equal(f->s->ops->catalog->group_insert(f->s, &g, NULL), OK);
    assert_int_equal(f->s->ops->txn->commit(f->s, NULL, NULL), OK);
    group_record_done(&g);
    f->rules = (struct job_rules){ f->s, f->zones, "UTC", 2120, "alice", 30000, may, NULL, false };
    job_record_init(&f->r);
    problem_errors_init(&f->errors);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    job_record_done(&f->r);
    problem_errors_done(&f->errors);
    store_close(f->s);
    zones_free(f->zones);
    free(f);
    return 0;
}

static enum err read_json(struct fixture *f, const char *text, bool insert)
{
    struct json_t *doc;
    problem_errors_done(&f->errors);
    problem_errors_init(&f->errors);
    assert_int_equal(body_parse(slice_text(text), &doc, &f->why), OK);
    enum err err = insert ? job_json_insert(doc, &f->rules, &f->r, &f->errors, &f->why)
                          : job_json_update(doc, &f->rules, &f->r, &f->said, &f->errors, &f->why);
    wire_json_free(doc);
    assert_true((err == OK) == (f->errors.n == 0));
    return err;
}

static void make(struct fixture *f, const char *text)
{
    job_record_done(&f->r);
    if (read_json(f, text, true))
        fail_msg("%s: %s", text, buf_str(&f->errors.list));
}

/* Is the one fault this field's, by this rule? */
static void one_fault(struct fixture *f, const char *text, bool insert, const char *field,
                      const char *rule)
{
    char wanted[256];
    struct job_record kept;
    job_record_copy(&kept, &f->r);
    if (insert)
        job_record_done(&f->r);
    assert_int_equal(read_json(f, text, insert), ERR_INVALID);
    snprintf(wanted, sizeof(wanted), "\"field\":\"%s\",\"rule\":\"%s\"", field, rule);
    if (f->errors.n != 1 || !strstr(buf_str(&f->errors.list), wanted))
        fail_msg("%s: %s", text, buf_str(&f->errors.list));
    job_record_done(&f->r);
    f->r = kept;
}

#define SMALL(more)                                                                                \
    "{\"name\":\"n\",\"groupId\":1,\"schedule\":{\"type\":\"NONE\"},"                              \
    "\"task\":{\"kind\":\"BEAN\",\"handler\":\"h\"}" more "}"

static void a_small_job_gets_defaults(void **state)
{
    struct fixture *f = *state;
    make(f, SMALL(""));
    assert_string_equal(f->r.author, "alice");
    assert_string_equal(f->r.route, "FIRST");
    assert_string_equal(f->r.block, "SERIAL_EXECUTION");
    assert_string_equal(f->r.misfire, "DO_NOTHING");
    assert_string_equal(f->r.dst, "xxl");
    assert_string_equal(f->r.on_doubt, "wait");
    assert_int_equal(f->r.start_deadline_ms, 30000);
    assert_int_equal(f->r.retry_delay_ms, 5000);
    assert_false(f->r.enabled);
    assert_null(f->r.zone);
    make(f, "{\"name\":\"n\",\"groupId\":1,\"task\":{\"kind\":\"BEAN\",\"handler\":\"h\"},"
            "\"schedule\":{\"type\":\"ONCE\",\"conf\":\"2090-01-01T00:00:00Z\"}}");
    assert_string_equal(f->r.misfire, "FIRE_ONCE_NOW");
}

static void every_member_comes_into_the_record(void **state)
{
    struct fixture *f = *state;
    make(f, "{\"name\":\" n \",\"groupId\":1,\"owner\":\"o\","
            "\"schedule\":{\"type\":\"CRON\",\"conf\":\"0 0 9 * * ?\",\"zone\":\"Asia/Shanghai\","
            "\"dst\":\"smart\",\"misfire\":\"FIRE_ALL\",\"misfireMax\":7},"
            "\"task\":{\"kind\":\"GLUE_SHELL\",\"handler\":\"\",\"param\":\" p\\n\"},"
            "\"running\":{\"route\":\"ROUND\",\"block\":\"COVER_EARLY\",\"timeoutS\":9,"
            "\"retries\":2,\"retryDelayMs\":100,\"retryBackoff\":1.5,\"startDeadlineMs\":2000,"
            "\"onUnknown\":\"resend\"},\"children\":[],\"alarmEmails\":[\"a@b\",\"c@d\"],"
            "\"script\":\"a\\r\\nb\",\"start\":true}");
    assert_string_equal(f->r.description, "n");
    assert_string_equal(f->r.param, " p\n");
    assert_string_equal(f->r.alarm_email, "a@b,c@d");
    assert_string_equal(f->r.children, "");
    assert_string_equal(f->r.glue_source, "a\nb");
    assert_string_equal(f->r.zone, "Asia/Shanghai");
    assert_int_equal(f->r.misfire_max, 7);
    assert_int_equal(f->r.timeout_s, 9);
    assert_true(f->r.retry_backoff == 1.5);
    assert_true(f->r.enabled);
}

static void all_faults_are_told_at_once(void **state)
{
    struct fixture *f = *state;
    static const char *const wanted[] = {
        "/name\",\"rule\":\"text.empty",
        "/groupId\",\"rule\":\"group.exists",
        "/schedule/conf\",\"rule\":\"schedule.conf",
        "/schedule/zone\",\"rule\":\"zone",
        "/schedule/misfireMax\",\"rule\":\"number.range",
        "/task\",\"rule\":\"type.object",
        "/task/kind\",\"rule\":\"required",
        "/running/route\",\"rule\":\"word",
        "/running/retries\",\"rule\":\"type.integer",
        "/running/retryBackoff\",\"rule\":\"number.range",
        "/running/speed\",\"rule\":\"unknown",
        "/children/1\",\"rule\":\"id",
        "/alarmEmails\",\"rule\":\"text.comma",
        "/version\",\"rule\":\"unknown",
    };
    assert_int_equal(
        read_json(f,
                  "{\"name\":\" \",\"groupId\":9,\"schedule\":{\"type\":\"CRON\",\"conf\":\"x\","
                  "\"zone\":\"Mars\",\"misfireMax\":0},\"task\":[],\"running\":{\"route\":\"x\","
                  "\"retries\":1.5,\"retryBackoff\":99,\"speed\":1},\"children\":[1,0],"
                  "\"alarmEmails\":[\"a,b\"],\"version\":1}",
                  true),
        ERR_INVALID);
    for (size_t i = 0; i < countof(wanted); i++)
        if (!strstr(buf_str(&f->errors.list), wanted[i]))
            fail_msg("no %s in %s", wanted[i], buf_str(&f->errors.list));
    assert_int_equal(f->errors.n, countof(wanted));
}

static void types_are_exact(void **state)
{
    struct fixture *f = *state;
    one_fault(f, SMALL(",\"owner\":1"), true, "/owner", "type.text");
    one_fault(f, SMALL(",\"owner\":null"), true, "/owner", "type.text");
    one_fault(f, SMALL(",\"start\":1"), true, "/start", "type.boolean");
    one_fault(f, SMALL(",\"running\":{\"retries\":\"1\"}"), true, "/running/retries",
              "type.integer");
    one_fault(f, SMALL(",\"running\":{\"retries\":5000000000}"), true, "/running/retries",
              "number.range");
    one_fault(f, SMALL(",\"running\":{\"retryBackoff\":\"2\"}"), true, "/running/retryBackoff",
              "type.number");
    one_fault(f, SMALL(",\"running\":null"), true, "/running", "type.object");
    one_fault(f, SMALL(",\"children\":{}"), true, "/children", "type.ids");
    one_fault(f, SMALL(",\"children\":[7]"), true, "/children", "child.exists");
    one_fault(f, SMALL(",\"children\":[7,7]"), true, "/children", "array.unique");
    one_fault(f, SMALL(",\"alarmEmails\":[\"\"]"), true, "/alarmEmails/0", "text.length");
    one_fault(f,
              "{\"name\":\"n\",\"groupId\":1,\"schedule\":{\"type\":\"NONE\"},"
              "\"task\":{\"kind\":\"BEAN\"}}",
              true, "/task/handler", "handler.needed");
}

static void a_patch_keeps_what_it_does_not_name(void **state)
{
    struct fixture *f = *state;
    make(f, SMALL(",\"running\":{\"retries\":3,\"route\":\"LAST\"},\"alarmEmails\":[\"a\"]"));
    assert_int_equal(read_json(f, "{}", false), OK);
    assert_true(f->said == 0);
    assert_int_equal(
        read_json(f, "{\"schedule\":{\"type\":\"FIX_RATE\",\"conf\":\"5\"},\"name\":\"m\"}", false),
        OK);
    assert_string_equal(f->r.description, "m");
    assert_string_equal(f->r.schedule_type, "FIX_RATE");
    assert_string_equal(f->r.handler, "h");
    assert_string_equal(f->r.route, "LAST");
    assert_int_equal(f->r.retries, 3);
    assert_int_equal(read_json(f,
                               "{\"running\":{\"retries\":null,\"route\":null,"
                               "\"startDeadlineMs\":null},\"owner\":null,\"alarmEmails\":null,"
                               "\"schedule\":{\"misfire\":null,\"dst\":null}}",
                               false),
                     OK);
    assert_int_equal(f->r.retries, 0);
    assert_string_equal(f->r.route, "FIRST");
    assert_string_equal(f->r.author, "alice");
    assert_string_equal(f->r.misfire, "DO_NOTHING");
    assert_string_equal(f->r.dst, "xxl");
    assert_int_equal(f->r.start_deadline_ms, 30000);
    assert_int_equal(read_json(f, "{\"task\":{\"kind\":\"BEAN\"}}", false), OK);
}

static void a_patch_breaks_no_rule_either(void **state)
{
    struct fixture *f = *state;
    make(f, SMALL(""));
    one_fault(f, "{\"name\":null}", false, "/name", "type.text");
    one_fault(f, "{\"groupId\":null}", false, "/groupId", "type.integer");
    one_fault(f, "{\"groupId\":2}", false, "/groupId", "group.exists");
    one_fault(f, "{\"task\":{\"kind\":\"GLUE_SHELL\"}}", false, "/task/kind", "fixed");
    one_fault(f, "{\"task\":{\"handler\":\"\"}}", false, "/task/handler", "handler.needed");
    one_fault(f, "{\"schedule\":{\"type\":\"CRON\"}}", false, "/schedule/conf", "schedule.conf");
    one_fault(f, "{\"start\":true}", false, "/start", "unknown");
    one_fault(f, "{\"script\":\"x\"}", false, "/script", "unknown");
    one_fault(f, "{\"id\":1}", false, "/id", "unknown");
}

/* Each column that both APIs take has the same limits in both: what one refuses, the other does. */
static void both_apis_have_one_book(void **state)
{
    struct fixture *f = *state;
    int seen = 0;
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if ((c->type != JOB_INT && c->type != JOB_I64) || c->use != JOB_TAKEN || !c->json)
            continue;
        const char *name = strrchr(c->json, '/') + 1;
        int parent = (int)(name - c->json - 2);
        for (int above = 0; above < 2; above++) {
            long long v = above ? c->max + 1 : c->min - 1;
            char body[256], form_body[256];
            snprintf(body, sizeof(body), "{\"%.*s\":{\"%s\":%lld}}", parent, c->json + 1, name, v);
            make(f, SMALL(""));
            one_fault(f, body, false, c->json, "number.range");
            snprintf(form_body, sizeof(form_body), "%s=%lld", c->form, v);
            struct form form;
            struct why why = { "" };
            assert_int_equal(form_parse(slice_text(form_body), slice_text(""), &form, &why), OK);
            assert_int_equal(job_form_update(&form, &f->rules, &f->r, &why), ERR_INVALID);
            assert_memory_equal(why.text, c->form, strlen(c->form));
            form_done(&form);
        }
        seen++;
    }
    assert_true(seen >= 5);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_small_job_gets_defaults),
        TEST(every_member_comes_into_the_record),
        TEST(all_faults_are_told_at_once),
        TEST(types_are_exact),
        TEST(a_patch_keeps_what_it_does_not_name),
        TEST(a_patch_breaks_no_rule_either),
        TEST(both_apis_have_one_book),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
