/* SPDX-License-Identifier: Apache-2.0 */
/* What a form makes of a job: each rule, their order, and what a change leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/xxl/job_form.h"
#include "base/buf.h"
#include "base/mem.h"

struct fixture {
    struct store *s;
    struct zones *zones;
    struct job_rules rules;
    int64_t group, closed_group;
};

static bool may(const void *ctx, int64_t group_id)
{
    return group_id != *(const int64_t *)ctx;
}

static int64_t add_group(struct store *s, const char *app)
{
    struct group_record g = { .app = mem_dup(app), .title = mem_dup("t") };
    assert_int_equal(s->ops->txn->begin(s, NULL), OK);
    assert_int_equal(s->ops->catalog->group_insert(s, &g, NULL), OK);
    assert_int_equal(s->ops->txn->commit(s, NULL, NULL), OK);
    int64_t id = g.id;
    group_record_done(&g);
    return id;
}

static int64_t add_job(struct fixture *f, int64_t group, const char *children)
{
    struct job_record r;
    job_record_init(&r);
    r.group_id = group;
    r.handler = mem_dup("h");
    r.description = mem_dup("d");
    r.author = mem_dup("a");
    r.children = mem_dup(children);
    r.schedule_type = mem_dup("NONE");
    r.next_ms = NEVER_MS;
    struct store *s = f->s;
    assert_int_equal(s->ops->txn->begin(s, NULL), OK);
    assert_int_equal(s->ops->catalog->job_insert(s, &r, NULL), OK);
    assert_int_equal(s->ops->txn->commit(s, NULL, NULL), OK);
    int64_t id = r.id;
    job_record_done(&r);
    return id;
}

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct store_options options = { .node = 1, .epoch = 1 };
    f->s = store_memory_new(&options);
    f->zones = zones_new(NULL);
    f->group = add_group(f->s, "app-one");
    f->closed_group = add_group(f->s, "app-two");
    f->rules = (struct job_rules){ f->s, f->zones,         "UTC", 2120, "alice", 30000,
                                   may,  &f->closed_group, false };
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    store_close(f->s);
    zones_free(f->zones);
    free(f);
    return 0;
}

/* Everything that the original's console sends. */
#define GOOD                                                                                       \
    "jobGroup=1&jobDesc=d&author=a&scheduleType=NONE&scheduleConf=&misfireStrategy=DO_NOTHING"     \
    "&executorRouteStrategy=FIRST&executorHandler=h&executorBlockStrategy=SERIAL_EXECUTION"        \
    "&glueType=BEAN&executorTimeout=0&executorFailRetryCount=0"

static enum err insert(struct fixture *f, const char *text, struct job_record *r, struct why *why)
{
    struct form form;
    why_clear(why);
    job_record_init(r);
    assert_int_equal(form_parse(slice_text(""), slice_text(text), &form, why), OK);
    enum err err = job_form_insert(&form, &f->rules, r, why);
    form_done(&form);
    return err;
}

static void refused(struct fixture *f, const char *text, const char *reason)
{
    struct job_record r;
    struct why why;
    enum err err = insert(f, text, &r, &why);
    job_record_done(&r);
    if (err && strncmp(why.text, reason, strlen(reason)) == 0)
        return;
    fail_msg("%s\n  gave \"%s\", not \"%s…\"", text, err ? why.text : "OK", reason);
}

/* Each next request has one fault fewer: the complaint moves on in the original's order. */
static void complaints_come_in_the_originals_order(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *bad, *good, *reason;
    } steps[] = {
        { "jobGroup=99", "jobGroup=1", "jobGroup: there is no group 99" },
        { "jobDesc=+", "jobDesc=d", "jobDesc: must not be empty" },
        { "author=", "author=a", "author: must not be empty" },
        { "scheduleType=cron", "scheduleType=CRON", "scheduleType: must be" },
        { "scheduleConf=0+0+25+*+*+%3F", "scheduleConf=0+0+9+*+*+%3F", "scheduleConf: " },
        { "glueType=GLUE_COBOL", "glueType=BEAN", "glueType: must be" },
        { "executorHandler=", "executorHandler=h", "executorHandler: a BEAN job" },
        { "executorRouteStrategy=first", "executorRouteStrategy=FIRST", "executorRouteStrategy: " },
        { "misfireStrategy=", "misfireStrategy=DO_NOTHING", "misfireStrategy: must be" },
        { "executorBlockStrategy=X", "executorBlockStrategy=COVER_EARLY", "executorBlockStrategy" },
        { "childJobId=7,x", "childJobId=", "childJobId: there is no job 7" },
        { "executorTimeout=-1", "executorTimeout=1", "executorTimeout: must be from 0" },
        { "zone=Mars", "zone=UTC", "zone: " },
        { "dst=java", "dst=smart", "dst: must be" },
        { "onDoubt=hope", "onDoubt=resend", "onDoubt: must be" },
    };
    const size_t n = sizeof(steps) / sizeof(*steps);
    for (size_t fixed = 0; fixed <= n; fixed++) {
        struct buf b = BUF_INIT(4096);
        for (size_t i = 0; i < n; i++)
            buf_printf(&b, "%s%s", i ? "&" : "", i < fixed ? steps[i].good : steps[i].bad);
        if (fixed < n) {
            refused(f, buf_str(&b), steps[fixed].reason);
        } else {
            struct job_record r;
            struct why why;
            assert_int_equal(insert(f, buf_str(&b), &r, &why), OK);
            job_record_done(&r);
        }
        buf_done(&b);
    }
}

static void what_tools_leave_out_is_filled_in(void **state)
{
    struct fixture *f = *state;
    struct job_record r;
    struct why why;
    assert_int_equal(insert(f,
                            "jobGroup=1&scheduleType=NONE&executorRouteStrategy=FIRST&glueType=BEAN"
                            "&executorHandler=+demo+&executorBlockStrategy=SERIAL_EXECUTION",
                            &r, &why),
                     OK);
    assert_string_equal(r.handler, "demo");
    assert_string_equal(r.description, "demo");
    assert_string_equal(r.author, "alice");
    assert_string_equal(r.misfire, "DO_NOTHING");
    assert_string_equal(r.dst, "xxl");
    assert_string_equal(r.on_doubt, "wait");
    assert_int_equal(r.start_deadline_ms, 30000);
    assert_int_equal(r.retry_delay_ms, 5000);
    assert_int_equal(r.misfire_max, 100);
    assert_false(r.enabled);
    job_record_done(&r);
    assert_int_equal(insert(f,
                            "jobGroup=1&jobCron=0+0+9+*+*+%3F&executorRouteStrategy=FIRST"
                            "&glueType=BEAN&executorHandler=h&executorBlockStrategy=COVER_EARLY"
                            "&triggerStatus=1",
                            &r, &why),
                     OK); /* as 2.2 */
    assert_string_equal(r.schedule_type, "CRON");
    assert_string_equal(r.schedule_conf, "0 0 9 * * ?");
    assert_true(r.enabled);
    job_record_done(&r);
    assert_int_equal(insert(f,
                            "jobGroup=1&scheduleType=ONCE&scheduleConf=2090-01-01T00:00:00Z"
                            "&executorRouteStrategy=FIRST&glueType=BEAN&executorHandler=h"
                            "&executorBlockStrategy=COVER_EARLY",
                            &r, &why),
                     OK);
    assert_string_equal(r.misfire, "FIRE_ONCE_NOW");
    job_record_done(&r);
}

static void each_schedule_type_has_its_conf(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *type, *conf;
        bool ok;
    } rows[] = {
        { "FIX_RATE", "30", true },      { "FIX_RATE", "250ms", true }, { "FIX_RATE", "0", false },
        { "FIX_RATE", "99ms", false },   { "FIX_RATE", "x", false },    { "FIX_RATE", "", false },
        { "FIX_DELAY", "5", true },      { "ONCE", "tomorrow", false }, { "CRON", "", false },
        { "CRON", "0 0 9 * * ?", true }, { "NONE", "whatever", true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct buf b = BUF_INIT(4096);
        struct job_record r;
        struct why why;
        buf_printf(&b, "scheduleType=%s&scheduleConf=%s&" GOOD, rows[i].type, rows[i].conf);
        enum err err = insert(f, buf_str(&b), &r, &why);
        if ((err == OK) != rows[i].ok)
            fail_msg("%s \"%s\": %s", rows[i].type, rows[i].conf, err ? why.text : "OK");
        if (err)
            assert_non_null(strstr(why.text, "scheduleConf: "));
        job_record_done(&r);
        buf_done(&b);
    }
}

static void columns_do_not_overflow(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name;
        int width;
    } columns[] = { { "jobDesc", 255 },
                    { "author", 64 },
                    { "alarmEmail", 255 },
                    { "executorHandler", 255 },
                    { "glueRemark", 128 } };
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
        for (int over = 0; over < 2; over++) {
            struct buf b = BUF_INIT(65536);
            struct job_record r;
            struct why why;
            buf_printf(&b, "%s=", columns[i].name);
            for (int n = 0; n < columns[i].width + over; n++)
                buf_text(&b, "%E4%B8%AD"); /* characters count, not bytes */
            buf_text(&b, "&" GOOD);
            enum err err = insert(f, buf_str(&b), &r, &why);
            assert_int_equal(err, over ? ERR_TOOBIG : OK);
            if (over)
                assert_non_null(strstr(why.text, columns[i].name));
            job_record_done(&r);
            buf_done(&b);
        }
}

/* Of each column that is a number: one outside of its limits is refused by name, one at the edge
 * comes into the record. */
static void numbers_keep_their_limits(void **state)
{
    struct fixture *f = *state;
    int seen = 0;
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        if ((c->type != JOB_INT && c->type != JOB_I64 && c->type != JOB_REAL) ||
            c->use != JOB_TAKEN)
            continue;
        seen++;
        char text[512], reason[128];
        snprintf(reason, sizeof(reason), "%s: must be %sfrom %lld to %lld", c->form,
                 c->type == JOB_REAL ? "a number " : "", (long long)c->min, (long long)c->max);
        const int64_t wrong[] = { c->min - 1, c->max + 1 }, right[] = { c->min, c->max };
        for (size_t i = 0; i < 2; i++) {
            snprintf(text, sizeof(text), "%s=%lld&" GOOD, c->form, (long long)wrong[i]);
            refused(f, text, reason);
            snprintf(text, sizeof(text), "%s=%lld&" GOOD, c->form, (long long)right[i]);
            struct job_record r;
            struct why why;
            if (insert(f, text, &r, &why))
                fail_msg("%s: %s", text, why.text);
            int64_t v = c->type == JOB_REAL ? (int64_t)*job_real(&r, c) : job_number(&r, c);
            assert_int_equal(v, right[i]);
            job_record_done(&r);
        }
        snprintf(text, sizeof(text), "%s=x&" GOOD, c->form);
        refused(f, text, c->form);
    }
    assert_true(seen >= 6);
    assert_int_equal(job_columns[JOB_COLUMN_zone].max, ZONES_NAME_MAX);
}

static void children_must_exist_be_allowed_and_not_come_back(void **state)
{
    struct fixture *f = *state;
    struct why why;
    struct job_record r;
    int64_t c = add_job(f, f->group, ""), foreign = add_job(f, f->closed_group, "");
    char text[512], list[64];
    snprintf(text, sizeof(text), GOOD "&childJobId=%lld,,", (long long)c);
    assert_int_equal(insert(f, text, &r, &why), OK);
    snprintf(list, sizeof(list), "%lld", (long long)c);
    assert_string_equal(r.children, list); /* without the commas at the end */
    job_record_done(&r);
    snprintf(text, sizeof(text), GOOD "&childJobId=%lld", (long long)foreign);
    refused(f, text, "childJobId: you have no permission");
    refused(f, GOOD "&childJobId=1,,2", "childJobId: must be ids");
    refused(f, GOOD "&childJobId=1a", "childJobId: must be ids");
    refused(f, GOOD "&childJobId=-1", "childJobId: must be ids");
    /* c <- b <- a: a must not become a child of c */
    snprintf(list, sizeof(list), "%lld", (long long)c);
    int64_t b = add_job(f, f->group, list);
    snprintf(list, sizeof(list), "%lld", (long long)b);
    int64_t a = add_job(f, f->group, list);
    struct form form;
    job_record_init(&r);
    assert_int_equal(f->s->ops->catalog->job_get(f->s, c, &r, &why), OK);
    snprintf(text, sizeof(text), "childJobId=%lld", (long long)a);
    assert_int_equal(form_parse(slice_text(text), slice_text(""), &form, &why), OK);
    why_clear(&why);
    assert_int_equal(job_form_update(&form, &f->rules, &r, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "descendant"));
    form_done(&form);
    snprintf(text, sizeof(text), "childJobId=%lld", (long long)c);
    assert_int_equal(form_parse(slice_text(text), slice_text(""), &form, &why), OK);
    why_clear(&why);
    assert_int_equal(job_form_update(&form, &f->rules, &r, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "own child"));
    form_done(&form);
    job_record_done(&r);
}

static void a_change_keeps_what_it_does_not_name(void **state)
{
    struct fixture *f = *state;
    struct job_record r;
    struct why why;
    struct form form;
    assert_int_equal(
        insert(f, GOOD "&zone=Asia/Shanghai&retryBackoff=2&executorParam=p%0Aq", &r, &why), OK);
    assert_int_equal(form_parse(slice_text("executorParam=&retryDelayMs=100&glueType=GLUE_SHELL"
                                           "&glueSource=rm"),
                                slice_text(""), &form, &why),
                     OK);
    assert_int_equal(job_form_update(&form, &f->rules, &r, &why), OK);
    form_done(&form);
    assert_string_equal(r.param, "");
    assert_string_equal(r.handler, "h");
    assert_string_equal(r.zone, "Asia/Shanghai");
    assert_string_equal(r.glue_type, "BEAN"); /* scripts have their own way */
    assert_null(r.glue_source);
    assert_int_equal(r.retry_delay_ms, 100);
    assert_true(r.retry_backoff == 2);
    job_record_done(&r);
}

static void shell_scripts_lose_their_carriage_returns(void **state)
{
    struct fixture *f = *state;
    struct job_record r;
    struct why why;
    assert_int_equal(insert(f, "glueType=GLUE_SHELL&glueSource=a%0D%0Ab&" GOOD, &r, &why), OK);
    assert_string_equal(r.glue_source, "a\nb");
    job_record_done(&r);
}

static void previews_take_both_ages_of_parameters(void **state)
{
    struct fixture *f = *state;
    struct form form;
    struct why why = { "" };
    struct schedule s = { 0 };
    assert_int_equal(form_parse(slice_text("cron=0+0+9+*+*+%3F&zone=Asia/Shanghai"), slice_text(""),
                                &form, &why),
                     OK);
    assert_int_equal(job_form_schedule(&form, &f->rules, &s, &why), OK);
    assert_int_equal(s.type, SCHEDULE_CRON);
    int64_t ms;
    assert_int_equal(schedule_next(&s, 0, &ms), OK);
    assert_int_equal(ms, 3600000); /* 09:00 in Shanghai */
    schedule_done(&s);
    form_done(&form);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(complaints_come_in_the_originals_order),
        TEST(what_tools_leave_out_is_filled_in),
        TEST(each_schedule_type_has_its_conf),
        TEST(columns_do_not_overflow),
        TEST(numbers_keep_their_limits),
        TEST(children_must_exist_be_allowed_and_not_come_back),
        TEST(a_change_keeps_what_it_does_not_name),
        TEST(shell_scripts_lose_their_carriage_returns),
        TEST(previews_take_both_ages_of_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
