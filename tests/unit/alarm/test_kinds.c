/* SPDX-License-Identifier: Apache-2.0 */
/* What requests of channels are, byte for byte where a service signs them; templates; where a
 * request may go. What servers make of them is tests/blackbox/test_api_channels.py's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include "alarm/kind.h"
#include "alarm/settings.h"
#include "alarm/targets.h"
#include "alarm/template.h"

#define DINGTALK "IqXBU%2FaLfwMA3S%2FtDcfRmHx5vWHw9Y1aOgFLBr1Ti9w%3D"
#define FEISHU "VIS10b0EBvzzSdFnuk4tznEmK5wHaruvf/WnViv2yR4="
#define HOOK "b371764d994ca05761724caeb5973e72f510f97694fe7ea7f2183e70c03df71e"

static const struct alarm_item item = { .job_id = 5,
                                        .job = "<at user_id=\"all\">",
                                        .cause = "c",
                                        .since = "",
                                        .failures = 3,
                                        .open = true };

static struct alarm_message message(void)
{
    return (struct alarm_message){
        .id = "alarm-1.2.3",
        .target = "",
        .event = "job.streak",
        .level = "critical",
        .state = "opened",
        .key = "k-7",
        .title = "3 \"jobs\" & <more>\nfail",
        .since_ms = 1700000000000,
        .closed_ms = -1,
        .job = "j\"b\\",
        .handler = "",
        .group = "g",
        .app = "app",
        .outcome = "failed",
        .when = "",
        .address = "http://10.0.0.3:9999/",
        .code = 500,
        .cause = "ca{{title}}use",
        .trigger_msg = "",
        .handle_msg = "",
        .rule = "r",
        .items = &item,
        .nitems = 1,
        .jobs = 4,
        .open = 4,
    };
}

struct composed {
    char url[2000], headers[2000], body[20000];
};

static struct composed compose(const char *kind, const char *settings,
                               const struct alarm_message *m)
{
    struct composed c;
    struct settings s;
    struct why why = { "" };
    const char *field;
    struct kind_request r = { BUF_INIT(16384), BUF_INIT(65536), BUF_INIT(1 << 20) };
    assert_int_equal(settings_read(kind, settings, &s, &why), OK);
    assert_int_equal(settings_check(s.kind, &s.values, &field, &why), OK);
    buf_text(&r.url, s.values.v[CHANNEL_URL] ? s.values.v[CHANNEL_URL] : s.kind->url);
    s.kind->compose(&s.values, m, 1700000000123, &r);
    text_copy(c.url, sizeof(c.url), slice_text(buf_str(&r.url)));
    text_copy(c.headers, sizeof(c.headers), slice_text(buf_str(&r.headers)));
    text_copy(c.body, sizeof(c.body), slice_text(buf_str(&r.body)));
    buf_done(&r.url);
    buf_done(&r.headers);
    buf_done(&r.body);
    settings_free(&s);
    return c;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("%s is not in %s", part, text);
}

/* The signatures are those of the services' own examples, run with this secret and time. */
static void requests_are_signed_as_services_want(void **state)
{
    (void)state;
    struct alarm_message m = message();
    struct composed c = compose(
        "dingtalk", "{\"url\":\"https://x/send?access_token=t\",\"secret\":\"SECabc\"}", &m);
    assert_string_equal(c.url,
                        "https://x/send?access_token=t&timestamp=1700000000123&sign=" DINGTALK);
    has(c.body, "{\"msgtype\":\"text\",\"text\":{\"content\":\"3 \\\"jobs\\\"");
    c = compose("feishu", "{\"url\":\"https://x/hook/t\",\"secret\":\"abc\"}", &m);
    has(c.body, "{\"timestamp\":\"1700000000\",\"sign\":\"" FEISHU "\",\"msg_type\":\"text\"");
    assert_null(strstr(c.body, "<at"));
    c = compose("webhook", "{\"url\":\"https://x/\",\"secret\":\"abc\",\"body\":\"{{id}}\"}", &m);
    has(c.headers, "Peal-Time: 1700000000\nPeal-Signature: v1=" HOOK "\n");
    assert_string_equal(c.body, "alarm-1.2.3");
}

static void texts_stay_in_their_place(void **state)
{
    (void)state;
    struct alarm_message m = message();
    struct composed c = compose("slack", "{\"url\":\"https://x/\"}", &m);
    has(c.body, "&amp; &lt;more&gt;");
    assert_null(strstr(c.body, "<"));
    c = compose("wecom", "{\"url\":\"https://x/?key=k\"}", &m);
    has(c.body, "{\"msgtype\":\"text\"");
    c = compose("teams", "{\"url\":\"https://x/\"}", &m);
    has(c.body, "\"contentType\":\"application/vnd.microsoft.card.adaptive\"");
}

static void an_alarm_that_is_over_resolves_what_it_began(void **state)
{
    (void)state;
    struct alarm_message m = message();
    struct composed c = compose("pagerduty", "{\"routingKey\":\"R\"}", &m);
    assert_string_equal(c.url, "https://events.pagerduty.com/v2/enqueue");
    has(c.body, "\"routing_key\":\"R\",\"event_action\":\"trigger\",\"dedup_key\":\"k-7\"");
    has(c.body, "\"severity\":\"critical\"");
    struct composed open = compose("alertmanager", "{\"url\":\"http://a:9093/\"}", &m);
    assert_string_equal(open.url, "http://a:9093/api/v2/alerts");
    has(open.body, "\"endsAt\":\"2023-11-21T22:13:20"); /* seven days on: not by itself */
    m.state = "";
    c = compose("alertmanager", "{\"url\":\"http://a:9093/\"}", &m);
    assert_null(strstr(c.body, "endsAt")); /* told once */
    m.state = "closed";
    m.event = "job.recovered";
    m.closed_ms = 1700000060000;
    c = compose("pagerduty", "{\"routingKey\":\"R\"}", &m);
    has(c.body, "\"event_action\":\"resolve\",\"dedup_key\":\"k-7\"");
    c = compose("alertmanager", "{\"url\":\"http://a:9093\"}", &m);
    has(c.body, "\"endsAt\":\"2023-11-14T22:14:20");
    size_t n = (size_t)(strchr(open.body, '}') - open.body); /* the labels are the same */
    assert_memory_equal(open.body, c.body, n);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void refused(const char *kind, const char *settings, const char *wanted)
{
    struct settings s;
    struct why why = { "" };
    const char *field = "";
    assert_int_equal(settings_read(kind, settings, &s, &why), OK);
    assert_int_equal(settings_check(s.kind, &s.values, &field, &why), ERR_INVALID);
    assert_string_equal(field, wanted);
    assert_true(why.text[0]);
    settings_free(&s);
}

static void settings_keep_their_rules(void **state)
{
    (void)state;
    refused("webhook", "{}", "url");
    refused("webhook", "{\"url\":\"ftp://x/\"}", "url");
    refused("webhook", "{\"url\":\"http://u:p@x/\"}", "url");
    refused("webhook", "{\"url\":\"http://x/\",\"method\":\"GET\"}", "method");
    refused("webhook", "{\"url\":\"http://x/\",\"headers\":\"no colon\"}", "headers");
    refused("webhook", "{\"url\":\"http://x/\",\"headers\":\"Host: x\"}", "headers");
    refused("webhook", "{\"url\":\"http://x/\",\"headers\":\"A: b\\r\\nC: d\"}", "headers");
    refused("webhook", "{\"url\":\"http://x/\",\"headers\":\"A:\"}", "headers");
    refused("webhook", "{\"url\":\"http://x/\",\"body\":\"{{json nothing}}\"}", "body");
    refused("pagerduty", "{\"url\":\"http://x/\"}", "routingKey");
    refused("alertmanager", "{\"url\":\"http://x/\",\"headers\":\"Peal-Time: 1\"}", "headers");
}

/* ---- templates ------------------------------------------------------------------------------- */

static const char *written(const char *text)
{
    static char to[4000];
    struct alarm_message m = message();
    struct why why = { "" };
    struct buf b = BUF_INIT(sizeof(to) - 1);
    if (template_check(slice_text(text), &why))
        fail_msg("%s", why.text);
    template_write(&b, slice_text(text), &m);
    text_copy(to, sizeof(to), slice_of(buf_str(&b), b.len));
    buf_done(&b);
    return to;
}

static void fields_are_escaped_as_the_template_says(void **state)
{
    (void)state;
    assert_string_equal(written(""), "");
    assert_string_equal(written("plain } { }} text"), "plain } { }} text");
    assert_string_equal(written("{\"a\":{{json job}},\"n\":{{ code }}}"),
                        "{\"a\":\"j\\\"b\\\\\",\"n\":500}");
    assert_string_equal(written("?q={{url job}}&k={{key}}"), "?q=j%22b%5C&k=k-7");
    /* what a field holds is never read as a template */
    assert_string_equal(written("{{text cause}}{{jobs}}"), "ca{{title}}use4");
    assert_string_equal(written("{{{json level}}}"), "{\"critical\"}");
}

static void other_templates_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{{title}}",    "{{text}}", "{{nothing}}",  "{{json}}",     "{{html title}}",
        "{{json title", "{{}}",     "{{json a b}}", "{{if title}}", "{{json {{title}}}}"
    };
    for (size_t i = 0; i < countof(bad); i++) {
        struct why why = { "" };
        if (template_check(slice_text(bad[i]), &why) != ERR_INVALID || !why.text[0])
            fail_msg("%s was taken", bad[i]);
    }
    static char large[TEMPLATE_MAX + 1];
    struct why why = { "" };
    memset(large, 'a', sizeof(large));
    assert_int_equal(template_check(slice_of(large, sizeof(large)), &why), ERR_INVALID);
    assert_int_equal(template_check(slice_of(large, TEMPLATE_MAX), &why), OK);
}

/* ---- targets --------------------------------------------------------------------------------- */

static bool allowed(const char *list, const char *host, const char *address)
{
    struct sockaddr_in four = { .sin_family = AF_INET };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
        return targets_allow(slice_text(list), host, (struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, address, &six.sin6_addr), 1);
    return targets_allow(slice_text(list), host, (struct sockaddr *)&six);
}

static void requests_go_where_they_may(void **state)
{
    (void)state;
    assert_true(allowed(NULL, "x", "93.184.216.34"));
    assert_false(allowed(NULL, "x", "10.0.0.1"));
    assert_false(allowed("", "localhost", "127.0.0.1"));
    assert_false(allowed("", "x", "::ffff:169.254.169.254"));
    assert_true(allowed("hooks.example.org, 10.0.0.0/9", "x", "10.127.255.255"));
    assert_false(allowed("hooks.example.org, 10.0.0.0/9", "x", "10.128.0.0"));
    assert_true(allowed("10.0.0.0/9", "x", "::ffff:10.0.0.1"));
    assert_true(allowed("Hooks.example.org", "hooks.example.ORG", "10.200.0.1"));
    assert_false(allowed("hooks.example.org", "evil.example.org", "93.184.216.34"));
    assert_true(allowed("fd00::/8", "x", "fd12::1"));
    assert_false(allowed("fd00::/8", "x", "fe80::1"));
    assert_true(allowed("127.0.0.1", "x", "127.0.0.1"));
    assert_false(allowed("127.0.0.1", "x", "127.0.0.2"));
}

static void lists_of_targets_are_read_strictly(void **state)
{
    (void)state;
    struct why why = { "" };
    assert_int_equal(targets_check(slice_text("a.b-c, 10.0.0.0/8,::1, fd00::/8 ,,"), &why), OK);
    static const char *const bad[] = { "10.0.0.0/33", "http://x/", "a b", "10.0.0.0/",
                                       "fd00::/129" };
    for (size_t i = 0; i < countof(bad); i++)
        if (targets_check(slice_text(bad[i]), &why) != ERR_INVALID)
            fail_msg("%s was taken", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_signed_as_services_want),
        cmocka_unit_test(texts_stay_in_their_place),
        cmocka_unit_test(an_alarm_that_is_over_resolves_what_it_began),
        cmocka_unit_test(settings_keep_their_rules),
        cmocka_unit_test(fields_are_escaped_as_the_template_says),
        cmocka_unit_test(other_templates_are_refused),
        cmocka_unit_test(requests_go_where_they_may),
        cmocka_unit_test(lists_of_targets_are_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
